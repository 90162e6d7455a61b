//! Simulations: errors are found as they are predicted or stated.

use std::fs;

use crate::support::simulation::Simulation;
use hushbin::{Task, TaskDraft};
use hushbin_analysis::estimate::Estimand;
use hushbin_tests::process::{answer, hushbin};
use serde_json::{Value, json};

const ITEMS: u32 = 40;
const PEOPLE: usize = 500;
const RUNS: u64 = 400;
/// Fails by chance with a probability below 10⁻⁵ for each comparison: averages of
/// 400 runs are close to normal.
const STANDARD_ERRORS: f64 = 4.5;

fn task(file: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(file.clone()).unwrap();
    draft.resolve().unwrap()
}

/// A clipped sum has a bias that is known: what is measured over runs is
/// what is predicted, which noise alone is not.
#[test]
fn bias_is_told_from_noise() {
    let mut simulation = Simulation::new();
    simulation.agree(20, std::iter::repeat_n(3, 4000));
    let found = |mechanism: Value| {
        let task = task(&json!({
            "id": "t", "items": 20, "sparsity": 3, "epsilon": 8.0, "value": "real",
            "mechanism": mechanism,
        }));
        simulation.run(&task, Estimand::Mean, 12, 0)
    };
    let clipped = found(json!({ "name": "hash-bin", "clip": 0.5 }));
    let (measured, predicted) = (clipped.squared_bias, clipped.predicted_squared_bias);
    assert!(predicted > 1e-4);
    // Noise of 20 items over 12 runs leaves less than a tenth.
    assert!(
        (measured / predicted - 1.0).abs() < 0.1,
        "{measured} {predicted}"
    );
    let unbiased = found(json!("coco"));
    assert_eq!(unbiased.predicted_squared_bias, 0.0);
    assert!(unbiased.squared_bias < unbiased.mse);
}

/// Where hash-bin's sum is clipped, so is what it adds to the noise. Of 16 entries the sum would
/// have a variance of 16 where the noise has one of 1/2, and is clipped to one below 4.
#[test]
fn clipped_sums_add_what_is_left_of_them() {
    let ones = vec![1.0; 16];
    let few: Vec<f64> = (1..=8).map(|i| f64::from(i) / 8.0).collect();
    let many: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
    // The sum of many values of different size is taken as normal.
    for (magnitudes, clip, slack) in [(ones, 2.0, 0.0), (few, 0.75, 0.0), (many, 2.0, 0.01)] {
        let mut simulation = Simulation::new();
        let task = task(&json!({
            "id": "clipped", "items": ITEMS, "sparsity": 1, "epsilon": 8.0, "value": "real",
            "mechanism": { "name": "hash-bin", "noise": "laplace", "clip": clip },
        }));
        let people = (0..PEOPLE).map(|_| &magnitudes[..]);
        simulation.scatter(ITEMS, people, 1);
        let found = simulation.run(&task, Estimand::Mean, RUNS, 1);
        let (measured, predicted) = (found.mse, found.predicted_mse);
        let reach = STANDARD_ERRORS * found.mse_standard_error;
        println!("{measured:.4e} ± {reach:.1e}, predicted {predicted:.4e}");
        assert!(
            (measured - predicted).abs() < reach + slack * predicted,
            "{measured} ± {reach} instead of {predicted} at {clip}"
        );
        assert!(reach < 0.06 * predicted, "too few runs: ± {reach}");
    }
}

/// Answers to several questions, as CSV: errors are those stated, and intervals hold.
#[test]
fn questions_are_simulated_from_csv() {
    let directory = tempfile::tempdir().unwrap();
    let [task, data] = ["task.json", "data.csv"].map(|name| directory.path().join(name));
    let file = json!({
        "id": "survey", "epsilon": 2.0, "questions": [
            { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
            { "name": "load", "kind": "number", "want": "quantiles", "min": 0, "max": 10 },
            { "name": "zoom", "kind": "number", "min": 0.5, "max": 2 },
            { "name": "used", "kind": "set", "options": 12, "sparsity": 3 },
            { "name": "zooms", "kind": "cross", "of": [
                { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
                { "name": "zoom", "kind": "number", "min": 0.5, "max": 2 },
            ] },
            { "name": "settings", "kind": "together", "of": [
                { "name": "beta", "kind": "flag" },
                { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
            ] },
        ],
    });
    fs::write(&task, file.to_string()).unwrap();
    let mut lines =
        String::from("theme,load,zoom,used,zooms.theme,zooms.zoom,settings.theme,settings.beta\n");
    for person in 0..3000_u32 {
        let theme = ["dark", "dark", "light", "system"][person as usize % 4];
        let load = f64::from(person % 100) / 9.0;
        let zoom = 0.5 + f64::from(person % 6) / 5.0;
        let used = ["", "0;1", "3;4;11"][person as usize % 3];
        let beta = person % 5 == 0;
        lines += &format!("{theme},{load},{zoom},{used},{theme},{zoom},{theme},{beta}\n");
    }
    fs::write(&data, lines).unwrap();
    let [task, data] = [task, data].map(|path| path.to_str().unwrap().to_owned());
    let common = ["simulate", "--task", &task, "--data", &data, "--seed", "1"];
    let found = answer(&[&common[..], &["--runs", "60", "--json"]].concat());
    for question in found["questions"].as_array().unwrap() {
        let number = |name: &str| question[name].as_f64().unwrap();
        // Mean squared errors of 60 runs, whose standard errors are at most a fifth.
        let ratio = number("mse") / number("stated_mse");
        assert!((0.4..1.6).contains(&ratio), "{question}: {ratio}");
        assert!(number("covered") > 0.88, "{question}");
        assert!(number("all_covered") > 0.8, "{question}");
    }
    let load = &found["questions"][1];
    assert_eq!(load["clipped"], 30 * 10 - 30);
    let truths = load["numbers"].as_array().unwrap().iter();
    let truths: Vec<f64> = truths
        .map(|number| number["truth"].as_f64().unwrap())
        .collect();
    assert_eq!(truths, [50.0 / 9.0, 75.0 / 9.0, 10.0]);
    let zoom = found["questions"][2]["numbers"][0]["truth"]
        .as_f64()
        .unwrap();
    assert!((zoom - 1.0).abs() < 1e-9, "{zoom}");
    // Of those at 0 and 1, 2 and 3 modulo 4, by what they are modulo 6.
    for mean in found["questions"][4]["numbers"].as_array().unwrap() {
        let truth = mean["truth"].as_f64().unwrap();
        let expected = match mean["row"].as_str().unwrap() {
            "dark" => 1.0,
            "light" => 0.9,
            _ => 1.1,
        };
        assert!((truth - expected).abs() < 1e-9, "{mean}");
        let [low, high] = [0, 1].map(|end| mean["interval"][end].as_f64().unwrap());
        assert!(
            (0.5..=2.0).contains(&low) && low < high && high <= 2.0,
            "{mean}"
        );
    }

    let words = hushbin(&common);
    assert!(String::from_utf8_lossy(&words.stdout).contains("load: quantile 0.5"));
    let other = ["simulate", "--task", &task, "--data", &task];
    let error = hushbin(&other);
    assert!(String::from_utf8_lossy(&error.stderr).contains("expected .csv or .jsonl"));
}
