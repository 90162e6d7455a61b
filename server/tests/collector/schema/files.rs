//! Task files and configuration files of the repository.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{compiled, files_below, repository};

/// Code blocks of a chapter that the reader saves as files: names and texts.
fn blocks<'a>(chapter: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let fence = format!("\n```{language} ");
    let blocks = chapter.split(&fence).skip(1);
    blocks
        .filter_map(|block| {
            let (name, rest) = block.split_once('\n')?;
            Some((name, rest.split_once("\n```")?.0))
        })
        .collect()
}

fn is_named(path: &Path, ending: &str) -> bool {
    path.to_str().unwrap().ends_with(ending)
}

/// Tasks and drafts within a test vector.
fn tasks_within(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(all) => {
            if all.contains_key("id") && all.contains_key("epsilon") {
                found.push(value.clone());
            }
            all.values().for_each(|own| tasks_within(own, found));
        }
        Value::Array(all) => all.iter().for_each(|own| tasks_within(own, found)),
        _ => {}
    }
}

#[test]
fn every_task_of_the_repository_is_as_described() {
    let (_, validator) = compiled("task");
    let mut tasks: Vec<(String, Value)> = Vec::new();
    for folder in ["www/examples", "server/examples", "www/demo/story/tasks"] {
        for path in files_below(&repository(folder)) {
            if is_named(&path, ".json") {
                let text = fs::read_to_string(&path).unwrap();
                let value: Value = serde_json::from_str(&text).unwrap();
                // Packages and compilers have JSON files, too.
                if value.get("epsilon").is_some() {
                    tasks.push((path.display().to_string(), value));
                }
            }
        }
    }
    let of_folders = tasks.len();
    for path in files_below(&repository("www/docs/src")) {
        if !is_named(&path, ".md") {
            continue;
        }
        let chapter = fs::read_to_string(&path).unwrap();
        for (name, text) in blocks(&chapter, "json") {
            let place = format!("{name} of {}", path.display());
            let value: Value = serde_json::from_str(text).unwrap();
            // There are other JSON files, too.
            if value.get("epsilon").is_some() {
                tasks.push((place, value));
            }
        }
    }
    let of_book = tasks.len();
    for path in files_below(&repository("tests/vectors")) {
        if is_named(&path, ".json") {
            let text = fs::read_to_string(&path).unwrap();
            let mut within = Vec::new();
            tasks_within(&serde_json::from_str(&text).unwrap(), &mut within);
            let named = |own| (path.display().to_string(), own);
            tasks.extend(within.into_iter().map(named));
        }
    }
    // Each of the sources has some.
    let counts = [of_folders, of_book - of_folders, tasks.len() - of_book];
    assert!(
        counts[0] >= 7 && counts[1] >= 20 && counts[2] >= 20,
        "{counts:?}"
    );
    for (place, task) in tasks {
        if let Err(fault) = validator.validate(&task) {
            panic!(
                "{place}, at {:?}: {fault}\n{task}",
                fault.instance_path().as_str()
            );
        }
    }
}

#[test]
fn every_configuration_of_the_repository_is_as_described() {
    let (_, validator) = compiled("config");
    let mut found = Vec::new();
    for path in files_below(&repository("server/config")) {
        let text = fs::read_to_string(&path).unwrap();
        found.push((path.display().to_string(), text));
    }
    let samples = found.len();
    for path in files_below(&repository("www/docs/src")) {
        if is_named(&path, ".md") {
            let chapter = fs::read_to_string(&path).unwrap();
            // The remaining blocks are for editors.
            let own = blocks(&chapter, "toml").into_iter();
            for (name, text) in own.filter(|(name, _)| name.starts_with("hushbin")) {
                found.push((format!("{name} of {}", path.display()), text.to_owned()));
            }
        }
    }
    assert!(samples >= 5 && found.len() > samples, "{found:?}");
    for (place, text) in found {
        let table: toml::Table = text.parse().unwrap();
        let value = serde_json::to_value(table).unwrap();
        if let Err(fault) = validator.validate(&value) {
            panic!("{place}, at {:?}: {fault}", fault.instance_path().as_str());
        }
    }
}
