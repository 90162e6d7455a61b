//! What can be kept of a damaged data directory, in a new one.
//!
//! # What is kept
//!
//! Only what verifies, and nothing that does not follow from it.
//!
//! - **A released batch** whose file verifies is copied. Where its totals alone have changed they
//!   are counted again from its reports, with the same result to the last byte; where reports
//!   have changed the totals stay without them, as after retention. Otherwise the batch is lost
//!   as a whole, and one without reports takes its number, so that those behind keep theirs.
//! - **Ids** of released batches are copied, or lost: then an upload that is sent again is
//!   counted again. Where the last batch's log is still there it is released from that once
//!   more.
//! - **Logs** are copied as long as they verify. The first that does not is written anew, and
//!   with it all that were to follow, as one open batch, of the commits that verify: a closed
//!   batch that lost reports might have too few of them to hide anybody, and an open one is
//!   closed when it has enough.
//! - **The list of tasks** is copied, or made anew: of the tasks that it still says or that are
//!   given, those by whose fingerprint the files go.
//!
//! # Why a commit behind the damage may be kept
//!
//! A frame's sum is over the log's random key, the sum before it, its own offset and its
//! payload. The sum before it stands in the file, whether or not the frame that it is of
//! verifies, so that the next frame can be verified by it. If it does, the collector wrote that
//! frame there, behind that sum: nobody else knows the key, and a copy in another place has
//! another offset. It is no remnant of a commit that failed: one frame is written at a time, and
//! what failed is cut off or written over where it began. And none of its uploads is in another
//! frame, as ids were looked up in all of them before it was written; ids are looked at once
//! more here. So whatever the damage before it was, its uploads were acknowledged, and once.
//!
//! By the same argument a frame holds whose own sum alone has changed: the mark behind it is
//! over the key and the sum that it had.

mod catalogue;
mod found;
mod log;
mod released;
mod unreleased;

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::task::CollectedTask;

use super::catalogue::Catalogue;
use super::disk;
use super::layout::{DELETED, TASKS, directory_of};
use crate::store::engine::EngineError;
use crate::store::role::Role;
use crate::store::task;
pub use found::{Damage, Loss, Salvaged};
use found::{Salvage, list};

/// Copies what verifies to a directory that is not there yet; `given` are tasks to know files
/// by that the list of tasks no longer does, and `role` is what reports then are.
///
/// # Errors
/// When a collector uses the directory, it cannot be read or is of another version, or the
/// other is there already or cannot be written.
pub fn salvage(
    root: &Path,
    to: &Path,
    given: &[CollectedTask],
    role: Role,
) -> Result<Salvaged, EngineError> {
    if to.exists() {
        let there = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(disk::error(to, there));
    }
    let _lock = share(root)?;
    let mut salvaged = Salvaged::default();
    let (next, tasks) = catalogue::tasks(root, given, role, &mut salvaged)?;
    disk::create_directory(to)?;
    disk::create_directory(&to.join(TASKS))?;
    for (row, task) in &tasks {
        let mut from = directory_of(root, row.key);
        let deleted = from.with_extension(DELETED);
        if !from.exists() && deleted.exists() {
            // Nobody was told that it is deleted.
            from = deleted;
        }
        let to = &directory_of(to, row.key);
        disk::create_directory(to)?;
        let listing = list(&from, &mut salvaged)?;
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
    // Last: without it there is no copy.
    Catalogue::of(to, next, rows).write_to(to)?;
    Ok(salvaged)
}

/// That no collector writes to it, nor begins to; nothing of it is touched.
///
/// # Errors
/// When one does.
pub(in crate::store) fn share(root: &Path) -> Result<Option<File>, EngineError> {
    let path = root.join(disk::LOCK);
    let Ok(lock) = File::open(&path) else {
        return Ok(None);
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::Error(source)) => Err(disk::error(&path, source)),
        Err(TryLockError::WouldBlock) => {
            let source = io::Error::new(
                io::ErrorKind::WouldBlock,
                "the directory is in use by another hushbin process",
            );
            Err(disk::error(&path, source))
        }
    }
}
