//! Tasks of Collision: invalid combinations, and open fields of drafts.

use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::{ErrorCode, Mechanism, TaskDraft, ValueKind};
use serde_json::json;

use super::{assert_accepted, with, without};
use crate::support::task_files::{assert_refused, parse};

#[test]
fn favoured_are_fewer_than_buckets() {
    let cases = [
        (0, 8, false),
        (1, 8, true),
        (7, 8, true),
        (8, 8, false),
        (1, 2, true),
    ];
    for (favoured, buckets, good) in cases {
        let mut task = with("/mechanism/favoured", json!(favoured));
        task["mechanism"]["buckets"] = json!(buckets);
        assert_eq!(parse(&task).is_ok(), good, "{task}");
        let made = Collision::new(
            FavouredBucketRule::Heaviest { favoured },
            HashFamily::Balanced,
            buckets,
        );
        let refused = made.err().map(|error| error.code());
        assert_eq!(refused, (!good).then_some(ErrorCode::OutOfRange));
    }
}

#[test]
fn parameters_must_go_together() {
    let mut occupied = without("/mechanism/favoured");
    occupied["mechanism"]["rule"] = json!("occupied");
    occupied["mechanism"]["buckets"] = json!(3);
    assert_accepted(&occupied);
    occupied["mechanism"]["buckets"] = json!(2);
    assert_refused(&occupied, ErrorCode::InvalidCombination);

    let open = with("/items", json!("open"));
    assert_refused(&open, ErrorCode::InvalidCombination);

    let occupied_with_favoured = with("/mechanism/rule", json!("occupied"));
    let heaviest_without = without("/mechanism/favoured");
    for (task, word) in [
        (occupied_with_favoured, "takes no"),
        (heaviest_without, "needs"),
    ] {
        let text = parse(&task).unwrap_err();
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn drafts_are_chosen_within_bounds() {
    for (items, sparsity, epsilon) in [
        (json!(1), 1, 0.001),
        (json!(1), 1, 12.0),
        (json!(3), 3, 1.0),
        (json!("open"), 1, 0.001),
        (json!("open"), 20, 8.0),
        (json!(1_000_000), 2, 12.0),
    ] {
        for rule in ["heaviest", "occupied"] {
            let file = json!({
                "id": "draft", "items": items, "sparsity": sparsity, "epsilon": epsilon,
                "value": "real", "mechanism": { "name": "collision", "rule": rule },
            });
            let draft: TaskDraft = serde_json::from_value(file.clone()).unwrap();
            assert_eq!(draft.validate(), Ok(()));
            let task = draft.resolve_task().unwrap();
            assert_eq!(draft.check_agrees_with(&task), Ok(()));
            let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
                unreachable!()
            };
            let rates = collision.hit_probabilities(&task.questions()[0].domain(), task.epsilon());
            assert!(rates.hit_probability_gap() > 0.0, "{file}");
            assert_eq!(task.questions()[0].coded_value_kind(), ValueKind::Real);
        }
    }
}
