//! The size of an audit.

use hushbin::Task;
use hushbin_analysis::estimate::CONFIDENCE;

/// The size of an audit, and the confidence of its bounds.
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

/// A reason why an audit cannot run.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A confidence that no bounds can have.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// The confidence given.
        confidence: f64,
    },
    /// So few trials that even a randomizer that hides nothing would pass, or
    /// so many that they never end.
    #[error(
        "trials is {trials}, expected {least} to {MOST_TRIALS}: fewer cannot detect a loss above \
         {epsilon} at confidence {confidence}"
    )]
    Trials {
        /// The number given.
        trials: u64,
        /// The fewest that can tell.
        least: u64,
        /// The budget of the task, ε.
        epsilon: f64,
        /// The confidence at which they can tell.
        confidence: f64,
    },
}

/// δ of a task's reports, the greatest of its questions'.
pub(super) fn delta(task: &Task) -> f64 {
    let of_each = task
        .questions()
        .iter()
        .map(|question| question.mechanism().delta());
    of_each.fold(0.0, f64::max)
}

impl Plan {
    /// A plan for a task: `trials` of each of two inputs, by default 200,000, or four times as many
    /// as can tell if that is more; bounds that hold together at `confidence`.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn new(task: &Task, trials: Option<u64>, confidence: f64) -> Result<Self, AuditError> {
        if !CONFIDENCE.holds(confidence) {
            return Err(AuditError::Confidence { confidence });
        }
        let epsilon = task.epsilon();
        let least = fewest(epsilon, delta(task), confidence);
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

    /// Number of runs of the randomizer on each of two inputs.
    #[must_use]
    pub const fn trials(&self) -> u64 {
        self.trials
    }

    /// Confidence at which a lower bound holds.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The probability with which a bound may fail.
    pub(super) fn failure(&self) -> f64 {
        1.0 - self.confidence
    }
}

/// The fewest trials after which some result shows a loss above ε.
///
/// The best result of n trials is an event that always happens under one input and never under the
/// other. With q = (failure/2)^(1/n) its bounds are q and 1 − q, and ln((q − δ)/(1 − q)) > ε where
/// n is above ln(2/failure)/−ln(1 − (1 − δ)/(1 + exp(ε))).
fn fewest(epsilon: f64, delta: f64, confidence: f64) -> u64 {
    let missed = (1.0 - delta) / (1.0 + epsilon.exp());
    let bound = (2.0 / (1.0 - confidence)).ln() / -(-missed).ln_1p();
    // At least one more, for the rounding of the bounds.
    let judged = (1.001 * bound) as u64 + 1;
    let mut trials = FEWEST_TRIALS.max(judged);
    // With more pairs more of them judge.
    while judging(trials, 1) < judged {
        trials += judged - judging(trials, 1);
    }
    trials
}

/// Trials of each input, of all pairs together, that choose the event.
const CHOOSING: u64 = 1 << 17;

/// Number of trials that judge the event, of so many in all: three quarters, or
/// more where `pairs` of inputs get on with less to choose from.
pub(super) fn judging(trials: u64, pairs: u64) -> u64 {
    trials - (trials / 4).min(CHOOSING / pairs)
}
