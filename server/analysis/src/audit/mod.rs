//! Privacy audits, which measure how much a report reveals.
//!
//! There are three methods. [`Task::achieved_report_epsilon`] computes the loss from the integer
//! thresholds that are sampled. [`enumerate_max_loss`] compares the probabilities of every report
//! between all inputs of a small task. [`measure_privacy_loss`] makes uploads and attacks them: the
//! attack's success gives a lower bound of the loss. This method assumes nothing about the
//! randomizer. No number of trials can prove privacy, only its absence.
//!
//! The first two methods cover inputs with values −1 and 1. Under Collision and CoCo, these inputs
//! have at most s entries, where s is the sparsity. Any other input is a mixture of such inputs,
//! since ternarisation and sampling down come first. A mixture has no greater loss. This holds
//! under two conditions. First, the random words of those two steps must neither show in the report
//! nor be used again for it. Second, only reports may leave the page. Only trials test these
//! conditions.

mod empirical;
mod enumerate_hash_bin;
mod enumerate_inputs;
mod fast_hasher;
mod simulated_batch;
mod statistic;
mod sum_audit;
mod trial_plan;
mod upload_view;
mod verdict;
mod word_feature;

pub use empirical::{AuditEvent, EmpiricalLossBound, measure_privacy_loss};
pub use enumerate_hash_bin::enumerate_hash_bin_loss;
pub use enumerate_inputs::{DEFAULT_MAX_ENUMERATION_STEPS, EnumeratedLoss, enumerate_max_loss};
pub use statistic::AttackStatistic;
pub use sum_audit::{SumAuditResult, audit_sums};
pub use trial_plan::DEFAULT_CONFIDENCE;
pub use trial_plan::{AuditError, TrialPlan};
pub use verdict::AuditVerdict;

use crate::likelihood::core_bucket_probability_fn;
use hushbin::{Entry, Randomizer, Task, UploadId, upload};
use rand_core::CryptoRng;
use serde::Serialize;

/// Result of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportAuditResult {
    /// Privacy budget ε of the task.
    pub requested_epsilon: f64,
    /// [`Task::achieved_report_epsilon`].
    pub effective_epsilon: f64,
    /// δ, the probability with which the guarantee may fail
    /// ([`Mechanism::delta`](hushbin::Mechanism::delta)).
    pub delta: f64,
    /// [`EnumeratedLoss::loss_upper_bound`]; `None` if the task is too large to enumerate.
    pub exact_epsilon: Option<f64>,
    /// Result of the trials.
    #[serde(flatten)]
    pub measured: EmpiricalLossBound,
    /// Number of runs of the randomizer on each of two inputs.
    pub trials: u64,
    /// Confidence at which the lower bound holds.
    pub confidence: f64,
    /// Number of enumerated inputs; `None` if the task is too large to enumerate.
    pub enumerated_inputs: Option<u64>,
    /// Number of seeds used by the enumeration; `None` if the task is too large to enumerate.
    pub enumerated_seeds: Option<u64>,
    /// Conclusion: whether the budget is kept.
    pub verdict: AuditVerdict,
}

/// Audits the core crate: enumerates its probabilities if the task is small enough, and attacks its
/// randomizer. `progress` is called with the number of randomizer runs done and the total.
pub fn audit_report_task<R: CryptoRng>(
    task: &Task,
    plan: &TrialPlan,
    rng: &mut R,
    progress: impl FnMut(u64, u64),
) -> ReportAuditResult {
    // Enumerates all questions or none: a question that is not enumerated may have a greater loss.
    let enumerations: Option<Vec<EnumeratedLoss>> = task
        .questions()
        .iter()
        .map(|question| {
            core_bucket_probability_fn(question)
                .and_then(|probabilities| {
                    enumerate_max_loss(question, DEFAULT_MAX_ENUMERATION_STEPS, rng, probabilities)
                })
                .or_else(|| enumerate_hash_bin_loss(question, DEFAULT_MAX_ENUMERATION_STEPS, rng))
        })
        .collect();
    let enumeration =
        enumerations.and_then(|all| all.into_iter().reduce(EnumeratedLoss::greater_loss_of_two));
    let measured = measure_privacy_loss(task, plan, upload_appender(task, rng), progress);
    ReportAuditResult::new(task, plan, enumeration, measured)
}

/// Returns a function that appends an upload with one person's report. The upload is made as pages
/// make it: a header with a fresh random id, then the report.
///
/// # Panics
/// The returned function panics on entries that are no valid input of the task.
pub fn upload_appender<R: CryptoRng>(
    task: &Task,
    mut rng: R,
) -> impl FnMut(&[&[Entry]], &mut Vec<u8>) {
    let mut randomizer = Randomizer::new(task);
    let fingerprint = task.fingerprint();
    let mut report = Vec::new();
    move |answers, upload| {
        report.clear();
        let made = randomizer.randomize_and_encode(answers, &mut rng, &mut report);
        made.expect("neighbours are valid inputs of their task");
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        upload.extend(upload::upload_header(UploadId(id), &fingerprint, 1));
        upload.extend_from_slice(&report);
    }
}

impl ReportAuditResult {
    /// Combines the results of enumeration and trials. The budget is exceeded if either method
    /// shows a loss above it.
    #[must_use]
    pub fn new(
        task: &Task,
        plan: &TrialPlan,
        enumeration: Option<EnumeratedLoss>,
        measured: EmpiricalLossBound,
    ) -> Self {
        let requested = task.epsilon();
        let effective = task.achieved_report_epsilon();
        let exceeds = measured.lower_bound > requested
            || enumeration
                .is_some_and(|enumeration| enumeration.certainly_exceeds_epsilon(requested));
        Self {
            requested_epsilon: requested,
            effective_epsilon: effective,
            delta: trial_plan::max_question_delta(task),
            exact_epsilon: enumeration.map(|enumeration| enumeration.loss_upper_bound(effective)),
            measured,
            trials: plan.trials_per_input(),
            confidence: plan.confidence(),
            enumerated_inputs: enumeration.map(|enumeration| enumeration.input_count),
            enumerated_seeds: enumeration.map(|enumeration| enumeration.seed_count),
            verdict: if exceeds {
                AuditVerdict::ExceedsBudget
            } else {
                AuditVerdict::WithinBudget
            },
        }
    }
}
