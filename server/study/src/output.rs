//! Errors and progress of commands.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// Error of a command, shown as one line.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Creates a progress bar over `len` steps, hidden if there is no terminal.
pub(crate) fn progress_bar(len: u64, steps: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}} of {{len}} {steps}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    ProgressBar::new(len).with_style(style)
}
