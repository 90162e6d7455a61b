//! Files of one task: logs, batch files and files of upload ids.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::BatchFile;
use super::disk;
use super::frame::{LogHeader, UploadCounts};
use super::ids::{self, UploadIdsFile};
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::log::{EncodedFrame, LogContents, UploadLog};
use super::shared_log::SharedFrames;
use crate::store::engine::{
    BatchRow, BatchState, EngineError, TaskRow, UploadOutcome, UploadRecord,
};

type UploadIdBytes = [u8; 16];

/// Uploads of one unreleased batch: maps each upload id to the hash of the upload's body.
type UploadBodyHashes = HashMap<UploadIdBytes, u64>;

/// Files of one task, open for writing.
#[derive(Debug)]
pub(super) struct TaskFiles {
    directory: PathBuf,
    /// Log of the open batch.
    log: UploadLog,
    /// Uploads of the open batch and of closed batches, by batch number.
    unreleased_uploads: BTreeMap<u64, UploadBodyHashes>,
    /// Hash function for the bodies of uploads, with a random key.
    hasher: RandomState,
    /// Ids of uploads in released batches.
    released_ids_files: Vec<Arc<UploadIdsFile>>,
    batches: Vec<BatchRow>,
    /// True if the last commit failed.
    last_commit_failed: bool,
}

/// Commit that is written to a task's log and not synced yet.
#[derive(Debug)]
pub(super) struct WrittenCommit {
    /// Outcome of each upload in the group.
    outcomes: Vec<UploadOutcome>,
    /// Frame of the new uploads, and the hashes of their bodies. `None` if no upload is new.
    new_uploads: Option<(EncodedFrame, UploadBodyHashes)>,
}

impl WrittenCommit {
    /// Returns the frame of the new uploads, or `None` if no upload is new.
    pub(super) fn frame(&self) -> Option<&EncodedFrame> {
        self.new_uploads.as_ref().map(|(frame, _)| frame)
    }
}

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
struct VerifiedFiles {
    released: Vec<BatchRow>,
    /// Ids of uploads in released batches.
    released_ids_files: Vec<Arc<UploadIdsFile>>,
    /// Paths and contents of the closed batches' logs, oldest first.
    closed_logs: Vec<(PathBuf, LogContents)>,
    /// Path and contents of the open batch's log.
    open_log: (PathBuf, LogContents),
    /// Temporary and superseded files, which an interrupted process did not remove.
    obsolete: Vec<PathBuf>,
}

impl VerifiedFiles {
    /// Reads and verifies the files of a task.
    ///
    /// # Errors
    /// When the files cannot be read, or a file is missing or damaged.
    fn read(
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
    fn batches(&self) -> Vec<BatchRow> {
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

impl TaskFiles {
    /// Creates the files of a new task, durably.
    ///
    /// # Errors
    /// When writing to the disk fails.
    pub(super) fn create(
        directory: &Path,
        fingerprint: [u8; 16],
        now: u64,
    ) -> Result<Self, EngineError> {
        disk::create_or_sync_directory(directory)?;
        let log = create_log(directory, fingerprint, 1, now)?;
        Ok(Self {
            directory: directory.to_owned(),
            batches: vec![unreleased_row(&log.header, log.counts, None)],
            log,
            unreleased_uploads: BTreeMap::from([(1, UploadBodyHashes::new())]),
            hasher: RandomState::new(),
            released_ids_files: Vec::new(),
            last_commit_failed: false,
        })
    }

    /// Opens and verifies the files of a task.
    ///
    /// # Errors
    /// When the files cannot be read, or a file is missing or damaged.
    pub(super) fn open(directory: &Path, row: &TaskRow) -> Result<Self, EngineError> {
        // Files may exist in memory alone, if a process was killed before it could sync. They must
        // be on the disk before the files that they replace are removed.
        disk::sync_directory(directory)?;
        let hasher = RandomState::new();
        // The start has written all missing frames.
        let found = VerifiedFiles::read(directory, row, &SharedFrames::default())?;
        let mut known = BTreeMap::new();
        for (path, contents) in &found.closed_logs {
            known.insert(
                contents.header.batch,
                read_known_uploads(path, contents, &hasher)?,
            );
            resume_log(path, contents)?;
        }
        let (path, contents) = &found.open_log;
        known.insert(
            contents.header.batch,
            read_known_uploads(path, contents, &hasher)?,
        );
        let log = resume_log(path, contents)?;
        for path in &found.obsolete {
            disk::remove_file(path)?;
        }
        Ok(Self {
            directory: directory.to_owned(),
            log,
            unreleased_uploads: known,
            hasher,
            batches: found.batches(),
            released_ids_files: found.released_ids_files,
            last_commit_failed: false,
        })
    }

    pub(super) fn batches(&self) -> &[BatchRow] {
        &self.batches
    }

    /// Checks that the task can take uploads. The log is written to only if the last commit failed.
    ///
    /// # Errors
    /// When a commit would fail.
    pub(super) fn probe(&mut self) -> Result<(), EngineError> {
        self.log.probe(self.last_commit_failed)?;
        self.last_commit_failed = false;
        Ok(())
    }

    /// Appends the new uploads of a group in one commit. Returns the outcome of each upload in the
    /// group.
    ///
    /// # Errors
    /// When writing to the disk fails. Nothing is stored then.
    pub(super) fn append_new_uploads(
        &mut self,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError> {
        let commit = self.write_commit(group)?;
        // A group of duplicates writes nothing, and needs no sync.
        let synced = commit.frame().map_or(Ok(()), |_| self.log.sync());
        match synced {
            Ok(()) => Ok(self.accept_commit(commit)),
            Err(error) => self.discard_commit(commit).ok_or(error),
        }
    }

    /// Writes the new uploads of a group, without a sync. Then [`TaskFiles::accept_commit`] or
    /// [`TaskFiles::discard_commit`] must follow.
    ///
    /// # Errors
    /// When writing to the disk fails. Nothing is stored then.
    pub(super) fn write_commit(
        &mut self,
        group: &[UploadRecord],
    ) -> Result<WrittenCommit, EngineError> {
        let mut fresh = UploadBodyHashes::new();
        let mut stored = Vec::with_capacity(group.len());
        let mut outcomes = Vec::with_capacity(group.len());
        for record in group {
            // The hash has a random key, so that no client can construct collisions.
            let hash = self.hasher.hash_one(&record.body);
            // An id may occur several times in a group.
            let held = match fresh.get(&record.id) {
                Some(&hash) => Some(hash),
                None => self.unreleased_body_hash(&record.id),
            };
            let outcome = match held {
                Some(other) if other == hash => UploadOutcome::Duplicate,
                Some(_) => UploadOutcome::Conflict,
                None if self.was_released(&record.id)? => UploadOutcome::Duplicate,
                None => {
                    fresh.insert(record.id, hash);
                    stored.push(record);
                    UploadOutcome::Stored
                }
            };
            outcomes.push(outcome);
        }
        if stored.is_empty() {
            return Ok(WrittenCommit {
                outcomes,
                new_uploads: None,
            });
        }
        let frame = self.log.encode_commit(&stored)?;
        let written = self.log.write_frame(&frame);
        self.last_commit_failed = written.is_err();
        written?;
        Ok(WrittenCommit {
            outcomes,
            new_uploads: Some((frame, fresh)),
        })
    }

    /// Makes a commit part of the open batch. The commit must be on the disk: in this task's log,
    /// or in the shared log.
    pub(super) fn accept_commit(&mut self, commit: WrittenCommit) -> Vec<UploadOutcome> {
        if let Some((frame, fresh)) = commit.new_uploads {
            self.log.accept_frame(&frame);
            let batch = self.log.header.batch;
            self.unreleased_uploads
                .entry(batch)
                .or_default()
                .extend(fresh);
            if let Some(last) = self.batches.last_mut() {
                last.report_count = self.log.counts.reports;
            }
        }
        commit.outcomes
    }

    /// Cuts off a commit. Returns the outcomes if the commit has no new uploads, since its uploads
    /// were on the disk before.
    pub(super) fn discard_commit(&mut self, commit: WrittenCommit) -> Option<Vec<UploadOutcome>> {
        if commit.new_uploads.is_none() {
            return Some(commit.outcomes);
        }
        self.log.discard_frame();
        self.last_commit_failed = true;
        None
    }

    /// Returns the number of the open batch.
    pub(super) fn open_batch_number(&self) -> u64 {
        self.log.header.batch
    }

    /// Syncs the log of the open batch.
    ///
    /// # Errors
    /// When the sync fails.
    pub(super) fn sync_log(&self) -> Result<(), EngineError> {
        self.log.sync()
    }

    /// Returns the hash of the body of an upload in an unreleased batch. Returns `None` if there is
    /// no such upload.
    fn unreleased_body_hash(&self, id: &UploadIdBytes) -> Option<u64> {
        self.unreleased_uploads
            .values()
            .find_map(|known| known.get(id).copied())
    }

    /// Returns true if a released batch contains an upload with this id.
    fn was_released(&self, id: &UploadIdBytes) -> Result<bool, EngineError> {
        // Newest file first, since an upload that is sent again is most likely a recent upload.
        for ids in self.released_ids_files.iter().rev() {
            if ids.contains(id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Closes the open batch, and opens the next batch.
    ///
    /// # Errors
    /// When writing to the disk fails. The batch then stays open.
    pub(super) fn close_batch(&mut self, now: u64) -> Result<BatchRow, EngineError> {
        let LogHeader {
            batch, fingerprint, ..
        } = self.log.header;
        // The next log is created first. So a closed batch without a next log is damage.
        let next = create_log(&self.directory, fingerprint, batch + 1, now)?;
        self.log.write_closing_frame(now)?;
        let closed = unreleased_row(&self.log.header, self.log.counts, Some(now));
        self.batches.pop();
        let open = unreleased_row(&next.header, next.counts, None);
        self.batches.extend([closed, open]);
        self.unreleased_uploads
            .insert(batch + 1, UploadBodyHashes::new());
        self.log = next;
        Ok(closed)
    }

    /// Updates a batch in memory after its release was written, or after its reports were deleted.
    /// Adopts the files of ids in `opened`, and removes the batch's log.
    ///
    /// # Errors
    /// When the release cannot be read, or the log cannot be removed.
    pub(super) fn update_after_release(
        &mut self,
        batch: u64,
        opened: &[Arc<UploadIdsFile>],
    ) -> Result<(), EngineError> {
        let fingerprint = self.log.header.fingerprint;
        let file = BatchFile::open(&self.directory.join(batch_file_name(batch)))?;
        let listing = FileListing::of_complete_files(&self.directory)?;
        let open = [&self.released_ids_files[..], opened].concat();
        let (ids, merged) = open_ids_files(&self.directory, fingerprint, &listing, &open)?;
        self.released_ids_files = ids;
        for path in merged {
            disk::remove_file(&path)?;
        }
        if let Some(row) = self.batches.iter_mut().find(|row| row.number == batch) {
            *row = released_row(&file);
        }
        self.unreleased_uploads.remove(&batch);
        match listing.log_batch_numbers.contains(&batch) {
            true => disk::remove_file(&self.directory.join(log_file_name(batch))),
            false => Ok(()),
        }
    }
}

/// Creates the log of a new batch.
fn create_log(
    directory: &Path,
    fingerprint: [u8; 16],
    batch: u64,
    now: u64,
) -> Result<UploadLog, EngineError> {
    let header = LogHeader::new(fingerprint, batch, now)?;
    UploadLog::create(&directory.join(log_file_name(batch)), header)
}

/// Opens a log for writing. Logs a warning if an interrupted commit is cut off.
fn resume_log(path: &Path, contents: &LogContents) -> Result<UploadLog, EngineError> {
    if contents.invalid_end_length() > 0 {
        tracing::warn!(
            path = %path.display(),
            bytes = contents.invalid_end_length(),
            "the log ends with an incomplete commit, which is removed; after a crash, none of its \
             uploads was acknowledged; if somebody has truncated the file, reports are lost"
        );
    }
    UploadLog::resume(path, contents)
}

/// Returns the ids of the uploads in a log, with the hashes of their bodies.
fn read_known_uploads(
    path: &Path,
    contents: &LogContents,
    hasher: &RandomState,
) -> Result<UploadBodyHashes, EngineError> {
    let mut known = UploadBodyHashes::with_capacity(contents.counts.uploads as usize);
    contents.for_each_upload(path, |logged| {
        known.insert(logged.id, hasher.hash_one(logged.body));
    })?;
    Ok(known)
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

fn unreleased_row(header: &LogHeader, counts: UploadCounts, closed: Option<u64>) -> BatchRow {
    BatchRow {
        number: header.batch,
        state: closed.map_or(BatchState::Open, |_| BatchState::Closed),
        opened_at: header.opened_at,
        closed_at: closed,
        report_count: counts.reports,
        reports_kept: true,
    }
}

fn released_row(batch: &BatchFile) -> BatchRow {
    BatchRow {
        number: batch.header.batch,
        state: BatchState::Released,
        opened_at: batch.header.opened_at,
        closed_at: Some(batch.header.closed_at),
        report_count: batch.header.report_count,
        reports_kept: batch.has_reports(),
    }
}

/// Reads the released batches. Their numbers must begin at 1 and have no gaps.
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
fn open_ids_files(
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
