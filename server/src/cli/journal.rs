//! `hushbin journal`: looking a data directory over, and copying it.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::export;
use super::output::Error;
use crate::store::{self, Checked, Role, Salvaged};
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
    Export(export::Options),
    Salvage(SalvageOptions),
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

/// Copy what verifies of a damaged journal to a new directory, which a collector can be started on
///
/// Names every file and commit that does not verify, and what is lost with it. Released batches
/// keep their numbers; a closed batch that lost reports is open again. No collector may be using
/// the directory, in which nothing is changed. Where ids of uploads are lost, those that are
/// sent again are counted again. What is kept is checked.
#[derive(Debug, Args)]
struct SalvageOptions {
    /// Directory of the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
    /// Directory of what is kept, which must not be there yet
    #[arg(long, value_name = "NEWDIR")]
    to: PathBuf,
    /// Task file, for when the list of tasks is lost; may be repeated
    #[arg(long, value_name = "FILE")]
    task: Vec<PathBuf>,
    /// Whose journal it is, for when the list of tasks is lost
    #[arg(long, value_enum, default_value_t)]
    role: Role,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Check(options) => report(&store::check(&options.data), out),
        Command::Backup(options) => {
            store::backup(&options.data, &options.to)?;
            tokens::copy(&options.data, &options.to)?;
            report(&store::check(&options.to), out)
        }
        Command::Export(options) => export::run(options, out),
        Command::Salvage(options) => salvage(options, out),
    }
}

fn salvage(options: &SalvageOptions, out: &mut dyn Write) -> Result<(), Error> {
    let tasks = options
        .task
        .iter()
        .map(|path| crate::export::any_task_of(path));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let salvaged = store::salvage(&options.data, &options.to, &tasks, options.role)?;
    for damage in &salvaged.damages {
        writeln!(out, "{damage}")?;
    }
    if let Err(error) = tokens::copy(&options.data, &options.to) {
        writeln!(out, "{error}: its tokens are lost, make others")?;
    }
    let Salvaged {
        tasks,
        copied,
        damages,
    } = &salvaged;
    writeln!(
        out,
        "{copied} files of {tasks} tasks verify and are copied, {} are damaged or missing",
        damages.len()
    )?;
    report(&store::check(&options.to), out)
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
