//! Command line of `hushbin-study`, with one file for each subcommand.

mod bounds;
mod compare;
mod experiments;

use std::io::{self, Write};

use clap::{Parser, Subcommand};

use crate::output::Error;

/// Compare hushbin with published mechanisms and bounds.
#[derive(Debug, Parser)]
#[command(name = "hushbin-study", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bounds(bounds::Options),
    Compare(compare::Options),
    Experiments(experiments::Options),
}

impl Cli {
    /// Runs the subcommand, which writes its output to `out`. A broken pipe is not an error,
    /// because the reader may have read enough.
    ///
    /// # Errors
    /// Any error of the subcommand.
    pub fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let result = match self.command {
            Command::Bounds(options) => bounds::run(&options, out),
            Command::Compare(options) => compare::run(&options, out),
            Command::Experiments(options) => experiments::run(&options, out),
        };
        let is_broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        match result.and_then(|()| Ok(out.flush()?)) {
            Err(error) if error.downcast_ref().is_some_and(is_broken) => Ok(()),
            result => result,
        }
    }
}
