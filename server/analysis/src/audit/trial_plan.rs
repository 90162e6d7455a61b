//! Number of trials of an audit, and the confidence of its bounds.

use crate::estimate::CONFIDENCE_RANGE;
use hushbin::Task;
use hushbin::sums::{CountedKind, MessageParameters, SumTask};

/// Number of trials of an audit, and the confidence of its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialPlan {
    trials_per_input: u64,
    confidence: f64,
}

/// Default confidence of a measured bound.
pub const DEFAULT_CONFIDENCE: f64 = 0.999;
/// Default number of trials, unless detecting a loss needs more.
const DEFAULT_TRIALS: u64 = 200_000;
/// Minimum number of trials: fewer are too few to choose an event from.
const MIN_TRIALS: u64 = 100;
/// Maximum number of trials. More would take years, and rounding of the counts would matter.
const MAX_TRIALS: u64 = 1_000_000_000;

/// Random draws that take as long as one message of a lottery.
const LOTTERY_MESSAGE_DRAWS: u32 = 2;

/// Default number of random draws in all batches together. They take one core about 10 s.
const DEFAULT_TOTAL_RANDOM_DRAWS: u64 = 3_000_000_000;

/// Minimum and maximum of the default number of batches. The minimum suffices to find a threshold.
/// More batches than the maximum are not worthwhile.
const DEFAULT_BATCH_COUNT_RANGE: [u64; 2] = [100, 100_000];

/// A reason why an audit cannot run.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Confidence outside the supported range.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE_RANGE.min, CONFIDENCE_RANGE.max)]
    ConfidenceOutOfRange {
        /// Requested confidence.
        confidence: f64,
    },
    /// Number of trials out of range: so few that even a randomizer that hides nothing would pass,
    /// or too many to ever finish.
    #[error(
        "trials is {trials}, expected {least} to {MAX_TRIALS}: fewer cannot detect a loss above \
         {epsilon} at confidence {confidence}"
    )]
    TrialCountOutOfRange {
        /// Requested number of trials.
        trials: u64,
        /// Minimum number of trials that can detect a loss above ε.
        least: u64,
        /// Privacy budget ε of the task.
        epsilon: f64,
        /// Confidence at which the loss is to be detected.
        confidence: f64,
    },
}

/// Returns the default number of trials of an audit of batches, unless detecting a loss needs more.
fn default_sum_trials(task: &SumTask) -> u64 {
    let each = match task.message_parameters() {
        MessageParameters::UnitSteps(steps) => {
            2 * task.summed_quantity().coordinate_count() * steps.noise_trial_count()
        }
        MessageParameters::Lottery(_) => {
            let quantity = task.summed_quantity();
            let compared = match quantity.counted_questions().map(|own| own.kind()) {
                // A number is compared with every edge.
                Some(CountedKind::Number { .. }) => quantity.items().item_count().unwrap_or(0),
                _ => 0,
            };
            // A message is drawn, and so is its position.
            LOTTERY_MESSAGE_DRAWS * task.message_count_range().end() + compared
        }
    };
    let [least, most] = DEFAULT_BATCH_COUNT_RANGE;
    (DEFAULT_TOTAL_RANDOM_DRAWS / (2 * u64::from(each) * task.honest_people_count()))
        .clamp(least, most)
}

/// Returns the δ of a task's reports: the greatest δ of its questions.
pub(super) fn max_question_delta(task: &Task) -> f64 {
    let of_each = task
        .questions()
        .iter()
        .map(|question| question.mechanism().delta());
    of_each.fold(0.0, f64::max)
}

impl TrialPlan {
    /// Creates a plan with `trials` runs on each of two inputs, and bounds that hold jointly at
    /// `confidence`. The default is 200,000 trials, or four times the minimum if that is more.
    ///
    /// # Errors
    /// [`AuditError`] if the confidence or the number of trials is out of range.
    pub fn new(task: &Task, trials: Option<u64>, confidence: f64) -> Result<Self, AuditError> {
        let default = |least: u64| DEFAULT_TRIALS.max(4 * least);
        let budget = [task.epsilon(), max_question_delta(task)];
        Self::for_budget(budget, trials, default, confidence)
    }

    /// Creates a plan with `trials` batches for each of two answers. The default is the number that
    /// takes about 10 s, at most 100,000, or the minimum if that is more.
    ///
    /// # Errors
    /// [`AuditError`] if the confidence or the number of trials is out of range.
    pub fn for_sums(
        task: &SumTask,
        trials: Option<u64>,
        confidence: f64,
    ) -> Result<Self, AuditError> {
        let default = |least: u64| default_sum_trials(task).max(least);
        let budget = [task.central_epsilon(), task.delta()];
        Self::for_budget(budget, trials, default, confidence)
    }

    /// Creates a plan for a budget of ε and δ. `default` returns the default number of trials, given
    /// the minimum.
    fn for_budget(
        [epsilon, delta]: [f64; 2],
        trials: Option<u64>,
        default: impl FnOnce(u64) -> u64,
        confidence: f64,
    ) -> Result<Self, AuditError> {
        if !CONFIDENCE_RANGE.contains(confidence) {
            return Err(AuditError::ConfidenceOutOfRange { confidence });
        }
        let least = min_detection_trial_count(epsilon, delta, confidence);
        let trials = trials.unwrap_or_else(|| default(least));
        if !(least..=MAX_TRIALS).contains(&trials) {
            return Err(AuditError::TrialCountOutOfRange {
                trials,
                least,
                epsilon,
                confidence,
            });
        }
        Ok(Self {
            trials_per_input: trials,
            confidence,
        })
    }

    /// Returns the number of runs of the randomizer on each of two inputs, or of batches with each of
    /// two answers.
    #[must_use]
    pub const fn trials_per_input(&self) -> u64 {
        self.trials_per_input
    }

    /// Returns the confidence at which a lower bound holds.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Returns the probability with which a bound may fail.
    pub(super) fn failure_probability(&self) -> f64 {
        1.0 - self.confidence
    }
}

/// Returns the minimum number of trials that can show a loss above ε.
///
/// The best possible result of n trials is an event that always happens under one input and never
/// under the other. With failure probability `failure` and q = (failure/2)^(1/n), the bounds of the
/// two probabilities are q and 1 − q. The log ratio ln((q − δ)/(1 − q)) exceeds ε if n is above
/// ln(2/failure)/−ln(1 − (1 − δ)/(1 + exp(ε))).
fn min_detection_trial_count(epsilon: f64, delta: f64, confidence: f64) -> u64 {
    let missed = (1.0 - delta) / (1.0 + epsilon.exp());
    let bound = (2.0 / (1.0 - confidence)).ln() / -(-missed).ln_1p();
    // One more trial, and 0.1 %, cover the rounding of the bounds.
    let judged = (1.001 * bound) as u64 + 1;
    let mut trials = MIN_TRIALS.max(judged);
    // One pair of inputs is the worst case: with more pairs, more of the trials judge.
    while judging_trial_count(trials, 1) < judged {
        trials += judged - judging_trial_count(trials, 1);
    }
    trials
}

/// Maximum number of choosing trials for each input, in all pairs of inputs together.
const MAX_CHOOSING_TRIALS: u64 = 1 << 17;

/// Returns the number of judging trials among `trials`. Each of the `pairs` of inputs has one
/// quarter as choosing trials, but all pairs together have at most [`MAX_CHOOSING_TRIALS`]. The
/// remaining trials are judging trials.
pub(super) fn judging_trial_count(trials: u64, pairs: u64) -> u64 {
    trials - (trials / 4).min(MAX_CHOOSING_TRIALS / pairs)
}
