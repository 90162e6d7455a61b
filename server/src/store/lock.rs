//! Lock on a data directory.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::error::JournalError;
use super::files;

/// Locks the data directory for this process alone. The operating system releases the lock when the
/// process ends, even after a crash.
pub(super) fn lock_directory(directory: &Path) -> Result<File, JournalError> {
    let path = directory.join(files::LOCK_FILE_NAME);
    let failed = |source| JournalError::Engine(files::file_error(&path, source));
    let file = files::open_or_create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
            path: directory.display().to_string(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
