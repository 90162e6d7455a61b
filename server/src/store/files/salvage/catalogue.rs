//! Identifies the tasks whose files are in a damaged directory.

use std::fs;
use std::path::Path;

use hushbin::Fingerprint;

use super::damage::{Loss, Salvaged, list_files};
use crate::store::engine::{EngineError, TaskKey, TaskRow};
use crate::store::files::batch::BatchFile;
use crate::store::files::catalogue::Catalogue;
use crate::store::files::disk;
use crate::store::files::frame::LogHeader;
use crate::store::files::ids;
use crate::store::files::layout::{DELETED_EXTENSION, TASKS_DIRECTORY, directory_of};
use crate::store::files::listing::{FileListing, batch_name, log_name};
use crate::store::role::Role;
use crate::store::settings::Settings;
use crate::store::task::encode_settings;
use crate::task::CollectedTask;

/// Returns the key for the next new task, and the tasks to salvage. If the list of tasks is
/// damaged, tasks are identified by the fingerprints in their files.
pub(super) fn tasks(
    root: &Path,
    given: &[CollectedTask],
    role: Role,
    salvaged: &mut Salvaged,
) -> Result<(TaskKey, Vec<(TaskRow, CollectedTask)>), EngineError> {
    let error = match Catalogue::open_existing(root) {
        Ok(catalogue) => {
            salvaged.copied += 1;
            let rows = catalogue.rows().into_iter();
            let tasks = rows.map(|row| {
                let task = serde_json::from_str(&row.parameters);
                let unusable = |error: serde_json::Error| {
                    let what = format!("task {:?} cannot be used: {error}", row.id);
                    disk::damaged(root, &what)
                };
                Ok::<_, EngineError>((row.clone(), task.map_err(unusable)?))
            });
            return Ok((catalogue.next_key(), tasks.collect::<Result<_, _>>()?));
        }
        Err(version @ EngineError::Version { .. }) => return Err(version),
        Err(error) => error,
    };
    salvaged.damaged(error, Loss::Settings);
    // The fingerprint in the files identifies a task, so wrong parameters in a damaged list do no
    // harm.
    let said = Catalogue::unverified_parameters(root);
    let said = said
        .iter()
        .filter_map(|json| serde_json::from_str(json).ok());
    let known: Vec<CollectedTask> = given.iter().cloned().chain(said).collect();
    let mut tasks: Vec<(TaskRow, CollectedTask)> = Vec::new();
    let mut last = 0;
    for key in keys(root)? {
        last = last.max(key.0);
        let directory = directory_of(root, key);
        let found = fingerprint(&directory)?;
        let task = known
            .iter()
            .find(|task| Some(task.fingerprint().0) == found);
        let unique = |task: &&CollectedTask| !tasks.iter().any(|(row, _)| row.id == task.id());
        match task.filter(unique) {
            Some(task) => tasks.push((row(key, task, role), task.clone())),
            None => {
                let what = match found {
                    Some(found) => format!(
                        "its files are of a task with the fingerprint {}",
                        Fingerprint(found)
                    ),
                    None => "none of its files names its task".to_owned(),
                };
                salvaged.damaged(disk::damaged(&directory, &what), Loss::Task);
            }
        }
    }
    Ok((TaskKey(last + 1), tasks))
}

/// Creates a row with default settings, for a task whose settings are lost.
fn row(key: TaskKey, task: &CollectedTask, role: Role) -> TaskRow {
    TaskRow {
        key,
        id: task.id().to_owned(),
        fingerprint: task.fingerprint().0,
        parameters: serde_json::to_string(task).expect("a task can be written as JSON"),
        settings: encode_settings(role, &Settings::default()),
    }
}

/// Returns the keys of all tasks that have files in the directory `root`.
fn keys(root: &Path) -> Result<Vec<TaskKey>, EngineError> {
    let all = root.join(TASKS_DIRECTORY);
    let failed = |source| disk::file_error(&all, source);
    let mut keys = Vec::new();
    for entry in fs::read_dir(&all).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // A task that was being deleted counts, too, since the deletion may be incomplete.
        let name = path.with_extension("");
        let key = name
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let key = key.map(TaskKey).filter(|key| {
            let there = directory_of(root, *key);
            path == there || path == there.with_extension(DELETED_EXTENSION) && !there.exists()
        });
        keys.extend(key);
    }
    keys.sort_unstable();
    Ok(keys)
}

/// Reads the fingerprint of the task whose files are in a directory, from the first file with a
/// valid header. Returns `None` if there is no such file.
fn fingerprint(directory: &Path) -> Result<Option<[u8; 16]>, EngineError> {
    // Damage is recorded later, when the files are salvaged.
    let listing = match directory.is_dir() {
        true => list_files(directory, &mut Salvaged::default())?,
        false => FileListing::default(),
    };
    let of_log = |log: &u64| {
        let bytes = fs::read(directory.join(log_name(*log))).ok()?;
        Some(LogHeader::decode(&bytes)?.0.fingerprint)
    };
    let of_batch = |batch: &u64| {
        let batch = BatchFile::open(&directory.join(batch_name(*batch))).ok()?;
        Some(batch.header.fingerprint)
    };
    let of_ids = |span: &ids::Span| ids::fingerprint(&directory.join(ids::file_name(*span)));
    let logs = listing.logs.iter().find_map(of_log);
    let batches = || listing.batches.iter().find_map(of_batch);
    let ids = || listing.ids.iter().find_map(of_ids);
    Ok(logs.or_else(batches).or_else(ids))
}
