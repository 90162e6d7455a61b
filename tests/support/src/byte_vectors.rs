//! Byte vectors of whole reports and uploads: the same task, generator and inputs give the same
//! bytes on every platform. Native and browser tests run this same loop.

use hushbin::{
    Entry, Fingerprint, Mechanism, Randomizer, Report, Task, TaskDraft, Upload, UploadId,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Input of a case: a draft of a task, a generator's seed, and inputs of some people as names with
/// values.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    pub draft: serde_json::Value,
    /// 32 bytes in hexadecimal digits.
    pub generator: String,
    pub inputs: Vec<Vec<(String, f64)>>,
}

/// Expected outcome of a case. The upload's id is drawn after its reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub task: Task,
    pub fingerprint: Fingerprint,
    pub effective_epsilon: f64,
    #[serde(flatten)]
    pub rates: Rates,
    pub sampled_down: Vec<bool>,
    /// Bytes of each report.
    pub reports: Vec<String>,
    pub upload: String,
}

/// Divisors of estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rates {
    Collision { p_true: f64, p_false: f64 },
    Coco { gap: f64 },
    HashBin { scale: f64, noise: f64, shared: f64 },
}

/// One element of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    pub given: Given,
    pub outcome: Outcome,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

/// Randomises the input of a case.
pub fn run(given: &Given) -> Outcome {
    let draft: TaskDraft = serde_json::from_value(given.draft.clone()).unwrap();
    let task = draft.resolve_task().unwrap();
    let seed: [u8; 32] = bytes(&given.generator).try_into().unwrap();
    let mut rng = ChaCha20Rng::from_seed(seed);
    let mut randomizer = Randomizer::new(&task);
    let mut made = Vec::new();
    let mut sampled_down = Vec::new();
    for input in &given.inputs {
        let entries: Vec<Entry> = input
            .iter()
            .map(|(name, value)| Entry {
                item: task.questions()[0].items().find_item(name).unwrap(),
                value: *value,
            })
            .collect();
        let randomized = randomizer.randomize(&entries, &mut rng).unwrap();
        sampled_down.push(randomized.was_sampled_down);
        made.push(randomized.report);
    }
    let (reports, upload) = uploaded(&task, made, &mut rng);
    Outcome {
        fingerprint: task.fingerprint(),
        effective_epsilon: task.achieved_report_epsilon(),
        rates: rates(&task),
        sampled_down,
        reports: reports.iter().map(|report| hex(report)).collect(),
        upload: hex(&upload),
        task,
    }
}

/// Bytes of each report and of the upload, whose id is drawn after them.
pub(crate) fn uploaded(
    task: &Task,
    reports: Vec<Report>,
    rng: &mut ChaCha20Rng,
) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut id = [0; 16];
    rng.fill_bytes(&mut id);
    let upload = Upload {
        id: UploadId(id),
        reports,
    };
    let encoded = upload.encode(&task.fingerprint());
    assert_eq!(Upload::decode(&encoded, task).as_ref(), Ok(&upload));
    let bytes = |report: &Report| {
        let mut bytes = Vec::new();
        report.encode(&mut bytes);
        bytes
    };
    (upload.reports.iter().map(bytes).collect(), encoded)
}

/// Divisors of the task's estimates.
fn rates(task: &Task) -> Rates {
    let (domain, epsilon) = (task.questions()[0].domain(), task.epsilon());
    if let Mechanism::Collision(collision) = task.questions()[0].mechanism() {
        let rates = collision.hit_probabilities(&domain, epsilon);
        Rates::Collision {
            p_true: rates.p_true,
            p_false: rates.p_false,
        }
    } else if let Mechanism::Coco(coco) = task.questions()[0].mechanism() {
        let gap = coco
            .hit_probabilities(&domain, epsilon)
            .side_hit_probability_gap;
        Rates::Coco { gap }
    } else if let Mechanism::HashBin(hash_bin) = task.questions()[0].mechanism() {
        let rates = hash_bin.estimate_scale_and_variance(&domain, epsilon);
        Rates::HashBin {
            scale: rates.estimate_scale,
            noise: rates.empty_input_variance,
            shared: rates.same_bin_probability,
        }
    } else {
        panic!(
            "vectors are of these mechanisms, not of {}",
            task.questions()[0].mechanism().name()
        );
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
