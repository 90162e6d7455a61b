//! The tasks of a data directory: those that it holds, and those given at start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hushbin::TaskDraft;
use hushbin::sums::SumDraft;
use hushbin_analysis::estimate::{Estimator, Totals};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};

use super::engine::{BatchRow, BatchState, Engine, EngineError, TaskBatches, TaskKey, TaskRow};
use super::error::{OpenError, StoreError};
use super::role::Role;
use super::settings::{BatchSettings, Settings};
use crate::task::{CollectedDraft, CollectedTask};
use tokio::sync::watch;

/// A task that the store keeps uploads of.
#[derive(Debug)]
pub struct StoredTask {
    key: TaskKey,
    task: CollectedTask,
    /// Of reports that are private by themselves.
    estimator: Option<Estimator>,
    role: Role,
    settings: RwLock<Arc<Settings>>,
    /// As the writer has last told.
    batches: watch::Sender<Arc<[BatchRow]>>,
    /// Of all released batches up to one, as they were last asked for.
    pub(super) released: Mutex<Option<(u64, Arc<Totals>)>>,
    removed: AtomicBool,
    /// Worked out once, as many uploads ask.
    sealed_bytes: OnceLock<usize>,
}

impl StoredTask {
    pub(super) fn new(
        key: TaskKey,
        task: CollectedTask,
        (role, settings): (Role, Settings),
        batches: &[BatchRow],
    ) -> Self {
        Self {
            key,
            estimator: task.reports().cloned().map(Estimator::for_task),
            task,
            role,
            settings: RwLock::new(Arc::new(settings)),
            batches: watch::Sender::new(batches.into()),
            released: Mutex::new(None),
            removed: AtomicBool::new(false),
            sealed_bytes: OnceLock::new(),
        }
    }

    /// The task, as it was stored on first sight.
    #[must_use]
    pub const fn task(&self) -> &CollectedTask {
        &self.task
    }

    /// Bytes of a sealed report.
    pub(crate) fn sealed_bytes(&self) -> usize {
        *self.sealed_bytes.get_or_init(|| self.task().sealed_bytes())
    }

    /// What its reports are.
    pub(super) const fn role(&self) -> Role {
        self.role
    }

    /// How it is collected.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    pub(super) fn configure(&self, settings: Settings) {
        *self.settings.write() = Arc::new(settings);
    }

    /// Its batches, oldest first; the last is open. All uploads acknowledged so far are in them.
    #[must_use]
    pub fn batches(&self) -> Arc<[BatchRow]> {
        Arc::clone(&self.batches.borrow())
    }

    /// The open batch.
    pub(super) fn open_batch(&self) -> Option<BatchRow> {
        self.batches.borrow().last().copied()
    }

    /// How many reports the open batch has.
    pub(crate) fn open_reports(&self) -> u64 {
        self.open_batch().map_or(0, |open| open.reports)
    }

    /// Whether there are batches to be counted.
    pub(super) fn has_closed(&self) -> bool {
        has_closed(&self.batches.borrow())
    }

    /// Tells of its batches, unless more is known of them already: several may tell, each what
    /// it has read at some time.
    pub(super) fn tell(&self, batches: &[BatchRow]) {
        self.batches.send_if_modified(|known| {
            let new = batches != &**known && !is_behind(batches, known);
            if new {
                *known = batches.into();
            }
            new
        });
    }

    /// Whether it was deleted.
    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// That it was not deleted.
    ///
    /// # Errors
    /// [`StoreError::Removed`] when it was.
    pub(super) fn is_there(&self) -> Result<(), StoreError> {
        match self.is_removed() {
            true => Err(StoreError::Removed {
                id: self.task().id().to_owned(),
            }),
            false => Ok(()),
        }
    }

    pub(super) fn remove(&self) {
        self.removed.store(true, Ordering::Release);
    }

    /// Completes when no batch waits to be counted.
    pub(super) async fn all_released(&self) {
        let none = |batches: &Arc<[BatchRow]>| !has_closed(batches);
        // The sender is the task's own, and lives as long.
        let _ = self.batches.subscribe().wait_for(none).await;
    }

    /// Completes when the reports of a released batch are forgotten, or the task is deleted.
    pub(crate) async fn is_forgotten(&self, batch: u64) {
        let forgotten = |batches: &Arc<[BatchRow]>| {
            let kept = |row: &BatchRow| row.number == batch && row.kept;
            self.is_removed() || !batches.iter().any(kept)
        };
        // The sender is the task's own, and lives as long.
        let _ = self.batches.subscribe().wait_for(forgotten).await;
    }

    /// When batches are closed: by its settings, but with no fewer reports than the task itself
    /// demands.
    #[must_use]
    pub fn batch(&self) -> BatchSettings {
        let batch = self.settings().batch.clone();
        let least = batch.least.max(self.task.batch_least());
        BatchSettings {
            least,
            most: batch.most.max(least),
            hours: batch.hours,
        }
    }

    /// The batches that are released.
    #[must_use]
    pub fn releases(&self) -> Vec<BatchRow> {
        let batches = self.batches();
        let released = batches
            .iter()
            .filter(|row| row.state == BatchState::Released);
        released.copied().collect()
    }

    /// What makes estimates of the task's totals, its rates computed already; `None` of sums
    /// that a shuffler hides.
    pub(crate) const fn estimator(&self) -> Option<&Estimator> {
        self.estimator.as_ref()
    }

    pub(super) const fn key(&self) -> TaskKey {
        self.key
    }
}

fn has_closed(batches: &[BatchRow]) -> bool {
    batches.iter().any(|row| row.state == BatchState::Closed)
}

/// Whether these are batches as they were before: all that becomes of them goes one way.
fn is_behind(batches: &[BatchRow], known: &[BatchRow]) -> bool {
    let before = |(own, known): (&BatchRow, &BatchRow)| {
        own.state < known.state || own.reports < known.reports || own.kept && !known.kept
    };
    batches.len() < known.len() || batches.iter().zip(known).any(before)
}

/// A task to be collected, and how; how it was before, where that is not said.
#[derive(Debug, Clone)]
pub struct TaskSetup {
    /// What is collected.
    pub draft: CollectedDraft,
    /// How.
    pub settings: Option<Settings>,
}

impl From<CollectedDraft> for TaskSetup {
    fn from(draft: CollectedDraft) -> Self {
        Self {
            draft,
            settings: None,
        }
    }
}

impl From<TaskDraft> for TaskSetup {
    fn from(draft: TaskDraft) -> Self {
        CollectedDraft::from(draft).into()
    }
}

impl From<SumDraft> for TaskSetup {
    fn from(draft: SumDraft) -> Self {
        CollectedDraft::from(draft).into()
    }
}

/// The stored tasks, after those that are new have been stored too.
///
/// # Errors
/// When a draft is invalid or contradicts a stored task, a stored task cannot be used, or
/// storage fails.
pub(super) fn settle(
    engine: &mut dyn Engine,
    role: Role,
    given: &[TaskSetup],
    now: u64,
) -> Result<Vec<StoredTask>, OpenError> {
    let rows = engine.tasks()?.into_iter();
    let rows = rows.map(|row| {
        let batches = engine.batches(row.key);
        (row, batches)
    });
    let mut tasks = read(rows, role)?;
    for collected in given {
        let id = collected.draft.id();
        match tasks.iter().find(|stored| stored.task().id() == id) {
            Some(stored) => {
                agree(stored, collected)?;
                take_over(engine, stored, collected)?;
            }
            None => tasks.push(add(engine, role, collected, now)?),
        }
    }
    Ok(tasks)
}

/// The tasks of rows, with their batches, whose reports are of this kind.
///
/// # Errors
/// When one cannot be used.
pub(super) fn read(
    rows: impl IntoIterator<Item = TaskBatches>,
    expected: Role,
) -> Result<Vec<StoredTask>, OpenError> {
    let read = |(row, batches): TaskBatches| {
        let task = read_task(&row)?;
        let (found, settings) = read_settings(&row.id, &row.settings)?;
        if found != expected {
            return Err(OpenError::Role {
                id: row.id,
                found,
                expected,
            });
        }
        Ok(StoredTask::new(row.key, task, (found, settings), &batches))
    };
    rows.into_iter().map(read).collect()
}

/// Checks that a task is the one stored.
///
/// # Errors
/// When it is another.
pub(super) fn agree(stored: &StoredTask, setup: &TaskSetup) -> Result<(), OpenError> {
    let draft = &setup.draft;
    draft
        .agrees_with(stored.task())
        .map_err(|source| OpenError::TaskDiffers {
            id: draft.id().to_owned(),
            source,
        })
}

/// Takes over how a stored task is collected.
fn take_over(
    engine: &mut dyn Engine,
    stored: &StoredTask,
    TaskSetup { draft, settings }: &TaskSetup,
) -> Result<(), OpenError> {
    if let Some(settings) = settings.as_ref().filter(|own| **own != *stored.settings()) {
        engine.configure_task(stored.key(), &checked(draft, stored.role(), settings)?)?;
        stored.configure(settings.clone());
    }
    Ok(())
}

/// Stores a new task.
pub(super) fn add(
    engine: &mut dyn Engine,
    role: Role,
    TaskSetup { draft, settings }: &TaskSetup,
    now: u64,
) -> Result<StoredTask, OpenError> {
    let task = draft.resolve().map_err(|source| OpenError::InvalidTask {
        id: draft.id().to_owned(),
        source,
    })?;
    check_role(&task, role)?;
    let settings = settings.clone().unwrap_or_default();
    let row = TaskRow {
        key: TaskKey(0),
        id: task.id().to_owned(),
        fingerprint: task.fingerprint().0,
        // A task is plain data with text keys, which JSON always holds.
        parameters: serde_json::to_string(&task).expect("a task can be written as JSON"),
        settings: checked(draft, role, &settings)?,
    };
    let key = engine.add_task(row, now).map_err(|error| match error {
        EngineError::TaskThere(id) => OpenError::TaskThere { id },
        error => error.into(),
    })?;
    let batches = engine.batches(key);
    Ok(StoredTask::new(key, task, (role, settings), &batches))
}

/// Checks that what hides the task's senders is there.
///
/// # Errors
/// When messages that a shuffler hides would come to a collector unshuffled.
fn check_role(task: &CollectedTask, role: Role) -> Result<(), OpenError> {
    match task.sums().is_some() && role == Role::Collector {
        true => Err(OpenError::NeedsShuffler {
            id: task.id().to_owned(),
        }),
        false => Ok(()),
    }
}

/// How a task is collected, as that is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<S> {
    role: Role,
    settings: S,
}

/// Settings as they are stored, if they go together.
fn checked(draft: &CollectedDraft, role: Role, settings: &Settings) -> Result<String, OpenError> {
    settings.check().map_err(|source| OpenError::Settings {
        id: draft.id().to_owned(),
        source,
    })?;
    Ok(written(role, settings))
}

/// Settings as they are stored.
pub(super) fn written(role: Role, settings: &Settings) -> String {
    let written = Written { role, settings };
    serde_json::to_string(&written).expect("settings can be written as JSON")
}

/// What a task's reports are, and how it is collected.
pub(super) fn read_settings(id: &str, settings: &str) -> Result<(Role, Settings), OpenError> {
    let read: Result<Written<Settings>, _> = serde_json::from_str(settings);
    let read = read.map_err(|error| OpenError::StoredTask {
        id: id.to_owned(),
        reason: error.to_string(),
    })?;
    Ok((read.role, read.settings))
}

pub(super) fn read_task(row: &TaskRow) -> Result<CollectedTask, OpenError> {
    let unusable = |reason: String| OpenError::StoredTask {
        id: row.id.clone(),
        reason,
    };
    let task: CollectedTask =
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
