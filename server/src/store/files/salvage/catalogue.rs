//! Identifies the tasks whose files are in a damaged directory.

use std::fs;
use std::path::Path;

use hushbin::Fingerprint;

use super::damage::{DataLoss, SalvageResult, list_task_files};
use crate::store::engine::{EngineError, TaskKey, TaskRow};
use crate::store::files::batch::BatchFile;
use crate::store::files::catalogue::TaskCatalogue;
use crate::store::files::disk;
use crate::store::files::frame::LogHeader;
use crate::store::files::ids;
use crate::store::files::layout::{DELETED_TASK_EXTENSION, TASKS_DIRECTORY, task_directory};
use crate::store::files::listing::{FileListing, batch_file_name, log_file_name};
use crate::store::files::verified_files::task_directories_with_data;
use crate::store::role::ProcessRole;
use crate::store::settings::TaskSettings;
use crate::store::task::encode_role_and_settings;
use crate::task::ReportOrSumTask;

/// Returns the key for the next new task, and the tasks to salvage. If the list of tasks is
/// damaged, or older than some files, tasks are identified by the fingerprints in the files.
pub(super) fn identify_tasks(
    root: &Path,
    given: &[ReportOrSumTask],
    role: ProcessRole,
    salvaged: &mut SalvageResult,
) -> Result<(TaskKey, Vec<(TaskRow, ReportOrSumTask)>), EngineError> {
    let (mut next, mut tasks, mut known) = (TaskKey(1), Vec::new(), given.to_vec());
    let keys = match TaskCatalogue::open_existing(root) {
        Ok(catalogue) => {
            salvaged.copied += 1;
            next = catalogue.next_key();
            for row in catalogue.task_rows() {
                let task = serde_json::from_str(&row.parameters).map_err(|error| {
                    let what = format!("task {:?} cannot be used: {error}", row.id);
                    disk::damage_error(root, &what)
                })?;
                tasks.push((row, task));
            }
            let with_data = task_directories_with_data(root)?;
            let has_data = |key: &TaskKey| with_data.contains(&task_directory(root, *key));
            let mut keys = keys_of_stored_tasks(root)?;
            keys.retain(|key| !tasks.iter().any(|(row, _)| row.key == *key) && has_data(key));
            keys
        }
        Err(error @ (EngineError::UnsupportedVersion { .. } | EngineError::NoJournal { .. })) => {
            return Err(error);
        }
        Err(error) => {
            salvaged.record_damage(error, DataLoss::Settings);
            // The fingerprint in the files identifies a task, so wrong parameters in a damaged list
            // do no harm.
            let said = TaskCatalogue::unverified_task_parameters(root);
            let said = said.iter().map(|json| serde_json::from_str(json));
            known.extend(said.filter_map(Result::ok));
            keys_of_stored_tasks(root)?
        }
    };
    for key in keys {
        next = next.max(TaskKey(key.0 + 1));
        let directory = task_directory(root, key);
        let found = task_fingerprint(&directory)?;
        let task = known
            .iter()
            .find(|task| Some(task.fingerprint().0) == found);
        let unique = |task: &&ReportOrSumTask| !tasks.iter().any(|(row, _)| row.id == task.id());
        match task.filter(unique) {
            Some(task) => tasks.push((row_with_default_settings(key, task, role), task.clone())),
            None => {
                let what = match found {
                    Some(found) => format!(
                        "its files are of a task with the fingerprint {}",
                        Fingerprint(found)
                    ),
                    None => "none of its files names its task".to_owned(),
                };
                salvaged.record_damage(disk::damage_error(&directory, &what), DataLoss::Task);
            }
        }
    }
    Ok((next, tasks))
}

/// Creates a row with default settings, for a task whose settings are lost.
fn row_with_default_settings(key: TaskKey, task: &ReportOrSumTask, role: ProcessRole) -> TaskRow {
    TaskRow {
        key,
        id: task.id().to_owned(),
        fingerprint: task.fingerprint().0,
        parameters: serde_json::to_string(task).expect("a task can be written as JSON"),
        settings: encode_role_and_settings(role, &TaskSettings::default()),
    }
}

/// Returns the keys of all tasks that have files in the directory `root`.
fn keys_of_stored_tasks(root: &Path) -> Result<Vec<TaskKey>, EngineError> {
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
            let there = task_directory(root, *key);
            path == there || path == there.with_extension(DELETED_TASK_EXTENSION) && !there.exists()
        });
        keys.extend(key);
    }
    keys.sort_unstable();
    Ok(keys)
}

/// Reads the fingerprint of the task whose files are in a directory, from the first file with a
/// valid header. Returns `None` if there is no such file.
fn task_fingerprint(directory: &Path) -> Result<Option<[u8; 16]>, EngineError> {
    // Damage is recorded later, when the files are salvaged.
    let listing = match directory.is_dir() {
        true => list_task_files(directory, &mut SalvageResult::default())?,
        false => FileListing::default(),
    };
    let of_log = |log: &u64| {
        let bytes = fs::read(directory.join(log_file_name(*log))).ok()?;
        Some(LogHeader::decode(&bytes)?.0.fingerprint)
    };
    let of_batch = |batch: &u64| {
        let batch = BatchFile::open(&directory.join(batch_file_name(*batch))).ok()?;
        Some(batch.header.fingerprint)
    };
    let of_ids =
        |span: &ids::BatchSpan| ids::task_fingerprint(&directory.join(ids::ids_file_name(*span)));
    let logs = listing.log_batch_numbers.iter().find_map(of_log);
    let batches = || listing.batch_file_numbers.iter().find_map(of_batch);
    let ids = || listing.ids_file_spans.iter().find_map(of_ids);
    Ok(logs.or_else(batches).or_else(ids))
}
