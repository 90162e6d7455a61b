//! Files that are there whole or not at all, and are not written over.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::ExportError;
use crate::store::open_or_create;

/// A file that is written under another name, and gone if it is not finished.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    unfinished: PathBuf,
    /// Locked, so that nobody else finishes it.
    file: File,
}

impl Unfinished {
    /// Begins a file that is not there yet.
    ///
    /// # Errors
    /// When it is, or cannot be written, or another process is at it.
    pub(crate) fn create(path: &Path) -> Result<Self, ExportError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".unfinished");
        let unfinished = PathBuf::from(name);
        is_free(path)?;
        let file = open_or_create(&unfinished).map_err(|source| failed(&unfinished, source))?;
        match file.try_lock() {
            Ok(()) => {
                // What is in it is of nobody who is still there.
                file.set_len(0)
                    .map_err(|source| failed(&unfinished, source))?;
                Ok(Self {
                    path: path.to_owned(),
                    unfinished,
                    file,
                })
            }
            Err(TryLockError::WouldBlock) => Err(ExportError::Busy {
                path: shown(&unfinished),
            }),
            Err(TryLockError::Error(source)) => Err(failed(&unfinished, source)),
        }
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it, or there is a file of its name by now.
    pub(crate) fn finish(self) -> Result<(), ExportError> {
        let synced = self.file.sync_all();
        synced.map_err(|source| failed(&self.unfinished, source))?;
        is_free(&self.path)?;
        fs::rename(&self.unfinished, &self.path).map_err(|source| failed(&self.path, source))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Finished, it is not there.
        let _ = fs::remove_file(&self.unfinished);
    }
}

fn is_free(path: &Path) -> Result<(), ExportError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(ExportError::Exists { path: shown(path) }),
        Err(_) => Ok(()),
    }
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn failed(path: &Path, source: io::Error) -> ExportError {
    let path = shown(path);
    ExportError::File { path, source }
}
