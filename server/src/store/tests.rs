//! Tests of time limits, and of tasks that are added and deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hushbin::Upload;
use hushbin_tests::uploads::{Uploads, draft};

use super::clock::Clock;
use super::request::{UploadReceipt, WriterRequest};
use super::*;

const TASK: &str = r#"{ "id": "t", "items": 8, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Date at which a test begins: 15 July 2026, in seconds since 1970.
const START: u64 = 1_784_073_600;

/// A store with a clock set by hand. Its batches need at least three reports.
struct Timed {
    store: Store,
    /// Seconds since 1970.
    date: Arc<AtomicU64>,
    /// Seconds that have passed.
    steady: Arc<AtomicU64>,
    uploads: Uploads,
    _directory: tempfile::TempDir,
}

impl Timed {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let date = Arc::new(AtomicU64::new(START));
        let steady = Arc::new(AtomicU64::new(0));
        let read = |time: &Arc<AtomicU64>| {
            let time = Arc::clone(time);
            move || time.load(Ordering::Relaxed)
        };
        let read_steady = read(&steady);
        let clock = Clock {
            date: Arc::new(read(&date)),
            steady: Arc::new(move || Duration::from_secs(read_steady())),
        };
        let settings = TaskSettings {
            batch: BatchSettings {
                least: 3,
                most: 100,
                hours: 2,
                min_minutes: 0,
            },
            keep_reports_days: 7,
            ..TaskSettings::default()
        };
        let collected = TaskSetup {
            draft: draft(TASK).into(),
            settings: Some(settings),
        };
        let engine = Box::new(FilesEngine::open(directory.path()).unwrap());
        let options = StoreOptions::DEFAULT;
        let store = Store::start_threads(engine, &[collected], options, clock).unwrap();
        let uploads = Uploads::new(store.task("t").unwrap().task().report_task().unwrap(), 1);
        Self {
            store,
            date,
            steady,
            uploads,
            _directory: directory,
        }
    }

    fn task(&self) -> Arc<StoredTask> {
        self.store.task("t").unwrap()
    }

    /// Advances both clocks, and lets the writer close batches and delete reports that are due.
    async fn pass(&self, seconds: u64) {
        self.steady.fetch_add(seconds, Ordering::Relaxed);
        self.jump(seconds.cast_signed()).await;
    }

    /// Changes the date alone, and lets the writer close batches and delete reports that are due.
    async fn jump(&self, seconds: i64) {
        self.date
            .fetch_add(seconds.cast_unsigned(), Ordering::Relaxed);
        self.store
            .writer_queue()
            .unwrap()
            .send(WriterRequest::CloseDue)
            .await
            .unwrap();
        // The probe is served after `CloseDue`, so its answer means that all is done.
        self.store.probe_write().await.unwrap();
    }

    async fn report(&mut self, reports: usize) -> Result<UploadReceipt, StoreError> {
        let upload = self.uploads.make(reports);
        self.submit(&upload).await
    }

    async fn submit(&self, upload: &Upload) -> Result<UploadReceipt, StoreError> {
        let task = self.task();
        let bytes = upload.encode(&task.task().fingerprint());
        let submission = Submission {
            uploads: vec![SubmittedUpload::new(
                upload.id,
                upload.reports.len() as u32,
                0..bytes.len(),
            )],
            bytes,
            memory: self.store.empty_memory_reservation(),
        };
        self.store.submit_uploads(&task, submission).await
    }

    fn states(&self) -> Vec<(BatchState, u64, bool)> {
        let batches = self.task().batches();
        let of = |row: &BatchRow| (row.state, row.report_count, row.reports_kept);
        batches.iter().map(of).collect()
    }
}

#[tokio::test]
async fn a_batch_closes_by_its_age_once_it_is_large_enough() {
    let mut timed = Timed::new();
    timed.report(2).await.unwrap();
    timed.pass(10 * HOUR).await;
    assert_eq!(timed.states(), [(BatchState::Open, 2, true)]);
    timed.report(1).await.unwrap();
    // The upload is acknowledged before the batch is closed.
    timed.pass(0).await;
    timed.task().wait_until_all_released().await;
    let (released, open) = (BatchState::Released, BatchState::Open);
    assert_eq!(timed.states(), [(released, 3, true), (open, 0, true)]);
    timed.report(4).await.unwrap();
    timed.pass(2 * HOUR - 1).await;
    assert_eq!(timed.states()[1], (open, 4, true));
    // A batch closes by its age also without new uploads.
    timed.pass(1).await;
    timed.task().wait_until_all_released().await;
    assert_eq!(timed.states()[1], (released, 4, true));
}

#[tokio::test]
async fn a_full_batch_stays_open_for_its_minimum_time() {
    let mut timed = Timed::new();
    let mut settings = TaskSettings::clone(&timed.task().settings());
    settings.batch.min_minutes = 60;
    let task = timed.task();
    timed
        .store
        .configure_task(&task, settings.clone())
        .await
        .unwrap();
    timed.report(100).await.unwrap();
    timed.report(100).await.unwrap();
    timed.pass(HOUR - 1).await;
    assert_eq!(timed.states(), [(BatchState::Open, 200, true)]);
    timed.pass(1).await;
    timed.task().wait_until_all_released().await;
    assert_eq!(timed.states()[0], (BatchState::Released, 200, true));
    // The largest batch that a release can hold stays open, too.
    let most = BatchSettings::MOST_REPORTS;
    assert!(!settings.batch.is_due(most, 3599, 3599));
    assert!(settings.batch.is_due(most, 3600, 3600));
    let limits = |settings: &BatchSettings| [0, 1800, 3599, 3600].map(|age| settings.limit_at(age));
    assert_eq!(
        limits(&settings.batch),
        [most / 2, most / 4 * 3, 999_861, most]
    );
    // A task of sums may need more messages than that.
    let sums = BatchSettings {
        least: 20 * most,
        most: 20 * most,
        ..settings.batch
    };
    assert!(!sums.is_due(20 * most - 1, 3600, 3600));
    assert_eq!(limits(&sums)[3], 20 * most);
}

/// A flood neither closes a batch early nor keeps everyone else out of it.
#[tokio::test]
async fn a_flood_shares_the_batch_with_everyone_else() {
    let mut timed = Timed::new();
    let mut settings = TaskSettings::clone(&timed.task().settings());
    settings.batch.min_minutes = 60;
    let task = timed.task();
    timed.store.configure_task(&task, settings).await.unwrap();
    let mut upload = timed.uploads.make(4096);
    let mut reports = 0;
    for expected in [500_000, 550_000] {
        loop {
            upload.id.0[0] = upload.id.0[0].wrapping_add(1);
            match timed.submit(&upload).await {
                Ok(_) => {}
                Err(StoreError::BatchFillsTooFast) => break,
                Err(error) => panic!("{error}"),
            }
        }
        let [(BatchState::Open, found, _)] = timed.states()[..] else {
            panic!("{:?}", timed.states());
        };
        assert!((expected..expected + 4096).contains(&found), "{found}");
        // A tenth of the time, and so of the second half of the batch, passes.
        timed.pass(HOUR / 10).await;
        timed.report(5).await.unwrap();
        reports = found + 5;
    }
    timed.pass(HOUR * 8 / 10).await;
    timed.task().wait_until_all_released().await;
    assert_eq!(timed.states()[0], (BatchState::Released, reports, true));
    timed.report(5).await.unwrap();
}

#[tokio::test]
async fn a_clock_that_was_behind_does_not_shorten_the_minimum_time() {
    let mut timed = Timed::new();
    let mut settings = TaskSettings::clone(&timed.task().settings());
    settings.batch.min_minutes = 60;
    let task = timed.task();
    timed.store.configure_task(&task, settings).await.unwrap();
    timed.jump(EIGHTY_YEARS).await;
    timed.report(100).await.unwrap();
    timed.pass(HOUR - 1).await;
    assert_eq!(timed.states(), [(BatchState::Open, 100, true)]);
    timed.pass(1).await;
    timed.task().wait_until_all_released().await;
    assert_eq!(timed.states()[0], (BatchState::Released, 100, true));
}

#[tokio::test]
async fn reports_are_forgotten_in_time_and_totals_stay() {
    let mut timed = Timed::new();
    timed.report(5).await.unwrap();
    timed.pass(2 * HOUR).await;
    timed.task().wait_until_all_released().await;
    let task = timed.task();
    let totals = || timed.store.totals(&task, Some(&[1])).unwrap().encode();
    let before = totals();
    timed.pass(7 * DAY - 1).await;
    assert!(timed.states()[0].2);
    timed.pass(1).await;
    while timed.states()[0].2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(totals(), before);
    let error = timed
        .store
        .for_each_report(&task, &task.released_batches(), &|| false, |_| ())
        .unwrap_err();
    assert!(matches!(
        error,
        JournalError::ReportsDeleted { batch: 1, .. }
    ));
    // The ids of the counted uploads are still known.
    timed.uploads = Uploads::new(task.task().report_task().unwrap(), 1);
    let receipt = timed.report(5).await.unwrap();
    assert_eq!((receipt.new_report_count, receipt.duplicates), (0, 1));
}

/// Eighty years in seconds.
const EIGHTY_YEARS: i64 = 80 * 365 * 24 * 3600;

#[tokio::test]
async fn a_batch_that_was_opened_by_a_wrong_clock_closes_in_time() {
    for wrong in [EIGHTY_YEARS, -EIGHTY_YEARS] {
        let mut timed = Timed::new();
        timed.report(3).await.unwrap();
        timed.pass(2 * HOUR).await;
        timed.task().wait_until_all_released().await;
        // The second batch is opened while the date is wrong.
        timed.report(3).await.unwrap();
        timed.jump(wrong).await;
        timed.pass(2 * HOUR).await;
        timed.task().wait_until_all_released().await;
        timed.report(4).await.unwrap();
        timed.jump(-wrong).await;
        timed.pass(2 * HOUR).await;
        timed.task().wait_until_all_released().await;
        let states = timed.states();
        let reports: u64 = states.iter().map(|state| state.1).sum();
        assert_eq!((reports, states.last().unwrap().1), (10, 0), "{states:?}");
        assert!(timed.store.open_batch_age(&timed.task()) < 3 * HOUR);
        assert_eq!(timed.store.writer_metrics().clock_jumps.get(), 2);
    }
}

#[tokio::test]
async fn nothing_is_forgotten_because_of_a_jump() {
    let mut timed = Timed::new();
    timed.report(5).await.unwrap();
    timed.pass(2 * HOUR).await;
    timed.task().wait_until_all_released().await;
    // A jump forwards for less than a day.
    timed.jump(EIGHTY_YEARS).await;
    timed.pass(DAY - 1).await;
    timed.jump(-EIGHTY_YEARS).await;
    for _ in 0..5 {
        timed.pass(DAY).await;
        assert!(timed.states()[0].2);
    }
    // Seven days after the batch was closed, its reports are deleted as set.
    timed.pass(2 * DAY).await;
    while timed.states()[0].2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn reports_that_a_wrong_clock_has_closed_are_forgotten_in_time() {
    let mut timed = Timed::new();
    timed.report(5).await.unwrap();
    timed.jump(EIGHTY_YEARS).await;
    timed.task().wait_until_all_released().await;
    timed.jump(-EIGHTY_YEARS).await;
    timed.report(5).await.unwrap();
    timed.pass(2 * HOUR).await;
    timed.task().wait_until_all_released().await;
    assert_eq!(timed.states().iter().filter(|state| state.2).count(), 3);
    timed.pass(7 * DAY).await;
    while timed.states()[..2].iter().any(|state| state.2) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_task_that_is_deleted_takes_nothing_and_keeps_nothing() {
    let mut timed = Timed::new();
    timed.report(5).await.unwrap();
    let task = timed.task();
    let key = task.key();
    timed.store.remove_task(&task).await.unwrap();
    assert!(timed.store.task("t").is_none());
    // A caller may hold the task from before it was deleted.
    let upload = timed.uploads.make(1);
    let bytes = upload.encode(&task.task().fingerprint());
    let submission = Submission {
        uploads: vec![SubmittedUpload::new(upload.id, 1, 0..bytes.len())],
        bytes,
        memory: timed.store.empty_memory_reservation(),
    };
    let removed = |error| matches!(error, StoreError::TaskDeleted { id } if id == "t");
    assert!(removed(
        timed
            .store
            .submit_uploads(&task, submission)
            .await
            .unwrap_err()
    ));
    assert!(removed(timed.store.close_batch(&task).await.unwrap_err()));
    timed.store.add_task(draft(TASK).into()).await.unwrap();
    assert_ne!(timed.task().key(), key);
    assert_eq!(timed.report(1).await.unwrap().new_report_count, 1);
    assert_eq!(timed.states(), [(BatchState::Open, 1, true)]);
}
