//! Blocks of a shuffled batch of sealed reports, which may be larger than the memory.
//!
//! ```text
//! block := people[8] reports[8] reports_before[8] upload
//! ```
//!
//! The reports of a block are sealed to one key. The numbers are those of
//! [`BlockStatement`], little endian. The upload is one of sealed reports, in the format that pages
//! send.

use std::collections::BTreeMap;
use std::io;

use data_encoding::HEXLOWER;
use hushbin::sealed::{self, KEY_ID_BYTES};
use hushbin::upload::EncodedUpload;
use hushbin::{Fingerprint, UploadId};

use super::record_sorter::{RecordSorter, SortedRecords};
use super::shuffled_block::BlockStatement;
use crate::task::ReportOrSumTask;

/// Maximum number of reports in a block. Blocks are encoded as uploads, so uploads have the same
/// maximum.
pub(super) const MAX_BLOCK_REPORTS: usize = hushbin::bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;

/// Maximum number of bytes in a block of sealed reports, unless a single report is longer.
const MAX_BLOCK_BYTES: usize = 1 << 19;

type KeyId = [u8; KEY_ID_BYTES];

/// Number of people and of reports that were sealed to one key.
#[derive(Debug, Clone, Copy, Default)]
struct KeyCounts {
    people: u64,
    reports: u64,
}

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
    /// Number of reports in each block but the last of a key.
    reports_per_block: usize,
    /// Counts of each key whose reports are kept.
    kept_keys: BTreeMap<KeyId, KeyCounts>,
}

/// Sealed reports of a batch that is being shuffled.
pub(super) struct SealedReports {
    sorter: RecordSorter,
    report_length: usize,
    /// True if each upload is one person, as in a task of sums. Otherwise each report is.
    uploads_are_people: bool,
    /// Counts of each key.
    keys: BTreeMap<KeyId, KeyCounts>,
}

impl SealedReports {
    pub(super) fn new(
        sorter: RecordSorter,
        report_length: usize,
        uploads_are_people: bool,
    ) -> Self {
        Self {
            sorter,
            report_length,
            uploads_are_people,
            keys: BTreeMap::new(),
        }
    }

    /// Adds the concatenated sealed reports of one upload.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub(super) fn push_upload(&mut self, reports: &[u8]) -> io::Result<()> {
        for (number, report) in reports.chunks_exact(self.report_length).enumerate() {
            // A report begins with the id of its key.
            if let Some(key) = report.first_chunk() {
                let counts = self.keys.entry(*key).or_default();
                counts.reports += 1;
                // All reports of an upload of sums are sealed to one key.
                counts.people += u64::from(number == 0 || !self.uploads_are_people);
            }
        }
        self.sorter.push_records(reports)
    }

    /// Sorts the reports. Sealed bytes are random, so this order reveals nothing of the order of
    /// arrival. Also returns the number of people whose reports are left out.
    ///
    /// All sealed reports are left out whose key has fewer people than the task's minimum batch
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
            .partition(|(_, counts)| counts.people >= least);
        for (key, counts) in &small {
            tracing::warn!(
                task = task.id(),
                key = HEXLOWER.encode(key),
                people = counts.people,
                messages = counts.reports,
                "left out: too few reports were sealed to this key to hide each other"
            );
        }
        let left_out = small.values().map(|counts| counts.people).sum();
        if kept_keys.is_empty() && left_out > 0 {
            tracing::error!(
                task = task.id(),
                people = left_out,
                "left out: a whole batch, because too few reports were sealed to each of its keys"
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
        (blocks, left_out)
    }
}

impl SealedBlocks {
    /// Returns the length of each block in bytes.
    pub(super) fn lengths(&self) -> Vec<u32> {
        let each = self.reports_per_block as u64;
        let of_key = |counts: &KeyCounts| {
            let (all, counts) = (counts.reports, *counts);
            let begins = (0..all).step_by(self.reports_per_block);
            begins.map(move |begin| {
                let reports = each.min(all - begin) as usize;
                let rest = self.encode_block(counts, begin, reports, &[]);
                (rest.len() + reports * self.report_length) as u32
            })
        };
        self.kept_keys.values().flat_map(of_key).collect()
    }

    /// Visits the blocks in order, until the visitor fails.
    pub(super) fn for_each_block<E: From<io::Error>>(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let full = self.reports_per_block * self.report_length;
        let (mut reports, mut bytes) = (self.reports.merge()?, Vec::with_capacity(full));
        // Reports begin with the id of their key, so those of one key follow each other.
        for (own, &counts) in &self.kept_keys {
            let mut before = 0;
            while before < counts.reports {
                let visited = reports.visit_next(|report| {
                    if report.first_chunk() == Some(own) {
                        bytes.extend_from_slice(report);
                    }
                })?;
                let count = bytes.len() / self.report_length;
                let is_last = before + count as u64 == counts.reports;
                if bytes.len() == full || is_last {
                    visit(&self.encode_block(counts, before, count, &bytes))?;
                    before += count as u64;
                    bytes.clear();
                } else if !visited {
                    let missing = "a temporary file has fewer reports than were written";
                    return Err(io::Error::other(missing).into());
                }
            }
        }
        Ok(())
    }

    /// Encodes a block of the reports of one key, of which `before` are in the blocks before it.
    fn encode_block(
        &self,
        counts: KeyCounts,
        before: u64,
        report_count: usize,
        encoded_reports: &[u8],
    ) -> Vec<u8> {
        let statement = BlockStatement {
            people: counts.people,
            reports: counts.reports,
            reports_before: before,
        };
        let upload = EncodedUpload {
            id: self.batch_id,
            report_count: report_count as u32,
            encoded_reports,
        };
        let upload = sealed::encode_upload(&upload, &self.fingerprint);
        [&statement.encode()[..], &upload].concat()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::env;

    use super::super::shuffled_block::common_key_id;
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
            r#"{ "id": "theme", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6,
                "people": 5000, "questions": [{ "name": "theme", "kind": "choice", "options": 9 }],
                "messages": { "draws": 3, "threshold": "4611686018427387904" } }"#,
        )
        .unwrap();
        let task = ReportOrSumTask::from(task);
        let (least, length) = (task.min_batch_reports(), task.sealed_report_length());
        // Three messages come from each person, except from the last one of each key.
        let groups = [(1, least), (2, least - 1), (3, least + 7)];
        let [one, few, two] = groups.map(|(key, people)| reports(key, 3 * people - 1, length));
        let mut kept = [one.clone(), two.clone()].concat();
        kept.sort_unstable();
        let mut seen = Vec::new();
        for buffer_bytes in [1 << 30, 1 << 16] {
            let sorter = RecordSorter::new(length, buffer_bytes, env::temp_dir());
            let mut all = SealedReports::new(sorter, length, true);
            for upload in [&two, &few, &one].into_iter().flat_map(|own| own.chunks(3)) {
                all.push_upload(&upload.concat()).unwrap();
            }
            let (blocks, left_out) = all.into_blocks(&task, UploadId([9; 16]));
            assert_eq!(left_out, least - 1);
            let (mut lengths, mut bytes, mut people) = (Vec::new(), Vec::new(), [0; 2]);
            let visit = &mut |block: &[u8]| {
                lengths.push(block.len() as u32);
                let (stated, block) = BlockStatement::split_from(block).unwrap();
                let decoded = sealed::decode_uploads(block, &task.fingerprint(), length).unwrap();
                assert_eq!(decoded.len(), 1);
                assert_eq!(decoded[0].0.id, UploadId([9; 16]));
                let sealed = decoded[0].0.encoded_reports;
                let key = usize::from(common_key_id(sealed, length).unwrap()[0] == 3);
                let count = decoded[0].0.report_count.into();
                stated.check(&task, count).unwrap();
                assert_eq!(stated.people, least + 7 * key as u64);
                people[key] += stated.people_in_block(count);
                bytes.extend_from_slice(sealed);
                Ok::<_, io::Error>(())
            };
            blocks.for_each_block(visit).unwrap();
            assert_eq!(lengths, blocks.lengths());
            assert!(lengths.len() > 4);
            assert_eq!(people, [least, least + 7]);
            assert!(bytes == kept.concat());
            seen.push(lengths);
        }
        assert_eq!(seen[0], seen[1]);
    }
}
