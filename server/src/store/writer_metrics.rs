//! Counters of the writer's work.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::engine::UploadOutcome;

/// Upper bounds of the bins in the histogram of commit durations, in seconds. A fast disk syncs in
/// a tenth of a millisecond. A client that has waited for ten seconds is asked to try again later.
const COMMIT_SECONDS_BOUNDS: [f64; 11] = [
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0,
];

/// Label that names a file of the data directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct FileLabel {
    file: &'static str,
}

/// Counters of the writer's work since the process started. Clones share the counters.
#[derive(Debug, Clone)]
pub(crate) struct WriterMetrics {
    /// Number of new uploads.
    pub(crate) new_uploads: Counter,
    /// Number of reports in new uploads.
    pub(crate) reports: Counter,
    /// Number of uploads that were already stored.
    pub(crate) duplicate_uploads: Counter,
    /// Number of uploads whose id is already stored with other bytes.
    pub(crate) conflicts: Counter,
    /// Number of groups that could not be committed.
    pub(crate) failures: Counter,
    /// Number of sealed reports that a shuffler left out of released batches.
    pub(crate) left_out_reports: Counter,
    /// Number of shuffled batches that an analyser released without their last blocks.
    pub(crate) split_batches: Counter,
    /// Number of times that the machine's clock has jumped.
    pub(crate) clock_jumps: Counter,
    /// 1 for each file that was removed, replaced or damaged while the process runs, else 0.
    pub(crate) broken_files: Family<FileLabel, Gauge>,
    /// Histogram of commit durations, in seconds.
    pub(crate) commit: Histogram,
}

impl WriterMetrics {
    pub(super) fn new() -> Self {
        Self {
            new_uploads: Counter::default(),
            reports: Counter::default(),
            duplicate_uploads: Counter::default(),
            conflicts: Counter::default(),
            failures: Counter::default(),
            left_out_reports: Counter::default(),
            split_batches: Counter::default(),
            clock_jumps: Counter::default(),
            broken_files: Family::default(),
            commit: Histogram::new(COMMIT_SECONDS_BOUNDS),
        }
    }

    /// Records the duration of a commit.
    pub(super) fn observe_commit(&self, time: Duration) {
        self.commit.observe(time.as_secs_f64());
    }

    /// Sets whether a file of the data directory is broken.
    pub(crate) fn set_broken_file(&self, file: &'static str, is_broken: bool) {
        let gauge = self.broken_files.get_or_create(&FileLabel { file });
        gauge.set(is_broken.into());
    }

    /// Counts an upload of a committed group. If the upload is new, also counts its reports. The
    /// record of a block is no upload, but has reports.
    pub(super) fn count_upload(&self, reports: u32, is_block: bool, outcome: UploadOutcome) {
        let uploads = u64::from(!is_block);
        match outcome {
            UploadOutcome::Stored => {
                self.new_uploads.inc_by(uploads);
                self.reports.inc_by(u64::from(reports));
            }
            UploadOutcome::Duplicate => {
                self.duplicate_uploads.inc_by(uploads);
            }
            UploadOutcome::Conflict => {
                self.conflicts.inc();
            }
        }
    }
}
