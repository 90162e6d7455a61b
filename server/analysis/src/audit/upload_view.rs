//! Attacker's view of an upload.
//!
//! An upload that the collector accepts consists of an id and reports, and nothing else. The task
//! determines version and fingerprint. Each number has only one encoding, so the reports determine
//! the upload's length. An upload that the collector refuses can contain anything.

use std::hash::{BuildHasher, Hash};

use crate::likelihood::{Hypothesis, Observation, observe_report};
use hushbin::{Task, Upload, UploadId};

use super::fast_hasher::FastHashBuilder;
use super::word_feature::SeedAndIdWords;

/// Number of bytes before the id: the version and the fingerprint.
const BYTES_BEFORE_ID: usize = 17;

/// Attacker's view of an upload that was made from one of two inputs.
#[derive(Debug, Clone)]
pub(super) struct AttackerUploadView {
    /// Observation of the first report, except that the log-likelihood ratio is the sum over all
    /// reports.
    pub(super) report_observation: Observation,
    /// Hash of the reports.
    pub(super) reports_hash: u64,
    pub(super) upload_id: UploadId,
    /// Hash of the upload apart from its reports. For an upload that the collector accepts, it is a
    /// hash of the number of reports. Otherwise it is a hash of the length, the first bytes and the
    /// last byte.
    pub(super) non_report_hash: u64,
    pub(super) examined_words: SeedAndIdWords,
}

impl AttackerUploadView {
    /// Decodes an upload. The sender gave one of the two answers `inputs` to the question at index
    /// `question`. If a report answers a different question, only its seed can reveal anything
    /// about this answer.
    pub(super) fn new(
        task: &Task,
        question: usize,
        inputs: [&Hypothesis; 2],
        bytes: &[u8],
    ) -> Self {
        let Ok(Upload { id, reports }) = Upload::decode(bytes, task) else {
            return Self::from_refused_upload(bytes);
        };
        let mut seen = reports.iter().map(|report| {
            if task
                .question_selector()
                .question_index_for_seed(report.seed())
                == question
            {
                observe_report(&task.questions()[question], inputs, report)
            } else {
                Observation::from_seed_only(report.seed())
            }
        });
        let mut observation = seen.next().unwrap_or_default();
        observation.log_likelihood_ratio +=
            seen.map(|other| other.log_likelihood_ratio).sum::<f64>();
        Self {
            reports_hash: hash_value(&reports),
            upload_id: id,
            non_report_hash: hash_value(reports.len()),
            examined_words: SeedAndIdWords::new(observation.seed, id),
            report_observation: observation,
        }
    }

    fn from_refused_upload(bytes: &[u8]) -> Self {
        let start = bytes.get(..BYTES_BEFORE_ID).unwrap_or(bytes);
        Self {
            report_observation: Observation::default(),
            reports_hash: hash_value(bytes),
            upload_id: UploadId([0; 16]),
            non_report_hash: hash_value((bytes.len(), start, bytes.last())),
            examined_words: SeedAndIdWords::default(),
        }
    }
}

/// Returns a hash of a value. Equal values have equal hashes.
fn hash_value(of: impl Hash) -> u64 {
    FastHashBuilder::default().hash_one(of)
}
