//! Tasks, uploads and totals of one data directory.
//!
//! ```text
//! submit → bounded queue → writer: one transaction per group → answers
//!                             └→ folder: running totals of what is committed
//! ```
//!
//! # Guarantee
//!
//! - An upload is acknowledged only after its commit is on disk, synced.
//! - An upload id counts once per task, however often it is sent: the journal's
//!   primary key decides, in the same transaction that stores.
//! - What is refused was not stored, or (after a crash or a lost connection)
//!   may be sent again without being counted again.
//! - Totals are a function of the journal, and are rebuilt from it at start.
//! - A stored task never changes.
//!
//! No address, agent or time of arrival is kept.

mod activity;
mod error;
mod journal;
mod memory;
mod sqlite;
mod stored;
mod task;
mod totals;
mod writer;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

use hushbin::{Report, TaskDraft};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use activity::Activity;
pub use error::{OpenError, StoreError};
pub use journal::{Journal, JournalError, JournalReader, Outcome, Record, TaskKey, TaskRow};
pub(crate) use memory::{Exhausted, Reservation};
pub use sqlite::SqliteJournal;
pub(crate) use stored::StoredReports;
pub use task::StoredTask;

use hushbin_analysis::estimate::Totals;
use memory::Memory;
use totals::Fold;
use writer::{GroupLimits, Request, Waiting, Writer};
pub(crate) use writer::{Receipt, Submission};

/// The lock's file inside the data directory.
const LOCK_NAME: &str = "lock";

/// Bounds of what may wait, and of what one commit takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Requests with uploads that may wait for the writer, at most.
    pub queue_uploads: usize,
    /// Bytes of uploads between socket and disk, at most.
    pub queue_bytes: usize,
    /// Uploads in one commit; those of the last request may exceed it.
    pub group_uploads: usize,
    /// Bytes in one commit; those of the last request may exceed it.
    pub group_bytes: usize,
}

impl StoreOptions {
    /// Bounds that suit one process on a small machine.
    pub const DEFAULT: Self = Self {
        queue_uploads: 8192,
        queue_bytes: 64 << 20,
        group_uploads: 1024,
        group_bytes: 8 << 20,
    };
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A handle to the store of one data directory; clones share it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    tasks: Vec<Arc<StoredTask>>,
    by_id: HashMap<String, Arc<StoredTask>>,
    memory: Memory,
    queue: mpsc::Sender<Request>,
    folder: mpsc::Sender<Fold>,
    reader: Arc<dyn JournalReader>,
    alive: watch::Receiver<()>,
    activity: Activity,
}

impl Store {
    /// The store of a data directory, which is created when there is none; the
    /// tasks that are new are stored, and all totals rebuilt. Blocks on the disk.
    ///
    /// Tasks stored earlier are served whether or not a draft names them.
    ///
    /// # Errors
    /// When the directory is in use, unreadable or damaged, or a draft is invalid
    /// or contradicts a stored task.
    pub fn open(
        directory: &Path,
        drafts: &[TaskDraft],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        sqlite::create_directory(directory)?;
        let lock = lock(directory)?;
        let journal = SqliteJournal::open(directory)?;
        Self::start(Box::new(journal), Some(lock), drafts, options)
    }

    /// The same over any storage engine, whose exclusive use is the caller's concern.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn with_journal(
        journal: Box<dyn Journal>,
        drafts: &[TaskDraft],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        Self::start(journal, None, drafts, options)
    }

    /// The store over an open journal, with its two threads.
    fn start(
        mut journal: Box<dyn Journal>,
        lock: Option<File>,
        drafts: &[TaskDraft],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        let tasks = task::settle(journal.as_mut(), drafts)?;
        let reader = journal.reader();
        let totals = totals::rebuild(reader.as_ref(), &tasks)?;
        let (folder, _) = totals::spawn(totals).map_err(OpenError::Thread)?;
        let (queue, requests) = mpsc::channel(options.queue_uploads.max(1));
        let (alive, watched) = watch::channel(());
        let activity = Activity::new();
        Writer {
            journal,
            queue: requests,
            folder: folder.clone(),
            limits: GroupLimits {
                uploads: options.group_uploads.max(1),
                bytes: options.group_bytes.max(1),
            },
            activity: activity.clone(),
            lock,
            alive,
        }
        .spawn()
        .map_err(OpenError::Thread)?;
        let tasks: Vec<_> = tasks.into_iter().map(Arc::new).collect();
        let by_id = tasks
            .iter()
            .map(|stored| (stored.task().id().to_owned(), Arc::clone(stored)))
            .collect();
        Ok(Self(Arc::new(Inner {
            tasks,
            by_id,
            memory: Memory::new(options.queue_bytes),
            queue,
            folder,
            reader,
            alive: watched,
            activity,
        })))
    }

    /// All tasks, in the order in which they were stored.
    #[must_use]
    pub fn tasks(&self) -> &[Arc<StoredTask>] {
        &self.0.tasks
    }

    /// The task of this id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<Arc<StoredTask>> {
        self.0.by_id.get(id).cloned()
    }

    /// An empty reservation in the memory that all waiting uploads share.
    pub(crate) fn reservation(&self) -> Reservation {
        self.0.memory.reservation()
    }

    /// Appends uploads, in one commit, and waits until they are on disk.
    ///
    /// # Guarantee
    /// On `Ok` all uploads are on disk, and counted once in all totals asked for
    /// from now on, but those whose id conflicts. Dropping the future leaves open
    /// whether any is stored.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] at once when the queue is full;
    /// [`StoreError::Failed`] when the commit fails.
    pub(crate) async fn submit(
        &self,
        stored: &StoredTask,
        submission: Submission,
    ) -> Result<Receipt, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Uploads(Waiting {
            task: stored.index(),
            key: stored.key(),
            submission,
            reply,
        }))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Writes and commits through the writer.
    ///
    /// # Errors
    /// When the queue is full or storage fails.
    pub(crate) async fn probe(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Probe(reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// A copy of the task's totals, every upload acknowledged so far included.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when the store has closed.
    pub async fn totals(&self, stored: &StoredTask) -> Result<Totals, StoreError> {
        self.read(stored, Totals::clone).await
    }

    /// Number of the task's reports, every upload acknowledged so far included.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when the store has closed.
    pub async fn reports(&self, stored: &StoredTask) -> Result<u64, StoreError> {
        self.read(stored, Totals::reports).await
    }

    /// What `question` makes of the task's totals, on the folding thread.
    async fn read<T: Send + 'static>(
        &self,
        stored: &StoredTask,
        question: impl FnOnce(&Totals) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let visit = move |totals: &Totals| {
            // A caller that went away needs no copy.
            if !reply.is_closed() {
                let _ = reply.send(question(totals));
            }
        };
        self.0
            .folder
            .send(Fold::Read(stored.index(), Box::new(visit)))
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Visits every report of a task that is in the journal as of one moment, unless given
    /// up. Blocks on the disk.
    ///
    /// # Errors
    /// When storage fails or holds what is no upload.
    pub(crate) fn for_each_report(
        &self,
        stored: &StoredTask,
        given_up: &dyn Fn() -> bool,
        visit: impl FnMut(&Report),
    ) -> Result<(), OpenError> {
        let reader = &*self.0.reader;
        stored::for_each_report(reader, stored.key(), stored.task(), given_up, visit)
    }

    /// Takes what waits, refuses what comes, folds the log into the main file and
    /// releases the directory.
    ///
    /// # Errors
    /// When the log could not be folded; nothing is lost then.
    pub async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.0
            .queue
            .send(Request::Close(reply))
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// What the writer has done so far.
    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// Requests that wait for the writer.
    pub(crate) fn waiting(&self) -> usize {
        self.0.queue.max_capacity() - self.0.queue.capacity()
    }

    /// Completes when the writer has ended; before [`Store::close`], only a defect
    /// ends it.
    pub(crate) async fn ended(&self) {
        let mut alive = self.0.alive.clone();
        // Nothing is ever sent: the wait ends when the writer drops its side.
        while alive.changed().await.is_ok() {}
    }

    fn send(&self, request: Request) -> Result<(), StoreError> {
        self.0.queue.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })
    }
}

/// Takes the directory for this process; the operating system releases it when
/// the process ends, however it ends.
fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join(LOCK_NAME);
    let failed = |source| OpenError::Journal(sqlite::file_error(&path, source));
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked {
            path: directory.display().to_string(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
