//! Reading of rows from files of any format.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use hushbin::{Fingerprint, Report, Task};
use serde::Deserialize;

use super::atomic_file::display_path;
use super::description::{ReportsDescription, description_path};
use super::error::ReadError;
use super::parquet::ParquetFile;
use super::peeked_file::{PeekedFile, WholeFileReader, file_access_error};
use super::row::{REPORT_COLUMNS, ReportRow};
use crate::task::ReportOrSumTask;
use crate::task::task_file::{ReportTaskFile, TaskFile};
use crate::text_file::{self, without_byte_order_mark};

/// Magic bytes at the start of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

enum ReportFileReader {
    Csv(WholeFileReader),
    Json(WholeFileReader),
    Parquet(Box<ParquetFile>),
}

struct OpenedReportFile {
    path: PathBuf,
    file_reader: ReportFileReader,
    description: Option<ReportsDescription>,
}

/// Files of reports of one task.
pub(crate) struct ReportFiles {
    task: Task,
    opened_files: Vec<OpenedReportFile>,
}

/// Task and its fingerprint, from a description next to reports or from a response of the
/// collector.
#[derive(Deserialize)]
struct TaskWithFingerprint {
    task: Task,
    fingerprint: Fingerprint,
}

/// Reads a task from one of three kinds of file: a task file, a description next to reports, or a
/// saved response of `GET /tasks/{id}`.
///
/// # Errors
/// When the file is none of these.
pub(crate) fn read_task_from_any_file(
    path: &Path,
) -> Result<Task, Box<dyn std::error::Error + Send + Sync>> {
    let text = text_file::read_text_file(path).map_err(|source| file_access_error(path, source))?;
    match serde_json::from_str::<TaskWithFingerprint>(&text) {
        Ok(TaskWithFingerprint { task, fingerprint }) if task.fingerprint() == fingerprint => {
            Ok(task)
        }
        Ok(TaskWithFingerprint { task, fingerprint }) => Err(ReadError::TaskMismatch {
            path: display_path(path),
            expected: fingerprint,
            found: task.fingerprint(),
        }
        .into()),
        Err(_) => Ok(ReportTaskFile::read(path)?.resolve_only_task()?),
    }
}

/// Does the same as [`read_task_from_any_file`], and also reads task files of sums and of several
/// labels. Returns the tasks of all labels, or one task.
///
/// # Errors
/// Same as [`read_task_from_any_file`].
pub(crate) fn read_report_or_sum_tasks(
    path: &Path,
) -> Result<Vec<ReportOrSumTask>, Box<dyn std::error::Error + Send + Sync>> {
    let file = TaskFile::read(path);
    match file.and_then(|file| file.resolve_labelled_tasks()) {
        Ok(tasks) => Ok(tasks),
        Err(_) => Ok(vec![read_task_from_any_file(path)?.into()]),
    }
}

impl ReportFiles {
    /// Opens files of reports. All reports belong to the given task or, if none is given, to the
    /// task in the descriptions.
    ///
    /// # Errors
    /// When a file does not contain reports, or the files belong to different tasks.
    pub(crate) fn new(opened: Vec<PeekedFile>, given: Option<Task>) -> Result<Self, ReadError> {
        let opened = opened.into_iter().map(OpenedReportFile::new);
        let opened: Vec<OpenedReportFile> = opened.collect::<Result<_, _>>()?;
        // Without a given task, each file needs a description. The description of one file need not
        // hold for another file.
        let silent = opened.iter().find(|file| file.description.is_none());
        if let (Some(silent), None) = (silent, &given) {
            return Err(ReadError::UnknownReportTask {
                path: display_path(&silent.path),
                description_file: display_path(&description_path(&silent.path)),
            });
        }
        let mut described = opened.iter().filter_map(|file| file.description.as_ref());
        let task = given.or_else(|| described.next().map(|first| first.task.clone()));
        let task = task.ok_or(ReadError::NoFiles)?;
        let expected = task.fingerprint();
        for file in &opened {
            match &file.description {
                Some(ReportsDescription { fingerprint, .. }) if *fingerprint != expected => {
                    return Err(ReadError::TaskMismatch {
                        path: display_path(&file.path),
                        expected,
                        found: *fingerprint,
                    });
                }
                _ => {}
            }
        }
        Ok(Self {
            task,
            opened_files: opened,
        })
    }

    /// Returns the task of the reports.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Calls `visit` with every report of all files.
    ///
    /// # Errors
    /// When a row is invalid, a batch is in two files, or reports of a batch are missing.
    pub(crate) fn for_each_report(self, mut visit: impl FnMut(&Report)) -> Result<(), ReadError> {
        let mut seen: BTreeMap<u64, String> = BTreeMap::new();
        for file in self.opened_files {
            let path = file.path.clone();
            let description = file.description.clone();
            let counts = file.for_each_report(&self.task, &mut visit)?;
            for &batch in counts.keys() {
                if let Some(other) = seen.insert(batch, display_path(&path)) {
                    return Err(ReadError::DuplicateBatch {
                        path: display_path(&path),
                        other,
                        batch,
                    });
                }
            }
            if let Some(description) = description {
                check_report_counts(&path, &description, &counts)?;
            }
        }
        Ok(())
    }
}

/// Checks that a file contains exactly the reports of the batches in its description.
fn check_report_counts(
    path: &Path,
    description: &ReportsDescription,
    counts: &BTreeMap<u64, u64>,
) -> Result<(), ReadError> {
    let mut expected: BTreeMap<u64, u64> = counts.keys().map(|&batch| (batch, 0)).collect();
    let described = description.batches.iter();
    expected.extend(described.map(|batch| (batch.number, batch.reports)));
    for (batch, expected) in expected {
        let found = counts.get(&batch).copied().unwrap_or(0);
        if found != expected {
            return Err(ReadError::ReportCountMismatch {
                path: display_path(path),
                batch,
                found,
                expected,
            });
        }
    }
    Ok(())
}

impl OpenedReportFile {
    fn new(opened: PeekedFile) -> Result<Self, ReadError> {
        let path = &*opened.path().to_owned();
        let kind = match opened.beginning() {
            beginning if beginning.starts_with(PARQUET_MAGIC) => ReportFileReader::Parquet(
                Box::new(ParquetFile::open(path, opened.into_seekable()?)?),
            ),
            [b'{', ..] => ReportFileReader::Json(opened.into_reader()),
            _ => ReportFileReader::Csv(opened.into_reader()),
        };
        let description_file = description_path(path);
        let inside = match &kind {
            ReportFileReader::Parquet(file) => file.description().map(str::to_owned),
            ReportFileReader::Csv(_) | ReportFileReader::Json(_) => None,
        };
        // Most tools drop the footer when they save Parquet again, so the description file is the
        // fallback.
        let (told_by, told) = match inside {
            Some(text) => (path, Some(text)),
            None => match text_file::read_text_file(&description_file) {
                Ok(text) => (&*description_file, Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => (path, None),
                Err(source) => return Err(file_access_error(&description_file, source)),
            },
        };
        let description = told
            .map(|text| ReportsDescription::parse(&text))
            .transpose();
        let description = description.map_err(|wrong| ReadError::InvalidDescription {
            path: display_path(told_by),
            wrong,
        })?;
        Ok(Self {
            path: path.to_owned(),
            file_reader: kind,
            description,
        })
    }

    /// Calls `visit` with every report, and returns the number of reports of each batch.
    fn for_each_report(
        self,
        task: &Task,
        visit: &mut dyn FnMut(&Report),
    ) -> Result<BTreeMap<u64, u64>, ReadError> {
        let mut counts = BTreeMap::new();
        let path = &*self.path;
        let what = match self.file_reader {
            ReportFileReader::Parquet(_) => "row",
            ReportFileReader::Csv(_) | ReportFileReader::Json(_) => "line",
        };
        let mut take = |number: u64, row: Result<ReportRow, String>| {
            let report = row.and_then(|row| Ok((row.batch, row.decode(task)?)));
            let (batch, report) = report.map_err(|wrong| ReadError::InvalidRow {
                path: display_path(path),
                what,
                number,
                wrong,
            })?;
            *counts.entry(batch).or_default() += 1;
            visit(&report);
            Ok(())
        };
        match self.file_reader {
            ReportFileReader::Csv(file) => for_each_csv_row(path, file, &mut take)?,
            ReportFileReader::Json(file) => for_each_json_row(path, file, &mut take)?,
            ReportFileReader::Parquet(file) => {
                let rows = file.rows().map_err(|source| ReadError::Parquet {
                    path: display_path(path),
                    source,
                })?;
                (1..)
                    .zip(rows)
                    .try_for_each(|(number, row)| take(number, row))?;
            }
        }
        Ok(counts)
    }
}

type RowVisitor<'a> = dyn FnMut(u64, Result<ReportRow, String>) -> Result<(), ReadError> + 'a;

fn for_each_csv_row(
    path: &Path,
    file: WholeFileReader,
    take: &mut RowVisitor<'_>,
) -> Result<(), ReadError> {
    let mut reader = csv::Reader::from_reader(file);
    let header = reader
        .headers()
        .map(|header| header.iter().eq(REPORT_COLUMNS));
    if !header.is_ok_and(|ours| ours) {
        return Err(ReadError::NoReports {
            path: display_path(path),
        });
    }
    let mut record = csv::StringRecord::new();
    loop {
        let number = reader.position().line();
        let row = match reader.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => record.deserialize::<ReportRow>(None),
            Err(error) => Err(error),
        };
        let number = record.position().map_or(number, csv::Position::line);
        match row {
            Ok(row) => take(number, Ok(row))?,
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(source) => return Err(file_access_error(path, source)),
                csv::ErrorKind::Deserialize { err, .. } => {
                    let field = err.field().unwrap_or_default() as usize;
                    let (column, cell) = (REPORT_COLUMNS[field], &record[field]);
                    take(number, Err(format!("{column} is {cell:?}: {}", err.kind())))?;
                }
                csv::ErrorKind::UnequalLengths { len, .. } => {
                    let columns = REPORT_COLUMNS.len();
                    take(
                        number,
                        Err(format!("it has {len} fields, expected {columns}")),
                    )?;
                }
                csv::ErrorKind::Utf8 { .. } => take(number, Err("expected UTF-8".to_owned()))?,
                _ => take(number, Err("expected CSV".to_owned()))?,
            },
        }
    }
}

fn for_each_json_row(
    path: &Path,
    mut file: WholeFileReader,
    take: &mut RowVisitor<'_>,
) -> Result<(), ReadError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = file.read_until(b'\n', &mut line);
        if read.map_err(|source| file_access_error(path, source))? == 0 {
            break;
        }
        let row = serde_json::from_slice::<ReportRow>(without_byte_order_mark(&line));
        take(number, row.map_err(|error| error.to_string()))?;
    }
    Ok(())
}
