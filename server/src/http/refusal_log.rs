//! Log of refusals that clients can cause at will.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Log of refusals of one kind, with at most one line a minute. So an attacker cannot fill the log.
#[derive(Default)]
pub(crate) struct RefusalLog(Mutex<Refusals>);

#[derive(Default)]
struct Refusals {
    last_line: Option<Instant>,
    /// Number of refusals since the last line.
    count: u64,
}

/// Minimum interval between two lines.
const REFUSAL_LOG_INTERVAL: Duration = Duration::from_secs(60);

impl RefusalLog {
    /// Counts a refusal. If a line is due, logs `message` with the number of refusals since the last
    /// line, and with the age of that line, which may be days.
    pub(super) fn record(&self, message: &'static str) {
        let mut refusals = self.0.lock();
        refusals.count += 1;
        let is_due = |last: Instant| last.elapsed() >= REFUSAL_LOG_INTERVAL;
        if refusals.last_line.is_none_or(is_due) {
            let requests = std::mem::take(&mut refusals.count);
            let last = refusals.last_line.replace(Instant::now());
            let within_seconds = last.map(|last| last.elapsed().as_secs());
            tracing::warn!(requests, within_seconds, "{message}");
        }
    }
}
