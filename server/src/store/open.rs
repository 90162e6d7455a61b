//! Opens a store and starts its threads.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::clock::{Clock, ClockWatch};
use super::engine::{EngineError, Remedy, StorageEngine, StorageReader};
use super::error::JournalError;
use super::files::{self, FilesEngine};
use super::handle::{Store, StoreOptions, StoreState, WriterHandle};
use super::location::JournalLocation;
use super::lock::lock_directory;
use super::memory::MemoryBudget;
use super::open_blocks::OpenBlocks;
use super::poller::{self, Poller};
use super::postgres;
use super::release_queue::ReleaserWork;
use super::releaser;
use super::repeated_errors::RepeatedErrors;
use super::request::WriterRequest;
use super::task::{self, TaskSetup};
use super::tasks::CurrentTasks;
use super::writer::{CommitLimits, Writer};
use super::writer_metrics::WriterMetrics;

/// Number of bytes in `queue_bytes` for each slot of the writer's queue. `queue_bytes` is the limit
/// on waiting uploads.
const BYTES_PER_QUEUE_SLOT: usize = 8 << 10;

impl Store {
    /// Opens the store in a data directory, and stores the tasks in `tasks` that are new. If there is
    /// no journal, [`StoreOptions::create_journal`] decides whether one is created. This call blocks
    /// on disk I/O.
    ///
    /// Tasks stored earlier are served even if they are not in `tasks`.
    ///
    /// # Errors
    /// When the directory is in use, unreadable or damaged, or a task is invalid or contradicts the
    /// stored task with its id.
    pub fn open(
        directory: &Path,
        tasks: &[TaskSetup],
        options: StoreOptions,
    ) -> Result<Self, JournalError> {
        Self::open_at(
            &JournalLocation::Directory(directory.to_owned()),
            tasks,
            options,
        )
    }

    /// Opens the store at a location. This call blocks. If the location is a database, call it only
    /// on a thread that may block.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_at(
        location: &JournalLocation,
        tasks: &[TaskSetup],
        options: StoreOptions,
    ) -> Result<Self, JournalError> {
        let mut engine: Box<dyn StorageEngine> = match location {
            JournalLocation::Directory(directory) => {
                // Checked first, so that nothing is written to a directory of another version, or
                // to the mount point of a volume that is not mounted.
                files::stored_tasks(directory, options.create_journal)?;
                files::create_data_directory(directory)?;
                let lock = lock_directory(directory)?;
                let mut engine = FilesEngine::open(directory)?;
                engine.hold_lock(lock);
                Box::new(engine)
            }
            JournalLocation::Database(database) => postgres::open(database)?,
        };
        // Only missing permission stops the start. A full disk, for example, may have room later.
        if let Err(error) = engine.probe_write() {
            if error.remedy() == Remedy::Permission {
                return Err(error.into());
            }
            tracing::error!(
                %error,
                "the journal cannot be written; uploads are refused until it can be"
            );
        }
        Self::start_threads(engine, tasks, options, Clock::system())
    }

    /// Checks that the tasks in `setups` could be served from the journal at a location: they are
    /// valid, have the settings and the role that they need, and agree with the tasks that are
    /// stored there. If `read_only` is true, all of them must be stored. Changes nothing, and may run while another process serves the journal. A
    /// journal that would be created has no tasks. This call blocks, as [`Store::open_at`] does.
    ///
    /// # Errors
    /// Those of [`Store::open_at`] that concern the tasks, or when the journal cannot be read.
    pub fn check_tasks(
        location: &JournalLocation,
        setups: &[TaskSetup],
        options: StoreOptions,
        read_only: bool,
    ) -> Result<(), JournalError> {
        let role = options.role;
        let rows = match location {
            JournalLocation::Directory(directory) => {
                files::stored_tasks(directory, options.create_journal && !read_only)?
            }
            JournalLocation::Database(database) => postgres::stored_tasks(database)?,
        };
        let stored =
            task::stored_tasks_from_rows(rows.into_iter().map(|row| (row, Vec::new())), role)?;
        if stored.is_empty() && setups.is_empty() {
            return Err(JournalError::NoTasks);
        }
        for setup in setups {
            let id = setup.draft.id();
            task::prepare_new_task(setup, role)?;
            match stored.iter().find(|stored| stored.task().id() == id) {
                Some(stored) => task::check_draft_agrees(stored, setup)?,
                None if read_only => {
                    return Err(JournalError::TaskNotInReadOnlyJournal { id: id.to_owned() });
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Opens the store at a location without changing anything. Released batches can be read. Every
    /// other operation returns [`StoreError::ReadOnly`](super::StoreError::ReadOnly). This call
    /// blocks, as [`Store::open_at`] does.
    ///
    /// # Errors
    /// When another process writes to the directory, when the location is unreadable or damaged, or
    /// when one of `tasks` is not stored there or differs from the stored task.
    pub fn open_read_only(
        location: &JournalLocation,
        tasks: &[TaskSetup],
        options: StoreOptions,
    ) -> Result<Self, JournalError> {
        let (rows, reader, shared): (_, Arc<dyn StorageReader>, _) = match location {
            JournalLocation::Directory(directory) => {
                let shared = files::lock_shared(directory)?;
                let (rows, reader) = files::open_read_only(directory)?;
                (rows, Arc::new(reader), shared)
            }
            JournalLocation::Database(database) => {
                let (rows, reader) = postgres::open_existing(database, true)?;
                (rows, reader, None)
            }
        };
        let stored = task::stored_tasks_from_rows(rows, options.role)?;
        for collected in tasks {
            let id = collected.draft.id();
            match stored.iter().find(|stored| stored.task().id() == id) {
                Some(stored) => task::check_draft_agrees(stored, collected)?,
                None => return Err(JournalError::TaskNotInReadOnlyJournal { id: id.to_owned() }),
            }
        }
        let tasks = Arc::new(CurrentTasks::default());
        stored
            .into_iter()
            .for_each(|stored| tasks.add(&Arc::new(stored)));
        tasks.extend_log(reader.task_log_after(0)?);
        Self::from_parts(tasks, reader, options, None, (shared, Clock::system()))
    }

    /// Opens a store on the given storage engine. The caller ensures exclusive use of the engine's
    /// storage.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with_engine(
        engine: Box<dyn StorageEngine>,
        tasks: &[TaskSetup],
        options: StoreOptions,
    ) -> Result<Self, JournalError> {
        Self::start_threads(engine, tasks, options, Clock::system())
    }

    /// Stores the tasks in `given` that are new, and starts the store's threads: the writer, the
    /// releaser and the timer for due batches.
    pub(super) fn start_threads(
        mut engine: Box<dyn StorageEngine>,
        given: &[TaskSetup],
        options: StoreOptions,
        clock: Clock,
    ) -> Result<Self, JournalError> {
        let stored =
            task::load_and_store_tasks(engine.as_mut(), options.role, given, (clock.date)())?;
        let tasks = Arc::new(CurrentTasks::default());
        tasks.extend_log(engine.complete_task_log((clock.date)())?);
        stored
            .into_iter()
            .for_each(|stored| tasks.add(&Arc::new(stored)));
        let reader = engine.reader();
        // A channel needs at least one slot.
        let (queue, requests) = mpsc::channel((options.queue_bytes / BYTES_PER_QUEUE_SLOT).max(1));
        // The releaser's sender is weak, so that it does not keep the writer running.
        let metrics = WriterMetrics::new();
        let counters = [&metrics.left_out_reports, &metrics.split_batches].map(Clone::clone);
        let (releaser, _) = releaser::spawn(Arc::clone(&reader), queue.downgrade(), counters)
            .map_err(JournalError::Thread)?;
        for task in tasks.all_tasks() {
            // The last process may have closed a batch without releasing it.
            let _ = releaser.send(ReleaserWork::ReleaseClosedBatches(task));
        }
        let (alive, watched) = watch::channel(());
        let clock_watch = ClockWatch::new(clock.clone(), newest_closing_time(&tasks));
        Writer {
            engine,
            role: options.role,
            tasks: Arc::clone(&tasks),
            queue: requests,
            releaser,
            commit_limits: CommitLimits {
                uploads: options.max_commit_uploads.max(1),
                bytes: options.max_commit_bytes.max(1),
            },
            metrics: metrics.clone(),
            clock: clock.clone(),
            clock_watch,
            repeated_error_log: RepeatedErrors::default(),
            open_blocks: OpenBlocks::default(),
            is_task_log_complete: true,
            thread_end_signal: alive,
        }
        .spawn()
        .map_err(JournalError::Thread)?;
        spawn_due_timer(queue.downgrade(), options.check_interval).map_err(JournalError::Thread)?;
        let writer = WriterHandle {
            queue,
            thread_end_signal: watched,
        };
        Self::from_parts(
            tasks,
            reader,
            options,
            Some((writer, metrics)),
            (None, clock),
        )
    }

    /// Assembles a store from its parts. If processes can share the storage, also starts the
    /// poller.
    fn from_parts(
        tasks: Arc<CurrentTasks>,
        reader: Arc<dyn StorageReader>,
        options: StoreOptions,
        writer: Option<(WriterHandle, WriterMetrics)>,
        (shared, clock): (Option<File>, Clock),
    ) -> Result<Self, JournalError> {
        if tasks.all_tasks().is_empty() {
            return Err(JournalError::NoTasks);
        }
        let (writer, metrics) = writer.unzip();
        let store = Self(Arc::new(StoreState {
            tasks,
            memory: MemoryBudget::new(options.queue_bytes),
            writer,
            reader,
            role: options.role,
            clock,
            is_writer_silent: AtomicBool::new(false),
            latest_probe: tokio::sync::Mutex::default(),
            writer_metrics: metrics.unwrap_or_else(WriterMetrics::new),
            _shared_lock: shared,
        }));
        if store.is_shared() {
            store.spawn_poller().map_err(JournalError::Thread)?;
        }
        Ok(store)
    }

    /// Starts a thread that polls the storage for changes by other processes. The thread ends when
    /// the store is dropped.
    fn spawn_poller(&self) -> std::io::Result<()> {
        // Weak, so that this thread does not keep the store alive.
        let inner = Arc::downgrade(&self.0);
        let mut poller = Poller {
            tasks: Arc::clone(&self.0.tasks),
            reader: Arc::clone(&self.0.reader),
            role: self.0.role,
            errors: RepeatedErrors::default(),
        };
        let until_gone = move || {
            while inner.strong_count() > 0 {
                poller.poll();
                thread::sleep(poller::POLL_INTERVAL);
            }
        };
        let thread = thread::Builder::new().name("others".to_owned());
        thread.spawn(until_gone).map(drop)
    }
}

/// Starts a thread that asks the writer, at the interval `every`, to close the batches that are
/// due. So batches are closed even when no uploads come. The thread ends when the store is dropped.
fn spawn_due_timer(queue: mpsc::WeakSender<WriterRequest>, every: Duration) -> std::io::Result<()> {
    let until_gone = move || {
        loop {
            thread::sleep(every);
            // Upgraded for each reminder, so that this thread does not keep the writer running.
            let sent = queue
                .upgrade()
                .map(|queue| queue.blocking_send(WriterRequest::CloseDue));
            if !matches!(sent, Some(Ok(()))) {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("batches".to_owned());
    thread.spawn(until_gone).map(drop)
}

/// Returns the newest time at which a batch was closed, in seconds since 1970.
fn newest_closing_time(tasks: &CurrentTasks) -> Option<u64> {
    let tasks = tasks.all_tasks();
    let batches = tasks.iter().flat_map(|task| task.batches().to_vec());
    batches.filter_map(|row| row.closed_at).max()
}

/// Creates an empty journal, durably. The directory may exist, but must hold no journal. Its parent
/// must exist. This call blocks on disk I/O.
///
/// # Errors
/// When there is a journal already, another process uses the directory, the parent is missing, or
/// writing fails.
pub fn create_journal(directory: &Path) -> Result<(), JournalError> {
    files::check_no_journal(directory)?;
    files::create_data_directory(directory)?;
    let _lock = lock_directory(directory)?;
    // Another process may have created a journal before this one had the lock.
    files::check_no_journal(directory)?;
    Ok(files::write_empty_list(directory)?)
}

/// Returns the ids of the tasks that are stored at a location. Changes nothing. This call blocks, as
/// [`Store::open_at`] does.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) fn stored_task_ids(location: &JournalLocation) -> Result<Vec<String>, EngineError> {
    let rows = match location {
        JournalLocation::Directory(directory) => files::stored_tasks(directory, true)?,
        JournalLocation::Database(database) => postgres::stored_tasks(database)?,
    };
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Returns true if another process has locked a data directory for writing.
///
/// # Errors
/// When the lock file is missing or cannot be opened.
pub(crate) fn is_in_use(directory: &Path) -> Result<bool, EngineError> {
    // If the lock file is missing, the directory may still be in use.
    let lock = directory.join(files::LOCK_FILE_NAME);
    File::open(&lock).map_err(|source| files::file_error(&lock, source))?;
    match files::lock_shared(directory) {
        Err(EngineError::FileAccess { source, .. })
            if source.kind() == std::io::ErrorKind::WouldBlock =>
        {
            Ok(true)
        }
        locked => locked.map(|_| false),
    }
}
