//! Tests of explained reports of named questions, against the randomizer that makes them and the
//! definitions.

use hushbin::{Entry, Randomizer, Report, Task, TaskDraft, Upload, UploadId};
use hushbin_demo::explain::{ExplainError, Explanation, Meaning, NamedQuestionExplainer, Reported};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

const EPSILON: f64 = 1.5;

fn task(questions: &Value) -> Task {
    let file = json!({ "id": "t", "epsilon": EPSILON, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn entry(item: u64, value: f64) -> Entry {
    Entry { item, value }
}

/// Returns a task with one question of each kind, and an answer to each.
fn all() -> (Task, Vec<Vec<Entry>>) {
    let task = task(&json!([
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
        { "name": "beta", "kind": "flag" },
        { "name": "used", "kind": "set", "options": ["a", "b", "c", "d", "e"], "sparsity": 2 },
        { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" },
        { "name": "wait", "kind": "number", "edges": [0, 1, 3, 10], "unit": "s" },
        { "name": "screen", "kind": "numbers", "of": [
            { "name": "width", "min": 0, "max": 4000 }, { "name": "depth", "min": 0, "max": 1 } ] },
        { "name": "rated", "kind": "ratings", "items": ["x", "y", "z"], "value": "sign",
          "sparsity": 2 },
        { "name": "settings", "kind": "together", "of": [
            { "name": "beta", "kind": "flag" }, { "name": "menu", "kind": "choice", "options": 3 } ] },
        { "name": "delay", "kind": "number", "min": 0, "max": 8, "bins": 8, "want": "quantiles" },
        { "name": "idle", "kind": "number", "edges": [0, 1, 5], "optional": true },
    ]));
    let answers = vec![
        vec![entry(1, 1.0)],
        vec![entry(1, 1.0)],
        vec![entry(0, 1.0), entry(3, 1.0)],
        vec![entry(0, 12.0)],
        vec![entry(0, 2.0)],
        vec![entry(0, 3000.0), entry(1, 0.25)],
        vec![entry(0, 1.0), entry(2, -1.0)],
        vec![entry(0, 1.0), entry(1, 2.0)],
        vec![entry(0, 5.5)],
        vec![entry(1, 1.0)],
    ];
    (task, answers)
}

fn slices(answers: &[Vec<Entry>]) -> Vec<&[Entry]> {
    answers.iter().map(Vec::as_slice).collect()
}

fn upload(task: &Task, report: Report) -> Vec<u8> {
    let (id, reports) = (UploadId([9; 16]), vec![report]);
    Upload { id, reports }.encode(&task.fingerprint())
}

/// Makes `reports` reports of the answers, with their explanations.
fn told(task: &Task, answers: &[Vec<Entry>], reports: u64) -> Vec<(Report, Explanation)> {
    let explainer = NamedQuestionExplainer::new(task).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut randomizer = Randomizer::new(task);
    let mut one = || {
        let made = randomizer
            .randomize_answers(&slices(answers), &mut rng)
            .unwrap();
        let bytes = upload(task, made.report.clone());
        (
            made.report,
            explainer.explain(&bytes, &slices(answers)).unwrap(),
        )
    };
    (0..reports).map(|_| one()).collect()
}

#[test]
fn reports_name_their_question_and_keep_to_epsilon() {
    let (task, answers) = all();
    let mut seen = vec![0; answers.len()];
    for (report, told) in told(&task, &answers, 2000) {
        let index = task
            .question_selector()
            .question_index_for_seed(report.seed());
        seen[index] += 1;
        let question = &task.questions()[index];
        assert_eq!(
            (told.question.as_str(), told.kind.as_str()),
            (question.name(), question.kind().name())
        );
        assert_eq!(told.parts.first().unwrap().from, 0);
        assert_eq!(told.parts.last().unwrap().to, upload(&task, report).len());
        let [least, most] = told.ratios;
        assert!((most - EPSILON.exp()).abs() < 1e-12 && (least * most - 1.0).abs() < 1e-12);
        for Meaning {
            ratio,
            before,
            after,
            ..
        } in &told.meanings
        {
            // Likelihoods use the requested ε.
            assert!((least - 1e-9..most + 1e-9).contains(ratio), "{told:?}");
            let odds = |p: f64| p / (1.0 - p);
            assert!((odds(*after) / odds(*before) / ratio - 1.0).abs() < 1e-9);
        }
        let chance: f64 = told.coded.iter().map(|coded| coded.chance).sum();
        let mean = told.question == "load";
        let whole = !mean && matches!(told.kind.as_str(), "choice" | "flag" | "number");
        assert!(!whole || (chance - 1.0).abs() < 1e-12);
        if whole {
            let after: f64 = told.meanings.iter().map(|meaning| meaning.after).sum();
            assert!((after - 1.0).abs() < 1e-9, "{told:?}");
        }
        if told.question == "idle" {
            assert_eq!(labels(&told), ["0 to 1", "1 to 5", "no number"]);
            let own = told.meanings.iter().map(|meaning| meaning.own);
            assert!(own.eq([false, false, true]));
        }
        if told.kind == "together" {
            let own = told.meanings.iter().filter(|meaning| meaning.own);
            let own: Vec<&str> = own.map(|meaning| meaning.label.as_str()).collect();
            assert_eq!(own, ["beta: yes", "menu: 2"]);
            let coded = told.coded.iter().map(|coded| coded.label.as_str());
            assert!(coded.eq(own));
            for part in [0..2, 2..5] {
                let after = told.meanings[part].iter().map(|meaning| meaning.after);
                assert!((after.sum::<f64>() - 1.0).abs() < 1e-9, "{told:?}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// Returns the labels of all meanings.
fn labels(told: &Explanation) -> Vec<&str> {
    told.meanings
        .iter()
        .map(|meaning| meaning.label.as_str())
        .collect()
}

#[test]
fn answers_become_what_the_kind_says() {
    let (task, answers) = all();
    let reports = told(&task, &answers, 400);
    let of = |name: &str| {
        &reports
            .iter()
            .find(|(_, told)| told.question == name)
            .unwrap()
            .1
    };
    let coded = |name: &str| -> Vec<(&str, f64, Option<f64>)> {
        let parts = of(name).coded.iter();
        parts
            .map(|one| (one.label.as_str(), one.chance, one.value))
            .collect()
    };
    let own = |name: &str| -> Vec<&str> {
        let own = of(name).meanings.iter().filter(|meaning| meaning.own);
        own.map(|meaning| meaning.label.as_str()).collect()
    };
    assert_eq!(coded("theme"), [("light", 1.0, None)]);
    assert_eq!(labels(of("theme")), ["dark", "light", "system"]);
    assert_eq!(own("theme"), ["light"]);
    assert_eq!(
        (coded("beta"), labels(of("beta"))),
        (vec![("yes", 1.0, None)], vec!["no", "yes"])
    );
    assert_eq!(coded("used"), [("a", 1.0, None), ("d", 1.0, None)]);
    assert_eq!(own("used"), ["a", "d"]);
    // 12 s lie a fifth below the middle of 0 to 30.
    let load = coded("load");
    assert_eq!(load[0].0, "load");
    assert!((load[0].2.unwrap() + 0.2).abs() < 1e-12);
    assert_eq!(coded("wait"), [("1 to 3 s", 1.0, None)]);
    assert_eq!(labels(of("wait")), ["0 to 1 s", "1 to 3 s", "3 to 10 s"]);
    assert_eq!(
        coded("screen"),
        [("width", 1.0, Some(0.5)), ("depth", 1.0, Some(-0.5))]
    );
    assert_eq!(own("screen"), ["width"]);
    assert_eq!(
        coded("rated"),
        [("x", 1.0, Some(1.0)), ("z", 1.0, Some(-1.0))]
    );
    assert_eq!(own("rated"), ["x"]);
}

/// A choice by randomised response, and a number in bins with one bucket each. The reported one has
/// odds of e to 1, and the rest share the remaining probability.
#[test]
fn meanings_of_one_answer_are_those_of_randomised_response() {
    let bucket = json!({ "name": "collision", "rule": "heaviest", "favoured": 1,
        "hashing": "balanced", "buckets": 4 });
    for question in [
        json!({ "name": "q", "kind": "choice", "options": 4, "mechanism": bucket }),
        json!({ "name": "q", "kind": "number", "edges": [0, 1, 2, 3, 4], "mechanism": bucket }),
    ] {
        let task = task(&json!([question]));
        let answer = match question["kind"].as_str() {
            Some("choice") => entry(2, 1.0),
            _ => entry(0, 2.5),
        };
        let e = EPSILON.exp();
        let mut named = [0_u32; 4];
        let reports = told(&task, &[vec![answer]], 4000);
        for (_, told) in &reports {
            let highest =
                (0..4).max_by(|a, b| told.meanings[*a].ratio.total_cmp(&told.meanings[*b].ratio));
            let highest = highest.unwrap();
            named[highest] += 1;
            for (index, meaning) in told.meanings.iter().enumerate() {
                let (ratio, after) = if index == highest {
                    (e, e / (e + 3.0))
                } else {
                    (3.0 / (e + 2.0), 1.0 / (e + 3.0))
                };
                assert!((meaning.ratio / ratio - 1.0).abs() < 1e-9, "{told:?}");
                assert!((meaning.after / after - 1.0).abs() < 1e-9);
            }
        }
        // The person's answer has the highest ratio with probability e/(e + 3) = 0.60. Of 4000
        // reports, the standard error is 0.0078. Five of them occur by chance once in 10⁶ runs.
        let share = f64::from(named[2]) / 4000.0;
        assert!((share - e / (e + 3.0)).abs() < 5.0 * 0.0078, "{named:?}");
    }
}

/// The ratio of the numbers of reports under two answers must be the stated likelihood ratio. This
/// tests the randomizer as it is, not its definition.
#[test]
fn ratios_are_those_of_the_randomizer() {
    let pair = |low: f64, high: f64| vec![entry(0, low), entry(1, high)];
    for (question, answers, meaning, tolerance) in [
        (
            json!({ "name": "q", "kind": "numbers", "of": [
                { "name": "x", "min": 0, "max": 1 }, { "name": "y", "min": 0, "max": 1 } ],
              "mechanism": { "name": "window", "drawn": 2, "atoms": 2, "favoured": 1, "values": [1] } }),
            [pair(1.0, 0.75), pair(0.0, 0.75)],
            0,
            0.12,
        ),
        (
            json!({ "name": "q", "kind": "set", "options": 3, "sparsity": 2, "mechanism": {
                "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced",
                "buckets": 5 } }),
            [vec![entry(0, 1.0), entry(1, 1.0)], vec![entry(0, 1.0)]],
            1,
            0.12,
        ),
        (
            json!({ "name": "q", "kind": "together", "of": [
                { "name": "x", "kind": "flag" }, { "name": "y", "kind": "flag" } ],
              "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
                "hashing": "balanced", "buckets": 2 } }),
            [pair(1.0, 1.0), pair(0.0, 1.0)],
            1,
            0.12,
        ),
    ] {
        let task = task(&json!([question]));
        // Counts of reports by stated ratio, for each answer. The first count divided by the second
        // must be the ratio.
        let mut classes: Vec<(f64, [u32; 2])> = Vec::new();
        for (which, answer) in answers.iter().enumerate() {
            for (_, told) in told(&task, std::slice::from_ref(answer), 20_000) {
                let ratio = told.meanings[meaning].ratio;
                let same = |(known, _): &(f64, [u32; 2])| (known / ratio - 1.0).abs() < 1e-9;
                let index = classes.iter().position(same).unwrap_or_else(|| {
                    classes.push((ratio, [0, 0]));
                    classes.len() - 1
                });
                classes[index].1[which] += 1;
            }
        }
        let mut told_apart = false;
        for (ratio, [first, second]) in classes {
            if first.min(second) < 2000 {
                continue;
            }
            // With 2000 reports each, a ratio has a standard error of 0.032.
            let found = f64::from(first) / f64::from(second);
            assert!(
                (found / ratio - 1.0).abs() < tolerance,
                "{ratio}: {first}, {second}"
            );
            told_apart |= ratio > 1.2;
        }
        assert!(told_apart, "{question}");
    }
}

#[test]
fn numbers_that_are_not_drawn_are_not_told_of() {
    let task = task(&json!([{ "name": "q", "kind": "numbers", "of": [
        { "name": "x", "min": 0, "max": 1 }, { "name": "y", "min": 0, "max": 1 },
        { "name": "z", "min": 0, "max": 1 } ],
        "mechanism": { "name": "window", "drawn": 1, "atoms": 2, "favoured": 1, "values": [1] } }]));
    let answer = vec![entry(0, 1.0), entry(1, 0.5), entry(2, 0.0)];
    for (_, told) in told(&task, &[answer], 50) {
        let Reported::Atoms { values } = &told.response else {
            panic!("{told:?}")
        };
        let expected = if values[0] > 0.0 { EPSILON } else { -EPSILON }.exp();
        let drawn: Vec<f64> = told.meanings.iter().map(|meaning| meaning.ratio).collect();
        let own = drawn
            .iter()
            .filter(|ratio| (*ratio / expected - 1.0).abs() < 1e-9)
            .count();
        let none = drawn
            .iter()
            .filter(|ratio| (*ratio - 1.0).abs() < 1e-12)
            .count();
        assert_eq!((own, none), (1, 2), "{drawn:?}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let (task, answers) = all();
    let explainer = NamedQuestionExplainer::new(&task).unwrap();
    let (report, _) = told(&task, &answers, 1).remove(0);
    let bytes = upload(&task, report);
    let refused = |answers: &[Vec<Entry>]| explainer.explain(&bytes, &slices(answers)).unwrap_err();
    assert_eq!(refused(&answers[..3]), ExplainError::InvalidAnswers);
    for (index, wrong) in [
        (0, vec![entry(3, 1.0)]),
        (0, vec![entry(0, 1.0), entry(1, 1.0)]),
        (1, vec![]),
        (2, vec![entry(0, 1.0), entry(0, 1.0)]),
        (2, vec![entry(0, -1.0)]),
        (3, vec![entry(0, f64::NAN)]),
        (5, vec![entry(0, 1.0)]),
        (6, vec![entry(0, 0.5)]),
    ] {
        let mut answers = answers.clone();
        answers[index] = wrong;
        assert_eq!(refused(&answers), ExplainError::InvalidAnswers, "{index}");
    }
    assert_eq!(
        explainer
            .explain(&bytes[..20], &slices(&answers))
            .unwrap_err()
            .code(),
        "parameter"
    );
    let unnamed = r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#;
    let unnamed: TaskDraft = serde_json::from_str(unnamed).unwrap();
    let refusal = NamedQuestionExplainer::new(&unnamed.resolve_task().unwrap()).unwrap_err();
    assert_eq!(
        (refusal.code(), refusal),
        ("not-named", ExplainError::UnnamedQuestion)
    );
    let many = self::task(&json!([{ "name": "q", "kind": "choice", "options": 5000 }]));
    assert_eq!(
        NamedQuestionExplainer::new(&many).unwrap_err(),
        ExplainError::TooManyPossibleAnswers
    );
}
