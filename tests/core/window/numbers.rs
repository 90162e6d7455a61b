//! Questions for numbers: files, canonical bytes, answers.

use hushbin::choose::window::ParametersDraft;
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;
use hushbin::task::{NumberLimits, Numbers, QuestionFields, QuestionKind};
use hushbin::{Entry, Error, ErrorCode, Items, Question, Randomizer, Report, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::generators::{Scripted, seeded};

fn layout() -> Value {
    json!({
        "name": "layout", "kind": "numbers", "of": [
            { "name": "width", "min": 0.0, "max": 4000.0, "unit": "px" },
            { "name": "zoom", "min": -1.5, "max": 3.0 },
        ],
    })
}

fn draft(questions: &Value) -> TaskDraft {
    let file = json!({ "id": "asked", "epsilon": 2.0, "questions": questions });
    serde_json::from_value(file).unwrap()
}

fn task() -> Task {
    let questions = json!([layout(), { "name": "beta", "kind": "flag" }]);
    draft(&questions).resolve_task().unwrap()
}

fn entry(item: u64, value: f64) -> Entry {
    Entry { item, value }
}

#[test]
fn numbers_are_written_and_read() {
    let task = task();
    let question = &task.questions()[0];
    assert_eq!(question.mechanism().name(), "window");
    assert_eq!(
        (question.max_entries_per_report(), question.kind().name()),
        (2, "numbers")
    );
    let QuestionKind::Numbers(limits) = question.kind() else {
        panic!("numbers are asked")
    };
    assert_eq!(
        [limits[0].range(), limits[1].range()],
        [[0.0, 4000.0], [-1.5, 3.0]]
    );
    assert_eq!([limits[0].unit(), limits[1].unit()], [Some("px"), None]);
    assert_eq!(question.items().find_item("zoom"), Some(1));

    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
    for cut in 0..bytes.len() {
        assert!(Task::from_canonical_bytes(&bytes[..cut]).is_err());
    }
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(file["questions"][0]["of"], layout()["of"]);
    assert_eq!(serde_json::from_value::<Task>(file.clone()).unwrap(), task);
    // A complete task is a draft that leaves nothing open.
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    assert_eq!(draft.resolve_task().unwrap(), task);
    draft.check_agrees_with(&task).unwrap();
}

/// Every change alters the fingerprint, and a draft with a change differs.
#[test]
fn every_field_of_numbers_is_in_the_fingerprint() {
    let file = serde_json::to_value(task()).unwrap();
    let mut seen = vec![task().fingerprint()];
    for (path, value) in [
        ("/questions/0/of/0/name", json!("breadth")),
        ("/questions/0/of/0/max", json!(4001)),
        ("/questions/0/of/1/min", json!(-1)),
        ("/questions/0/of/0/unit", json!("em")),
        ("/questions/0/mechanism/drawn", json!(1)),
        ("/questions/0/mechanism/favoured", json!(1)),
        ("/questions/0/mechanism/values/0", json!(7)),
    ] {
        let mut changed = file.clone();
        *changed.pointer_mut(path).unwrap() = value;
        let other: Task = serde_json::from_value(changed.clone()).unwrap();
        assert!(!seen.contains(&other.fingerprint()), "{path}");
        seen.push(other.fingerprint());
        let draft: TaskDraft = serde_json::from_value(changed).unwrap();
        let error = draft.check_agrees_with(&task()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers, "{path}");
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let window = json!({ "name": "window", "drawn": 1, "atoms": 2, "favoured": 1, "values": [1] });
    let of = layout()["of"].clone();
    let attribute =
        |name: &str, min: f64, max: f64| json!({ "name": name, "min": min, "max": max });
    let other = attribute("z", 0.0, 1.0);
    let many: Vec<Value> = (0..1025)
        .map(|index| attribute(&format!("n{index}"), 0.0, 1.0))
        .collect();
    for (fields, expected) in [
        (json!({}), "\"of\""),
        (json!({ "of": [] }), "items is 0"),
        (json!({ "of": many }), "attributes is 1025"),
        (json!({ "of": of, "sparsity": 2 }), "\"sparsity\""),
        (json!({ "of": of, "min": 0.0 }), "\"min\""),
        (json!({ "of": of, "unit": "s" }), "\"unit\""),
        (json!({ "of": of, "items": 2 }), "\"items\""),
        (json!({ "of": [attribute("a", 0.0, 1.0)] }), "at least two"),
        (json!({ "of": [{ "name": "a", "min": 0.0 }, other] }), "max"),
        (
            json!({ "of": [{ "name": "a", "min": 0.0, "max": 1.0, "levels": 3 }, other] }),
            "\"levels\"",
        ),
        (
            json!({ "of": [attribute("a", 1.0, 1.0), other] }),
            "ascending",
        ),
        (
            json!({ "of": [attribute("a", -1e308, 1e308), other] }),
            "finite",
        ),
        (
            json!({ "of": [attribute("a", 0.0, 1.0), attribute("a", 0.0, 2.0)] }),
            "two items are named \"a\"",
        ),
        (json!({ "of": [attribute("", 0.0, 1.0), other] }), "name"),
        (
            json!({ "of": of, "mechanism": { "name": "window", "drawn": 3, "atoms": 2,
                "favoured": 1, "values": [1] } }),
            "drawn is 3, expected 1 to 2",
        ),
        (
            json!({ "of": of, "mechanism": { "name": "window", "drawn": 2, "atoms": 5,
                "favoured": 3, "values": [1, 2] } }),
            "favoured is 3, expected 1 to 2",
        ),
        (
            json!({ "of": of, "mechanism": { "name": "collision", "rule": "heaviest",
                "favoured": 1, "hashing": "balanced", "buckets": 4 } }),
            "\"numbers\" need a \"window\"",
        ),
        (
            json!({ "of": of, "mechanism": { "name": "coco", "rule": "strongest",
                "favoured": 1, "hashing": "balanced", "buckets": 4 } }),
            "\"numbers\" need a \"window\"",
        ),
        (
            json!({ "of": of, "mechanism": { "name": "hash-bin", "level": "event",
                "hashing": "balanced", "bins": 1, "grid": 1024 } }),
            "\"numbers\" need a \"window\"",
        ),
    ] {
        let mut question = json!({ "name": "q", "kind": "numbers", "mechanism": window });
        for (field, value) in fields.as_object().unwrap() {
            question[field] = value.clone();
        }
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let error = serde_json::from_value::<Task>(file).unwrap_err();
        assert!(
            error.to_string().contains(expected),
            "{error}, expected {expected}"
        );
    }
    for (question, expected) in [
        (json!({ "kind": "flag", "of": of }), "\"of\""),
        (
            json!({ "kind": "flag", "mechanism": window }),
            "\"window\" is only for",
        ),
        (
            json!({ "kind": "ratings", "items": 2, "sparsity": 2, "value": "real",
                "mechanism": "window" }),
            "\"window\" is only for",
        ),
        (
            json!({ "kind": "numbers", "of": of, "mechanism": "collision" }),
            "",
        ),
        (
            json!({ "kind": "numbers", "of": of, "entries": [0, 3] }),
            "\"entries\"",
        ),
        (
            json!({ "kind": "numbers", "of": of, "mechanism": "coco" }),
            "need a \"window\"",
        ),
    ] {
        let mut question = question;
        question["name"] = json!("q");
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let made = serde_json::from_value::<TaskDraft>(file)
            .map_err(|error| error.to_string())
            .and_then(|draft| draft.resolve_task().map_err(|error| error.to_string()));
        match made {
            // An open mechanism resolves to the window.
            Ok(task) => assert!(expected.is_empty(), "{task:?}"),
            Err(error) => assert!(
                error.contains(expected) && !expected.is_empty(),
                "{error}, expected {expected}"
            ),
        }
    }
}

/// Every number has a name and limits, and every person answers all of them.
#[test]
fn numbers_and_items_go_together() {
    let window = Window::new(1, 2, 1, [1]).unwrap();
    let limits = Numbers::from(vec![NumberLimits::new(0.0, 1.0, None).unwrap(); 2]);
    let named = |count: usize| Items::Named((0..count).map(|i| format!("n{i}")).collect());
    let parts = |items, sparsity| QuestionFields {
        name: "q".to_owned(),
        kind: QuestionKind::Numbers(limits.clone()),
        items,
        max_entries_per_report: sparsity,
        weight: 1,
        epsilon: 1.0,
        mechanism: window.clone().into(),
    };
    assert!(Question::new(parts(named(2), 2)).is_ok());
    for (items, sparsity) in [
        (named(2), 1),
        (named(3), 2),
        (named(3), 3),
        (Items::Count(2), 2),
    ] {
        let error = Question::new(parts(items, sparsity)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidCombination);
    }
}

#[test]
fn wrong_numbers_are_refused_and_nothing_is_drawn() {
    let task = task();
    let mut randomizer = Randomizer::new(&task);
    let wrong = [
        (vec![], ErrorCode::WrongAnswerCount),
        (vec![entry(0, 1.0)], ErrorCode::WrongAnswerCount),
        (
            vec![entry(0, 1.0), entry(1, 1.0), entry(1, 1.0)],
            ErrorCode::WrongAnswerCount,
        ),
        (vec![entry(0, 1.0), entry(2, 1.0)], ErrorCode::UnknownItem),
        (vec![entry(0, 1.0), entry(0, 1.0)], ErrorCode::DuplicateItem),
        (
            vec![entry(0, f64::NAN), entry(1, 1.0)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            vec![entry(1, 0.0), entry(0, f64::NEG_INFINITY)],
            ErrorCode::ValueOutOfRange,
        ),
    ];
    for (answer, code) in wrong {
        let answers: [&[Entry]; 2] = [&answer, &[entry(1, 1.0)]];
        let mut rng = Scripted::new(&[]);
        let error = randomizer
            .randomize_answers(&answers, &mut rng)
            .unwrap_err();
        assert_eq!(rng.taken, 0);
        assert_eq!(error.code(), code, "{error}");
        let Error::ErrorInQuestion { name, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(name, "layout");
    }
}

/// A number counts by its position in the range, and is clipped to the ends. The report depends on
/// nothing else.
#[test]
fn numbers_are_clipped_to_their_range() {
    let of = |numbers: [f64; 2], min: f64, max: f64| -> Vec<Report> {
        let mut question = numbers_between(min, max);
        question["mechanism"] =
            json!({ "name": "window", "drawn": 2, "atoms": 4, "favoured": 2, "values": [1, 2] });
        let task = draft(&json!([question])).resolve_task().unwrap();
        let (mut rng, mut randomizer) = (seeded(3), Randomizer::new(&task));
        let input = [entry(0, numbers[0]), entry(1, numbers[1])];
        let mut report = || randomizer.randomize(&input, &mut rng).unwrap().report;
        (0..100).map(|_| report()).collect()
    };
    let unit = |values| of(values, -1.0, 1.0);
    assert_eq!(of([0.0, 100.0], 0.0, 100.0), unit([-1.0, 1.0]));
    assert_eq!(of([-7.0, 1e300], 0.0, 100.0), unit([-1.0, 1.0]));
    assert_eq!(of([25.0, 50.0], 0.0, 100.0), unit([-0.5, 0.0]));
    assert_eq!(of([-12.5, -20.0], -20.0, -10.0), unit([0.5, -1.0]));
    assert_ne!(unit([0.5, -1.0]), unit([-0.5, -1.0]));
    let limits = NumberLimits::new(-20.0, -10.0, None).unwrap();
    let codes =
        [-1e308, -20.0, -17.5, -10.0, 0.0].map(|number| limits.normalise_to_signed_unit(number));
    assert_eq!(codes, [-1.0, -1.0, -0.5, 1.0, 1.0]);
}

fn numbers_between(min: f64, max: f64) -> Value {
    let of = ["a", "b"].map(|name| json!({ "name": name, "min": min, "max": max }));
    json!({ "name": "all", "kind": "numbers", "of": of })
}

/// The predicted error is the worst variance of the window, for every form of the question. Noisier
/// questions have a greater weight.
#[test]
fn numbers_are_chosen_for() {
    let own = Window::choose_parameters(
        &Domain::of_dense_inputs(2),
        2.0,
        &ParametersDraft::default(),
    )
    .unwrap();
    let worst = own
        .estimate_scale_and_variance(&Domain::of_dense_inputs(2), 2.0)
        .max_variance();
    for mechanism in [json!(null), json!("auto"), json!("window")] {
        let mut question = layout();
        if !mechanism.is_null() {
            question["mechanism"] = mechanism;
        }
        let draft = draft(&json!([question, { "name": "beta", "kind": "flag" }]));
        let choices = draft.choices_per_question().unwrap();
        let task = draft.task_from_choices(&choices).unwrap();
        assert_eq!(task, self::task());
        assert_eq!(choices[0].alternatives, []);
        let mean = choices[0].chosen.predicted_errors.mean_error.unwrap();
        for variance in [mean.rare_item_variance, mean.variance] {
            assert!((variance * choices[0].people_count / worst - 1.0).abs() < 1e-9);
        }
        assert_eq!(choices[0].chosen.predicted_errors.frequency_error, None);
        // Weights are proportional to the roots of the variances, with e/(e − 1)² for the flag.
        let e = 2.0_f64.exp();
        let flag = e / (e - 1.0).powi(2);
        let weights = [task.questions()[0].weight(), task.questions()[1].weight()];
        let weight = (100.0 * (flag / worst).sqrt()).round() as u32;
        assert_eq!(weights, [100, weight]);
    }
}
