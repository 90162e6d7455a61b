//! Error type and progress bar of the commands.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// Error of a command, which the program prints as one line.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Creates a progress bar for `len` steps. The bar shows the word `steps` for these steps. The bar
/// is hidden if standard error is not a terminal.
pub(crate) fn progress_bar(len: u64, steps: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}} of {{len}} {steps}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    ProgressBar::new(len).with_style(style)
}
