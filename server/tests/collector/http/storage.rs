//! The interface over a journal that fails, stalls or panics.
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::support::{App, DEVELOPMENT, OPEN, SETTINGS};
use axum::body::Body;
use axum::http::StatusCode;
use hushbin_server::http::RequestLimits;
use hushbin_server::store::{
    BatchRelease, BatchRow, BlockChange, EngineError, FilesEngine, StorageEngine, StorageReader,
    Store, StoreOptions, TaskKey, TaskLogEntry, TaskRow, UploadOutcome, UploadRecord,
    UploadVisitor,
};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::json;
use tokio::sync::RwLock;

/// Behaviour of a commit.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Work,
    Fail,
    /// Waits for a message through the gate first.
    Stall,
}

/// Controls of a [`Faulty`] journal.
#[derive(Clone)]
struct Controls {
    mode: Arc<Mutex<Mode>>,
    commits: Arc<AtomicUsize>,
    /// Behaviour of every reader of reports.
    reading: Arc<Reading>,
    open: mpsc::Sender<()>,
}

impl Controls {
    fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }
}

struct Faulty {
    inner: FilesEngine,
    controls: Controls,
    gate: mpsc::Receiver<()>,
}

/// Readers panic or wait while these flags are set.
#[derive(Default)]
struct Reading {
    panic: AtomicBool,
    wait: Arc<RwLock<()>>,
    begun: AtomicUsize,
}

struct FaultyReader {
    inner: Arc<dyn StorageReader>,
    reading: Arc<Reading>,
}

type Done<T> = Result<T, EngineError>;

impl StorageEngine for Faulty {
    fn tasks(&self) -> Done<Vec<TaskRow>> {
        self.inner.tasks()
    }

    fn add_task(&mut self, row: TaskRow, now: u64) -> Done<TaskKey> {
        self.inner.add_task(row, now)
    }

    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Done<()> {
        self.inner.configure_task(task, settings)
    }

    fn remove_task(&mut self, task: TaskKey) -> Done<()> {
        self.inner.remove_task(task)
    }

    fn complete_task_log(&mut self, now: u64) -> Done<Vec<TaskLogEntry>> {
        self.inner.complete_task_log(now)
    }

    fn batches(&self, task: TaskKey) -> Vec<BatchRow> {
        self.inner.batches(task)
    }

    fn append_uploads(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Done<Vec<UploadOutcome>> {
        self.controls.commits.fetch_add(1, Ordering::SeqCst);
        let mode = *self.controls.mode.lock().unwrap();
        match mode {
            Mode::Fail => return Err(failure()),
            Mode::Stall => self.gate.recv().unwrap(),
            Mode::Work => {}
        }
        self.inner.append_uploads(task, group)
    }

    fn open_block_bodies(&mut self, task: TaskKey) -> Done<Vec<Vec<u8>>> {
        self.inner.open_block_bodies(task)
    }

    fn close_batch(&mut self, task: TaskKey, batch: u64, now: u64) -> Done<BatchRow> {
        self.inner.close_batch(task, batch, now)
    }

    fn refresh_changed_batch(&mut self, task: TaskKey, batch: u64) -> Done<()> {
        self.inner.refresh_changed_batch(task, batch)
    }

    fn probe_write(&mut self) -> Done<()> {
        match *self.controls.mode.lock().unwrap() {
            Mode::Fail => Err(failure()),
            Mode::Stall | Mode::Work => self.inner.probe_write(),
        }
    }

    fn reader(&self) -> Arc<dyn StorageReader> {
        Arc::new(FaultyReader {
            inner: self.inner.reader(),
            reading: Arc::clone(&self.controls.reading),
        })
    }
}

fn failure() -> EngineError {
    EngineError::Damaged("as the test wants it".to_owned())
}

impl StorageReader for FaultyReader {
    fn task_log_after(&self, number: u64) -> Done<Vec<TaskLogEntry>> {
        self.inner.task_log_after(number)
    }

    fn for_each_upload(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut UploadVisitor<'_>,
    ) -> Done<()> {
        self.inner.for_each_upload(task, batch, visit)
    }

    fn temporary_directory(&self) -> PathBuf {
        self.inner.temporary_directory()
    }

    fn store_release(&self, task: TaskKey, batch: &BatchRow, release: BatchRelease) -> Done<()> {
        self.inner.store_release(task, batch, release)
    }

    fn totals(&self, task: TaskKey, batch: u64) -> Done<Vec<u8>> {
        self.inner.totals(task, batch)
    }

    fn for_each_block(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Done<()> {
        let Reading { panic, wait, begun } = &*self.reading;
        begun.fetch_add(1, Ordering::SeqCst);
        drop(wait.blocking_read());
        assert!(!panic.load(Ordering::SeqCst), "as the test wants it");
        self.inner.for_each_block(task, batch, visit)
    }

    fn delete_reports(&self, task: TaskKey, batch: u64) -> Done<()> {
        self.inner.delete_reports(task, batch)
    }

    fn change_block(&self, task: TaskKey, batch: u64, change: &mut BlockChange<'_>) -> Done<bool> {
        self.inner.change_block(task, batch, change)
    }
}

fn app(store: StoreOptions, limits: RequestLimits) -> (App, Controls, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let (open, gate) = mpsc::channel();
    let controls = Controls {
        mode: Arc::new(Mutex::new(Mode::Work)),
        commits: Arc::new(AtomicUsize::new(0)),
        reading: Arc::default(),
        open,
    };
    let engine = Faulty {
        inner: FilesEngine::open(directory.path()).unwrap(),
        controls: controls.clone(),
        gate,
    };
    let tasks = [draft(SETTINGS).into(), draft(OPEN).into()];
    let options = StoreOptions {
        // Only these tests trigger work.
        check_interval: Duration::MAX,
        ..store
    };
    let store = Store::open_with_engine(Box::new(engine), &tasks, options).unwrap();
    (App::over(store, limits), controls, directory)
}

/// Waits until the writer has begun `count` commits.
async fn commits(controls: &Controls, count: usize) {
    while controls.commits.load(Ordering::SeqCst) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_failed_commit_is_told_to_all_in_it_and_loses_nothing_acknowledged() {
    let (app, controls, _directory) = app(StoreOptions::default(), DEVELOPMENT);
    let mut uploads = Uploads::new(&app.task("settings"), 1);
    let kept = uploads.bytes(2);
    let refused = uploads.bytes(3);
    assert_eq!(
        app.post("settings", kept.clone()).await.status,
        StatusCode::CREATED
    );
    controls.set(Mode::Fail);
    for _ in 0..2 {
        app.post("settings", refused.clone())
            .await
            .problem("storage", 503);
        app.get("/readyz").await.problem("not-ready", 503);
    }
    assert_eq!(app.get("/livez").await.status, StatusCode::OK);
    assert_eq!(
        app.get("/tasks/settings/estimates").await.json()["reports"],
        2
    );
    // The disk has room again.
    controls.set(Mode::Work);
    assert_eq!(app.get("/readyz").await.status, StatusCode::OK);
    assert_eq!(
        app.post("settings", refused).await.status,
        StatusCode::CREATED
    );
    assert_eq!(app.post("settings", kept).await.status, StatusCode::OK);
    assert_eq!(
        app.get("/tasks/settings/estimates").await.json()["reports"],
        5
    );
}

#[tokio::test]
async fn what_waits_shares_one_commit_and_what_does_not_fit_comes_back_later() {
    let options = StoreOptions {
        // Queue for ten requests.
        queue_bytes: 80 << 10,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, DEVELOPMENT);
    let app = Arc::new(app);
    let mut uploads = Uploads::new(&app.task("settings"), 2);
    controls.set(Mode::Stall);
    let post = |bytes: Vec<u8>| {
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.post("settings", bytes).await })
    };
    let first = post(uploads.bytes(1));
    commits(&controls, 1).await;
    // The writer holds the first request. Ten more fit into the queue, three do not.
    let others: Vec<_> = (0..13).map(|_| post(uploads.bytes(1))).collect();
    let mut refused = 0;
    let mut waiting = Vec::new();
    for other in others {
        // Refusals come at once, while the remaining requests wait for the gate.
        tokio::task::yield_now().await;
        if other.is_finished() {
            other.await.unwrap().problem("overloaded", 503);
            refused += 1;
        } else {
            waiting.push(other);
        }
    }
    assert_eq!((refused, waiting.len()), (3, 10));
    app.get("/readyz").await.problem("not-ready", 503);
    controls.open.send(()).unwrap();
    controls.open.send(()).unwrap();
    assert_eq!(first.await.unwrap().status, StatusCode::CREATED);
    for answer in waiting {
        assert_eq!(answer.await.unwrap().status, StatusCode::CREATED);
    }
    assert_eq!(controls.commits.load(Ordering::SeqCst), 2);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 11);
}

#[tokio::test]
async fn memory_for_uploads_is_bounded() {
    let mut options = StoreOptions {
        queue_bytes: 100,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, DEVELOPMENT);
    let app = Arc::new(app);
    let mut uploads = Uploads::new(&app.task("settings"), 3);
    controls.set(Mode::Stall);
    let first = uploads.bytes(5);
    options.queue_bytes -= first.len();
    let waits = {
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.post("settings", first).await })
    };
    commits(&controls, 1).await;
    let second = uploads.bytes(5);
    assert!(second.len() > options.queue_bytes);
    app.post("settings", second.clone())
        .await
        .problem("overloaded", 503);
    controls.open.send(()).unwrap();
    assert_eq!(waits.await.unwrap().status, StatusCode::CREATED);
    controls.set(Mode::Work);
    assert_eq!(
        app.post("settings", second).await.status,
        StatusCode::CREATED
    );
}

#[tokio::test]
async fn uploads_of_one_body_share_a_commit_and_its_fate() {
    let options = StoreOptions {
        max_commit_uploads: 2,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, DEVELOPMENT);
    let mut uploads = Uploads::new(&app.task("settings"), 5);
    let body: Vec<u8> = (0..5).flat_map(|_| uploads.bytes(2)).collect();
    controls.set(Mode::Fail);
    app.post("settings", body.clone())
        .await
        .problem("storage", 503);
    controls.set(Mode::Work);
    assert_eq!(
        app.post("settings", body).await.json(),
        json!({ "uploads": 5, "accepted_reports": 10, "duplicate_uploads": 0 })
    );
    assert_eq!(controls.commits.load(Ordering::SeqCst), 2);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 10);
}

#[tokio::test]
async fn a_stalled_journal_does_not_hold_clients_for_ever() {
    let limits = RequestLimits {
        request_timeout: Duration::from_millis(50),
        ..DEVELOPMENT
    };
    let (app, controls, _directory) = app(StoreOptions::default(), limits);
    let bytes = Uploads::new(&app.task("settings"), 4).bytes(1);
    controls.set(Mode::Stall);
    // On a slow machine the request may time out before it reaches the journal.
    while controls.commits.load(Ordering::SeqCst) == 0 {
        app.post("settings", bytes.clone())
            .await
            .problem("overloaded", 503);
    }
    // The commit still completes, and resending does not count twice.
    controls.set(Mode::Work);
    controls.open.send(()).unwrap();
    let app = App::over(app.store.clone(), DEVELOPMENT);
    assert_eq!(app.post("settings", bytes).await.status, StatusCode::OK);
    assert_eq!(
        app.get("/tasks/settings/estimates").await.json()["reports"],
        1
    );
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let limits = RequestLimits {
        body_timeout: Duration::from_millis(50),
        ..DEVELOPMENT
    };
    let (app, _, _directory) = app(StoreOptions::default(), limits);
    app.post("settings", Body::from_stream(Never))
        .await
        .problem("timeout", 408);
}

/// A body that never sends anything.
struct Never;

impl futures_core::Stream for Never {
    type Item = Result<Vec<u8>, std::io::Error>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn a_defect_is_a_problem_too_and_ends_one_request_only() {
    let (app, controls, _directory) = app(StoreOptions::default(), DEVELOPMENT);
    let bytes = Uploads::new(&app.task("anything"), 6).bytes(1);
    assert_eq!(
        app.post("anything", bytes).await.status,
        StatusCode::CREATED
    );
    controls.reading.panic.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        app.get("/tasks/anything/estimates?items=a")
            .await
            .problem("internal", 500);
    }
    controls.reading.panic.store(false, Ordering::SeqCst);
    let answer = app.get("/tasks/anything/estimates?items=a").await;
    assert_eq!(answer.status, StatusCode::OK);
}

/// A reader of reports waits only for other readers of reports.
#[tokio::test]
async fn who_asks_for_items_that_nobody_listed_delays_nobody_else() {
    let (app, controls, _directory) = app(StoreOptions::default(), DEVELOPMENT);
    let app = Arc::new(app);
    let mut uploads = Uploads::new(&app.task("settings"), 6);
    let bytes = Uploads::new(&app.task("anything"), 7).bytes(10);
    assert_eq!(
        app.post("anything", bytes).await.status,
        StatusCode::CREATED
    );
    let ask = || {
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.get("/tasks/anything/estimates?items=a").await })
    };
    // A released table needs no reading of reports. Another item, because answers are cached.
    let released = app.get("/tasks/anything/estimates?items=b").await;
    assert_eq!(released.status, StatusCode::OK);
    let before = controls.reading.begun.load(Ordering::SeqCst);
    let gate = Arc::clone(&controls.reading.wait).write_owned().await;
    let readers: Vec<_> = (0..4).map(|_| ask()).collect();
    while controls.reading.begun.load(Ordering::SeqCst) == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for _ in 0..3 {
        let stored = app.post("settings", uploads.bytes(1)).await;
        assert_eq!(stored.status, StatusCode::CREATED);
        let path = "/tasks/settings/estimates";
        assert_eq!(app.get(path).await.status, StatusCode::OK);
    }
    assert!(readers.iter().all(|reader| !reader.is_finished()));
    assert_eq!(controls.reading.begun.load(Ordering::SeqCst), before + 1);
    drop(gate);
    for reader in readers {
        assert_eq!(reader.await.unwrap().status, StatusCode::OK);
    }
}
