//! Shared log: makes commits of many tasks durable by one sync.
//!
//! A sync costs more than everything else in a small commit. So if uploads of several tasks wait,
//! a frame is written to the log of each task, without a sync. Then all frames are appended to the
//! shared log in one frame, which is synced. Now the uploads can be acknowledged.
//!
//! ```text
//! payload := entry*
//! entry   := task[8] batch[8] offset[8] length[4] frame[length]
//! ```
//!
//! Numbers are little endian. After a loss of power, frames may be missing from the logs of tasks.
//! The next start writes them again, from the shared log, and removes the shared log. It is also
//! removed when the process ends, when it is long, and when anything is deleted that may be in it:
//! after all logs of tasks were synced.
//!
//! A frame is written again only where the valid frames of its log end, and only if its checksum
//! continues the chain of checksums. So a frame that was cut off and replaced is not written again.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::checksum::take_array_from_slice;
use super::disk::{self, WritableFile};
use super::frame::{LogHeader, SHARED_BATCH};
use super::layout::task_directory;
use super::listing::log_file_name;
use super::log::{EncodedFrame, FramesByOffset, LogContents, UploadLog};
use crate::store::engine::{EngineError, TaskKey};

pub(super) const SHARED_LOG_NAME: &str = "commits.log";

/// Name of a shared log with fewer frames, until it replaces the longer one.
pub(super) const SHORTER_LOG_NAME: &str = "commits.shorter";

/// Minimum number of tasks in a commit that goes through the shared log. For fewer tasks, writing
/// twice costs about as much as another sync.
pub(super) const MIN_SHARED_TASKS: usize = 3;

/// Length in bytes from which on the shared log is removed. Before, the logs of all its tasks are
/// synced. Reading this length takes a start about a tenth of a second.
const MAX_SHARED_LOG_BYTES: u64 = 32 << 20;

/// Shared log of a data directory. The file is created when it is first needed.
#[derive(Debug)]
pub(super) struct SharedLog {
    path: PathBuf,
    log: Option<UploadLog>,
    /// Tasks that have frames in the log.
    tasks: HashSet<TaskKey>,
    max_bytes: u64,
    /// Length in bytes above which the log is removed: `max_bytes`, unless something failed.
    removal_length: u64,
    /// True if a change to the log of a task failed since the shared log was created. Data that was
    /// not synced may be lost then, although a later sync succeeds.
    has_failed: bool,
}

impl SharedLog {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            path: root.join(SHARED_LOG_NAME),
            log: None,
            tasks: HashSet::new(),
            max_bytes: MAX_SHARED_LOG_BYTES,
            removal_length: MAX_SHARED_LOG_BYTES,
            has_failed: false,
        }
    }

    /// Appends frames that were written to the logs of tasks, durably. `entries` are from
    /// [`encode_entry`].
    ///
    /// # Errors
    /// When writing to the disk fails.
    pub(super) fn append(
        &mut self,
        entries: &[u8],
        tasks: impl IntoIterator<Item = TaskKey>,
    ) -> Result<(), EngineError> {
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(create_shared_log(&self.path)?),
        };
        log.append_shared_frames(entries)?;
        self.tasks.extend(tasks);
        Ok(())
    }

    fn length(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.valid_length)
    }

    /// Returns true if the log is long enough to be removed, or if data of tasks may be lost, which
    /// the removal writes again.
    pub(super) fn should_be_removed(&self) -> bool {
        self.length() > self.removal_length
    }

    /// Returns true if a change to the log of a task has failed. Then the frames of the shared log
    /// must be written to the logs again before the shared log is removed.
    pub(super) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Records that a change to the log of a task has failed.
    pub(super) fn note_failure(&mut self, error: &EngineError) {
        let lost = !matches!(error, EngineError::TaskDeleted);
        if lost && !self.has_failed {
            self.request_removal_after_failure();
        }
    }

    /// Records a failure. The next commit then tries to remove the log, so that another one can take
    /// its place.
    pub(super) fn request_removal_after_failure(&mut self) {
        self.has_failed = true;
        self.removal_length = 0;
    }

    /// Puts off the next attempt to remove the log, after a failed one. The log is read for an
    /// attempt, so an attempt at each commit would slow down the tasks that do not fail.
    pub(super) fn put_off_removal(&mut self) {
        self.removal_length = 2 * self.length();
    }

    /// Returns true if the log may have frames of a task.
    pub(super) fn has_frames_of(&self, task: TaskKey) -> bool {
        self.tasks.contains(&task)
    }

    /// Returns the tasks that have frames in the log. The logs of these tasks have to be synced before
    /// the shared log is removed.
    pub(super) fn tasks(&self) -> impl Iterator<Item = TaskKey> {
        self.tasks.iter().copied()
    }

    /// Removes the log, durably. The logs of all tasks must be synced.
    ///
    /// # Errors
    /// When the file cannot be removed, or the removal cannot be synced. The file may come back after
    /// a loss of power then. Its frames are in the logs of tasks by now.
    pub(super) fn remove(&mut self) -> Result<(), EngineError> {
        let removed = remove_shared_log(&self.path);
        if removed.is_ok() || !self.path.exists() {
            // Nothing more is written to a file that has no name.
            self.log = None;
            self.tasks.clear();
            self.removal_length = self.max_bytes;
            self.has_failed = false;
        }
        removed
    }

    /// Replaces the log by one that has the frames of `tasks` only, durably. `frames` are all frames
    /// of the log. The logs of all other tasks must be synced.
    ///
    /// # Errors
    /// When writing to the disk fails. The log then has all its frames.
    pub(super) fn keep_frames_of(
        &mut self,
        tasks: HashSet<TaskKey>,
        frames: &SharedFrames,
    ) -> Result<(), EngineError> {
        let mut entries = Vec::new();
        for ((task, batch), by_offset) in &frames.0 {
            for (offset, frames) in by_offset.iter().filter(|_| tasks.contains(task)) {
                for frame in frames {
                    write_entry(*task, *batch, *offset, frame, &mut entries);
                }
            }
        }
        let shorter = self.path.with_file_name(SHORTER_LOG_NAME);
        create_shared_log(&shorter)?.append_shared_frames(&entries)?;
        let renamed = disk::rename(&shorter, &self.path);
        // Also if the new name could not be synced: the old file has no name any more. If it comes
        // back after a loss of power, its other frames are in the logs of tasks by now.
        if !shorter.exists() {
            let contents = LogContents::read(&self.path)?;
            self.log = Some(UploadLog::resume(&self.path, &contents)?);
            self.tasks = tasks;
        }
        renamed
    }

    #[cfg(test)]
    pub(super) fn set_max_bytes(&mut self, bytes: u64) {
        (self.max_bytes, self.removal_length) = (bytes, bytes);
    }
}

/// Removes the shared log of a data directory, durably, if there is one.
///
/// # Errors
/// When the file cannot be removed.
pub(super) fn remove_from(root: &Path) -> Result<(), EngineError> {
    // The shorter log has no frames of its own.
    remove_shared_log(&root.join(SHORTER_LOG_NAME))?;
    remove_shared_log(&root.join(SHARED_LOG_NAME))
}

fn remove_shared_log(path: &Path) -> Result<(), EngineError> {
    match path.exists() {
        true => disk::remove_file(path),
        false => Ok(()),
    }
}

fn create_shared_log(path: &Path) -> Result<UploadLog, EngineError> {
    UploadLog::create(path, LogHeader::new([0; 16], SHARED_BATCH, 0)?)
}

/// Appends the entry of a frame to the payload of a frame of the shared log.
pub(super) fn encode_entry(task: TaskKey, batch: u64, frame: &EncodedFrame, out: &mut Vec<u8>) {
    write_entry(task, batch, frame.fields.offset, &frame.bytes, out);
}

fn write_entry(task: TaskKey, batch: u64, offset: u64, frame: &[u8], out: &mut Vec<u8>) {
    out.extend(task.0.to_le_bytes());
    out.extend(batch.to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend((frame.len() as u32).to_le_bytes());
    out.extend(frame);
}

/// Frames of a shared log that may be missing from the logs of tasks.
#[derive(Debug, Default)]
pub(super) struct SharedFrames(HashMap<(TaskKey, u64), FramesByOffset>);

impl SharedFrames {
    /// Reads and verifies the shared log of a data directory. Returns no frames if there is no
    /// shared log.
    ///
    /// # Errors
    /// When the log cannot be read or is damaged.
    pub(super) fn read(root: &Path) -> Result<Self, EngineError> {
        let path = root.join(SHARED_LOG_NAME);
        if !path.exists() {
            return Ok(Self::default());
        }
        let contents = LogContents::read(&path)?;
        let damaged = || disk::damage_error(&path, "a commit is not one of several tasks");
        if contents.header.batch != SHARED_BATCH {
            return Err(damaged());
        }
        let mut frames = Self::default();
        contents.for_each_payload(&path, |_, mut payload| {
            while !payload.is_empty() {
                frames.add_entry(&mut payload).ok_or_else(damaged)?;
            }
            Ok(())
        })?;
        Ok(frames)
    }

    fn add_entry(&mut self, payload: &mut &[u8]) -> Option<()> {
        let mut number = || take_array_from_slice(payload).map(u64::from_le_bytes);
        let (task, batch, offset) = (TaskKey(number()?), number()?, number()?);
        let length = u32::from_le_bytes(take_array_from_slice(payload)?) as usize;
        let (frame, rest) = payload.split_at_checked(length)?;
        *payload = rest;
        let of_log = self.0.entry((task, batch)).or_default();
        of_log.entry(offset).or_default().push(frame.to_vec());
        Some(())
    }

    /// Reads the bytes of the log of a batch, with the frames that are missing from the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn read_bytes(
        &self,
        path: &Path,
        task: TaskKey,
        batch: u64,
    ) -> Result<Vec<u8>, EngineError> {
        let mut bytes = fs::read(path).map_err(|source| disk::file_error(path, source))?;
        let frames = self.0.get(&(task, batch));
        // A file that is not a log lacks no frames.
        let found = frames.map(|frames| LogContents::read_valid_frames(path, frames));
        if let Some(Ok((log, _))) = found {
            for (&offset, frame) in &log.missing_frames {
                let begin = offset as usize;
                let end = begin + frame.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[begin..end].copy_from_slice(frame);
            }
        }
        Ok(bytes)
    }

    /// Reads and verifies the log of a batch, with the frames that are missing from the file.
    ///
    /// # Errors
    /// As [`LogContents::read`].
    pub(super) fn read_log(
        &self,
        path: &Path,
        task: TaskKey,
        batch: u64,
    ) -> Result<LogContents, EngineError> {
        match self.0.get(&(task, batch)) {
            Some(frames) => LogContents::read_with_missing(path, frames),
            None => LogContents::read(path),
        }
    }

    /// Writes all frames to the logs of tasks, durably, also those that seem to be there. After a
    /// failed sync, the operating system may show data that it will not write any more. Returns the
    /// tasks whose logs cannot be read or written.
    pub(super) fn write_to_logs(&self, root: &Path) -> HashMap<TaskKey, EngineError> {
        let mut failing = HashMap::new();
        for (&(task, batch), frames) in &self.0 {
            let path = task_directory(root, task).join(log_file_name(batch));
            if let Err(error) = write_to_log(&path, frames) {
                failing.insert(task, error);
            }
        }
        failing
    }
}

fn write_to_log(path: &Path, frames: &FramesByOffset) -> Result<(), EngineError> {
    // Without a file, the batch was released, or its task deleted.
    if !path.exists() {
        return Ok(());
    }
    let failed = |source| disk::file_error(path, source);
    let (log, _) = match LogContents::read_valid_frames(path, frames) {
        // The start reports a file that is not a log.
        Err(EngineError::Damaged(_)) => return Ok(()),
        found => found?,
    };
    let file = WritableFile::open(path).map_err(failed)?;
    for frame in log.frames_at(frames) {
        let (offset, frame) = frame.map_err(failed)?;
        file.write(&frame, offset).map_err(failed)?;
    }
    file.sync().map_err(failed)
}

/// Copies the shared log of a data directory, if there is one, to another directory.
///
/// # Errors
/// When the file cannot be read or written.
pub(super) fn copy_shared_log(root: &Path, to: &Path) -> Result<(), EngineError> {
    let path = root.join(SHARED_LOG_NAME);
    match disk::read_if_exists(&path)? {
        None => Ok(()),
        Some(bytes) => disk::write_atomically(&to.join(SHARED_LOG_NAME), &bytes),
    }
}
