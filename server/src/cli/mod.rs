//! The `hushbin` command: one file per command, each with its options and a
//! function that runs it.

/// Prints a line, as the standard macro does; but whoever reads it may have read
/// enough (`hushbin plan ... | head`), which is no failure.
macro_rules! println {
    ($($argument:tt)*) => {{
        use std::io::Write as _;
        if let Err(error) = writeln!(std::io::stdout(), $($argument)*) {
            $crate::cli::end_for(&error);
        }
    }};
}

mod account;
mod audit;
mod plan;
mod serve;
mod simulate;
mod task;

use std::io::IsTerminal;

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// What a command fails with; shown to the user as one line.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Local differential privacy for browser telemetry.
#[derive(Debug, Parser)]
#[command(name = "hushbin", version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Account(account::Options),
    Audit(audit::Options),
    Plan(plan::Options),
    Serve(serve::Options),
    Simulate(simulate::Options),
    Task(task::Options),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever makes the command fail, in words for its user.
    pub fn run(self) -> Result<(), Error> {
        match self.command {
            Command::Account(options) => account::run(&options),
            Command::Audit(options) => audit::run(&options),
            Command::Plan(options) => plan::run(&options),
            Command::Serve(options) => serve::run(options),
            Command::Simulate(options) => simulate::run(&options),
            Command::Task(options) => task::run(&options),
        }
    }
}

/// Ends the program as nobody can be told anything more.
fn end_for(error: &std::io::Error) -> ! {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    eprintln!("hushbin: {error}");
    std::process::exit(1);
}

/// What is shown on the terminal while something takes long that cannot say how
/// long; nothing where there is no terminal. It goes when it is dropped.
fn spinner(doing: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(doing);
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar.with_finish(ProgressFinish::AndClear)
}

/// A bar of so many `things` on the terminal; none where there is no terminal.
fn progress_bar(len: u64, things: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{bar:40}} {{pos}} of {{len}} {things}, {{per_sec}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well-formed");
    ProgressBar::new(len).with_style(style)
}
