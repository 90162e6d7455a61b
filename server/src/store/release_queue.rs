//! Queue of the releaser: work to do, and work that has failed and waits for its next attempt.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use super::engine::BatchState;
use super::task::StoredTask;

/// Pause after a first failure, before the work is tried again. The most frequent failure is a full
/// disk. The pause doubles with each failure.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Maximum pause after a failure. An attempt reads and counts a whole batch.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(600);

/// Interval at which the releaser looks for new work while failed work waits.
const RETRY_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Work for the releaser thread.
#[derive(Clone)]
pub(super) enum ReleaserWork {
    /// Release the closed batches of this task.
    ReleaseClosedBatches(Arc<StoredTask>),
    /// Delete the reports of the released batch with this number.
    DeleteReports(Arc<StoredTask>, u64),
}

impl ReleaserWork {
    /// Returns the number of closed batches of the task that are not released.
    fn closed_batch_count(&self) -> usize {
        let (Self::ReleaseClosedBatches(task) | Self::DeleteReports(task, _)) = self;
        let batches = task.batches();
        let closed = batches.iter().filter(|row| row.state == BatchState::Closed);
        closed.count()
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::ReleaseClosedBatches(own), Self::ReleaseClosedBatches(other)) => {
                Arc::ptr_eq(own, other)
            }
            (Self::DeleteReports(own, batch), Self::DeleteReports(other, number)) => {
                Arc::ptr_eq(own, other) && batch == number
            }
            _ => false,
        }
    }
}

/// Queue of the releaser. Work that has failed waits for its next attempt while other tasks' work is
/// done.
pub(super) struct WorkQueue {
    new: mpsc::UnboundedReceiver<ReleaserWork>,
    failed: Vec<FailedWork>,
}

/// Work whose last attempt failed.
struct FailedWork {
    work: ReleaserWork,
    /// Upper limit on the pause before the next attempt.
    delay: Duration,
    next_attempt: Instant,
    /// Number of closed batches of the task at the last attempt.
    closed_batches: usize,
}

impl FailedWork {
    /// Returns true if `work` is this work, and no batch was closed since the last attempt. A
    /// batch that was closed since, perhaps by a person who has mended the cause, is tried at once.
    fn covers(&self, work: &ReleaserWork) -> bool {
        self.work.is_same(work) && work.closed_batch_count() <= self.closed_batches
    }
}

/// Returns a random pause between half of `delay` and `delay`, so that nodes do not try at the same
/// time.
fn random_pause(delay: Duration) -> Duration {
    let mut random = [0];
    // Without random numbers, the pause is `delay`.
    let _ = getrandom::fill(&mut random);
    delay.mul_f64(1.0 - f64::from(random[0]) / 512.0)
}

impl WorkQueue {
    pub(super) fn new(work: mpsc::UnboundedReceiver<ReleaserWork>) -> Self {
        Self {
            new: work,
            failed: Vec::new(),
        }
    }

    /// Waits for work. Returns `None` when all senders have been dropped.
    pub(super) fn wait_for_next(&mut self) -> Option<ReleaserWork> {
        loop {
            if self.failed.is_empty() {
                return self.new.blocking_recv();
            }
            match self.new.try_recv() {
                // The timer asks for the same releases again and again.
                Ok(work) if self.failed.iter().any(|failed| failed.covers(&work)) => continue,
                Ok(work) => return Some(work),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            let now = Instant::now();
            match self.failed.iter().find(|failed| failed.next_attempt <= now) {
                Some(due) => return Some(due.work.clone()),
                None => thread::sleep(RETRY_CHECK_INTERVAL),
            }
        }
    }

    /// Tries failed work again after a pause. Each failure doubles the pause.
    pub(super) fn retry_later(&mut self, work: ReleaserWork) {
        let last = self.failed.iter().find(|failed| failed.work.is_same(&work));
        let delay = last.map_or(MIN_RETRY_DELAY, |last| {
            (2 * last.delay).min(MAX_RETRY_DELAY)
        });
        self.forget_failures(&work);
        self.failed.push(FailedWork {
            closed_batches: work.closed_batch_count(),
            work,
            delay,
            next_attempt: Instant::now() + random_pause(delay),
        });
    }

    /// Forgets the failures of work that has succeeded or is no longer needed.
    pub(super) fn forget_failures(&mut self, work: &ReleaserWork) {
        self.failed.retain(|failed| !failed.work.is_same(work));
    }
}

#[cfg(test)]
mod tests {
    use hushbin_tests::uploads::draft;

    use super::*;
    use crate::store::engine::{BatchRow, TaskKey};
    use crate::store::role::ProcessRole;
    use crate::store::settings::TaskSettings;
    use crate::task::ReportOrSumDraft;

    fn stored_task(key: u64) -> Arc<StoredTask> {
        let task = r#"{ "id": "t", "items": 8, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#;
        let task = ReportOrSumDraft::from(draft(task)).resolve_task().unwrap();
        let settings = (ProcessRole::Collector, TaskSettings::default());
        Arc::new(StoredTask::new(TaskKey(key), task, settings, &[]))
    }

    #[test]
    fn failed_work_delays_no_other_task() {
        let (sender, new) = mpsc::unbounded_channel();
        let mut queue = WorkQueue::new(new);
        let [failing, other] = [1, 2].map(stored_task);
        let release = |task: &Arc<StoredTask>| ReleaserWork::ReleaseClosedBatches(Arc::clone(task));
        let begin = Instant::now();
        queue.retry_later(release(&failing));
        assert!(queue.failed[0].next_attempt >= begin + MIN_RETRY_DELAY / 2);
        queue.retry_later(ReleaserWork::DeleteReports(Arc::clone(&failing), 1));
        assert_eq!(queue.failed.len(), 2);
        // The timer asks for the failed release again.
        sender.send(release(&failing)).unwrap();
        sender.send(release(&other)).unwrap();
        assert!(queue.wait_for_next().unwrap().is_same(&release(&other)));
        // The failed work follows once it is due.
        queue.failed[0].next_attempt = Instant::now();
        assert!(queue.wait_for_next().unwrap().is_same(&release(&failing)));
        drop(sender);
        assert!(queue.wait_for_next().is_none());
    }

    #[test]
    fn a_batch_closed_after_a_failure_is_tried_at_once() {
        let (sender, new) = mpsc::unbounded_channel();
        let mut queue = WorkQueue::new(new);
        let task = stored_task(1);
        let release = ReleaserWork::ReleaseClosedBatches(Arc::clone(&task));
        queue.retry_later(release.clone());
        task.publish_batches(&[BatchRow {
            number: 1,
            state: BatchState::Closed,
            opened_at: 1,
            closed_at: Some(2),
            report_count: 3,
            reports_kept: true,
        }]);
        sender.send(release.clone()).unwrap();
        assert!(queue.wait_for_next().unwrap().is_same(&release));
        assert!(queue.failed[0].next_attempt > Instant::now(), "not yet due");
    }

    #[test]
    fn pauses_grow_until_an_attempt_succeeds() {
        let mut queue = WorkQueue::new(mpsc::unbounded_channel().1);
        let work = ReleaserWork::ReleaseClosedBatches(stored_task(1));
        let delays: Vec<u64> = (0..9)
            .map(|_| {
                let begin = Instant::now();
                queue.retry_later(work.clone());
                let FailedWork {
                    delay,
                    next_attempt,
                    ..
                } = queue.failed[0];
                assert!(next_attempt >= begin + delay / 2);
                assert!(next_attempt <= Instant::now() + delay);
                delay.as_secs()
            })
            .collect();
        assert_eq!(delays, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
        queue.forget_failures(&work);
        queue.retry_later(work);
        assert_eq!(queue.failed[0].delay, MIN_RETRY_DELAY);
    }
}
