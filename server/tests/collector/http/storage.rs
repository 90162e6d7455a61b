//! The interface over a journal that fails, stalls or panics.
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::support::{App, OPEN, SETTINGS};
use axum::body::Body;
use axum::http::StatusCode;
use hushbin_server::http::Limits;
use hushbin_server::store::{
    Journal, JournalError, JournalReader, Outcome, Record, SqliteJournal, Store, StoreOptions,
    TaskKey, TaskRow,
};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::json;

/// What a commit does, beside committing.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Work,
    Fail,
    /// Waits for a word through the gate first.
    Stall,
}

/// Controls of a [`Faulty`] journal.
#[derive(Clone)]
struct Controls {
    mode: Arc<Mutex<Mode>>,
    commits: Arc<AtomicUsize>,
    /// Whether readers panic.
    panic: Arc<AtomicBool>,
    open: mpsc::Sender<()>,
}

impl Controls {
    fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }
}

struct Faulty {
    inner: SqliteJournal,
    controls: Controls,
    gate: mpsc::Receiver<()>,
}

/// Finds an empty journal, or panics.
struct FaultyReader(Arc<AtomicBool>);

impl Journal for Faulty {
    fn tasks(&self) -> Result<Vec<TaskRow>, JournalError> {
        self.inner.tasks()
    }

    fn add_task(&mut self, id: &str, f: [u8; 16], p: &str) -> Result<TaskKey, JournalError> {
        self.inner.add_task(id, f, p)
    }

    fn append(&mut self, group: &[Record], prove: bool) -> Result<Vec<Outcome>, JournalError> {
        self.controls.commits.fetch_add(1, Ordering::SeqCst);
        let mode = *self.controls.mode.lock().unwrap();
        match mode {
            Mode::Fail => return Err(JournalError::Damaged("as the test wants it".to_owned())),
            Mode::Stall => self.gate.recv().unwrap(),
            Mode::Work => {}
        }
        self.inner.append(group, prove)
    }

    fn checkpoint(&mut self) -> Result<(), JournalError> {
        self.inner.checkpoint()
    }

    fn reader(&self) -> Arc<dyn JournalReader> {
        Arc::new(FaultyReader(Arc::clone(&self.controls.panic)))
    }
}

impl JournalReader for FaultyReader {
    fn for_each_upload(
        &self,
        _: TaskKey,
        _: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        assert!(!self.0.load(Ordering::SeqCst), "as the test wants it");
        Ok(())
    }
}

fn app(store: StoreOptions, limits: Limits) -> (App, Controls, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let (open, gate) = mpsc::channel();
    let controls = Controls {
        mode: Arc::new(Mutex::new(Mode::Work)),
        commits: Arc::new(AtomicUsize::new(0)),
        panic: Arc::new(AtomicBool::new(false)),
        open,
    };
    let journal = Faulty {
        inner: SqliteJournal::open(directory.path()).unwrap(),
        controls: controls.clone(),
        gate,
    };
    let drafts = [draft(SETTINGS), draft(OPEN)];
    let store = Store::with_journal(Box::new(journal), &drafts, store).unwrap();
    (App::over(store, limits), controls, directory)
}

/// Waits until the writer has begun so many commits.
async fn commits(controls: &Controls, count: usize) {
    while controls.commits.load(Ordering::SeqCst) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_failed_commit_is_told_to_all_in_it_and_loses_nothing_acknowledged() {
    let (app, controls, _directory) = app(StoreOptions::default(), Limits::default());
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
        queue_uploads: 10,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, Limits::default());
    let app = Arc::new(app);
    let mut uploads = Uploads::new(&app.task("settings"), 2);
    controls.set(Mode::Stall);
    let post = |bytes: Vec<u8>| {
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.post("settings", bytes).await })
    };
    let first = post(uploads.bytes(1));
    commits(&controls, 1).await;
    // The writer holds the first; ten more fit into the queue, three do not.
    let others: Vec<_> = (0..13).map(|_| post(uploads.bytes(1))).collect();
    let mut refused = 0;
    let mut waiting = Vec::new();
    for other in others {
        // Refusals come at once; the rest waits for the gate.
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
    assert_eq!(app.store.totals(&stored).await.unwrap().reports(), 11);
}

#[tokio::test]
async fn memory_for_uploads_is_bounded() {
    let mut options = StoreOptions {
        queue_bytes: 100,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, Limits::default());
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
        group_uploads: 2,
        ..StoreOptions::default()
    };
    let (app, controls, _directory) = app(options, Limits::default());
    let mut uploads = Uploads::new(&app.task("settings"), 5);
    let body: Vec<u8> = (0..5).flat_map(|_| uploads.bytes(2)).collect();
    controls.set(Mode::Fail);
    app.post("settings", body.clone())
        .await
        .problem("storage", 503);
    controls.set(Mode::Work);
    assert_eq!(
        app.post("settings", body).await.json(),
        json!({ "uploads": 5, "accepted": 10, "duplicates": 0 })
    );
    assert_eq!(controls.commits.load(Ordering::SeqCst), 2);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(app.store.totals(&stored).await.unwrap().reports(), 10);
}

#[tokio::test]
async fn a_stalled_journal_does_not_hold_clients_for_ever() {
    let limits = Limits {
        request_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let (app, controls, _directory) = app(StoreOptions::default(), limits);
    let bytes = Uploads::new(&app.task("settings"), 4).bytes(1);
    controls.set(Mode::Stall);
    // On a slow machine its time may be up before it comes to the journal.
    while controls.commits.load(Ordering::SeqCst) == 0 {
        app.post("settings", bytes.clone())
            .await
            .problem("overloaded", 503);
    }
    // The commit comes about all the same, and sending again does not count twice.
    controls.set(Mode::Work);
    controls.open.send(()).unwrap();
    let app = App::over(app.store.clone(), Limits::default());
    assert_eq!(app.post("settings", bytes).await.status, StatusCode::OK);
    assert_eq!(
        app.get("/tasks/settings/estimates").await.json()["reports"],
        1
    );
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let limits = Limits {
        body_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let (app, _, _directory) = app(StoreOptions::default(), limits);
    app.post("settings", Body::from_stream(Never))
        .await
        .problem("timeout", 408);
}

/// A body of which nothing ever comes.
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
    let (app, controls, _directory) = app(StoreOptions::default(), Limits::default());
    controls.panic.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        app.get("/tasks/anything/estimates?items=a")
            .await
            .problem("internal", 500);
    }
    controls.panic.store(false, Ordering::SeqCst);
    let answer = app.get("/tasks/anything/estimates?items=a").await;
    assert_eq!(answer.status, StatusCode::OK);
}
