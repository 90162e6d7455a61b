//! Handle to a store, and the operations that it offers.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::clock::Clock;
use super::engine::{BatchClaim, BatchRow, EngineError, StorageReader};
use super::error::{JournalError, StoreError};
use super::memory::{MemoryBudget, MemoryReservation};
use super::releaser;
use super::request::{self, Submission, UploadReceipt, UploadRequest, WriterRequest};
use super::role::ProcessRole;
use super::settings::TaskSettings;
use super::task::{self, StoredTask, TaskSetup};
use super::task_log::TaskLogEntry;
use super::tasks::CurrentTasks;
use super::writer_metrics::WriterMetrics;

/// Options of a store: limits on waiting uploads and on commits, an interval, a role, and whether a
/// journal is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Maximum number of bytes in uploads that are between socket and disk. The writer's queue has
    /// one slot for each 8 KiB of this maximum.
    pub queue_bytes: usize,
    /// Maximum number of uploads in one commit. The last request in a commit may exceed the
    /// maximum.
    pub max_commit_uploads: usize,
    /// Maximum number of bytes in one commit. The last request in a commit may exceed the maximum.
    pub max_commit_bytes: usize,
    /// Interval between checks for batches that are due to be closed.
    pub check_interval: Duration,
    /// Role of the process. All processes that use a journal have the same role.
    pub role: ProcessRole,
    /// True to create a journal in a directory that holds none. If false, this is an error, so a
    /// volume that is not mounted is noticed; [`create_journal`](super::create_journal) then begins
    /// a journal. Tables in a database are always created, because its operator created the
    /// database.
    pub create_journal: bool,
}

impl StoreOptions {
    /// Options that suit one process on a small machine. They create a missing journal.
    pub const DEFAULT: Self = Self {
        queue_bytes: 64 << 20,
        max_commit_uploads: 1024,
        max_commit_bytes: 8 << 20,
        check_interval: Duration::from_secs(20),
        role: ProcessRole::Collector,
        create_journal: true,
    };
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Time limit for the answer to a test write.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for the answer to uploads, in files and databases alike. It is longer than a
/// commit needs to fail if the database cannot be reached. A disk that takes longer stores the upload
/// nevertheless, and counts it as a duplicate when it is sent again.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(8);

/// Handle to the store of one directory or database. Clones are handles to the same store.
#[derive(Clone)]
pub struct Store(pub(super) Arc<StoreState>);

/// State of a store that all its handles share.
pub(super) struct StoreState {
    pub(super) clock: Clock,
    /// True if the writer has not answered the latest uploads or test write in time.
    pub(super) is_writer_silent: AtomicBool,
    /// Time at which the latest test write began, and its result.
    pub(super) latest_probe: tokio::sync::Mutex<Option<(Instant, Result<(), StoreError>)>>,
    pub(super) tasks: Arc<CurrentTasks>,
    pub(super) memory: MemoryBudget,
    /// Access to the writer, or `None` if the store is read-only.
    pub(super) writer: Option<WriterHandle>,
    pub(super) reader: Arc<dyn StorageReader>,
    pub(super) role: ProcessRole,
    pub(super) writer_metrics: WriterMetrics,
    /// Shared lock on the directory of a read-only store, which keeps writers out. `None` for other
    /// stores.
    pub(super) _shared_lock: Option<File>,
}

/// Access to the writer thread: its queue of requests, and a channel that closes when the thread
/// ends.
pub(super) struct WriterHandle {
    pub(super) queue: mpsc::Sender<WriterRequest>,
    pub(super) thread_end_signal: watch::Receiver<()>,
}

impl Store {
    /// Reads a task's batches from the storage again, if other processes may have changed them.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when storage fails, [`StoreError::TaskDeleted`] when the task was
    /// deleted.
    pub(crate) async fn refresh_batches(&self, stored: &Arc<StoredTask>) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let (reader, stored) = (Arc::clone(&self.0.reader), Arc::clone(stored));
        let refreshing = tokio::task::spawn_blocking(move || {
            let batches = match reader.shared_storage() {
                Some(shared) => shared
                    .batches(stored.key())
                    .map_err(StoreError::from_storage_failure)?,
                None => return Ok(()),
            };
            // A stored task always has an open batch. If there is none, the task was deleted.
            match batches.is_empty() {
                true => Err(StoreError::from_engine_error(
                    EngineError::TaskDeleted,
                    stored.task().id(),
                )),
                false => {
                    stored.publish_batches(&batches);
                    Ok(())
                }
            }
        });
        refreshing.await.map_err(|_| StoreError::Closed)?
    }

    /// Claims a batch. Returns `None` if another process holds the claim. This call blocks on disk
    /// I/O.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn claim_batch_exclusively(
        &self,
        stored: &StoredTask,
        batch: u64,
    ) -> Result<Option<BatchClaim>, JournalError> {
        Ok(releaser::claim_batch(&*self.0.reader, stored, batch)?)
    }

    /// Returns the role of the process.
    #[must_use]
    pub fn role(&self) -> ProcessRole {
        self.0.role
    }

    /// Returns true if the store is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0.writer.is_none()
    }

    /// Returns true if several processes may share the storage.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.reader.shared_storage().is_some()
    }

    pub(super) fn writer_queue(&self) -> Result<&mpsc::Sender<WriterRequest>, StoreError> {
        let writer = self.0.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        Ok(&writer.queue)
    }

    /// Returns all tasks, in the order in which they were stored.
    #[must_use]
    pub fn tasks(&self) -> Vec<Arc<StoredTask>> {
        self.0.tasks.all_tasks()
    }

    /// Returns the task with this id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<Arc<StoredTask>> {
        self.0.tasks.by_id(id)
    }

    /// Returns the task with this id and, if the id has no label, the labelled tasks of this name.
    pub(crate) fn tasks_with_id_or_name(&self, id: &str) -> Vec<Arc<StoredTask>> {
        self.0.tasks.with_id_or_name(id)
    }

    /// Returns the age of a task's open batch in seconds.
    pub(crate) fn open_batch_age(&self, stored: &StoredTask) -> u64 {
        stored.open_batch_age(&self.0.clock)
    }

    /// Returns the public log of the tasks that were added and removed.
    #[must_use]
    pub fn task_log(&self) -> Arc<Vec<TaskLogEntry>> {
        self.0.tasks.log()
    }

    /// Stores a new task. Its reports are accepted from now on.
    ///
    /// # Errors
    /// When the task is invalid, its id is taken, or storage fails.
    pub async fn add_task(&self, collected: TaskSetup) -> Result<Arc<StoredTask>, JournalError> {
        let (reply, answer) = oneshot::channel();
        let request = WriterRequest::AddTask(Box::new(collected), reply);
        let queue = self.writer_queue().map_err(|_| JournalError::ReadOnly)?;
        let sent = queue.send(request).await;
        sent.map_err(|_| JournalError::Closed)?;
        answer.await.map_err(|_| JournalError::Closed)?
    }

    /// Stores a task whose id is new, and returns true. If there is a task with this id, checks that
    /// the two agree, and returns false.
    ///
    /// # Errors
    /// As [`Self::add_task`], or when the task differs from the stored task.
    pub(crate) async fn add_task_if_new(&self, setup: TaskSetup) -> Result<bool, JournalError> {
        let id = setup.draft.id();
        let Some(stored) = self.task(id) else {
            return self.add_task(setup).await.map(|_| true);
        };
        task::check_draft_agrees(&stored, &setup).map(|()| false)
    }

    /// Deletes a task and everything stored for it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn remove_task(&self, stored: &Arc<StoredTask>) -> Result<(), StoreError> {
        self.writer_queue()?;
        // New uploads no longer find the task. Uploads that are queued behind this request are
        // refused.
        self.0.tasks.remove(stored);
        self.ask_writer(|reply| WriterRequest::RemoveTask(Arc::clone(stored), reply))
            .await
    }

    /// Changes the settings of a task.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn configure_task(
        &self,
        stored: &Arc<StoredTask>,
        settings: TaskSettings,
    ) -> Result<(), StoreError> {
        self.ask_writer(|reply| WriterRequest::Configure(Arc::clone(stored), settings, reply))
            .await
    }

    /// Closes a task's open batch. The batch is counted and released later.
    ///
    /// # Errors
    /// [`StoreError::TooFewReportsToClose`] when the batch has too few reports;
    /// [`StoreError::ShuffledBatchIncomplete`] when it waits for blocks; [`StoreError::Failed`] when
    /// storage fails.
    pub async fn close_batch(&self, stored: &Arc<StoredTask>) -> Result<BatchRow, StoreError> {
        let need = stored.batch_settings().least;
        self.ask_writer(|reply| WriterRequest::CloseBatch(Arc::clone(stored), need, reply))
            .await
    }

    /// Closes a task's open batch, unless it is empty, and waits until all closed batches are
    /// released. Ignores the minimum number of reports in a batch, so it must be used only in
    /// development. In such a batch, a person may be hidden among too few reports.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when storage fails.
    pub(crate) async fn force_release_open_batch(
        &self,
        stored: &Arc<StoredTask>,
    ) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.refresh_batches(stored).await?;
        let closed =
            self.ask_writer(|reply| WriterRequest::CloseBatch(Arc::clone(stored), 1, reply));
        match closed.await {
            Ok(_)
            | Err(StoreError::TooFewReportsToClose { .. } | StoreError::ShuffledBatchIncomplete) => {
                stored.wait_until_all_released().await;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Sends a request to the writer and returns the answer. Waits while the queue is full.
    async fn ask_writer<T>(
        &self,
        request: impl FnOnce(request::ReplySender<T>) -> WriterRequest,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.writer_queue()?.send(request(reply)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Creates an empty reservation in the memory budget that all waiting uploads share.
    pub(crate) fn empty_memory_reservation(&self) -> MemoryReservation {
        self.0.memory.empty_reservation()
    }

    /// Appends uploads in one commit, and waits until they are on disk.
    ///
    /// # Guarantee
    /// On `Ok`, all uploads are on disk, except those whose id conflicts. Each upload is counted
    /// once in all totals that are requested from now on. If the future is dropped, the uploads may
    /// or may not be stored.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] at once when the queue is full; [`StoreError::BatchFillsTooFast`]
    /// when the open batch may take no more reports at its age; [`StoreError::Failed`] when the
    /// commit fails; [`StoreError::NoAnswer`] when it takes longer than [`UPLOAD_TIMEOUT`].
    pub(crate) async fn submit_uploads(
        &self,
        stored: &Arc<StoredTask>,
        submission: Submission,
    ) -> Result<UploadReceipt, StoreError> {
        // Shufflers have limited the pace already.
        if self.0.role != ProcessRole::Analyser {
            stored.check_batch_pace(&self.0.clock)?;
        }
        let (reply, answer) = oneshot::channel();
        self.try_send_to_writer(WriterRequest::Uploads(UploadRequest {
            task: Arc::clone(stored),
            submission,
            reply,
        }))?;
        self.answer_within(UPLOAD_TIMEOUT, answer).await
    }

    /// Waits for an answer of the writer, and logs when it begins or ceases to be silent.
    async fn answer_within<T>(
        &self,
        limit: Duration,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = tokio::time::timeout(limit, answer).await;
        let is_silent = answer.is_err();
        let silent = &self.0.is_writer_silent;
        // Read first, since most answers change nothing.
        if silent.load(Ordering::Relaxed) != is_silent
            && silent.swap(is_silent, Ordering::Relaxed) != is_silent
        {
            match is_silent {
                true => tracing::error!("the journal does not answer; uploads are refused"),
                false => tracing::warn!("the journal answers again"),
            }
        }
        match answer {
            Ok(answer) => answer.map_err(|_| StoreError::Closed)?,
            Err(_) => Err(StoreError::NoAnswer),
        }
    }

    /// Tests the storage: asks the writer to write to it and to sync it. Callers at the same time
    /// share one test, so that many callers do not delay uploads.
    ///
    /// # Errors
    /// When the queue is full, storage fails, or the writer does not answer within
    /// [`PROBE_TIMEOUT`].
    pub(crate) async fn probe_write(&self) -> Result<(), StoreError> {
        let called = Instant::now();
        let mut latest = self.0.latest_probe.lock().await;
        match &*latest {
            Some((begun, result)) if *begun >= called => result.clone(),
            _ => {
                let begun = Instant::now();
                let result = self.probe_writer().await;
                *latest = Some((begun, result.clone()));
                result
            }
        }
    }

    async fn probe_writer(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.try_send_to_writer(WriterRequest::Probe(reply))?;
        // A health check must answer although the writer waits, for example for a frozen database.
        self.answer_within(PROBE_TIMEOUT, answer).await
    }

    /// Asks the writer to delete the reports of a released batch. Returns before they are deleted.
    ///
    /// # Errors
    /// When the store is closed.
    pub(crate) async fn delete_batch_reports(
        &self,
        stored: &Arc<StoredTask>,
        batch: u64,
    ) -> Result<(), StoreError> {
        let request = WriterRequest::DeleteReports(Arc::clone(stored), batch);
        let sent = self.writer_queue()?.send(request).await;
        sent.map_err(|_| StoreError::Closed)
    }

    /// Closes the store: serves the waiting requests, refuses new requests, and releases the
    /// directory. Does nothing if the store is read-only.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when the store has been closed before.
    pub async fn close(&self) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.ask_writer(WriterRequest::Close).await
    }

    /// Returns the counters of the writer's work.
    pub(crate) fn writer_metrics(&self) -> &WriterMetrics {
        &self.0.writer_metrics
    }

    /// Returns the number of requests that wait for the writer.
    pub(crate) fn queued_requests(&self) -> usize {
        let waiting = |queue: &mpsc::Sender<WriterRequest>| queue.max_capacity() - queue.capacity();
        self.writer_queue().map_or(0, waiting)
    }

    /// Completes when the writer has ended. Before [`Store::close`], only a defect ends the writer.
    /// Never completes if the store is read-only.
    pub(crate) async fn wait_until_writer_ended(&self) {
        let Some(WriterHandle {
            thread_end_signal: alive,
            ..
        }) = &self.0.writer
        else {
            return std::future::pending().await;
        };
        let mut alive = alive.clone();
        // No value is ever sent: the loop ends when the writer drops the sender.
        while alive.changed().await.is_ok() {}
    }

    /// Sends a request to the writer. Returns an error at once if the queue is full.
    fn try_send_to_writer(&self, request: WriterRequest) -> Result<(), StoreError> {
        self.writer_queue()?
            .try_send(request)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
            })
    }
}
