//! Audits: how much a report of a task gives away, measured rather than promised.
//!
//! Three answers to the same question. The loss of the thresholds sampled, in integers, is
//! [`Task::effective_epsilon`]. [`enumerate`] compares the probabilities of every report between
//! all inputs, where a task is small. [`measure`] makes uploads and bounds the loss from below by
//! what an attacker achieves; it knows nothing of the randomizer's inside, and no number of trials
//! can prove privacy, only its absence.
//!
//! The first two are about inputs of −1 and 1, under Collision and CoCo with at most s entries. Any
//! other input is a mixture of those, as ternarisation and sampling down come before, and a mixture
//! loses no more: as long as they draw words that neither show in the report nor are used again for
//! it, and nothing but a report leaves the page. That is what only trials test.

mod empirical;
mod enumerate;
mod enumerate_bins;
mod feature;
mod mixer;
mod plan;
mod seen;
mod statistic;
mod sums;
mod verdict;

pub use empirical::{Event, Measured, measure};
pub use enumerate::{Enumeration, STEPS, enumerate};
pub use enumerate_bins::enumerate_bins;
pub(crate) use plan::DEFAULT_CONFIDENCE;
pub use plan::{AuditError, Plan};
pub use statistic::Statistic;
pub use sums::{SumAudit, audit_sums, sum_trials};
pub use verdict::Verdict;

use hushbin::{Entry, Randomizer, Task, UploadId, upload};
use hushbin_analysis::likelihood::core_probabilities;
use rand_core::CryptoRng;
use serde::Serialize;

/// The conclusion of an audit, with the numbers it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// The budget of the task, ε.
    pub requested_epsilon: f64,
    /// [`Task::effective_epsilon`].
    pub effective_epsilon: f64,
    /// δ, with which probability the guarantee may fail
    /// ([`Mechanism::delta`](hushbin::Mechanism::delta)).
    pub delta: f64,
    /// [`Enumeration::epsilon`]; `None` where the task is not small.
    pub exact_epsilon: Option<f64>,
    /// What trials found.
    #[serde(flatten)]
    pub measured: Measured,
    /// Number of runs of the randomizer on each of two inputs.
    pub trials: u64,
    /// Confidence at which the lower bound holds.
    pub confidence: f64,
    /// Number of inputs compared with each other.
    pub enumerated_inputs: Option<u64>,
    /// Number of seeds under which they were.
    pub enumerated_seeds: Option<u64>,
    /// What follows.
    pub verdict: Verdict,
}

/// The audit of what runs: the core's probabilities, where all inputs can be enumerated, and its
/// randomizer. `progress` is called with the runs of the randomizer done and all to do.
pub fn audit<R: CryptoRng>(
    task: &Task,
    plan: &Plan,
    rng: &mut R,
    progress: impl FnMut(u64, u64),
) -> Audit {
    // All of them, or none: what is not seen may be worse.
    let enumerations: Option<Vec<Enumeration>> = task
        .questions()
        .iter()
        .map(|question| {
            core_probabilities(question)
                .and_then(|probabilities| enumerate(question, STEPS, rng, probabilities))
                .or_else(|| enumerate_bins(question, STEPS, rng))
        })
        .collect();
    let enumeration = enumerations.and_then(|all| all.into_iter().reduce(Enumeration::worse));
    let measured = measure(task, plan, sender(task, rng), progress);
    Audit::new(task, plan, enumeration, measured)
}

/// What appends the upload of one person's report, made of answers as pages make it: the
/// report, then an id of its own to send it under.
///
/// # Panics
/// It does so on entries that are no input of the task.
pub fn sender<R: CryptoRng>(task: &Task, mut rng: R) -> impl FnMut(&[&[Entry]], &mut Vec<u8>) {
    let mut randomizer = Randomizer::new(task);
    let fingerprint = task.fingerprint();
    let mut report = Vec::new();
    move |answers, upload| {
        report.clear();
        let made = randomizer.randomize_encoded(answers, &mut rng, &mut report);
        made.expect("neighbours are valid inputs of their task");
        let mut id = [0; 16];
        rng.fill_bytes(&mut id);
        upload.extend(upload::header(UploadId(id), &fingerprint, 1));
        upload.extend_from_slice(&report);
    }
}

impl Audit {
    /// The conclusion from both methods.
    #[must_use]
    pub fn new(
        task: &Task,
        plan: &Plan,
        enumeration: Option<Enumeration>,
        measured: Measured,
    ) -> Self {
        let requested = task.epsilon();
        let effective = task.effective_epsilon();
        let exceeds = measured.lower_bound > requested
            || enumeration.is_some_and(|enumeration| enumeration.exceeds(requested));
        Self {
            requested_epsilon: requested,
            effective_epsilon: effective,
            delta: plan::delta(task),
            exact_epsilon: enumeration.map(|enumeration| enumeration.epsilon(effective)),
            measured,
            trials: plan.trials(),
            confidence: plan.confidence(),
            enumerated_inputs: enumeration.map(|enumeration| enumeration.inputs),
            enumerated_seeds: enumeration.map(|enumeration| enumeration.seeds),
            verdict: if exceeds {
                Verdict::ExceedsBudget
            } else {
                Verdict::WithinBudget
            },
        }
    }
}
