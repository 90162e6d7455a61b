//! Byte vectors of messages for sums: the same task, generator and answers give the same bytes on
//! every platform. Native tests, those in the browser and those of the package run the same
//! vectors.

use hushbin::sums::{SumRandomizer, SumTask};
use hushbin::{Fingerprint, UploadId, upload};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::byte_vectors::{bytes, hex};

/// Input of a case: a task as in files, a generator's seed, and people's numbers in the order of
/// the items.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    pub task: Value,
    /// 32 bytes in hexadecimal digits.
    pub generator: String,
    pub answers: Vec<Vec<f64>>,
}

/// Expected outcome of a case. The id of the last person's upload is drawn after all messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub fingerprint: Fingerprint,
    pub clipped: Vec<bool>,
    /// True if more than 10⁻⁶ of a vector was left out.
    pub left: Vec<bool>,
    /// Messages of each person, padded.
    pub messages: Vec<String>,
    pub upload: String,
}

/// One element of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    pub given: Given,
    pub outcome: Outcome,
}

/// Randomises the input of a case.
pub fn run(given: &Given) -> Outcome {
    let task: SumTask = serde_json::from_value(given.task.clone()).unwrap();
    let seed: [u8; 32] = bytes(&given.generator).try_into().unwrap();
    let mut rng = ChaCha20Rng::from_seed(seed);
    let (mut randomizer, mut drawn) = (SumRandomizer::new(&task), Vec::new());
    let (mut clipped, mut left, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    for answer in &given.answers {
        let lost = randomizer.randomize(answer, &mut rng, &mut drawn).unwrap();
        clipped.push(lost.was_clipped);
        left.push(lost.omitted_length > 1e-6);
        let mut encoded = Vec::new();
        task.encode_padded(&drawn, &mut encoded);
        messages.push(encoded);
    }
    let mut id = [0; 16];
    rng.fill_bytes(&mut id);
    let count = drawn.len() as u32;
    let mut sent = upload::upload_header(UploadId(id), &task.fingerprint(), count);
    sent.extend(messages.last().unwrap());
    Outcome {
        fingerprint: task.fingerprint(),
        clipped,
        left,
        messages: messages.iter().map(|own| hex(own)).collect(),
        upload: hex(&sent),
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
