//! Questions on a grid: files, canonical bytes, choosing.

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

fn grid() -> Value {
    json!({ "name": "grid", "drawn": 2, "steps": 3 })
}

fn task() -> Task {
    draft(&grid(), 4.0).resolve().unwrap()
}

#[test]
fn grids_are_written_and_read() {
    let task = task();
    assert_eq!(task.questions()[0].mechanism().name(), "grid");
    assert_eq!(task.report_bytes(), 9);
    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
    for cut in 0..bytes.len() {
        assert!(Task::from_canonical_bytes(&bytes[..cut]).is_err());
    }
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(file["questions"][0]["mechanism"], grid());
    assert_eq!(serde_json::from_value::<Task>(file.clone()).unwrap(), task);
    // A complete task is a draft that leaves nothing open.
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    assert_eq!(draft.resolve().unwrap(), task);
    draft.agrees_with(&task).unwrap();
}

/// Whatever changes, the fingerprint does, and a draft that says otherwise differs; the cube
/// with the same corners is another task.
#[test]
fn every_field_of_a_grid_is_in_the_fingerprint() {
    let mut seen = vec![task().fingerprint()];
    for mechanism in [
        json!({ "name": "grid", "drawn": 1, "steps": 3 }),
        json!({ "name": "grid", "drawn": 2, "steps": 4 }),
        json!({ "name": "grid", "drawn": 2, "steps": 1 }),
        json!({ "name": "cube", "drawn": 2, "agreements": 2 }),
        json!({ "name": "cube", "drawn": 2, "agreements": 1 }),
    ] {
        let draft = draft(&mechanism, 4.0);
        let other = draft.resolve().unwrap();
        assert!(!seen.contains(&other.fingerprint()), "{mechanism}");
        seen.push(other.fingerprint());
        let error = draft.agrees_with(&task()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers, "{mechanism}");
    }
}

/// Its bytes, once and for all: name, k, r.
#[test]
fn the_fingerprint_of_a_grid_is_this() {
    let bytes = task().canonical_bytes();
    let number = u64::to_le_bytes;
    let own = [&number(4)[..], b"grid", &number(2), &number(3)].concat();
    let found = bytes.windows(own.len()).any(|window| window == own);
    assert!(found, "{bytes:?}");
    assert_eq!(task().fingerprint().to_string(), FINGERPRINT);
}

const FINGERPRINT: &str = "6df018886b35cac669559df0dae87e75";

#[test]
fn grids_that_make_no_sense_are_refused() {
    let refused = |question: Value, expected: &str| {
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let error = serde_json::from_value::<TaskDraft>(file)
            .map_err(|error| error.to_string())
            .and_then(|draft| draft.resolve().map_err(|error| error.to_string()))
            .unwrap_err();
        assert!(error.contains(expected), "{error}, expected {expected}");
    };
    for (mechanism, expected) in [
        (
            json!({ "name": "grid", "drawn": 3, "steps": 2 }),
            "drawn is 3, expected 1 to 2",
        ),
        (
            json!({ "name": "grid", "drawn": 3 }),
            "drawn is 3, expected 1 to 2",
        ),
        (
            json!({ "name": "grid", "drawn": 1, "steps": 0 }),
            "steps is 0, expected 1 to 1023",
        ),
        (
            json!({ "name": "grid", "drawn": 2, "steps": 64 }),
            "at most 4096 cells",
        ),
        (json!({ "name": "grid", "agreements": 1 }), "agreements"),
    ] {
        refused(layout(&mechanism), expected);
    }
    for mechanism in [json!("grid"), grid()] {
        let flag = json!({ "name": "q", "kind": "flag", "mechanism": mechanism });
        refused(flag, "\"grid\" is for");
        let rated = json!({ "name": "q", "kind": "ratings", "items": 2, "sparsity": 2,
            "value": "real", "mechanism": mechanism });
        refused(rated, "\"grid\" is for");
    }
}

/// Asked for by name its parameters are those of least variance at the worst; else the cube
/// answers, as without it.
#[test]
fn grids_are_chosen_where_they_are_asked_for() {
    let chosen = |mechanism: &Value, epsilon| {
        let choices = draft(mechanism, epsilon).choose().unwrap();
        let mechanism = serde_json::to_value(&choices[0].picked.mechanism).unwrap();
        (mechanism, choices[0].others.len())
    };
    for (epsilon, steps) in [(1.0, 1), (4.0, 2), (8.0, 7)] {
        let (found, others) = chosen(&json!("grid"), epsilon);
        assert_eq!(
            (&found["steps"], others),
            (&json!(steps), 0),
            "{epsilon}: {found}"
        );
    }
    for epsilon in [0.5, 2.0, 4.0, 8.0, 12.0] {
        for open in [json!("auto"), json!("collision")] {
            let (found, others) = chosen(&open, epsilon);
            assert_eq!((&found["name"], others), (&json!("cube"), 0));
        }
    }
}

/// Where little of a report may tell, the cube has too few corners: of cells there may be
/// more.
#[test]
fn grids_hide_what_the_cube_does_not() {
    let question = json!({ "name": "q", "kind": "numbers", "of": [
        { "name": "x", "min": 0, "max": 1 },
    ] });
    let file = json!({ "id": "t", "epsilon": 4.0, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    let hiding = |alpha| draft.questions[0].choose_hiding(4.0, None, alpha).unwrap();
    let named = |alpha| hiding(alpha).unwrap().picked.mechanism.name();
    let e = 4_f64.exp();
    assert_eq!(named(1.001 / (e + 1.0)), "cube");
    assert_eq!(named(0.999 / (e + 1.0)), "grid");
    assert_eq!(named(1.001 / (e + 1023.0)), "grid");
    assert!(hiding(0.999 / (e + 1023.0)).is_none());
}
