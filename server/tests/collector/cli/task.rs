//! `hushbin task check`: how far a task is from the best.

use std::fs;

use hushbin::Task;
use hushbin::choose::Objective;
use hushbin_analysis::bound::distance;
use hushbin_tests::process::{answer, hushbin};
use serde_json::{Value, json};

#[test]
fn a_check_says_how_far_a_task_is_from_the_best() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let check = |items: Value, mechanism: &str| {
        let draft = json!({
            "id": "checked", "items": items, "sparsity": 2, "epsilon": 1.0, "value": "sign",
            "mechanism": mechanism,
        });
        fs::write(&file, draft.to_string()).unwrap();
        answer(&["task", "check", "--json", file.to_str().unwrap()])
    };
    let printed = check(json!(40), "collision");
    let task: Task = serde_json::from_value(printed["task"].clone()).unwrap();
    for (field, objective) in [
        ("mean_distance", Objective::MEAN),
        ("frequency_distance", Objective::FREQUENCY),
    ] {
        let expected = distance(&task.domain(), task.mechanism(), 1.0, &objective).unwrap();
        assert!(expected.times_bound > 1.0);
        assert_eq!(printed[field], serde_json::to_value(&expected).unwrap());
        let words = hushbin(&["task", "check", file.to_str().unwrap()]);
        let words = String::from_utf8(words.stdout).unwrap();
        assert!(words.contains(&expected.text), "{words}");
    }
    assert!(check(json!(40), "coco").get("frequency_distance").is_none());
    assert!(check(json!("open"), "coco").get("mean_distance").is_none());
}
