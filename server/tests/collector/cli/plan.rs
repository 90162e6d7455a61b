//! `hushbin plan`: its output matches the library.

use std::fs;

use hushbin::TaskDraft;
use hushbin_analysis::plan::{Survey, plan_survey};
use hushbin_tests::process::hushbin;
use serde_json::{Value, json};

#[test]
fn the_command_says_what_the_library_does() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("task.json");
    let run = |arguments: &[&str]| hushbin(&[&["plan"], arguments].concat());
    let arguments = "--items 300 --entries 5,60,20,10 --value real --objective mean \
        --level user --central-epsilon 0.3 --delta 1e-9 --honest-fraction 0.9 --smallest-frequency 0.05 \
        --people-per-day 2500.5 --epsilon 3 --id ratings --json --out";
    let mut arguments: Vec<&str> = arguments.split_whitespace().collect();
    arguments.push(out.to_str().unwrap());
    let ran = run(&arguments);
    assert!(ran.status.success(), "{ran:?}");
    let survey = json!({
        "questions": [{
            "name": "", "kind": "ratings", "items": 300, "entries": [5, 60, 20, 10],
            "value": "real",
            "mechanism": { "name": "auto", "objective": "mean", "level": "user" },
        }],
        "wanted": { "": { "smallest_frequency": 0.05 } }, "central_epsilon": 0.3, "delta": 1e-9,
        "honest_fraction": 0.9, "people_per_day": 2500.5, "epsilon": 3, "id": "ratings",
    });
    let survey: Survey = serde_json::from_value(survey).unwrap();
    let answer = plan_survey(&survey).unwrap();
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(printed, serde_json::to_value(&answer).unwrap());
    let written: TaskDraft = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(written.resolve_task().unwrap(), answer.task);

    // The text output starts with the verdict.
    let words = run(&[
        "--items",
        "300",
        "--sparsity",
        "2",
        "--epsilon",
        "1",
        "--people",
        "100",
        "--verbose",
    ]);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.starts_with("This is noise"), "{words}");
    assert!(words.contains("\n100 people report once each"), "{words}");
    assert!(words.contains("\n  bound      takes "), "{words}");
    assert!(words.contains("\n* coco "), "{words}");
    assert!(words.contains("\n  hash-bin "), "{words}");
    let names = directory.path().join("names");
    fs::write(&names, "dark-mode\nautoplay\n").unwrap();
    let named = [
        ["--names", names.to_str().unwrap()],
        ["--sparsity", "2"],
        ["--epsilon", "1"],
        ["--people", "1000"],
    ];
    let named = run(&[named.as_flattened(), &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(printed["task"]["items"], json!(["dark-mode", "autoplay"]));

    for (arguments, text) in [
        (
            "--items 300 --sparsity 2 --epsilon 1",
            "expected two of three",
        ),
        ("--items many --sparsity 2", "expected a number of items"),
        (
            "--items 3 --sparsity 4 --epsilon 1 --people 9",
            "sparsity is 4, expected 1 to 3",
        ),
        ("--names nowhere --sparsity 4", "nowhere: No such file"),
    ] {
        let failed = run(&arguments.split_whitespace().collect::<Vec<_>>());
        assert!(!failed.status.success());
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(error.contains(text), "{error}");
    }
}

/// Options by kind and files give the same plan as the equivalent survey.
#[test]
fn the_command_plans_for_questions_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("task.json");
    let printed = |arguments: &[&str]| -> Value {
        let ran = hushbin(&[&["plan", "--json"], arguments].concat());
        assert!(ran.status.success(), "{ran:?}");
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    let answered = |asked: Value| {
        let asked: Survey = serde_json::from_value(asked).unwrap();
        plan_survey(&asked).unwrap()
    };
    for (words, question, wanted) in [
        (
            "--kind choice --options 5 --within 0.01 --epsilon 1",
            json!({ "kind": "choice", "options": 5 }),
            json!({ "within": 0.01 }),
        ),
        (
            "--kind set --options 16 --sparsity 4 --within set=0.02 --epsilon 1",
            json!({ "kind": "set", "options": 16, "sparsity": 4 }),
            json!({ "within": 0.02 }),
        ),
        (
            "--kind number --min -20 --max 60 --unit C --within 0.5 --epsilon 2",
            json!({ "kind": "number", "min": -20, "max": 60, "unit": "C" }),
            json!({ "within": 0.5 }),
        ),
        (
            "--kind number --min 1 --max 60 --want quantiles --bins 16 --spacing logarithmic \
             --quantile 0.9 --spread 5 --within 3 --epsilon 2",
            json!({ "kind": "number", "min": 1, "max": 60, "want": "quantiles", "bins": 16,
                "spacing": "logarithmic" }),
            json!({ "quantile": 0.9, "spread": 5, "within": 3 }),
        ),
        (
            "--kind numbers --numbers 2 --min 0 --max 10 --within numbers.number-2=0.3 --epsilon 1",
            json!({ "kind": "numbers", "of": [{ "name": "number-1", "min": 0, "max": 10 },
                { "name": "number-2", "min": 0, "max": 10 }] }),
            json!({ "within": 0.3, "number_name": "number-2" }),
        ),
        (
            "--kind cross --options 3 --columns 4 --within 0.02 --epsilon 2",
            json!({ "kind": "cross", "of": [
                { "name": "rows", "kind": "choice", "options": 3 },
                { "name": "columns", "kind": "choice", "options": 4 }] }),
            json!({ "within": 0.02 }),
        ),
        (
            "--kind cross --options 3 --min -5 --max 30 --unit s --within 0.5 --epsilon 2",
            json!({ "kind": "cross", "of": [
                { "name": "rows", "kind": "choice", "options": 3 },
                { "name": "columns", "kind": "number", "min": -5, "max": 30, "unit": "s" }] }),
            json!({ "within": 0.5 }),
        ),
        (
            "--kind text --length 6 --within 0.01 --epsilon 2",
            json!({ "kind": "text", "length": 6 }),
            json!({ "within": 0.01 }),
        ),
        (
            "--kind together --options 2,2,3 --within 0.02 --epsilon 4",
            json!({ "kind": "together", "of": [{ "name": "flag-1", "kind": "flag" },
                { "name": "flag-2", "kind": "flag" },
                { "name": "choice-3", "kind": "choice", "options": 3 }] }),
            json!({ "within": 0.02 }),
        ),
    ] {
        let mut question = question;
        let name = question["kind"].clone();
        question["name"] = name.clone();
        let epsilon: f64 = words.rsplit(' ').next().unwrap().parse().unwrap();
        let expected = answered(json!({ "questions": [question], "epsilon": epsilon,
            "wanted": { name.as_str().unwrap(): wanted } }));
        let arguments: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(
            printed(&arguments),
            serde_json::to_value(&expected).unwrap(),
            "{words}"
        );
    }

    // A task file, complete or not. Its ε and number of people are used if the options lack them.
    let file = directory.path().join("asked.json");
    let asked = json!({ "id": "settings", "epsilon": 1.0, "people": 50_000, "questions": [
        { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
        { "name": "load", "kind": "number", "min": 0, "max": 30 } ] });
    fs::write(&file, asked.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let questions = asked["questions"].clone();
    let with = |fields: Value| {
        let mut whole = json!({ "id": "settings", "questions": questions });
        for (name, value) in fields.as_object().unwrap() {
            whole[name] = value.clone();
        }
        serde_json::to_value(answered(whole)).unwrap()
    };
    assert_eq!(
        printed(&["--task", file, "--out", out.to_str().unwrap()]),
        with(json!({ "epsilon": 1.0, "people": 50_000 }))
    );
    let within = ["--within", "theme=0.02", "--within", "load=0.5"];
    let wanted = json!({ "theme": { "within": 0.02 }, "load": { "within": 0.5 } });
    let of = |more: &[&str]| printed(&[&["--task", file], &within[..], more].concat());
    assert_eq!(of(&[]), with(json!({ "epsilon": 1.0, "wanted": wanted })));
    assert_eq!(
        of(&["--people", "20000"]),
        with(json!({ "people": 20_000, "wanted": wanted }))
    );
    let task: TaskDraft = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(task.questions.len(), 2);

    let words = hushbin(&[&["plan", "--verbose", "--task", file], &within[..]].concat());
    let words = String::from_utf8(words.stdout).unwrap();
    for text in [
        "Shares of theme are exact to ±0.0",
        "\nload: number, answered by ",
        "  ratings    the same answers as ratings of items would take ",
    ] {
        assert!(words.contains(text), "{text}: {words}");
    }

    // Questions that could be asked together, and the errors of that.
    let questions = json!([
        { "name": "flag-1", "kind": "flag" },
        { "name": "flag-2", "kind": "flag" },
        { "name": "choice-3", "kind": "choice", "options": 3 },
    ]);
    let apart = directory.path().join("apart.json");
    fs::write(
        &apart,
        json!({ "id": "t", "questions": questions }).to_string(),
    )
    .unwrap();
    let given = ["--epsilon", "4", "--people", "9000", "--verbose"];
    let words = hushbin(&[&["plan", "--task", apart.to_str().unwrap()], &given[..]].concat());
    let words = String::from_utf8(words.stdout).unwrap();
    let line = "together     all questions as one of kind \"together\" would take 0.";
    assert!(words.contains(line), "{words}");

    for (arguments, text) in [
        (
            "--kind nothing --epsilon 1 --people 9",
            "unknown variant `nothing`",
        ),
        (
            "--kind flag --options 3 --epsilon 1 --people 9",
            "\"options\"",
        ),
        ("--kind flag --epsilon 1", "expected two of three"),
        (
            "--kind flag --columns 3 --epsilon 1 --people 9",
            "--columns goes with --kind cross",
        ),
        (
            "--kind cross --numbers 3 --epsilon 1 --people 9",
            "--numbers goes with --kind numbers",
        ),
        (
            "--kind cross --options 3 --columns 3 --max 9 --epsilon 1 --people 9",
            "each part of a \"cross\"",
        ),
        (
            "--kind choice --options 2,3 --epsilon 1 --people 9",
            "several --options need --kind together",
        ),
        (
            "--kind together --options 2 --epsilon 1 --people 9",
            "number of parts is 1, expected 2 to 1024",
        ),
        (
            "--kind flag --smallest-frequency 0.1 --epsilon 1",
            "cannot be used with",
        ),
        ("--kind flag --items 3 --epsilon 1", "cannot be used with"),
        (
            "--kind flag --within beta=0.1 --epsilon 1",
            "\"beta\" is not asked",
        ),
        (
            "--kind flag --within a --epsilon 1",
            "expected a number, or NAME=number",
        ),
        ("--task nowhere --epsilon 1", "nowhere: No such file"),
        ("--min 3 --items 4 --sparsity 1", "go with a --kind"),
        ("--task nowhere --bins 3", "go with a --kind"),
        (
            "--within 3 --items 4 --sparsity 1",
            "go with a --kind or a --task",
        ),
    ] {
        let failed = hushbin(
            &[
                &["plan"],
                &arguments.split_whitespace().collect::<Vec<_>>()[..],
            ]
            .concat(),
        );
        assert!(!failed.status.success(), "{arguments}");
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(error.contains(text), "{arguments}: {error}");
    }
}
