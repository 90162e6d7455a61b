//! Task files: where they are read, resolved and written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hushbin::choose::QuestionChoice;
use hushbin::{Task, TaskDraft};
use hushbin_analysis::accounting::AccountError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::collected::{CollectedDraft, CollectedTask};
use crate::text;

/// A task file that was read; what it leaves out is still open.
#[derive(Debug, Clone)]
pub(crate) struct ReportTaskFile {
    path: PathBuf,
    /// What the file says.
    pub(crate) draft: TaskDraft,
}

/// What is wrong with a task file, behind its path.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub(crate) struct TaskFileError {
    path: String,
    #[source]
    cause: Cause,
}

/// What can be wrong with a task file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a task; the message names line and column.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Its parameters are out of range, or do not go together.
    #[error(transparent)]
    Parameters(#[from] hushbin::Error),
    /// Its reports cannot be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// It is of sums that a shuffler hides, which the command has no use for.
    #[error(
        "its sums are hidden by a shuffler alone (\"trust\"): this command is for reports that \
         are private by themselves"
    )]
    Sums,
}

/// A task file that was read, of either trust.
#[derive(Debug, Clone)]
pub(crate) struct TaskFile {
    path: PathBuf,
    /// What the file says.
    pub(crate) draft: CollectedDraft,
}

impl TaskFile {
    /// Reads a task file.
    ///
    /// # Errors
    /// As [`ReportTaskFile::read`].
    pub(crate) fn read(path: &Path) -> Result<Self, TaskFileError> {
        let text = text::read(path).map_err(|error| error_of_file(path, error))?;
        let draft = CollectedDraft::parse(&text).map_err(|error| error_of_file(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            draft,
        })
    }

    /// The complete task.
    ///
    /// # Errors
    /// When its parameters have no meaning, or hide too little.
    pub(crate) fn resolve(&self) -> Result<CollectedTask, TaskFileError> {
        self.draft.resolve().map_err(|error| self.error(error))
    }

    /// An error of what the file says.
    pub(crate) fn error(&self, cause: impl Into<Cause>) -> TaskFileError {
        error_of_file(&self.path, cause)
    }

    /// The file, where its reports are private by themselves.
    ///
    /// # Errors
    /// [`Cause::Sums`] where they are not.
    fn reports(self) -> Result<ReportTaskFile, TaskFileError> {
        match self.draft {
            CollectedDraft::Reports(draft) => Ok(ReportTaskFile {
                path: self.path,
                draft,
            }),
            CollectedDraft::Sums(_) => Err(error_of_file(&self.path, Cause::Sums)),
        }
    }
}

impl ReportTaskFile {
    /// Reads a task file.
    ///
    /// # Errors
    /// When it cannot be read or is not a task. Whether its parameters have a
    /// meaning shows when it is resolved.
    pub(crate) fn read(path: &Path) -> Result<Self, TaskFileError> {
        TaskFile::read(path)?.reports()
    }

    /// The complete task.
    ///
    /// # Errors
    /// When its parameters have no meaning.
    pub(crate) fn resolve(&self) -> Result<Task, TaskFileError> {
        self.draft.resolve().map_err(|error| self.error(error))
    }

    /// The complete task, and what else could have been chosen for each question.
    ///
    /// # Errors
    /// As [`ReportTaskFile::resolve`].
    pub(crate) fn choose(&self) -> Result<(Task, Vec<QuestionChoice>), TaskFileError> {
        let choices = self.draft.choose().map_err(|error| self.error(error))?;
        let task = self.draft.task_of(&choices);
        Ok((task.map_err(|error| self.error(error))?, choices))
    }

    /// An error of what the file says.
    pub(crate) fn error(&self, cause: impl Into<Cause>) -> TaskFileError {
        error_of_file(&self.path, cause)
    }
}

/// Reads a file of JSON.
///
/// # Errors
/// When it cannot be read or has another shape.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, TaskFileError> {
    text::read(path)
        .map_err(Cause::from)
        .and_then(|text| Ok(serde_json::from_str(&text)?))
        .map_err(|cause| error_of_file(path, cause))
}

/// Writes a complete task to a file.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(path: &Path, task: &impl Serialize) -> Result<(), TaskFileError> {
    let text = serde_json::to_string_pretty(task).map_err(|error| error_of_file(path, error))?;
    write_text(path, &(text + "\n"))
}

/// Writes what is made of a task to a file.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), TaskFileError> {
    fs::write(path, text).map_err(|error| error_of_file(path, error))
}

fn error_of_file(path: &Path, cause: impl Into<Cause>) -> TaskFileError {
    TaskFileError {
        path: path.display().to_string(),
        cause: cause.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_what_is_wrong_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("task.json");
        let shown = path.display();
        let error = ReportTaskFile::read(&path).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{shown}: No such file")),
            "{error}"
        );

        fs::write(&path, "{\n \"id\": 3 }").unwrap();
        let error = ReportTaskFile::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("task.json: ") && error.contains("line 2"),
            "{error}"
        );

        let text = r#"{ "id": "t", "items": 4, "sparsity": 5, "epsilon": 1.0, "value": "sign" }"#;
        fs::write(&path, text).unwrap();
        let file = ReportTaskFile::read(&path).unwrap();
        for error in [file.resolve().unwrap_err(), file.choose().unwrap_err()] {
            let expected = format!("{shown}: sparsity is 5, expected 1 to 4");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_task() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("task.json");
        let text = r#"{ "id": "t", "items": 4, "sparsity": 2, "epsilon": 0.1, "value": "real" }"#;
        // With the mark that some editors put first.
        fs::write(&path, format!("\u{feff}{text}")).unwrap();
        let task = ReportTaskFile::read(&path).unwrap().resolve().unwrap();
        write(&path, &task).unwrap();
        assert_eq!(
            ReportTaskFile::read(&path).unwrap().resolve().unwrap(),
            task
        );
    }
}
