//! Empirical audit of shuffled sums: simulates whole batches with the core's randomizer. One
//! person's answer is at the lower end of its range in half of the batches, and at the upper end in
//! the remaining half.
//!
//! All remaining people give the answer that adds no answer messages. Only noise messages then hide
//! the person, as the accounting assumes. The score of a batch is the sum of the log-likelihood
//! ratios of its message counts. This score distinguishes the two cases best if every person
//! reports all coordinates. The bound holds for any score.

use hushbin::sums::{
    Message, MessageParameters, SumRandomizer, SumTask, SummedQuantity, UnitStepParameters,
};
use hushbin_analysis::accounting::ProvenBounds;
use hushbin_analysis::numeric::clopper_pearson::{lower_confidence_bound, upper_confidence_bound};
use hushbin_analysis::sums::{SumTotals, central_epsilon_bounds};
use rand_core::CryptoRng;
use serde::Serialize;

use super::verdict::AuditVerdict;

/// Result of an audit of sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SumAuditResult {
    /// Promised central ε.
    pub central_epsilon: f64,
    /// δ of the promise.
    pub delta: f64,
    /// Bounds of ε at this δ, as computed by the accounting.
    pub accounted: ProvenBounds,
    /// Lower bound of ε from trials.
    pub empirical_lower_bound: f64,
    /// Number of batches simulated with each answer.
    pub trials: u64,
    /// Confidence at which the lower bound holds.
    pub confidence: f64,
    /// Number of judging batches in which the event happened, with each answer.
    pub event_hits: [u64; 2],
    /// Number of judging batches with each answer.
    pub event_trials: u64,
    /// Conclusion: whether the budget is kept.
    pub verdict: AuditVerdict,
}

/// Default number of random draws in all trials together. They take one core about 10 s.
const DEFAULT_TOTAL_RANDOM_DRAWS: u64 = 3_000_000_000;

/// Minimum and maximum of the default number of trials. The minimum suffices to find a threshold.
/// More trials than the maximum are not worthwhile.
const DEFAULT_TRIAL_COUNT_RANGE: [u64; 2] = [100, 100_000];

/// Returns the default number of trials of an audit.
#[must_use]
pub fn default_sum_trials(task: &SumTask) -> u64 {
    let each = match task.message_parameters() {
        MessageParameters::UnitSteps(steps) => {
            2 * task.summed_quantity().coordinate_count() * steps.noise_trial_count()
        }
        MessageParameters::Lottery(lottery) => lottery.draws(),
    };
    let [least, most] = DEFAULT_TRIAL_COUNT_RANGE;
    (DEFAULT_TOTAL_RANDOM_DRAWS / (2 * u64::from(each) * task.honest_people_count()))
        .clamp(least, most)
}

/// Audits a sum task: simulates `trials` batches with each of two answers of one person, and
/// compares the batches. A batch has the minimum number of honest people. `progress` is called with
/// the number of batches done and the total.
///
/// # Errors
/// Same as [`central_epsilon_bounds`]. [`hushbin::Error::InvalidCombination`] for a task of
/// questions.
///
/// # Panics
/// If `trials` is below 2.
pub fn audit_sums<R: CryptoRng>(
    task: &SumTask,
    trials: u64,
    confidence: f64,
    rng: &mut R,
    mut progress: impl FnMut(u64, u64),
) -> Result<SumAuditResult, hushbin::Error> {
    let mut batches = BatchSimulator::new(task).ok_or(hushbin::Error::InvalidCombination {
        reason: "an audit needs a task of \"numbers\" or a \"vector\", or one with a local ε",
    })?;
    let accounted = central_epsilon_bounds(task)?;
    let choosing = trials / 2;
    let mut scores = [Vec::new(), Vec::new()];
    for trial in 0..trials {
        for (which, scores) in scores.iter_mut().enumerate() {
            scores.push(batches.simulate_batch_score(which == 1, rng));
        }
        progress(2 * (trial + 1), 2 * trials);
    }
    let [low, high] = &scores;
    let (chosen, judging_trials) = (choosing as usize, trials - choosing);
    let failure = 0.5 * (1.0 - confidence);
    let bound = |hits: [u64; 2], of: u64| {
        let [least, most] = [
            lower_confidence_bound(hits[1], of, failure),
            upper_confidence_bound(hits[0], of, failure),
        ];
        ((least - task.delta()).max(0.0) / most).ln().max(0.0)
    };
    let hits = |scores: &[f64], threshold: f64| {
        scores.iter().filter(|score| **score >= threshold).count() as u64
    };
    // The threshold is chosen from trials other than the judging trials, so that the bound stays
    // valid.
    let mut thresholds = high[..chosen].to_vec();
    thresholds.sort_by(f64::total_cmp);
    let prospect = |threshold: f64| {
        let hits = [low, high].map(|scores| hits(&scores[..chosen], threshold));
        bound(hits, choosing)
    };
    // At most about a hundred thresholds are tried, since each takes a pass over the scores.
    let steps = (chosen / 100).max(1);
    let best = thresholds.into_iter().step_by(steps);
    let best = best.max_by(|one, other| prospect(*one).total_cmp(&prospect(*other)));
    let threshold = best.expect("trials choose");
    let event_hits = [low, high].map(|scores| hits(&scores[chosen..], threshold));
    let empirical = bound(event_hits, judging_trials);
    let within = empirical <= task.central_epsilon() && accounted.upper <= task.central_epsilon();
    Ok(SumAuditResult {
        central_epsilon: task.central_epsilon(),
        delta: task.delta(),
        accounted,
        empirical_lower_bound: empirical,
        trials,
        confidence,
        event_hits,
        event_trials: judging_trials,
        verdict: match within {
            true => AuditVerdict::WithinBudget,
            false => AuditVerdict::ExceedsBudget,
        },
    })
}

/// Simulator of batches of one task.
struct BatchSimulator<'a> {
    task: &'a SumTask,
    parameters: UnitStepParameters,
    randomizer: SumRandomizer,
    message_buffer: Vec<Message>,
    /// Three answers. The first is the answer of all people except the targeted person. The
    /// remaining two are the possible answers of the targeted person.
    neutral_low_high_answers: [Vec<f64>; 3],
}

impl<'a> BatchSimulator<'a> {
    /// Creates a simulator. Returns `None` for a task of questions.
    fn new(task: &'a SumTask) -> Option<Self> {
        let parameters = *task.message_parameters().unit_steps()?;
        let answers = match task.summed_quantity() {
            SummedQuantity::NumbersWithLimits(_, limits) => {
                let ends = limits.iter().map(|own| own.range());
                [
                    ends.clone()
                        // Halved before adding, so that the sum cannot overflow.
                        .map(|[min, max]| min / 2.0 + max / 2.0)
                        .collect(),
                    ends.clone().map(|[min, _]| min).collect(),
                    ends.map(|[_, max]| max).collect(),
                ]
            }
            SummedQuantity::BoundedVector(ball) => {
                let own = ball.max_length() / f64::from(ball.dimension()).sqrt();
                [0.0, -own, own].map(|value| vec![value; ball.dimension() as usize])
            }
            SummedQuantity::CountedQuestions(_) => return None,
        };
        Some(Self {
            task,
            parameters,
            randomizer: SumRandomizer::new(task),
            message_buffer: Vec::new(),
            neutral_low_high_answers: answers,
        })
    }

    /// Simulates a batch. The targeted person's answer is at the upper end of its range if `upper`
    /// is true, and otherwise at the lower end. Returns the log-likelihood ratio of the upper to
    /// the lower end.
    fn simulate_batch_score<R: CryptoRng>(&mut self, upper: bool, rng: &mut R) -> f64 {
        let mut totals = SumTotals::new(self.task);
        let own = 1 + usize::from(upper);
        let others = self.task.honest_people_count() - 1;
        for answer in (0..others).map(|_| 0).chain([own]) {
            let made = self.randomizer.randomize(
                &self.neutral_low_high_answers[answer],
                rng,
                &mut self.message_buffer,
            );
            made.expect("the answers are the task's");
            self.message_buffer
                .iter()
                .for_each(|own| totals.add_message(*own));
        }
        let coordinates = self.task.summed_quantity().coordinate_count() as usize;
        let ratio = |coordinate| {
            let [up, down] = totals.counts_by_sign(coordinate);
            self.count_log_likelihood_ratio(up) - self.count_log_likelihood_ratio(down)
        };
        (0..coordinates).map(ratio).sum()
    }

    /// Returns the log-likelihood ratio of a message count, up to a constant. Let k be the message
    /// count, L the number of levels, and B ~ Binomial(N, q) the number of noise messages. The
    /// ratio is then ln(P(B = k − L)/P(B = k)).
    fn count_log_likelihood_ratio(&self, count: u64) -> f64 {
        let messages = self.parameters;
        let trials = self.task.honest_people_count() * u64::from(messages.noise_trial_count());
        let step = |step: u64| {
            let more = (count as f64 - step as f64).max(1e-9);
            let less = (trials as f64 - count as f64 + step as f64 + 1.0).max(1e-9);
            (more / less).ln()
        };
        (0..u64::from(messages.messages_per_unit())).map(step).sum()
    }
}
