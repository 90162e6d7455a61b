//! Salvages a damaged data directory, by copying to a new one.
//!
//! # Contents of the copy
//!
//! The copy contains only data that verifies, and data that follows from it.
//!
//! - **A released batch** is copied if its file verifies. If only its totals have changed, they are
//!   counted again from its reports, with the same result to the last byte. If reports have
//!   changed, the totals stay without them, as after retention. Otherwise the batch is lost as a
//!   whole. A batch without reports takes its number, so that later batches keep the right numbers.
//! - **Ids** of released batches are copied, or lost. An upload whose id is lost is counted again
//!   if it is sent again. If the last batch's log is still there, the batch is released from it
//!   once more.
//! - **Logs** are copied as long as they verify. From the first that does not, all commits that
//!   verify are written to one open batch. A closed batch that lost reports might have too few of
//!   them to hide a person. An open one is closed when it has enough.
//! - **The list of tasks** is copied, or rebuilt. The candidates are the tasks in the damaged list
//!   and the given ones. Files are of the task with the same fingerprint.
//!
//! # Why a commit after the damage may be kept
//!
//! A frame's checksum covers the log's random key, the checksum before it, its own offset and its
//! payload. The checksum before it is in the file, even if the frame of that checksum does not
//! verify. So the next frame can be verified by it.
//!
//! If the next frame verifies, the collector wrote it there, after that checksum. Only the
//! collector knows the key, and a copy in another place has another offset. The frame is no remnant
//! of a commit that failed. Frames are written one at a time, and a failed one is cut off or
//! overwritten from its beginning. None of its uploads is in another frame, because ids were looked
//! up in all frames before it was written. Ids are checked here once more. So its uploads were
//! acknowledged, and once, regardless of the damage before it.
//!
//! The same argument holds for a frame whose checksum alone has changed. The mark after it covers
//! the key and the original checksum.

mod catalogue;
mod damage;
mod log;
mod released;
mod unreleased;

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::task::CollectedTask;

use super::catalogue::Catalogue;
use super::disk;
use super::layout::{DELETED_EXTENSION, TASKS_DIRECTORY, directory_of};
use crate::store::engine::EngineError;
use crate::store::role::Role;
use crate::store::task;
pub use damage::{Damage, Loss, Salvaged};
use damage::{Salvage, list_files};

/// Copies what verifies to a new directory. Files are also identified by the tasks in `given`, if
/// the list of tasks is damaged. Tasks then have the role `role`.
///
/// # Errors
/// When a collector uses the directory, when it cannot be read or has another version, or when the
/// new directory exists or cannot be written.
pub fn salvage(
    root: &Path,
    to: &Path,
    given: &[CollectedTask],
    role: Role,
) -> Result<Salvaged, EngineError> {
    if to.exists() {
        let there = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(disk::file_error(to, there));
    }
    let _lock = lock_shared(root)?;
    let mut salvaged = Salvaged::default();
    let (next, tasks) = catalogue::tasks(root, given, role, &mut salvaged)?;
    disk::create_directory(to)?;
    disk::create_directory(&to.join(TASKS_DIRECTORY))?;
    for (row, task) in &tasks {
        let mut from = directory_of(root, row.key);
        let deleted = from.with_extension(DELETED_EXTENSION);
        if !from.exists() && deleted.exists() {
            // The deletion was never acknowledged.
            from = deleted;
        }
        let to = &directory_of(to, row.key);
        disk::create_directory(to)?;
        let listing = list_files(&from, &mut salvaged)?;
        let role = match task::read_settings(&row.id, &row.settings) {
            Ok((role, _)) => role,
            Err(error) => return Err(disk::damaged(root, &error.to_string())),
        };
        let salvage = Salvage {
            row,
            task,
            role,
            from: &from,
            to,
            listing,
        };
        let released = salvage.released(&mut salvaged)?;
        salvage.unreleased(released, &mut salvaged)?;
    }
    salvaged.tasks = tasks.len() as u64;
    let rows = tasks.into_iter().map(|(row, _)| row);
    // Written last: without a list of tasks there is no copy.
    Catalogue::from_rows(to, next, rows).write_to(to)?;
    Ok(salvaged)
}

/// Locks a directory against writers, and changes nothing. Returns `None` if there is no lock file.
///
/// # Errors
/// When a collector writes to it.
pub(in crate::store) fn lock_shared(root: &Path) -> Result<Option<File>, EngineError> {
    let path = root.join(disk::LOCK);
    let Ok(lock) = File::open(&path) else {
        return Ok(None);
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::Error(source)) => Err(disk::file_error(&path, source)),
        Err(TryLockError::WouldBlock) => {
            let source = io::Error::new(
                io::ErrorKind::WouldBlock,
                "the directory is in use by another hushbin process",
            );
            Err(disk::file_error(&path, source))
        }
    }
}
