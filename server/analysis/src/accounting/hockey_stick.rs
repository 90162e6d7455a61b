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
use super::mixture::Mixture;
use super::privacy_blanket::{BatchAtEpsilon, UninformativeWeight};
use crate::numeric::binomial::{probability, relative_error_bound, tail_ratio};

/// Number of recurrence steps after which probabilities are computed anew, so that rounding errors
/// cannot accumulate.
const BLOCK: f64 = 128.0;
/// Relative error that one step adds: up to 3 roundings in a probability, and one rounding in the
/// sums of a block.
const STEP: f64 = 6.0 * f64::EPSILON;

/// Hockey-stick divergence of the two distributions that the reduction compares, with its error and
/// its derivative.
#[derive(Debug, Default)]
pub(super) struct Divergence {
    /// Value of the divergence, which is the δ at ε_c.
    pub(super) delta: f64,
    /// Bound on the absolute error of `delta`.
    pub(super) error: f64,
    /// Negative derivative −dδ/dε_c of `delta`.
    pub(super) fall: f64,
}

/// Computes the hockey-stick divergence, given the weight `rest` of the uninformative reports. The
/// divergence is a sum over T, the number of informative reports. T runs through the range of
/// `telling`.
pub(super) fn divergence(
    mixture: &Mixture,
    telling: &InformativeCountDistribution,
    batch: &BatchAtEpsilon,
    rest: &UninformativeWeight,
) -> Divergence {
    let [found] = divergences(mixture, telling, batch, &[*rest]);
    found
}

/// Computes the hockey-stick divergence for each of several weights of the uninformative reports,
/// in parallel lanes.
pub(super) fn divergences<const L: usize>(
    mixture: &Mixture,
    telling: &InformativeCountDistribution,
    batch: &BatchAtEpsilon,
    rests: &[UninformativeWeight; L],
) -> [Divergence; L] {
    // Each step waits for the division of the previous step, so four lanes take hardly longer than
    // one.
    let pair = DominatingPair::new(mixture, telling, batch, rests);
    let starts = pair
        .thresholds
        .map(|a| a.smallest_total_with_loss(telling.first));
    if starts.iter().any(|&start| start != starts[0]) {
        return rests.map(|rest| divergence(mixture, telling, batch, &rest));
    }
    let mut total = starts[0];
    let (mut sums, mut common) = ([LaneSums::default(); L], 0.0_f64);
    let mut tails = [TailProbability::initial_tail(total, pair.k1); L];
    let mut h = pair
        .thresholds
        .map(|a| a.threshold_at(total).ceil().clamp(1.0, total.max(1.0)));
    while total <= telling.last {
        let w = h.map(|h| probability(h - 1.0, total - 1.0, [0.5, 0.5]));
        for ((tail, h), w) in tails.iter_mut().zip(h).zip(w) {
            if total >= tail.due {
                *tail =
                    TailProbability::new(h - 1.0, total - 1.0, w, tail_recomputation_interval(L));
            }
        }
        let mut step = RecurrenceState {
            total,
            telling: probability(total, telling.n, telling.p),
            h,
            w,
            u: tails.map(|tail| tail.u),
        };
        let due = tails
            .iter()
            .map(|tail| tail.due)
            .fold(f64::INFINITY, f64::min);
        let end = telling.last.min((total + BLOCK).min(due) - 1.0);
        let steps = end - total + 1.0;
        common = common.max(relative_error_bound(step.telling) + STEP * steps);
        let block = pair.sum_block(&mut step, end);
        (total, h) = (step.total, step.h);
        for lane in 0..L {
            let relative = relative_error_bound(w[lane]) + STEP * steps;
            let tail = &mut tails[lane];
            tail.u = step.u[lane];
            tail.error += relative * block.moved[lane] + steps * f64::EPSILON * block.most[lane];
            sums[lane].add_block(&block, lane, relative, pair.k1 * tail.error);
        }
    }
    // Rounding of p shifts the mean of T, which changes P(T). The other parameters have the same
    // effect.
    let width = telling.last - telling.first;
    common += 8.0 * f64::EPSILON * (width + 64.0);
    sums.map(|sums| Divergence {
        delta: sums.sum,
        // The last term covers probabilities that underflow. Each is below 10⁻³⁰⁰.
        error: sums.error + common * sums.sum.abs() + 1e-280,
        fall: pair.k * sums.q,
    })
}

/// Threshold a* = base + slope·T, where T is the number of informative reports. If more than a* of
/// these reports point to the first input, the privacy loss exceeds ε_c.
#[derive(Debug, Clone, Copy)]
struct LinearThreshold {
    base: f64,
    slope: f64,
}

impl LinearThreshold {
    fn threshold_at(&self, total: f64) -> f64 {
        self.base + self.slope * total
    }

    /// Returns the smallest number T of informative reports, at least `first`, whose threshold a*
    /// is at most T. For smaller T, no outcome has a privacy loss above ε_c.
    fn smallest_total_with_loss(&self, first: f64) -> f64 {
        if self.threshold_at(first) > first {
            (self.base / (1.0 - self.slope)).ceil().max(first)
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
    n: f64,
    /// Factor α/(p·n), where p is the probability of an informative report. This factor times P(T)
    /// is A/T. The module documentation defines A.
    share: f64,
    rests: [UninformativeWeight; L],
    e: f64,
    k: f64,
    /// exp(ε_c) − 1, computed without cancellation.
    k1: f64,
    /// exp(ε + ε_c) − 1, computed without cancellation.
    ke1: f64,
    /// Odds p/(1 − p) of an informative report, where p is its probability.
    odds: f64,
    thresholds: [LinearThreshold; L],
}

/// State of the recurrences at one number T of informative reports, with one entry per lane.
#[derive(Debug)]
struct RecurrenceState<const L: usize> {
    /// Number T of informative reports.
    total: f64,
    /// Probability P(T) that `total` reports are informative.
    telling: f64,
    /// Thresholds h on the number of reports that point to the first input.
    h: [f64; L],
    /// Probabilities w = P(X = h − 1), where X ~ Binomial(T − 1, 1/2).
    w: [f64; L],
    /// Tail probabilities U = P(X ≥ h − 1), where X ~ Binomial(T − 1, 1/2).
    u: [f64; L],
}

impl<const L: usize> DominatingPair<L> {
    fn new(
        mixture: &Mixture,
        telling: &InformativeCountDistribution,
        batch: &BatchAtEpsilon,
        rests: &[UninformativeWeight; L],
    ) -> Self {
        let (epsilon, central) = (mixture.epsilon(), batch.central);
        let e = epsilon.exp();
        let lean = batch.threshold_slope;
        Self {
            n: telling.n,
            share: mixture.alpha() / (telling.p[0] * telling.n),
            rests: *rests,
            e,
            k: central.exp(),
            k1: central.exp_m1(),
            ke1: (epsilon + central).exp_m1(),
            odds: telling.p[0] / telling.p[1],
            thresholds: rests.map(|rest| LinearThreshold {
                base: lean * rest.intercept,
                slope: 0.5 + lean * (0.5 * (e + 1.0) - rest.fall),
            }),
        }
    }

    /// Sums the terms from the current number of informative reports up to `end`.
    fn sum_block(&self, step: &mut RecurrenceState<L>, end: f64) -> BlockSums<L> {
        let mut block = BlockSums::new();
        while step.total <= end {
            let total = step.total;
            let share = self.share * step.telling;
            for lane in 0..L {
                let (w, u) = (step.w[lane], step.u[lane]);
                let y = self.rests[lane].weight_at(total);
                let gain = share * w * (total * self.ke1 + y * self.k1);
                let weight = share * (total * (self.e + 1.0) + 2.0 * y);
                let loss = self.k1 * weight * u;
                block.sum[lane] += gain - loss;
                block.gross[lane] += gain + loss;
                block.q[lane] += weight * u - share * w * (total * self.e + y);
                block.weight[lane] += weight;
                block.moved[lane] += w;
                let most = block.most[lane];
                block.most[lane] = if u > most { u } else { most };
            }
            step.telling *= (self.n - total) / (total + 1.0) * self.odds;
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
        let before = step.total;
        step.total += 1.0;
        let total = step.total;
        for lane in 0..L {
            let (h, w) = (step.h[lane], step.w[lane]);
            // Multiply by 0 or 1 instead of branching, so that all lanes run the same instructions.
            let rises = if self.thresholds[lane].threshold_at(total) <= h {
                0.0
            } else {
                1.0
            };
            let stays = 1.0 - rises;
            let part = 0.5 * w / (stays * (total - h) + rises * h);
            step.u[lane] += stays * (part * (h - 1.0)) - rises * (0.5 * w);
            step.w[lane] = part * before;
            step.h[lane] = h + rises;
        }
    }
}

/// Returns the interval at which a tail probability is recomputed, in steps per term of the tail's
/// sum.
///
/// One term takes as long as one step of several lanes. Several lanes occur only in upper bounds,
/// where grouping adds far more than the error of the tail.
const fn tail_recomputation_interval(rests: usize) -> f64 {
    if rests == 1 { 1.0 } else { 8.0 }
}

/// Tail probability U, with a bound on its error.
#[derive(Debug, Clone, Copy)]
struct TailProbability {
    u: f64,
    error: f64,
    /// Number of informative reports at which U is recomputed. Recomputing U takes little time
    /// compared with the steps until then.
    due: f64,
}

impl TailProbability {
    /// Creates a tail that is due to be recomputed at once, unless `k1` is so close to 0 that U
    /// hardly matters.
    fn initial_tail(total: f64, k1: f64) -> Self {
        // If k − 1 is close to 0, U has hardly any influence. Then a* is T/2 and the sum for U
        // would be longest. So U is set to 1/2, its approximate value.
        let counts = k1 > 1e-290;
        Self {
            u: 0.5,
            error: 0.0,
            due: if counts { total } else { f64::INFINITY },
        }
    }

    /// Computes the tail P(X ≥ x) for X ~ Binomial(`trials`, 1/2). `w` is P(X = x). The tail is due
    /// to be recomputed after `lasting` steps for each term in its sum.
    fn new(x: f64, trials: f64, w: f64, lasting: f64) -> Self {
        let (ratio, terms) = tail_ratio(x, trials);
        let u = w * ratio;
        Self {
            u,
            error: u * (relative_error_bound(w) + 4.0 * f64::EPSILON * terms),
            due: trials + 1.0 + lasting * terms,
        }
    }
}

/// Sums over one block of numbers T of informative reports, with one entry per lane.
#[derive(Debug)]
struct BlockSums<const L: usize> {
    sum: [f64; L],
    /// Sums of the absolute values of the terms.
    gross: [f64; L],
    /// Sums of the probability, under the second distribution, that at least h reports point to the
    /// first input.
    q: [f64; L],
    /// Sums of the probabilities P(T).
    weight: [f64; L],
    /// Twice the maximum total change of the tail probability U in the block.
    moved: [f64; L],
    /// Largest tail probability U in the block.
    most: [f64; L],
}

impl<const L: usize> BlockSums<L> {
    const fn new() -> Self {
        let none = [0.0; L];
        Self {
            sum: none,
            gross: none,
            q: none,
            weight: none,
            moved: none,
            most: none,
        }
    }
}

/// Sums over all blocks, for one lane.
#[derive(Debug, Default, Clone, Copy)]
struct LaneSums {
    sum: f64,
    q: f64,
    error: f64,
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
        self.sum += block.sum[lane];
        self.q += block.q[lane];
        // If rounding of a* changes h, the term changes by less than 4 roundings. 80 roundings (40
        // EPSILON) also cover those of the term itself.
        self.error += tail * block.weight[lane]
            + (relative + 40.0 * f64::EPSILON) * block.gross[lane]
            + f64::EPSILON * self.sum.abs();
    }
}
