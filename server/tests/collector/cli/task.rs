//! `hushbin task check`: the distance of a task from the best known mechanism.

use std::fs;

use hushbin::Task;
use hushbin::choose::Objective;
use hushbin_analysis::estimate::{ErrorPredictor, Estimator, PredictedQuantity};
use hushbin_analysis::mechanism_optimality::distance_from_best;
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
        ("mean_distance", Objective::MEAN_ONLY),
        ("frequency_distance", Objective::FREQUENCY_ONLY),
    ] {
        let expected = distance_from_best(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            1.0,
            &objective,
        )
        .unwrap();
        assert!(expected.times_bound > 1.0);
        assert_eq!(printed[field], serde_json::to_value(&expected).unwrap());
        let words = hushbin(&["task", "check", "--verbose", file.to_str().unwrap()]);
        let words = String::from_utf8(words.stdout).unwrap();
        assert!(words.contains(&expected.text), "{words}");
    }
    assert!(check(json!(40), "coco").get("frequency_distance").is_none());
    assert!(check(json!("open"), "coco").get("mean_distance").is_none());
}

/// Each of several questions has its own share of the reports and its own errors.
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
    // One of two options at ε has variance e/(e − 1)², from 30,000 reports. A mean is from 10,000:
    // variance 4 for noise, and 1 for sampling people who are all at the ends.
    let e = 1.0_f64.exp();
    for (question, field, variance, reports) in [
        (&questions[0], "frequency", e / (e - 1.0).powi(2), 30_000.0),
        (&questions[1], "mean", 5.0, 10_000.0),
    ] {
        let error = question["predictions"][0][format!("{field}_standard_error")].as_f64();
        let ratio = error.unwrap() / f64::sqrt(variance / reports);
        assert!((ratio - 1.0).abs() < 1e-3, "{ratio}: {question}");
    }
    assert!(printed.get("together_over_drawn").is_none(), "{printed}");
    let words = hushbin(&["task", "check", "--verbose", "--people", "40000", path]).stdout;
    let words = String::from_utf8(words).unwrap();
    // JSON gives errors on the range from −1 to 1, text in the number's unit.
    let error = questions[1]["predictions"][0]["mean_standard_error"].as_f64();
    let line = words.lines().filter(|line| line.starts_with("40000 "));
    let shown: Vec<f64> = line
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(
        (shown[1] / (15.0 * error.unwrap()) - 1.0).abs() < 1e-3,
        "{words}"
    );
    for expected in [
        "visits is a valid task. It asks 2 questions, one in each report: theme, load.\n",
        "(load, the least exact question).\n",
        "theme: one of 2 named options, 75.0%",
        "load: a number from 0 to 30 s",
        "expected error of the mean, in s:",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// A number among several questions is answered by a random part of all people. At a large ε that
/// sampling is most of the error.
#[test]
fn a_check_counts_the_draw_of_who_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let check = |questions: Value| {
        let draft = json!({ "id": "t", "epsilon": 7.0, "people": 40_000, "questions": questions });
        fs::write(&file, draft.to_string()).unwrap();
        let path = file.to_str().unwrap();
        answer(&["task", "check", "--json", "--people", "40000", path])["questions"][0].clone()
    };
    let number = |name| json!({ "name": name, "kind": "number", "min": 0, "max": 30 });
    let error = |found: &Value| {
        let error = &found["predictions"][0]["mean_standard_error"];
        error.as_f64().unwrap_or_else(|| panic!("{found}"))
    };
    let alone = error(&check(json!([number("load")])));
    assert!(alone < 0.5 / 200.0, "{alone}");
    let drawn = error(&check(json!([number("load"), number("other")])));
    // Half of the people at either end have a variance of 1.
    let root = drawn * f64::sqrt(20_000.0);
    assert!((1.0..1.05).contains(&root), "{root}");
}

/// Candidates get the same reports: half of them if there are two questions.
#[test]
fn a_check_of_candidates_counts_reports_of_their_question() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let check = |questions: Value| {
        let draft = json!({ "id": "t", "epsilon": 1.0, "people": 40_000, "questions": questions });
        fs::write(&file, draft.to_string()).unwrap();
        let found = answer(&["task", "check", "--json", file.to_str().unwrap()]);
        let candidate = &found["questions"][0]["candidates"][0]["frequency_error"];
        candidate.as_f64().unwrap()
    };
    let choice = |name| json!({ "name": name, "kind": "choice", "options": 5, "weight": 1 });
    let alone = check(json!([choice("a")]));
    let one_of_four = check(json!([choice("a"), choice("b"), choice("c"), choice("d")]));
    assert!(
        (one_of_four / alone - 2.0).abs() < 1e-9,
        "{one_of_four}, {alone}"
    );
}

/// Flags drawn one at a time or asked together: the predicted ratio of squared errors equals that
/// of all predictions.
#[test]
fn questions_asked_together_are_predicted() {
    let directory = tempfile::tempdir().unwrap();
    let flags: Vec<serde_json::Value> = (0..8)
        .map(|index| json!({ "name": format!("f{index}"), "kind": "flag" }))
        .collect();
    let together = json!([{ "name": "all", "kind": "together", "of": flags }]);
    let [(drawn, drawn_words), (together, together_words)] =
        [("drawn", json!(flags)), ("together", together)].map(|(name, questions)| {
            let file = directory.path().join(name);
            let draft =
                json!({ "id": "t", "epsilon": 4.0, "people": 80_000, "questions": questions });
            fs::write(&file, draft.to_string()).unwrap();
            let path = file.to_str().unwrap();
            let words = hushbin(&["task", "check", "--verbose", path]).stdout;
            (
                answer(&["task", "check", "--json", "--people", "80000", path]),
                String::from_utf8(words).unwrap(),
            )
        });
    let ratio = drawn["together_over_drawn"].as_f64().unwrap();
    assert!((0.5..0.56).contains(&ratio), "{ratio}");
    assert!(together.get("together_over_drawn").is_none());
    let found = &together["questions"][0];
    let error = found["predictions"][0]["frequency_standard_error"]
        .as_f64()
        .unwrap();
    // All flags are alike, so the average over options equals that of one.
    let average = found["candidates"][0]["frequency_error"].as_f64().unwrap();
    assert!((average / error - 1.0).abs() < 1e-9, "{average}, {error}");
    // One flag of eight is drawn: variance 8·e/(e − 1)², and 1/4 of 7 for sampling people.
    let e = 4.0_f64.exp();
    let alone = (8.0 * e / (e - 1.0).powi(2) + 0.25 * 7.0) / 80_000.0;
    assert!(
        (error * error / alone / ratio - 1.0).abs() < 1e-6,
        "{error}"
    );
    for (words, expected) in [
        (
            &drawn_words,
            &*format!(
                "together     all questions as one of kind \"together\" would have {ratio:.2} times"
            ),
        ),
        (
            &together_words,
            "all: all of f0, f1, f2, f3, f4, f5, f6, f7 at once",
        ),
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// Numbers have other predictions than items: the errors of means, and that no better mechanism is
/// known.
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
    // Square root of the worst variance for two numbers of two.
    let expected = 1.9753_f64.sqrt() / 200.0;
    assert!((error / expected - 1.0).abs() < 1e-3, "{cost}");
    assert!(cost.get("frequency_distance").is_none(), "{cost}");
    let words = hushbin(&["task", "check", "--verbose", path]).stdout;
    let words = String::from_utf8(words).unwrap();
    for expected in [
        "From 10000 reports you learn each mean to ±2.75 % of half its range, at 95% confidence.\n",
        "layout: 2 numbers, 100.0%",
        "window, atoms 22, drawn 2, favoured 11, values",
        "expected error of each mean, in % of half its range:",
        "which protects a person's whole input:",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// Predicted errors of a cross cover both margins.
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
    // b cells that no person is in, each reported with probability q: b·q·(1 − b·q)/(p − q)².
    let e = 3.0_f64.exp();
    let (q, gap) = (1.0 / (e + 5.0), (e - 1.0) / (e + 5.0));
    for (margin, cells) in [(0, 2.0), (1, 3.0)] {
        let error = printed["questions"][0]["margins"][margin].as_f64().unwrap();
        let expected = (cells * q * (1.0 - cells * q)).sqrt() / gap / 100.0;
        assert!((error / expected - 1.0).abs() < 1e-9, "{error}, {expected}");
    }
    let words = hushbin(&["task", "check", "--verbose", path]).stdout;
    let words = String::from_utf8(words).unwrap();
    for expected in [
        "themes: theme and beta together, 3 by 2 cells",
        "margins: a standard error of",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

/// A cross by a number for its mean has the error of means within rows, in the number's unit.
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
        let words = hushbin(&["task", "check", "--verbose", "--people", "40000", path]);
        let error = &printed["questions"][0]["predictions"][0]["conditional_mean_standard_error"];
        (
            printed["task"].clone(),
            error.as_f64(),
            String::from_utf8(words.stdout).unwrap(),
        )
    };
    let (task, error, words) = check(&draft);
    let task: Task = serde_json::from_value(task).unwrap();
    let predictor = ErrorPredictor::for_question(&task.questions()[0]);
    let variance = predictor
        .max_contribution_variance(PredictedQuantity::MeanWithinRow(0.5), false)
        .unwrap();
    let expected = 800.0 * variance.sqrt() / 200.0;
    assert!((error.unwrap() / expected - 1.0).abs() < 1e-12, "{error:?}");
    assert!(
        words.contains("the mean of load in a row that 1/2"),
        "{words}"
    );
    let line = words.lines().find(|line| line.starts_with("40000 "));
    let shown: Vec<&str> = line.unwrap().split_whitespace().collect();
    let interval = |reach: f64| format!("±{:.3}", reach * expected);
    // One row alone, then both rows simultaneously.
    let intervals = [1.959_964, 2.241_403].map(interval);
    assert_eq!(shown[1], format!("{expected:.3}"), "{words}");
    assert_eq!(shown[2..4], intervals, "{words}");
    // Shares of levels are not part of the output.
    assert!(!words.contains("the share of a rare answer"), "{words}");
    assert!(words.contains("of a row's share, for"), "{words}");
    // A number with bins has no mean.
    draft["questions"][0]["of"][1]["bins"] = json!(4);
    let (_, error, words) = check(&draft);
    assert!(error.is_none() && !words.contains("the mean of"), "{words}");
    assert!(words.contains("of a column's, for"), "{words}");
}

/// The predicted influence of forged reports equals that of the collector.
#[test]
fn a_check_says_how_far_made_up_reports_move_estimates() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let check = |draft: Value| {
        fs::write(&file, draft.to_string()).unwrap();
        let path = file.to_str().unwrap();
        let words = hushbin(&["task", "check", "--verbose", path]).stdout;
        let printed = answer(&["task", "check", "--json", path]);
        let task: Task = serde_json::from_value(printed["task"].clone()).unwrap();
        let influence = Estimator::for_task(task).forged_report_influence();
        assert_eq!(
            printed["influence"],
            serde_json::to_value(influence).unwrap()
        );
        assert_eq!(printed["made_up_fraction"], 0.01);
        (printed, String::from_utf8(words).unwrap())
    };
    let (printed, words) = check(json!({
        "id": "visits", "epsilon": 1.0,
        "questions": [
            { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
            { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" },
        ],
    }));
    // One of two options at ε counts at most e/(e − 1) = 1.58198, and people have at least 0. All
    // forged reports can answer this question, but only a part of the honest ones.
    let up = printed["influence"][0]["up"].as_f64().unwrap();
    let share = printed["questions"][0]["share"].as_f64().unwrap();
    let (e, made_up) = (1.0_f64.exp(), 0.01 / (0.01 + 0.99 * share));
    assert!((up - made_up * e / (e - 1.0)).abs() < 1e-9, "{up}");
    let [theme, load] = ["theme: one of", "load: a number"].map(|name| words.find(name).unwrap());
    let at = |line: &str| {
        words
            .find(line)
            .unwrap_or_else(|| panic!("{line} in {words}"))
    };
    let of_theme =
        at("influence    on shares of 1% of made-up reports: at most 0.0478 up and 0.0478 down\n");
    let of_load =
        at("influence    on means of 1% of made-up reports: at most 0.812 s up and 0.812 s down\n");
    assert!(
        theme < of_theme && of_theme < load && load < of_load,
        "{words}"
    );

    let (_, words) = check(json!({
        "id": "rated", "items": 40, "sparsity": 2, "epsilon": 1.0, "value": "sign",
    }));
    for expected in [
        "on means of 1%",
        "on frequencies of + of 1%",
        "on frequencies of - of 1%",
    ] {
        assert_eq!(words.matches(expected).count(), 1, "{words}");
    }
}

/// With a million items every report is added to a quarter of a million counts. For few items, and
/// for items counted on request, there is no warning.
#[test]
fn a_check_warns_of_what_takes_long_to_count() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let check = |items: Value, mechanism: Value| {
        let draft = json!({
            "id": "t", "items": items, "sparsity": 2, "epsilon": 1.0, "value": "sign",
            "mechanism": mechanism,
        });
        fs::write(&file, draft.to_string()).unwrap();
        let path = file.to_str().unwrap();
        let words = hushbin(&["task", "check", "--verbose", path]).stdout;
        let words = String::from_utf8(words).unwrap();
        let line = words.lines().find(|line| line.starts_with("counting"));
        let printed = answer(&["task", "check", "--json", path]);
        (printed["steps"].clone(), line.map(str::to_owned))
    };
    let collision = |buckets: u32, hashing: &str| {
        json!({
            "name": "collision", "rule": "heaviest", "favoured": 2, "hashing": hashing,
            "buckets": buckets,
        })
    };
    let slow = |minutes: u32| {
        Some(format!(
            "counting     is slow for this number of items: about {minutes} minutes of one core \
             for a million reports"
        ))
    };
    // There are 2·10⁶ + 2 elements, and each of 8 buckets has 250,001 slots.
    let balanced = check(json!(1_000_000), collision(8, "balanced"));
    assert_eq!(balanced, (json!(250_001), slow(29)));
    let independent = check(json!(1_000_000), collision(8, "independent"));
    assert_eq!(independent, (json!(2_000_000), slow(233)));
    let few = check(json!(1000), collision(8, "balanced"));
    assert_eq!(few, (json!(251), None));
    let signs = json!({ "name": "coco", "buckets": 2 });
    assert_eq!(check(json!(6400), signs), (json!(100), None));
    let open = check(json!("open"), collision(8, "independent"));
    assert_eq!(open, (Value::Null, None));
}
