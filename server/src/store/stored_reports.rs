//! Reads stored reports, even while another process writes to the storage.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use hushbin::upload::{EncodedUpload, upload_header};
use hushbin::{Report, Task, Upload, UploadId};
use hushbin_analysis::estimate::Totals;
use rayon::prelude::*;

use super::engine::{BatchRow, BatchState, SharedStorage, StorageReader, TaskKey};
use super::error::JournalError;
use super::files::{self, FilesReader};
use super::fold::{add_block_to_totals, invalid_upload_error};
use super::location::JournalLocation;
use super::lock::lock_directory;
use super::origin::ReportOrigin;
use super::postgres;
use super::role::ProcessRole;
use super::shuffled_block::BlockRecord;
use super::task::{self, StoredTask};

/// Number of blocks that are counted at once. Blocks and uploads have the same maximum number of
/// reports.
const BLOCKS_COUNTED_AT_ONCE: usize = 16;

/// Visits every upload of an unreleased batch, with the origin of the upload's reports if the
/// origin is stored. The uploads are a snapshot of one moment. Their reports stay encoded.
///
/// Passes the records of blocks, with their upload ids, to `visit_block`. Only a task of sums has
/// such records.
///
/// # Errors
/// When storage fails, when a stored body is not that of an upload, or when the visitor fails.
pub(super) fn for_each_unreleased_upload(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
    mut visit: impl FnMut(EncodedUpload<'_>, Option<ReportOrigin>) -> Result<(), JournalError>,
    mut visit_block: impl FnMut([u8; 16], BlockRecord),
) -> Result<(), JournalError> {
    let has_blocks = stored.has_block_records();
    let mut visit = |id: [u8; 16], body: &[u8]| {
        let block = has_blocks.then(|| BlockRecord::from_upload(&id, body));
        if let Some(block) = block.flatten() {
            visit_block(id, block);
            return Ok(());
        }
        let (body, origin) = stored.role().split_origin_from_body(body);
        let upload = EncodedUpload::from_id_and_body(UploadId(id), body);
        visit(
            upload.map_err(|source| invalid_upload_error(stored.task().id(), source))?,
            origin,
        )
    };
    let mut damaged = Ok(());
    reader.for_each_upload(stored.key(), batch, &mut |id, body| match visit(id, body) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            damaged = Err(error);
            ControlFlow::Break(())
        }
    })?;
    damaged
}

/// Visits every report of a released batch, until the visitor breaks.
///
/// # Errors
/// When storage fails, or a block is not an upload of the task.
pub(super) fn for_each_released_report(
    reader: &dyn StorageReader,
    key: TaskKey,
    task: &Task,
    batch: u64,
    visit: &mut dyn FnMut(Report) -> ControlFlow<()>,
) -> Result<(), JournalError> {
    let mut damaged = Ok(());
    reader.for_each_block(key, batch, &mut |bytes| match decode_block(task, bytes) {
        Ok(upload) => upload.reports.into_iter().try_for_each(&mut *visit),
        Err(error) => {
            damaged = Err(error);
            ControlFlow::Break(())
        }
    })?;
    damaged
}

/// Counts every report of a released batch into new totals, on all cores. Counting starts from
/// `none`, which are empty totals. The result is incomplete once `given_up` returns true.
///
/// # Errors
/// When storage fails, or a block is not an upload of the task.
pub(super) fn recounted_batch_totals(
    reader: &dyn StorageReader,
    (key, task): (TaskKey, &Task),
    batch: u64,
    given_up: &(dyn Fn() -> bool + Sync),
    none: &Totals,
) -> Result<Totals, JournalError> {
    let (mut totals, mut blocks) = (none.clone(), Vec::new());
    let mut failed = None;
    reader.for_each_block(key, batch, &mut |bytes| {
        blocks.push(bytes.to_vec());
        if blocks.len() == BLOCKS_COUNTED_AT_ONCE {
            match recount_blocks(task, &mem::take(&mut blocks), given_up, none) {
                Ok(part) => totals.merge(&part),
                Err(error) => failed = Some(error),
            }
        }
        match failed.is_some() || given_up() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    totals.merge(&recount_blocks(task, &blocks, given_up, none)?);
    Ok(totals)
}

/// Counts the reports in blocks, on all cores, and returns new totals.
fn recount_blocks(
    task: &Task,
    blocks: &[Vec<u8>],
    given_up: &(dyn Fn() -> bool + Sync),
    none: &Totals,
) -> Result<Totals, JournalError> {
    // At most one part per core, because each part has its own totals, which may be large.
    let share = blocks.len().div_ceil(rayon::current_num_threads());
    let parts = blocks.par_chunks(share.max(1)).map(|blocks| {
        let mut part = none.clone();
        for bytes in blocks.iter().take_while(|_| !given_up()) {
            add_block_to_totals(task, bytes, &mut part)?;
        }
        Ok(part)
    });
    let merge = |mut all: Totals, part: Totals| {
        all.merge(&part);
        Ok(all)
    };
    parts.try_reduce(|| none.clone(), merge)
}

fn decode_block(task: &Task, bytes: &[u8]) -> Result<Upload, JournalError> {
    Upload::decode(bytes, task).map_err(|source| invalid_upload_error(task.id(), source))
}

/// Read-only access to the released reports of a task.
pub(crate) struct StoredReports {
    task: Task,
    key: TaskKey,
    storage: StorageSource,
}

/// Reader of a directory or of a database.
enum StorageSource {
    Files(FilesReader),
    Database(Arc<dyn StorageReader>),
}

impl StorageSource {
    fn reader(&self) -> &dyn StorageReader {
        match self {
            Self::Files(reader) => reader,
            Self::Database(reader) => &**reader,
        }
    }
}

/// Returns the queries for a database, which several processes may share.
fn expect_shared_storage(reader: &Arc<dyn StorageReader>) -> &dyn SharedStorage {
    let shared = reader.shared_storage();
    shared.expect("several processes may write to a database")
}

impl StoredReports {
    /// Opens the reports of the task `id`, while a collector may be writing to the location.
    ///
    /// # Errors
    /// When the location has no such task, or the task's reports cannot be read, because they are
    /// sealed or the task is a task of sums.
    pub(crate) fn open(location: &JournalLocation, id: &str) -> Result<Self, JournalError> {
        Self::open_for(location, id, true)
    }

    /// Opens the reports of the task `id` for [`StoredReports::erase_report`].
    ///
    /// # Errors
    /// As [`StoredReports::open`].
    pub(crate) fn open_for_erasure(
        location: &JournalLocation,
        id: &str,
    ) -> Result<Self, JournalError> {
        Self::open_for(location, id, false)
    }

    fn open_for(
        location: &JournalLocation,
        id: &str,
        read_only: bool,
    ) -> Result<Self, JournalError> {
        let (rows, source) = match location {
            JournalLocation::Directory(directory) => {
                let (rows, reader) = files::open_for_concurrent_reading(directory)?;
                (rows, StorageSource::Files(reader))
            }
            JournalLocation::Database(database) => {
                let (rows, reader) = postgres::open_existing(database, read_only)?;
                let rows = rows.into_iter().map(|(row, _)| row);
                (rows.collect(), StorageSource::Database(reader))
            }
        };
        let row = rows.iter().find(|row| row.id == id);
        let row = row.ok_or_else(|| JournalError::UnknownTask {
            id: id.to_owned(),
            known: rows.iter().map(|row| row.id.clone()).collect(),
        })?;
        let (role, _) = task::decode_role_and_settings(&row.id, &row.settings)?;
        if role == ProcessRole::Shuffler {
            return Err(JournalError::Sealed { id: id.to_owned() });
        }
        Ok(Self {
            task: task::task_from_row(row)?
                .into_report_task()
                .ok_or_else(|| JournalError::UnexpectedSumTask { id: id.to_owned() })?,
            key: row.key,
            storage: source,
        })
    }

    /// Returns the task as it was first stored.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the batches that are released so far.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn released_batches(&self) -> Result<Vec<BatchRow>, JournalError> {
        Ok(match &self.storage {
            StorageSource::Files(reader) => {
                reader.released_batches(self.key, self.task.fingerprint().0)?
            }
            StorageSource::Database(reader) => {
                let mut batches = expect_shared_storage(reader).batches(self.key)?;
                batches.retain(|row| row.state == BatchState::Released);
                batches
            }
        })
    }

    /// Returns the number of reports that a released batch still has. Some may have been erased.
    ///
    /// # Errors
    /// When storage fails, or a block is not an upload of the task.
    pub(crate) fn kept_report_count(&self, batch: u64) -> Result<u64, JournalError> {
        let (mut count, mut damaged) = (0, Ok(()));
        let visit = &mut |block: &[u8]| {
            match EncodedUpload::read_unchecked_upload(block, self.task.fingerprint()) {
                Ok(upload) => count += u64::from(upload.report_count),
                Err(source) => damaged = Err(invalid_upload_error(self.task.id(), source)),
            }
            ControlFlow::Continue(())
        };
        let reader = self.storage.reader();
        reader.for_each_block(self.key, batch, visit)?;
        damaged.map(|()| count)
    }

    /// Visits the reports of a released batch, sorted by bytes, until the visitor breaks. Visits no
    /// report if the batch's reports are no longer kept.
    ///
    /// # Errors
    /// When storage fails, or a block is not an upload of the task.
    pub(crate) fn for_each_released_report(
        &self,
        batch: u64,
        visit: &mut dyn FnMut(Report) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        for_each_released_report(self.storage.reader(), self.key, &self.task, batch, visit)
    }

    /// Deletes a report, given by its encoded bytes, from the first released batch that has it. The
    /// batch keeps its totals. If several reports have these bytes, one of them is deleted. Returns
    /// the number of the batch, or `None` if no released batch has the report.
    ///
    /// # Errors
    /// When the bytes are not one report of the task, or a whole upload, when a collector uses the directory, or when
    /// storage fails.
    pub(crate) fn erase_report(&self, report: &[u8]) -> Result<Option<u64>, JournalError> {
        let id = UploadId([0; 16]);
        let header = upload_header(id, &self.task.fingerprint(), 1);
        // The version and the fingerprint of an upload, before its id.
        if report.starts_with(&header[..17]) {
            return Err(JournalError::WholeUpload {
                id: self.task.id().to_owned(),
                header_length: header.len(),
            });
        }
        let only = EncodedUpload {
            id,
            report_count: 1,
            encoded_reports: report,
        };
        only.for_each_report(&self.task, |_, _| ())
            .map_err(|source| JournalError::InvalidReport {
                id: self.task.id().to_owned(),
                source,
            })?;
        // A collector would write a batch at the same time, for example to delete all its reports.
        let _lock = match &self.storage {
            StorageSource::Files(reader) => Some(lock_directory(reader.root())?),
            StorageSource::Database(_) => None,
        };
        let reader = self.storage.reader();
        for batch in self.released_batches()? {
            let mut damaged = Ok(());
            let erased = reader.change_block(self.key, batch.number, &mut |block| {
                let found = block_without_report(&self.task, block, report);
                found.unwrap_or_else(|error| {
                    damaged = Err(error);
                    None
                })
            })?;
            damaged?;
            if erased {
                return Ok(Some(batch.number));
            }
        }
        Ok(None)
    }
}

/// Returns a block without one of the reports that have these bytes, or no bytes if the block has
/// no other report. Returns `None` if the block does not have the report.
fn block_without_report(
    task: &Task,
    block: &[u8],
    report: &[u8],
) -> Result<Option<Vec<u8>>, JournalError> {
    let invalid = |source| invalid_upload_error(task.id(), source);
    let fingerprint = task.fingerprint();
    let upload = EncodedUpload::read_unchecked_upload(block, fingerprint).map_err(invalid)?;
    let (mut others, mut found) = (Vec::new(), false);
    upload
        .for_each_report(task, |_, bytes| match !found && bytes == report {
            true => found = true,
            false => others.extend(bytes),
        })
        .map_err(invalid)?;
    Ok(found.then(|| match upload.report_count - 1 {
        0 => Vec::new(),
        left => [upload_header(upload.id, &fingerprint, left), others].concat(),
    }))
}
