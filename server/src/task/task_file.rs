//! Task files: reading, resolving and writing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hushbin::choose::ChosenQuestion;
use hushbin::task::check_task_id;
use hushbin::{Task, TaskDraft};
use hushbin_analysis::accounting::AccountingError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::collected::{ReportOrSumDraft, ReportOrSumTask};
use super::file_keys;
use crate::text_file;

/// Contents of a task file for local-DP reports. Parameters that are not in the file have not been
/// chosen yet.
#[derive(Debug, Clone)]
pub(crate) struct ReportTaskFile {
    path: PathBuf,
    /// Draft of the task, read from the file. It has no label.
    pub(crate) draft: TaskDraft,
    /// Labels of the task, or none.
    pub(crate) labels: Vec<String>,
}

/// Error of a task file, with the file's path.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub(crate) struct TaskFileError {
    path: String,
    #[source]
    cause: TaskFileErrorCause,
}

/// Cause of a [`TaskFileError`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskFileErrorCause {
    /// File that cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Text that is not a task; the message contains line and column.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Parameters out of range or in conflict.
    #[error(transparent)]
    Parameters(#[from] hushbin::Error),
    /// Task for which no privacy account can be computed.
    #[error(transparent)]
    NoPrivacyAccount(#[from] AccountingError),
    /// File that describes a task for each label, where one task is expected.
    #[error(
        "this file describes one task for each label, expected the task of one label, such as a \
         response of GET /tasks/{example}"
    )]
    SeveralLabels {
        /// Id of one of these tasks.
        example: String,
    },
    /// Task of shuffled sums, in a command that supports only reports.
    #[error(
        "this is a task of sums, which only the shuffler protects (\"trust\"); this command needs \
         a task whose reports have a local ε"
    )]
    UnexpectedSumTask,
}

/// Contents of a task file, for reports or for sums.
#[derive(Debug, Clone)]
pub(crate) struct TaskFile {
    path: PathBuf,
    /// Draft of the task, read from the file. It has no label.
    draft: ReportOrSumDraft,
    /// Labels of the task, or none.
    labels: Vec<String>,
}

impl TaskFile {
    /// Reads a task file of reports or sums.
    ///
    /// # Errors
    /// When the file cannot be read or is not a task. [`resolve`](Self::resolve_task) checks its
    /// parameters.
    pub(crate) fn read(path: &Path) -> Result<Self, TaskFileError> {
        let text = text_file::read_text_file(path).map_err(|error| error_of_file(path, error))?;
        let (draft, labels) =
            ReportOrSumDraft::parse_file(&text).map_err(|error| error_of_file(path, error))?;
        for label in &labels {
            check_task_id(&format!("{}:{label}", draft.id()))
                .map_err(|error| error_of_file(path, error))?;
        }
        Ok(Self {
            path: path.to_owned(),
            draft,
            labels,
        })
    }

    /// Returns the labels of the task, or none.
    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the drafts of all tasks that the file describes: one for each label, or one.
    pub(crate) fn into_drafts(self) -> Vec<ReportOrSumDraft> {
        if self.labels.is_empty() {
            return vec![self.draft];
        }
        let labelled = |label: &String| self.draft.clone().with_label(label);
        self.labels.iter().map(labelled).collect()
    }

    /// Returns all tasks that the file describes, complete: one for each label, or one.
    ///
    /// # Errors
    /// Same as [`TaskFile::resolve_task`].
    pub(crate) fn resolve_labelled_tasks(&self) -> Result<Vec<ReportOrSumTask>, TaskFileError> {
        let task = self.resolve_task()?;
        if self.labels.is_empty() {
            return Ok(vec![task]);
        }
        let tasks = self.labels.iter().map(|label| task.with_label(label));
        tasks
            .collect::<Result<_, _>>()
            .map_err(|error| self.content_error(error))
    }

    /// Returns the complete task, without a label.
    ///
    /// # Errors
    /// When parameters are out of range, contradict each other or hide too little.
    pub(crate) fn resolve_task(&self) -> Result<ReportOrSumTask, TaskFileError> {
        self.draft
            .resolve_task()
            .map_err(|error| self.content_error(error))
    }

    /// Returns an error about the content of this file.
    pub(crate) fn content_error(&self, cause: impl Into<TaskFileErrorCause>) -> TaskFileError {
        error_of_file(&self.path, cause)
    }

    /// Converts to a task file of local-DP reports.
    ///
    /// # Errors
    /// [`TaskFileErrorCause::UnexpectedSumTask`] for a task of sums.
    fn into_report_task_file(self) -> Result<ReportTaskFile, TaskFileError> {
        match self.draft {
            ReportOrSumDraft::Reports(draft) => Ok(ReportTaskFile {
                path: self.path,
                draft,
                labels: self.labels,
            }),
            ReportOrSumDraft::Sums(_) => Err(error_of_file(
                &self.path,
                TaskFileErrorCause::UnexpectedSumTask,
            )),
        }
    }
}

impl ReportTaskFile {
    /// Reads a task file of local-DP reports.
    ///
    /// # Errors
    /// When the file cannot be read or is not such a task. [`resolve`](Self::resolve_task) checks its
    /// parameters.
    pub(crate) fn read(path: &Path) -> Result<Self, TaskFileError> {
        TaskFile::read(path)?.into_report_task_file()
    }

    /// Returns the complete task.
    ///
    /// # Errors
    /// When parameters are out of range or contradict each other.
    pub(crate) fn resolve_task(&self) -> Result<Task, TaskFileError> {
        self.draft
            .resolve_task()
            .map_err(|error| self.content_error(error))
    }

    /// Returns the only task that the file describes, complete.
    ///
    /// # Errors
    /// Same as [`ReportTaskFile::resolve_task`], and if the file has labels.
    pub(crate) fn resolve_only_task(&self) -> Result<Task, TaskFileError> {
        match self.labels.first() {
            Some(label) => Err(self.content_error(TaskFileErrorCause::SeveralLabels {
                example: format!("{}:{label}", self.draft.id),
            })),
            None => self.resolve_task(),
        }
    }

    /// Returns the complete task, and the possible choices for each question.
    ///
    /// # Errors
    /// Same as [`ReportTaskFile::resolve_task`].
    pub(crate) fn resolve_task_and_choices(
        &self,
    ) -> Result<(Task, Vec<ChosenQuestion>), TaskFileError> {
        let choices = self
            .draft
            .choices_per_question()
            .map_err(|error| self.content_error(error))?;
        let task = self.draft.task_from_choices(&choices);
        Ok((task.map_err(|error| self.content_error(error))?, choices))
    }

    /// Returns an error about the content of this file.
    pub(crate) fn content_error(&self, cause: impl Into<TaskFileErrorCause>) -> TaskFileError {
        error_of_file(&self.path, cause)
    }
}

/// Reads a JSON file, and parses it as a `T` and the labels of a task, or none.
///
/// # Errors
/// When the file cannot be read or has another structure.
pub(crate) fn read_json<T: DeserializeOwned>(
    path: &Path,
) -> Result<(T, Vec<String>), TaskFileError> {
    text_file::read_text_file(path)
        .map_err(TaskFileErrorCause::from)
        .and_then(|text| Ok(file_keys::parse_with_file_keys(&text)?))
        .map_err(|cause| error_of_file(path, cause))
}

/// Label of a task, and the fingerprint of the task that has this label.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LabelFingerprint {
    pub(crate) label: String,
    pub(crate) fingerprint: String,
}

/// Returns the fingerprint for each label of a task.
///
/// # Errors
/// Same as [`ReportOrSumTask::with_label`].
pub(crate) fn label_fingerprints(
    task: &ReportOrSumTask,
    labels: &[String],
) -> serde_json::Result<Vec<LabelFingerprint>> {
    let each = labels.iter().map(|label| {
        Ok(LabelFingerprint {
            label: label.clone(),
            fingerprint: task.with_label(label)?.fingerprint().to_string(),
        })
    });
    each.collect()
}

/// Complete task with the labels of its file.
#[derive(Serialize)]
pub(crate) struct LabelledTask<'a, T> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) labels: &'a [String],
    #[serde(flatten)]
    pub(crate) task: &'a T,
}

/// Writes a complete task with its labels to a file, as indented JSON.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write_task(
    path: &Path,
    task: &impl Serialize,
    labels: &[String],
) -> Result<(), TaskFileError> {
    let text = serde_json::to_string_pretty(&LabelledTask { labels, task })
        .map_err(|error| error_of_file(path, error))?;
    write_text(path, &(text + "\n"))
}

/// Writes `text`, which was generated from a task, to a file.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), TaskFileError> {
    fs::write(path, text).map_err(|error| error_of_file(path, error))
}

fn error_of_file(path: &Path, cause: impl Into<TaskFileErrorCause>) -> TaskFileError {
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
        for error in [
            file.resolve_task().unwrap_err(),
            file.resolve_task_and_choices().unwrap_err(),
        ] {
            let expected = format!("{shown}: sparsity is 5, expected 1 to 4");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_task() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("task.json");
        let text = r#"{ "id": "t", "items": 4, "sparsity": 2, "epsilon": 0.1, "value": "real" }"#;
        // With the byte order mark that some editors put first.
        fs::write(&path, format!("\u{feff}{text}")).unwrap();
        let task = ReportTaskFile::read(&path).unwrap().resolve_task().unwrap();
        write_task(&path, &task, &[]).unwrap();
        assert_eq!(
            ReportTaskFile::read(&path).unwrap().resolve_task().unwrap(),
            task
        );
    }
}
