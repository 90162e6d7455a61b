//! What the writer does, counted.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use super::engine::Outcome;

/// Upper ends of the histogram of commits, in seconds: a fast disk syncs in a tenth of a
/// millisecond, and who waits for ten seconds has been told to come back.
const COMMIT_SECONDS: [f64; 11] = [
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0,
];

/// Counts since the start; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    /// Uploads that are new.
    pub(crate) uploads: Counter,
    /// Reports in them.
    pub(crate) reports: Counter,
    /// Uploads that the store had.
    pub(crate) duplicates: Counter,
    /// Uploads whose id the store has other bytes under.
    pub(crate) conflicts: Counter,
    /// Groups that could not be committed.
    pub(crate) failures: Counter,
    /// Time of commits.
    pub(crate) commit: Histogram,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            uploads: Counter::default(),
            reports: Counter::default(),
            duplicates: Counter::default(),
            conflicts: Counter::default(),
            failures: Counter::default(),
            commit: Histogram::new(COMMIT_SECONDS),
        }
    }

    /// Counts a group that is on disk.
    pub(super) fn committed(&self, time: Duration) {
        self.commit.observe(time.as_secs_f64());
    }

    /// Counts an upload of so many reports in such a group.
    pub(super) fn settled(&self, reports: u32, outcome: Outcome) {
        match outcome {
            Outcome::Stored => {
                self.uploads.inc();
                self.reports.inc_by(u64::from(reports));
            }
            Outcome::Duplicate => {
                self.duplicates.inc();
            }
            Outcome::Conflict => {
                self.conflicts.inc();
            }
        }
    }
}
