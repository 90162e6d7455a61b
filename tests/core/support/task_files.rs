//! Task files with a mechanism under test: refusals and messages, differences between tasks, and
//! open fields of drafts.

use hushbin::{Error, ErrorCode, Fingerprint, RatingsTaskFields, Task, TaskDraft};
use serde_json::{Value, json};

/// A small valid task file with this mechanism.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn task(mechanism: Value) -> Value {
    json!({
        "id": "settings",
        "items": ["dark-mode", "autoplay", "captions"],
        "sparsity": 2,
        "epsilon": 2.0,
        "value": "sign",
        "mechanism": mechanism,
    })
}

/// The task with open items, where any string is an item.
pub(crate) fn open(mut task: Value) -> Value {
    task["items"] = json!("open");
    task["mechanism"]["hashing"] = json!("independent");
    task
}

/// `object` with one field replaced or added.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

/// `object` without one of its fields.
pub(crate) fn without(mut object: Value, field: &str) -> Value {
    object.as_object_mut().unwrap().remove(field).unwrap();
    object
}

pub(crate) fn parse(task: &Value) -> Result<Task, String> {
    serde_json::from_str(&task.to_string()).map_err(|error| error.to_string())
}

pub(crate) fn draft(file: Value) -> TaskDraft {
    serde_json::from_value(file).unwrap()
}

/// Builds a task with the constructor from the parts of a file.
pub(crate) fn construct(task: &Value) -> Result<Task, Error> {
    Task::new(serde_json::from_value::<RatingsTaskFields>(task.clone()).unwrap())
}

/// Checks that the constructor refuses with this code. Deserialisation and a complete draft must
/// give the same message.
pub(crate) fn assert_refused(task: &Value, code: ErrorCode) {
    let error = construct(task).unwrap_err();
    assert_eq!(error.code(), code, "{task}: {error}");
    assert_refused_as(task, &error);
}

/// Checks that deserialisation and a complete draft refuse with this error.
pub(crate) fn assert_refused_as(task: &Value, error: &Error) {
    let text = parse(task).unwrap_err();
    assert!(
        text.starts_with(&error.to_string()),
        "{text} is not {error}"
    );
    assert_eq!(draft(task.clone()).resolve_task().as_ref(), Err(error));
}

/// Checks that a file survives reading and writing, also as a complete draft.
pub(crate) fn assert_survives(file: Value) {
    let task = parse(&file).unwrap();
    assert_eq!(serde_json::to_value(&task).unwrap(), file);
    let draft = draft(file);
    assert_eq!(draft.check_agrees_with(&task), Ok(()));
    assert!(task.achieved_report_epsilon() <= task.epsilon());
    assert_eq!(draft.resolve_task(), Ok(task));
}

/// Checks that all fingerprints differ.
pub(crate) fn assert_all_distinct(files: &[Value]) {
    let mut seen: Vec<Fingerprint> = files
        .iter()
        .map(|file| parse(file).unwrap().fingerprint())
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), files.len());
}

/// Checks that a draft agrees with the task in use, and that its resolved form does, too.
pub(crate) fn assert_agrees(file: &Value, in_use: &Task) {
    let draft = draft(file.clone());
    assert_eq!(draft.check_agrees_with(in_use), Ok(()), "{file}");
    let chosen = draft.resolve_task().unwrap();
    assert_eq!(draft.check_agrees_with(&chosen), Ok(()), "{file}");
}

/// Checks that a draft differs from the task in use, and that this field is named. Returns the
/// message.
pub(crate) fn assert_differs(file: &Value, in_use: &Task, expected: &str) -> String {
    let error = draft(file.clone()).check_agrees_with(in_use).unwrap_err();
    match &error {
        Error::TaskDiffers { field, .. } => assert_eq!(*field, expected, "{file}"),
        other => panic!("{expected}: {other:?}"),
    }
    error.to_string()
}
