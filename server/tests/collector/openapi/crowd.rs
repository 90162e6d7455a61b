//! Tasks of every kind and mechanism, and people who answer them.

use hushbin::task::QuestionKind;
use hushbin::{Entry, Question, Randomizer, Task, Upload, UploadId};
use hushbin_tests::uploads::draft;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// Every kind of question.
const EVERYTHING: &str = r#"{
    "id": "everything", "epsilon": 6.0, "budget": { "days": 7, "reports": 2 }, "questions": [
        { "name": "rated", "kind": "ratings", "items": ["a", "b,c"], "sparsity": 1, "value": "sign" },
        { "name": "features", "kind": "set", "options": 24, "sparsity": 2 },
        { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
        { "name": "signed-in", "kind": "flag", "weight": 3 },
        { "name": "load", "kind": "number", "unit": "ms", "edges": [0, 100, 200, 400] },
        { "name": "zoom", "kind": "number", "min": 0.5, "max": 2.5 },
        { "name": "idle", "kind": "number", "edges": [0, 1, 5], "optional": true },
        { "name": "times", "kind": "numbers", "of": [
            { "name": "first", "min": 0, "max": 10, "unit": "s" },
            { "name": "second", "min": -1, "max": 1 }
        ] },
        { "name": "plan-theme", "kind": "cross", "of": [
            { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
            { "name": "theme", "kind": "choice", "options": 3 }
        ] },
        { "name": "pro-load", "kind": "cross", "of": [
            { "name": "pro", "kind": "flag" },
            { "name": "load", "kind": "number", "min": 0, "max": 100, "unit": "ms" }
        ] },
        { "name": "both", "kind": "together", "of": [
            { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
            { "name": "pro", "kind": "flag" }
        ] },
        { "name": "query", "kind": "text", "prefixes": [1, 2] }
    ]
}"#;

/// Bins of a pattern, for a single question without a name.
const DELAYS: &str = r#"{
    "id": "delays", "epsilon": 2.0, "questions": [
        { "name": "delay", "kind": "number", "min": 0, "max": 64, "bins": 16, "want": "quantiles" }
    ]
}"#;

/// Further mechanisms.
const COCO: &str = r#"{
    "id": "coco", "items": ["a", "b", "c"], "sparsity": 2, "epsilon": 2.0, "value": "sign",
    "mechanism": { "name": "coco", "rule": "overwrite" }
}"#;
const CLIPPED: &str = r#"{
    "id": "clipped", "items": 6, "sparsity": 3, "epsilon": 2.0, "value": "real",
    "mechanism": { "name": "hash-bin", "level": "user", "clip": 2.0 }
}"#;
const NEAR: &str = r#"{
    "id": "near", "items": 6, "sparsity": 3, "epsilon": 2.0, "value": "sign",
    "mechanism": { "name": "hash-bin", "level": "neighbouring", "distance": 2.0, "delta": 1e-6 }
}"#;
const OPEN: &str = r#"{
    "id": "open", "items": "open", "sparsity": 2, "epsilon": 2.0, "value": "sign",
    "budget": { "days": 30, "reports": 2 }
}"#;
const MEMO: &str = r#"{
    "id": "memo", "epsilon": 1.0, "questions": [{ "name": "dark", "kind": "flag" }],
    "budget": { "days": 7, "memo": { "epsilon": 2.0, "days": 365 } }
}"#;

pub(crate) const TASKS: [&str; 7] = [EVERYTHING, DELAYS, COCO, CLIPPED, NEAR, OPEN, MEMO];

/// Ids of all tasks.
pub(crate) fn ids() -> Vec<String> {
    TASKS.iter().map(|task| draft(task).id).collect()
}

/// Answer of every person.
fn answer(question: &Question) -> Vec<Entry> {
    let value = |item, value| Entry { item, value };
    match question.kind() {
        QuestionKind::Number(_) => vec![value(0, 1.5)],
        QuestionKind::Numbers(of) => (0..of.len() as u64).map(|item| value(item, 0.5)).collect(),
        QuestionKind::JointChoices(_) => vec![value(0, 1.0), value(1, 1.0)],
        QuestionKind::Text(prefixes) => {
            let keys = prefixes.prefix_hashes("ab").into_iter();
            keys.map(|item| value(item, 1.0)).collect()
        }
        _ => vec![value(1, 1.0)],
    }
}

/// An upload of people with equal answers.
pub(crate) fn upload(task: &Task, people: usize, seed: u8) -> Upload {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let mut randomizer = Randomizer::new(task);
    let answers: Vec<Vec<Entry>> = task.questions().iter().map(answer).collect();
    let answers: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
    let mut report = |_| {
        let made = randomizer.randomize_answers(&answers, &mut rng);
        made.unwrap().report
    };
    Upload {
        id: UploadId([seed; 16]),
        reports: (0..people).map(&mut report).collect(),
    }
}
