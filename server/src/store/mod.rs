//! Tasks, their batches of reports, and totals, of one data directory.
//!
//! ```text
//! submit → bounded queue → writer: one commit per group and task → answers
//!                             └→ closed batches → releaser: totals, reports in another order
//! ```
//!
//! # Guarantee
//!
//! - An upload is acknowledged only after its commit is on disk, synced.
//! - An upload id counts once per task, however often it is sent, and in whichever batch: the
//!   engine decides, before it stores.
//! - What is refused was not stored, or (after a crash or a lost connection)
//!   may be sent again without being counted again.
//! - A batch is closed once, with at least as many reports as its task demands, and its
//!   totals never change: what was released is served again unchanged.
//! - Of an open batch nothing can be had but how many reports it holds.
//! - A stored task never changes.
//!
//! No address, agent or time of arrival is kept; of a batch, when it was opened and closed.

mod activity;
mod clock;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod conformance;
mod engine;
mod error;
mod files;
mod follow;
mod form;
mod memory;
mod place;
mod postgres;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod records;
mod releaser;
mod request;
mod settings;
mod stored;
mod task;
mod tasks;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod troubles;
mod writer;

use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use hushbin::Report;
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use activity::Activity;
pub use engine::{
    BatchRow, BatchState, Claim, Engine, EngineError, Outcome, Reader, Record, Release, Remedy,
    Seen, Shared, TaskKey, TaskRow, VisitUpload,
};
pub use error::{OpenError, StoreError};
pub use files::{Checked, Damage, Files, Loss, Salvaged, backup, check, salvage};
pub(crate) use files::{create_root, open_to_lock, write_whole};
pub use form::Form;
pub(crate) use form::{Origin, Origins, sealed_bytes};
pub(crate) use memory::{Exhausted, Reservation};
pub use place::{Place, PlaceError};
pub use postgres::Database;
pub(crate) use postgres::{Session, Sessions, open_tables};
pub use settings::{BatchSettings, Settings, SettingsError};
pub(crate) use stored::StoredReports;
pub use task::{Collected, StoredTask};

use clock::Clock;
pub(crate) use clock::now;
use follow::Follower;
use hushbin_analysis::estimate::Totals;
use memory::Memory;
use postgres::Postgres;
use releaser::Work;
pub(crate) use request::{Receipt, Submission, Submitted};
use request::{Request, Waiting};
use tasks::Tasks;
use troubles::Troubles;
use writer::{GroupLimits, Writer};

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
    /// How often batches are looked at, whose ages are told in hours.
    pub look_every: Duration,
    /// What its reports are: a journal is of one role.
    pub form: Form,
}

impl StoreOptions {
    /// Bounds that suit one process on a small machine.
    pub const DEFAULT: Self = Self {
        queue_uploads: 8192,
        queue_bytes: 64 << 20,
        group_uploads: 1024,
        group_bytes: 8 << 20,
        look_every: Duration::from_secs(20),
        form: Form::Clear,
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
    tasks: Arc<Tasks>,
    memory: Memory,
    /// None where nothing is written.
    writing: Option<Writing>,
    reader: Arc<dyn Reader>,
    form: Form,
    activity: Activity,
    /// Where nothing is written, kept from whoever would write.
    _shared: Option<File>,
}

/// The writer, as others see it.
struct Writing {
    queue: mpsc::Sender<Request>,
    alive: watch::Receiver<()>,
}

/// Whether the reports of all these batches are there.
fn check_kept(stored: &StoredTask, batches: &[BatchRow]) -> Result<(), OpenError> {
    match batches.iter().find(|batch| !batch.kept) {
        None => Ok(()),
        Some(gone) => Err(OpenError::ReportsGone {
            id: stored.task().id().to_owned(),
            batch: gone.number,
        }),
    }
}

impl Store {
    /// The store of a data directory, which is created when there is none; the
    /// tasks that are new are stored. Blocks on the disk.
    ///
    /// Tasks stored earlier are served whether or not they are given.
    ///
    /// # Errors
    /// When the directory is in use, unreadable or damaged, or a task is invalid
    /// or contradicts a stored one.
    pub fn open(
        directory: &Path,
        tasks: &[Collected],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        Self::open_at(&Place::Directory(directory.to_owned()), tasks, options)
    }

    /// The store at a place. Blocks: on a thread that may, where it is a database.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_at(
        place: &Place,
        tasks: &[Collected],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        let (mut engine, lock): (Box<dyn Engine>, _) = match place {
            Place::Directory(directory) => {
                files::create_root(directory)?;
                let lock = lock(directory)?;
                (Box::new(Files::open(directory)?), Some(lock))
            }
            Place::Database(database) => (Box::new(Postgres::open(database)?), None),
        };
        // What has no room now may have it later; what may not be written is to be mended first.
        if let Err(error) = engine.probe() {
            if error.remedy() == Remedy::Permission {
                return Err(error.into());
            }
            tracing::error!(%error, "nothing can be written; uploads are refused until it can");
        }
        Self::start(engine, lock, tasks, options, clock::system())
    }

    /// The store at a place where nothing is changed: batches that are released can be read, and
    /// everything else is [`StoreError::ReadOnly`]. Blocks, as [`Store::open_at`].
    ///
    /// # Errors
    /// When somebody writes to the directory, the place is unreadable or damaged, or does not
    /// have one of the tasks.
    pub fn open_read_only(
        place: &Place,
        tasks: &[Collected],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        let (rows, reader, shared): (_, Arc<dyn Reader>, _) = match place {
            Place::Directory(directory) => {
                let shared = files::share(directory)?;
                let (rows, reader) = files::open_read_only(directory)?;
                (rows, Arc::new(reader), shared)
            }
            Place::Database(database) => {
                let (rows, reader) = postgres::open_read_only(database)?;
                (rows, Arc::new(reader), None)
            }
        };
        let stored = task::read(rows, options.form)?;
        for collected in tasks {
            let id = &collected.draft.id;
            match stored.iter().find(|stored| stored.task().id() == *id) {
                Some(stored) => task::agree(stored, collected)?,
                None => return Err(OpenError::NotStored { id: id.clone() }),
            }
        }
        let tasks = Arc::new(Tasks::default());
        stored
            .into_iter()
            .for_each(|stored| tasks.add(&Arc::new(stored)));
        Self::over(tasks, reader, options, None, shared)
    }

    /// The same over any storage engine, whose exclusive use is the caller's concern.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn with_engine(
        engine: Box<dyn Engine>,
        tasks: &[Collected],
        options: StoreOptions,
    ) -> Result<Self, OpenError> {
        Self::start(engine, None, tasks, options, clock::system())
    }

    /// The store over an open engine, with its two threads.
    fn start(
        mut engine: Box<dyn Engine>,
        lock: Option<File>,
        given: &[Collected],
        options: StoreOptions,
        clock: Clock,
    ) -> Result<Self, OpenError> {
        let stored = task::settle(engine.as_mut(), options.form, given, clock())?;
        let tasks = Arc::new(Tasks::default());
        stored
            .into_iter()
            .for_each(|stored| tasks.add(&Arc::new(stored)));
        let reader = engine.reader();
        let (queue, requests) = mpsc::channel(options.queue_uploads.max(1));
        let (releaser, _) =
            releaser::spawn(Arc::clone(&reader), queue.downgrade()).map_err(OpenError::Thread)?;
        for task in tasks.all() {
            // What the collector stopped in.
            let _ = releaser.send(Work::Closed(task));
        }
        let (alive, watched) = watch::channel(());
        let activity = Activity::new();
        Writer {
            engine,
            form: options.form,
            tasks: Arc::clone(&tasks),
            queue: requests,
            releaser,
            limits: GroupLimits {
                uploads: options.group_uploads.max(1),
                bytes: options.group_bytes.max(1),
            },
            activity: activity.clone(),
            clock,
            troubles: Troubles::default(),
            lock,
            alive,
        }
        .spawn()
        .map_err(OpenError::Thread)?;
        look_after(queue.downgrade(), options.look_every).map_err(OpenError::Thread)?;
        let writing = Writing {
            queue,
            alive: watched,
        };
        Self::over(tasks, reader, options, Some((writing, activity)), None)
    }

    fn over(
        tasks: Arc<Tasks>,
        reader: Arc<dyn Reader>,
        options: StoreOptions,
        writing: Option<(Writing, Activity)>,
        shared: Option<File>,
    ) -> Result<Self, OpenError> {
        if tasks.all().is_empty() {
            return Err(OpenError::NoTasks);
        }
        let (writing, activity) = writing.unzip();
        let store = Self(Arc::new(Inner {
            tasks,
            memory: Memory::new(options.queue_bytes),
            writing,
            reader,
            form: options.form,
            activity: activity.unwrap_or_else(Activity::new),
            _shared: shared,
        }));
        if store.0.reader.shared().is_some() {
            store.follow().map_err(OpenError::Thread)?;
        }
        Ok(store)
    }

    /// Has what others store taken notice of, on a thread that ends when the store has.
    fn follow(&self) -> std::io::Result<()> {
        let inner = Arc::downgrade(&self.0);
        let mut follower = Follower {
            tasks: Arc::clone(&self.0.tasks),
            reader: Arc::clone(&self.0.reader),
            form: self.0.form,
            troubles: Troubles::default(),
        };
        let until_gone = move || {
            while inner.strong_count() > 0 {
                follower.look();
                thread::sleep(follow::EVERY);
            }
        };
        let thread = thread::Builder::new().name("others".to_owned());
        thread.spawn(until_gone).map(drop)
    }

    /// Takes notice of what others have made of a task's batches, where storage is shared.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when storage fails, [`StoreError::Removed`] when the task was
    /// deleted.
    pub(crate) async fn refresh(&self, stored: &Arc<StoredTask>) -> Result<(), StoreError> {
        if self.0.reader.shared().is_none() {
            return Ok(());
        }
        let (reader, stored) = (Arc::clone(&self.0.reader), Arc::clone(stored));
        let refreshing = tokio::task::spawn_blocking(move || {
            let batches = match reader.shared() {
                Some(shared) => shared.batches(stored.key()).map_err(StoreError::failed)?,
                None => return Ok(()),
            };
            match batches.is_empty() {
                true => Err(StoreError::of(EngineError::NoTask, stored.task().id())),
                false => {
                    stored.tell(&batches);
                    Ok(())
                }
            }
        });
        refreshing.await.map_err(|_| StoreError::Closed)?
    }

    /// A claim to a batch, unless another process has one. Blocks on the disk.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn claim(
        &self,
        stored: &StoredTask,
        batch: u64,
    ) -> Result<Option<Claim>, OpenError> {
        Ok(releaser::claim(&*self.0.reader, stored, batch)?)
    }

    /// What its reports are.
    #[must_use]
    pub fn form(&self) -> Form {
        self.0.form
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0.writing.is_none()
    }

    fn queue(&self) -> Result<&mpsc::Sender<Request>, StoreError> {
        let writing = self.0.writing.as_ref().ok_or(StoreError::ReadOnly)?;
        Ok(&writing.queue)
    }

    /// All tasks, in the order in which they were stored.
    #[must_use]
    pub fn tasks(&self) -> Vec<Arc<StoredTask>> {
        self.0.tasks.all()
    }

    /// The task of this id.
    #[must_use]
    pub fn task(&self, id: &str) -> Option<Arc<StoredTask>> {
        self.0.tasks.of_id(id)
    }

    /// Stores a task, whose reports are taken from now on.
    ///
    /// # Errors
    /// When it is invalid, there is one of its id, or storage fails.
    pub async fn add_task(&self, collected: Collected) -> Result<Arc<StoredTask>, OpenError> {
        let id = collected.draft.id.clone();
        if self.task(&id).is_some() {
            return Err(OpenError::TaskThere { id });
        }
        let (reply, answer) = oneshot::channel();
        let request = Request::AddTask(Box::new(collected), reply);
        let queue = self.queue().map_err(|_| OpenError::ReadOnly)?;
        let sent = queue.send(request).await;
        sent.map_err(|_| OpenError::Closed)?;
        answer.await.map_err(|_| OpenError::Closed)?
    }

    /// Deletes a task and everything that was stored for it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn remove_task(&self, stored: &Arc<StoredTask>) -> Result<(), StoreError> {
        self.queue()?;
        // What comes from now on is for no task; what waits is refused.
        self.0.tasks.remove(stored);
        self.ask(|reply| Request::RemoveTask(Arc::clone(stored), reply))
            .await
    }

    /// Changes how a task is collected.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn configure(
        &self,
        stored: &Arc<StoredTask>,
        settings: Settings,
    ) -> Result<(), StoreError> {
        self.ask(|reply| Request::Configure(Arc::clone(stored), settings, reply))
            .await
    }

    /// Closes a task's open batch, which is released as soon as it is counted.
    ///
    /// # Errors
    /// [`StoreError::BatchTooSmall`] when it has too few reports;
    /// [`StoreError::Failed`] when storage fails.
    pub async fn close_batch(&self, stored: &Arc<StoredTask>) -> Result<BatchRow, StoreError> {
        let need = stored.settings().batch.least;
        self.ask(|reply| Request::CloseBatch(Arc::clone(stored), need, reply))
            .await
    }

    /// Closes a task's open batch however few reports it has, unless it has none, and waits
    /// until all closed batches are released: for development, where nobody is to be hidden.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when storage fails.
    pub(crate) async fn release_open(&self, stored: &Arc<StoredTask>) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.refresh(stored).await?;
        let closed = self.ask(|reply| Request::CloseBatch(Arc::clone(stored), 1, reply));
        match closed.await {
            Ok(_) | Err(StoreError::BatchTooSmall { .. }) => stored.all_released().await,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn ask<T>(
        &self,
        request: impl FnOnce(request::Reply<T>) -> Request,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.queue()?.send(request(reply)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
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
        stored: &Arc<StoredTask>,
        submission: Submission,
    ) -> Result<Receipt, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Uploads(Waiting {
            task: Arc::clone(stored),
            submission,
            reply,
        }))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Writes and syncs through the writer.
    ///
    /// # Errors
    /// When the queue is full or storage fails.
    pub(crate) async fn probe(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Probe(reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// The totals of released batches: of all of them, or of those named. Blocks on the disk.
    ///
    /// # Errors
    /// When storage fails, or one of them is not released.
    pub fn totals(
        &self,
        stored: &StoredTask,
        batches: Option<&[u64]>,
    ) -> Result<Arc<Totals>, OpenError> {
        let Some(batches) = batches else {
            return self.all_totals(stored);
        };
        let mut totals = Totals::new(stored.task());
        for &batch in batches {
            totals.merge(&self.totals_of(stored, batch)?);
        }
        Ok(Arc::new(totals))
    }

    /// Those of all released batches, which are kept in memory: further ones are added.
    fn all_totals(&self, stored: &StoredTask) -> Result<Arc<Totals>, OpenError> {
        let mut known = stored
            .released
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut last, mut totals) = match known.take() {
            Some((last, totals)) => (last, totals),
            None => (0, Arc::new(Totals::new(stored.task()))),
        };
        for BatchRow { number, .. } in stored.releases() {
            if number > last {
                let more = self.totals_of(stored, number)?;
                Arc::make_mut(&mut totals).merge(&more);
                last = number;
            }
        }
        *known = Some((last, Arc::clone(&totals)));
        Ok(totals)
    }

    fn totals_of(&self, stored: &StoredTask, batch: u64) -> Result<Totals, OpenError> {
        self.read_totals(stored, batch, |bytes, _| {
            Totals::decode(stored.task(), bytes).map_err(|error| error.to_string())
        })
    }

    /// Where the reports of these released batches came from, as far as shufflers told. Blocks
    /// on the disk.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn origins(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
    ) -> Result<Origins, OpenError> {
        let mut all = Origins::default();
        if stored.form() == Form::Shuffled {
            for batch in batches {
                let own = self.read_totals(stored, batch.number, |_, origins| Ok(origins))?;
                all.merge(&own);
            }
        }
        Ok(all)
    }

    fn read_totals<T>(
        &self,
        stored: &StoredTask,
        batch: u64,
        read: impl FnOnce(&[u8], Origins) -> Result<T, String>,
    ) -> Result<T, OpenError> {
        let bytes = self.0.reader.totals(stored.key(), batch)?;
        let parts = stored.form().split_totals(&bytes);
        let read = parts
            .ok_or_else(|| "their origins are missing".to_owned())
            .and_then(|(totals, origins)| read(totals, origins));
        read.map_err(|reason| OpenError::StoredTotals {
            id: stored.task().id().to_owned(),
            batch,
            reason,
        })
    }

    /// Visits the blocks of sealed reports of a released batch, until the visitor breaks.
    /// Blocks on the disk.
    ///
    /// # Errors
    /// When storage fails.
    pub(crate) fn for_each_block(
        &self,
        stored: &StoredTask,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), OpenError> {
        Ok(self.0.reader.for_each_block(stored.key(), batch, visit)?)
    }

    /// Has the reports of a released batch forgotten, soon.
    ///
    /// # Errors
    /// When the store is closed.
    pub(crate) async fn forget_reports(
        &self,
        stored: &Arc<StoredTask>,
        batch: u64,
    ) -> Result<(), StoreError> {
        let request = Request::Forget(Arc::clone(stored), batch);
        let sent = self.queue()?.send(request).await;
        sent.map_err(|_| StoreError::Closed)
    }

    /// Visits every report of released batches, unless given up. Blocks on the disk.
    ///
    /// # Errors
    /// When storage fails, the reports of a batch are no longer kept, or one is no report.
    pub(crate) fn for_each_report(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
        given_up: &dyn Fn() -> bool,
        mut visit: impl FnMut(&Report),
    ) -> Result<(), OpenError> {
        check_kept(stored, batches)?;
        let reader = &*self.0.reader;
        let (key, task) = (stored.key(), stored.task());
        for batch in batches {
            stored::for_each_released(reader, key, task, batch.number, &mut |report| {
                visit(&report);
                match given_up() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
        Ok(())
    }

    /// Folds every report of released batches into totals that have none, on all cores, unless
    /// given up. Blocks on the disk.
    ///
    /// # Errors
    /// As [`Store::for_each_report`].
    pub(crate) fn fold_reports(
        &self,
        stored: &StoredTask,
        batches: &[BatchRow],
        given_up: &(dyn Fn() -> bool + Sync),
        none: &Totals,
    ) -> Result<Totals, OpenError> {
        check_kept(stored, batches)?;
        let reader = &*self.0.reader;
        let mut totals = none.clone();
        for batch in batches {
            let of_batch = stored::fold_released(reader, stored, batch.number, given_up, none)?;
            totals.merge(&of_batch);
        }
        Ok(totals)
    }

    /// Takes what waits, refuses what comes and releases the directory.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when it has been closed before.
    pub async fn close(&self) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.ask(Request::Close).await
    }

    /// What the writer has done so far.
    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// Requests that wait for the writer.
    pub(crate) fn waiting(&self) -> usize {
        let waiting = |queue: &mpsc::Sender<Request>| queue.max_capacity() - queue.capacity();
        self.queue().map_or(0, waiting)
    }

    /// Completes when the writer has ended; before [`Store::close`], only a defect
    /// ends it.
    pub(crate) async fn ended(&self) {
        let Some(Writing { alive, .. }) = &self.0.writing else {
            return std::future::pending().await;
        };
        let mut alive = alive.clone();
        // Nothing is ever sent: the wait ends when the writer drops its side.
        while alive.changed().await.is_ok() {}
    }

    fn send(&self, request: Request) -> Result<(), StoreError> {
        self.queue()?
            .try_send(request)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
            })
    }
}

/// Has what is due by the clock done, also when no uploads come: on a thread that ends when the
/// store has.
fn look_after(queue: mpsc::WeakSender<Request>, every: Duration) -> std::io::Result<()> {
    let until_gone = move || {
        loop {
            thread::sleep(every);
            let sent = queue
                .upgrade()
                .map(|queue| queue.blocking_send(Request::CloseDue));
            if !matches!(sent, Some(Ok(()))) {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("batches".to_owned());
    thread.spawn(until_gone).map(drop)
}

/// Takes the directory for this process; the operating system releases it when
/// the process ends, however it ends.
fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join(files::LOCK);
    let failed = |source| OpenError::Engine(files::file_error(&path, source));
    let file = files::open_to_lock(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked {
            path: directory.display().to_string(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
