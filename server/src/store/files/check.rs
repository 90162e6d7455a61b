//! Checks a data directory, even while a collector writes to it.

use std::path::Path;

use super::batch::BatchFile;
use super::catalogue::TaskCatalogue;
use super::disk;
use super::ids::{self, UploadIdsFile};
use super::layout::task_directory;
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::log::LogContents;
use super::shared_log::SharedFrames;
use super::task_log::read_task_log;
use super::verified_files;
use crate::store::engine::{EngineError, TaskRow};

/// Result of checking a data directory.
#[derive(Debug, Default)]
pub struct DirectoryCheckResult {
    /// Number of files that were checked, including files with errors.
    pub files: u64,
    /// Number of reports in the files without errors.
    pub reports: u64,
    /// Errors that were found. Each names a file or directory.
    pub errors: Vec<EngineError>,
}

impl DirectoryCheckResult {
    fn add_result(&mut self, found: Result<u64, EngineError>) {
        self.files += 1;
        match found {
            Ok(reports) => self.reports += reports,
            Err(error) => self.errors.push(error),
        }
    }
}

/// Reads everything in a data directory and verifies all checksums. Writes nothing.
#[must_use]
pub fn check_directory(root: &Path) -> DirectoryCheckResult {
    let mut checked = DirectoryCheckResult::default();
    // Listed before the list is read: a task that a collector creates meanwhile is in the list then.
    let directories = verified_files::task_directories_with_data(root).unwrap_or_default();
    match TaskCatalogue::open_existing(root) {
        Ok(catalogue) => {
            let shared_frames = SharedFrames::read(root).unwrap_or_else(|error| {
                checked.add_result(Err(error));
                SharedFrames::default()
            });
            for row in catalogue.task_rows() {
                let directory = task_directory(root, row.key);
                check_task(&directory, &row, &shared_frames, &mut checked);
            }
            let listed: Vec<_> = catalogue
                .task_rows()
                .iter()
                .map(|row| task_directory(root, row.key))
                .collect();
            for directory in directories {
                // A collector renames the directory of a task that it deletes.
                if !listed.contains(&directory) && directory.exists() {
                    checked.add_result(Err(verified_files::unlisted_task_error(&directory)));
                }
            }
            if let Err(error) = read_task_log(root) {
                checked.add_result(Err(error));
            }
            checked.add_result(Ok(0));
        }
        Err(error) => checked.add_result(Err(error)),
    }
    checked
}

fn check_task(
    directory: &Path,
    row: &TaskRow,
    shared_frames: &SharedFrames,
    checked: &mut DirectoryCheckResult,
) {
    let listing = match FileListing::of_complete_files(directory) {
        Ok(listing) => listing,
        Err(error) => return checked.add_result(Err(error)),
    };
    let released = listing.batch_file_numbers.len() as u64;
    for (expected, &number) in (1..).zip(&listing.batch_file_numbers) {
        let path = directory.join(batch_file_name(expected));
        checked.add_result(check_batch(&path, row, expected, number == expected));
    }
    for &span in &listing.ids_file_spans {
        let path = directory.join(ids::ids_file_name(span));
        checked.add_result(UploadIdsFile::open(&path, row.fingerprint).and_then(
            |ids| match ids.span == span {
                true => Ok(0),
                false => Err(disk::damage_error(&path, "it belongs to other batches")),
            },
        ));
    }
    let mut covered = 0;
    for span in listing.maximal_ids_spans() {
        if span.first == covered + 1 {
            covered = span.last;
        }
    }
    if covered < released {
        let missing = disk::damage_error(directory, "ids of released batches are missing");
        checked.add_result(Err(missing));
    }
    // Logs of released batches are not checked, since they are about to be removed.
    let logs: Vec<u64> = listing
        .log_batch_numbers
        .into_iter()
        .filter(|&log| log > released)
        .collect();
    let mut before: Option<LogContents> = None;
    // At least the log of the open batch has to exist.
    for next in released + 1..=logs.last().copied().unwrap_or(0).max(released + 1) {
        let path = directory.join(log_file_name(next));
        let found = match logs.contains(&next) {
            true => {
                let contents = shared_frames.read_log(&path, row.key, next);
                contents.and_then(|contents| check_log(&path, row, next, contents, before.as_ref()))
            }
            false => Err(disk::damage_error(&path, "it is missing")),
        };
        checked.add_result(found.map(|contents| before.insert(contents).counts.reports));
    }
    if before.is_some_and(|last| last.closed_at.is_some()) {
        let next = directory.join(log_file_name(logs.last().copied().unwrap_or(0) + 1));
        checked.add_result(Err(disk::damage_error(&next, "it is missing")));
    }
}

fn check_log(
    path: &Path,
    row: &TaskRow,
    batch: u64,
    contents: LogContents,
    before: Option<&LogContents>,
) -> Result<LogContents, EngineError> {
    if contents.header.fingerprint != row.fingerprint || contents.header.batch != batch {
        return Err(disk::damage_error(path, "it belongs to another batch"));
    }
    // The next log is created before the previous one is closed, and is empty until then.
    if before.is_some_and(|before| before.closed_at.is_none()) && !contents.is_new() {
        return Err(disk::damage_error(
            path,
            "the batch before it is not closed",
        ));
    }
    contents.for_each_upload(path, |_| {})?;
    Ok(contents)
}

fn check_batch(path: &Path, row: &TaskRow, number: u64, there: bool) -> Result<u64, EngineError> {
    if !there {
        return Err(disk::damage_error(path, "it is missing"));
    }
    let batch = BatchFile::open(path)?;
    if batch.header.fingerprint != row.fingerprint || batch.header.batch != number {
        return Err(disk::damage_error(path, "it belongs to another batch"));
    }
    batch.totals()?;
    batch.for_each_block(&mut |_| std::ops::ControlFlow::Continue(()))?;
    Ok(batch.header.report_count)
}
