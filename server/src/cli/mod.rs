//! The `hushbin` command. Each subcommand has a file with its options and a function that runs it.

mod account;
mod audit;
mod audit_logs;
mod describe;
mod estimate;
mod export;
mod journal;
mod journal_location;
mod key;
mod output;
mod plan;
mod schema;
mod serve;
mod simulate;
mod sums;
mod table;
mod task;
mod token;
mod visible_text;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::builder::{OsStr, Resettable};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use output::Error;

use crate::export::ExportError;
use visible_text::{VisibleTextWriter, visible_text};

/// Collect telemetry from browsers under local differential privacy.
#[derive(Debug, Parser)]
#[command(name = "hushbin", version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Account(account::AccountCommandOptions),
    Audit(audit::AuditCommandOptions),
    Doctor(Box<serve::DoctorCommandOptions>),
    Estimate(estimate::EstimateCommandOptions),
    Journal(journal::JournalCommandOptions),
    Key(key::KeyCommandOptions),
    Plan(Box<plan::PlanCommandOptions>),
    Schema(schema::SchemaCommandOptions),
    Serve(Box<serve::ServeCommandOptions>),
    Simulate(simulate::SimulateCommandOptions),
    Task(task::TaskCommandOptions),
    Token(token::TokenCommandOptions),
}

impl Cli {
    /// Parses the arguments and the environment variables of this process. A variable with an empty
    /// value counts as absent, because service managers and container files often leave a variable
    /// out that way.
    ///
    /// Ends the process if an argument or a variable is invalid.
    #[must_use]
    pub fn parse_process_arguments() -> Self {
        let matches = ignore_empty_env_variables(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command and writes its answer to standard output, or its error to standard error.
    /// Control characters in errors, and in all output to a terminal, are made visible.
    #[must_use]
    pub fn run_on_standard_streams(self) -> ExitCode {
        let mut out = io::stdout().lock();
        let result = match out.is_terminal() {
            true => self.run(&mut VisibleTextWriter::new(out)),
            false => self.run(&mut out),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let text = error.to_string();
                eprintln!("hushbin: {}", visible_text(&text));
                ExitCode::FAILURE
            }
        }
    }

    /// Runs the command and writes its answer to `out`.
    ///
    /// A broken pipe ends the command without an error, because the reader may stop early
    /// (`hushbin plan ... | head`).
    ///
    /// # Errors
    /// Any failure of the command, with a message for its user.
    pub fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let result = match self.command {
            Command::Account(options) => account::run_account_command(&options, out),
            Command::Audit(options) => audit::run_audit_command(&options, out),
            Command::Doctor(options) => serve::run_doctor_command(*options, out),
            Command::Estimate(options) => estimate::run_estimate_command(&options, out),
            Command::Journal(options) => journal::run_journal_command(&options, out),
            Command::Key(options) => key::run_key_command(&options, out),
            Command::Plan(options) => plan::run_plan_command(&options, out),
            Command::Schema(options) => schema::run_schema_command(&options, out),
            Command::Serve(options) => serve::run_serve_command(*options, out),
            Command::Simulate(options) => simulate::run_simulate_command(&options, out),
            Command::Task(options) => task::run_task_command(&options, out),
            Command::Token(options) => token::run_token_command(&options, out),
        };
        match result.and_then(|()| Ok(out.flush()?)) {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            result => result,
        }
    }
}

/// Removes the environment variables that have an empty value from all options of a command.
fn ignore_empty_env_variables(command: clap::Command) -> clap::Command {
    command
        .mut_args(|option| {
            let variable = option.get_env().and_then(env::var_os);
            match variable {
                Some(value) if value.is_empty() => option.env(Resettable::<OsStr>::Reset),
                _ => option,
            }
        })
        .mut_subcommands(ignore_empty_env_variables)
}

/// Returns true if the error means that the reader of the command's answer closed the pipe. Errors
/// of files and sockets have other types than errors of the answer.
fn is_broken_pipe(error: &Error) -> bool {
    let error = match error.downcast_ref() {
        Some(ExportError::Io(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| {
        // The CSV writer wraps the error of the pipe.
        let csv = error.get_ref().and_then(|error| error.downcast_ref());
        let error = match csv.map(csv::Error::kind) {
            Some(csv::ErrorKind::Io(error)) => error,
            _ => error,
        };
        error.kind() == io::ErrorKind::BrokenPipe
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writer that fails after `bytes` bytes, like a closed pipe or a full disk.
    struct Failing {
        bytes: usize,
        kind: io::ErrorKind,
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.bytes == 0 {
                return Err(self.kind.into());
            }
            let taken = bytes.len().min(self.bytes);
            self.bytes -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn readers_of_rows_may_go_away() {
        for (kind, is_broken) in [
            (io::ErrorKind::BrokenPipe, true),
            (io::ErrorKind::StorageFull, false),
        ] {
            let csv = || csv::Error::from(io::Error::from(kind));
            let errors: [Error; 4] = [
                io::Error::from(kind).into(),
                io::Error::from(csv()).into(),
                ExportError::from(io::Error::from(kind)).into(),
                ExportError::from(csv()).into(),
            ];
            for error in errors {
                assert_eq!(is_broken_pipe(&error), is_broken, "{error:?}");
            }
        }
    }

    const COMMANDS: [&str; 2] = [
        "plan --items 40 --sparsity 3 --people 20000 --epsilon 1",
        "account --epsilon 1 --reports 1000 --delta 1e-6",
    ];

    fn cli(words: &str) -> Cli {
        Cli::parse_from(["hushbin"].into_iter().chain(words.split_whitespace()))
    }

    #[test]
    fn readers_may_go_away_but_disks_may_not_be_full() {
        for words in COMMANDS {
            for json in ["", " --json"] {
                let words = words.to_owned() + json;
                let mut whole = Vec::new();
                cli(&words).run(&mut whole).unwrap();
                assert!(whole.ends_with(b"\n") && whole.len() > 300, "{words}");
                // The length varies at the end: the time that a command took has a varying number
                // of digits.
                for bytes in [0, 1, whole.len() / 2, whole.len() - 30] {
                    let run = |kind| cli(&words).run(&mut Failing { bytes, kind });
                    assert!(run(io::ErrorKind::BrokenPipe).is_ok(), "{words}");
                    let error = run(io::ErrorKind::StorageFull).unwrap_err();
                    let error = error.downcast::<io::Error>().unwrap();
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
                }
            }
        }
    }
}
