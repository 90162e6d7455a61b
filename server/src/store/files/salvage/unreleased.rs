//! Salvages the logs of batches that are not released.

use std::collections::HashSet;

use hushbin::codec::Cursor;

use super::damage::{DataLoss, SalvageResult, TaskSalvage};
use super::log::recover_log;
use crate::store::clock::now;
use crate::store::engine::{EngineError, UploadRecord};
use crate::store::files::disk;
use crate::store::files::frame::{LogHeader, LoggedUpload};
use crate::store::files::listing::log_file_name;
use crate::store::files::log::{LogContents, UploadLog};
use crate::store::role::ProcessRole;
use crate::store::shuffled_block::BlockRecord;

/// Maximum number of uploads in one commit of the new log.
const UPLOADS_PER_COMMIT: usize = 1024;

impl TaskSalvage<'_> {
    /// Salvages the logs of the unreleased batches: those with numbers above `released`.
    pub(super) fn salvage_unreleased_batches(
        &self,
        released: u64,
        salvaged: &mut SalvageResult,
    ) -> Result<(), EngineError> {
        let last = self.listing.log_batch_numbers.last().copied().unwrap_or(0);
        let mut batch = released + 1;
        while batch <= last {
            let Ok(log) = self.read_intact_log(batch) else {
                break;
            };
            // The next log is created before the previous one is closed.
            let is_last = batch == last
                || batch + 1 == last && self.read_intact_log(last).is_ok_and(|next| next.is_new());
            let is_open = log.closed_at.is_none();
            if is_open && !is_last {
                break;
            }
            salvaged.write_file(
                &self.new_directory.join(log_file_name(batch)),
                &self.read_log_bytes(batch)?,
            )?;
            if is_open {
                return Ok(());
            }
            batch += 1;
        }
        self.merge_logs_into_open_batch(batch, last, salvaged)
    }

    /// Reads the bytes of a log, with frames that are only in the shared log.
    pub(super) fn read_log_bytes(&self, batch: u64) -> Result<Vec<u8>, EngineError> {
        let path = self.old_directory.join(log_file_name(batch));
        self.shared_frames.read_bytes(&path, self.row.key, batch)
    }

    /// Reads and verifies a whole log.
    fn read_intact_log(&self, batch: u64) -> Result<LogContents, EngineError> {
        let path = self.old_directory.join(log_file_name(batch));
        let log = self.shared_frames.read_log(&path, self.row.key, batch)?;
        let of_it = log.header.fingerprint == self.row.fingerprint && log.header.batch == batch;
        match of_it {
            true => log.for_each_upload(&path, |_| {}).map(|()| log),
            false => Err(disk::damage_error(&path, "it belongs to another batch")),
        }
    }

    /// Returns the number of reports in an upload. In a task of sums, the messages of one person
    /// count as one report. An analyser's messages count as none, because the records of blocks have
    /// the number of people.
    fn report_count(&self, upload: &LoggedUpload<'_>) -> Option<u32> {
        match (self.task.sum_task(), self.role) {
            (Some(_), ProcessRole::Shuffler) => Some(1),
            (Some(_), _) => match BlockRecord::from_upload(&upload.id, upload.body) {
                Some(block) => u32::try_from(block.people()).ok(),
                None => Some(0),
            },
            (None, _) => {
                let mut cursor = Cursor::new("upload", upload.body);
                cursor.read_value("expected a number").ok()
            }
        }
    }

    /// Copies every valid commit in the logs `first` to `last` into the log of one open batch.
    fn merge_logs_into_open_batch(
        &self,
        first: u64,
        last: u64,
        salvaged: &mut SalvageResult,
    ) -> Result<(), EngineError> {
        let mut opened = None;
        let mut records: Vec<UploadRecord> = Vec::new();
        let mut ids = HashSet::new();
        for batch in first..=last.max(first) {
            let path = self.old_directory.join(log_file_name(batch));
            let bytes = self.read_log_bytes(batch).ok();
            let found =
                bytes.and_then(|bytes| recover_log(&bytes, &|upload| self.report_count(upload)));
            // Uploads of a released batch are already counted.
            let found = found.filter(|found| {
                let header = found.header;
                header.fingerprint == self.row.fingerprint && header.batch >= first
            });
            let known = found.as_ref().and_then(|found| found.lost_counts);
            match self.read_intact_log(batch) {
                Err(error) => salvaged.record_damage(error, DataLoss::Uploads { known }),
                Ok(log) if log.closed_at.is_none() && batch < last => {
                    // A later batch exists, so this log must have been cut off at the end of a
                    // commit.
                    let what = "the next batch exists, but this one is not closed";
                    let error = disk::damage_error(&path, what);
                    salvaged.record_damage(error, DataLoss::Uploads { known: None });
                }
                Ok(_) => {}
            }
            if let Some(found) = found {
                opened.get_or_insert(found.header.opened_at);
                // An id counts once, in the first commit that contains it.
                let more = found.records.into_iter();
                records.extend(more.filter(|record| ids.insert(record.id)));
            }
        }
        let opened = opened.unwrap_or_else(now);
        let header = LogHeader::new(self.row.fingerprint, first, opened)?;
        let mut log = UploadLog::create(&self.new_directory.join(log_file_name(first)), header)?;
        for group in records.chunks(UPLOADS_PER_COMMIT) {
            log.append_commit(&group.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
