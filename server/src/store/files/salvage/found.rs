//! What is found in a data directory, and what is lost.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::task::CollectedTask;

use crate::store::engine::{EngineError, TaskRow};
use crate::store::files::disk;
use crate::store::files::task::Listing;
use crate::store::role::Role;

/// What was kept of a data directory, and what was not.
#[derive(Debug, Default)]
pub struct Salvaged {
    /// Tasks in the new directory.
    pub tasks: u64,
    /// Files that verify, and were copied.
    pub copied: u64,
    /// What does not verify, each with the file that it is in.
    pub damages: Vec<Damage>,
}

/// Something that does not verify.
#[derive(Debug)]
pub struct Damage {
    /// What is wrong, with the file.
    pub wrong: EngineError,
    /// What that costs.
    pub loss: Loss,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.wrong, self.loss)
    }
}

/// What is lost by damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The same was found in another place.
    Nothing,
    /// A file that no journal has, and that is not copied.
    Stranger,
    /// How tasks are collected, which is the default now.
    Settings,
    /// A task with all that was stored for it, as no task is known by whose fingerprint its
    /// files go.
    Task,
    /// A released batch.
    Batch {
        /// Its number, which one without reports has now.
        batch: u64,
        /// How many reports it had, if that is known.
        reports: Option<u64>,
    },
    /// The reports of a released batch, whose totals are kept.
    Reports {
        /// Its number.
        batch: u64,
        /// How many they are.
        reports: u64,
    },
    /// The ids of the uploads of released batches.
    Ids {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// Uploads of batches that are not released.
    Uploads {
        /// How many uploads and reports these are, if that is known.
        known: Option<(u64, u64)>,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing is lost, as the same follows from what verifies"),
            Self::Stranger => f.write_str("it is not copied"),
            Self::Settings => f.write_str("how its tasks are collected is the default now"),
            Self::Task => f.write_str(
                "it is lost whole, as the list of tasks does not say which task these are the \
                 files of; give its task file with --task",
            ),
            Self::Batch { batch, reports } => {
                write!(f, "batch {batch} is lost whole, ")?;
                match reports {
                    Some(reports) => write!(f, "with its {reports} reports"),
                    None => f.write_str("and it is not known how many reports it had"),
                }
            }
            Self::Reports { batch, reports } => write!(
                f,
                "the {reports} reports of batch {batch} are lost, its totals are kept"
            ),
            Self::Ids { first, last } => write!(
                f,
                "ids of uploads of batches {first} to {last} are lost: uploads of theirs that \
                 are sent again will be counted again"
            ),
            Self::Uploads { known } => match known {
                Some((0, 0)) => f.write_str("no upload is lost"),
                Some((uploads, reports)) => {
                    write!(f, "{uploads} uploads with {reports} reports are lost")
                }
                None => f.write_str("uploads are lost, and it is not known how many"),
            },
        }
    }
}

impl Salvaged {
    pub(super) fn damaged(&mut self, wrong: EngineError, loss: Loss) {
        self.damages.push(Damage { wrong, loss });
    }

    /// Copies a file that verifies.
    pub(super) fn copy(&mut self, from: &Path, to: &Path) -> Result<(), EngineError> {
        let bytes = fs::read(from).map_err(|source| disk::error(from, source))?;
        disk::write_whole(to, &bytes)?;
        self.copied += 1;
        Ok(())
    }
}

/// A task whose files are gone through.
pub(super) struct Salvage<'a> {
    pub(super) row: &'a TaskRow,
    pub(super) task: &'a CollectedTask,
    pub(super) role: Role,
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    pub(super) listing: Listing,
}

/// What lies in a task's directory, without what has no business there.
pub(super) fn list(directory: &Path, salvaged: &mut Salvaged) -> Result<Listing, EngineError> {
    let mut listing = Listing::default();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(source) => {
            let known = None;
            salvaged.damaged(disk::error(directory, source), Loss::Uploads { known });
            return Ok(listing);
        }
    };
    for entry in entries {
        let path = entry
            .map_err(|source| disk::error(directory, source))?
            .path();
        if !disk::is_unfinished(&path)
            && let Err(wrong) = listing.add(&path)
        {
            salvaged.damaged(wrong, Loss::Stranger);
        }
    }
    listing.sort();
    Ok(listing)
}
