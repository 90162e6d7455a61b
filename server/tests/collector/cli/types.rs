//! `hushbin task types`: the modules in `www/examples` are its output, so the TypeScript compiler
//! checks the output when it checks them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hushbin::TaskDraft;
use hushbin_tests::process::hushbin;
use serde_json::Value;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../www/examples")
}

/// Task files and the modules generated from them.
fn modules() -> [(PathBuf, PathBuf); 5] {
    let pairs = [
        ("typed/visits.json", "typed/visits.ts"),
        ("next/features.json", "next/app/features.ts"),
        ("react/settings.json", "react/src/settings.ts"),
        ("typed/timings.json", "typed/timings.ts"),
        ("typed/layouts.json", "typed/layouts.ts"),
    ];
    pairs.map(|(file, module)| (examples().join(file), examples().join(module)))
}

/// `HUSHBIN_REGENERATE=1` rewrites the modules.
#[test]
fn examples_are_what_is_written() {
    for (file, module) in modules() {
        let (file, module) = (file.to_str().unwrap(), module.to_str().unwrap());
        if std::env::var_os("HUSHBIN_REGENERATE").is_some() {
            assert!(
                hushbin(&["task", "types", file, "--out", module])
                    .status
                    .success()
            );
        }
        let output = hushbin(&["task", "types", file]);
        assert!(output.status.success(), "{output:?}");
        let written = String::from_utf8(output.stdout).unwrap();
        assert_eq!(written, fs::read_to_string(module).unwrap());
    }
}

/// The examples include a task without names and one with a question of each kind.
#[test]
fn examples_are_of_every_kind() {
    let [(named, _), (unnamed, _), ..] = modules();
    let read = |file: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    };
    assert!(read(&unnamed).get("items").is_some());
    let named = read(&named);
    let questions = named["questions"].as_array().unwrap();
    let kinds: BTreeSet<&str> = questions
        .iter()
        .map(|own| own["kind"].as_str().unwrap())
        .collect();
    let every = [
        "choice", "cross", "flag", "number", "numbers", "ratings", "set", "text", "together",
    ];
    assert_eq!(kinds, BTreeSet::from(every));
}

/// A module contains the complete task, and `--out` gives the same output.
#[test]
fn a_module_holds_the_complete_task() {
    let directory = tempfile::tempdir().unwrap();
    let [(file, _), ..] = modules();
    let out = directory.path().join("task.ts");
    let complete = directory.path().join("task.json");
    let arguments = [
        "task",
        "types",
        file.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    let output = hushbin(&arguments);
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    let draft: TaskDraft = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let task = draft.resolve_task().unwrap();
    let module = fs::read_to_string(&out).unwrap();
    assert!(module.contains(&task.fingerprint().to_string()));
    // A complete task gives the same module as its draft.
    fs::write(&complete, serde_json::to_string(&task).unwrap()).unwrap();
    let again = hushbin(&["task", "types", complete.to_str().unwrap()]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), module);
}

#[test]
fn what_is_no_task_is_refused_by_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    fs::write(
        &file,
        r#"{ "id": "t", "items": 4, "sparsity": 5, "epsilon": 1, "value": "sign" }"#,
    )
    .unwrap();
    let nowhere = directory.path().join("missing").join("task.ts");
    let [(good, _), ..] = modules();
    for (file, out, words) in [
        (&file, None, "sparsity is 5, expected 1 to 4"),
        (&good, Some(&nowhere), "No such file"),
    ] {
        let mut arguments = vec!["task", "types", file.to_str().unwrap()];
        arguments.extend(out.iter().flat_map(|out| ["--out", out.to_str().unwrap()]));
        let output = hushbin(&arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(words), "{said}");
    }
}
