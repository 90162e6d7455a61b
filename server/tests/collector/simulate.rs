//! Simulations: measured errors equal the predicted or stated ones.

use std::fs;

use crate::support::simulation::Simulation;
use hushbin::{Task, TaskDraft};
use hushbin_analysis::estimate::Estimand;
use hushbin_tests::process::{answer, hushbin};
use serde_json::{Value, json};

const ITEMS: u32 = 40;
const PEOPLE: usize = 500;
const RUNS: u64 = 400;
/// Tolerance in standard errors. A comparison fails by chance with a probability below 10⁻⁵,
/// because averages of 400 runs are close to normal.
const STANDARD_ERRORS: f64 = 4.5;

fn task(file: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(file.clone()).unwrap();
    draft.resolve_task().unwrap()
}

/// A clipped sum has a known bias. The measured bias equals the prediction, which noise alone would
/// not.
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
    // The noise of 20 items over 12 runs is below a tenth.
    assert!(
        (measured / predicted - 1.0).abs() < 0.1,
        "{measured} {predicted}"
    );
    let unbiased = found(json!("coco"));
    assert_eq!(unbiased.predicted_squared_bias, 0.0);
    assert!(unbiased.squared_bias < unbiased.mse);
}

/// If hash-bin's sum is clipped, its part of the variance is clipped, too. The sum of 16 entries
/// would have variance 16 and is clipped to below 4, where the noise has 1/2.
#[test]
fn clipped_sums_add_what_is_left_of_them() {
    let ones = vec![1.0; 16];
    let few: Vec<f64> = (1..=8).map(|i| f64::from(i) / 8.0).collect();
    let many: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
    // The sum of many different values is approximated as normal.
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

/// Answers to several questions from CSV: errors are the stated ones, and intervals cover.
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
    let common = [
        "simulate",
        "--task",
        &task,
        "--answers",
        &data,
        "--seed",
        "1",
    ];
    let found = answer(&[&common[..], &["--runs", "60", "--json"]].concat());
    for question in found["questions"].as_array().unwrap() {
        // A cross by a number for its mean has estimates of means only.
        let is_for_means = question["items"] == 0;
        let tally = if is_for_means {
            &question["numbers"]
        } else {
            question
        };
        let number = |name: &str| tally[name].as_f64().unwrap();
        assert!(number("covered") > 0.88, "{question}");
        assert!(number("all_covered") > 0.8, "{question}");
        if !is_for_means {
            // The mean squared errors of 60 runs have relative standard errors of at most a fifth.
            let ratio = number("mse") / number("stated_mse");
            assert!((0.4..1.6).contains(&ratio), "{question}: {ratio}");
        }
    }
    let load = &found["questions"][1];
    assert_eq!(load["clipped"], 30 * 10 - 30);
    let truths = load["numbers"]["estimates"].as_array().unwrap().iter();
    let truths: Vec<f64> = truths
        .map(|number| number["truth"].as_f64().unwrap())
        .collect();
    // Quantiles: the smallest numbers with half of 3000 people, and so on, at or below.
    assert_eq!(truths, [49.0 / 9.0, 74.0 / 9.0, 10.0]);
    let zoom = found["questions"][2]["numbers"]["estimates"][0]["truth"]
        .as_f64()
        .unwrap();
    assert!((zoom - 1.0).abs() < 1e-9, "{zoom}");
    // People are at 0 to 3 by their index modulo 4, within rows by the index modulo 6.
    for mean in found["questions"][4]["numbers"]["estimates"]
        .as_array()
        .unwrap()
    {
        let truth = mean["truth"].as_f64().unwrap();
        let expected = match mean["what"].as_str().unwrap() {
            "mean of dark" => 1.0,
            "mean of light" => 0.9,
            _ => 1.1,
        };
        assert!((truth - expected).abs() < 1e-9, "{mean}");
        let [low, high] = [0, 1].map(|end| mean["interval"][end].as_f64().unwrap());
        assert!(
            (0.5..=2.0).contains(&low) && low < high && high <= 2.0,
            "{mean}"
        );
    }

    let words = hushbin(&[&common[..], &["--verbose"]].concat()).stdout;
    let words = String::from_utf8(words).unwrap();
    // Columns are as wide as their cells.
    let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    let words: String = words.lines().map(tidy).collect();
    for part in [
        "\ntheme (choice): ",
        "\ntruth estimate ± error\n",
        "\ndark 50.00% ",
        "\nload (number): ",
        "\nmedian 5.44 ",
        "\nquantile 0.95 10.0",
        "\nmean 1.0000 ",
        "\n11 33.3% ",
        "\nmean of dark 1.0",
        "\nbeta: no 80.",
        "(promised: 95%)",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let other = ["simulate", "--task", &task, "--answers", &task];
    let error = hushbin(&other);
    assert!(
        String::from_utf8_lossy(&error.stderr)
            .contains("expected a name that ends in .csv, .tsv, .jsonl")
    );
}

/// There are too few people for an estimate, and too few to search texts.
#[test]
fn few_people_are_told_and_nothing_is_infinite() {
    let directory = tempfile::tempdir().unwrap();
    let [task, data] = ["task.json", "data.csv"].map(|name| directory.path().join(name));
    let file = json!({
        "id": "few", "epsilon": 1.0, "questions": [
            { "name": "rare", "kind": "flag", "weight": 1 },
            { "name": "often", "kind": "number", "want": "quantiles", "min": 0, "max": 10,
              "weight": 1000, "unit": "s" },
            { "name": "plan", "kind": "cross", "weight": 500, "of": [
                { "name": "plan", "kind": "choice", "options": ["free", "pro", "none"] },
                { "name": "zoom", "kind": "number", "min": 0.5, "max": 2 },
            ] },
            { "name": "query", "kind": "text", "length": 8, "weight": 500 },
        ],
    });
    fs::write(&task, file.to_string()).unwrap();
    let rows = "true;1;free;1;a\nno;2;pro;1;b\n0;2.5;pro;2;a\n";
    let text = format!("rare;often;plan.plan;plan.zoom;query\n{rows}");
    fs::write(&data, text).unwrap();
    let [task, data] = [task, data].map(|path| path.to_str().unwrap().to_owned());
    for (runs, people) in [("1", "1"), ("1", "2"), ("7", "3")] {
        let common = [
            "simulate",
            "--task",
            &task,
            "--answers",
            &data,
            "--seed",
            "1",
        ];
        let more = ["--runs", runs, "--people", people, "--verbose"];
        let words = hushbin(&[&common[..], &more].concat());
        let words = String::from_utf8_lossy(&words.stdout).into_owned();
        assert!(
            words.contains("no one answered; one answer takes 2001 people"),
            "{words}"
        );
        assert!(
            words.contains("too few reports to find even a text"),
            "{words}"
        );
        for wrong in ["inf", "NaN", "nan"] {
            assert!(!words.contains(wrong), "{words}");
        }
    }
}

/// Intervals of quantiles have the stated coverage, each and simultaneously, for every distribution
/// of numbers.
#[test]
fn intervals_of_quantiles_hold() {
    const RUNS: u64 = 150;
    let directory = tempfile::tempdir().unwrap();
    let [task, data] = ["task.json", "data.csv"].map(|name| directory.path().join(name));
    let exponential = |place: f64| -10.0 * (1.0 - place).ln();
    let ties = |place: f64| {
        if place < 0.8 {
            13.0
        } else {
            100.0 * (place - 0.8)
        }
    };
    let tens = |place: f64| (exponential(place) / 10.0).round() * 10.0;
    for (name, number, bins, epsilon) in [
        (
            "exponential",
            &exponential as &dyn Fn(f64) -> f64,
            None,
            1.0,
        ),
        ("ties", &ties, Some(10_u32), 2.0),
        ("tens", &tens, None, 4.0),
    ] {
        let mut question = json!({
            "name": "x", "kind": "number", "want": "quantiles", "min": 0, "max": 100,
        });
        if let Some(bins) = bins {
            question["bins"] = bins.into();
        }
        let file = json!({ "id": "coverage", "epsilon": epsilon, "questions": [question] });
        fs::write(&task, file.to_string()).unwrap();
        let numbers = (0..2000).map(|person| number((f64::from(person) + 0.5) / 2000.0));
        let lines: String = numbers.map(|number| format!("{number}\n")).collect();
        fs::write(&data, format!("x\n{lines}")).unwrap();
        let [task, data] = [&task, &data].map(|path| path.to_str().unwrap());
        let runs = RUNS.to_string();
        let found = answer(&[
            "simulate",
            "--task",
            task,
            "--answers",
            data,
            "--seed",
            "1",
            "--runs",
            &runs,
            "--json",
        ]);
        let found = &found["questions"][0]["numbers"];
        for coverage in ["covered", "all_covered"] {
            let held = found[coverage].as_f64().unwrap();
            // Four standard deviations of 150 runs below the stated coverage.
            let least = 0.95 - 4.0 * (0.95_f64 * 0.05 / RUNS as f64).sqrt();
            assert!(held > least, "{name}: {coverage} {held}");
        }
    }
}
