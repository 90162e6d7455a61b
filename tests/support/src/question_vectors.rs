//! Byte vectors of tasks with named questions, whose inputs are answers as in pages. Native tests
//! and those of the package run the same vectors.

use hushbin::task::{Question, QuestionKind, QuestionPart};
use hushbin::{Entry, Fingerprint, Randomizer, Task};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::byte_vectors::{bytes, hex, uploaded};

/// Input of a case: a complete task, a generator's seed, and people's answers by the names of
/// questions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    pub task: Task,
    /// 32 bytes in hexadecimal digits.
    pub generator: String,
    pub inputs: Vec<Value>,
}

/// Expected outcome of a case. The upload's id is drawn after its reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub fingerprint: Fingerprint,
    /// Question that each report answers.
    pub answered: Vec<String>,
    pub sampled_down: Vec<bool>,
    /// Bytes of each report.
    pub reports: Vec<String>,
    pub upload: String,
}

/// One element of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    pub given: Given,
    pub outcome: Outcome,
}

/// Converts an answer to entries, in the order of the JSON keys, which is that of the file.
fn entries(question: &Question, answer: &Value) -> Vec<Entry> {
    let item = |name: &str| question.items().find_item(name).unwrap();
    let option = |option: &Value| Entry {
        item: option
            .as_u64()
            .unwrap_or_else(|| item(option.as_str().unwrap())),
        value: 1.0,
    };
    match question.kind() {
        QuestionKind::Number(_) | QuestionKind::Numbers(_) if answer.is_number() => vec![Entry {
            item: 0,
            value: answer.as_f64().unwrap(),
        }],
        QuestionKind::Number(_) => vec![Entry {
            item: 1,
            value: 1.0,
        }],
        QuestionKind::Ratings(_) | QuestionKind::Numbers(_) => {
            let rated = answer.as_object().unwrap().iter();
            let entry = |(name, value): (&String, &Value)| Entry {
                item: item(name),
                value: value.as_f64().unwrap(),
            };
            rated.map(entry).collect()
        }
        QuestionKind::Set => answer.as_array().unwrap().iter().map(option).collect(),
        QuestionKind::Choice => vec![option(answer)],
        QuestionKind::Flag => vec![Entry {
            item: u64::from(answer.as_bool().unwrap()),
            value: 1.0,
        }],
        QuestionKind::Text(prefixes) => {
            let keys = prefixes.prefix_hashes(answer.as_str().unwrap()).into_iter();
            keys.map(|item| Entry { item, value: 1.0 }).collect()
        }
        QuestionKind::CrossTabulation(cross) => vec![Entry {
            item: part(cross.row_part(), answer) as u64,
            value: part(cross.column_part(), answer),
        }],
        QuestionKind::JointChoices(together) => (0..)
            .zip(together.parts())
            .map(|(item, own)| Entry {
                item,
                value: part(own, answer),
            })
            .collect(),
    }
}

/// Answer to a part: an option's index or a number.
fn part(part: &QuestionPart, answer: &Value) -> f64 {
    match &answer[part.name()] {
        Value::String(name) => part.items().find_item(name).unwrap() as f64,
        Value::Bool(answer) => f64::from(u8::from(*answer)),
        number => number.as_f64().unwrap(),
    }
}

/// Randomises the input of a case.
pub fn run(given: &Given) -> Outcome {
    let Given { task, inputs, .. } = given;
    let seed: [u8; 32] = bytes(&given.generator).try_into().unwrap();
    let mut rng = ChaCha20Rng::from_seed(seed);
    let mut randomizer = Randomizer::new(task);
    let mut made = Vec::new();
    let mut sampled_down = Vec::new();
    for input in inputs {
        let answer = |question: &Question| entries(question, &input[question.name()]);
        let answers: Vec<Vec<Entry>> = task.questions().iter().map(answer).collect();
        let answers: Vec<&[Entry]> = answers.iter().map(|entries| &entries[..]).collect();
        let randomized = randomizer.randomize_answers(&answers, &mut rng).unwrap();
        sampled_down.push(randomized.was_sampled_down);
        made.push(randomized.report);
    }
    let (reports, upload) = uploaded(task, made, &mut rng);
    let answered = |report: &Vec<u8>| {
        let seed = u64::from_le_bytes(report[..8].try_into().unwrap());
        task.questions()[task.question_selector().question_index_for_seed(seed)]
            .name()
            .to_owned()
    };
    Outcome {
        fingerprint: task.fingerprint(),
        answered: reports.iter().map(answered).collect(),
        sampled_down,
        reports: reports.iter().map(|report| hex(report)).collect(),
        upload: hex(&upload),
    }
}

/// Runs every case of a file and compares the outcome.
pub fn check(json: &str) {
    let cases: Vec<Case> = serde_json::from_str(json).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        assert_eq!(run(&case.given), case.outcome);
    }
}
