//! Blocks of a shuffled batch of sealed reports, which may be larger than the memory.

use std::collections::BTreeMap;
use std::io;

use data_encoding::HEXLOWER;
use hushbin::sealed::{self, KEY_ID_BYTES};
use hushbin::upload::EncodedUpload;
use hushbin::{Fingerprint, UploadId};

use super::record_sorter::{RecordSorter, SortedRecords};
use crate::task::ReportOrSumTask;

/// Maximum number of reports in a block. Blocks are encoded as uploads, so uploads have the same
/// maximum.
pub(super) const MAX_BLOCK_REPORTS: usize = hushbin::bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;

/// Maximum number of bytes in a block of sealed reports, unless a single report is longer.
const MAX_BLOCK_BYTES: usize = 1 << 19;

type KeyId = [u8; KEY_ID_BYTES];

/// Blocks of the sealed reports of a batch, in the order of the reports' bytes.
///
/// All blocks have the same upload id, which identifies the batch.
#[derive(Debug)]
pub struct SealedBlocks {
    batch_id: UploadId,
    fingerprint: Fingerprint,
    reports: SortedRecords,
    /// Length of a sealed report in bytes.
    report_length: usize,
    /// Number of reports in each block but the last.
    reports_per_block: usize,
    /// Number of reports of each key whose reports are kept.
    kept_keys: BTreeMap<KeyId, u64>,
}

/// Sealed reports of a batch that is being shuffled.
pub(super) struct SealedReports {
    sorter: RecordSorter,
    report_length: usize,
    /// Number of reports that were sealed to each key.
    keys: BTreeMap<KeyId, u64>,
}

impl SealedReports {
    pub(super) fn new(sorter: RecordSorter, report_length: usize) -> Self {
        Self {
            sorter,
            report_length,
            keys: BTreeMap::new(),
        }
    }

    /// Adds concatenated sealed reports.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(super) fn push_reports(&mut self, reports: &[u8]) -> io::Result<()> {
        for report in reports.chunks_exact(self.report_length) {
            // A report begins with the id of its key.
            if let Some(key) = report.first_chunk() {
                *self.keys.entry(*key).or_default() += 1;
            }
        }
        self.sorter.push_records(reports)
    }

    /// Sorts the reports. Sealed bytes are random, so this order reveals nothing of the order of
    /// arrival. Also returns the number of reports that are left out.
    ///
    /// All sealed reports are left out whose key has fewer reports than the task's minimum batch
    /// size. The analyser sees which key a report was sealed to. So a report is hidden only among
    /// reports with the same key. While keys change, a key may have only a few reports.
    pub(super) fn into_blocks(
        self,
        task: &ReportOrSumTask,
        batch_id: UploadId,
    ) -> (SealedBlocks, u64) {
        let least = task.min_batch_reports();
        let (kept_keys, small): (BTreeMap<_, _>, BTreeMap<_, _>) = self
            .keys
            .into_iter()
            .partition(|(_, count)| *count >= least);
        for (key, messages) in &small {
            tracing::warn!(
                task = task.id(),
                key = HEXLOWER.encode(key),
                messages,
                "left out: too few reports were sealed to this key to hide each other"
            );
        }
        let blocks = SealedBlocks {
            batch_id,
            fingerprint: task.fingerprint(),
            reports: self.sorter.finish(),
            report_length: self.report_length,
            // A single report may be longer than `MAX_BLOCK_BYTES`.
            reports_per_block: (MAX_BLOCK_BYTES / self.report_length).clamp(1, MAX_BLOCK_REPORTS),
            kept_keys,
        };
        (blocks, small.values().sum())
    }
}

impl SealedBlocks {
    /// Returns the length of each block in bytes.
    pub(super) fn lengths(&self) -> Vec<u32> {
        let all: u64 = self.kept_keys.values().sum();
        let each = self.reports_per_block as u64;
        let begins = (0..all).step_by(self.reports_per_block);
        begins
            .map(|begin| {
                let reports = each.min(all - begin) as usize;
                (self.encode_block(reports, &[]).len() + reports * self.report_length) as u32
            })
            .collect()
    }

    /// Visits the blocks in order, until the visitor fails.
    pub(super) fn for_each_block<E: From<io::Error>>(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let full = self.reports_per_block * self.report_length;
        let (mut reports, mut bytes) = (self.reports.merge()?, Vec::with_capacity(full));
        let visit = &mut |bytes: &mut Vec<u8>| {
            visit(&self.encode_block(bytes.len() / self.report_length, bytes))?;
            bytes.clear();
            Ok::<_, E>(())
        };
        while reports.visit_next(|report| {
            let key = report.first_chunk();
            if key.is_some_and(|key| self.kept_keys.contains_key(key)) {
                bytes.extend_from_slice(report);
            }
        })? {
            if bytes.len() == full {
                visit(&mut bytes)?;
            }
        }
        match bytes.is_empty() {
            true => Ok(()),
            false => visit(&mut bytes),
        }
    }

    fn encode_block(&self, report_count: usize, encoded_reports: &[u8]) -> Vec<u8> {
        let upload = EncodedUpload {
            id: self.batch_id,
            report_count: report_count as u32,
            encoded_reports,
        };
        sealed::encode_upload(&upload, &self.fingerprint)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::env;

    use super::*;

    /// Returns `count` reports sealed to the key `key`, in no order.
    fn reports(key: u8, count: u64, length: usize) -> Vec<Vec<u8>> {
        let report = |number: u64| {
            let mut report = vec![key; length];
            let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            report[KEY_ID_BYTES..KEY_ID_BYTES + 8].copy_from_slice(&spread.to_be_bytes());
            report
        };
        (0..count).map(report).collect()
    }

    #[test]
    fn blocks_are_the_same_however_many_files_were_sorted() {
        let task: hushbin::sums::SumTask = serde_json::from_str(
            r#"{ "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6,
                "people": 5000, "numbers": [{ "name": "load", "min": 0, "max": 10 }],
                "messages": { "levels": 8, "drawn": 1, "trials": 1,
                    "threshold": "4611686018427387904", "noise": 2 } }"#,
        )
        .unwrap();
        let task = ReportOrSumTask::from(task);
        let (least, length) = (task.min_batch_reports(), task.sealed_report_length());
        let [one, few, two] = [(1, least), (2, least - 1), (3, least + 7)]
            .map(|(key, count)| reports(key, count, length));
        let mut kept = [one.clone(), two.clone()].concat();
        kept.sort_unstable();
        let mut seen = Vec::new();
        for buffer_bytes in [1 << 30, 1 << 16] {
            let sorter = RecordSorter::new(length, buffer_bytes, env::temp_dir());
            let mut all = SealedReports::new(sorter, length);
            for upload in [&two, &few, &one].into_iter().flat_map(|own| own.chunks(3)) {
                all.push_reports(&upload.concat()).unwrap();
            }
            let (blocks, left_out) = all.into_blocks(&task, UploadId([9; 16]));
            assert_eq!(left_out, least - 1);
            let (mut lengths, mut bytes) = (Vec::new(), Vec::new());
            let visit = &mut |block: &[u8]| {
                lengths.push(block.len() as u32);
                let decoded = sealed::decode_uploads(block, &task.fingerprint(), length).unwrap();
                assert_eq!(decoded.len(), 1);
                assert_eq!(decoded[0].0.id, UploadId([9; 16]));
                bytes.extend_from_slice(decoded[0].0.encoded_reports);
                Ok::<_, io::Error>(())
            };
            blocks.for_each_block(visit).unwrap();
            assert_eq!(lengths, blocks.lengths());
            assert!(lengths.len() > 2);
            assert!(bytes == kept.concat());
            seen.push(lengths);
        }
        assert_eq!(seen[0], seen[1]);
    }
}
