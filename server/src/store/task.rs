//! Tasks of a store: tasks that are already stored, and tasks that are given at the start.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hushbin::TaskDraft;
use hushbin::sums::SumTaskDraft;
use hushbin_analysis::estimate::{Estimator, Totals};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::engine::{
    BatchRow, BatchState, EngineError, StorageEngine, TaskKey, TaskRow, TaskWithBatches,
};
use super::error::{JournalError, StoreError};
use super::role::ProcessRole;
use super::settings::{BatchSettings, TaskSettings};
use crate::task::{ReportOrSumDraft, ReportOrSumTask};
use tokio::sync::watch;

/// A task in the store, with its current settings and batches.
#[derive(Debug)]
pub struct StoredTask {
    key: TaskKey,
    task: ReportOrSumTask,
    /// Estimator, or `None` for a task of sums.
    estimator: Option<Estimator>,
    role: ProcessRole,
    settings: RwLock<Arc<TaskSettings>>,
    /// Latest known batches, oldest first. Readers can wait for changes.
    batches: watch::Sender<Arc<[BatchRow]>>,
    /// Cached totals over the released batches, with the number of the last batch that they
    /// include.
    pub(super) cached_totals: Mutex<Option<(u64, Arc<Totals>)>>,
    /// Number of the last batch that was seen open, and the steady time at which this process first
    /// saw it.
    first_seen_open: Mutex<(u64, Duration)>,
    /// Number of the last batch that was found due while blocks of a shuffled batch were still to
    /// come, and the steady time at which this process first found so.
    waits_for_blocks_since: Mutex<(u64, Duration)>,
    /// Number of the last batch that was logged as filling too fast.
    logged_fast_batch: AtomicU64,
    /// True once the task has been deleted.
    removed: AtomicBool,
    /// Length of a sealed report in bytes, computed once because many uploads need it.
    cached_sealed_length: OnceLock<usize>,
}

impl StoredTask {
    pub(super) fn new(
        key: TaskKey,
        task: ReportOrSumTask,
        (role, settings): (ProcessRole, TaskSettings),
        batches: &[BatchRow],
    ) -> Self {
        Self {
            key,
            estimator: task.report_task().cloned().map(Estimator::for_task),
            task,
            role,
            settings: RwLock::new(Arc::new(settings)),
            batches: watch::Sender::new(batches.into()),
            cached_totals: Mutex::new(None),
            first_seen_open: Mutex::default(),
            waits_for_blocks_since: Mutex::default(),
            logged_fast_batch: AtomicU64::new(0),
            removed: AtomicBool::new(false),
            cached_sealed_length: OnceLock::new(),
        }
    }

    /// Returns the task as it was first stored.
    #[must_use]
    pub const fn task(&self) -> &ReportOrSumTask {
        &self.task
    }

    /// Returns the length of a sealed report in bytes.
    pub(crate) fn sealed_report_length(&self) -> usize {
        *self
            .cached_sealed_length
            .get_or_init(|| self.task().sealed_report_length())
    }

    /// Returns the role of the process that collects the task.
    pub(super) const fn role(&self) -> ProcessRole {
        self.role
    }

    /// Returns true if the journal has a record of each block: an analyser's, for a task of sums.
    pub(crate) fn has_block_records(&self) -> bool {
        self.role == ProcessRole::Analyser && self.task.sum_task().is_some()
    }

    /// Returns the current settings.
    #[must_use]
    pub fn settings(&self) -> Arc<TaskSettings> {
        Arc::clone(&self.settings.read())
    }

    pub(super) fn replace_settings(&self, settings: TaskSettings) {
        *self.settings.write() = Arc::new(settings);
    }

    /// Returns the batches, oldest first. The last one is open. Their numbers of reports include
    /// all uploads acknowledged so far.
    #[must_use]
    pub fn batches(&self) -> Arc<[BatchRow]> {
        Arc::clone(&self.batches.borrow())
    }

    /// Returns the open batch.
    pub(super) fn current_open_batch(&self) -> Option<BatchRow> {
        self.batches.borrow().last().copied()
    }

    /// Returns the number of reports in the open batch.
    pub(crate) fn open_batch_report_count(&self) -> u64 {
        self.current_open_batch()
            .map_or(0, |open| open.report_count)
    }

    /// Returns the age of the open batch in seconds. If the stored time of opening is in the future,
    /// because the clock was wrong then or is wrong now, the age counts from the first call for
    /// this batch.
    pub(super) fn open_batch_age(&self, clock: &Clock) -> u64 {
        let Some(open) = self.current_open_batch() else {
            return 0;
        };
        let seen_for = self.open_batch_seen_for(clock);
        (clock.date)().saturating_sub(open.opened_at).max(seen_for)
    }

    /// Returns the seconds since this process first saw the open batch.
    pub(super) fn open_batch_seen_for(&self, clock: &Clock) -> u64 {
        let Some(open) = self.current_open_batch() else {
            return 0;
        };
        let steady = (clock.steady)();
        let mut first_seen = self.first_seen_open.lock();
        if first_seen.0 != open.number {
            *first_seen = (open.number, steady);
        }
        steady.saturating_sub(first_seen.1).as_secs()
    }

    /// Checks that the open batch may take more reports at its age. Logs once a batch that it may
    /// not.
    ///
    /// # Errors
    /// [`StoreError::BatchFillsTooFast`].
    pub(super) fn check_batch_pace(&self, clock: &Clock) -> Result<(), StoreError> {
        let (open, settings) = (self.current_open_batch(), self.batch_settings());
        let limit_at = |seconds| settings.limit_at(self.batch_capacity(), seconds);
        let Some(open) = open.filter(|open| open.report_count >= limit_at(0)) else {
            return Ok(());
        };
        // An upload that is under way may exceed the limit.
        if open.report_count < limit_at(self.open_batch_age(clock)) {
            return Ok(());
        }
        let logged = self.logged_fast_batch.swap(open.number, Ordering::Relaxed);
        if logged != open.number {
            tracing::warn!(
                task = self.task().id(),
                reports = open.report_count,
                min_minutes = settings.min_minutes,
                "reports are refused: the open batch fills too fast for its minimum time; if this \
                 is no flood, lower --batch-min-minutes"
            );
        }
        Err(StoreError::BatchFillsTooFast)
    }

    /// Returns true if closed batches wait to be counted.
    pub(super) fn has_closed_batches(&self) -> bool {
        has_closed_batches(&self.batches.borrow())
    }

    /// Replaces the known batches, unless `batches` are older. Several threads call this function,
    /// and each thread may have read its batches some time ago.
    pub(super) fn publish_batches(&self, batches: &[BatchRow]) {
        self.batches.send_if_modified(|known| {
            let new = batches != &**known && !is_older_batch_list(batches, known);
            if new {
                *known = batches.into();
            }
            new
        });
    }

    /// Returns true if the task has been deleted.
    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// Checks that the task has not been deleted.
    ///
    /// # Errors
    /// [`StoreError::TaskDeleted`] when it has.
    pub(super) fn check_not_removed(&self) -> Result<(), StoreError> {
        match self.is_removed() {
            true => Err(StoreError::TaskDeleted {
                id: self.task().id().to_owned(),
            }),
            false => Ok(()),
        }
    }

    pub(super) fn set_removed(&self, removed: bool) {
        self.removed.store(removed, Ordering::Release);
    }

    /// Completes when no closed batch waits to be counted.
    pub(super) async fn wait_until_all_released(&self) {
        let none = |batches: &Arc<[BatchRow]>| !has_closed_batches(batches);
        // The task owns the sender, so the wait cannot fail.
        let _ = self.batches.subscribe().wait_for(none).await;
    }

    /// Completes when the reports of a released batch have been deleted, or when the task has been
    /// deleted.
    pub(crate) async fn wait_until_reports_deleted(&self, batch: u64) {
        let forgotten = |batches: &Arc<[BatchRow]>| {
            let kept = |row: &BatchRow| row.number == batch && row.reports_kept;
            self.is_removed() || !batches.iter().any(kept)
        };
        // The task owns the sender, so the wait cannot fail.
        let _ = self.batches.subscribe().wait_for(forgotten).await;
    }

    /// Returns the conditions under which batches are closed. If the task itself demands more
    /// reports in a batch than its settings do, the higher minimum applies. In a task of sums, the
    /// messages of one person count as one report in the result.
    #[must_use]
    pub fn batch_settings(&self) -> BatchSettings {
        let batch = self.settings().batch.clone();
        let each = self.task.max_messages_per_report();
        let minimum = self.task.min_batch_reports();
        let least = batch.least.div_ceil(each).max(minimum);
        BatchSettings {
            least,
            // The task's minimum may exceed the maximum in the settings.
            most: batch.most.div_ceil(each).max(least),
            hours: batch.hours,
            min_minutes: batch.min_minutes,
        }
    }

    /// Returns the number of reports that a batch can hold at most.
    pub(super) fn batch_capacity(&self) -> u64 {
        let capacity = BatchSettings::MOST_REPORTS / self.task.max_messages_per_report();
        // A task of sums may need more people.
        capacity.max(self.batch_settings().least)
    }

    /// Returns the seconds since the open batch was first found to lack blocks of a shuffled batch.
    /// The first call for a batch returns 0.
    pub(super) fn block_wait_seconds(&self, batch: u64, clock: &Clock) -> u64 {
        let steady = (clock.steady)();
        let mut since = self.waits_for_blocks_since.lock();
        if since.0 != batch {
            *since = (batch, steady);
        }
        steady.saturating_sub(since.1).as_secs()
    }

    /// Returns the released batches, oldest first.
    #[must_use]
    pub fn released_batches(&self) -> Vec<BatchRow> {
        let batches = self.batches();
        let released = batches
            .iter()
            .filter(|row| row.state == BatchState::Released);
        released.copied().collect()
    }

    /// Returns the estimator, whose rates are already computed, or `None` for a task of sums.
    pub(crate) const fn estimator(&self) -> Option<&Estimator> {
        self.estimator.as_ref()
    }

    pub(super) const fn key(&self) -> TaskKey {
        self.key
    }
}

fn has_closed_batches(batches: &[BatchRow]) -> bool {
    batches.iter().any(|row| row.state == BatchState::Closed)
}

/// Returns true if `batches` are older than `known`. A batch changes in one direction only: its
/// state advances, its number of reports grows, and its reports are deleted.
fn is_older_batch_list(batches: &[BatchRow], known: &[BatchRow]) -> bool {
    let before = |(own, known): (&BatchRow, &BatchRow)| {
        own.state < known.state
            || own.report_count < known.report_count
            || own.reports_kept && !known.reports_kept
    };
    batches.len() < known.len() || batches.iter().zip(known).any(before)
}

/// A task to collect, with its settings.
#[derive(Debug, Clone)]
pub struct TaskSetup {
    /// Task to collect.
    pub draft: ReportOrSumDraft,
    /// Settings. With `None`, a stored task keeps its settings, and a new task gets the defaults.
    pub settings: Option<TaskSettings>,
}

impl From<ReportOrSumDraft> for TaskSetup {
    fn from(draft: ReportOrSumDraft) -> Self {
        Self {
            draft,
            settings: None,
        }
    }
}

impl From<TaskDraft> for TaskSetup {
    fn from(draft: TaskDraft) -> Self {
        ReportOrSumDraft::from(draft).into()
    }
}

impl From<SumTaskDraft> for TaskSetup {
    fn from(draft: SumTaskDraft) -> Self {
        ReportOrSumDraft::from(draft).into()
    }
}

/// Stores the new tasks in `given`, and changed settings of stored tasks. Returns all stored tasks.
///
/// # Errors
/// When a draft is invalid or contradicts a stored task, a stored task cannot be used, or storage
/// fails.
pub(super) fn load_and_store_tasks(
    engine: &mut dyn StorageEngine,
    role: ProcessRole,
    given: &[TaskSetup],
    now: u64,
) -> Result<Vec<StoredTask>, JournalError> {
    let rows = engine.tasks()?.into_iter();
    let rows = rows.map(|row| {
        let batches = engine.batches(row.key);
        (row, batches)
    });
    let mut tasks = stored_tasks_from_rows(rows, role)?;
    for collected in given {
        let id = collected.draft.id();
        match tasks.iter().find(|stored| stored.task().id() == id) {
            Some(stored) => {
                check_draft_agrees(stored, collected)?;
                store_settings(engine, stored, collected)?;
            }
            None => tasks.push(store_task(engine, role, collected, now)?),
        }
    }
    Ok(tasks)
}

/// Reads tasks and their batches from rows. Checks that a process with the role `expected` stored
/// the rows.
///
/// # Errors
/// When a task cannot be used, or was stored by another role.
pub(super) fn stored_tasks_from_rows(
    rows: impl IntoIterator<Item = TaskWithBatches>,
    expected: ProcessRole,
) -> Result<Vec<StoredTask>, JournalError> {
    let read = |(row, batches): TaskWithBatches| {
        let task = task_from_row(&row)?;
        let (found, settings) = decode_role_and_settings(&row.id, &row.settings)?;
        if found != expected {
            return Err(JournalError::WrongRole {
                id: row.id,
                found,
                expected,
            });
        }
        Ok(StoredTask::new(row.key, task, (found, settings), &batches))
    };
    rows.into_iter().map(read).collect()
}

/// Checks that the draft in `setup` agrees with the task that is stored under its id.
///
/// # Errors
/// When the two differ.
pub(super) fn check_draft_agrees(
    stored: &StoredTask,
    setup: &TaskSetup,
) -> Result<(), JournalError> {
    let draft = &setup.draft;
    draft
        .check_agrees_with(stored.task())
        .map_err(|source| JournalError::TaskDiffers {
            id: draft.id().to_owned(),
            source,
        })
}

/// Stores the settings in `TaskSetup` if they differ from the current settings of the stored task.
fn store_settings(
    engine: &mut dyn StorageEngine,
    stored: &StoredTask,
    TaskSetup { draft, settings }: &TaskSetup,
) -> Result<(), JournalError> {
    if let Some(settings) = settings.as_ref().filter(|own| **own != *stored.settings()) {
        engine.configure_task(
            stored.key(),
            &check_and_encode_settings(draft, stored.role(), settings)?,
        )?;
        stored.replace_settings(settings.clone());
    }
    Ok(())
}

/// Checks everything about a new task that needs no journal. Returns the task, its settings, and its
/// role and settings in the stored form.
///
/// # Errors
/// When the draft or the settings are invalid, or the task needs another role.
pub(super) fn prepare_new_task(
    TaskSetup { draft, settings }: &TaskSetup,
    role: ProcessRole,
) -> Result<(ReportOrSumTask, TaskSettings, String), JournalError> {
    let task = draft
        .resolve_task()
        .map_err(|source| JournalError::InvalidTask {
            id: draft.id().to_owned(),
            source,
        })?;
    require_shuffler_for_sums(&task, role)?;
    let settings = settings.clone().unwrap_or_default();
    let encoded = check_and_encode_settings(draft, role, &settings)?;
    Ok((task, settings, encoded))
}

/// Stores a new task, as described by the draft and the settings in `setup`.
pub(super) fn store_task(
    engine: &mut dyn StorageEngine,
    role: ProcessRole,
    setup: &TaskSetup,
    now: u64,
) -> Result<StoredTask, JournalError> {
    let (task, settings, encoded) = prepare_new_task(setup, role)?;
    let row = TaskRow {
        key: TaskKey(0),
        id: task.id().to_owned(),
        fingerprint: task.fingerprint().0,
        // A task is plain data with text keys, so JSON can always represent it.
        parameters: serde_json::to_string(&task).expect("a task can be written as JSON"),
        settings: encoded,
    };
    let key = engine.add_task(row, now).map_err(|error| match error {
        EngineError::TaskExists(id) => JournalError::TaskExists { id },
        error => error.into(),
    })?;
    let batches = engine.batches(key);
    Ok(StoredTask::new(key, task, (role, settings), &batches))
}

/// Checks that a task has the shuffler that it needs.
///
/// # Errors
/// When messages of sums would come to a collector unshuffled.
fn require_shuffler_for_sums(
    task: &ReportOrSumTask,
    role: ProcessRole,
) -> Result<(), JournalError> {
    match task.sum_task().is_some() && role == ProcessRole::Collector {
        true => Err(JournalError::NeedsShuffler {
            id: task.id().to_owned(),
        }),
        false => Ok(()),
    }
}

/// Stored form of a task's role and settings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSettings<S> {
    role: ProcessRole,
    settings: S,
}

/// Checks settings, and encodes the role and the settings in the stored form.
fn check_and_encode_settings(
    draft: &ReportOrSumDraft,
    role: ProcessRole,
    settings: &TaskSettings,
) -> Result<String, JournalError> {
    settings.check().map_err(|source| JournalError::Settings {
        id: draft.id().to_owned(),
        source,
    })?;
    Ok(encode_role_and_settings(role, settings))
}

/// Returns the stored form of a role and settings, as JSON.
pub(super) fn encode_role_and_settings(role: ProcessRole, settings: &TaskSettings) -> String {
    let written = StoredSettings { role, settings };
    serde_json::to_string(&written).expect("settings can be written as JSON")
}

/// Reads the role and the settings of a task from the stored form.
pub(super) fn decode_role_and_settings(
    id: &str,
    settings: &str,
) -> Result<(ProcessRole, TaskSettings), JournalError> {
    let read: Result<StoredSettings<TaskSettings>, _> = serde_json::from_str(settings);
    let read = read.map_err(|error| JournalError::StoredTask {
        id: id.to_owned(),
        reason: error.to_string(),
    })?;
    Ok((read.role, read.settings))
}

/// Reads a task from the row that stores it.
///
/// # Errors
/// When the parameters cannot be read, or have another fingerprint than the row.
pub(super) fn task_from_row(row: &TaskRow) -> Result<ReportOrSumTask, JournalError> {
    let unusable = |reason: String| JournalError::StoredTask {
        id: row.id.clone(),
        reason,
    };
    let task: ReportOrSumTask =
        serde_json::from_str(&row.parameters).map_err(|error| unusable(error.to_string()))?;
    // Reports were made under the stored fingerprint. A program that reads the same
    // parameters differently must not estimate from them.
    if task.fingerprint().0 != row.fingerprint {
        return Err(unusable(format!(
            "its parameters have the fingerprint {}, stored is {}",
            task.fingerprint(),
            hushbin::Fingerprint(row.fingerprint)
        )));
    }
    Ok(task)
}
