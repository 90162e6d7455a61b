//! Result of a salvage: the number of files copied, and the damage found.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::store::files::shared_log::SharedFrames;
use crate::task::ReportOrSumTask;

use crate::store::engine::{EngineError, TaskRow};
use crate::store::files::disk;
use crate::store::files::listing::FileListing;
use crate::store::role::ProcessRole;

/// Result of a salvage: numbers of salvaged tasks and files, and the damage found.
#[derive(Debug, Default)]
pub struct SalvageResult {
    /// Number of tasks in the new directory.
    pub tasks: u64,
    /// Number of valid files that were copied.
    pub copied: u64,
    /// Damage that was found. Each error names the file.
    pub damages: Vec<Damage>,
}

/// Damage to a file.
#[derive(Debug)]
pub struct Damage {
    /// Error that names the file and the damage.
    pub error: EngineError,
    /// Loss that the damage causes.
    pub loss: DataLoss,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.loss)
    }
}

/// Loss that damage to a file causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataLoss {
    /// No data is lost. The data follows from other files, or from the rest of the damaged file.
    Nothing,
    /// A file that does not belong in a journal is not copied.
    ForeignFile,
    /// The settings of tasks are lost, and replaced by the defaults.
    Settings,
    /// The public list of tasks is lost, and begins anew.
    TaskLog,
    /// A task is lost, with everything stored for it. No known task has the fingerprint that is in
    /// the lost task's files.
    Task,
    /// A released batch is lost.
    Batch {
        /// Number of the lost batch. In the copy, a batch without reports has this number.
        batch: u64,
        /// Number of reports in the batch, or `None` if the number is unknown.
        reports: Option<u64>,
    },
    /// The reports of a released batch are lost, but its totals are kept.
    Reports {
        /// Number of the batch.
        batch: u64,
        /// Number of reports in the batch.
        reports: u64,
    },
    /// The totals of a released batch are lost, and counted again from its reports. Some reports were
    /// erased before, so the new totals lack them.
    ErasedFromTotals {
        /// Number of the batch.
        batch: u64,
        /// Number of erased reports.
        reports: u64,
    },
    /// The ids of the uploads of released batches are lost.
    Ids {
        /// Number of the first batch whose ids are lost.
        first: u64,
        /// Number of the last batch whose ids are lost.
        last: u64,
    },
    /// Uploads of batches that are not released are lost.
    Uploads {
        /// Number of uploads and number of reports that are lost, or `None` if unknown.
        known: Option<(u64, u64)>,
    },
}

impl fmt::Display for DataLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing is lost: intact files contain the same data"),
            Self::ForeignFile => f.write_str("it is not copied"),
            Self::Settings => {
                f.write_str("the settings of its tasks are lost: the defaults apply now")
            }
            Self::TaskLog => f.write_str(
                "the public list of tasks begins anew: whoever remembers the old one sees a fork",
            ),
            Self::Task => f.write_str(
                "all of it is lost, because the list of tasks does not name the task of these \
                 files; give the task file with --lost-task",
            ),
            Self::Batch { batch, reports } => {
                write!(f, "all of batch {batch} is lost, ")?;
                match reports {
                    Some(reports) => write!(f, "with its {reports} reports"),
                    None => f.write_str("with an unknown number of reports"),
                }
            }
            Self::Reports { batch, reports } => write!(
                f,
                "the {reports} reports of batch {batch} are lost, its totals are kept"
            ),
            Self::ErasedFromTotals { batch, reports } => write!(
                f,
                "the totals of batch {batch} are counted again from its reports, without {reports} \
                 reports that were erased before"
            ),
            Self::Ids { first, last } => write!(
                f,
                "upload ids of batches {first} to {last} are lost: uploads from these batches that \
                 are sent again will be counted twice"
            ),
            Self::Uploads { known } => match known {
                Some((0, 0)) => f.write_str("no upload is lost"),
                Some((uploads, reports)) => {
                    write!(f, "{uploads} uploads with {reports} reports are lost")
                }
                None => f.write_str("an unknown number of uploads is lost"),
            },
        }
    }
}

impl SalvageResult {
    /// Records damage to a file, and the loss that it causes.
    pub(super) fn record_damage(&mut self, error: EngineError, loss: DataLoss) {
        self.damages.push(Damage { error, loss });
    }

    /// Copies a valid file, and counts it.
    pub(super) fn copy_file(&mut self, from: &Path, to: &Path) -> Result<(), EngineError> {
        let bytes = fs::read(from).map_err(|source| disk::file_error(from, source))?;
        self.write_file(to, &bytes)
    }

    /// Writes the contents of a valid file to the copy, and counts it.
    pub(super) fn write_file(&mut self, to: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        disk::write_atomically(to, bytes)?;
        self.copied += 1;
        Ok(())
    }
}

/// Task that is being salvaged, with the directories of its old and new files.
pub(super) struct TaskSalvage<'a> {
    pub(super) row: &'a TaskRow,
    pub(super) task: &'a ReportOrSumTask,
    pub(super) role: ProcessRole,
    /// Frames that may be missing from the logs.
    pub(super) shared_frames: &'a SharedFrames,
    pub(super) old_directory: &'a Path,
    pub(super) new_directory: &'a Path,
    pub(super) listing: FileListing,
}

/// Lists the files in a task's directory. Records files that do not belong there as damage.
pub(super) fn list_task_files(
    directory: &Path,
    salvaged: &mut SalvageResult,
) -> Result<FileListing, EngineError> {
    let mut listing = FileListing::default();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(source) => {
            let known = None;
            salvaged.record_damage(
                disk::file_error(directory, source),
                DataLoss::Uploads { known },
            );
            return Ok(listing);
        }
    };
    for entry in entries {
        let path = entry
            .map_err(|source| disk::file_error(directory, source))?
            .path();
        if !disk::is_temporary_path(&path)
            && let Err(error) = listing.add(&path)
        {
            salvaged.record_damage(error, DataLoss::ForeignFile);
        }
    }
    listing.sort();
    Ok(listing)
}
