//! The reports of one task, read beside whoever writes them.

use std::ops::ControlFlow;
use std::path::Path;

use hushbin::upload::VERSION;
use hushbin::{Report, Task, Upload};

use super::engine::{BatchRow, BatchState, EngineError, Reader, TaskKey};
use super::error::OpenError;
use super::files::{self, FilesReader};
use super::task;

/// Visits every upload of a batch that is not yet released, as of one moment.
///
/// # Errors
/// When storage fails or holds what is no upload.
pub(super) fn for_each_unreleased(
    reader: &dyn Reader,
    key: TaskKey,
    task: &Task,
    batch: u64,
    visit: &mut dyn FnMut(Upload) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    let fingerprint = task.fingerprint();
    let mut bytes = Vec::new();
    decoded(task, visit, |visit| {
        reader.for_each_upload(key, batch, &mut |id, body| {
            bytes.clear();
            bytes.push(VERSION);
            bytes.extend(fingerprint.0);
            bytes.extend(id);
            bytes.extend(body);
            visit(&bytes)
        })
    })
}

/// Visits every report of a released batch.
///
/// # Errors
/// When storage fails or holds what is no upload.
pub(super) fn for_each_released(
    reader: &dyn Reader,
    key: TaskKey,
    task: &Task,
    batch: u64,
    visit: &mut dyn FnMut(Report) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    let visit = &mut |upload: Upload| upload.reports.into_iter().try_for_each(&mut *visit);
    decoded(task, visit, |visit| {
        reader.for_each_block(key, batch, visit)
    })
}

/// Decodes the uploads that `for_each` visits.
fn decoded(
    task: &Task,
    visit: &mut dyn FnMut(Upload) -> ControlFlow<()>,
    for_each: impl FnOnce(&mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), EngineError>,
) -> Result<(), OpenError> {
    let mut damaged = None;
    for_each(&mut |bytes| match Upload::decode(bytes, task) {
        Ok(upload) => visit(upload),
        Err(source) => {
            damaged = Some(source);
            ControlFlow::Break(())
        }
    })?;
    damaged.map_or(Ok(()), |source| {
        Err(OpenError::StoredUpload {
            id: task.id().to_owned(),
            source,
        })
    })
}

/// The reports of a task, to be read only.
pub(crate) struct StoredReports {
    task: Task,
    key: TaskKey,
    batches: Vec<(u64, BatchState)>,
    reader: FilesReader,
}

impl StoredReports {
    /// Those of the task of this id, in a data directory that a collector may be writing
    /// to; whatever batch they are in.
    ///
    /// # Errors
    /// When the directory holds no tasks, or no such task.
    pub(crate) fn open(directory: &Path, id: &str) -> Result<Self, OpenError> {
        let (rows, reader) = files::open_to_read(directory)?;
        let row = rows.iter().find(|row| row.id == id);
        let row = row.ok_or_else(|| OpenError::UnknownTask {
            id: id.to_owned(),
            there: rows.iter().map(|row| row.id.clone()).collect(),
        })?;
        Ok(Self {
            task: task::read_task(row)?,
            key: row.key,
            batches: reader.batches(row.key)?,
            reader,
        })
    }

    /// The task, as it was stored on first sight.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// The batches that are released by now.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn releases(&self) -> Result<Vec<BatchRow>, OpenError> {
        let fingerprint = self.task.fingerprint().0;
        Ok(self.reader.releases(self.key, fingerprint)?)
    }

    /// Visits the reports of a released batch until the visitor breaks, in the order of their
    /// bytes; none where they are no longer kept.
    ///
    /// # Errors
    /// When storage fails or holds what is no upload.
    pub(crate) fn for_each_released(
        &self,
        batch: u64,
        visit: &mut dyn FnMut(Report) -> ControlFlow<()>,
    ) -> Result<(), OpenError> {
        for_each_released(&self.reader, self.key, &self.task, batch, visit)
    }

    /// Visits every report.
    ///
    /// # Errors
    /// When storage fails or holds what is no upload.
    pub(crate) fn for_each_report(&self, mut visit: impl FnMut(&Report)) -> Result<(), OpenError> {
        let (reader, key, task) = (&self.reader, self.key, &self.task);
        for &(batch, state) in &self.batches {
            match state {
                BatchState::Released => {
                    for_each_released(reader, key, task, batch, &mut |report| {
                        visit(&report);
                        ControlFlow::Continue(())
                    })
                }
                BatchState::Open | BatchState::Closed => {
                    for_each_unreleased(reader, key, task, batch, &mut |upload| {
                        upload.reports.iter().for_each(&mut visit);
                        ControlFlow::Continue(())
                    })
                }
            }?;
        }
        Ok(())
    }
}
