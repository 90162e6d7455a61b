//! Examples of the book work.

use hushbin::{Task, TaskDraft};

const COLLECTOR: &str = include_str!("../../www/docs/src/first/collector.md");
const KINDS: &str = include_str!("../../www/docs/src/ask/kinds.md");
const RATINGS: &str = include_str!("../../www/docs/src/ask/ratings.md");
const BUDGET: &str = include_str!("../../www/docs/src/ask/budget.md");

/// The only code block of a document with this fence.
fn block<'a>(document: &'a str, fence: &str) -> &'a str {
    let start = format!("```{fence}\n");
    let mut found = document.split(&start).skip(1);
    let block = found.next().unwrap().split("```").next().unwrap();
    assert!(found.next().is_none(), "{fence}");
    block
}

fn shown(document: &str, fence: &str) -> Task {
    let draft: TaskDraft = serde_json::from_str(block(document, fence)).unwrap();
    draft.resolve_task().unwrap()
}

#[test]
fn the_budget_shown_is_read() {
    let complete = serde_json::to_value(shown(BUDGET, "json settings.json")).unwrap();
    let file = block(BUDGET, "json settings.json");
    let written: serde_json::Value = serde_json::from_str(file).unwrap();
    assert_eq!(complete["budget"], written["budget"]);
    let mut fields = written["budget"].as_object().unwrap().keys();
    assert!(fields.all(|field| BUDGET.contains(&format!("`{field}`"))));
    assert!(RATINGS.contains("| `budget` |"));
}

#[test]
fn every_field_of_a_task_is_in_the_table() {
    let json = serde_json::to_value(shown(COLLECTOR, "json settings.json")).unwrap();
    let mechanism = json["mechanism"].as_object().unwrap();
    for field in json.as_object().unwrap().keys() {
        assert!(RATINGS.contains(&format!("| `{field}` |")), "{field}");
    }
    for field in mechanism.keys().filter(|field| *field != "name") {
        assert!(RATINGS.contains(&format!("`{field}`")), "{field}");
    }
}

/// The task of several questions resolves, and its page answers each question.
#[test]
fn questions_are_valid_and_answered() {
    let task = shown(KINDS, "json visits.json");
    assert_eq!(task.questions().len(), 10);
    let report = block(KINDS, "ts");
    for question in task.questions() {
        assert!(report.contains(&format!("  {}: ", question.name())));
        let row = format!("| [`{}`](", question.kind().name());
        assert!(KINDS.contains(&row), "{row}");
    }
}
