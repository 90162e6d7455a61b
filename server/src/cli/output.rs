//! Output of commands: answers, errors and progress bars.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use serde::Serialize;

use super::visible_text::VisibleTextWriter;

/// Error of a command, shown to the user as one line.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Writes an answer: as JSON if `json` is true, or else with the function `words`. Control characters
/// in the output of `words` are made visible.
pub(super) fn write_json_or_text_answer(
    out: &mut dyn Write,
    json: bool,
    answer: &impl Serialize,
    words: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(answer)?)?;
    } else {
        words(&mut VisibleTextWriter::new(out))?;
    }
    Ok(())
}

/// Options that choose the form of a command's answer.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct AnswerFormatOptions {
    /// Also print tables, assumptions and derivations
    #[arg(long, conflicts_with = "json")]
    verbose: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl AnswerFormatOptions {
    /// Writes the answer as JSON if `--json` is given, and otherwise as `lines` of plain English.
    /// `--verbose` adds the output of `details`.
    pub(super) fn write_formatted_answer(
        self,
        out: &mut dyn Write,
        answer: &impl Serialize,
        lines: &[String],
        details: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        write_json_or_text_answer(out, self.json, answer, |out| {
            writeln!(out, "{}", lines.join("\n"))?;
            if self.verbose {
                writeln!(out)?;
                details(out)?;
            }
            Ok(())
        })
    }
}

/// Writes one line for each field of an answer: the field's name in JSON, then its value.
pub(super) fn write_answer_fields(out: &mut dyn Write, answer: &impl Serialize) -> io::Result<()> {
    let fields = serde_json::to_value(answer)?;
    for (name, value) in fields.as_object().into_iter().flatten() {
        if !value.is_null() {
            writeln!(out, "{name:24} {value}")?;
        }
    }
    Ok(())
}

/// Returns a spinner for a long task without known progress. It is hidden if standard error is not
/// a terminal, and disappears when it is dropped.
pub(super) fn spinner(message: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(message);
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar.with_finish(ProgressFinish::AndClear)
}

/// Returns a progress bar that counts from 0 to `len`. `unit` is the plural noun for the things
/// counted. The bar is hidden if standard error is not a terminal.
pub(super) fn progress_bar(len: u64, unit: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}} of {{len}} {unit}, {{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    ProgressBar::new(len).with_style(style)
}
