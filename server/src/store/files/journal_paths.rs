//! Files that a journal consists of.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::catalogue::CATALOGUE_FILE_NAME;
use super::disk::{LOCK_FILE_NAME, file_error};
use super::layout::{PROBE_FILE_NAME, TASKS_DIRECTORY};
use super::shared_log::{SHARED_LOG_NAME, SHORTER_LOG_NAME};
use super::task_log::TASK_LOG_FILE_NAME;
use crate::store::engine::EngineError;

/// Returns the files and directories of the journal in a data directory. Skips everything else, such
/// as `lost+found`.
///
/// # Errors
/// When a directory of the journal cannot be read.
pub(crate) fn journal_paths(root: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let tasks = root.join(TASKS_DIRECTORY);
    let names = [
        LOCK_FILE_NAME,
        CATALOGUE_FILE_NAME,
        TASK_LOG_FILE_NAME,
        SHARED_LOG_NAME,
        SHORTER_LOG_NAME,
        PROBE_FILE_NAME,
        TASKS_DIRECTORY,
    ];
    let mut paths: Vec<PathBuf> = names.map(|name| root.join(name)).into();
    paths.retain(|path| path.symlink_metadata().is_ok());
    let is_task = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.parse::<u64>().is_ok())
    };
    for directory in entries(&tasks)?.into_iter().filter(is_task) {
        paths.extend(entries(&directory)?);
        paths.push(directory);
    }
    Ok(paths)
}

/// Returns the paths in a directory, or none if a collector has removed it.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let failed = |source| file_error(directory, source);
    let read = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(failed)?,
    };
    let paths = read.map(|entry| entry.map(|entry| entry.path()).map_err(failed));
    paths.collect()
}
