//! Storage engine in plain files, which an operator can copy, list and check.
//!
//! ```text
//! data/
//!   lock                       locked while a collector runs
//!   tasks.json                 the list of tasks, and its checksum
//!   task-log.json              public list of the tasks that were added and removed
//!   probe                      written by readiness probes
//!   commits.log                commits of several tasks, perhaps in no other log
//!   tasks/00000001/            files of the task with this key:
//!     00000001.batch           a released batch: totals and reports
//!     00000002.batch
//!     00000001-00000002.ids    ids of the uploads of released batches
//!     00000003.log             a closed batch, to be counted
//!     00000004.log             the open batch
//! ```
//!
//! The state of a batch follows from its file, and is stored nowhere else. So no two files can
//! disagree about the state. The last log is the open batch. A log that ends with a closing frame
//! is a closed batch. A batch file is a released batch.
//!
//! A change either appends a frame to a log, or writes a temporary file, which is then synced and
//! renamed. The next start repeats an interrupted change, with the same result, or undoes it. All
//! data has checksums. A missing file leaves a gap in the numbers, which is noticed.
//!
//! Uploads are appended to a log, so that a commit writes little more than the bytes of its
//! uploads. In a tree that is sorted by ids, each upload would write a whole page, because ids are
//! random.

mod backup;
mod batch;
mod catalogue;
mod check;
mod checksum;
mod disk;
mod frame;
mod ids;
mod journal_paths;
mod layout;
mod listing;
mod log;
mod reader;
mod salvage;
mod shared_log;
mod task;
mod task_log;
mod verified_files;
mod version;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use super::engine::{
    BatchRow, BatchState, EngineError, StorageEngine, StorageReader, TaskKey, TaskRow, UploadGroup,
    UploadOutcome, UploadRecord,
};
use super::task_log::{TaskLogEntry, missing_entries};
use catalogue::{CATALOGUE_FILE_NAME, TaskCatalogue};
use disk::WritableFile;
use layout::{DELETED_TASK_EXTENSION, PROBE_FILE_NAME, TASKS_DIRECTORY, task_directory};
use rayon::prelude::*;
use reader::IdsFilesToAdopt;
use shared_log::{MIN_SHARED_TASKS, SharedFrames, SharedLog};
use task::TaskFiles;
use task_log::{TASK_LOG_FILE_NAME, TaskLogGuard, read_task_log, write_task_log};

/// Maximum number of threads that open the files of tasks.
const MAX_OPENING_THREADS: usize = 16;

/// Storage engine in the files of one data directory.
#[derive(Debug)]
pub struct FilesEngine {
    root: Arc<Path>,
    catalogue: TaskCatalogue,
    tasks: HashMap<TaskKey, TaskFiles>,
    ids_files_to_adopt: IdsFilesToAdopt,
    shared_log: SharedLog,
    /// Lock on the directory, if this engine holds it.
    lock: Option<Arc<WritableFile>>,
    task_log_guard: TaskLogGuard,
}

pub use backup::{BackupProgress, backup};
pub(crate) use catalogue::check_journal_exists;
pub use check::{DirectoryCheckResult, check_directory};
pub(crate) use disk::{FileStamp, file_stamp, open_or_create, write_atomically};
pub(super) use disk::{LOCK_FILE_NAME, file_error};
pub(crate) use journal_paths::journal_paths;
pub(super) use reader::{FilesReader, open_for_concurrent_reading, open_read_only};
pub(super) use salvage::lock_shared;
pub use salvage::{Damage, DataLoss, SalvageResult, salvage_directory};

/// Creates a data directory, durably, if there is none.
///
/// # Errors
/// When the directory cannot be created.
pub(super) fn create_data_directory(root: &Path) -> Result<(), EngineError> {
    disk::create_directory(root)
}

/// Returns the tasks that are stored in a data directory. If `may_be_missing` is true, a directory
/// without a list has no tasks. Writes nothing.
///
/// # Errors
/// When a list is needed and missing, or cannot be read, is damaged, or has another version.
pub(super) fn stored_tasks(root: &Path, may_be_missing: bool) -> Result<Vec<TaskRow>, EngineError> {
    let catalogue = match may_be_missing {
        true => TaskCatalogue::open(root),
        false => TaskCatalogue::open_existing(root),
    };
    Ok(catalogue?.task_rows())
}

/// Checks that a journal could begin in a directory, which need not exist.
///
/// # Errors
/// [`EngineError::JournalExists`] when there is a journal, or another error when the directory
/// cannot be read or its parent is missing.
pub(super) fn check_no_journal(root: &Path) -> Result<(), EngineError> {
    disk::check_parent_exists(root)?;
    match check_journal_exists(root) {
        Ok(()) => Err(EngineError::JournalExists {
            path: root.display().to_string(),
        }),
        Err(EngineError::NoJournal { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes an empty list of tasks, durably.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn write_empty_list(root: &Path) -> Result<(), EngineError> {
    TaskCatalogue::from_rows(root, TaskKey(1), []).write_to(root)
}

impl FilesEngine {
    /// Opens and verifies a data directory, and creates it if there is none.
    ///
    /// The caller holds the directory's lock.
    ///
    /// # Errors
    /// When the directory cannot be read or written, has another version, or is damaged.
    pub fn open(root: &Path) -> Result<Self, EngineError> {
        create_data_directory(root)?;
        let catalogue = TaskCatalogue::open(root)?;
        let all = root.join(TASKS_DIRECTORY);
        disk::create_directory(&all)?;
        // Entries may exist in memory alone, if a process was killed before it could sync them.
        disk::sync_directory(root)?;
        disk::sync_directory(&all)?;
        let failed = |source| disk::file_error(&all, source);
        let rows = catalogue.task_rows();
        for entry in fs::read_dir(&all).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            recover_task_directory(root, &path, &rows)?;
        }
        let failing = SharedFrames::read(root)?.write_to_logs(root);
        if let Some(error) = failing.into_values().next() {
            return Err(error);
        }
        // Opening mostly waits for syncs, which several threads can do at once.
        let threads = rows.len().clamp(1, MAX_OPENING_THREADS);
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let threads = threads
            .map_err(|error| disk::file_error(&all, std::io::Error::other(error.to_string())))?;
        let open = |row: &TaskRow| {
            let directory = task_directory(root, row.key);
            if !directory.is_dir() {
                let what = format!("the files of task {:?} are missing", row.id);
                return Err(disk::damage_error(&directory, &what));
            }
            Ok((row.key, TaskFiles::open(&directory, row)?))
        };
        let tasks = threads.install(|| rows.par_iter().map(open).collect::<Result<_, _>>())?;
        // Only now: until all logs are valid, the shared log may be needed for a repair.
        shared_log::remove_from(root)?;
        Ok(Self {
            root: root.into(),
            catalogue,
            tasks,
            ids_files_to_adopt: IdsFilesToAdopt::default(),
            shared_log: SharedLog::new(root),
            lock: None,
            task_log_guard: TaskLogGuard::new(root, !rows.is_empty()),
        })
    }

    /// Holds the locked lock file of the directory until the engine is dropped, and refuses every
    /// change once the file was removed or replaced.
    pub(super) fn hold_lock(&mut self, file: File) {
        let path = self.root.join(LOCK_FILE_NAME);
        self.lock = Some(Arc::new(WritableFile { file, path }));
    }

    /// Checks that no second process can have locked the directory.
    fn check_lock(&self) -> Result<(), EngineError> {
        let lock = self.lock.as_deref();
        lock.map_or(Ok(()), WritableFile::check_lock_in_place)
    }

    /// Checks that this process may change the directory, and that the next start will find what it
    /// writes.
    ///
    /// # Errors
    /// [`EngineError::FileReplaced`].
    fn check_may_write(&mut self) -> Result<(), EngineError> {
        self.check_lock()?;
        self.catalogue.check_unchanged()
    }

    /// Appends uploads of several tasks, with one sync. Returns one result for each group.
    fn append_to_shared_log(
        &mut self,
        groups: &[UploadGroup<'_>],
    ) -> Vec<Result<Vec<UploadOutcome>, EngineError>> {
        let mut entries = Vec::new();
        let mut written_tasks = Vec::new();
        let mut commits = Vec::with_capacity(groups.len());
        for group in groups {
            commits.push(self.files_of_task(group.task).and_then(|files| {
                let commit = files.write_commit(group.records)?;
                if let Some(frame) = commit.frame() {
                    let batch = files.open_batch_number();
                    shared_log::encode_entry(group.task, batch, frame, &mut entries);
                    written_tasks.push(group.task);
                }
                Ok(commit)
            }));
        }
        let shared = match written_tasks.is_empty() {
            true => Ok(()),
            false => self.shared_log.append(&entries, written_tasks),
        };
        if let Err(error) = &shared {
            if !self.shared_log.has_failed() {
                tracing::warn!(%error, "the shared log cannot be written; the log of each task is synced");
            }
            self.shared_log.request_removal_after_failure();
        }
        let results = groups.iter().zip(commits).map(|(group, commit)| {
            let commit = commit?;
            let files = self.tasks.get_mut(&group.task);
            let files = files.ok_or(EngineError::TaskDeleted)?;
            let synced = match (&shared, commit.frame()) {
                (Err(_), Some(_)) => files.sync_log(),
                _ => Ok(()),
            };
            match synced {
                Ok(()) => Ok(files.accept_commit(commit)),
                Err(error) => files.discard_commit(commit).ok_or(error),
            }
        });
        let results: Vec<_> = results.collect();
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            self.shared_log.note_failure(error);
        }
        results
    }

    /// Syncs the logs of all tasks in the shared log, and removes the shared log. If the logs of some
    /// tasks fail, keeps a shared log of these tasks only.
    ///
    /// # Errors
    /// When a log cannot be synced.
    fn remove_shared_log(&mut self) -> Result<(), EngineError> {
        let has_failed = self.shared_log.has_failed();
        let frames = has_failed.then(|| SharedFrames::read(&self.root));
        let frames = frames.transpose()?;
        let written = frames.as_ref().map(|own| own.write_to_logs(&self.root));
        let mut failing = written.unwrap_or_default();
        for task in self.shared_log.tasks() {
            // The log of a closed batch was synced when the batch was closed.
            if let Some(files) = self.tasks.get(&task)
                && let Err(error) = files.sync_log()
            {
                failing.insert(task, error);
            }
        }
        let tasks = failing.keys().copied().collect();
        let Some(error) = failing.into_values().next() else {
            return self.shared_log.remove();
        };
        self.shared_log.note_failure(&error);
        let frames = frames.map_or_else(|| SharedFrames::read(&self.root), Ok)?;
        self.shared_log.keep_frames_of(tasks, &frames)?;
        Err(error)
    }

    /// Removes the data of a task, which is about to be deleted, from the shared log.
    fn remove_shared_log_of(&mut self, task: TaskKey) -> Result<(), EngineError> {
        if !self.shared_log.has_frames_of(task) {
            return Ok(());
        }
        let removed = self.remove_shared_log();
        // The logs of other tasks may fail.
        match self.shared_log.has_frames_of(task) {
            true => removed,
            false => Ok(()),
        }
    }

    /// Records a failed change to the log of a task.
    fn noting_failure<T>(&mut self, changed: Result<T, EngineError>) -> Result<T, EngineError> {
        changed.inspect_err(|error| self.shared_log.note_failure(error))
    }

    fn files_of_task(&mut self, task: TaskKey) -> Result<&mut TaskFiles, EngineError> {
        self.tasks.get_mut(&task).ok_or(EngineError::TaskDeleted)
    }
}

/// Finishes or undoes an interrupted creation or deletion of the task whose directory is `path`.
fn recover_task_directory(root: &Path, path: &Path, rows: &[TaskRow]) -> Result<(), EngineError> {
    let listed = |path: &Path| rows.iter().any(|row| task_directory(root, row.key) == path);
    if path
        .extension()
        .is_some_and(|extension| extension == DELETED_TASK_EXTENSION)
    {
        let before = path.with_extension("");
        return match listed(&before) {
            // The deletion was never acknowledged.
            true => disk::rename(path, &before),
            false => disk::remove_directory(path),
        };
    }
    if listed(path) {
        return Ok(());
    }
    match verified_files::is_unfinished_creation(path)? {
        true => disk::remove_directory(path),
        false => Err(verified_files::unlisted_task_error(path)),
    }
}

impl Drop for FilesEngine {
    fn drop(&mut self) {
        // Without the lock, the shared log may be another process's.
        if self.check_lock().is_ok() {
            // The next start needs no shared log then. If this fails, the next start uses it.
            let _ = self.remove_shared_log();
        }
    }
}

impl StorageEngine for FilesEngine {
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError> {
        Ok(self.catalogue.task_rows())
    }

    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError> {
        self.check_may_write()?;
        // A task may be stored and not served.
        if self
            .catalogue
            .task_rows()
            .iter()
            .any(|own| own.id == row.id)
        {
            return Err(EngineError::TaskExists(row.id));
        }
        let key = self.catalogue.next_key();
        let directory = task_directory(&self.root, key);
        // Files come first: a start removes new files that the list does not mention.
        let files = TaskFiles::create(&directory, row.fingerprint, now)?;
        self.catalogue.add_task(row)?;
        self.tasks.insert(key, files);
        Ok(key)
    }

    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError> {
        self.check_may_write()?;
        self.catalogue.replace_settings(task, settings)
    }

    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError> {
        self.check_may_write()?;
        // Nothing of the task may stay in the shared log, and its log must be on the disk if the
        // deletion fails.
        self.remove_shared_log_of(task)?;
        let directory = task_directory(&self.root, task);
        let deleted = directory.with_extension(DELETED_TASK_EXTENSION);
        // Renamed first: after a crash the list decides whether the task is deleted.
        let done =
            disk::rename(&directory, &deleted).and_then(|()| self.catalogue.remove_task(task));
        if let Err(error) = done {
            // The task stays if the list on the disk still has it. Otherwise the next start decides
            // by the list. Until then nothing is stored for the task.
            let listed = || {
                let list = TaskCatalogue::open(&self.root);
                list.is_ok_and(|list| list.task_rows().iter().any(|row| row.key == task))
            };
            let back = || listed() && disk::rename(&deleted, &directory).is_ok();
            if !directory.is_dir() && !back() {
                self.tasks.remove(&task);
            }
            return Err(error);
        }
        self.tasks.remove(&task);
        if let Err(error) = disk::remove_directory(&deleted) {
            tracing::warn!(%error, "a deleted task's files are removed at the next start");
        }
        Ok(())
    }

    fn complete_task_log(&mut self, now: u64) -> Result<Vec<TaskLogEntry>, EngineError> {
        self.check_may_write()?;
        self.task_log_guard.check_in_place()?;
        let mut entries = read_task_log(&self.root)?;
        let stored = self.catalogue.task_rows();
        let stored: Vec<_> = stored.iter().map(TaskRow::to_listed_task).collect();
        let missing = missing_entries(&entries, &stored, now);
        if !missing.is_empty() {
            entries.extend(missing);
            write_task_log(&self.root, &entries)?;
        }
        self.task_log_guard.must_exist = !entries.is_empty();
        Ok(entries)
    }

    fn batches(&self, task: TaskKey) -> Vec<BatchRow> {
        let files = self.tasks.get(&task);
        files.map_or_else(Vec::new, |files| files.batches().to_vec())
    }

    fn append_uploads(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError> {
        self.check_may_write()?;
        let appended = self.files_of_task(task)?.append_new_uploads(group);
        self.noting_failure(appended)
    }

    fn append_upload_groups(
        &mut self,
        groups: &[UploadGroup<'_>],
    ) -> Vec<Result<Vec<UploadOutcome>, EngineError>> {
        if groups.len() < MIN_SHARED_TASKS || self.check_may_write().is_err() {
            let own = |group: &UploadGroup<'_>| self.append_uploads(group.task, group.records);
            return groups.iter().map(own).collect();
        }
        let results = self.append_to_shared_log(groups);
        if self.shared_log.should_be_removed()
            && let Err(error) = self.remove_shared_log()
        {
            // Nothing is lost: the shared log is kept until all logs can be synced.
            self.shared_log.put_off_removal();
            tracing::debug!(%error, "the shared log cannot be removed");
        }
        results
    }

    fn open_block_bodies(&mut self, task: TaskKey) -> Result<Vec<Vec<u8>>, EngineError> {
        Ok(self.files_of_task(task)?.open_block_bodies().to_vec())
    }

    fn close_batch(
        &mut self,
        task: TaskKey,
        batch: u64,
        now: u64,
    ) -> Result<BatchRow, EngineError> {
        self.check_may_write()?;
        let files = self.files_of_task(task)?;
        let closed = match files.batches().iter().find(|row| row.number == batch) {
            Some(row) if row.state != BatchState::Open => Ok(*row),
            _ => files.close_batch(now),
        };
        self.noting_failure(closed)
    }

    fn refresh_changed_batch(&mut self, task: TaskKey, batch: u64) -> Result<(), EngineError> {
        self.check_may_write()?;
        // The shared log would show which reports arrived together, and keep deleted reports.
        self.remove_shared_log_of(task)?;
        let opened = {
            let mut opened = self.ids_files_to_adopt.lock();
            let own = opened.extract_if(.., |(of, _)| *of == task);
            own.map(|(_, ids)| ids).collect::<Vec<_>>()
        };
        self.files_of_task(task)?
            .update_after_release(batch, &opened)
    }

    fn check_own_files(&mut self) -> Vec<(&'static str, Result<(), EngineError>)> {
        vec![
            (LOCK_FILE_NAME, self.check_lock()),
            (CATALOGUE_FILE_NAME, self.catalogue.check_unchanged()),
            (TASK_LOG_FILE_NAME, self.task_log_guard.check()),
        ]
    }

    fn probe_write(&mut self) -> Result<(), EngineError> {
        self.check_may_write()?;
        // The file of the last probe still exists during the write, so the probe needs free space.
        disk::write_atomically(
            &self.root.join(PROBE_FILE_NAME),
            &[b'\n'; disk::PROBE_BYTES],
        )?;
        // An unready process no longer receives uploads. So the probe fails only if no task can
        // take uploads: one broken task must not stop the rest.
        let mut probes: Vec<_> = self.tasks.values_mut().map(TaskFiles::probe).collect();
        for error in probes.iter().filter_map(|probe| probe.as_ref().err()) {
            self.shared_log.note_failure(error);
        }
        match probes.iter().all(Result::is_err) {
            true => probes.pop().unwrap_or(Ok(())),
            false => Ok(()),
        }
    }

    fn reader(&self) -> Arc<dyn StorageReader> {
        Arc::new(FilesReader {
            root: Arc::clone(&self.root),
            ids_files_to_adopt: Arc::clone(&self.ids_files_to_adopt),
            // The start has written all missing frames.
            shared_frames: SharedFrames::default(),
            // Weak, because closing the engine releases the lock while readers still exist.
            lock: self.lock.as_ref().map(Arc::downgrade),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
