//! `hushbin task check`: how far a task is from the best.

use std::fs;

use hushbin::Task;
use hushbin::choose::Objective;
use hushbin_analysis::bound::distance;
use hushbin_analysis::estimate::{Aim, Predictor};
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
        let expected = distance(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            1.0,
            &objective,
        )
        .unwrap();
        assert!(expected.times_bound > 1.0);
        assert_eq!(printed[field], serde_json::to_value(&expected).unwrap());
        let words = hushbin(&["task", "check", file.to_str().unwrap()]);
        let words = String::from_utf8(words.stdout).unwrap();
        assert!(words.contains(&expected.text), "{words}");
    }
    assert!(check(json!(40), "coco").get("frequency_distance").is_none());
    assert!(check(json!("open"), "coco").get("mean_distance").is_none());
}

/// Of several questions each has a part of the reports and errors of its own.
#[test]
fn a_check_of_questions_predicts_each() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let draft = json!({
        "id": "visits", "epsilon": 1.0,
        "questions": [
            { "name": "theme", "kind": "choice", "options": ["dark", "light"], "weight": 3 },
            { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s", "weight": 1 },
        ],
    });
    fs::write(&file, draft.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let printed = answer(&["task", "check", "--json", "--people", "40000", path]);
    let questions = printed["questions"].as_array().unwrap();
    let shares: Vec<f64> = questions
        .iter()
        .map(|own| own["share"].as_f64().unwrap())
        .collect();
    assert_eq!(shares, [0.75, 0.25]);
    // One of two at ε: variance e/(e − 1)², of 30,000 and of 10,000 reports.
    let e = 1.0_f64.exp();
    for (question, reports) in questions.iter().zip([30_000.0, 10_000.0]) {
        let error = question["predictions"][0]["frequency_standard_error"].as_f64();
        let expected = (e / reports).sqrt() / (e - 1.0);
        assert!((error.unwrap() / expected - 1.0).abs() < 1e-9, "{question}");
    }
    assert!(
        printed["together_over_drawn"].as_f64().unwrap() > 1.1,
        "{printed}"
    );
    let words = String::from_utf8(hushbin(&["task", "check", path]).stdout).unwrap();
    for expected in [
        "one of 2 questions",
        "together     all questions in each report would have",
        "theme: one of 2 named options, 75.0%",
        "30 s in 2 levels",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// Numbers are told apart from items: their errors, and that nothing better is known.
#[test]
fn a_check_of_numbers_predicts_their_means() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let draft = json!({
        "id": "layouts", "epsilon": 2.0,
        "questions": [{
            "name": "layout", "kind": "numbers", "of": [
                { "name": "width", "min": 0, "max": 4000, "unit": "px" },
                { "name": "height", "min": 0, "max": 3000, "unit": "px" },
            ],
        }],
    });
    fs::write(&file, draft.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let printed = answer(&["task", "check", "--json", "--people", "40000", path]);
    let cost = &printed["questions"][0];
    let error = cost["predictions"][0]["mean_standard_error"]
        .as_f64()
        .unwrap();
    // Two of two favoured alone: (e + 3)/(e − 1) with e = exp(ε).
    let e = 2.0_f64.exp();
    let expected = (e + 3.0) / (e - 1.0) / 200.0;
    assert!((error / expected - 1.0).abs() < 1e-9, "{cost}");
    assert!((cost["mean_distance"]["times_bound"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(cost.get("frequency_distance").is_none(), "{cost}");
    let words = String::from_utf8(hushbin(&["task", "check", path]).stdout).unwrap();
    for expected in [
        "layout: 2 numbers, 100.0%",
        "cube, agreements 2, drawn 2",
        "a number, in means from -1 to 1 for its range",
        "protects     a person's whole input",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// Of a cross the errors of both margins.
#[test]
fn a_check_of_a_cross_predicts_its_margins() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let draft = json!({
        "id": "crossed", "epsilon": 3.0, "people": 10_000,
        "questions": [{
            "name": "themes", "kind": "cross", "of": [
                { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
                { "name": "beta", "kind": "flag" },
            ],
            "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
                "hashing": "balanced", "buckets": 6 },
        }],
    });
    fs::write(&file, draft.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let printed = answer(&["task", "check", "--json", path]);
    // Of b cells that nobody is in, each named with q: b·q·(1 − b·q)/(p − q)².
    let e = 3.0_f64.exp();
    let (q, gap) = (1.0 / (e + 5.0), (e - 1.0) / (e + 5.0));
    for (margin, cells) in [(0, 2.0), (1, 3.0)] {
        let error = printed["questions"][0]["margins"][margin].as_f64().unwrap();
        let expected = (cells * q * (1.0 - cells * q)).sqrt() / gap / 100.0;
        assert!((error / expected - 1.0).abs() < 1e-9, "{error}, {expected}");
    }
    let words = String::from_utf8(hushbin(&["task", "check", path]).stdout).unwrap();
    for expected in [
        "themes: theme and beta together, 3 by 2 cells",
        "margins: standard errors",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// Of a cross by a number for its mean the error of means within rows, in its unit.
#[test]
fn a_check_of_a_cross_by_a_number_predicts_means_within_rows() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let mut draft = json!({
        "id": "crossed", "epsilon": 4.0,
        "questions": [{
            "name": "q", "kind": "cross", "of": [
                { "name": "beta", "kind": "flag" },
                { "name": "load", "kind": "number", "min": 0, "max": 800, "unit": "ms" },
            ],
        }],
    });
    let path = file.to_str().unwrap();
    let check = |draft: &Value| {
        fs::write(&file, draft.to_string()).unwrap();
        let printed = answer(&["task", "check", "--json", "--people", "40000", path]);
        let words = hushbin(&["task", "check", "--people", "40000", path]);
        let error = &printed["questions"][0]["predictions"][0]["conditional_mean_standard_error"];
        (
            printed["task"].clone(),
            error.as_f64(),
            String::from_utf8(words.stdout).unwrap(),
        )
    };
    let (task, error, words) = check(&draft);
    let task: Task = serde_json::from_value(task).unwrap();
    let predictor = Predictor::for_question(&task.questions()[0]);
    let variance = predictor
        .worst_variance(Aim::MeanWithin(0.5), false)
        .unwrap();
    let expected = 800.0 * variance.sqrt() / 200.0;
    assert!((error.unwrap() / expected - 1.0).abs() < 1e-12, "{error:?}");
    let said =
        format!("the mean of load has a standard error of {expected:.2} ms in a row that 1/2");
    assert!(words.contains(&said), "{words}, expected {said}");
    // Bins have no mean.
    draft["questions"][0]["of"][1]["bins"] = json!(4);
    let (_, error, words) = check(&draft);
    assert!(error.is_none() && !words.contains("the mean of"), "{words}");
}
