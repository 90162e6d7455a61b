//! Questions with a window: files, canonical bytes, refusals.

use hushbin::{ErrorCode, Task, TaskDraft};
use serde_json::{Value, json};

fn layout(mechanism: &Value) -> Value {
    json!({
        "name": "layout", "kind": "numbers", "mechanism": mechanism, "of": [
            { "name": "width", "min": 0.0, "max": 4000.0, "unit": "px" },
            { "name": "zoom", "min": -1.5, "max": 3.0 },
        ],
    })
}

fn draft(mechanism: &Value, epsilon: f64) -> TaskDraft {
    let questions = [layout(mechanism), json!({ "name": "beta", "kind": "flag" })];
    let file = json!({ "id": "asked", "epsilon": epsilon, "questions": questions });
    serde_json::from_value(file).unwrap()
}

fn window() -> Value {
    json!({ "name": "window", "drawn": 2, "atoms": 5, "favoured": 2, "values": [3, 8] })
}

fn task() -> Task {
    draft(&window(), 4.0).resolve_task().unwrap()
}

#[test]
fn windows_are_written_and_read() {
    let task = task();
    assert_eq!(task.questions()[0].mechanism().name(), "window");
    assert_eq!(task.max_single_report_bytes(), 9);
    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
    for cut in 0..bytes.len() {
        assert!(Task::from_canonical_bytes(&bytes[..cut]).is_err());
    }
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(file["questions"][0]["mechanism"], window());
    assert_eq!(serde_json::from_value::<Task>(file.clone()).unwrap(), task);
    // A complete task is a draft that leaves nothing open.
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    assert_eq!(draft.resolve_task().unwrap(), task);
    draft.check_agrees_with(&task).unwrap();
}

#[test]
fn every_field_of_a_window_is_in_the_fingerprint() {
    let mut seen = vec![task().fingerprint()];
    for (field, value) in [
        ("drawn", json!(1)),
        ("atoms", json!(4)),
        ("favoured", json!(1)),
        ("values", json!([3, 9])),
    ] {
        let mut mechanism = window();
        mechanism[field] = value;
        let draft = draft(&mechanism, 4.0);
        let other = draft.resolve_task().unwrap();
        assert!(!seen.contains(&other.fingerprint()), "{mechanism}");
        seen.push(other.fingerprint());
        let error = draft.check_agrees_with(&task()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers, "{mechanism}");
    }
}

/// Fixed canonical bytes: name, m, t, k, the number of values, and the values.
#[test]
fn the_fingerprint_of_a_window_is_this() {
    let bytes = task().canonical_bytes();
    let number = u64::to_le_bytes;
    let numbers = [2, 5, 2, 2, 3, 8].map(number).concat();
    let own = [&number(6)[..], b"window", &numbers].concat();
    let found = bytes.windows(own.len()).any(|window| window == own);
    assert!(found, "{bytes:?}");
    assert_eq!(task().fingerprint().to_string(), FINGERPRINT);
}

const FINGERPRINT: &str = "d7d2c24187581b560cf8179c55f85afa";

#[test]
fn windows_that_make_no_sense_are_refused() {
    let refused = |question: Value, expected: &str| {
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let error = serde_json::from_value::<TaskDraft>(file)
            .map_err(|error| error.to_string())
            .and_then(|draft| draft.resolve_task().map_err(|error| error.to_string()))
            .unwrap_err();
        assert!(error.contains(expected), "{error}, expected {expected}");
    };
    for (field, value, expected) in [
        ("drawn", json!(3), "drawn is 3, expected 1 to 2"),
        ("atoms", json!(1), "atoms is 1, expected 2 to 4096"),
        ("favoured", json!(3), "favoured is 3, expected 1 to 2"),
        ("values", json!([3]), "half as many as \"atoms\""),
        ("values", json!([8, 3]), "\"values\" must ascend"),
        ("values", json!([3, 1024]), "1024, expected 1 to 1023"),
        ("values", json!([-3, 8]), "-3"),
        ("agreements", json!(1), "agreements"),
    ] {
        let mut mechanism = window();
        mechanism[field] = value;
        refused(layout(&mechanism), expected);
    }
    for mechanism in [json!("window"), window()] {
        let flag = json!({ "name": "q", "kind": "flag", "mechanism": mechanism });
        refused(flag, "\"window\" is only for");
        let rated = json!({ "name": "q", "kind": "ratings", "items": 2, "sparsity": 2,
            "value": "real", "mechanism": mechanism });
        refused(rated, "\"window\" is only for");
    }
}
