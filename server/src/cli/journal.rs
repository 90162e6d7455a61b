//! `hushbin journal`: creates, checks, copies, exports and repairs a data directory.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use data_encoding::HEXLOWER_PERMISSIVE;
use indicatif::HumanBytes;

use super::export;
use super::journal_location::JournalLocationOptions;
use super::output::{Error, spinner};
use crate::store::{
    self, BackupProgress, DirectoryCheckResult, ProcessRole, SalvageResult, StoredReports,
};
use crate::tokens;

/// Create, check, copy, export or repair the journal of a collector
#[derive(Debug, Args)]
pub(super) struct JournalCommandOptions {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Debug, Subcommand)]
enum JournalCommand {
    Create(JournalCreateOptions),
    Check(JournalCheckOptions),
    Backup(BackupOptions),
    Export(export::ExportCommandOptions),
    Erase(EraseOptions),
    Salvage(SalvageOptions),
}

/// Begin an empty journal, once, before the first 'hushbin serve'
///
/// The command fails if there is a journal already, or if the directory that shall contain DIR is
/// missing. A database needs no such command.
#[derive(Debug, Args)]
struct JournalCreateOptions {
    /// Directory for the journal; created if missing
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
}

/// Verify the checksums of all files, without changing anything
///
/// The command fails if a file is missing or damaged, and lists all such files. A collector may use
/// the journal at the same time.
#[derive(Debug, Args)]
struct JournalCheckOptions {
    /// Directory that contains the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
}

/// Copy the journal to a new directory, then check the copy
///
/// The copy contains the access tokens, and every report that was acknowledged before this command
/// began. A collector may use the original journal at the same time. Another collector can start on
/// the copy. The directory that shall contain the copy must exist.
#[derive(Debug, Args)]
struct BackupOptions {
    /// Directory that contains the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
    /// New directory for the copy
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Earlier backup of the same journal; unchanged files become hard links to it, which take
    /// little space
    #[arg(long, value_name = "DIR")]
    previous: Option<PathBuf>,
}

/// Delete one report of a released batch, as a person asks for it
///
/// The person copies the report from the history on your page: the bytes named "the report with its
/// noise". The totals of the batch stay as they are, since a released total
/// never changes. Backups and exported files keep the report until you delete them. Stop the
/// collector before you run this command, unless the journal is in a database. If several reports
/// have the same bytes, one of them is deleted.
#[derive(Debug, Args)]
struct EraseOptions {
    #[command(flatten)]
    location: JournalLocationOptions,
    /// Id of the task that the report belongs to
    #[arg(long, value_name = "ID")]
    task: String,
    /// Bytes of the report, in hexadecimal
    #[arg(value_name = "REPORT")]
    report: String,
}

/// Copy the intact parts of a damaged journal to a new directory, then check the copy
///
/// Stop the collector before you run this command. The damaged journal is not changed. The command
/// lists each damaged file or commit, and the data that is lost with it. A collector can start on
/// the copy. In the copy, released batches keep the same numbers, and a closed batch that lost
/// reports is open again. If ids of uploads are lost, an upload that a page sends again counts
/// twice.
#[derive(Debug, Args)]
struct SalvageOptions {
    /// Directory that contains the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
    /// New directory for the intact parts
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Task file (JSON), needed if the journal's list of tasks is lost or lacks the task; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    lost_task: Vec<PathBuf>,
    /// Role of the server that wrote the journal, needed with --lost-task (default collector)
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    role: ProcessRole,
}

pub(super) fn run_journal_command(
    options: &JournalCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    match &options.command {
        JournalCommand::Create(options) => {
            store::create_journal(&options.data)?;
            let path = options.data.display();
            Ok(writeln!(out, "{path} holds a new, empty journal.")?)
        }
        JournalCommand::Check(options) => {
            write_check_result(&store::check_directory(&options.data), out)
        }
        JournalCommand::Backup(options) => back_up_journal(options, out),
        JournalCommand::Export(options) => export::run_export_command(options, out),
        JournalCommand::Erase(options) => erase_report(options, out),
        JournalCommand::Salvage(options) => salvage_journal(options, out),
    }
}

fn back_up_journal(options: &BackupOptions, out: &mut dyn Write) -> Result<(), Error> {
    let copying = spinner("copying the journal");
    let mut observe = |progress: &BackupProgress| {
        copying.set_message(format!("copying the journal: {}", copied_text(progress)));
    };
    let previous = options.previous.as_deref();
    let copied = store::backup(&options.data, &options.to, previous, &mut observe)?;
    drop(copying);
    tokens::copy_tokens_to_directory(&options.data, &options.to)?;
    writeln!(out, "{}.", copied_text(&copied))?;
    let checking = spinner("checking the copy");
    let checked = store::check_directory(&options.to);
    drop(checking);
    write_check_result(&checked, out)
}

fn copied_text(progress: &BackupProgress) -> String {
    let BackupProgress {
        copied_files,
        linked_files,
        bytes,
    } = progress;
    format!(
        "{copied_files} files copied, {linked_files} linked to the previous backup, {} in total",
        HumanBytes(*bytes)
    )
}

fn erase_report(options: &EraseOptions, out: &mut dyn Write) -> Result<(), Error> {
    let report = HEXLOWER_PERMISSIVE.decode(options.report.as_bytes());
    let report = report.map_err(|error| format!("the report is not hexadecimal: {error}"))?;
    let location = options.location.journal_location()?;
    let stored = StoredReports::open_for_erasure(&location, &options.task)?;
    let erased = stored.erase_report(&report)?;
    let batch = erased.ok_or(
        "no released batch has this report: it was erased before, its batch keeps no reports any \
         more, or its batch is not released yet",
    )?;
    writeln!(
        out,
        "The report was deleted from batch {batch}. The totals of the batch are unchanged. Backups \
         and exported files may still contain the report."
    )?;
    Ok(())
}

fn salvage_journal(options: &SalvageOptions, out: &mut dyn Write) -> Result<(), Error> {
    let mut tasks = Vec::new();
    for path in &options.lost_task {
        tasks.extend(crate::export::read_report_or_sum_tasks(path)?);
    }
    let salvaged = store::salvage_directory(&options.data, &options.to, &tasks, options.role)?;
    for damage in &salvaged.damages {
        writeln!(out, "{damage}")?;
    }
    if let Err(error) = tokens::copy_tokens_to_directory(&options.data, &options.to) {
        writeln!(out, "{error}: the tokens are lost, create new ones")?;
    }
    let SalvageResult {
        tasks,
        copied,
        damages,
    } = &salvaged;
    writeln!(
        out,
        "{copied} files of {tasks} tasks are intact and were copied; {} are damaged or missing",
        damages.len()
    )?;
    write_check_result(&store::check_directory(&options.to), out)
}

/// Writes the result of checking a journal.
///
/// # Errors
/// When a file is missing or damaged.
fn write_check_result(checked: &DirectoryCheckResult, out: &mut dyn Write) -> Result<(), Error> {
    for wrong in &checked.errors {
        writeln!(out, "{wrong}")?;
    }
    let DirectoryCheckResult { files, reports, .. } = checked;
    match checked.errors.len() {
        0 => Ok(writeln!(
            out,
            "The journal is intact: {files} files with {reports} reports have valid checksums."
        )?),
        wrong => Err(format!(
            "the journal is damaged: {wrong} of {files} files are missing or damaged. Stop the \
             collector. Then restore a backup, or copy the intact files with `hushbin journal \
             salvage`"
        )
        .into()),
    }
}
