//! Tasks with one change, which the schema of tasks and the command accept or refuse alike.
//!
//! - The schema accepts every task that the command accepts.
//! - The schema refuses every task that the command refuses for its shape.
//!
//! The second rule excludes refusals that depend on several numbers together, which no schema
//! expresses.

use std::collections::BTreeSet;

use hushbin::sample::draw_below;
use hushbin_server::task::ReportOrSumDraft;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use super::compiled;
use crate::openapi::crowd::TASKS;

/// Features that the other tasks lack.
const MORE: [&str; 9] = [
    r#"{ "id": "all", "epsilon": 2.0, "people": 5000, "questions": [
        { "name": "a", "kind": "ratings", "items": 9, "value": "real", "entries": [1, 2, 3, 4],
          "overlap": 0.5, "weight": 2, "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
          "hashing": "balanced", "buckets": 8, "hashes": 1 } },
        { "name": "b", "kind": "set", "options": ["a", "b", "c"], "entries": [1, 2], "overlap": 0, "mechanism": "auto" },
        { "name": "c", "kind": "number", "min": 1, "max": 9, "want": "histogram", "bins": 16,
          "spacing": "logarithmic", "unit": "s", "weight": 3 },
        { "name": "z", "kind": "number", "min": 1, "max": 9, "want": "quantiles", "step": 0.5 },
        { "name": "d", "kind": "number", "min": 1, "max": 9, "want": "mean" },
        { "name": "s", "kind": "number", "edges": [1, 2, 4], "optional": true },
        { "name": "e", "kind": "number", "edges": [1, 2, 4, 8, 16], "want": "quantiles",
          "mechanism": { "name": "pattern", "outputs": 6, "favoured": [0, 1, 3] } },
        { "name": "f", "kind": "text", "length": 4, "entries": [1, 2], "weight": 1 },
        { "name": "m", "kind": "flag", "entries": [1, 2] },
        { "name": "q", "kind": "choice", "options": 3, "entries": [1, 2], "mechanism": "collision" },
        { "name": "g", "kind": "cross", "weight": 1, "entries": [1, 2], "of": [
            { "name": "r", "kind": "flag" },
            { "name": "l", "kind": "number", "min": 1, "max": 9, "levels": 4, "unit": "s" } ] },
        { "name": "h", "kind": "cross", "of": [
            { "name": "r", "kind": "choice", "options": 2 },
            { "name": "l", "kind": "number", "edges": [1, 2, 4], "want": "histogram" } ] },
        { "name": "k", "kind": "cross", "of": [
            { "name": "r", "kind": "choice", "options": ["a", "b"] },
            { "name": "l", "kind": "number", "min": 1, "max": 9, "want": "histogram", "bins": 4,
              "spacing": "logarithmic" } ] },
        { "name": "y", "kind": "cross", "of": [
            { "name": "r", "kind": "flag" },
            { "name": "l", "kind": "number", "min": 1, "max": 9, "want": "histogram", "step": 2 } ] },
        { "name": "n", "kind": "numbers", "weight": 1, "mechanism": { "name": "window", "drawn": 1, "atoms": 4, "favoured": 1, "values": [1, 3] },
          "of": [{ "name": "x", "min": 0, "max": 1, "unit": "s" }, { "name": "y", "min": 0, "max": 1 }] },
        { "name": "o", "kind": "numbers", "mechanism": { "name": "window", "drawn": 1, "favoured": 2 },
          "of": [{ "name": "x", "min": 0, "max": 1 }, { "name": "y", "min": 0, "max": 1 }] },
        { "name": "p", "kind": "together", "weight": 1, "of": [
            { "name": "x", "kind": "flag" }, { "name": "y", "kind": "choice", "options": 3 } ] }
    ] }"#,
    r#"{ "id": "coco", "items": 9, "sparsity": 2, "epsilon": 2.0, "value": "sign", "people": 500,
        "entries": [1, 2, 3], "overlap": 4096, "budget": { "days": 7, "reports": 2 },
        "mechanism": { "name": "coco", "rule": "strongest", "favoured": 1, "hashing": "balanced",
        "buckets": 8, "hashes": 1 } }"#,
    r#"{ "id": "user", "items": 9, "sparsity": 2, "epsilon": 2.0, "value": "sign",
        "budget": { "days": 3650, "cover": { "minutes": 60 } },
        "mechanism": { "name": "hash-bin", "level": "user", "clip": 2.0, "noise": "laplace",
        "hashing": "independent", "bins": 1, "grid": 256 } }"#,
    r#"{ "id": "near", "items": 9, "sparsity": 2, "epsilon": 2.0, "value": "sign",
        "mechanism": { "name": "hash-bin", "level": "neighbouring", "distance": 2.0, "delta": 1e-6 } }"#,
    r#"{ "id": "auto", "items": 9, "sparsity": 2, "epsilon": 2.0, "value": "sign", "mechanism":
        { "name": "auto", "objective": { "mean": 1, "frequency": 2, "nonmissing": 0 }, "level": "user" } }"#,
    r#"{ "id": "sums", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
        "honest_fraction": 0.8, "budget": { "days": 7 },
        "messages": { "levels": 7, "drawn": 3, "trials": 3, "threshold": "5958044372478328832", "noise": 18 },
        "numbers": [{ "name": "x", "min": 0, "max": 1, "unit": "s" }, { "name": "y", "min": 0, "max": 1 },
                    { "name": "z", "min": 0, "max": 1 }] }"#,
    r#"{ "id": "vector", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
        "vector": { "items": ["a", "b", "c"], "length": 1.0, "seed": "7", "spread": 2.0 } }"#,
    r#"{ "id": "shuffled", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
        "questions": [
            { "name": "a", "kind": "choice", "options": 3 },
            { "name": "b", "kind": "set", "options": ["a", "b", "c"], "sparsity": 2 },
            { "name": "c", "kind": "flag" },
            { "name": "d", "kind": "number", "min": 0, "max": 1, "bins": 40, "unit": "s" } ] }"#,
    r#"{ "id": "lottery", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
        "questions": [{ "name": "a", "kind": "choice", "options": 3 }],
        "messages": { "draws": 1, "threshold": "262126765074853713", "equal": true } }"#,
];

/// Small tasks, which are fast to try. Tasks with questions are split, one for each question.
fn examples() -> Vec<Value> {
    let texts = TASKS.iter().chain(&MORE);
    let tasks = texts.map(|text| serde_json::from_str::<Value>(text).unwrap());
    tasks
        .flat_map(|task| match task["questions"].as_array() {
            None => vec![task],
            Some(questions) => {
                let with = |question: &Value| {
                    let mut own = task.clone();
                    own["questions"] = json!([question]);
                    own
                };
                questions.iter().map(with).collect()
            }
        })
        .collect()
}

const KINDS: [&str; 9] = [
    "choice", "cross", "flag", "number", "numbers", "ratings", "set", "text", "together",
];

/// Values of every type, some of them valid.
fn things() -> Vec<Value> {
    let long = "x".repeat(257);
    vec![
        json!(null),
        json!(true),
        json!(""),
        json!("open"),
        json!("Never A Name"),
        json!(long),
        json!("01"),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(1),
        json!(1.5),
        json!(5),
        json!(13),
        json!(127),
        json!(1025),
        json!(5000),
        json!(70_000),
        json!(5_000_000),
        json!(1e-20),
        json!(1e300),
        json!([]),
        json!(["a"]),
        json!(["a", "a"]),
        json!([1.5, "a"]),
        json!([0]),
        json!([1, 5000]),
        json!({}),
        json!({ "name": "auto" }),
        json!({ "name": "x", "kind": "flag" }),
    ]
}

/// Locations of all values within a value, and of the value itself.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    match value {
        Value::Object(all) => {
            for (key, own) in all {
                places(own, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(all) => {
            for (index, own) in all.iter().enumerate() {
                places(own, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn places_of(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    places(value, "", &mut found);
    found
}

/// Every change of the task at one location.
fn mutants(task: &Value, place: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Value)| {
        let mut value = task.clone();
        change(value.pointer_mut(place).unwrap());
        all.push(value);
    };
    let own = task.pointer(place).unwrap();
    for thing in things() {
        // Serde also reads a struct from an array, which is no supported format.
        if !(own.is_object() && thing.is_array()) {
            add(&|value| *value = thing.clone());
        }
    }
    match own {
        Value::Object(fields) => {
            add(&|value| value["more"] = json!(1));
            for key in fields.keys() {
                add(&|value| drop(value.as_object_mut().unwrap().remove(key)));
                add(&|value| {
                    let fields = value.as_object_mut().unwrap();
                    let own = fields.remove(key).unwrap();
                    fields.insert(format!("{key}x"), own);
                });
            }
        }
        Value::Array(all) => {
            let Some(last) = all.last() else {
                return Vec::new();
            };
            add(&|value| drop(value.as_array_mut().unwrap().pop()));
            // Longer than the limit of a list.
            let long = if last.is_number() { 4100 } else { 1030 };
            for count in [3, 70, long] {
                let more = (all.len()..count).map(|index| match last {
                    Value::String(text) => json!(format!("{text}{index}")),
                    Value::Number(_) => json!(index + 100),
                    other => other.clone(),
                });
                let more: Vec<Value> = more.collect();
                add(&|value| value.as_array_mut().unwrap().extend(more.clone()));
            }
        }
        Value::String(_) if place.ends_with("/kind") => {
            for kind in KINDS {
                add(&|value| *value = json!(kind));
            }
        }
        _ => {}
    }
    all
}

/// Verdict of the command on a task.
enum Verdict {
    Taken,
    /// Refused for its shape.
    Shapeless(String),
    /// Refused for its values.
    Impossible,
}

/// Messages of serde about shapes.
const SHAPES: [&str; 6] = [
    "invalid type",
    "unknown field",
    "unknown variant",
    "missing field",
    "invalid length",
    "did not match any variant",
];

/// Checks a task. Resolving takes time, so it is optional.
fn verdict(value: &Value, resolve: bool) -> Verdict {
    match serde_json::from_value::<ReportOrSumDraft>(value.clone()) {
        Err(error) => {
            let said = error.to_string();
            match SHAPES.iter().any(|shape| said.contains(shape)) {
                true => Verdict::Shapeless(said),
                false => Verdict::Impossible,
            }
        }
        Ok(draft) if resolve && draft.resolve_task().is_err() => Verdict::Impossible,
        Ok(_) => Verdict::Taken,
    }
}

/// Checks that schema and command agree, as far as they can. Returns whether the schema accepts.
fn check(validator: &Validator, value: &Value) -> bool {
    let fits = validator.is_valid(value);
    match verdict(value, !fits) {
        Verdict::Taken => assert!(
            fits,
            "only the schema refuses {value}: {:?}",
            validator.validate(value).unwrap_err().to_string()
        ),
        Verdict::Shapeless(said) => {
            // JSON Schema accepts a whole number however it is written.
            let whole = said.contains("invalid type: floating point `1e+300`");
            assert!(!fits || whole, "only the command refuses {value}: {said}");
        }
        Verdict::Impossible => {}
    }
    fits
}

/// Locations of the keywords that constrain a value.
fn words(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
    const WORDS: [&str; 14] = [
        "type",
        "const",
        "enum",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minLength",
        "maxLength",
        "pattern",
        "required",
        "additionalProperties",
    ];
    match schema {
        Value::Object(all) => {
            let is_names = place.ends_with("/properties") || place.ends_with("/$defs");
            for (key, own) in all {
                let place = format!("{place}/{key}");
                if !is_names && WORDS.contains(&key.as_str()) {
                    // An empty list of required fields never refuses.
                    if *own != json!([]) {
                        found.insert(place);
                    }
                } else {
                    words(own, &place, found);
                }
            }
        }
        Value::Array(all) => {
            for (index, own) in all.iter().enumerate() {
                words(own, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Notes the keywords that refuse a value at this location, or a field of the object there.
fn note(error: &ValidationError<'_>, place: &str, noted: &mut BTreeSet<String>) {
    if error.instance_path().as_str() == place {
        noted.insert(error.schema_path().as_str().to_owned());
    }
    let (ValidationErrorKind::AnyOf { context }
    | ValidationErrorKind::OneOfNotValid { context }
    | ValidationErrorKind::OneOfMultipleValid { context }) = error.kind()
    else {
        return;
    };
    for within in context.iter().flatten() {
        note(within, place, noted);
    }
}

#[test]
fn examples_are_taken() {
    let (_, validator) = compiled("task");
    for example in examples() {
        validator.validate(&example).unwrap();
        let draft: ReportOrSumDraft = serde_json::from_value(example).unwrap();
        draft.resolve_task().unwrap();
    }
}

/// Every keyword of the schema is needed, and none is missing.
#[test]
fn with_one_thing_changed_the_schema_and_the_command_agree() {
    let (schema, validator) = compiled("task");
    let mut noted = BTreeSet::new();
    let mut taken = 0;
    let mut refused = 0;
    for example in examples() {
        for place in places_of(&example) {
            for value in mutants(&example, &place) {
                if check(&validator, &value) {
                    taken += 1;
                    continue;
                }
                refused += 1;
                for error in validator.iter_errors(&value) {
                    note(&error, &place, &mut noted);
                }
            }
        }
    }
    assert!(taken > 500 && refused > 5000, "{taken} {refused}");
    let mut all = BTreeSet::new();
    words(&schema, "", &mut all);
    // These keys occur in files only, and are tested with them.
    all.retain(|place| !place.contains("/$schema/") && !place.contains("/labels/"));
    let unused: Vec<&String> = all.difference(&noted).collect();
    assert!(
        all.len() > 200 && unused.is_empty(),
        "{} {unused:#?}",
        all.len()
    );
}

/// Many changes at once.
#[test]
fn whatever_is_changed_the_schema_takes_what_the_command_takes() {
    let (_, validator) = compiled("task");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut any = |count: usize| draw_below(&mut rng, count as u32) as usize;
    let mut taken = 0;
    for _ in 0..100 {
        for mut value in examples() {
            for _ in 0..1 + any(3) {
                let mut places = places_of(&value);
                let place = places.swap_remove(any(places.len()));
                let mut changed = mutants(&value, &place);
                if !changed.is_empty() {
                    value = changed.swap_remove(any(changed.len()));
                }
            }
            taken += usize::from(check(&validator, &value));
        }
    }
    assert!(taken > 100, "{taken}");
}
