//! Tests of time limits, and of tasks that are added and deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hushbin::Upload;
use hushbin_tests::uploads::{Uploads, draft};

use super::clock::Clock;
use super::request::{UploadReceipt, WriterRequest};
use super::*;
use crate::task::ReportOrSumDraft;

const TASK: &str = r#"{ "id": "t", "items": 8, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Date at which a test begins: 15 July 2026, in seconds since 1970.
const START: u64 = 1_784_073_600;

fn draft_of_reports() -> hushbin::Task {
    draft(TASK).resolve_task().unwrap()
}

/// Calls and failures of a [`WatchedEngine`].
#[derive(Default)]
struct EngineWatch {
    /// Number of times that all records of blocks were read.
    block_reads: AtomicU64,
    /// True if the task log cannot be written.
    is_log_broken: AtomicBool,
}

/// Engine whose calls are watched.
struct WatchedEngine {
    inner: FilesEngine,
    watch: Arc<EngineWatch>,
}

impl StorageEngine for WatchedEngine {
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError> {
        self.inner.tasks()
    }

    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError> {
        self.inner.add_task(row, now)
    }

    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError> {
        self.inner.configure_task(task, settings)
    }

    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError> {
        self.inner.remove_task(task)
    }

    fn complete_task_log(&mut self, now: u64) -> Result<Vec<TaskLogEntry>, EngineError> {
        match self.watch.is_log_broken.load(Ordering::Relaxed) {
            true => Err(EngineError::Damaged("as the test wants it".to_owned())),
            false => self.inner.complete_task_log(now),
        }
    }

    fn batches(&self, task: TaskKey) -> Vec<BatchRow> {
        self.inner.batches(task)
    }

    fn append_uploads(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError> {
        self.inner.append_uploads(task, group)
    }

    fn open_block_bodies(&mut self, task: TaskKey) -> Result<Vec<Vec<u8>>, EngineError> {
        self.watch.block_reads.fetch_add(1, Ordering::Relaxed);
        self.inner.open_block_bodies(task)
    }

    fn close_batch(
        &mut self,
        task: TaskKey,
        batch: u64,
        now: u64,
    ) -> Result<BatchRow, EngineError> {
        self.inner.close_batch(task, batch, now)
    }

    fn refresh_changed_batch(&mut self, task: TaskKey, batch: u64) -> Result<(), EngineError> {
        self.inner.refresh_changed_batch(task, batch)
    }

    fn probe_write(&mut self) -> Result<(), EngineError> {
        self.inner.probe_write()
    }

    fn reader(&self) -> Arc<dyn StorageReader> {
        self.inner.reader()
    }
}

/// A store with a clock set by hand. Its batches need at least three reports.
struct Timed {
    store: Store,
    /// Seconds since 1970.
    date: Arc<AtomicU64>,
    /// Seconds that have passed.
    steady: Arc<AtomicU64>,
    uploads: Uploads,
    watch: Arc<EngineWatch>,
    _directory: tempfile::TempDir,
}

impl Timed {
    fn new() -> Self {
        Self::of(draft(TASK).into(), ProcessRole::Collector)
    }

    fn of(draft: ReportOrSumDraft, role: ProcessRole) -> Self {
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
            draft,
            settings: Some(settings),
        };
        let watch = Arc::default();
        let engine = Box::new(WatchedEngine {
            inner: FilesEngine::open(directory.path()).unwrap(),
            watch: Arc::clone(&watch),
        });
        let options = StoreOptions {
            role,
            ..StoreOptions::DEFAULT
        };
        let store = Store::start_threads(engine, &[collected], options, clock).unwrap();
        let of_reports = draft_of_reports();
        let uploads = Uploads::new(&of_reports, 1);
        Self {
            store,
            date,
            steady,
            uploads,
            watch,
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
            block: None,
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
    let limits = |settings: &BatchSettings| {
        [0, 1800, 3599, 3600].map(|age| settings.limit_at(BatchSettings::MOST_REPORTS, age))
    };
    assert_eq!(
        limits(&settings.batch),
        [most / 2, most / 4 * 3, 999_861, most]
    );
    // A task of sums may need more people than that.
    let sums = BatchSettings {
        least: 20 * most,
        most: 20 * most,
        ..settings.batch
    };
    assert!(!sums.is_due(20 * most - 1, 3600, 3600));
    assert_eq!(sums.limit_at(20 * most, 3600), 20 * most);
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

/// Draft of a task whose messages come in groups of at least 100 people.
const QUESTIONS: &str = r#"{ "id": "t", "trust": "shuffler", "epsilon": 4.0, "delta": 1e-6,
    "people": 100, "questions": [{ "name": "theme", "kind": "choice", "options": 3 }] }"#;

impl Timed {
    /// Sends one block of a group of 100 people and 120 messages.
    async fn block(
        &self,
        group: u8,
        before: u64,
        reports: u64,
    ) -> Result<UploadReceipt, StoreError> {
        let block = BlockRecord {
            origin: ReportOrigin {
                shuffler: [1; 8],
                batch_id: [group; 16],
                key_id: [3; 4],
            },
            statement: BlockStatement {
                people: 100,
                reports: 120,
                reports_before: before,
            },
            reports,
        };
        let mut bytes = block.encode();
        let mut uploads = vec![SubmittedUpload {
            id: block.upload_id(),
            report_count: block.people() as u32,
            body_range: 0..bytes.len(),
        }];
        for number in before..before + reports {
            let mut id = [group; 16];
            id[8..].copy_from_slice(&number.to_le_bytes());
            let begin = bytes.len();
            // One message about the first option.
            bytes.extend([1, 1]);
            bytes.extend(block.origin.encode());
            uploads.push(SubmittedUpload {
                id: hushbin::UploadId(id),
                report_count: 0,
                body_range: begin..bytes.len(),
            });
        }
        let submission = Submission {
            uploads,
            bytes,
            memory: self.store.empty_memory_reservation(),
            block: Some(Box::new(block)),
        };
        self.store.submit_uploads(&self.task(), submission).await
    }
}

#[tokio::test]
async fn a_batch_waits_for_the_rest_of_a_shuffled_batch() {
    let questions = serde_json::from_str::<ReportOrSumDraft>(QUESTIONS).unwrap();
    let timed = Timed::of(questions, ProcessRole::Analyser);
    timed.block(2, 0, 70).await.unwrap();
    // The batch is due from now on, by its number of people.
    timed.block(1, 0, 120).await.unwrap();
    timed.pass(3 * HOUR).await;
    assert_eq!(timed.states(), [(BatchState::Open, 158, true)]);
    let refused = timed.store.close_batch(&timed.task()).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::ShuffledBatchIncomplete),
        "{refused}"
    );
    // A block that is sent again adds nothing.
    let again = timed.block(2, 0, 70).await.unwrap();
    assert_eq!((again.duplicates, again.new_report_count), (71, 0));
    timed.pass(2 * HOUR).await;
    assert_eq!(timed.states(), [(BatchState::Open, 158, true)]);
    let refused = timed.block(2, 69, 51).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::InvalidBlock(BlockError::Contradiction)),
        "{refused}"
    );
    timed.block(2, 70, 50).await.unwrap();
    timed.pass(0).await;
    assert_eq!(timed.states()[0].1, 200);
    assert_eq!(timed.states()[1], (BatchState::Open, 0, true));
}

#[tokio::test]
async fn a_batch_does_not_wait_for_ever() {
    let questions = serde_json::from_str::<ReportOrSumDraft>(QUESTIONS).unwrap();
    let timed = Timed::of(questions, ProcessRole::Analyser);
    timed.block(2, 0, 70).await.unwrap();
    // The batch is due from now on.
    timed.block(1, 0, 120).await.unwrap();
    // A block is acknowledged before the batch is found due.
    timed.pass(0).await;
    // Blocks of other shuffled batches do not extend the wait.
    timed.pass(writer_blocks::MAX_BLOCK_WAIT_SECONDS - 1).await;
    timed.block(3, 0, 30).await.unwrap();
    assert_eq!(timed.states(), [(BatchState::Open, 183, true)]);
    timed.pass(1).await;
    let task = timed.task();
    task.wait_until_all_released().await;
    assert_eq!(timed.states()[0], (BatchState::Released, 183, false));
    assert_eq!(timed.store.writer_metrics().split_batches.get(), 2);
    // The rest is counted in the next batch.
    timed.block(2, 70, 50).await.unwrap();
    timed.block(3, 30, 90).await.unwrap();
    timed.pass(3 * HOUR).await;
    task.wait_until_all_released().await;
    assert_eq!(timed.states()[1], (BatchState::Released, 117, false));
    assert_eq!(timed.store.writer_metrics().split_batches.get(), 2);
    // Together, each group has all its people.
    let counts = timed.store.origin_counts(&task, &task.released_batches());
    let counts = counts.unwrap();
    assert_eq!(
        (counts.report_count(), counts.smallest_report_count()),
        (300, Some(100))
    );
    let sums = task.task().sum_task().unwrap();
    let totals = timed
        .store
        .sum_task_totals(&task, sums, &task.released_batches());
    assert_eq!(totals.unwrap().people_count(), 300);
}

/// The storage is asked for the blocks of a batch once, however many there are.
#[tokio::test]
async fn blocks_are_not_read_again_for_each_block() {
    let questions = serde_json::from_str::<ReportOrSumDraft>(QUESTIONS).unwrap();
    let timed = Timed::of(questions, ProcessRole::Analyser);
    for group in 1..=10 {
        for before in 0..12 {
            timed.block(group, 10 * before, 10).await.unwrap();
        }
    }
    timed.block(11, 0, 119).await.unwrap();
    let again = timed.block(11, 0, 119).await.unwrap();
    assert_eq!((again.duplicates, again.new_report_count), (120, 0));
    for (before, reports) in [(0, 118), (118, 2), (50, 3)] {
        let refused = timed.block(11, before, reports).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::InvalidBlock(BlockError::Contradiction)),
            "{refused}"
        );
    }
    // Each batch is read at its first block, before it closes, and after checks of due batches.
    let reads = timed.watch.block_reads.load(Ordering::Relaxed);
    assert!(reads <= 60, "{reads}");
}

/// Every task that a page can get is in the task log.
#[tokio::test]
async fn a_task_that_is_not_listed_is_not_served() {
    let timed = Timed::new();
    let more = TASK.replace("\"t\"", "\"more\"");
    timed.watch.is_log_broken.store(true, Ordering::Relaxed);
    let refused = timed.store.add_task(draft(&more).into()).await;
    assert!(
        matches!(refused, Err(JournalError::Engine(_))),
        "{refused:?}"
    );
    assert!(timed.store.task("more").is_none());
    timed.watch.is_log_broken.store(false, Ordering::Relaxed);
    timed.pass(1).await;
    assert_eq!(timed.store.task_log().len(), 1);
    timed.store.add_task(draft(&more).into()).await.unwrap();
    assert_eq!(timed.store.task_log().len(), 2);
    assert!(timed.store.task("more").is_some());
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
        block: None,
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
