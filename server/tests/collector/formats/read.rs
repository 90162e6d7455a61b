//! Data that is read without a collector: task files, uploads, exports and partial totals.

use hushbin::TaskDraft;
use hushbin_tests::uploads::draft;
use serde_json::{Map, json};

use super::*;

/// Estimates from exported reports in every format, and from partial totals.
fn estimated(fixture: &Fixture) -> Value {
    let mut all = Map::new();
    for (task, more) in [
        ("survey", &["--question", "theme"][..]),
        ("survey", &["--question", "delay"]),
        (
            "survey",
            &["--question", "tags", "--items", "dark-mode,other"],
        ),
        ("settings", &[]),
        ("scores", &[]),
    ] {
        let said = |words: &[&str]| {
            let said = succeeds(&[words, &["--format", "json"], more].concat());
            serde_json::from_slice::<Value>(&said).unwrap()
        };
        let path = |kind: &str| fixture.path(&format!("exports/{task}.{kind}"));
        let estimate = |format| said(&["estimate", text(&path(format))]);
        let found = estimate("parquet");
        for format in ["csv", "json"] {
            assert_eq!(estimate(format), found, "{task} {more:?}");
        }
        if !more.contains(&"--items") {
            let [lines, task] = ["partial", "csv.task.json"].map(path);
            let merged = said(&["estimate", text(&lines), "--task", text(&task)]);
            assert_eq!(merged, found, "{more:?}");
        }
        all.insert(format!("{task} {}", more.join(" ")), found);
    }
    Value::Object(all)
}

/// Folds the exports, and records the estimates.
pub(super) fn record(fixture: &Fixture) {
    for task in ["survey", "settings", "scores"] {
        let file = fixture.path(&format!("exports/{task}.json"));
        let out = fixture.path(&format!("exports/{task}.partial"));
        succeeds(&[
            "estimate",
            text(&file),
            "--format",
            "totals",
            "--out",
            text(&out),
        ]);
    }
    write_lines(&fixture.path("estimated.json"), &estimated(fixture));
}

#[test]
fn exports_and_partial_totals_give_the_estimates_that_they_gave() {
    for fixture in all() {
        assert_says(&estimated(&fixture), &fixture.json("estimated.json"), "");
        // This version folds them to the same line.
        for task in ["survey", "settings", "scores"] {
            let file = fixture.path(&format!("exports/{task}.csv"));
            let partial = fs::read(fixture.path(&format!("exports/{task}.partial"))).unwrap();
            let fold = ["estimate", text(&file), "--format", "totals"];
            assert_eq!(succeeds(&fold), partial, "{task}");
        }
    }
}

#[test]
fn tasks_mean_what_they_meant() {
    for fixture in all() {
        let complete = fixture.json("tasks.json");
        for own in complete.as_array().unwrap() {
            let task: Task = serde_json::from_value(own["task"].clone()).unwrap();
            assert_eq!(json!(task.fingerprint()), own["fingerprint"]);
            assert_eq!(json!(task), own["task"], "and are written as they were");
            let bytes = task.canonical_bytes();
            assert_eq!(Task::from_canonical_bytes(&bytes), Ok(task.clone()));
            // A draft with omitted fields still resolves to this task.
            let path = fixture.path(&format!("drafts/{}.json", task.id()));
            let draft: TaskDraft = draft(&fs::read_to_string(path).unwrap());
            draft.check_agrees_with(&task).unwrap();
        }
    }
}

/// Reports of every mechanism and of every kind of question.
#[test]
fn uploads_are_what_they_were() {
    for fixture in all() {
        let mut reports = 0;
        for task in fixture.tasks() {
            let uploads = fixture.uploads(&task);
            let fingerprint = task.fingerprint();
            let again: Vec<u8> = uploads
                .iter()
                .flat_map(|own| own.encode(&fingerprint))
                .collect();
            assert_eq!(again, fixture.upload_bytes(&task));
            let answered = |question: usize| {
                let mut all = uploads.iter().flat_map(|own| &own.reports);
                all.any(|report| {
                    task.question_selector()
                        .question_index_for_seed(report.seed())
                        == question
                })
            };
            assert!((0..task.questions().len()).all(answered), "{}", task.id());
            reports += uploads.iter().map(|own| own.reports.len()).sum::<usize>();
        }
        assert!(reports > 100);
    }
}
