//! List of tasks, in a file of two lines: JSON, and its checksum.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::checksum::Checksum;
use super::disk::{self, FileStamp};
use super::layout::TASKS_DIRECTORY;
use super::version;
use crate::format_version::json_format_version;
use crate::store::engine::{EngineError, TaskKey, TaskRow};

/// Version of the data directory. It changes with the format of `tasks.json`, or with the set of
/// files in the directory. Payloads of commits, and encoded totals, have separate versions.
const DIRECTORY_VERSION: u64 = 3;

pub(super) const CATALOGUE_FILE_NAME: &str = "tasks.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueContent {
    version: u64,
    /// Key of the next task. No key is used twice.
    next: TaskKey,
    tasks: Vec<TaskRow>,
}

/// Checks that a directory holds a journal: a list of tasks, or files of tasks whose list is lost.
///
/// # Errors
/// [`EngineError::NoJournal`] when it holds neither, or another error when it cannot be read.
pub(crate) fn check_journal_exists(directory: &Path) -> Result<(), EngineError> {
    let tasks = version::directory_entries(&directory.join(TASKS_DIRECTORY))?;
    if !tasks.is_empty() || directory.join(CATALOGUE_FILE_NAME).exists() {
        return Ok(());
    }
    Err(EngineError::NoJournal {
        path: directory.display().to_string(),
    })
}

/// List of the tasks of a data directory.
#[derive(Debug)]
pub(super) struct TaskCatalogue {
    path: PathBuf,
    content: CatalogueContent,
    /// Stamp of the file when it was last read or written, or `None` if there is no file.
    stamp: Option<FileStamp>,
}

impl TaskCatalogue {
    /// Opens the list of tasks in a directory. The list is empty if the file does not exist.
    ///
    /// # Errors
    /// When the list cannot be read, is damaged, or has another version, or a file of a task has
    /// another version.
    pub(super) fn open(directory: &Path) -> Result<Self, EngineError> {
        let path = directory.join(CATALOGUE_FILE_NAME);
        version::check_file_versions(directory)?;
        if !path.exists() {
            return Ok(Self::from_rows(directory, TaskKey(1), []));
        }
        Self::read(path)
    }

    fn read(path: PathBuf) -> Result<Self, EngineError> {
        let failed = |source| disk::file_error(&path, source);
        // The stamp is read before the file, so that a write in between is noticed later.
        let stamp = disk::file_stamp(&path).map_err(failed)?;
        let text = std::fs::read(&path).map_err(failed)?;
        let changed = || disk::damage_error(&path, "it has changed since it was written");
        let text = String::from_utf8(text).map_err(|_| changed())?;
        let (json, sum) = text.split_once('\n').ok_or_else(changed)?;
        if sum != checksum_line(json) {
            return Err(changed());
        }
        let wrong = |error: serde_json::Error| disk::damage_error(&path, &error.to_string());
        // Checked first, because another version may have other fields.
        let found = json_format_version(json.as_bytes()).map_err(wrong)?;
        if found != DIRECTORY_VERSION {
            return Err(EngineError::UnsupportedVersion {
                path: path.display().to_string(),
                found,
                known: DIRECTORY_VERSION,
            });
        }
        let content: CatalogueContent = serde_json::from_str(json).map_err(wrong)?;
        Ok(Self {
            path,
            content,
            stamp,
        })
    }

    /// Checks that the file still holds this list. A copy of it may have been put back.
    ///
    /// # Errors
    /// [`EngineError::FileReplaced`] when the file is missing, damaged or holds another list.
    pub(super) fn check_unchanged(&mut self) -> Result<(), EngineError> {
        if matches!(disk::file_stamp(&self.path), Ok(found) if found == self.stamp) {
            return Ok(());
        }
        let cause = match Self::read(self.path.clone()) {
            Ok(found) if found.content == self.content => {
                self.stamp = found.stamp;
                return Ok(());
            }
            Ok(_) => "it holds another list of tasks".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(EngineError::FileReplaced {
            path: self.path.display().to_string(),
            cause,
            remedy: "put the newest list back, as a file of the collector's user; to use an older \
                     one, stop the collector and start it with that; until then no upload is \
                     taken, because the next start would not find it",
        })
    }

    /// Opens the list of tasks in a directory, which must have a list.
    ///
    /// # Errors
    /// As [`TaskCatalogue::open`], or when the directory has no list.
    pub(super) fn open_existing(directory: &Path) -> Result<Self, EngineError> {
        let catalogue = Self::open(directory)?;
        if catalogue.path.exists() {
            return Ok(catalogue);
        }
        check_journal_exists(directory)?;
        Err(disk::damage_error(&catalogue.path, "it is missing"))
    }

    /// Reads the parameters of tasks, as JSON, from a list whose checksum may be wrong. Returns an
    /// empty vector if the list cannot be parsed.
    pub(super) fn unverified_task_parameters(directory: &Path) -> Vec<String> {
        let text = std::fs::read(directory.join(CATALOGUE_FILE_NAME)).unwrap_or_default();
        let json = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let content: Result<CatalogueContent, _> = serde_json::from_slice(json);
        let tasks = content.map_or_else(|_| Vec::new(), |content| content.tasks);
        tasks.into_iter().map(|task| task.parameters).collect()
    }

    /// Creates a list in memory. [`TaskCatalogue::write_to`] writes it to the disk.
    pub(super) fn from_rows(
        directory: &Path,
        next: TaskKey,
        rows: impl IntoIterator<Item = TaskRow>,
    ) -> Self {
        Self {
            path: directory.join(CATALOGUE_FILE_NAME),
            content: CatalogueContent {
                version: DIRECTORY_VERSION,
                next,
                tasks: rows.into_iter().collect(),
            },
            stamp: None,
        }
    }

    pub(super) fn task_rows(&self) -> Vec<TaskRow> {
        self.content.tasks.clone()
    }

    /// Returns the key of the next task.
    pub(super) fn next_key(&self) -> TaskKey {
        self.content.next
    }

    /// Adds a task, durably, under the next key.
    ///
    /// # Errors
    /// When writing to the disk fails. Nothing has changed then.
    pub(super) fn add_task(&mut self, row: TaskRow) -> Result<(), EngineError> {
        let key = self.content.next;
        self.change_durably(|content| {
            content.next.0 += 1;
            content.tasks.push(TaskRow { key, ..row });
        })
    }

    /// Replaces the stored role and settings of a task, durably.
    ///
    /// # Errors
    /// As [`TaskCatalogue::add_task`].
    pub(super) fn replace_settings(
        &mut self,
        key: TaskKey,
        settings: &str,
    ) -> Result<(), EngineError> {
        self.change_durably(|content| {
            let own = content.tasks.iter_mut().filter(|task| task.key == key);
            own.for_each(|task| settings.clone_into(&mut task.settings));
        })
    }

    /// Removes a task from the list, durably.
    ///
    /// # Errors
    /// As [`TaskCatalogue::add_task`].
    pub(super) fn remove_task(&mut self, key: TaskKey) -> Result<(), EngineError> {
        self.change_durably(|content| content.tasks.retain(|task| task.key != key))
    }

    /// Writes the list to another directory, durably.
    ///
    /// # Errors
    /// As [`TaskCatalogue::add_task`].
    pub(super) fn write_to(mut self, directory: &Path) -> Result<(), EngineError> {
        self.path = directory.join(CATALOGUE_FILE_NAME);
        self.change_durably(|_| {})
    }

    /// Changes the list on the disk, and then in memory.
    fn change_durably(
        &mut self,
        change: impl FnOnce(&mut CatalogueContent),
    ) -> Result<(), EngineError> {
        let mut content = self.content.clone();
        change(&mut content);
        let json = serde_json::to_string(&content)
            .map_err(|error| disk::damage_error(&self.path, &error.to_string()))?;
        let text = format!("{json}\n{}", checksum_line(&json));
        let written = disk::write_atomically(&self.path, text.as_bytes());
        // Also after an error: the file may have been renamed, but its directory not synced. Either
        // list is this process's own.
        self.stamp = disk::file_stamp(&self.path).unwrap_or_default();
        written?;
        // The list in memory changes after the file, so that an error changes neither.
        self.content = content;
        Ok(())
    }
}

/// Returns the second line of the file, which contains the checksum of the first line, `json`.
fn checksum_line(json: &str) -> String {
    HEXLOWER.encode(&Checksum::compute(&[json.as_bytes()]).0) + "\n"
}
