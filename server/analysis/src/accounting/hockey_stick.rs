//! Hockey-stick divergence of the reduction: E[(P − k·Q)₊] with k = exp(ε_c). P and Q are the two
//! distributions that the reduction compares. The divergence is computed as a sum over T, the
//! number of informative reports. As in all of accounting, e is exp(ε), α is the mixture parameter,
//! and n is the number of reports.
//!
//! Let a of these T reports point to the first input. P − k·Q changes its sign at a = a*, and h is
//! a* rounded up. C ~ Binomial(n − 1, p) is the number of other people's informative reports. Let A
//! = α·P(C = T − 1), R = P(neither)·P(C = T), X ~ Binomial(T − 1, 1/2), w = P(X = h − 1) and U =
//! P(X ≥ h − 1). Pascal's rule reduces the sum over a to one binomial tail and one probability:
//!
//! Σ_{a ≥ h} (P − k·Q)(a) = w·[A(ke − 1) + R(k − 1)/2] − (k − 1)·U·[A(e + 1) + R].
//!
//! a* is linear in T and increases by at least 1/2 per step. So w and U are computed from those of
//! T − 1 in O(1). The formulas are valid for R = 2y·A/T with any y, the [`UninformativeWeight`]. Up
//! to a factor, the sum is then E[(a − a*)₊] with the a* of that y. The reduction uses the mean of
//! y.
//!
//! Source: Feldman, McMillan, Talwar, "Stronger Privacy Amplification by Shuffling for Rényi and
//! Approximate Differential Privacy" (2023), as stated in P1's Theorem 1. According to the authors'
//! erratum, this statement is not a theorem for arbitrary randomizers. If P(neither) = 0, the
//! statement follows from the [`privacy_blanket`](super::privacy_blanket). Otherwise only the
//! blanket is a proven bound.

use super::informative_reports::InformativeCountDistribution;
use super::mixture::ReportMixture;
use super::privacy_blanket::{BatchAtEpsilon, UninformativeWeight};
use crate::numeric::binomial::{
    binomial_probability, probability_relative_error_bound, tail_to_probability_ratio,
};

/// Number of recurrence steps after which probabilities are computed anew, so that rounding errors
/// cannot accumulate.
const RECOMPUTATION_INTERVAL_STEPS: f64 = 128.0;
/// Relative error that one step adds: up to 3 roundings in a probability, and one rounding in the
/// sums of a block.
const STEP_RELATIVE_ERROR: f64 = 6.0 * f64::EPSILON;

/// Hockey-stick divergence of the two distributions that the reduction compares, with its error and
/// its derivative.
#[derive(Debug, Default)]
pub(super) struct HockeyStickDivergence {
    /// Value of the divergence, which is the δ at ε_c.
    pub(super) delta: f64,
    /// Bound on the absolute error of `delta`.
    pub(super) delta_error_bound: f64,
    /// Negative derivative −dδ/dε_c of `delta`.
    pub(super) delta_decrease_rate: f64,
}

/// Computes the hockey-stick divergence, given the weight `rest` of the uninformative reports. The
/// divergence is a sum over T, the number of informative reports. T runs through the range of
/// `telling`.
pub(super) fn hockey_stick_divergence(
    mixture: &ReportMixture,
    telling: &InformativeCountDistribution,
    batch: &BatchAtEpsilon,
    rest: &UninformativeWeight,
) -> HockeyStickDivergence {
    let [found] = divergences_by_weight(mixture, telling, batch, &[*rest]);
    found
}

/// Computes the hockey-stick divergence for each of several weights of the uninformative reports,
/// in parallel lanes.
pub(super) fn divergences_by_weight<const L: usize>(
    mixture: &ReportMixture,
    telling: &InformativeCountDistribution,
    batch: &BatchAtEpsilon,
    rests: &[UninformativeWeight; L],
) -> [HockeyStickDivergence; L] {
    // Each step waits for the division of the previous step, so four lanes take hardly longer than
    // one.
    let pair = DominatingPair::new(mixture, telling, batch, rests);
    let starts = pair
        .lane_thresholds
        .map(|a| a.smallest_count_exceeding_loss(telling.min_informative_count));
    if starts.iter().any(|&start| start != starts[0]) {
        return rests.map(|rest| hockey_stick_divergence(mixture, telling, batch, &rest));
    }
    let mut total = starts[0];
    let (mut sums, mut common) = ([LaneSums::default(); L], 0.0_f64);
    let mut tails = [TailProbability::placeholder_tail(total, pair.exp_m1_central_epsilon); L];
    let mut h = pair
        .lane_thresholds
        .map(|a| a.threshold_at(total).ceil().clamp(1.0, total.max(1.0)));
    while total <= telling.max_informative_count {
        let w = h.map(|h| binomial_probability(h - 1.0, total - 1.0, [0.5, 0.5]));
        for ((tail, h), w) in tails.iter_mut().zip(h).zip(w) {
            if total >= tail.next_recomputation_count {
                let interval = recomputation_steps_per_term(L);
                *tail = TailProbability::new(h - 1.0, total - 1.0, w, interval);
            }
        }
        let mut step = RecurrenceState {
            informative_count: total,
            informative_count_probability: telling.count_probability(total),
            first_input_count_thresholds: h,
            binomial_probabilities: w,
            tail_probabilities: tails.map(|tail| tail.tail_probability),
        };
        let end = last_count_of_block(telling, total, &tails);
        let steps = end - total + 1.0;
        let relative_error = |p| probability_relative_error_bound(p) + STEP_RELATIVE_ERROR * steps;
        common = common.max(relative_error(step.informative_count_probability));
        let block = pair.sum_block(&mut step, end);
        (total, h) = (step.informative_count, step.first_input_count_thresholds);
        for lane in 0..L {
            let relative = relative_error(w[lane]);
            let tail = &mut tails[lane];
            tail.tail_probability = step.tail_probabilities[lane];
            tail.error_bound += relative * block.tail_change_bounds[lane]
                + steps * f64::EPSILON * block.max_tail_probabilities[lane];
            let tail_error = pair.exp_m1_central_epsilon * tail.error_bound;
            sums[lane].add_block(&block, lane, relative, tail_error);
        }
    }
    // Rounding of p shifts the mean of T, which changes P(T). The other parameters have the same
    // effect.
    let width = telling.max_informative_count - telling.min_informative_count;
    common += 8.0 * f64::EPSILON * (width + 64.0);
    sums.map(|sums| HockeyStickDivergence {
        delta: sums.term_sum,
        // The last term covers probabilities that underflow. Each is below 10⁻³⁰⁰.
        delta_error_bound: sums.error_bound + common * sums.term_sum.abs() + 1e-280,
        delta_decrease_rate: pair.exp_central_epsilon * sums.second_distribution_tail_sum,
    })
}

/// Returns the last T of the block of terms that begins with T = `total`.
fn last_count_of_block(
    telling: &InformativeCountDistribution,
    total: f64,
    tails: &[TailProbability],
) -> f64 {
    let due = tails.iter().map(|tail| tail.next_recomputation_count);
    let due = due.fold(f64::INFINITY, f64::min);
    let next = (total + RECOMPUTATION_INTERVAL_STEPS).min(due);
    telling.max_informative_count.min(next - 1.0)
}

/// Threshold a* = base + slope·T, where T is the number of informative reports. If more than a* of
/// these reports point to the first input, the privacy loss exceeds ε_c.
#[derive(Debug, Clone, Copy)]
struct LinearThreshold {
    intercept: f64,
    slope: f64,
}

impl LinearThreshold {
    fn threshold_at(&self, total: f64) -> f64 {
        self.intercept + self.slope * total
    }

    /// Returns the smallest number T of informative reports, at least `first`, whose threshold a*
    /// is at most T. For smaller T, no outcome has a privacy loss above ε_c.
    fn smallest_count_exceeding_loss(&self, first: f64) -> f64 {
        if self.threshold_at(first) > first {
            (self.intercept / (1.0 - self.slope)).ceil().max(first)
        } else {
            first
        }
    }
}

/// Pair of distributions that the reduction compares, for one ε_c and `L` weights of the
/// uninformative reports. The fields are quantities that do not depend on the number of informative
/// reports.
#[derive(Debug)]
struct DominatingPair<const L: usize> {
    report_count: f64,
    /// Factor α/(p·n), where p is the probability of an informative report. This factor times P(T)
    /// is A/T. The module documentation defines A.
    term_factor: f64,
    lane_uninformative_weights: [UninformativeWeight; L],
    exp_epsilon: f64,
    exp_central_epsilon: f64,
    /// exp(ε_c) − 1, computed without cancellation.
    exp_m1_central_epsilon: f64,
    /// exp(ε + ε_c) − 1, computed without cancellation.
    exp_m1_local_plus_central: f64,
    /// Odds p/(1 − p) of an informative report, where p is its probability.
    informative_odds: f64,
    lane_thresholds: [LinearThreshold; L],
}

/// State of the recurrences at one number T of informative reports, with one entry per lane.
#[derive(Debug)]
struct RecurrenceState<const L: usize> {
    /// Number T of informative reports.
    informative_count: f64,
    /// Probability P(T) that `total` reports are informative.
    informative_count_probability: f64,
    /// Thresholds h on the number of reports that point to the first input.
    first_input_count_thresholds: [f64; L],
    /// Probabilities w = P(X = h − 1), where X ~ Binomial(T − 1, 1/2).
    binomial_probabilities: [f64; L],
    /// Tail probabilities U = P(X ≥ h − 1), where X ~ Binomial(T − 1, 1/2).
    tail_probabilities: [f64; L],
}

impl<const L: usize> DominatingPair<L> {
    fn new(
        mixture: &ReportMixture,
        telling: &InformativeCountDistribution,
        batch: &BatchAtEpsilon,
        rests: &[UninformativeWeight; L],
    ) -> Self {
        let (epsilon, central) = (mixture.epsilon(), batch.central_epsilon);
        let e = epsilon.exp();
        let lean = batch.threshold_slope_per_weight;
        Self {
            report_count: telling.report_count,
            term_factor: mixture.alpha()
                / (telling.informative_probability_pair[0] * telling.report_count),
            lane_uninformative_weights: *rests,
            exp_epsilon: e,
            exp_central_epsilon: central.exp(),
            exp_m1_central_epsilon: central.exp_m1(),
            exp_m1_local_plus_central: (epsilon + central).exp_m1(),
            informative_odds: telling.informative_probability_pair[0]
                / telling.informative_probability_pair[1],
            lane_thresholds: rests.map(|rest| LinearThreshold {
                intercept: lean * rest.intercept,
                slope: 0.5 + lean * (0.5 * (e + 1.0) - rest.decrease_per_report),
            }),
        }
    }

    /// Sums the terms from the current number of informative reports up to `end`.
    fn sum_block(&self, step: &mut RecurrenceState<L>, end: f64) -> BlockSums<L> {
        let mut block = BlockSums::new();
        while step.informative_count <= end {
            let total = step.informative_count;
            let share = self.term_factor * step.informative_count_probability;
            for lane in 0..L {
                let (w, u) = (
                    step.binomial_probabilities[lane],
                    step.tail_probabilities[lane],
                );
                let y = self.lane_uninformative_weights[lane].weight_at(total);
                let gain = share
                    * w
                    * (total * self.exp_m1_local_plus_central + y * self.exp_m1_central_epsilon);
                let weight = share * (total * (self.exp_epsilon + 1.0) + 2.0 * y);
                let loss = self.exp_m1_central_epsilon * weight * u;
                block.term_sums[lane] += gain - loss;
                block.absolute_term_sums[lane] += gain + loss;
                block.second_distribution_tail_sums[lane] +=
                    weight * u - share * w * (total * self.exp_epsilon + y);
                block.count_probability_sums[lane] += weight;
                block.tail_change_bounds[lane] += w;
                let most = block.max_tail_probabilities[lane];
                block.max_tail_probabilities[lane] = if u > most { u } else { most };
            }
            step.informative_count_probability *=
                (self.report_count - total) / (total + 1.0) * self.informative_odds;
            self.advance_recurrences(step);
        }
        block
    }

    /// Advances the recurrences for w, U and h from T to T + 1 informative reports.
    ///
    /// With m = T − 1 and j = h − 1, the binomial coefficient C(m + 1, j) is computed from C(m, j)
    /// if h stays, and C(m + 1, j + 1) from C(m, j) if h increases by 1.
    #[inline(always)]
    fn advance_recurrences(&self, step: &mut RecurrenceState<L>) {
        let before = step.informative_count;
        step.informative_count += 1.0;
        let total = step.informative_count;
        for lane in 0..L {
            let (h, w) = (
                step.first_input_count_thresholds[lane],
                step.binomial_probabilities[lane],
            );
            // Multiply by 0 or 1 instead of branching, so that all lanes run the same instructions.
            let rises = if self.lane_thresholds[lane].threshold_at(total) <= h {
                0.0
            } else {
                1.0
            };
            let stays = 1.0 - rises;
            let part = 0.5 * w / (stays * (total - h) + rises * h);
            step.tail_probabilities[lane] += stays * (part * (h - 1.0)) - rises * (0.5 * w);
            step.binomial_probabilities[lane] = part * before;
            step.first_input_count_thresholds[lane] = h + rises;
        }
    }
}

/// Returns the interval at which a tail probability is recomputed, in steps per term of the tail's
/// sum.
///
/// One term takes as long as one step of several lanes. Several lanes occur only in upper bounds,
/// where grouping adds far more than the error of the tail.
const fn recomputation_steps_per_term(rests: usize) -> f64 {
    if rests == 1 { 1.0 } else { 8.0 }
}

/// Tail probability U, with a bound on its error.
#[derive(Debug, Clone, Copy)]
struct TailProbability {
    tail_probability: f64,
    error_bound: f64,
    /// Number of informative reports at which U is recomputed. Recomputing U takes little time
    /// compared with the steps until then.
    next_recomputation_count: f64,
}

impl TailProbability {
    /// Creates a tail that is due to be recomputed at once, unless `k1` is so close to 0 that U
    /// hardly matters.
    fn placeholder_tail(total: f64, k1: f64) -> Self {
        // If k − 1 is close to 0, U has hardly any influence. Then a* is T/2 and the sum for U
        // would be longest. So U is set to 1/2, its approximate value.
        let counts = k1 > 1e-290;
        Self {
            tail_probability: 0.5,
            error_bound: 0.0,
            next_recomputation_count: if counts { total } else { f64::INFINITY },
        }
    }

    /// Computes the tail P(X ≥ x) for X ~ Binomial(`trials`, 1/2). `w` is P(X = x). The tail is due
    /// to be recomputed after `lasting` steps for each term in its sum.
    fn new(x: f64, trials: f64, w: f64, lasting: f64) -> Self {
        let (ratio, terms) = tail_to_probability_ratio(x, trials);
        let u = w * ratio;
        Self {
            tail_probability: u,
            error_bound: u * (probability_relative_error_bound(w) + 4.0 * f64::EPSILON * terms),
            next_recomputation_count: trials + 1.0 + lasting * terms,
        }
    }
}

/// Sums over one block of numbers T of informative reports, with one entry per lane.
#[derive(Debug)]
struct BlockSums<const L: usize> {
    term_sums: [f64; L],
    /// Sums of the absolute values of the terms.
    absolute_term_sums: [f64; L],
    /// Sums of the probability, under the second distribution, that at least h reports point to the
    /// first input.
    second_distribution_tail_sums: [f64; L],
    /// Sums of the probabilities P(T).
    count_probability_sums: [f64; L],
    /// Twice the maximum total change of the tail probability U in the block.
    tail_change_bounds: [f64; L],
    /// Largest tail probability U in the block.
    max_tail_probabilities: [f64; L],
}

impl<const L: usize> BlockSums<L> {
    const fn new() -> Self {
        let none = [0.0; L];
        Self {
            term_sums: none,
            absolute_term_sums: none,
            second_distribution_tail_sums: none,
            count_probability_sums: none,
            tail_change_bounds: none,
            max_tail_probabilities: none,
        }
    }
}

/// Sums over all blocks, for one lane.
#[derive(Debug, Default, Clone, Copy)]
struct LaneSums {
    term_sum: f64,
    second_distribution_tail_sum: f64,
    error_bound: f64,
}

impl LaneSums {
    /// Adds the sums of one lane of a block, with their errors.
    ///
    /// `relative` is the relative error of the terms. `tail` is the error due to the tail
    /// probability U, relative to the weights of the block's terms.
    fn add_block<const L: usize>(
        &mut self,
        block: &BlockSums<L>,
        lane: usize,
        relative: f64,
        tail: f64,
    ) {
        self.term_sum += block.term_sums[lane];
        self.second_distribution_tail_sum += block.second_distribution_tail_sums[lane];
        // If rounding of a* changes h, the term changes by less than 4 roundings. 80 roundings (40
        // EPSILON) also cover those of the term itself.
        self.error_bound += tail * block.count_probability_sums[lane]
            + (relative + 40.0 * f64::EPSILON) * block.absolute_term_sums[lane]
            + f64::EPSILON * self.term_sum.abs();
    }
}
