//! What the README shows works.

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

const README: &str = include_str!("../../README.md");

/// The first block of code in this language.
fn block(language: &str) -> &'static str {
    block_after("", language)
}

/// The first one behind a text.
fn block_after(text: &str, language: &str) -> &'static str {
    let after = &README[README.find(text).unwrap()..];
    let start = format!("```{language}\n");
    let rest = &after[after.find(&start).unwrap() + start.len()..];
    &rest[..rest.find("```").unwrap()]
}

#[test]
fn the_task_is_valid_and_takes_the_report_shown() {
    let task: Task = serde_json::from_str::<TaskDraft>(block("json"))
        .unwrap()
        .resolve()
        .unwrap();
    let entries: Vec<Entry> = ["dark-mode", "autoplay"]
        .iter()
        .zip([1.0, -1.0])
        .map(|(name, value)| {
            assert!(block("ts").contains(name));
            let item = task.questions()[0].items().resolve(name).unwrap();
            Entry { item, value }
        })
        .collect();
    assert!(block("ts").contains(&format!("task: \"{}\"", task.id())));
    assert!(block("ts").contains(&format!("fingerprint: \"{}\"", task.fingerprint())));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    Randomizer::new(&task)
        .randomize(&entries, &mut rng)
        .unwrap();
}

#[test]
fn the_budget_shown_is_read() {
    let file = block_after("### How often a person reports", "json");
    let task = serde_json::from_str::<TaskDraft>(file).unwrap().resolve();
    let shown: serde_json::Value = serde_json::from_str(file).unwrap();
    let complete = serde_json::to_value(task.unwrap()).unwrap();
    assert_eq!(complete["budget"], shown["budget"]);
    let fields = shown["budget"].as_object().unwrap();
    assert!(
        fields
            .keys()
            .all(|field| README.contains(&format!("`{field}`")))
    );
    assert!(README.contains("| `budget` |"));
}

#[test]
fn every_field_of_a_task_is_in_the_table() {
    let task: Task = serde_json::from_str::<TaskDraft>(block("json"))
        .unwrap()
        .resolve()
        .unwrap();
    let json = serde_json::to_value(&task).unwrap();
    let mechanism = json["mechanism"].as_object().unwrap();
    for field in json.as_object().unwrap().keys() {
        assert!(README.contains(&format!("| `{field}` |")), "{field}");
    }
    for field in mechanism.keys().filter(|field| *field != "name") {
        assert!(README.contains(&format!("`{field}`")), "{field}");
    }
}

/// The task of several questions is chosen for, and its page answers each of them.
#[test]
fn questions_are_valid_and_answered() {
    let heading = "### Several questions";
    let draft: TaskDraft = serde_json::from_str(block_after(heading, "json")).unwrap();
    let task = draft.resolve().unwrap();
    assert_eq!(task.questions().len(), 10);
    let report = block_after(heading, "ts");
    for question in task.questions() {
        assert!(report.contains(&format!("  {}: ", question.name())));
        let row = format!("| `{}` |", question.kind().name());
        assert!(README.contains(&row), "{row}");
    }
}
