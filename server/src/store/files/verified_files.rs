//! Reading and verifying of a task's files, without writing anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::BatchFile;
use super::disk;
use super::frame::{LogHeader, UploadCounts};
use super::ids::{self, UploadIdsFile};
use super::layout::{DELETED_TASK_EXTENSION, TASKS_DIRECTORY};
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::log::LogContents;
use super::shared_log::SharedFrames;
use crate::store::engine::{BatchRow, BatchState, EngineError, TaskRow};

/// Returns the released batches of a task, oldest first, even while another process writes to the
/// directory.
pub(super) fn released_batches(
    directory: &Path,
    fingerprint: [u8; 16],
) -> Result<Vec<BatchRow>, EngineError> {
    let listing = FileListing::of_complete_files(directory)?;
    read_released_batches(directory, fingerprint, &listing.batch_file_numbers)
}

/// Contents of a task's files, which were read and verified without writing anything.
pub(super) struct VerifiedFiles {
    pub(super) released: Vec<BatchRow>,
    /// Ids of uploads in released batches.
    pub(super) released_ids_files: Vec<Arc<UploadIdsFile>>,
    /// Paths and contents of the closed batches' logs, oldest first.
    pub(super) closed_logs: Vec<(PathBuf, LogContents)>,
    /// Path and contents of the open batch's log.
    pub(super) open_log: (PathBuf, LogContents),
    /// Temporary and superseded files, which an interrupted process did not remove.
    pub(super) obsolete: Vec<PathBuf>,
}

impl VerifiedFiles {
    /// Reads and verifies the files of a task.
    ///
    /// # Errors
    /// When the files cannot be read, or a file is missing or damaged.
    pub(super) fn read(
        directory: &Path,
        row: &TaskRow,
        shared_frames: &SharedFrames,
    ) -> Result<Self, EngineError> {
        let fingerprint = row.fingerprint;
        let listing = FileListing::of_complete_files(directory)?;
        let released = read_released_batches(directory, fingerprint, &listing.batch_file_numbers)?;
        let (ids, merged) = open_ids_files(directory, fingerprint, &listing, &[])?;
        let next = released.len() as u64 + 1;
        let (done, logs) = listing
            .log_batch_numbers
            .split_at(listing.log_batch_numbers.partition_point(|&log| log < next));
        let mut obsolete = temporary_files(directory)?;
        obsolete.extend(merged);
        let mut closed = Vec::new();
        let mut open: Option<(PathBuf, LogContents)> = None;
        for (expected, &batch) in (next..).zip(logs) {
            let path = directory.join(log_file_name(expected));
            if batch != expected {
                return Err(disk::damage_error(&path, "it is missing"));
            }
            let contents = shared_frames.read_log(&path, row.key, batch)?;
            check_task_fingerprint(&path, contents.header.fingerprint, fingerprint)?;
            if contents.header.batch != batch {
                return Err(disk::damage_error(&path, "it belongs to another batch"));
            }
            match (&open, contents.closed_at) {
                // The process was interrupted before it closed the previous log.
                (Some(_), _) if contents.is_new() => obsolete.push(path),
                (Some(_), _) => {
                    return Err(disk::damage_error(
                        &path,
                        "the batch before it is not closed",
                    ));
                }
                (None, Some(_)) => closed.push((path, contents)),
                (None, None) => open = Some((path, contents)),
            }
        }
        let open = open.ok_or_else(|| {
            let path = directory.join(log_file_name(next + closed.len() as u64));
            disk::damage_error(&path, "it is missing")
        })?;
        // The process was interrupted while it released these batches.
        obsolete.extend(
            done.iter()
                .map(|&batch| directory.join(log_file_name(batch))),
        );
        Ok(Self {
            released,
            released_ids_files: ids,
            closed_logs: closed,
            open_log: open,
            obsolete,
        })
    }

    /// Returns the batches, oldest first. The last one is open.
    pub(super) fn batches(&self) -> Vec<BatchRow> {
        let logs = self.closed_logs.iter().chain([&self.open_log]);
        let unreleased =
            logs.map(|(_, found)| unreleased_row(&found.header, found.counts, found.closed_at));
        self.released.iter().copied().chain(unreleased).collect()
    }
}

/// Reads and verifies a task's files. No process may write to the files during the call. Returns
/// the batches, oldest first. The last batch is open.
///
/// # Errors
/// When the files cannot be read, or a file is missing or damaged.
pub(super) fn read_batches(
    directory: &Path,
    row: &TaskRow,
    shared_frames: &SharedFrames,
) -> Result<Vec<BatchRow>, EngineError> {
    Ok(VerifiedFiles::read(directory, row, shared_frames)?.batches())
}

/// Checks that the fingerprint found in a file is that of the expected task.
fn check_task_fingerprint(
    path: &Path,
    found: [u8; 16],
    expected: [u8; 16],
) -> Result<(), EngineError> {
    match found == expected {
        true => Ok(()),
        false => Err(disk::damage_error(path, "it belongs to another task")),
    }
}

pub(super) fn unreleased_row(
    header: &LogHeader,
    counts: UploadCounts,
    closed: Option<u64>,
) -> BatchRow {
    BatchRow {
        number: header.batch,
        state: closed.map_or(BatchState::Open, |_| BatchState::Closed),
        opened_at: header.opened_at,
        closed_at: closed,
        report_count: counts.reports,
        reports_kept: true,
    }
}

pub(super) fn released_row(batch: &BatchFile) -> BatchRow {
    BatchRow {
        number: batch.header.batch,
        state: BatchState::Released,
        opened_at: batch.header.opened_at,
        closed_at: Some(batch.header.closed_at),
        report_count: batch.header.report_count,
        reports_kept: batch.has_reports(),
    }
}

/// Reads the released batches. The numbers must begin at 1 and have no gaps.
fn read_released_batches(
    directory: &Path,
    fingerprint: [u8; 16],
    batches: &[u64],
) -> Result<Vec<BatchRow>, EngineError> {
    let mut rows = Vec::new();
    for (expected, &number) in (1..).zip(batches) {
        let path = directory.join(batch_file_name(number));
        if number != expected {
            let path = directory.join(batch_file_name(expected));
            return Err(disk::damage_error(&path, "it is missing"));
        }
        let batch = BatchFile::open(&path)?;
        check_task_fingerprint(&path, batch.header.fingerprint, fingerprint)?;
        if batch.header.batch != number {
            return Err(disk::damage_error(&path, "it belongs to another batch"));
        }
        rows.push(released_row(&batch));
    }
    Ok(rows)
}

/// Returns the temporary files that interrupted writes left behind.
fn temporary_files(directory: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let failed = |source| disk::file_error(directory, source);
    let entries = fs::read_dir(directory).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let unfinished = |path: &Result<PathBuf, _>| {
        path.as_ref()
            .map_or(true, |path| disk::is_temporary_path(path))
    };
    paths.filter(unfinished).collect()
}

/// Opens the files of ids that together cover all released batches. Reuses a file that is already
/// in `open`. Also returns the paths of obsolete files, whose ids are in a merged file.
pub(super) fn open_ids_files(
    directory: &Path,
    fingerprint: [u8; 16],
    listing: &FileListing,
    open: &[Arc<UploadIdsFile>],
) -> Result<(Vec<Arc<UploadIdsFile>>, Vec<PathBuf>), EngineError> {
    let released = listing.batch_file_numbers.len() as u64;
    let mut all: Vec<Arc<UploadIdsFile>> = Vec::new();
    let mut merged = Vec::new();
    for &span in &listing.ids_file_spans {
        let path = directory.join(ids::ids_file_name(span));
        if all.last().is_some_and(|last| last.span.contains(span)) {
            merged.push(path);
            continue;
        }
        let next = all.last().map_or(1, |last| last.span.last + 1);
        if span.first != next {
            return Err(disk::damage_error(&path, "the ids before it are missing"));
        }
        if span.first > released {
            // The release of this batch was interrupted, and is repeated.
            continue;
        }
        if let Some(ids) = open.iter().find(|ids| ids.span == span) {
            all.push(Arc::clone(ids));
            continue;
        }
        let ids = UploadIdsFile::open(&path, fingerprint)?;
        if ids.span != span {
            return Err(disk::damage_error(&path, "it belongs to other batches"));
        }
        all.push(Arc::new(ids));
    }
    match all.last().map_or(0, |last| last.span.last) == released {
        true => Ok((all, merged)),
        false => Err(disk::damage_error(
            directory,
            "ids of released batches are missing",
        )),
    }
}

/// Returns true if the files in a task's directory are those of a task whose creation was never
/// acknowledged: none, or an empty first log.
pub(super) fn is_unfinished_creation(directory: &Path) -> Result<bool, EngineError> {
    let first = directory.join(log_file_name(1));
    let files = FileListing::of_complete_files(directory)?
        .file_names()
        .count();
    Ok(
        files == 0
            || files == 1 && first.exists() && LogContents::read(&first)?.counts.uploads == 0,
    )
}

/// Returns the error for the files of a task that is not in the list of tasks.
pub(super) fn unlisted_task_error(directory: &Path) -> EngineError {
    disk::damage_error(
        directory,
        "no task of the list has these files; put back a later tasks.json, or run hushbin journal \
         salvage with the task's file",
    )
}

/// Returns the directories of tasks that have data. A directory whose name does not belong to a
/// task, or to a task that is being deleted, is left out.
pub(super) fn task_directories_with_data(root: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let all = root.join(TASKS_DIRECTORY);
    let failed = |source| disk::file_error(&all, source);
    let mut directories = Vec::new();
    for entry in fs::read_dir(&all).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_deleted = path
            .extension()
            .is_some_and(|extension| extension == DELETED_TASK_EXTENSION);
        // A task that is deleted in the meantime has no data.
        if !is_deleted && !is_unfinished_creation(&path).unwrap_or_else(|_| !path.exists()) {
            directories.push(path);
        }
    }
    directories.sort_unstable();
    Ok(directories)
}
