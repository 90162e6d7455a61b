//! Salvages a damaged data directory: copies the valid data to a new directory.
//!
//! # Contents of the copy
//!
//! The copy contains only verified data, and data that is computed from verified data.
//!
//! - **A released batch** is copied if its file is valid. If only the totals are damaged, the
//!   reports are counted again, with the same totals to the last byte. Only an analyser's origins
//!   of reports are then lost. Reports that were erased before are no longer in the totals. If only
//!   reports are damaged, the totals are kept without reports, as after the retention time.
//!   Otherwise the whole batch is lost. A batch without reports then takes its number, so that
//!   later batches keep their numbers.
//! - **Ids** of released batches are copied, or lost. An upload whose id is lost is counted again
//!   if it is sent again. If the log of the last released batch still exists, the batch is released
//!   from this log once more.
//! - **Logs** are copied up to the first damaged log. The valid commits in this log and in all
//!   later logs are written to one open batch. A closed batch that lost reports might have too few
//!   of them to hide a person. An open batch is closed only when it has enough.
//! - **The list of tasks** is copied, or rebuilt. The candidates are the tasks in the damaged list
//!   and the tasks that the operator gives. Files belong to the candidate whose fingerprint they
//!   contain.
//!
//! # Why a commit after the damage may be kept
//!
//! A frame's checksum covers four things: the log's random key, the checksum of the previous frame,
//! the frame's offset, and the frame's payload. The checksum of the previous frame is in the file,
//! even if that frame is damaged. So it can be used to verify the next frame.
//!
//! If the next frame is valid, the collector wrote it at this offset, after that checksum. Only the
//! collector knows the key, and a copied frame would have another offset. The frame is not a
//! remnant of a failed commit: frames are written one at a time, and a failed frame is cut off or
//! overwritten from its beginning. None of the frame's uploads is in another frame, because the
//! collector looked up their ids in all earlier frames before it wrote the frame. The salvage
//! checks the ids once more. So the frame's uploads were acknowledged, and only once, regardless of
//! the damage before the frame.
//!
//! The same argument holds for a frame whose checksum alone has changed. The mark after the
//! checksum covers the key and the original checksum.

mod catalogue;
mod damage;
mod log;
mod released;
mod unreleased;

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::task::ReportOrSumTask;

use super::catalogue::TaskCatalogue;
use super::disk;
use super::layout::{DELETED_TASK_EXTENSION, TASKS_DIRECTORY, task_directory};
use super::shared_log::SharedFrames;
use super::task_log::{TASK_LOG_FILE_NAME, read_task_log, write_task_log};
use crate::store::engine::EngineError;
use crate::store::role::ProcessRole;
use crate::store::task;
pub use damage::{Damage, DataLoss, SalvageResult};
use damage::{TaskSalvage, list_task_files};

/// Copies the valid data of the directory `root` to the new directory `to`. `given` and `role` are
/// used only if the list of tasks is damaged. Then files may also belong to the tasks in `given`,
/// and all tasks get the role `role`.
///
/// # Errors
/// When a collector uses the directory, when the directory cannot be read or has another version,
/// or when the new directory exists or cannot be written.
pub fn salvage_directory(
    root: &Path,
    to: &Path,
    given: &[ReportOrSumTask],
    role: ProcessRole,
) -> Result<SalvageResult, EngineError> {
    if to.exists() {
        let there = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(disk::file_error(to, there));
    }
    let _lock = lock_shared(root)?;
    let mut salvaged = SalvageResult::default();
    let shared_frames = SharedFrames::read(root).unwrap_or_else(|error| {
        salvaged.record_damage(error, DataLoss::Uploads { known: None });
        SharedFrames::default()
    });
    let (next, tasks) = catalogue::identify_tasks(root, given, role, &mut salvaged)?;
    disk::create_directory(to)?;
    disk::create_directory(&to.join(TASKS_DIRECTORY))?;
    for (row, task) in &tasks {
        let mut from = task_directory(root, row.key);
        let deleted = from.with_extension(DELETED_TASK_EXTENSION);
        if !from.exists() && deleted.exists() {
            // The deletion was never acknowledged.
            from = deleted;
        }
        let to = &task_directory(to, row.key);
        disk::create_directory(to)?;
        let listing = list_task_files(&from, &mut salvaged)?;
        let role = match task::decode_role_and_settings(&row.id, &row.settings) {
            Ok((role, _)) => role,
            Err(error) => return Err(disk::damage_error(root, &error.to_string())),
        };
        let salvage = TaskSalvage {
            row,
            task,
            role,
            shared_frames: &shared_frames,
            old_directory: &from,
            new_directory: to,
            listing,
        };
        let released = salvage.salvage_released_batches(&mut salvaged)?;
        salvage.salvage_unreleased_batches(released, &mut salvaged)?;
    }
    salvaged.tasks = tasks.len() as u64;
    let rows = tasks.into_iter().map(|(row, _)| row);
    match read_task_log(root) {
        // A journal of an earlier version has no log either.
        Ok(entries) if entries.is_empty() && salvaged.tasks > 0 => {
            let path = root.join(TASK_LOG_FILE_NAME);
            salvaged.record_damage(
                disk::damage_error(&path, "it is missing"),
                DataLoss::TaskLog,
            );
        }
        Ok(entries) => write_task_log(to, &entries)?,
        Err(error) => salvaged.record_damage(error, DataLoss::TaskLog),
    }
    // Written last: without a list of tasks there is no copy.
    TaskCatalogue::from_rows(to, next, rows).write_to(to)?;
    Ok(salvaged)
}

/// Takes a shared lock on a directory, which keeps writers out. Returns `None` if there is no lock
/// file. Never creates a lock file.
///
/// # Errors
/// When another process has locked the directory for writing.
pub(in crate::store) fn lock_shared(root: &Path) -> Result<Option<File>, EngineError> {
    let path = root.join(disk::LOCK_FILE_NAME);
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
