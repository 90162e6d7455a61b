//! Lines of a data set, a person each: CSV under a header, or objects of JSON.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use csv::{Position, Reader, StringRecord};
use serde_json::{Map, Value};

/// Why a data set cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file's name tells no format.
    #[error("{0}: expected .csv or .jsonl")]
    Name(String),
    /// A line is not what it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// From 1.
        line: usize,
        /// What was expected.
        reason: String,
    },
}

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A header of names and a line for each person.
    Csv,
    /// An object in each line.
    JsonLines,
}

impl Format {
    /// Finds the format by the file's name.
    ///
    /// # Errors
    /// [`DataError::Name`].
    pub(crate) fn of(path: &Path) -> Result<Self, DataError> {
        match path.extension().and_then(OsStr::to_str) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            _ => Err(DataError::Name(path.display().to_string())),
        }
    }
}

/// Opens a data set.
///
/// # Errors
/// [`DataError::Io`].
pub(super) fn open(path: &Path) -> Result<BufReader<File>, DataError> {
    let file = File::open(path).map_err(|source| DataError::Io {
        path: path.display().to_string(),
        source,
    })?;
    Ok(BufReader::new(file))
}

/// Visits the lines of CSV by a function of the header.
///
/// # Errors
/// [`DataError::Line`], of the first line that is wrong.
pub(super) fn for_each_record<V: FnMut(&StringRecord) -> Result<(), String>>(
    reader: impl io::Read,
    visitor: impl FnOnce(&StringRecord) -> Result<V, String>,
) -> Result<(), DataError> {
    let mut reader = Reader::from_reader(reader);
    let header = reader.headers().map_err(|error| refuse(1, &error))?;
    let mut seen = HashSet::new();
    if let Some(twice) = header.iter().find(|name| !seen.insert(*name)) {
        return Err(refuse(1, &format!("{twice:?} stands twice")));
    }
    let mut visit = visitor(header).map_err(|error| refuse(1, &error))?;
    let line = |position: Option<&Position>| position.map_or(0, Position::line) as usize;
    for record in reader.records() {
        let record = record.map_err(|error| refuse(line(error.position()), &error))?;
        visit(&record).map_err(|error| refuse(line(record.position()), &error))?;
    }
    Ok(())
}

/// Visits the objects of lines that are not blank.
///
/// # Errors
/// [`DataError::Line`], of the first line that is wrong.
pub(super) fn for_each_object(
    reader: impl BufRead,
    mut visit: impl FnMut(Map<String, Value>) -> Result<(), String>,
) -> Result<(), DataError> {
    for (number, line) in (1..).zip(reader.lines()) {
        let line = line.map_err(|error| refuse(number, &error))?;
        if !line.trim().is_empty() {
            let object = serde_json::from_str(&line).map_err(|error| refuse(number, &error))?;
            visit(object).map_err(|error| refuse(number, &error))?;
        }
    }
    Ok(())
}

pub(super) fn refuse(line: usize, reason: &impl ToString) -> DataError {
    DataError::Line {
        line,
        reason: reason.to_string(),
    }
}
