//! Tests of `hushbin-study bounds`: the figure names every bound, and is written whole or not at
//! all.

use std::fs;
use std::path::Path;
use std::process::Output;

use hushbin_study::published::published_bounds;
use hushbin_tests::mixtures::occupied;
use serde_json::json;

use crate::study;

const TASK: &str = "task.json";

/// Draws the figure for a batch of 20,000 reports of the task in this directory.
fn draw(directory: &Path, file: &Path, more: &[&str]) -> Output {
    let task = directory.join(TASK);
    let paths = [
        "--task",
        task.to_str().unwrap(),
        "--out",
        file.to_str().unwrap(),
    ];
    let batch = ["bounds", "--reports", "20000", "--delta", "1e-7"];
    study(&[&batch[..], &paths, more].concat())
}

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let task = json!({
        "id": "t", "items": 40, "sparsity": 4, "epsilon": 0.4, "value": "sign",
        "mechanism": { "name": "collision", "rule": "occupied", "buckets": 17 },
    });
    fs::write(directory.path().join(TASK), task.to_string()).unwrap();
    directory
}

#[test]
fn bounds_are_drawn() {
    let directory = directory();
    let file = directory.path().join("privacy.svg");
    let drawn = draw(directory.path(), &file, &[]);
    assert!(drawn.status.success(), "{drawn:?}");
    let picture = fs::read_to_string(&file).unwrap();
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    // Every bound with a value is named, as text that can be searched.
    let words: Vec<&str> = picture
        .split("</text>")
        .filter_map(|text| Some(text.rsplit_once('>')?.1.trim()))
        .collect();
    let published = published_bounds(&occupied(4, 17, 0.4), 20_000, 1.0, 1e-7).unwrap();
    assert_eq!(published.len(), 10);
    let table = String::from_utf8(drawn.stdout).unwrap();
    let names = published.iter().map(|bound| bound.name);
    for (bound, line) in published.iter().zip(table.lines()) {
        assert!(
            line.starts_with(bound.name) && line.contains(bound.theorem_source),
            "{line}"
        );
        assert_eq!(
            bound.central_epsilon.is_none(),
            line.contains("only for"),
            "{line}"
        );
    }
    for name in names.chain([
        "hushbin, exact sum",
        "Central ε of a shuffled batch at δ = 1e-7",
        "central ε (nats)",
        "by local ε of a report (nats), n = 20000",
        "by reports in the batch, local ε = 0.4",
        "10⁶",
    ]) {
        let escaped = name.replace('\'', "&apos;");
        assert!(
            words.iter().any(|word| *word == name || *word == escaped),
            "{name}: {words:?}"
        );
    }
    assert!(!words.contains(&"none"));

    // A failed run leaves the previous file in place.
    fs::write(&file, "before").unwrap();
    let failed = draw(directory.path(), &file, &["--honest-fraction", "0.00001"]);
    assert!(!failed.status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
}

#[test]
fn any_randomizer_of_a_local_epsilon_has_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("privacy.svg");
    let batch = "bounds --epsilon 1 --reports 1000 --delta 1e-6 --out";
    let batch: Vec<&str> = batch.split(' ').chain(file.to_str()).collect();
    assert!(study(&batch).status.success());
    let picture = fs::read_to_string(&file).unwrap();
    assert!(picture.contains("local ε = 1\n") && picture.contains("hushbin, exact sum"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let directory = directory();
    let nowhere = directory.path().join("missing").join("privacy.svg");
    for file in [nowhere.as_path(), directory.path()] {
        let output = draw(directory.path(), file, &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
        let path = file.display();
        assert!(said.contains(&format!("cannot write {path}: ")), "{said}");
    }
    fs::write(directory.path().join(TASK), "{}").unwrap();
    let output = draw(directory.path(), &nowhere, &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("task.json: "),
        "{said}"
    );
}
