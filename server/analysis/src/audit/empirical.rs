//! Empirical privacy audit: runs the randomizer and tries to distinguish two inputs.
//!
//! An event that an attacker can see has probabilities p₀ and p₁ under two neighbouring inputs. If
//! ln(p₀/p₁) is above ε for any event, the randomizer is not ε-locally private. A lower bound of p₀
//! and an upper bound of p₁ therefore give a lower bound of the loss, for any randomizer. Some of
//! the trials choose the event. The remaining trials (judging trials) estimate its probabilities.

use crate::likelihood::{Hypothesis, NeighbourPair, neighbour_pairs};
use crate::numeric::clopper_pearson::{lower_confidence_bound, upper_confidence_bound};
use hushbin::{Entry, Task};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::statistic::{AttackStatistic, LearnedScores, STATISTICS_BY_PREFERENCE};
use super::trial_plan::{TrialPlan, judging_trial_count, max_question_delta};
use super::upload_view::AttackerUploadView;

/// Event whose probabilities under two inputs are compared. The event is a score at or above a
/// threshold, or a score below it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEvent {
    /// Names of the two inputs. The event is expected to be more likely under the first input.
    pub inputs: [String; 2],
    /// Statistic that is scored.
    pub statistic: AttackStatistic,
    /// Threshold of the score. The score at the threshold belongs to the event if
    /// [`at_least`](Self::at_least) is true.
    pub threshold: f64,
    /// True if the event is a score at or above the threshold, false if the event is a score below
    /// it.
    pub at_least: bool,
}

/// Measured lower bound of a randomizer's privacy loss.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmpiricalLossBound {
    /// Lower bound of the loss at the plan's confidence, in nats; 0 if no loss was found.
    #[serde(rename = "empirical_lower_bound")]
    pub lower_bound: f64,
    /// Event that yielded the bound.
    pub event: AuditEvent,
    /// Number of trials in which the event happened, under each input.
    #[serde(rename = "event_hits")]
    pub hits: [u64; 2],
    /// Number of judging trials with each input. No judging trial helped to choose the event.
    #[serde(rename = "event_trials")]
    pub judged: u64,
}

/// Runs `send` on neighbouring inputs of `task`, and computes a lower bound of the privacy loss, in
/// nats.
///
/// `send` takes one answer for each question. It appends everything that a person with these
/// answers sends: an upload, which should contain one report. Neighbouring inputs differ in the
/// answer to one question. The bound holds with the plan's confidence if uploads are drawn
/// independently. `progress` is called with the number of runs done and the total.
///
/// Half of the choosing trials learn the score of each value of the learned statistics. The other
/// half choose the pair of inputs, the statistic and the threshold. The choice maximises the bound
/// that is expected from the judging trials. Wilson's approximation predicts this bound, and only
/// the choice depends on the approximation. The event is fixed before any judging trial is made.
/// Each of the two Clopper-Pearson bounds fails with at most half of the probability 1 −
/// confidence, so both hold jointly at this confidence.
pub fn measure_privacy_loss(
    task: &Task,
    plan: &TrialPlan,
    mut send: impl FnMut(&[&[Entry]], &mut Vec<u8>),
    mut progress: impl FnMut(u64, u64),
) -> EmpiricalLossBound {
    let pairs = InputPair::input_pairs_for_task(task);
    let judged = judging_trial_count(plan.trials_per_input(), pairs.len() as u64);
    let choosing = plan.trials_per_input() - judged;
    let total = 2 * (pairs.len() as u64 * choosing + judged);
    let mut done = 0;
    let mut bytes = Vec::new();
    let mut run = |pair: &InputPair, which: usize| {
        bytes.clear();
        let answers: Vec<&[Entry]> = pair.answers[which].iter().map(Vec::as_slice).collect();
        send(&answers, &mut bytes);
        done += 1;
        if done % 1024 == 0 || done == total {
            progress(done, total);
        }
        let hypotheses = pair.input_hypotheses.each_ref();
        AttackerUploadView::new(task, pair.differing_question_index, hypotheses, &bytes)
    };

    let delta = max_question_delta(task);
    // Half of the failure probability for each of the two bounds.
    let failure = 0.5 * plan.failure_probability();
    let expected_bound = LossBoundPredictor::new(judged, failure, pairs.len(), delta);
    let ChosenAttack {
        candidate_event: candidate,
        input_pair: pair,
        statistic,
        learned_scores: learned,
    } = choose_attack(&pairs, choosing, &expected_bound, &mut run);
    let mut hits = [0; 2];
    for _ in 0..judged {
        for (which, hits) in hits.iter_mut().enumerate() {
            let score = learned.score_upload(statistic, &run(pair, which));
            *hits += u64::from(candidate.contains_score(score));
        }
    }
    let mut inputs = pair.input_descriptions.clone();
    // Below the threshold, the second input is the more likely one.
    if !candidate.is_at_or_above_threshold {
        inputs.reverse();
        hits.reverse();
    }
    let low = lower_confidence_bound(hits[0], judged, failure);
    let high = upper_confidence_bound(hits[1], judged, failure);
    EmpiricalLossBound {
        // p₀ ≤ exp(ε)·p₁ + δ, so the loss is at least ln((p₀ − δ)/p₁).
        lower_bound: ((low - delta).max(0.0) / high).ln().max(0.0),
        event: AuditEvent {
            inputs,
            statistic,
            threshold: candidate.score_threshold,
            at_least: candidate.is_at_or_above_threshold,
        },
        hits,
        judged,
    }
}

/// Pair of neighbouring inputs.
struct InputPair {
    input_descriptions: [String; 2],
    /// Index of the question that the inputs answer differently.
    differing_question_index: usize,
    /// Entries of each question, for each input.
    answers: [Vec<Vec<Entry>>; 2],
    input_hypotheses: [Hypothesis; 2],
}

impl InputPair {
    /// Returns the pairs of neighbouring inputs for every question. The two inputs of a pair differ
    /// in the answer to one question. Each remaining question gets the first input of its own first
    /// pair.
    fn input_pairs_for_task(task: &Task) -> Vec<Self> {
        let questions = task.questions();
        let pairs: Vec<Vec<NeighbourPair>> = questions.iter().map(neighbour_pairs).collect();
        let others: Vec<Vec<Entry>> = pairs.iter().map(|own| own[0].inputs[0].clone()).collect();
        let pair = |index: usize,
                    NeighbourPair {
                        input_descriptions: names,
                        inputs,
                    }| {
            let hypotheses = inputs
                .each_ref()
                .map(|input| Hypothesis::new(&questions[index], input));
            let answers = inputs.map(|input| {
                let mut answers = others.clone();
                answers[index] = input;
                answers
            });
            let name = questions[index].name();
            let names = match name {
                "" => names,
                _ => names.map(|input| format!("{name}: {input}")),
            };
            Self {
                input_descriptions: names,
                differing_question_index: index,
                answers,
                input_hypotheses: hypotheses,
            }
        };
        let of_each = pairs.into_iter().enumerate();
        of_each
            .flat_map(|(index, own)| own.into_iter().map(move |own| (index, own)))
            .map(|(index, own)| pair(index, own))
            .collect()
    }
}

/// Chosen event, and the pair of inputs and the statistic to which it belongs.
struct ChosenAttack<'a> {
    candidate_event: CandidateEvent,
    input_pair: &'a InputPair,
    statistic: AttackStatistic,
    learned_scores: LearnedScores,
}

/// Chooses the attack with the greatest expected bound, from `trials` runs on each input of each
/// pair.
fn choose_attack<'a>(
    pairs: &'a [InputPair],
    trials: u64,
    expected_bound: &LossBoundPredictor,
    run: &mut impl FnMut(&InputPair, usize) -> AttackerUploadView,
) -> ChosenAttack<'a> {
    let mut best: Option<ChosenAttack<'a>> = None;
    for pair in pairs {
        let mut learn = [Vec::new(), Vec::new()];
        for _ in 0..trials / 2 {
            for (which, learn) in learn.iter_mut().enumerate() {
                learn.push(run(pair, which));
            }
        }
        let learned = LearnedScores::new(learn.each_ref().map(Vec::as_slice));
        let mut scored = STATISTICS_BY_PREFERENCE.map(|_| Vec::new());
        for _ in 0..trials - trials / 2 {
            for which in [0, 1] {
                let seen = run(pair, which);
                for (scored, statistic) in scored.iter_mut().zip(STATISTICS_BY_PREFERENCE) {
                    scored.push((learned.score_upload(statistic, &seen), which));
                }
            }
        }
        let candidates = scored.iter_mut().zip(STATISTICS_BY_PREFERENCE);
        let candidates = candidates.filter_map(|(scored, statistic)| {
            best_event(scored, expected_bound).map(|candidate| (candidate, statistic))
        });
        // Of equal bounds, `max_by` returns the last, so `rev` makes it the first.
        let promising = candidates
            .rev()
            .max_by(|(a, _), (b, _)| a.expected_bound.total_cmp(&b.expected_bound));
        if let Some((candidate, statistic)) = promising
            && best
                .as_ref()
                .is_none_or(|best| candidate.expected_bound > best.candidate_event.expected_bound)
        {
            best = Some(ChosenAttack {
                candidate_event: candidate,
                input_pair: pair,
                statistic,
                learned_scores: learned,
            });
        }
    }
    // If all uploads look alike, no event is better than another. This one never happens.
    best.unwrap_or_else(|| ChosenAttack {
        candidate_event: CandidateEvent {
            expected_bound: 0.0,
            score_threshold: f64::INFINITY,
            is_at_or_above_threshold: true,
        },
        input_pair: &pairs[0],
        statistic: AttackStatistic::LikelihoodRatio,
        learned_scores: LearnedScores::new([&[], &[]]),
    })
}

/// Threshold that divides scores into an event and its complement.
#[derive(Debug, Clone, Copy)]
struct CandidateEvent {
    /// Lower bound of the loss that is expected from the judging trials of this event.
    expected_bound: f64,
    score_threshold: f64,
    is_at_or_above_threshold: bool,
}

impl CandidateEvent {
    fn contains_score(&self, score: f64) -> bool {
        (score >= self.score_threshold) == self.is_at_or_above_threshold
    }
}

/// Predictor of the bound that the judging trials will give, for choosing an event.
struct LossBoundPredictor {
    /// Number of judging trials of each input.
    judging_trial_count: f64,
    /// Number of standard errors between the estimate of a probability and its bound, in the
    /// judging trials.
    bound_z_score: f64,
    /// Number of standard errors by which estimates from the choosing trials are corrected for
    /// luck. The luckiest of m scores deviates by about √(2 ln m) standard errors. Without this
    /// correction, the rarest events would be chosen.
    selection_z_score: f64,
    delta: f64,
}

impl LossBoundPredictor {
    /// Creates the predictor for `judged` judging trials with each input. Each of the two bounds
    /// fails with probability `failure`.
    fn new(judged: u64, failure: f64, pairs: usize, delta: f64) -> Self {
        Self {
            judging_trial_count: judged as f64,
            bound_z_score: -Normal::standard().inverse_cdf(failure),
            selection_z_score: (2.0 * ((pairs * STATISTICS_BY_PREFERENCE.len()) as f64).ln())
                .sqrt(),
            delta,
        }
    }

    /// Returns the lower bound of the loss that is expected for an event. Each input had `trials`
    /// trials. The event happened in `hits` trials with the first input, and in `others` trials
    /// with the second.
    fn expected_bound_for_hits(&self, [hits, others]: [f64; 2], trials: f64) -> f64 {
        let expected = |hits, luck| self.judging_trial_count * wilson_bound(hits, trials, luck);
        let low = wilson_bound(
            expected(hits, -self.selection_z_score),
            self.judging_trial_count,
            -self.bound_z_score,
        );
        let high = wilson_bound(
            expected(others, self.selection_z_score),
            self.judging_trial_count,
            self.bound_z_score,
        );
        ((low - self.delta).max(0.0) / high).ln()
    }
}

/// Returns the event with the greatest expected bound, or `None` if all scores are equal. Each
/// score comes with the index of its input.
fn best_event(
    scored: &mut [(f64, usize)],
    expected_bound: &LossBoundPredictor,
) -> Option<CandidateEvent> {
    // Descending, so that every prefix is an event of scores at or above a threshold.
    scored.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let trials = scored.len() as f64 / 2.0;
    let least = scored.last()?.0;
    let mut hits = [0.0; 2];
    let mut best: Option<CandidateEvent> = None;
    for group in scored.chunk_by(|(a, _), (b, _)| a == b) {
        let threshold = group[0].0;
        // All trials are at or above the lowest score, so this threshold separates nothing.
        if threshold == least {
            break;
        }
        for &(_, which) in group {
            hits[which] += 1.0;
        }
        let [first, second] = hits;
        let above = ([first, second], true);
        let below = ([trials - second, trials - first], false);
        for (hits, at_least) in [above, below] {
            let bound = expected_bound.expected_bound_for_hits(hits, trials);
            if best.is_none_or(|best| bound > best.expected_bound) {
                best = Some(CandidateEvent {
                    expected_bound: bound,
                    score_threshold: threshold,
                    is_at_or_above_threshold: at_least,
                });
            }
        }
    }
    best
}

/// Returns Wilson's bound of a probability. The bound is `standard_errors` standard errors from the
/// estimate. A positive distance gives an upper bound, a negative one a lower bound.
fn wilson_bound(hits: f64, trials: f64, standard_errors: f64) -> f64 {
    let square = standard_errors * standard_errors;
    let spread = (hits * (1.0 - hits / trials) + 0.25 * square).sqrt();
    ((hits + 0.5 * square + standard_errors * spread) / (trials + square)).max(0.0)
}
