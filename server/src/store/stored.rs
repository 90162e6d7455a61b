//! The reports of one task in a data directory, which may be in use or not.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use hushbin::{Report, Task, Upload};

use super::error::OpenError;
use super::journal::{JournalReader, TaskKey};
use super::{sqlite, task};

/// The reports of a task, to be read only.
pub(crate) struct StoredReports {
    task: Task,
    key: TaskKey,
    reader: Arc<dyn JournalReader>,
}

impl StoredReports {
    /// Those of the task of this id, in a data directory that a collector may be writing
    /// to.
    ///
    /// # Errors
    /// When the directory has no journal, or the journal no such task.
    pub(crate) fn open(directory: &Path, id: &str) -> Result<Self, OpenError> {
        let (rows, reader) = sqlite::open_to_read(directory)?;
        let row = rows.iter().find(|row| row.id == id);
        let row = row.ok_or_else(|| OpenError::UnknownTask {
            id: id.to_owned(),
            there: rows.iter().map(|row| row.id.clone()).collect(),
        })?;
        Ok(Self {
            task: task::read_task(row)?,
            key: row.key,
            reader,
        })
    }

    /// The task, as it was stored on first sight.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Visits every report that is in the journal as of one moment.
    ///
    /// # Errors
    /// When storage fails or holds what is no upload.
    pub(crate) fn for_each_report(&self, visit: impl FnMut(&Report)) -> Result<(), OpenError> {
        for_each_report(&*self.reader, self.key, &self.task, &|| false, visit)
    }
}

/// Visits every report of a task that is in the journal as of one moment, unless given up.
///
/// # Errors
/// When storage fails or holds what is no upload.
pub(super) fn for_each_report(
    reader: &dyn JournalReader,
    key: TaskKey,
    task: &Task,
    given_up: &dyn Fn() -> bool,
    mut visit: impl FnMut(&Report),
) -> Result<(), OpenError> {
    let mut damaged = None;
    reader.for_each_upload(key, &mut |bytes| {
        if given_up() {
            return ControlFlow::Break(());
        }
        match Upload::decode(bytes, task) {
            Ok(upload) => {
                upload.reports.iter().for_each(&mut visit);
                ControlFlow::Continue(())
            }
            Err(source) => {
                damaged = Some(source);
                ControlFlow::Break(())
            }
        }
    })?;
    damaged.map_or(Ok(()), |source| {
        Err(OpenError::StoredUpload {
            id: task.id().to_owned(),
            source,
        })
    })
}
