//! The schemas that `hushbin schema` prints agree with the commands.

mod files;
mod mutants;

use std::fs;
use std::path::{Path, PathBuf};

use axum::http::Method;
use hushbin_server::task::ReportOrSumDraft;
use hushbin_tests::process::{answer, hushbin};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{App, SETTINGS};

/// Compiled schema for a kind of file.
fn compiled(kind: &str) -> (Value, Validator) {
    let schema = answer(&["schema", kind]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    (schema, validator)
}

/// Path in the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Files in a folder and its subfolders.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let within = |path: PathBuf| match path.is_dir() {
        true => files_below(&path),
        false => vec![path],
    };
    entries.flat_map(within).collect()
}

#[test]
fn they_are_schemas_of_this_version() {
    for (kind, draft) in [
        ("task", "https://json-schema.org/draft/2020-12/schema"),
        ("config", "http://json-schema.org/draft-07/schema#"),
    ] {
        let (schema, _) = compiled(kind);
        jsonschema::meta::validate(&schema).unwrap();
        assert_eq!(schema["$schema"], draft);
        let id = format!("urn:hushbin:schema:{kind}:{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(schema["$id"], id);
    }
}

/// Properties of a schema and of its nested schemas, with their locations.
fn properties<'a>(schema: &'a Value, place: &str, found: &mut Vec<(String, &'a Value)>) {
    match schema {
        Value::Object(all) => {
            let own = all.get("properties").and_then(Value::as_object);
            for (name, property) in own.into_iter().flatten() {
                found.push((format!("{place}/{name}"), property));
            }
            for (key, within) in all {
                properties(within, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(all) => {
            for (index, within) in all.iter().enumerate() {
                properties(within, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Editors show the description of a field.
#[test]
fn every_field_is_described() {
    for kind in ["task", "config"] {
        let (schema, _) = compiled(kind);
        let mut found = Vec::new();
        properties(&schema, "", &mut found);
        assert!(found.len() > 30, "{found:?}");
        for (place, property) in found {
            let referred = property["$ref"].as_str();
            let resolved = referred.map_or(property, |own| schema.pointer(&own[1..]).unwrap());
            let described =
                |own: &Value| own["description"].as_str().is_some_and(|own| own.len() > 5);
            // The choice between two fields of a text is described at a neighbouring field.
            let either = place.contains("/oneOf/7/oneOf/");
            assert!(
                described(property) || described(resolved) || either,
                "{place}"
            );
        }
    }
}

/// A task file may have a `$schema` key, which is not part of the task.
#[test]
fn a_file_may_note_its_schema() {
    let directory = tempfile::tempdir().unwrap();
    let complete = |task: &str| {
        let [file, out] = ["given.json", "out.json"].map(|name| directory.path().join(name));
        fs::write(&file, task).unwrap();
        let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
        let output = hushbin(&["task", "check", file, "--out", out]);
        assert!(output.status.success(), "{output:?}");
        let module = hushbin(&["task", "types", file]);
        (
            fs::read_to_string(out).unwrap(),
            output.stdout,
            module.stdout,
        )
    };
    let (_, validator) = compiled("task");
    let survey =
        r#"{ "id": "s", "epsilon": 1, "questions": [{ "name": "beta", "kind": "flag" }] }"#;
    let sums = r#"{ "id": "t", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
        "numbers": [{ "name": "load", "min": 0, "max": 10 }] }"#;
    for task in [SETTINGS, survey, sums] {
        let noted = task.replacen('{', r#"{ "$schema": "task.schema.json","#, 1);
        let value: Value = serde_json::from_str(&noted).unwrap();
        validator.validate(&value).unwrap();
        let [without, with] = [task, &noted].map(complete);
        assert_eq!(without, with);
        assert!(!with.0.contains("$schema"), "{}", with.0);

        // Both the schema and the command refuse an invalid `$schema`.
        let odd = task.replacen('{', r#"{ "$schema": 3,"#, 1);
        assert!(!validator.is_valid(&serde_json::from_str(&odd).unwrap()));
        let file = directory.path().join("odd.json");
        fs::write(&file, &odd).unwrap();
        let output = hushbin(&["task", "check", file.to_str().unwrap()]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("invalid type: integer `3`"), "{said}");

        // Requests and tasks for pages are not files, so they have no such key.
        let sent = serde_json::from_str::<ReportOrSumDraft>(&noted).unwrap_err();
        assert!(
            sent.to_string().contains("unknown field `$schema`"),
            "{sent}"
        );
        let mut whole: Value = serde_json::from_str(&with.0).unwrap();
        assert!(
            serde_json::from_value::<hushbin_server::task::ReportOrSumTask>(whole.clone()).is_ok()
        );
        whole["$schema"] = json!("task.schema.json");
        assert!(serde_json::from_value::<hushbin_server::task::ReportOrSumTask>(whole).is_err());
    }
}

/// Schema and command accept the same labels.
#[test]
fn a_file_may_have_labels() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let (_, validator) = compiled("task");
    let many = |count: usize| json!((0..count).map(|own| own.to_string()).collect::<Vec<_>>());
    for (labels, expected) in [
        (json!(["control"]), true),
        (json!(["DE", "2.14.0", "a_b-c"]), true),
        (json!(["x".repeat(32)]), true),
        (many(64), true),
        (many(65), false),
        (json!([]), false),
        (json!(["a", "a"]), false),
        (json!(["x".repeat(33)]), false),
        (json!([""]), false),
        (json!([".a"]), false),
        (json!(["a:b"]), false),
        (json!(["é"]), false),
        (json!([1]), false),
        (json!("a"), false),
    ] {
        let mut task: Value = serde_json::from_str(SETTINGS).unwrap();
        task["labels"] = labels;
        assert_eq!(validator.is_valid(&task), expected, "{task}");
        fs::write(&file, task.to_string()).unwrap();
        let output = hushbin(&["task", "check", file.to_str().unwrap()]);
        assert_eq!(output.status.success(), expected, "{task}: {output:?}");
    }
}

#[tokio::test]
async fn what_is_sent_notes_no_schema() {
    let app = App::new();
    let mut task: Value = serde_json::from_str(SETTINGS).unwrap();
    task["id"] = json!("another");
    let send = async |task: &Value| {
        let body = json!({ "task": task }).to_string();
        app.send(Method::POST, "/tasks", &[], body).await
    };
    task["$schema"] = json!("task.schema.json");
    send(&task).await.problem("bad-request", 400);
    task.as_object_mut().unwrap().remove("$schema").unwrap();
    assert_eq!(send(&task).await.status, 201);
}
