//! The command `hushbin-study`: a file for each subcommand.

mod bounds;
mod compare;
mod experiments;

use std::io::{self, Write};

use clap::{Parser, Subcommand};

use crate::output::Error;

/// hushbin beside what others published.
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
    /// Runs the subcommand, which writes its answer to `out`. A broken pipe ends it and is no
    /// failure: the reader may have read enough.
    ///
    /// # Errors
    /// Any reason why the subcommand fails.
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
