//! `hushbin account`: its output matches the library.

use std::fs;
use std::process::Output;

use hushbin_analysis::accounting::{
    AccountingMethod, PersonExposure, REPORT_COUNT_RANGE, ReportMixture, compute_batch_privacy,
    compute_composed_privacy, delta_bounds, mixture_at_largest_epsilon, smallest_batch_size,
};
use hushbin_tests::mixtures::{heaviest, occupied};
use hushbin_tests::process;
use serde_json::{Value, json};

fn hushbin(arguments: &[&str]) -> Output {
    process::hushbin(&[&["account"], arguments].concat())
}

/// Runs the command with the words of a line.
fn line(arguments: &str) -> Output {
    hushbin(&arguments.split_whitespace().collect::<Vec<_>>())
}

/// A task file at ε = 1. Its mechanism is Collision with this rule and number of buckets.
struct File(tempfile::TempDir);

impl File {
    fn collision(rule: &str, buckets: u32) -> Self {
        let task = format!(
            r#"{{ "id": "t", "items": 400, "sparsity": 4, "epsilon": 1.0, "value": "real",
                 "mechanism": {{ "name": "collision", {rule}, "hashing": "independent",
                                "buckets": {buckets} }} }}"#
        );
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("task.json"), task).unwrap();
        Self(directory)
    }

    /// Runs the command on the task, with the words of a line.
    fn line(&self, arguments: &str) -> Output {
        let path = self.0.path().join("task.json");
        line(&format!("--task {} {arguments}", path.display()))
    }

    fn answer(&self, arguments: &str) -> Value {
        let output = self.line(&format!("{arguments} --json"));
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

const OCCUPIED: &str = r#""rule": "occupied""#;

const HEAVIEST: &str = r#""rule": "heaviest", "favoured": 4"#;

#[test]
fn batches_are_accounted_for() {
    let file = File::collision(OCCUPIED, 17);
    let options = "--reports 2000000 --delta 1e-8 --honest-fraction 0.5";
    let answer = file.answer(options);
    let found = compute_batch_privacy(&occupied(4, 17, 1.0), 2_000_000, 0.5, 1e-8).unwrap();
    assert_eq!(answer["central_epsilon"], found.central_epsilon);
    assert_eq!(
        answer["reduction_lower_epsilon"],
        found.reduction_lower_epsilon
    );
    assert_eq!(answer["alpha"], found.alpha);
    assert_eq!(answer["delta"], 1e-8);
    assert_eq!(answer["method"], "bounded-sum");
    let small = compute_batch_privacy(&occupied(4, 17, 1.0), 100, 1.0, 1e-8).unwrap();
    assert_eq!(small.method, AccountingMethod::ExactSum);
    let any = compute_batch_privacy(
        &ReportMixture::for_any_randomizer(1.0).unwrap(),
        1_000_000,
        1.0,
        1e-8,
    )
    .unwrap();
    assert_eq!(any.method, AccountingMethod::ExactSum);
    assert_eq!(answer["honest_reports"], 1_000_000);
    assert_eq!(answer["honest_fraction"], 0.5);
    assert!(answer["seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(answer["reduction_attained"], false);
    let words = String::from_utf8(file.line(options).stdout).unwrap();
    assert_eq!(words.lines().count(), 3, "{words}");
    let words = file.line(&format!("{options} --verbose")).stdout;
    let words = String::from_utf8(words).unwrap();
    assert!(
        words.contains("1000000 reports of a batch follow"),
        "{words}"
    );
    for field in ["\nmethod  ", "\nreduction_lower_epsilon  ", "\nalpha  "] {
        assert!(words.contains(field), "{words}");
    }
    assert!(
        words.contains("nothing that links a report to a person"),
        "{words}"
    );
}

#[test]
fn invalid_input_is_refused_with_its_range() {
    let batch = "--reports 1000 --delta 1e-6";
    for (options, expected) in [
        (
            "--epsilon 1 --reports 1 --delta 1e-6".to_owned(),
            "reports is 1, expected 2 to 1000000000000",
        ),
        (
            "--epsilon 1 --reports 1000 --delta 0".to_owned(),
            "delta is 0, expected 0.000000000000001 to 0.1",
        ),
        (
            "--epsilon 1 --reports 1000 --delta NaN".to_owned(),
            "delta is NaN, expected",
        ),
        (
            format!("--epsilon 13 {batch}"),
            "epsilon is 13, expected 0.001 to 12",
        ),
        (
            format!("--epsilon 1 {batch} --honest-fraction 1.5"),
            "honest_fraction is 1.5, expected",
        ),
        (
            format!("--epsilon 1 {batch} --honest-fraction 0.001"),
            "honest_reports is 1, expected 2",
        ),
        (
            format!("--central-epsilon 0.0000001 {batch}"),
            "central_epsilon is 0.0000001, expected",
        ),
        (batch.to_owned(), "--epsilon"),
    ] {
        let output = line(&options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(expected),
            "{options}: {said}"
        );
    }
    for (file, expected) in [
        (
            File::collision(OCCUPIED, 4),
            "needs more \"buckets\" than \"sparsity\"",
        ),
        (
            File::collision(r#""rule": "heaviest", "favoured": 4"#, 4),
            "favoured is 4, expected 1 to 3",
        ),
    ] {
        let said = String::from_utf8(file.line(batch).stderr).unwrap();
        assert!(said.contains(expected), "{said}");
    }
    assert!(delta_bounds(&ReportMixture::for_any_randomizer(1.0).unwrap(), 10, 1.1).is_err());
    assert_eq!(REPORT_COUNT_RANGE.max, 1e12);
}

fn answer(arguments: &[&str]) -> Value {
    let output = hushbin(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_task_says_how_large_its_local_epsilon_may_be() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let task = json!({
        "id": "t", "items": 40, "sparsity": 4, "epsilon": 1.0, "value": "real",
        "mechanism": {
            "name": "collision", "rule": "occupied", "hashing": "independent", "buckets": 17,
        },
    });
    fs::write(&file, task.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let batch = [
        "--reports",
        "1000000",
        "--delta",
        "1e-8",
        "--central-epsilon",
        "0.01",
    ];
    let of_task = answer(&[&["--task", file], &batch[..]].concat());
    // The number of buckets is the same at every ε.
    let found = mixture_at_largest_epsilon(
        |epsilon| Ok::<_, hushbin::Error>(occupied(4, 17, epsilon)),
        1_000_000,
        1.0,
        1e-8,
        0.01,
    );
    assert_eq!(of_task["epsilon"], found.unwrap().epsilon());
    assert!(of_task["central_epsilon"].as_f64().unwrap() <= 0.01);
    assert!(of_task["epsilon"].as_f64().unwrap() > 1.5);
    let output = hushbin(&[
        "--task",
        file,
        "--epsilon",
        "2",
        "--reports",
        "10",
        "--delta",
        "0.1",
    ]);
    assert!(!output.status.success(), "a task has its own ε");
}

/// Only a task file shows whether elements share buckets.
#[test]
fn direct_encoding_is_said_to_attain_the_reduction() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    for (buckets, attained) in [(12, true), (11, false)] {
        let task = json!({
            "id": "t", "items": 4, "sparsity": 4, "epsilon": 1.0, "value": "sign",
            "mechanism": {
                "name": "collision", "rule": "occupied", "hashing": "balanced", "buckets": buckets,
            },
        });
        fs::write(&file, task.to_string()).unwrap();
        let file = file.to_str().unwrap();
        let options = ["--task", file, "--reports", "1000", "--delta", "1e-6"];
        assert_eq!(answer(&options)["reduction_attained"], attained);
    }
}

/// The second number is for sets that overlap by chance, and it is labelled so.
#[test]
fn an_ideal_hash_is_a_second_number() {
    let batch = "--reports 100000 --delta 1e-7";
    let heaviest = File::collision(HEAVIEST, 16);
    let found = heaviest.answer(batch);
    let [ideal, proven] =
        ["ideal_hash_epsilon", "central_epsilon"].map(|field| found[field].as_f64().unwrap());
    assert!((0.85..0.87).contains(&(ideal / proven)), "{found}");
    let words = heaviest.line(&format!("{batch} --verbose")).stdout;
    let words = String::from_utf8(words).unwrap();
    assert!(words.contains("\nideal_hash_epsilon  "), "{words}");
    let occupied = File::collision(OCCUPIED, 16).answer(batch);
    assert_eq!(occupied["ideal_hash_epsilon"], json!(null));
}

#[test]
fn several_batches_are_composed() {
    let file = File::collision(HEAVIEST, 17);
    let options = "--delta 1e-8 --reports 50000 --batches 12 --reports-per-person 2";
    let answer = file.answer(options);
    let exposure = PersonExposure {
        batches: 12,
        reports_per_person: 2,
    };
    let found =
        compute_composed_privacy(&heaviest(4, 17, 1.0), 50_000, 1.0, 1e-8, exposure).unwrap();
    assert_eq!(answer["central_epsilon"], found.account.central_epsilon);
    assert_eq!(
        answer["reduction_lower_epsilon"],
        found.account.reduction_lower_epsilon
    );
    assert_eq!(answer["method"], "loss-distribution");
    assert_eq!(answer["basic_epsilon"], found.basic_epsilon);
    assert_eq!(answer["advanced_epsilon"], found.advanced_epsilon);
    assert_eq!(answer["batches"], 12);
    assert_eq!(answer["reports_per_person"], 2);
    let words = file.line(&format!("{options} --verbose")).stdout;
    let words = String::from_utf8(words).unwrap();
    let assumed = "up to 2 reports, whatever the inputs, in each of up to 12 such batches";
    assert!(words.contains(assumed), "{words}");
}

#[test]
fn the_smallest_batch_is_found() {
    let options = "--delta 1e-8 --central-epsilon 0.02 --honest-fraction 0.5";
    let answer = File::collision(HEAVIEST, 17).answer(options);
    let n = smallest_batch_size(&heaviest(4, 17, 1.0), 0.5, 1e-8, 0.02).unwrap();
    assert_eq!(answer["reports"], n);
    assert!(answer["central_epsilon"].as_f64().unwrap() <= 0.02);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    for (options, expected) in [
        ("--epsilon 1", "--reports"),
        (
            "--central-epsilon 0.1",
            "--central-epsilon needs --reports, or --epsilon",
        ),
        (
            "--central-epsilon 0.1 --reports 1000 --epsilon 1",
            "omit the one to find",
        ),
        (
            "--central-epsilon 0.1 --reports 1000 --batches 2",
            "cannot be used with",
        ),
        (
            "--central-epsilon 0.1 --reports 1000 --reports-per-person 2",
            "cannot be used with",
        ),
        (
            "--epsilon 1 --reports 1000 --batches 0",
            "batches is 0, expected 1 to 10000",
        ),
        (
            "--epsilon 12 --central-epsilon 0",
            "central_epsilon is 0, expected",
        ),
    ] {
        let output = line(&format!("--delta 1e-8 {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(expected),
            "{options}: {said}"
        );
    }
}
