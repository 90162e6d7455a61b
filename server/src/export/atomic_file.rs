//! Files that appear complete or not at all, and never overwrite an existing file.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::ExportError;
use crate::store::open_or_create;

/// File that is written under a temporary name, and deleted if it is not finished.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    final_path: PathBuf,
    temporary_path: PathBuf,
    /// Temporary file, locked so that no second process writes or finishes it.
    file: File,
}

impl AtomicFile {
    /// Creates the temporary file for `path`.
    ///
    /// # Errors
    /// When `path` exists, the temporary file cannot be written, or another process is writing it.
    pub(crate) fn create_temporary_file(path: &Path) -> Result<Self, ExportError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".unfinished");
        let unfinished = PathBuf::from(name);
        check_file_absent(path)?;
        let file =
            open_or_create(&unfinished).map_err(|source| export_file_error(&unfinished, source))?;
        match file.try_lock() {
            Ok(()) => {
                // The lock is free, so any content was left by a process that has ended.
                file.set_len(0)
                    .map_err(|source| export_file_error(&unfinished, source))?;
                Ok(Self {
                    final_path: path.to_owned(),
                    temporary_path: unfinished,
                    file,
                })
            }
            Err(TryLockError::WouldBlock) => Err(ExportError::FileInUse {
                path: display_path(&unfinished),
            }),
            Err(TryLockError::Error(source)) => Err(export_file_error(&unfinished, source)),
        }
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the file to disk and renames it to its final name.
    ///
    /// # Errors
    /// When the disk fails, or a file of that name exists by now.
    pub(crate) fn sync_and_rename(self) -> Result<(), ExportError> {
        let synced = self.file.sync_all();
        // Sync before the rename, so that after a power loss the final name never has partial
        // content.
        synced.map_err(|source| export_file_error(&self.temporary_path, source))?;
        check_file_absent(&self.final_path)?;
        fs::rename(&self.temporary_path, &self.final_path)
            .map_err(|source| export_file_error(&self.final_path, source))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After `sync_and_rename` the temporary name no longer exists, so this fails harmlessly.
        let _ = fs::remove_file(&self.temporary_path);
    }
}

fn check_file_absent(path: &Path) -> Result<(), ExportError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(ExportError::FileExists {
            path: display_path(path),
        }),
        Err(_) => Ok(()),
    }
}

pub(super) fn display_path(path: &Path) -> String {
    path.display().to_string()
}

fn export_file_error(path: &Path, source: io::Error) -> ExportError {
    let path = display_path(path);
    ExportError::FileAccess { path, source }
}
