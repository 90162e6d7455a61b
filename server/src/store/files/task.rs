//! Files of one task: logs, batch files and files of upload ids.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::BatchFile;
use super::disk;
use super::frame::{LogHeader, LoggedUpload};
use super::ids::UploadIdsFile;
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::log::{EncodedFrame, LogContents, UploadLog};
use super::shared_log::SharedFrames;
use super::verified_files::{VerifiedFiles, open_ids_files, released_row, unreleased_row};
use crate::store::engine::{BatchRow, EngineError, TaskRow, UploadOutcome, UploadRecord};
use crate::store::shuffled_block::BlockRecord;

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
    /// Bodies of the block records in the open batch.
    open_block_bodies: Vec<Vec<u8>>,
    /// True if the last commit failed.
    last_commit_failed: bool,
}

/// Commit that is written to a task's log and not synced yet.
#[derive(Debug)]
pub(super) struct WrittenCommit {
    /// Outcome of each upload in the group.
    outcomes: Vec<UploadOutcome>,
    /// Frame of the new uploads, and a hash of each body. `None` if no upload is new.
    new_uploads: Option<(EncodedFrame, UploadBodyHashes)>,
    /// Bodies of the new block records.
    new_block_bodies: Vec<Vec<u8>>,
}

impl WrittenCommit {
    /// Returns the frame of the new uploads, or `None` if no upload is new.
    pub(super) fn frame(&self) -> Option<&EncodedFrame> {
        self.new_uploads.as_ref().map(|(frame, _)| frame)
    }
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
            open_block_bodies: Vec::new(),
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
                read_known_uploads(path, contents, &hasher, |_| {})?,
            );
            resume_log(path, contents)?;
        }
        let (path, contents) = &found.open_log;
        let mut open_block_bodies = Vec::new();
        let open_uploads = read_known_uploads(path, contents, &hasher, |logged| {
            if BlockRecord::is_block(&logged.id, logged.body) {
                open_block_bodies.push(logged.body.to_vec());
            }
        })?;
        known.insert(contents.header.batch, open_uploads);
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
            open_block_bodies,
            last_commit_failed: false,
        })
    }

    pub(super) fn batches(&self) -> &[BatchRow] {
        &self.batches
    }

    /// Returns the bodies of the block records in the open batch.
    pub(super) fn open_block_bodies(&self) -> &[Vec<u8>] {
        &self.open_block_bodies
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
                new_block_bodies: Vec::new(),
            });
        }
        let frame = self.log.encode_commit(&stored)?;
        let written = self.log.write_frame(&frame);
        self.last_commit_failed = written.is_err();
        written?;
        let blocks = stored
            .iter()
            .filter(|record| BlockRecord::is_block(&record.id, &record.body));
        Ok(WrittenCommit {
            outcomes,
            new_uploads: Some((frame, fresh)),
            new_block_bodies: blocks.map(|record| record.body.clone()).collect(),
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
            self.open_block_bodies.extend(commit.new_block_bodies);
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
        self.open_block_bodies.clear();
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

/// Visits the uploads in a log, and returns their ids, each with the hash of the body.
fn read_known_uploads(
    path: &Path,
    contents: &LogContents,
    hasher: &RandomState,
    mut visit: impl FnMut(&LoggedUpload<'_>),
) -> Result<UploadBodyHashes, EngineError> {
    let mut known = UploadBodyHashes::with_capacity(contents.counts.uploads as usize);
    contents.for_each_upload(path, |logged| {
        known.insert(logged.id, hasher.hash_one(logged.body));
        visit(&logged);
    })?;
    Ok(known)
}
