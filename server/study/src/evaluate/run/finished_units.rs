//! Files of runs: one file for each experiment, with one line of JSON for the measurements of each
//! finished unit. An interrupted study resumes from these files.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluate::measure::experiment::{Measurement, StudyError};

/// Identity of the study to which a file of runs belongs. It is the file's first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StudyIdentity {
    /// Version of the program, since a different version may measure differently.
    pub(crate) version: String,
    pub(crate) preset: String,
    pub(crate) seed: u64,
    pub(crate) experiment: String,
}

/// Line of a file of runs, with the measurements of one finished unit.
#[derive(Debug, Serialize, Deserialize)]
struct FinishedUnit {
    unit: String,
    measured: Vec<Measurement>,
}

/// File of runs of one experiment, with the measurements that the file contains.
#[derive(Debug)]
pub(crate) struct FinishedUnitsFile {
    path: PathBuf,
    file: File,
    measurements_by_unit: HashMap<String, Vec<Measurement>>,
}

impl FinishedUnitsFile {
    /// Opens the file of an experiment, or creates it. An incomplete last line is removed.
    ///
    /// # Errors
    /// [`StudyError::Io`] if the file cannot be read or written. [`StudyError::InvalidRunsFile`] if it belongs
    /// to another study, has other content, or is locked by a running study.
    pub(crate) fn open(path: &Path, study: &StudyIdentity) -> Result<Self, StudyError> {
        let failed = |source| StudyError::file_error(path, source);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        // The lock ends with the process, so a killed study does not block the next one.
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StudyError::InvalidRunsFile {
                path: path.display().to_string(),
                reason: "another study is writing there".to_owned(),
            },
            TryLockError::Error(source) => failed(source),
        })?;
        let mut reader = BufReader::new(&file);
        let (mut whole, mut line, mut number) = (0, String::new(), 0);
        let mut done = HashMap::new();
        loop {
            line.clear();
            let read = reader.read_line(&mut line).map_err(failed)?;
            // A line without an end is left over from an interrupted write.
            if !line.ends_with('\n') {
                break;
            }
            number += 1;
            read_unit_line(path, number, &line, study, &mut done)?;
            whole += read as u64;
        }
        // The next line must not be appended to an incomplete one.
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::Start(whole)).map_err(failed)?;
        let mut runs = Self {
            path: path.to_owned(),
            file,
            measurements_by_unit: done,
        };
        // The first line identifies the study.
        if whole == 0 {
            runs.append_line(study)?;
        }
        Ok(runs)
    }

    /// Returns true if the unit with this name has finished.
    pub(crate) fn has_finished(&self, unit: &str) -> bool {
        self.measurements_by_unit.contains_key(unit)
    }

    /// Appends the measurements of a finished unit to the file.
    ///
    /// # Errors
    /// [`StudyError::Io`] if the file cannot be written.
    pub(crate) fn append_unit(
        &mut self,
        unit: String,
        measured: Vec<Measurement>,
    ) -> Result<(), StudyError> {
        let done = FinishedUnit { unit, measured };
        self.append_line(&done)?;
        self.measurements_by_unit.insert(done.unit, done.measured);
        Ok(())
    }

    /// Returns the measurements of these units, in the order of `units`.
    pub(crate) fn measurements_of<'a>(
        &'a self,
        units: impl IntoIterator<Item = &'a str> + 'a,
    ) -> impl Iterator<Item = &'a Measurement> + 'a {
        let all = units
            .into_iter()
            .filter_map(|unit| self.measurements_by_unit.get(unit));
        all.flatten()
    }

    /// Writes a line, including its end, in a single call. An interruption can therefore leave only
    /// the last line incomplete, without its line break.
    fn append_line(&mut self, line: &impl Serialize) -> Result<(), StudyError> {
        let failed = |source| StudyError::file_error(&self.path, source);
        let mut bytes = serde_json::to_vec(line)
            .map_err(|error| failed(std::io::Error::new(ErrorKind::InvalidData, error)))?;
        bytes.push(b'\n');
        self.file.write_all(&bytes).map_err(failed)
    }
}

fn read_unit_line(
    path: &Path,
    number: usize,
    line: &str,
    study: &StudyIdentity,
    done: &mut HashMap<String, Vec<Measurement>>,
) -> Result<(), StudyError> {
    let refused = |reason: String| StudyError::InvalidRunsFile {
        path: path.display().to_string(),
        reason,
    };
    let unread = |error: serde_json::Error| refused(format!("line {number}: {error}"));
    if number == 1 {
        let own: StudyIdentity = serde_json::from_str(line).map_err(unread)?;
        if own != *study {
            return Err(refused(format!(
                "it is of version {}, preset {}, seed {} and experiment {}, not of {}, {}, {} \
                 and {}: give another directory, or remove the file",
                own.version,
                own.preset,
                own.seed,
                own.experiment,
                study.version,
                study.preset,
                study.seed,
                study.experiment,
            )));
        }
        return Ok(());
    }
    let own: FinishedUnit = serde_json::from_str(line).map_err(unread)?;
    done.insert(own.unit, own.measured);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::measure::experiment::MeasurementPoint;

    fn study() -> StudyIdentity {
        StudyIdentity {
            version: "1".to_owned(),
            preset: "quick".to_owned(),
            seed: 1,
            experiment: "e".to_owned(),
        }
    }

    fn measured(value: f64) -> Vec<Measurement> {
        vec![Measurement {
            point: MeasurementPoint {
                people: 1,
                items: 2,
                sparsity: 1,
                epsilon: 0.1,
                delta: 0.0,
                parameter: 0.0,
            },
            mechanism: "m".to_owned(),
            estimand: "mean".to_owned(),
            metric: "MSE".to_owned(),
            value,
        }]
    }

    /// Checks that complete lines of the file are kept after an interruption, and that units
    /// without a complete line are measured again.
    #[test]
    fn a_study_goes_on_wherever_it_was_cut_off() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("e.jsonl");
        let mut runs = FinishedUnitsFile::open(&path, &study()).unwrap();
        runs.append_unit("a".to_owned(), measured(0.1 + 0.2))
            .unwrap();
        runs.append_unit("b".to_owned(), measured(-1e-300)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..=whole.len())
            .filter(|end| *end > 0 && whole[end - 1] == b'\n')
            .collect();
        drop(runs);
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut runs = FinishedUnitsFile::open(&path, &study()).unwrap();
            let lines = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(runs.has_finished("a"), lines >= 2);
            assert_eq!(runs.has_finished("b"), lines >= 3);
            for (unit, value) in [("a", 0.1 + 0.2), ("b", -1e-300)] {
                if !runs.has_finished(unit) {
                    runs.append_unit(unit.to_owned(), measured(value)).unwrap();
                }
            }
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
            drop(runs);
            let again = FinishedUnitsFile::open(&path, &study()).unwrap();
            let values: Vec<f64> = again
                .measurements_of(["b", "a"])
                .map(|own| own.value)
                .collect();
            assert_eq!(values, [-1e-300, 0.1 + 0.2]);
        }
    }

    /// Two studies on one file would overwrite each other's lines without the lock.
    #[test]
    fn two_studies_do_not_write_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("e.jsonl");
        let first = FinishedUnitsFile::open(&path, &study()).unwrap();
        let error = FinishedUnitsFile::open(&path, &study())
            .unwrap_err()
            .to_string();
        assert!(error.contains("another study"), "{error}");
        drop(first);
        FinishedUnitsFile::open(&path, &study()).unwrap();
    }

    #[test]
    fn another_studys_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("e.jsonl");
        FinishedUnitsFile::open(&path, &study()).unwrap();
        let other = StudyIdentity { seed: 2, ..study() };
        let error = FinishedUnitsFile::open(&path, &other)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("seed 1") && error.contains("another directory"),
            "{error}"
        );
        std::fs::write(&path, "nothing of ours\n").unwrap();
        let error = FinishedUnitsFile::open(&path, &study())
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 1"), "{error}");
    }
}
