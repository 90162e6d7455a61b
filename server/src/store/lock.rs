//! Lock on a data directory.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::JournalError;
use super::files;

/// Time for which a held lock is waited for. `hushbin doctor` holds it for a moment.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause between two attempts to lock.
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Locks the data directory for this process alone, and waits for up to [`LOCK_TIMEOUT`]. The
/// operating system releases the lock when the process ends, even after a crash.
pub(super) fn lock_directory(directory: &Path) -> Result<File, JournalError> {
    let path = directory.join(files::LOCK_FILE_NAME);
    let failed = |source| JournalError::Engine(files::file_error(&path, source));
    let file = files::open_or_create(&path).map_err(failed)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_RETRY_DELAY);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(JournalError::Locked {
                    path: directory.display().to_string(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_for_a_moment_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let held = files::open_or_create(&directory.path().join(files::LOCK_FILE_NAME)).unwrap();
        held.lock_shared().unwrap();
        thread::scope(|scope| {
            let locking = scope.spawn(|| lock_directory(directory.path()).map(drop));
            // Long enough for a first attempt, which fails.
            thread::sleep(2 * LOCK_RETRY_DELAY);
            held.unlock().unwrap();
            locking.join().unwrap().unwrap();
        });
        held.lock().unwrap();
        let refused = lock_directory(directory.path()).unwrap_err();
        assert!(matches!(refused, JournalError::Locked { .. }), "{refused}");
    }
}
