//! Listing of the files in a task's directory.

use std::fs;
use std::path::Path;

use super::disk;
use super::ids::{self, BatchSpan};
use crate::store::engine::EngineError;

pub(super) fn log_file_name(batch: u64) -> String {
    format!("{batch:08}.log")
}

pub(super) fn batch_file_name(batch: u64) -> String {
    format!("{batch:08}.batch")
}

/// Files in a task's directory: the batch numbers of logs and batch files, and the spans of files
/// of ids.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileListing {
    pub(super) log_batch_numbers: Vec<u64>,
    pub(super) batch_file_numbers: Vec<u64>,
    pub(super) ids_file_spans: Vec<BatchSpan>,
}

impl FileListing {
    /// Lists complete files. Skips temporary files of writes in progress.
    pub(super) fn of_complete_files(directory: &Path) -> Result<Self, EngineError> {
        let mut listing = Self::default();
        let failed = |source| disk::file_error(directory, source);
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if disk::is_temporary_path(&path) {
                continue;
            }
            listing.add(&path)?;
        }
        listing.sort();
        Ok(listing)
    }

    /// Adds the file at this path to the listing.
    ///
    /// # Errors
    /// When no file of that name belongs to a task.
    pub(super) fn add(&mut self, path: &Path) -> Result<(), EngineError> {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let number = |suffix| name.strip_suffix(suffix)?.parse::<u64>().ok();
        match (
            number(".log"),
            number(".batch"),
            ids::parse_ids_file_name(name),
        ) {
            (Some(log), _, _) if log_file_name(log) == name => self.log_batch_numbers.push(log),
            (_, Some(batch), _) if batch_file_name(batch) == name => {
                self.batch_file_numbers.push(batch);
            }
            (_, _, Some(span)) => self.ids_file_spans.push(span),
            _ => {
                return Err(disk::damage_error(
                    path,
                    "no file of this name belongs here",
                ));
            }
        }
        Ok(())
    }

    /// Sorts the batch numbers and the spans.
    pub(super) fn sort(&mut self) {
        self.log_batch_numbers.sort_unstable();
        self.batch_file_numbers.sort_unstable();
        // A longer span goes before the spans that it was merged from.
        self.ids_file_spans
            .sort_unstable_by_key(|span| (span.first, u64::MAX - span.last));
    }

    /// Returns the spans of batches whose ids are in files, oldest first. Omits spans that a longer
    /// span contains.
    pub(super) fn maximal_ids_spans(&self) -> Vec<BatchSpan> {
        let mut spans: Vec<BatchSpan> = Vec::new();
        for &span in &self.ids_file_spans {
            if !spans.last().is_some_and(|last| last.contains(span)) {
                spans.push(span);
            }
        }
        spans
    }

    /// Returns the names of all files.
    pub(super) fn file_names(&self) -> impl Iterator<Item = String> {
        let ids = self.ids_file_spans.iter().copied().map(ids::ids_file_name);
        let batches = self.batch_file_numbers.iter().copied().map(batch_file_name);
        ids.chain(batches)
            .chain(self.log_batch_numbers.iter().copied().map(log_file_name))
    }
}
