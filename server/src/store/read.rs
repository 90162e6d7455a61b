//! Reads the totals, origins and reports of released batches.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use hushbin::sums::SumTask;
use hushbin::{Report, Task};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::SumTotals;

use super::engine::{BatchRow, BatchState, EngineError};
use super::error::JournalError;
use super::handle::Store;
use super::origin::{OriginCounts, ReportOrigin};
use super::role::ProcessRole;
use super::stored_reports;
use super::task::StoredTask;

/// Checks that the reports of these batches are still kept.
fn check_reports_kept(stored: &StoredTask, batches: &[BatchRow]) -> Result<(), JournalError> {
    match batches.iter().find(|batch| !batch.reports_kept) {
        None => Ok(()),
        Some(gone) => Err(JournalError::ReportsDeleted {
            id: stored.task().id().to_owned(),
            batch: gone.number,
        }),
    }
}

/// Returns the task if it collects reports under local differential privacy. Returns an error for a
/// task of sums.
fn require_report_task(stored: &StoredTask) -> Result<&Task, JournalError> {
    let reports = stored.task().report_task();
    reports.ok_or_else(|| JournalError::UnexpectedSumTask {
        id: stored.task().id().to_owned(),
    })
}

impl Store {
    /// Returns the totals over the listed batches, or over all released batches if `batches` is
    /// `None`. This call blocks on disk I/O.
    ///
    /// # Errors
    /// When storage fails, a batch is not released, or the task is a task of sums.
    pub fn totals(
        &self,
        stored: &StoredTask,
        batches: Option<&[u64]>,
    ) -> Result<Arc<Totals>, JournalError> {
        let task = require_report_task(stored)?;
        let Some(batches) = batches else {
            return self.all_totals(stored, task);
        };
        let mut totals = Totals::new(task);
        for &batch in batches {
            totals.merge(&self.batch_totals(stored, task, batch)?);
        }
        Ok(Arc::new(totals))
    }

    /// Returns the message counts of a task of sums over `batches`, all of which must be released.
    /// This call blocks on disk I/O.
    ///
    /// # Errors
    /// When storage fails, or one of the batches is not released.
    pub(crate) fn sum_task_totals(
        &self,
        stored: &StoredTask,
        task: &SumTask,
        batches: &[BatchRow],
    ) -> Result<SumTotals, JournalError> {
        let mut totals = SumTotals::new(task);
        // A batch without messages only takes the place of a batch that was lost. It adds nothing.
        for batch in batches.iter().filter(|batch| batch.report_count > 0) {
            let own = self.read_totals(stored, batch.number, |bytes, _| {
                SumTotals::decode(task, bytes).map_err(|error| error.to_string())
            })?;
            totals.merge(&own);
        }
        Ok(totals)
    }

    /// Returns the totals over all released batches. The totals are cached, and each call adds the
    /// batches that were released since the last call.
    fn all_totals(&self, stored: &StoredTask, task: &Task) -> Result<Arc<Totals>, JournalError> {
        // Taken out of the cache: after an error below, the next call starts from empty totals.
        let mut known = stored.cached_totals.lock();
        let (mut last, mut totals) = match known.take() {
            Some((last, totals)) => (last, totals),
            None => (0, Arc::new(Totals::new(task))),
        };
        for BatchRow { number, .. } in stored.released_batches() {
            if number > last {
                let more = self.batch_totals(stored, task, number)?;
                Arc::make_mut(&mut totals).merge(&more);
                last = number;
            }
        }
        *known = Some((last, Arc::clone(&totals)));
        Ok(totals)
    }

    fn batch_totals(
        &self,
        stored: &StoredTask,
        task: &Task,
        batch: u64,
    ) -> Result<Totals, JournalError> {
        self.read_totals(stored, batch, |bytes, _| {
            Totals::decode(task, bytes).map_err(|error| error.to_string())
        })
    }

    /// Returns the number of reports for each origin (shuffler, batch and key) in released batches.
    /// Only an analyser stores origins. For other roles, the result is empty. This call blocks on
    /// disk I/O.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn origin_counts(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
    ) -> Result<OriginCounts, JournalError> {
        let mut all = OriginCounts::default();
        if stored.role() == ProcessRole::Analyser {
            for batch in batches {
                let own = self.read_totals(stored, batch.number, |_, origins| Ok(origins))?;
                all.merge(&own);
            }
        }
        Ok(all)
    }

    /// Returns true if an analyser's task has reports of this origin, in any batch. This call blocks on
    /// disk I/O, perhaps for as long as reading the reports of an open batch takes.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn has_reports_of_origin(
        &self,
        stored: &StoredTask,
        origin: ReportOrigin,
    ) -> Result<bool, JournalError> {
        for batch in stored.batches().iter().rev() {
            let found = match batch.state {
                BatchState::Released => self
                    .read_totals(stored, batch.number, |_, origins| Ok(origins))?
                    .contains(origin),
                BatchState::Open | BatchState::Closed => {
                    let mut found = false;
                    let reader = &*self.0.reader;
                    reader.for_each_upload(stored.key(), batch.number, &mut |_, body| {
                        let (_, own) = stored.role().split_origin_from_body(body);
                        found |= own == Some(origin);
                        match found {
                            true => ControlFlow::Break(()),
                            false => ControlFlow::Continue(()),
                        }
                    })?;
                    found
                }
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the stored totals of a batch. Passes the encoded totals, and the origins of the
    /// counted reports, to `read`.
    fn read_totals<T>(
        &self,
        stored: &StoredTask,
        batch: u64,
        read: impl FnOnce(&[u8], OriginCounts) -> Result<T, String>,
    ) -> Result<T, JournalError> {
        let bytes = self.0.reader.totals(stored.key(), batch);
        let bytes = bytes.map_err(|error| self.name_damaged_batch(stored, batch, error.into()))?;
        let parts = stored.role().split_origins_from_totals(&bytes);
        let read = parts
            .ok_or_else(|| "their origins are missing".to_owned())
            .and_then(|(totals, origins)| read(totals, origins));
        read.map_err(|reason| self.damaged_batch(stored, batch, reason))
    }

    /// Names the batch in an error of reading it, if the batch itself is the cause.
    fn name_damaged_batch(
        &self,
        stored: &StoredTask,
        batch: u64,
        error: JournalError,
    ) -> JournalError {
        let damaged = match &error {
            JournalError::Engine(EngineError::Damaged(_)) | JournalError::StoredUpload { .. } => {
                true
            }
            // The files of a deleted task are missing, too.
            JournalError::Engine(EngineError::FileAccess { source, .. }) => {
                source.kind() == io::ErrorKind::NotFound && !stored.is_removed()
            }
            _ => false,
        };
        match damaged {
            true => self.damaged_batch(stored, batch, error.to_string()),
            false => error,
        }
    }

    /// Returns the error for a damaged batch, and sets its metric until the process ends.
    fn damaged_batch(&self, stored: &StoredTask, batch: u64, reason: String) -> JournalError {
        self.0.writer_metrics.set_broken_file("batch", true);
        JournalError::DamagedBatch {
            id: stored.task().id().to_owned(),
            batch,
            reason,
        }
    }

    /// Visits the blocks of sealed reports of a released batch, until the visitor breaks. This call
    /// blocks on disk I/O.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn for_each_block(
        &self,
        stored: &StoredTask,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let read = self.0.reader.for_each_block(stored.key(), batch, visit);
        read.map_err(|error| self.name_damaged_batch(stored, batch, error.into()))
    }

    /// Visits every report of released batches, until `given_up` returns true. This call blocks on
    /// disk I/O.
    ///
    /// # Errors
    /// When storage fails, the reports of a batch are no longer kept, or a stored report is
    /// invalid.
    pub(crate) fn for_each_report(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
        given_up: &dyn Fn() -> bool,
        mut visit: impl FnMut(&Report),
    ) -> Result<(), JournalError> {
        check_reports_kept(stored, batches)?;
        let reader = &*self.0.reader;
        let (key, task) = (stored.key(), require_report_task(stored)?);
        for batch in batches {
            stored_reports::for_each_released_report(
                reader,
                key,
                task,
                batch.number,
                &mut |report| {
                    visit(&report);
                    match given_up() {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                },
            )
            .map_err(|error| self.name_damaged_batch(stored, batch.number, error))?;
        }
        Ok(())
    }

    /// Counts every report of released batches into new totals, on all cores. Counting starts from
    /// `none`, which are empty totals. The result is incomplete once `given_up` returns true. This
    /// call blocks on disk I/O.
    ///
    /// # Errors
    /// As [`Store::for_each_report`].
    pub(crate) fn recount_reports(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
        given_up: &(dyn Fn() -> bool + Sync),
        none: &Totals,
    ) -> Result<Totals, JournalError> {
        check_reports_kept(stored, batches)?;
        let (reader, of) = (
            &*self.0.reader,
            (stored.key(), require_report_task(stored)?),
        );
        let mut totals = none.clone();
        for batch in batches {
            let of_batch =
                stored_reports::recounted_batch_totals(reader, of, batch.number, given_up, none)
                    .map_err(|error| self.name_damaged_batch(stored, batch.number, error))?;
            totals.merge(&of_batch);
        }
        Ok(totals)
    }
}
