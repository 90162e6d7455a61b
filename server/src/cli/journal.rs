//! `hushbin journal`: looking a data directory over, and copying it.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Error;
use crate::store::{self, Checked};
use crate::tokens;

/// Look at the journal of a data directory, or copy it
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckOptions),
    Backup(BackupOptions),
}

/// Read every file from its first byte to its last and verify all sums; writes nothing
///
/// Names every file that is missing or has changed since it was written, and then fails. A
/// collector may be using the directory.
#[derive(Debug, Args)]
struct CheckOptions {
    /// Directory of the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
}

/// Copy the journal to a new directory, which a collector can be started on
///
/// A collector may be using the journal: all that was acknowledged before this began is in
/// the copy, and so are tokens. What is copied is checked.
#[derive(Debug, Args)]
struct BackupOptions {
    /// Directory of the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
    /// Directory of the copy, which must not be there yet
    #[arg(value_name = "TO")]
    to: PathBuf,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Check(options) => report(&store::check(&options.data), out),
        Command::Backup(options) => {
            store::backup(&options.data, &options.to)?;
            tokens::copy(&options.data, &options.to)?;
            report(&store::check(&options.to), out)
        }
    }
}

fn report(checked: &Checked, out: &mut dyn Write) -> Result<(), Error> {
    for wrong in &checked.wrong {
        writeln!(out, "{wrong}")?;
    }
    let Checked { files, reports, .. } = checked;
    match checked.wrong.len() {
        0 => Ok(writeln!(
            out,
            "{files} files with {reports} reports are as they were written"
        )?),
        wrong => Err(format!("{wrong} of {files} files are not as they were written").into()),
    }
}
