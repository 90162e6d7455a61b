//! Lines of a data set, one for each person: CSV with a header, or JSON objects.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use csv::{Position, Reader, ReaderBuilder, StringRecord, Trim};
use serde_json::{Map, Value};

use crate::text_file::BYTE_ORDER_MARK;

/// Errors of reading a data set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    /// File that cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// File name without a known extension.
    #[error("{0}: expected a name that ends in .csv, .tsv, .jsonl or .ndjson")]
    UnknownExtension(String),
    /// Invalid line.
    #[error("line {line}: {reason}")]
    InvalidLine {
        /// Line number, from 1.
        line: usize,
        /// Description of the mistake.
        reason: String,
    },
}

/// Format of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFormat {
    /// CSV: a header of names and a line for each person. Cells are separated by commas, semicolons
    /// or tabs.
    Csv,
    /// JSON lines: an object for each person.
    JsonLines,
}

impl DataFormat {
    /// Returns the format for the file's extension.
    ///
    /// # Errors
    /// [`DataError::UnknownExtension`] if the extension is unknown.
    pub(crate) fn from_path(path: &Path) -> Result<Self, DataError> {
        let ending = path
            .extension()
            .and_then(OsStr::to_str)
            .map(str::to_lowercase);
        match ending.as_deref() {
            Some("csv" | "tsv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            _ => Err(DataError::UnknownExtension(path.display().to_string())),
        }
    }
}

/// Opens a data set.
///
/// # Errors
/// [`DataError::Io`] if the file cannot be opened.
pub(super) fn open_data_set(path: &Path) -> Result<BufReader<File>, DataError> {
    let file = File::open(path).map_err(|source| DataError::Io {
        path: path.display().to_string(),
        source,
    })?;
    Ok(BufReader::new(file))
}

/// Reads all lines, then checks that no line lacks an answer. `lines` yields the number of each
/// line, and a description of the missing answer or `None`.
fn check_no_missing_answers(
    lines: impl Iterator<Item = Result<(usize, Option<String>), DataError>>,
) -> Result<(), DataError> {
    let (mut first, mut others) = (None, 0);
    for line in lines {
        match (line?, &first) {
            ((_, None), _) => {}
            ((line, Some(lacks)), None) => first = Some((line, lacks)),
            (_, Some(_)) => others += 1,
        }
    }
    match (first, others) {
        (None, _) => Ok(()),
        (Some((line, lacks)), 0) => Err(line_error(line, &lacks)),
        (Some((line, lacks)), _) => {
            let reason = format!("{lacks}; further lines without answers: {others}");
            Err(line_error(line, &reason))
        }
    }
}

/// Separators of cells. If several fit equally well, the last one is used.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// Calls `visit` with the columns and cells of each CSV line. `visit` returns a description of a
/// missing answer, or `None`. `column` converts a name in the header to a column, and refuses
/// unknown names. The chosen separator splits the header into known names.
///
/// # Errors
/// [`DataError::InvalidLine`] for the first invalid line.
pub(super) fn for_each_record<C>(
    mut reader: impl BufRead,
    column: impl Fn(&str) -> Result<C, String>,
    mut visit: impl FnMut(&[C], &StringRecord) -> Result<Option<String>, String>,
) -> Result<(), DataError> {
    let mut first = Vec::new();
    while first.trim_ascii().is_empty() {
        let read = reader.read_until(b'\n', &mut first);
        if read.map_err(|error| line_error(1, &error))? == 0 {
            break;
        }
    }
    // If no separator fits, the error is about the separator that gives the most cells. The file
    // most likely uses this separator.
    let tried = SEPARATORS.map(|separator| (separator, parse_header(&first, separator, &column)));
    let fits = |(_, tried): &(u8, Result<_, (usize, String)>)| match tried {
        Ok(_) => usize::MAX,
        Err((cells, _)) => *cells,
    };
    let (separator, columns) = tried
        .into_iter()
        .max_by_key(fits)
        .expect("there are separators");
    let columns = columns.map_err(|(_, reason)| line_error(1, &reason))?;
    let mut reader = csv_reader(first.as_slice().chain(reader), separator);
    let line = |position: Option<&Position>| position.map_or(0, Position::line) as usize;
    check_no_missing_answers(reader.records().map(|record| {
        let record = record.map_err(|error| line_error(line(error.position()), &error))?;
        let line = line(record.position());
        let lacks = visit(&columns, &record).map_err(|error| line_error(line, &error))?;
        Ok((line, lacks))
    }))
}

fn csv_reader<R: io::Read>(reader: R, separator: u8) -> Reader<R> {
    let mut format = ReaderBuilder::new();
    format.delimiter(separator).trim(Trim::All);
    format.from_reader(reader)
}

/// Returns the columns of a header. If the header is invalid, returns the number of cells and the
/// first error.
fn parse_header<C>(
    line: &[u8],
    separator: u8,
    column: impl Fn(&str) -> Result<C, String>,
) -> Result<Vec<C>, (usize, String)> {
    let mut reader = csv_reader(line, separator);
    let header = reader.headers().map_err(|error| (1, error.to_string()))?;
    let mut seen = HashSet::new();
    let column = |name| match seen.insert(name) {
        true => column(name),
        false => Err(format!("{name:?} appears twice")),
    };
    let columns: Result<_, _> = header.iter().map(column).collect();
    columns.map_err(|reason| (header.len(), reason))
}

/// Calls `visit` with the object of each line that is not blank. `visit` returns a description of a
/// missing answer, or `None`.
///
/// # Errors
/// [`DataError::InvalidLine`] for the first invalid line.
pub(super) fn for_each_object(
    reader: impl BufRead,
    mut visit: impl FnMut(Map<String, Value>) -> Result<Option<String>, String>,
) -> Result<(), DataError> {
    let mut visit = |line: &str| match serde_json::from_str(line) {
        _ if line.trim().is_empty() => Ok(None),
        Ok(object) => match find_duplicate_key(line) {
            Some(name) => Err(format!("{name:?} appears twice")),
            None => visit(object),
        },
        Err(error) => Err(error
            .to_string()
            .replace(" at line 1 column ", " at column ")),
    };
    check_no_missing_answers((1..).zip(reader.lines()).map(|(number, line)| {
        let line = line.map_err(|error| line_error(number, &error))?;
        let lacks = visit(line.trim_start_matches(BYTE_ORDER_MARK))
            .map_err(|error| line_error(number, &error))?;
        Ok((number, lacks))
    }))
}

/// Returns a name that occurs twice in one object, or `None`. `json` must be well-formed. serde
/// would silently keep only the last of the two values.
fn find_duplicate_key(json: &str) -> Option<String> {
    let (mut objects, mut rest) = (Vec::new(), json);
    while let Some(at) = rest.find(['{', '}', '"']) {
        rest = &rest[at..];
        if rest.starts_with('"') {
            let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let name = texts.next()?.ok()?;
            rest = &rest[texts.byte_offset()..];
            let names: &mut HashSet<String> = objects.last_mut()?;
            if rest.trim_start().starts_with(':') && !names.insert(name.clone()) {
                return Some(name);
            }
            continue;
        }
        if rest.starts_with('{') {
            objects.push(HashSet::new());
        } else {
            objects.pop();
        }
        rest = &rest[1..];
    }
    None
}

pub(super) fn line_error(line: usize, reason: &impl ToString) -> DataError {
    DataError::InvalidLine {
        line,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_the_format() {
        for (name, format) in [
            ("a.csv", Some(DataFormat::Csv)),
            ("A.CSV", Some(DataFormat::Csv)),
            ("a.tsv", Some(DataFormat::Csv)),
            ("a.Jsonl", Some(DataFormat::JsonLines)),
            ("a.ndjson", Some(DataFormat::JsonLines)),
            ("a.csv.gz", None),
            ("a.json", None),
            ("csv", None),
        ] {
            assert_eq!(
                DataFormat::from_path(Path::new(name)).ok(),
                format,
                "{name}"
            );
        }
    }
}
