//! What an attacker sees of an upload.
//!
//! An upload of a task that a collector takes is its id and its reports, and nothing else: version
//! and fingerprint are the task's, numbers have one encoding each, so that its length, too, is a
//! function of the reports. What the collector refuses can be anything.

use std::hash::{BuildHasher, Hash};

use hushbin::{Task, Upload, UploadId};
use hushbin_analysis::likelihood::{Hypothesis, Observation, observe};

use super::feature::Words;
use super::mixer::Mixing;

/// Bytes before the id: the version and the fingerprint.
const BEFORE_ID: usize = 17;

/// An upload, held against two inputs.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Of the first report, with the ratio of all of them.
    pub(super) observation: Observation,
    /// Equal for equal reports.
    pub(super) reports: u64,
    pub(super) id: UploadId,
    /// Equal for equal surroundings of the reports: their number, or how long an
    /// upload that the collector refuses is, how it begins and how it ends.
    pub(super) frame: u64,
    pub(super) words: Words,
}

impl Seen {
    /// Of an upload whose maker may have answered the question in this position in either
    /// way. A report that answers another tells nothing of it but its seed.
    pub(super) fn new(
        task: &Task,
        question: usize,
        inputs: [&Hypothesis; 2],
        bytes: &[u8],
    ) -> Self {
        let Ok(Upload { id, reports }) = Upload::decode(bytes, task) else {
            return Self::refused(bytes);
        };
        let mut seen = reports.iter().map(|report| {
            if task.draw().question(report.seed()) == question {
                observe(&task.questions()[question], inputs, report)
            } else {
                Observation::of_seed(report.seed())
            }
        });
        let mut observation = seen.next().unwrap_or_default();
        observation.log_ratio += seen.map(|other| other.log_ratio).sum::<f64>();
        Self {
            reports: key(&reports),
            id,
            frame: key(reports.len()),
            words: Words::new(observation.seed, id),
            observation,
        }
    }

    fn refused(bytes: &[u8]) -> Self {
        let start = bytes.get(..BEFORE_ID).unwrap_or(bytes);
        Self {
            observation: Observation::default(),
            reports: key(bytes),
            id: UploadId([0; 16]),
            frame: key((bytes.len(), start, bytes.last())),
            words: Words::default(),
        }
    }
}

/// Equal for what is equal.
fn key(of: impl Hash) -> u64 {
    Mixing::default().hash_one(of)
}
