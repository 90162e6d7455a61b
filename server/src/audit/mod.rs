//! Audits: how much a report of a task gives away, measured rather than
//! promised.
//!
//! Three answers to the same question. The loss of the thresholds sampled, in
//! integers, is [`Task::effective_epsilon`]. [`enumerate`] compares the
//! probabilities of every report between all inputs, where a task is small.
//! [`measure`] runs the randomizer and bounds the loss from below by what an
//! attacker achieves; it knows nothing of the randomizer's inside, and no
//! number of trials can prove privacy, only its absence.

mod empirical;
mod enumerate;
mod enumerate_bins;

pub use empirical::{Event, Measured, Statistic, measure};
pub use enumerate::{Enumeration, STEPS, enumerate};
pub use enumerate_bins::enumerate_bins;

use hushbin::{Randomizer, Task};
use hushbin_analysis::estimate::CONFIDENCE;
use hushbin_analysis::likelihood::core_probabilities;
use rand_core::CryptoRng;
use serde::Serialize;

use empirical::judging;

/// How much to measure, and how sure to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    trials: u64,
    confidence: f64,
}

/// Confidence of a measured bound where nothing is said.
pub(crate) const DEFAULT_CONFIDENCE: f64 = 0.999;
/// Trials by default, where they can tell.
const TRIALS: u64 = 200_000;
/// Below that there is too little to choose an event from.
const FEWEST_TRIALS: u64 = 100;
/// Trials beyond that take years, and their counts rounding into account.
const MOST_TRIALS: u64 = 1_000_000_000;

/// Why an audit cannot run.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A confidence that no bounds can have.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// What was given.
        confidence: f64,
    },
    /// So few trials that even a randomizer that hides nothing would pass, or
    /// so many that they never end.
    #[error(
        "trials is {trials}, expected {least} to {MOST_TRIALS}: fewer cannot tell whether a \
         loss is above {epsilon}, at confidence {confidence}"
    )]
    Trials {
        /// What was given.
        trials: u64,
        /// The fewest that can tell.
        least: u64,
        /// The budget of the task.
        epsilon: f64,
        /// At which they can tell.
        confidence: f64,
    },
}

impl Plan {
    /// For a task: `trials` of each of two inputs, by default 200,000, or four
    /// times as many as can tell if that is more; bounds that hold together at
    /// `confidence`.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn new(task: &Task, trials: Option<u64>, confidence: f64) -> Result<Self, AuditError> {
        if !CONFIDENCE.holds(confidence) {
            return Err(AuditError::Confidence { confidence });
        }
        let epsilon = task.epsilon();
        let least = fewest(epsilon, task.mechanism().delta(), confidence);
        let trials = trials.unwrap_or_else(|| TRIALS.max(4 * least));
        if !(least..=MOST_TRIALS).contains(&trials) {
            return Err(AuditError::Trials {
                trials,
                least,
                epsilon,
                confidence,
            });
        }
        Ok(Self { trials, confidence })
    }

    /// Runs of the randomizer on each of two inputs.
    #[must_use]
    pub const fn trials(&self) -> u64 {
        self.trials
    }

    /// At which a lower bound holds.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The probability with which a bound may fail.
    fn failure(&self) -> f64 {
        1.0 - self.confidence
    }
}

/// The fewest trials after which some result shows a loss above ε.
///
/// The best result of n trials is an event that always happens under one input
/// and never under the other. With q = (failure/2)^(1/n) its bounds are q and
/// 1 − q, and ln((q − δ)/(1 − q)) > ε where n is above
/// ln(2/failure)/−ln(1 − (1 − δ)/(1 + exp(ε))).
fn fewest(epsilon: f64, delta: f64, confidence: f64) -> u64 {
    let missed = (1.0 - delta) / (1.0 + epsilon.exp());
    let bound = (2.0 / (1.0 - confidence)).ln() / -(-missed).ln_1p();
    // At least one more, for the rounding of the bounds.
    let judged = (1.001 * bound) as u64 + 1;
    let mut trials = FEWEST_TRIALS.max(judged);
    while judging(trials) < judged {
        trials += judged - judging(trials);
    }
    trials
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// The budget of the task.
    pub requested_epsilon: f64,
    /// [`Task::effective_epsilon`].
    pub effective_epsilon: f64,
    /// δ, with which probability the guarantee may fail
    /// ([`Mechanism::delta`](hushbin::Mechanism::delta)).
    pub delta: f64,
    /// [`Enumeration::epsilon`]; `None` where the task is not small.
    pub exact_epsilon: Option<f64>,
    /// [`Measured::lower_bound`].
    pub empirical_lower_bound: f64,
    /// Runs of the randomizer on each of two inputs.
    pub trials: u64,
    /// At which the lower bound holds.
    pub confidence: f64,
    /// Inputs compared with each other.
    pub enumerated_inputs: Option<u64>,
    /// Seeds under which they were.
    pub enumerated_seeds: Option<u64>,
    /// What the lower bound comes from.
    pub event: Event,
    /// How often that happened under either input.
    pub event_hits: [u64; 2],
    /// Of how many trials with either.
    pub event_trials: u64,
    /// What follows.
    pub verdict: Verdict,
}

/// Whether a task keeps its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was found above the requested ε.
    WithinBudget,
    /// A loss above the requested ε was enumerated or measured.
    ExceedsBudget,
}

/// Audits what runs: the core's probabilities, where all inputs can be
/// enumerated, and its randomizer. Calls `progress` with the runs of the
/// randomizer done and all to do.
pub fn audit<R: CryptoRng>(
    task: &Task,
    plan: &Plan,
    rng: &mut R,
    progress: impl FnMut(u64, u64),
) -> Audit {
    let enumeration = core_probabilities(task)
        .and_then(|probabilities| enumerate(task, STEPS, rng, probabilities))
        .or_else(|| enumerate_bins(task, STEPS, rng));
    let mut randomizer = Randomizer::new(task);
    let randomize = |input: &[hushbin::Entry]| {
        let made = randomizer.randomize(input, rng);
        made.expect("neighbours are valid inputs of their task")
            .report
    };
    let measured = measure(task, plan, randomize, progress);
    Audit::new(task, plan, enumeration, measured)
}

impl Audit {
    /// Draws the conclusion from both methods.
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
            delta: task.mechanism().delta(),
            exact_epsilon: enumeration.map(|enumeration| enumeration.epsilon(effective)),
            empirical_lower_bound: measured.lower_bound,
            trials: plan.trials,
            confidence: plan.confidence,
            enumerated_inputs: enumeration.map(|enumeration| enumeration.inputs),
            enumerated_seeds: enumeration.map(|enumeration| enumeration.seeds),
            event: measured.event,
            event_hits: measured.hits,
            event_trials: measured.judged,
            verdict: if exceeds {
                Verdict::ExceedsBudget
            } else {
                Verdict::WithinBudget
            },
        }
    }
}
