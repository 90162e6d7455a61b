//! Budgets of one person's reports: task files with a budget, and the resulting limits.

use hushbin::task::{CoverParameters, ReportBudget};
use hushbin::{Error, ErrorCode, Task, TaskDraft, bounds};
use serde_json::{Value, json};

use crate::support::task_files::{draft, parse, task, with};

/// A task in both forms, complete except for its budget.
fn files() -> [Value; 2] {
    let mechanism = json!({
        "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced",
        "buckets": 4,
    });
    let question = json!({
        "name": "theme", "kind": "choice", "options": ["dark", "light"], "mechanism": mechanism,
    });
    let named = json!({ "id": "visits", "epsilon": 1.0, "questions": [question] });
    [task(mechanism), named]
}

fn budget(days: u32, reports: u32) -> ReportBudget {
    ReportBudget::new(days, reports, None).unwrap()
}

/// Task of a file with this budget. A draft gives the same task.
fn task_of(file: &Value, budget: Value) -> Task {
    let file = with(file.clone(), "budget", budget);
    let task = parse(&file).unwrap();
    assert_eq!(draft(file).resolve_task().as_ref(), Ok(&task));
    task
}

/// Tasks without a budget keep the fingerprint that they had before budgets existed.
#[test]
fn no_budget_and_the_default_are_the_same() {
    let old = json!({
        "id": "named-sign", "items": ["dark-mode", "autoplay", "captions"], "sparsity": 2,
        "epsilon": 2.0, "value": "sign", "mechanism": {
            "name": "collision", "rule": "heaviest", "favoured": 2, "hashing": "balanced",
            "buckets": 8,
        },
    });
    let vectors: Value = serde_json::from_str(include_str!("../vectors/collision.json")).unwrap();
    let known = &vectors[0]["outcome"];
    assert_eq!(known["task"]["id"], "named-sign");
    for file in files().into_iter().chain([old]) {
        let without = parse(&file).unwrap();
        assert_eq!(without.report_budget(), ReportBudget::default());
        for same in [
            json!({}),
            json!({ "days": 30 }),
            json!({ "days": 30, "reports": 1 }),
        ] {
            assert_eq!(task_of(&file, same), without);
        }
        if file["id"] == "named-sign" {
            assert_eq!(known["fingerprint"], without.fingerprint().to_string());
        }
        let written = serde_json::to_value(&without).unwrap();
        assert!(written.get("budget").is_none(), "{written}");
        let bytes = without.canonical_bytes();
        assert!(!bytes.windows(6).any(|window| window == b"budget"));
    }
}

#[test]
fn what_is_left_out_is_the_default() {
    for file in files() {
        let mut fingerprints = vec![parse(&file).unwrap().fingerprint()];
        for (said, expected) in [
            (json!({ "days": 7 }), budget(7, 1)),
            (json!({ "reports": 3 }), budget(30, 3)),
            (json!({ "days": 1, "reports": 24 }), budget(1, 24)),
        ] {
            let task = task_of(&file, said);
            assert_eq!(task.report_budget(), expected);
            // The complete file and the canonical bytes give the same task again.
            let written = serde_json::to_value(&task).unwrap();
            assert_eq!(written["budget"], serde_json::to_value(expected).unwrap());
            assert_eq!(written["budget"].as_object().unwrap().len(), 2);
            assert_eq!(parse(&written).as_ref(), Ok(&task));
            let bytes = task.canonical_bytes();
            assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
            fingerprints.push(task.fingerprint());
        }
        fingerprints.sort();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 4);
    }
}

#[test]
fn what_has_no_meaning_is_refused_by_its_name() {
    for file in files() {
        for (said, words) in [
            (
                json!({ "days": 0 }),
                "days of a budget is 0, expected 1 to 3650",
            ),
            (
                json!({ "days": 3651 }),
                "days of a budget is 3651, expected 1 to 3650",
            ),
            (
                json!({ "reports": 0 }),
                "reports of a budget is 0, expected 1 to 10000",
            ),
            (
                json!({ "reports": 10001 }),
                "reports of a budget is 10001, expected 1 to 10000",
            ),
            (json!({ "days": 1.5 }), "expected u32"),
            (json!({ "days": -1 }), "expected u32"),
            (json!({ "answers": "fresh" }), "unknown field `answers`"),
            (json!({ "day": 7 }), "unknown field `day`"),
            (json!(7), "invalid type"),
            (json!(null), "invalid type"),
        ] {
            let file = with(file.clone(), "budget", said);
            let error = parse(&file).unwrap_err();
            assert!(error.contains(words), "{error}");
            let error = serde_json::from_value::<TaskDraft>(file).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    let of = |days, reports| ReportBudget::new(days, reports, None);
    for (bound, at) in [
        (
            bounds::BUDGET_WINDOW_DAYS_RANGE,
            &of as &dyn Fn(u32, u32) -> _,
        ),
        (bounds::REPORTS_PER_WINDOW_RANGE, &|reports, days| {
            of(days, reports)
        }),
    ] {
        let (min, max) = (bound.min as u32, bound.max as u32);
        for (value, good) in [(min - 1, false), (min, true), (max, true), (max + 1, false)] {
            let found: Result<ReportBudget, Error> = at(value, 5);
            assert_eq!(found.is_ok(), good, "{} {value}", bound.name);
        }
    }
}

/// The default has no bytes, and no other bytes mean it. Values out of range are refused.
#[test]
fn bytes_have_one_spelling() {
    for file in files() {
        let task = task_of(&file, json!({ "days": 7 }));
        let bytes = task.canonical_bytes();
        let plain = parse(&file).unwrap().canonical_bytes();
        let head = bytes.strip_suffix(&plain[..]).unwrap();
        assert_eq!(&head[8..24], b"hushbin budget 1");
        let code = |field: usize, value: u64| {
            let mut bytes = bytes.clone();
            let at = 24 + 8 * field;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            Task::from_canonical_bytes(&bytes).map_err(|error| error.code())
        };
        assert_eq!(code(0, 7).as_ref(), Ok(&task));
        assert_eq!(code(0, 30), Err(ErrorCode::Malformed));
        assert_eq!(code(0, 0), Err(ErrorCode::OutOfRange));
        assert_eq!(code(0, 3651), Err(ErrorCode::OutOfRange));
        assert_eq!(code(1, 0), Err(ErrorCode::OutOfRange));
        assert_eq!(code(0, 1 << 32), Err(ErrorCode::Malformed));
        assert_eq!(code(2, 3), Err(ErrorCode::Malformed));
        // A memo or cover reports would follow, but the task's text does.
        assert_eq!(code(2, 1), Err(ErrorCode::Malformed));
        assert_eq!(code(2, 2), Err(ErrorCode::Malformed));
        // A second budget is refused.
        let twice = [head, &bytes].concat();
        assert!(Task::from_canonical_bytes(&twice).is_err());
    }
}

#[test]
fn a_draft_is_held_against_the_budget_in_use() {
    for file in files() {
        let task = task_of(&file, json!({ "days": 7 }));
        let agrees = |budget: Value| {
            let draft = draft(with(file.clone(), "budget", budget));
            draft
                .check_agrees_with(&task)
                .map_err(|error| error.to_string())
        };
        assert_eq!(agrees(json!({ "days": 7, "reports": 1 })), Ok(()));
        for (said, field) in [
            (json!({}), "days"),
            (json!({ "days": 7, "reports": 2 }), "reports"),
        ] {
            let error = agrees(said).unwrap_err();
            assert!(error.contains(&format!("budget's {field}")), "{error}");
        }
        // A file without a budget means the default; it leaves nothing open.
        assert!(draft(file).check_agrees_with(&task).is_err());
    }
}

#[test]
fn windows_of_a_year_are_counted_from_the_first_report() {
    for (days, reports, expected) in [
        (30, 1, 13),
        (365, 1, 1),
        (364, 2, 4),
        (1, 24, 8760),
        (3650, 10_000, 10_000),
        (7, 1, 53),
    ] {
        let budget = budget(days, reports);
        assert_eq!(budget.reports_a_year(), expected);
        // Windows begin every `days` days from day 0.
        let begin = (0..365).step_by(days as usize).count() as u32;
        assert_eq!(budget.reports_a_year(), begin * reports);
    }
}

/// Only these kinds have a "no answer". Everything else about cover reports is refused by its name.
#[test]
fn cover_reports_need_a_no_answer() {
    let [ratings, choice] = files();
    let mut set = choice.clone();
    set["questions"][0] = json!({
        "name": "features", "kind": "set", "options": 4, "sparsity": 2,
        "mechanism": choice["questions"][0]["mechanism"].clone(),
    });
    let mut flag = choice.clone();
    flag["questions"][0] = json!({
        "name": "dark", "kind": "flag", "mechanism": choice["questions"][0]["mechanism"].clone(),
    });
    flag["questions"][0]["mechanism"]["buckets"] = json!(2);
    let cover = json!({ "days": 7, "cover": { "minutes": 30 } });
    for file in [&ratings, &choice, &set, &flag] {
        let task = task_of(file, cover.clone());
        assert_eq!(
            task.report_budget().cover(),
            Some(CoverParameters { minutes: 30 })
        );
        let written = serde_json::to_value(&task).unwrap();
        assert_eq!(written["budget"]["cover"], json!({ "minutes": 30 }));
        let bytes = task.canonical_bytes();
        assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
        // Fields 2 and 3 of the budget: cover reports, and their minutes.
        assert_eq!(bytes[40..48], 2_u64.to_le_bytes());
        assert_eq!(bytes[48..56], 30_u64.to_le_bytes());
        let other = json!({ "days": 7, "cover": { "minutes": 31 } });
        assert_ne!(task_of(file, other).fingerprint(), task.fingerprint());
    }
    let mut number = choice.clone();
    number["questions"][0] = json!({
        "name": "load", "kind": "number", "edges": [0, 1, 2],
        "mechanism": choice["questions"][0]["mechanism"].clone(),
    });
    let number = with(number, "budget", cover.clone());
    let error = parse(&number).unwrap_err();
    assert!(error.contains("question \"load\""), "{error}");
    assert!(error.contains("\"no answer\""), "{error}");
    // Reports at other levels show whether there was an answer.
    let mut events = ratings.clone();
    events["mechanism"] = json!({
        "name": "hash-bin", "level": "event", "hashing": "balanced", "bins": 2, "grid": 1024,
    });
    let error = parse(&with(events, "budget", cover.clone())).unwrap_err();
    assert!(
        error.contains("needs a mechanism with the level \"user\""),
        "{error}"
    );
    for (said, words) in [
        (
            json!({ "minutes": 0 }),
            "minutes of a cover is 0, expected 1 to 10080",
        ),
        (
            json!({ "minutes": 10_081 }),
            "minutes of a cover is 10081, expected 1 to 10080",
        ),
        (json!({ "minutes": 1.5 }), "expected u32"),
        (json!({}), "missing field `minutes`"),
        (json!({ "minutes": 1, "hours": 1 }), "unknown field `hours`"),
        (json!(null), "invalid type"),
    ] {
        let file = with(flag.clone(), "budget", json!({ "days": 7, "cover": said }));
        let error = parse(&file).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    for both in [
        json!({ "reports": 2, "cover": { "minutes": 1 } }),
        json!({ "cover": { "minutes": 1 }, "memo": { "epsilon": 2.0, "days": 365 } }),
    ] {
        let error = parse(&with(flag.clone(), "budget", both)).unwrap_err();
        assert!(
            error.contains("needs \"reports\" 1 and no \"memo\""),
            "{error}"
        );
    }
}
