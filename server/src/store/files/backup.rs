//! Copies a data directory while a collector may be writing to it.
//!
//! Released batches and files of upload ids never change, except that reports may be deleted from a
//! batch. So they are copied once, however many batches the collector closes meanwhile. Logs grow
//! and disappear. A copy therefore opens all logs and files of ids of a task at one moment, which
//! takes milliseconds, and reads from the open files later.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::catalogue::TaskCatalogue;
use super::disk;
use super::ids;
use super::layout::{TASKS_DIRECTORY, task_directory};
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::shared_log::copy_shared_log;
use super::task_log::{read_task_log, write_task_log};
use crate::store::engine::{EngineError, TaskKey};

/// Interval between two looks at a task whose directory is missing while the task is listed.
const DELETION_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Number of looks until the missing directory counts as damage.
const DELETION_POLLS: u32 = 100;

/// Number of bytes that are compared at once.
const COMPARED_BYTES: usize = 1 << 16;

/// Progress and result of a backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupProgress {
    /// Number of files that were copied.
    pub copied_files: u64,
    /// Number of files that became hard links to the previous backup.
    pub linked_files: u64,
    /// Number of bytes in these files.
    pub bytes: u64,
}

/// Copies a data directory to a new one, while a collector may be writing. Everything that was
/// acknowledged before the call is in the copy.
///
/// A released batch or file of ids that is already in the backup `previous`, with the same size and
/// time of change, becomes a hard link. `observe` is called after each file.
///
/// # Errors
/// When the directory cannot be read, the copy cannot be written or already exists, or the
/// directory that shall contain the copy is missing.
pub fn backup(
    root: &Path,
    to: &Path,
    previous: Option<&Path>,
    observe: &mut dyn FnMut(&BackupProgress),
) -> Result<BackupProgress, EngineError> {
    if to.exists() {
        let exists = io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it exists already; name a directory that does not exist",
        );
        return Err(disk::file_error(to, exists));
    }
    disk::check_parent_exists(to)?;
    let catalogue = TaskCatalogue::open_existing(root)?;
    if let Some(previous) = previous {
        TaskCatalogue::open_existing(previous)?;
    }
    disk::create_directory(to)?;
    disk::create_directory(&to.join(TASKS_DIRECTORY))?;
    // Before the logs: a frame that is only in the shared log is then in the copy.
    copy_shared_log(root, to)?;
    let mut progress = BackupProgress::default();
    let mut rows = Vec::new();
    for row in catalogue.task_rows() {
        let directory = task_directory(to, row.key);
        let mut copy = TaskCopy {
            from: &task_directory(root, row.key),
            to: &directory,
            previous: previous.map(|earlier| task_directory(earlier, row.key)),
            progress: &mut progress,
            observe,
        };
        match copy.copy_files() {
            Ok(()) => rows.push(row),
            Err(_) if was_deleted(root, row.key)? => {
                if directory.exists() {
                    disk::remove_directory(&directory)?;
                }
            }
            Err(error) => return Err(error),
        }
    }
    // Read after the list of tasks, which it may only be ahead of: a start repairs the difference.
    write_task_log(to, &read_task_log(root)?)?;
    // Written last: without a list of tasks there is no copy.
    TaskCatalogue::from_rows(to, catalogue.next_key(), rows).write_to(to)?;
    Ok(progress)
}

/// Returns true if a task was deleted. Its directory disappears shortly before it leaves the list.
fn was_deleted(root: &Path, task: TaskKey) -> Result<bool, EngineError> {
    for _ in 0..DELETION_POLLS {
        let listed = TaskCatalogue::open(root)?.task_rows();
        if listed.iter().all(|row| row.key != task) {
            return Ok(true);
        }
        if task_directory(root, task).exists() {
            break;
        }
        thread::sleep(DELETION_POLL_INTERVAL);
    }
    Ok(false)
}

/// Files of a task that belong together, at one moment.
struct TaskSnapshot {
    batch_files: Vec<String>,
    ids_files: Vec<(String, File)>,
    /// Name, open file and length in bytes of each log.
    logs: Vec<(String, File, u64)>,
}

impl TaskSnapshot {
    fn take(directory: &Path) -> Result<Self, EngineError> {
        loop {
            let listing = FileListing::of_complete_files(directory)?;
            let opened = Self::open_listed_files(directory, &listing);
            // If a file was replaced, the list has changed.
            if FileListing::of_complete_files(directory)? == listing {
                return opened;
            }
        }
    }

    fn open_listed_files(directory: &Path, listing: &FileListing) -> Result<Self, EngineError> {
        let open = |name: String| {
            let path = directory.join(&name);
            match File::open(&path) {
                Ok(file) => Ok((name, file)),
                Err(source) => Err(disk::file_error(&path, source)),
            }
        };
        let ids = listing.ids_file_spans.iter();
        let ids_files = ids.map(|span| open(ids::ids_file_name(*span)));
        // Measured from the last log to the first. A log has contents only after the log before it
        // was closed, so the earlier log then includes its closing frame.
        let logs = listing.log_batch_numbers.iter().rev().map(|&batch| {
            let (name, file) = open(log_file_name(batch))?;
            let metadata = file.metadata();
            let length = metadata.map_err(|source| disk::file_error(directory, source))?;
            Ok((name, file, length.len()))
        });
        Ok(Self {
            batch_files: listing
                .batch_file_numbers
                .iter()
                .map(|&batch| batch_file_name(batch))
                .collect(),
            ids_files: ids_files.collect::<Result<_, EngineError>>()?,
            logs: logs.collect::<Result<_, EngineError>>()?,
        })
    }
}

/// Copy of one task's files to a new directory.
struct TaskCopy<'a> {
    from: &'a Path,
    to: &'a Path,
    /// Directory of the task in an earlier backup.
    previous: Option<PathBuf>,
    progress: &'a mut BackupProgress,
    observe: &'a mut dyn FnMut(&BackupProgress),
}

impl TaskCopy<'_> {
    fn copy_files(&mut self) -> Result<(), EngineError> {
        let snapshot = TaskSnapshot::take(self.from)?;
        disk::create_directory(self.to)?;
        for name in &snapshot.batch_files {
            let path = self.from.join(name);
            let file = File::open(&path).map_err(|source| disk::file_error(&path, source))?;
            self.copy_unchanging_file(name, &file)?;
        }
        for (name, file) in &snapshot.ids_files {
            self.copy_unchanging_file(name, file)?;
        }
        for (name, file, length) in &snapshot.logs {
            // Bytes after this length were written later. They may belong to a closing frame, whose
            // next log is not in the snapshot.
            self.copy_bytes(name, file, *length)?;
        }
        // Entries of hard links are durable only now.
        disk::sync_directory(self.to)
    }

    /// Copies a file that no process writes to. Links it to the previous backup if it is there.
    fn copy_unchanging_file(&mut self, name: &str, file: &File) -> Result<(), EngineError> {
        let to = self.to.join(name);
        let failed = |source| disk::file_error(&to, source);
        let metadata = file.metadata().map_err(failed)?;
        let changed_at = metadata.modified().map_err(failed)?;
        let earlier = self.previous.as_ref().map(|previous| previous.join(name));
        let unchanged = earlier.filter(|path| {
            let same = fs::metadata(path).is_ok_and(|kept| {
                kept.len() == metadata.len() && kept.modified().is_ok_and(|at| at == changed_at)
            });
            // Damage in the previous backup must not spread to this one.
            same && is_same_data(path, file)
        });
        // A link fails between two file systems. The file is copied then.
        if unchanged.is_some_and(|path| fs::hard_link(path, &to).is_ok()) {
            self.progress.linked_files += 1;
            self.add_progress(metadata.len());
            return Ok(());
        }
        self.copy_bytes(name, file, metadata.len())?;
        // The next backup recognises the file by this time.
        let copied = File::options().write(true).open(&to).map_err(failed)?;
        copied.set_modified(changed_at).map_err(failed)
    }

    fn copy_bytes(&mut self, name: &str, file: &File, length: u64) -> Result<(), EngineError> {
        let mut source = file.take(length);
        let to = self.to.join(name);
        disk::write_atomically_with(&to, |out| io::copy(&mut source, out).map(drop))?;
        self.progress.copied_files += 1;
        self.add_progress(length);
        Ok(())
    }

    fn add_progress(&mut self, bytes: u64) {
        self.progress.bytes += bytes;
        (self.observe)(self.progress);
    }
}

/// Returns true if the file at `path` has the same bytes as `file`, which is at its beginning.
fn is_same_data(path: &Path, file: &File) -> bool {
    let (mut offset, mut chunks) = (0, [vec![0; COMPARED_BYTES], vec![0; COMPARED_BYTES]]);
    let Ok(kept) = File::open(path) else {
        return false;
    };
    loop {
        let [ours, theirs] = &mut chunks;
        match (file.read_at(ours, offset), kept.read_at(theirs, offset)) {
            (Ok(0), Ok(0)) => return true,
            (Ok(read), Ok(other)) if read == other && ours[..read] == theirs[..read] => {
                offset += read as u64;
            }
            _ => return false,
        }
    }
}
