//! Commands for tasks with sums through a shuffler.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::thread;

use hushbin_tests::process::{answer, hushbin};
use serde_json::{Value, json};

/// A directory with a task file.
pub(super) struct Files(tempfile::TempDir);

impl Files {
    pub(super) fn new(task: &Value) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        fs::write(files.path("task.json"), task.to_string()).unwrap();
        files
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs a command on the task and parses its JSON.
    pub(super) fn ask(&self, words: &[&str]) -> Value {
        let task = self.path("task.json");
        answer(&[words, &["--task", &task, "--json"]].concat())
    }

    /// Runs a command on the task. Returns its success, its output and its errors.
    fn say(&self, words: &[&str]) -> (bool, String, String) {
        let task = self.path("task.json");
        let said = hushbin(&[words, &["--task", &task]].concat());
        let [out, complaint] =
            [said.stdout, said.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (said.status.success(), out, complaint)
    }
}

fn numbers(people: u64) -> Value {
    json!({
        "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": people,
        "numbers": [
            { "name": "load", "min": 0, "max": 1000, "unit": "ms" },
            { "name": "size", "min": 0, "max": 50 },
        ],
    })
}

/// Checks that a text mentions a local ε only to say that there is none.
fn speaks_of_no_local_epsilon(text: &str) {
    for (at, _) in text.match_indices("local") {
        let before: String = text[..at].chars().rev().take(12).collect::<String>();
        let before: String = before.chars().rev().collect();
        let after = &text[at..];
        let denied = before.ends_with("there is no ") || before.ends_with("There is no ");
        // "local reports with the same ε" refers to the local model.
        let other = after.starts_with("local reports")
            || after.starts_with("local     ")
            || after.starts_with("local       ")
            || after.starts_with("local_standard_error")
            || after.starts_with("local_error");
        assert!(denied || other, "{before}{after}");
    }
}

#[test]
fn a_plan_says_what_is_sent_trusted_and_gained() {
    let files = Files::new(&numbers(10_000));
    let out = files.path("complete.json");
    let plan = files.ask(&["plan", "--out", &out]);
    assert_eq!(plan["privacy"]["trust"], "shuffler");
    assert!(plan["central_epsilon"]["upper"].as_f64().unwrap() <= 1.0);
    let each = &plan["task"]["messages"];
    let count = each["levels"].as_u64().unwrap() * each["drawn"].as_u64().unwrap()
        + each["noise"].as_u64().unwrap();
    assert_eq!(plan["messages"], count);
    // A version, two ids and the number of messages, then each sealed message.
    let header = 34 + u64::from(count > 127);
    assert_eq!(plan["bytes"], header + count * 53);
    for error in plan["errors"].as_array().unwrap() {
        let [own, local] =
            ["standard_error", "local_standard_error"].map(|name| error[name].as_f64().unwrap());
        assert!(local > 20.0 * own, "{error}");
    }
    let complete: Value = serde_json::from_str(&fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(complete, plan["task"]);
    let again = Files::new(&complete).ask(&["plan"]);
    assert_eq!(again, plan);
    let checked = hushbin(&["task", "check", &files.path("task.json")]);
    let (_, words, _) = files.say(&["plan"]);
    assert_eq!(String::from_utf8(checked.stdout).unwrap(), words);
    assert_eq!(words.lines().count(), 5, "{words}");
    let (_, words, _) = files.say(&["plan", "--verbose"]);
    speaks_of_no_local_epsilon(&words);
    speaks_of_no_local_epsilon(&plan.to_string());
}

#[test]
fn an_account_is_of_a_batch_of_people() {
    let files = Files::new(&numbers(10_000));
    let account = |people: &str| {
        files.ask(&[
            "account",
            "-n",
            people,
            "--delta",
            "1e-6",
            "--honest-fraction",
            "0.9",
        ])
    };
    let own = account("10000");
    assert!(own["central_epsilon"].as_f64().unwrap() <= 1.0);
    assert!(own["lower_epsilon"].as_f64().unwrap() > 0.999);
    let epsilon = |account: Value| account["central_epsilon"].as_f64().unwrap();
    assert!(epsilon(account("40000")) < 0.51 && epsilon(account("2500")) > 1.9);
    let words = [
        "account",
        "-n",
        "10000",
        "--delta",
        "1e-6",
        "--batches",
        "12",
    ];
    let year = files.ask(&words);
    let all = year["all_epsilon"].as_f64().unwrap();
    assert!((all - 12.0 * epsilon(year.clone())).abs() < 1e-9);
    let (fine, said, _) = files.say(&words);
    assert!(fine && said.contains("there is no local ε"), "{said}");
    speaks_of_no_local_epsilon(&said);
    for (options, reason) in [
        ("--central-epsilon 1", "not for a task of sums"),
        ("-n 10000 --batches 0", "batches is 0, expected 1 to 10000"),
        (
            "-n 10000 --batches 10001",
            "batches is 10001, expected 1 to 10000",
        ),
        ("-n 1", "reports is 1, expected 2 to 1000000000000"),
        (
            "-n 3 --honest-fraction 0.5",
            "honest_reports is 1, expected 2 to",
        ),
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let (fine, _, why) = files.say(&[&["account", "--delta", "1e-6"], &words[..]].concat());
        assert!(!fine && why.contains(reason), "{options}: {why}");
    }
}

#[test]
fn a_simulation_is_as_wrong_as_it_says() {
    let files = Files::new(&numbers(300));
    let mut data = "size,load\n".to_owned();
    for person in 0..300 {
        writeln!(data, "{},{}", person % 50, 100 + person % 7).unwrap();
    }
    let path = files.path("data.csv");
    fs::write(&path, &data).unwrap();
    let words = [
        "simulate",
        "--answers",
        &path,
        "--runs",
        "400",
        "--seed",
        "1",
    ];
    let found = files.ask(&words);
    assert_eq!(
        (&found["people"], &found["runs"]),
        (&300.into(), &400.into())
    );
    for (item, truth) in [102.99, 24.5].into_iter().enumerate() {
        let number = |list: &str, name: &str| found[list][item][name].as_f64().unwrap();
        assert!((number("estimates", "truth") - truth).abs() < 1e-6);
        let error = number("estimates", "error");
        let ratio = error / number("items", "stated_error");
        assert!((0.85..1.1).contains(&ratio), "{ratio}");
        assert!(number("items", "local_error") > 3.0 * error);
    }
    assert_eq!(
        (&found["clipped"], &found["are_shares"]),
        (&0.into(), &false.into())
    );
    assert!(found["covered"].as_f64().unwrap() > 0.92);
    speaks_of_no_local_epsilon(&files.say(&[&words[..], &["--verbose"]].concat()).1);

    // Values beyond the limits are counted as clipped.
    fs::write(&path, data.replace("\n49,", "\n51,")).unwrap();
    assert_eq!(files.ask(&words)["clipped"], 6);

    let refused = |data: &str| {
        fs::write(&path, data).unwrap();
        files.say(&words[..3]).2
    };
    assert!(refused("size\n1\n").contains("line 2: \"load\": there is no answer"));
    assert!(refused("size,size\n1,2\n").contains("\"size\" appears twice"));
    assert!(refused("size,other\n1,2\n").contains("has no item \"other\""));
    assert!(
        refused("size,load\n1,x\n").contains("\"load\": expected a finite number, found \"x\"")
    );
    assert!(refused("size,load\n1,2\n").contains("1 of 1 people, expected 300 or more"));
}

#[test]
fn an_audit_measures_no_more_than_is_promised_and_nearly_as_much() {
    let files = Files::new(&numbers(60));
    let words = ["audit", "--trials", "20000", "--seed", "1"];
    let found = files.ask(&words);
    let measured = found["empirical_lower_bound"].as_f64().unwrap();
    // At δ = 10⁻⁶ hardly any batch reveals as much as the bound.
    assert!(0.2 < measured && measured <= 1.0, "{found}");
    assert_eq!(found["verdict"], "within-budget");
    speaks_of_no_local_epsilon(&files.say(&["audit", "--trials", "100", "--seed", "1"]).1);
}

/// All four kinds of questions are audited. An audit is repeated by its seed.
#[test]
fn questions_through_a_shuffler_are_audited() {
    let flag = |name: &str| json!({ "kind": "flag", "name": name });
    let all = [
        json!([flag("beta"), flag("dark")]),
        json!([{ "kind": "choice", "name": "theme", "options": ["dark", "light", "system"] }]),
        json!([{ "kind": "set", "name": "used", "options": 5, "sparsity": 2 }]),
        json!([{ "kind": "number", "name": "load", "min": 0, "max": 9, "bins": 40 }]),
    ];
    for questions in all {
        let files = Files::new(&json!({
            "id": "counts", "trust": "shuffler", "epsilon": 1.0, "delta": 0.01, "people": 40,
            "questions": questions,
        }));
        let words = ["audit", "--trials", "4000", "--seed", "1"];
        let found = files.ask(&words);
        assert_eq!(files.ask(&words), found);
        let measured = found["empirical_lower_bound"].as_f64().unwrap();
        assert!(0.1 < measured && measured <= 1.0, "{found}");
        assert_eq!(found["verdict"], "within-budget");
        assert_eq!(
            [&found["trials"], &found["event_trials"]],
            [&json!(4000), &json!(3000)]
        );
        assert!(found["accounted"]["upper"].as_f64().unwrap() <= 1.0);
        let (fine, said, _) = files.say(&words);
        assert!(
            fine && said.starts_with("counts: questions through a shuffler\n"),
            "{said}"
        );
        assert!(said.contains("one of two random answers"), "{said}");
        speaks_of_no_local_epsilon(&said);
        let (_, plan, _) = files.say(&["plan", "--verbose"]);
        assert!(
            plan.contains("counts is a valid task of questions."),
            "{plan}"
        );
        assert!(plan.contains("moves the count by"), "{plan}");
        assert_eq!(files.ask(&["plan"])["are_shares"], true);
    }
}

#[test]
fn an_audit_of_batches_needs_enough_trials() {
    let files = Files::new(&numbers(60));
    for (options, reason) in [
        ("--trials 99", "trials is 99, expected 100 to 1000000000"),
        (
            "--trials 1000000001",
            "trials is 1000000001, expected 100 to",
        ),
        ("--confidence 1", "confidence is 1, expected 0.5 to"),
        ("--confidence 0.1", "confidence is 0.1, expected 0.5 to"),
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let (fine, said, why) = files.say(&[&["audit"], &words[..]].concat());
        assert!(
            !fine && said.is_empty() && why.contains(reason),
            "{options}: {why}"
        );
    }
}

#[test]
fn commands_for_private_reports_say_that_these_are_not() {
    let files = Files::new(&numbers(300));
    // A pipe can be read once; the command for private reports does so.
    let pipe = files.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let task = fs::read(files.path("task.json")).unwrap();
    let to = pipe.clone();
    let writer = thread::spawn(move || fs::write(to, task));
    let said = hushbin(&["task", "check", &pipe]);
    writer.join().unwrap().unwrap();
    let why = String::from_utf8(said.stderr).unwrap();
    assert!(
        !said.status.success() && why.contains("which only the shuffler protects"),
        "{why}"
    );
    let broken = Files::new(&json!({ "id": "t", "trust": "nobody" }));
    let (fine, _, why) = broken.say(&["plan"]);
    assert!(!fine && why.contains("`shuffler`"), "{why}");
}

/// Data sets of questions are read as those of local reports. Shares of a choice are nearly exact,
/// and their errors agree with the stated ones. A larger set is cut, and this is counted.
#[test]
fn questions_through_a_shuffler_are_simulated() {
    let task = |question: Value| {
        json!({
            "id": "counts", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 2000,
            "questions": [question],
        })
    };
    let simulate = |files: &Files, name: &str, lines: &str| {
        fs::write(files.path(name), lines).unwrap();
        let path = files.path(name);
        files.ask(&[
            "simulate",
            "--answers",
            &path,
            "--seed",
            "1",
            "--runs",
            "40",
        ])
    };
    let files = Files::new(&task(
        json!({ "name": "theme", "kind": "choice", "options": ["dark", "light"] }),
    ));
    let lines = ["dark", "light", "light", "light"].join("\n") + "\n";
    let found = simulate(&files, "a.csv", &format!("theme\n{}", lines.repeat(500)));
    for (index, truth) in [(0, 0.25), (1, 0.75)] {
        let own = &found["estimates"][index];
        assert!(
            (own["truth"].as_f64().unwrap() - truth).abs() < 1e-9,
            "{own}"
        );
        let ratio = own["error"].as_f64().unwrap()
            / found["items"][index]["stated_error"].as_f64().unwrap();
        assert!((0.6..1.5).contains(&ratio), "{ratio}");
    }
    assert_eq!(
        (&found["clipped"], &found["are_shares"]),
        (&0.into(), &true.into())
    );
    assert!(found["covered"].as_f64().unwrap() >= 0.85, "{found}");
    let files = Files::new(&task(
        json!({ "name": "used", "kind": "set", "options": 5, "sparsity": 2 }),
    ));
    let lines = "{ \"used\": [0, 1, 4] }\n{ \"used\": [3] }\n".repeat(1000);
    let found = simulate(&files, "b.jsonl", &lines);
    assert_eq!(found["clipped"], 1000);
    let truths = [0.5, 0.5, 0.0, 0.5, 0.5];
    for (own, truth) in found["estimates"].as_array().unwrap().iter().zip(truths) {
        assert!(
            (own["truth"].as_f64().unwrap() - truth).abs() < 1e-9,
            "{own}"
        );
    }
    let path = files.path("c.jsonl");
    fs::write(&path, "{ \"used\": [7] }\n").unwrap();
    let (done, _, complaint) = files.say(&["simulate", "--answers", &path]);
    assert!(
        !done && complaint.contains("line 1: \"used\": there is no option"),
        "{complaint}"
    );
}
