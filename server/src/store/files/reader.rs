//! Reader of a data directory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::batch::{self, BatchFile, BatchHeader};
use super::catalogue::TaskCatalogue;
use super::disk::WritableFile;
use super::ids::{self, BatchSpan, UploadIdsFile};
use super::layout::task_directory;
use super::listing::{FileListing, batch_file_name, log_file_name};
use super::shared_log::SharedFrames;
use super::task_log::read_task_log;
use super::{disk, log, verified_files};
use crate::store::engine::{
    BatchRelease, BatchRow, BlockChange, EngineError, ReleasedBlocks, StorageReader, TaskKey,
    TaskRow, TaskWithBatches, UploadVisitor,
};
use crate::store::task_log::TaskLogEntry;

/// Files of upload ids that a reader has written, each with the key of its task. They wait here
/// until the engine adopts them.
pub(super) type IdsFilesToAdopt = Arc<Mutex<Vec<(TaskKey, Arc<UploadIdsFile>)>>>;

/// Reader of a data directory. It opens files for every call, so that calls can run in parallel.
#[derive(Debug)]
pub(in crate::store) struct FilesReader {
    pub(super) root: Arc<Path>,
    pub(super) ids_files_to_adopt: IdsFilesToAdopt,
    /// Frames that a loss of power has left in the shared log alone.
    pub(super) shared_frames: SharedFrames,
    /// Lock of the engine that this reader belongs to, if the engine holds one.
    pub(super) lock: Option<Weak<WritableFile>>,
}

/// Opens a data directory for reading, even while a process writes to it. Returns the stored tasks,
/// and a reader.
///
/// # Errors
/// When the directory cannot be read or has another version, or its list of tasks is damaged.
pub(in crate::store) fn open_for_concurrent_reading(
    root: &Path,
) -> Result<(Vec<TaskRow>, FilesReader), EngineError> {
    // A missing list of tasks is an error here: there is nothing to read.
    let catalogue = TaskCatalogue::open_existing(root)?;
    let reader = FilesReader {
        root: root.into(),
        ids_files_to_adopt: IdsFilesToAdopt::default(),
        shared_frames: SharedFrames::read(root)?,
        lock: None,
    };
    Ok((catalogue.task_rows(), reader))
}

/// Opens a data directory to which no process writes. Verifies the same files that are verified
/// when a store is opened for writing. Returns the stored tasks, each with its batches, and a
/// reader.
///
/// # Errors
/// When the directory cannot be read, has another version, or is damaged.
pub(in crate::store) fn open_read_only(
    root: &Path,
) -> Result<(Vec<TaskWithBatches>, FilesReader), EngineError> {
    let (rows, reader) = open_for_concurrent_reading(root)?;
    let with_batches = |row: TaskRow| {
        let batches = verified_files::read_batches(
            &task_directory(root, row.key),
            &row,
            &reader.shared_frames,
        )?;
        Ok((row, batches))
    };
    let tasks = rows.into_iter().map(with_batches);
    Ok((tasks.collect::<Result<_, EngineError>>()?, reader))
}

impl FilesReader {
    /// Returns the data directory.
    pub(in crate::store) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the task's released batches, oldest first.
    pub(in crate::store) fn released_batches(
        &self,
        task: TaskKey,
        fingerprint: [u8; 16],
    ) -> Result<Vec<BatchRow>, EngineError> {
        verified_files::released_batches(&task_directory(&self.root, task), fingerprint)
    }

    /// Checks that no second process can have locked the directory, before a change to a batch.
    ///
    /// # Errors
    /// When the engine is closed, or [`EngineError::FileReplaced`].
    fn check_lock(&self) -> Result<(), EngineError> {
        let Some(lock) = &self.lock else {
            return Ok(());
        };
        let closed = || disk::file_error(&self.root, std::io::Error::other("the store is closed"));
        lock.upgrade().ok_or_else(closed)?.check_lock_in_place()
    }

    fn path_in_task_directory(&self, task: TaskKey, name: &str) -> PathBuf {
        task_directory(&self.root, task).join(name)
    }

    fn open_batch_file(&self, task: TaskKey, batch: u64) -> Result<BatchFile, EngineError> {
        BatchFile::open(&self.path_in_task_directory(task, &batch_file_name(batch)))
    }

    /// Passes a file of ids to the engine, which adopts the file after the release.
    fn hand_over_ids(&self, task: TaskKey, ids: UploadIdsFile) {
        let mut opened = self.ids_files_to_adopt.lock();
        opened.push((task, Arc::new(ids)));
    }

    /// Merges neighbouring files of ids, while there are enough neighbours of the same level.
    fn merge_ids_files(&self, task: TaskKey, fingerprint: [u8; 16]) -> Result<(), EngineError> {
        let directory = task_directory(&self.root, task);
        loop {
            let spans = FileListing::of_complete_files(&directory)?.maximal_ids_spans();
            let Some(range) = ids::spans_to_merge(&spans) else {
                return Ok(());
            };
            let parts = spans[range]
                .iter()
                .map(|span| {
                    UploadIdsFile::open(&directory.join(ids::ids_file_name(*span)), fingerprint)
                })
                .collect::<Result<Vec<_>, _>>()?;
            // The engine may be reading the old files. It removes them when it adopts the merged
            // file.
            let merged =
                ids::merge_files(&directory, fingerprint, &parts.iter().collect::<Vec<_>>())?;
            self.hand_over_ids(task, merged);
        }
    }
}

impl StorageReader for FilesReader {
    fn task_log_after(&self, number: u64) -> Result<Vec<TaskLogEntry>, EngineError> {
        let mut entries = read_task_log(&self.root)?;
        entries.retain(|entry| entry.number > number);
        Ok(entries)
    }

    fn for_each_upload(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut UploadVisitor<'_>,
    ) -> Result<(), EngineError> {
        let path = self.path_in_task_directory(task, &log_file_name(batch));
        let contents = self.shared_frames.read_log(&path, task, batch)?;
        let mut wanted = true;
        contents.for_each_upload(&path, |logged| {
            wanted = wanted && visit(logged.id, logged.body).is_continue();
        })
    }

    /// Returns the directory of the journal, which has room for another copy of a batch.
    fn temporary_directory(&self) -> PathBuf {
        self.root.to_path_buf()
    }

    fn store_release(
        &self,
        task: TaskKey,
        row: &BatchRow,
        release: BatchRelease,
    ) -> Result<(), EngineError> {
        self.check_lock()?;
        let batch = row.number;
        let path = self.path_in_task_directory(task, &log_file_name(batch));
        let Some(closed) = row.closed_at else {
            return Err(disk::damage_error(&path, "the batch is open still"));
        };
        let fingerprint = log::task_fingerprint(&path)?;
        let span = BatchSpan {
            first: batch,
            last: batch,
        };
        // The ids are written before the batch file, because the batch file makes the batch
        // released.
        let path = self.path_in_task_directory(task, &ids::ids_file_name(span));
        self.hand_over_ids(
            task,
            UploadIdsFile::write(&path, fingerprint, span, release.upload_ids)?,
        );
        let header = BatchHeader {
            fingerprint,
            batch,
            opened_at: row.opened_at,
            closed_at: closed,
            report_count: row.report_count,
        };
        let path = self.path_in_task_directory(task, &batch_file_name(batch));
        batch::write_batch_file(&path, &header, &release.totals, &release.blocks)?;
        self.merge_ids_files(task, fingerprint)
    }

    fn totals(&self, task: TaskKey, batch: u64) -> Result<Vec<u8>, EngineError> {
        self.open_batch_file(task, batch)?.totals()
    }

    fn for_each_block(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.open_batch_file(task, batch)?.for_each_block(visit)
    }

    fn delete_reports(&self, task: TaskKey, batch: u64) -> Result<(), EngineError> {
        self.check_lock()?;
        let file = self.open_batch_file(task, batch)?;
        let path = self.path_in_task_directory(task, &batch_file_name(batch));
        batch::write_batch_file(
            &path,
            &file.header,
            &file.totals()?,
            &ReleasedBlocks::InMemory(Vec::new()),
        )
    }

    fn change_block(
        &self,
        task: TaskKey,
        batch: u64,
        change: &mut BlockChange<'_>,
    ) -> Result<bool, EngineError> {
        self.check_lock()?;
        let file = self.open_batch_file(task, batch)?;
        let (mut blocks, mut changed) = (Vec::new(), false);
        file.for_each_block(&mut |block| {
            let new = if changed { None } else { change(block) };
            changed |= new.is_some();
            blocks.push(new.unwrap_or_else(|| block.to_vec()));
            ControlFlow::Continue(())
        })?;
        if changed {
            blocks.retain(|block| !block.is_empty());
            let blocks = ReleasedBlocks::InMemory(blocks);
            let path = self.path_in_task_directory(task, &batch_file_name(batch));
            batch::write_batch_file(&path, &file.header, &file.totals()?, &blocks)?;
        }
        Ok(changed)
    }
}
