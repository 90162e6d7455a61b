//! Changes that alter a fingerprint, and changes that do not. The table in the book's page on
//! formats is tested against every field of a complete task.
//!
//! The list of fields comes from the code that reads tasks: its error for an unknown field names
//! them. So a new field cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

use hushbin::Task;
use hushbin::sums::SumTask;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../www/docs/src/reference/formats.md");

fn collision() -> Value {
    json!({ "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced",
        "buckets": 4 })
}

fn ratings(mechanism: &Value) -> Value {
    json!({ "id": "t", "items": ["a", "b", "c", "d"], "sparsity": 2, "epsilon": 1.0,
        "value": "real", "mechanism": mechanism })
}

fn asks(question: Value) -> Value {
    let mut question = question;
    question["name"] = json!("q");
    if question.get("mechanism").is_none() {
        question["mechanism"] = collision();
    }
    json!({ "id": "t", "epsilon": 1.0, "questions": [question] })
}

/// Complete tasks that together have all fields.
fn tasks() -> Vec<Value> {
    let neighbours = json!({ "name": "hash-bin", "level": "neighbouring", "distance": 1.5,
        "delta": 1e-6, "hashing": "balanced", "bins": 2, "grid": 1024 });
    let budgeted = json!({ "days": 7, "reports": 2 });
    let mut several = json!({ "id": "t", "epsilon": 1.0, "budget": budgeted, "questions": [
        { "name": "a", "kind": "flag", "weight": 2, "mechanism": collision() },
        { "name": "b", "kind": "choice", "options": ["x", "y", "z"], "mechanism": collision() },
    ] });
    several["questions"][1]["mechanism"]["hashes"] = json!(2);
    let mut independent = collision();
    independent["hashing"] = json!("independent");
    let messages = json!({ "levels": 8, "drawn": 1, "trials": 1,
        "threshold": "4611686018427387904", "noise": 2 });
    let sums = |measured: (&str, Value)| {
        let mut task = json!({ "id": "t", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6,
            "people": 1000, "honest_fraction": 0.5, "messages": messages, "budget": { "days": 7 } });
        task[measured.0] = measured.1;
        task
    };
    let shuffled = |questions: Value| {
        let mut task = sums(("questions", questions));
        task["messages"] = json!({ "draws": 2, "threshold": "4611686018427387904", "equal": true });
        task
    };
    let mut memo = asks(json!({ "kind": "flag" }));
    memo["questions"][0]["mechanism"]["buckets"] = json!(2);
    memo["budget"] = json!({ "days": 7, "memo": { "epsilon": 2.5, "days": 90 } });
    let mut cover = asks(json!({ "kind": "choice", "options": ["yes", "no", "none"] }));
    cover["budget"] = json!({ "cover": { "minutes": 30 } });
    vec![
        memo,
        cover,
        ratings(&collision()),
        ratings(
            &json!({ "name": "collision", "rule": "occupied", "hashing": "independent",
            "buckets": 8, "hashes": 1 }),
        ),
        ratings(&json!({ "name": "coco", "rule": "strongest", "favoured": 2,
            "hashing": "balanced", "buckets": 8, "hashes": 2 })),
        ratings(
            &json!({ "name": "coco", "rule": "overwrite", "hashing": "balanced",
            "buckets": 8 }),
        ),
        ratings(
            &json!({ "name": "hash-bin", "level": "event", "hashing": "balanced",
            "bins": 2, "grid": 1024 }),
        ),
        ratings(&neighbours),
        ratings(
            &json!({ "name": "hash-bin", "level": "user", "clip": 2.0, "noise": "laplace",
            "hashing": "balanced", "bins": 1, "grid": 1024 }),
        ),
        several,
        asks(json!({ "kind": "ratings", "items": ["a", "b"], "sparsity": 1, "value": "sign" })),
        asks(json!({ "kind": "set", "options": ["a", "b", "c"], "sparsity": 2 })),
        asks(json!({ "kind": "text", "prefixes": [2, 4], "mechanism": independent })),
        asks(
            json!({ "kind": "number", "min": 0.0, "max": 8.0, "unit": "s", "mechanism": {
                "name": "window", "drawn": 1, "atoms": 5, "favoured": 2, "values": [2, 3] } }),
        ),
        asks(
            json!({ "kind": "number", "edges": [0.0, 1.0, 2.0, 3.0, 4.0], "step": 1.0,
            "mechanism": { "name": "pattern", "outputs": 6, "favoured": [0, 1, 3] } }),
        ),
        asks(
            json!({ "kind": "number", "edges": [0.0, 1.0, 2.0, 3.0], "unit": "s", "optional": true }),
        ),
        asks(
            json!({ "kind": "numbers", "mechanism": { "name": "window", "drawn": 2, "atoms": 4,
            "favoured": 2, "values": [1, 3] }, "of": [{ "name": "x", "min": 0.0, "max": 1.0, "unit": "m" },
            { "name": "y", "min": 0.0, "max": 1.0 }, { "name": "z", "min": 0.0, "max": 1.0 }] }),
        ),
        asks(
            json!({ "kind": "numbers", "mechanism": { "name": "window", "drawn": 1, "atoms": 5,
                "favoured": 1, "values": [2, 3] },
                "of": [{ "name": "x", "min": 0.0, "max": 1.0 }, { "name": "y", "min": 0.0, "max": 1.0 }]
            }),
        ),
        asks(json!({ "kind": "cross", "of": [
            { "name": "x", "kind": "choice", "options": ["a", "b"] },
            { "name": "y", "kind": "number", "min": 0.0, "max": 1.0, "levels": 3, "unit": "s" }] })),
        asks(
            json!({ "kind": "cross", "of": [{ "name": "x", "kind": "flag" },
            { "name": "y", "kind": "number", "edges": [0.0, 1.0, 2.0], "step": 1.0 }] }),
        ),
        asks(
            json!({ "kind": "together", "of": [{ "name": "x", "kind": "flag" },
            { "name": "y", "kind": "choice", "options": ["a", "b", "c"] }] }),
        ),
        sums((
            "numbers",
            json!([{ "name": "x", "min": 0.0, "max": 1.0, "unit": "m" },
            { "name": "y", "min": 0.0, "max": 1.0 }]),
        )),
        sums((
            "vector",
            json!({ "items": 4, "length": 1.0, "seed": "7", "spread": 3.0 }),
        )),
        shuffled(json!([{ "name": "x", "kind": "choice", "options": ["a", "b", "c"] }])),
        shuffled(
            json!([{ "name": "x", "kind": "set", "options": ["a", "b", "c"], "sparsity": 2 }]),
        ),
        shuffled(json!([{ "name": "x", "kind": "flag" }, { "name": "y", "kind": "flag" }])),
        shuffled(
            json!([{ "name": "x", "kind": "number", "min": 0.0, "max": 1.0, "bins": 40,
            "unit": "m" }]),
        ),
    ]
}

/// Fingerprint of a complete task of either trust, as pages and collectors compute it.
fn fingerprint(task: &Value) -> Result<String, String> {
    let text = task.to_string();
    let read = match task.get("trust") {
        None => serde_json::from_str::<Task>(&text).map(|task| task.fingerprint()),
        Some(_) => serde_json::from_str::<SumTask>(&text).map(|task| task.fingerprint()),
    };
    match read {
        Ok(fingerprint) => Ok(fingerprint.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Name of the object at a path in the page's table.
fn object(task: &Value, path: &str) -> String {
    let sums = task.get("trust").is_some();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (&parts[..], sums) {
        ([], false) => "task".to_owned(),
        ([], true) => "task of sums".to_owned(),
        (["budget"], _) => "budget".to_owned(),
        (["budget", "memo"], _) => "memo".to_owned(),
        (["budget", "cover"], _) => "cover".to_owned(),
        (["numbers", _], true) => "number of sums".to_owned(),
        (["vector"], true) => "vector of sums".to_owned(),
        (["messages"], true) => "messages".to_owned(),
        (["questions", _], false) => "question".to_owned(),
        (["questions", _], true) => {
            let kind = task.pointer(path).unwrap()["kind"].as_str().unwrap();
            format!("{kind} through a shuffler")
        }
        (["questions", _, "of", _], false) => "part of a question".to_owned(),
        ([.., "mechanism"], false) => {
            let name = task.pointer(path).unwrap()["name"].as_str().unwrap();
            format!("mechanism {name}")
        }
        other => panic!("the table has no such object: {other:?}"),
    }
}

/// Paths of all objects in JSON.
fn objects(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            all.push(path.to_owned());
            for (name, value) in fields {
                objects(value, &format!("{path}/{name}"), all);
            }
        }
        Value::Array(values) => {
            for (place, value) in values.iter().enumerate() {
                objects(value, &format!("{path}/{place}"), all);
            }
        }
        _ => {}
    }
}

fn with(task: &Value, path: &str, field: &str, value: Value) -> Value {
    let mut changed = task.clone();
    changed.pointer_mut(path).unwrap()[field] = value;
    changed
}

/// Possible fields of an object, from the reader's error message.
fn known(task: &Value, path: &str) -> BTreeSet<String> {
    let error = fingerprint(&with(task, path, "unheard-of", Value::Null)).unwrap_err();
    let (_, names) = error
        .split_once("unknown field `unheard-of`, expected ")
        .unwrap_or_else(|| panic!("{path} of {task}: {error}"));
    names
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Alternative values of a field; most are invalid.
fn others(value: &Value) -> Vec<Value> {
    const WORDS: [&str; 12] = [
        "sign",
        "real",
        "balanced",
        "independent",
        "balanced-items",
        "balanced-windows",
        "laplace",
        "two-point",
        "choice",
        "set",
        "flag",
        "12345",
    ];
    let mut others: Vec<Value> = match value {
        Value::Number(number) => {
            let own = number.as_f64().unwrap();
            let near = [
                own + 1.0,
                own - 1.0,
                own * 2.0,
                own / 2.0,
                own + 0.5,
                own * 0.9,
            ];
            let whole = |own: f64| (own.fract() == 0.0).then(|| json!(own as i64));
            near.iter()
                .flat_map(|&own| [whole(own), Some(json!(own))])
                .flatten()
                .collect()
        }
        Value::String(own) => vec![json!(format!("{own}x"))],
        Value::Bool(own) => vec![json!(!own)],
        Value::Array(own) => {
            let mut others = vec![own.iter().rev().cloned().collect()];
            others.push(Value::Array(own[..own.len() - 1].to_vec()));
            // A list with another last element of its kind.
            for more in others_of_last(own) {
                others.push(Value::Array([&own[..own.len() - 1], &[more]].concat()));
            }
            others
        }
        _ => Vec::new(),
    };
    others.extend(WORDS.map(|word| json!(word)));
    // Another spelling of a number is the same number.
    let number = value.as_f64();
    others.retain(|other| other != value && (number.is_none() || other.as_f64() != number));
    others
}

fn others_of_last(own: &[Value]) -> Vec<Value> {
    match own.last() {
        Some(last @ (Value::Number(_) | Value::String(_))) => others(last),
        _ => Vec::new(),
    }
}

type Table = BTreeMap<String, [BTreeSet<String>; 2]>;

/// Reads the table of the page.
fn table() -> Table {
    let (_, rest) = PAGE.split_once("<!-- fingerprint:").unwrap();
    let (table, _) = rest.split_once("<!-- /fingerprint -->").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        (cells[1].to_owned(), [names(cells[2]), names(cells[3])])
    };
    rows.map(row).collect()
}

#[test]
fn the_table_has_every_field() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for task in tasks() {
        fingerprint(&task).unwrap_or_else(|error| panic!("{task}: {error}"));
        let mut paths = Vec::new();
        objects(&task, "", &mut paths);
        for path in paths {
            found.insert(object(&task, &path), known(&task, &path));
        }
    }
    let said: BTreeMap<String, BTreeSet<String>> = table()
        .into_iter()
        .map(|(object, [changing, of_drafts])| (object, &changing | &of_drafts))
        .collect();
    assert_eq!(found, said);
}

/// Returns whether a field determines the set of other fields. It is then changed together with
/// them, and gives a different task.
fn decides(object: &str, field: &str) -> bool {
    let mechanism = object.starts_with("mechanism");
    mechanism && ["rule", "level"].contains(&field)
        || object.starts_with("task of") && field == "trust"
        || ["question", "part of a question"].contains(&object) && field == "kind"
}

#[test]
fn each_field_changes_it_as_the_table_says() {
    let table = table();
    let mut changed: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for task in tasks() {
        let own = fingerprint(&task).unwrap();
        assert!(seen.insert(own.clone()), "{task}");
        let mut paths = Vec::new();
        objects(&task, "", &mut paths);
        for path in paths {
            let object = object(&task, &path);
            let [changing, of_drafts] = &table[&object];
            for field in changing {
                let Some(value) = task.pointer(&path).unwrap().get(field) else {
                    continue;
                };
                let key = (object.clone(), field.clone());
                if value.is_object() || decides(&object, field) {
                    // The field counts as changed if one of its own fields does.
                    *changed.entry(key.clone()).or_default() += 1;
                }
                for other in others(value) {
                    let other = with(&task, &path, field, other);
                    if let Ok(found) = fingerprint(&other) {
                        assert_ne!(found, own, "{path}/{field}: {other}");
                        *changed.entry(key.clone()).or_default() += 1;
                    }
                }
            }
            for field in of_drafts {
                let value = match field.as_str() {
                    "entries" => json!([1, 2]),
                    "want" => json!("quantiles"),
                    "spacing" => json!("even"),
                    _ => json!(4),
                };
                let error = fingerprint(&with(&task, &path, field, value)).unwrap_err();
                assert!(!error.contains("unknown"), "{error}");
            }
        }
    }
    let all = table.into_iter().flat_map(|(object, [changing, _])| {
        let fields = changing.into_iter();
        fields.map(move |field| (object.clone(), field))
    });
    for key in all {
        assert!(changed.contains_key(&key), "{key:?} was never changed");
    }
}

/// Formatting, and fields that state defaults, do not change the fingerprint.
#[test]
fn what_says_nothing_new_does_not_change_it() {
    let same = |one: &Value, other: &str| {
        let read: Value = serde_json::from_str(other).unwrap();
        let [one, other] = [one, &read].map(|task| fingerprint(task).unwrap());
        assert_eq!(one, other);
    };
    let task = ratings(&collision());
    // Other order of fields, white space, and spellings of numbers.
    let written = r#"{ "mechanism": { "buckets": 4, "hashing": "balanced", "favoured": 1,
        "rule": "heaviest", "name": "collision", "hashes": 1 }, "value": "real",
        "epsilon": 1, "sparsity": 2, "items": ["a", "b", "c", "d"], "id": "t",
        "budget": { "days": 30, "reports": 1 } }"#;
    same(&task, written);
    same(
        &task,
        &written.replace(r#""epsilon": 1,"#, r#""epsilon": 10e-1,"#),
    );
    same(&task, &written.replace(r#"["a""#, r#"["\u0061""#));
    // A weight of 1, and all defaults of a budget.
    let flag = asks(json!({ "kind": "flag", "weight": 1 }));
    let mut other = asks(json!({ "kind": "flag" }));
    same(&flag, &other.to_string());
    other["budget"] = json!({ "days": 30 });
    same(&flag, &other.to_string());
}
