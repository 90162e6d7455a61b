//! Empirical audit of a task through a shuffler: simulates whole batches with the core's randomizer.
//! One person gives one of two answers in half of the batches, and the other one in the remaining
//! half. A score that is high if the batch looks like the second answer distinguishes them. The
//! bound holds for any score.

use crate::accounting::ProvenBounds;
use crate::numeric::clopper_pearson::{lower_confidence_bound, upper_confidence_bound};
use crate::sums::central_epsilon_bounds;
use hushbin::sums::{Message, SumRandomizer, SumTask};
use rand_core::CryptoRng;
use serde::Serialize;

use super::simulated_batch::BatchSimulator;
use super::trial_plan::{TrialPlan, judging_trial_count};
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

/// Audits a task through a shuffler: simulates batches with each of two answers of one person, and
/// compares the batches. A batch has the minimum number of honest people. `progress` is called with
/// the number of batches done and the total.
///
/// # Errors
/// Same as [`central_epsilon_bounds`].
pub fn audit_sums<R: CryptoRng>(
    task: &SumTask,
    plan: &TrialPlan,
    rng: &mut R,
    progress: impl FnMut(u64, u64),
) -> Result<SumAuditResult, hushbin::Error> {
    let mut randomizer = SumRandomizer::new(task);
    let send = |answer: &[f64], rng: &mut R, messages: &mut Vec<Message>| {
        let made = randomizer.randomize(answer, rng, messages);
        made.expect("the answers are the task's");
    };
    audit_batches(task, plan, rng, send, progress)
}

/// Audits batches of people who send the messages that `send` makes of an answer.
fn audit_batches<R: CryptoRng>(
    task: &SumTask,
    plan: &TrialPlan,
    rng: &mut R,
    send: impl FnMut(&[f64], &mut R, &mut Vec<Message>),
    mut progress: impl FnMut(u64, u64),
) -> Result<SumAuditResult, hushbin::Error> {
    let mut batches = BatchSimulator::new(task, send);
    let accounted = central_epsilon_bounds(task)?;
    let (trials, confidence) = (plan.trials_per_input(), plan.confidence());
    let judging_trials = judging_trial_count(trials, 1);
    let choosing = trials - judging_trials;
    let mut scores = [Vec::new(), Vec::new()];
    for trial in 0..trials {
        for (which, scores) in scores.iter_mut().enumerate() {
            scores.push(batches.simulate_batch_score(which == 1, rng));
        }
        progress(2 * (trial + 1), 2 * trials);
    }
    let [low, high] = &scores;
    let chosen = choosing as usize;
    let failure = 0.5 * plan.failure_probability();
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

#[cfg(test)]
mod tests;
