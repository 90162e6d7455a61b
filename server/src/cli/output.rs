//! How commands answer, fail, and show that they are at work.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use serde::Serialize;

/// What a command fails with; shown to the user as one line.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Writes an answer, as JSON or else in words.
pub(super) fn write_answer(
    out: &mut dyn Write,
    json: bool,
    answer: &impl Serialize,
    words: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(answer)?)?;
    } else {
        words(out)?;
    }
    Ok(())
}

/// A spinner on the terminal, while something takes long that cannot say how
/// long; hidden where there is no terminal. It goes when it is dropped.
pub(super) fn spinner(doing: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(doing);
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar.with_finish(ProgressFinish::AndClear)
}

/// A bar of so many `things` on the terminal; hidden where there is no terminal.
pub(super) fn progress_bar(len: u64, things: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}} of {{len}} {things}, {{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    ProgressBar::new(len).with_style(style)
}
