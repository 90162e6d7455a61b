//! Clocks: the date, which may jump, and a clock that runs steadily.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::engine::BatchRow;

/// Smallest difference between date and steady clock that counts as a jump. Time servers move the
/// date in far smaller steps.
const MIN_JUMP: Duration = Duration::from_secs(60);

/// Time without jumps after which a new process trusts the date.
const START_TRUST: Duration = Duration::from_secs(3600);

/// Time without jumps after which a process trusts the date again.
const JUMP_TRUST: Duration = Duration::from_secs(24 * 3600);

/// Gap between the newest stored time and the date at the start that counts as a jump. On a quiet
/// site, a batch may stay open for months.
pub(crate) const MAX_GAP_SINCE_STORED_DATE: Duration = Duration::from_secs(400 * 24 * 3600);

/// 1 January 2026, in seconds since 1970. An earlier date is wrong, because no collector ran then.
pub(crate) const EARLIEST_DATE: u64 = 1_767_225_600;

/// Date and steady clock of a store.
#[derive(Clone)]
pub(super) struct Clock {
    /// Returns the seconds since 1970.
    pub(super) date: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Returns the time since some fixed moment. This clock never jumps.
    pub(super) steady: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// Returns the machine's clocks.
    pub(super) fn system() -> Self {
        let start = Instant::now();
        Self {
            date: Arc::new(now),
            steady: Arc::new(move || start.elapsed()),
        }
    }
}

/// Returns the seconds since 1970, or 0 if the machine's clock shows an earlier time.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Watches the date for jumps. Nothing may be deleted because of a date that may be wrong.
pub(super) struct ClockWatch {
    clock: Clock,
    /// Date and steady time at the last observation.
    last: (u64, Duration),
    /// Steady time from which the date is trusted.
    trusted_from: Duration,
}

impl ClockWatch {
    /// Starts to watch. `newest` is the newest stored time, in seconds since 1970, if any time is
    /// stored.
    pub(super) fn new(clock: Clock, newest: Option<u64>) -> Self {
        let last = ((clock.date)(), (clock.steady)());
        let mut watch = Self {
            trusted_from: last.1 + START_TRUST,
            clock,
            last,
        };
        let stopped = newest.map_or(0, |newest| last.0.abs_diff(newest));
        if let Some(newest) = newest.filter(|_| stopped > MAX_GAP_SINCE_STORED_DATE.as_secs()) {
            tracing::warn!(
                date = last.0,
                newest,
                "the clock differs by {} days from the newest time in the journal; check the \
                 clock; nothing is deleted for a day",
                stopped / 86_400
            );
            watch.trusted_from = last.1 + JUMP_TRUST;
        }
        watch
    }

    /// Returns the date, in seconds since 1970.
    pub(super) fn unchecked_unix_seconds(&self) -> u64 {
        (self.clock.date)()
    }

    /// Compares the two clocks. Returns true if the date has jumped since the last call.
    pub(super) fn observe(&mut self) -> bool {
        let now = (self.unchecked_unix_seconds(), (self.clock.steady)());
        let (date, steady) = std::mem::replace(&mut self.last, now);
        let passed = now.1.saturating_sub(steady);
        let expected = date.saturating_add(passed.as_secs());
        let jump = now.0.abs_diff(expected);
        if jump < MIN_JUMP.as_secs() {
            return false;
        }
        let direction = match now.0 > expected {
            true => "forwards",
            false => "backwards",
        };
        tracing::warn!(
            before = expected,
            date = now.0,
            "the clock has jumped {direction} by {jump} s; nothing is deleted for a day"
        );
        self.trusted_from = now.1 + JUMP_TRUST;
        true
    }

    /// Returns true if the date and a stored time can be compared.
    pub(super) fn trusts_stored_time(&self, stored: u64) -> bool {
        stored >= EARLIEST_DATE && self.trusted_date().is_some()
    }

    /// Returns the date, or `None` while it may be wrong because of a jump or a recent start.
    pub(super) fn trusted_date(&self) -> Option<u64> {
        let (date, steady) = self.last;
        (date >= EARLIEST_DATE && steady >= self.trusted_from).then_some(date)
    }
}

/// Returns the times at which closed batches were closed, in seconds since 1970. Times that a wrong
/// clock has stored are replaced by the next right one, or by `now` if none follows. Each result
/// has the position of its batch; an open batch gets `now`.
pub(super) fn corrected_closing_times(batches: &[BatchRow], now: u64) -> Vec<u64> {
    let mut earliest = EARLIEST_DATE;
    let known = batches.iter().map(|batch| {
        let closed = batch.closed_at.filter(|closed| *closed <= now)?;
        if closed < EARLIEST_DATE {
            return None;
        }
        // Batches are closed in order, so no batch was closed before an earlier one.
        earliest = earliest.max(closed);
        Some(earliest)
    });
    let known: Vec<Option<u64>> = known.collect();
    let mut next = now;
    let mut times: Vec<u64> = known
        .into_iter()
        .rev()
        .map(|time| {
            next = time.unwrap_or(next);
            next
        })
        .collect();
    times.reverse();
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::BatchState;

    const DAY: u64 = 86_400;

    fn closed_at(times: &[u64]) -> Vec<BatchRow> {
        let row = |(number, &closed): (u64, &u64)| BatchRow {
            number,
            state: BatchState::Released,
            opened_at: 0,
            closed_at: Some(closed),
            report_count: 1,
            reports_kept: true,
        };
        (1..).zip(times).map(row).collect()
    }

    #[test]
    fn closing_times_of_a_wrong_clock_are_replaced() {
        let first = EARLIEST_DATE + 100 * DAY;
        let now = first + 50 * DAY;
        let times = |closed: &[u64]| corrected_closing_times(&closed_at(closed), now);
        assert_eq!(times(&[first, first + DAY]), [first, first + DAY]);
        // The year 2106, and 1970.
        let year_2106 = u64::from(u32::MAX);
        assert_eq!(
            times(&[first, year_2106, first + DAY]),
            [first, first + DAY, first + DAY]
        );
        assert_eq!(
            times(&[first, 0, first + DAY]),
            [first, first + DAY, first + DAY]
        );
        // Nothing plausible follows.
        assert_eq!(times(&[first, year_2106]), [first, now]);
        assert_eq!(times(&[0]), [now]);
        assert_eq!(times(&[first + DAY, first]), [first + DAY, first + DAY]);
        assert!(times(&[]).is_empty());
    }
}
