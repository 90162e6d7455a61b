//! The hockey-stick divergence of the reduction, E[(P − k·Q)₊] with k = exp(ε_c),
//! by a sum over T, how many reports tell anything.
//!
//! Let a of these T be of the first kind, and h = ceil(a*), where P − k·Q changes its sign. With A
//! = α·P(C = T − 1), R = P(neither)·P(C = T), X ~ Binomial(T − 1, 1/2), w = P(X = h − 1) and U =
//! P(X ≥ h − 1), Pascal's rule leaves one binomial tail and one probability of the sum over a:
//!
//! Σ_{a ≥ h} (P − k·Q)(a) = w·[A(ke − 1) + R(k − 1)/2] − (k − 1)·U·[A(e + 1) + R],
//!
//! and a* is linear in T, rising by at least 1/2 a step, so that w and U follow from
//! those of T − 1 in O(1). All of it holds for any y instead of R = 2y·A/T, the
//! [`Rest`] that the reports weigh that tell nothing: the sum is E[(a − a*)₊] but for
//! a factor, with the a* that goes with y. The reduction has the mean of y.
//!
//! Source: Feldman, McMillan, Talwar, "Stronger Privacy Amplification by Shuffling for Rényi and
//! Approximate Differential Privacy" (2023), as P1's Theorem 1 states it. By their erratum it is no
//! theorem for any randomizer; where P(neither) = 0 it follows from the
//! [`privacy_blanket`](super::privacy_blanket), which is what is proven elsewhere.

use super::mixture::Mixture;
use super::privacy_blanket::{Batch, Rest};
use super::telling::Telling;
use crate::numeric::binomial::{error, probability, tail_ratio};

/// Steps between which probabilities are computed anew, so that rounding cannot add up.
const BLOCK: f64 = 128.0;
/// Relative error that a step adds: to a probability up to 3 roundings, and one to a block's sums.
const STEP: f64 = 6.0 * f64::EPSILON;

/// What the sum comes to, but for what lies outside the window of T.
#[derive(Debug, Default)]
pub(super) struct Divergence {
    /// E[(P − k·Q)₊].
    pub(super) delta: f64,
    /// How far off that may be.
    pub(super) error: f64,
    /// −dδ/dε_c.
    pub(super) fall: f64,
}

/// Sums up over the window of T, for the rest y that goes with each.
pub(super) fn sum(mixture: &Mixture, telling: &Telling, batch: &Batch, rest: &Rest) -> Divergence {
    let [found] = sums(mixture, telling, batch, &[*rest]);
    found
}

/// The same for several rests, side by side: a step waits for the division of the one
/// before, and four take hardly longer than one.
pub(super) fn sums<const L: usize>(
    mixture: &Mixture,
    telling: &Telling,
    batch: &Batch,
    rests: &[Rest; L],
) -> [Divergence; L] {
    let pair = Pair::new(mixture, telling, batch, rests);
    let starts = pair.thresholds.map(|a| a.first(telling.first));
    if starts.iter().any(|&start| start != starts[0]) {
        return rests.map(|rest| sum(mixture, telling, batch, &rest));
    }
    let mut total = starts[0];
    let (mut sums, mut common) = ([Sums::default(); L], 0.0_f64);
    let mut tails = [Tail::first(total, pair.k1); L];
    let mut h = pair
        .thresholds
        .map(|a| a.at(total).ceil().clamp(1.0, total.max(1.0)));
    while total <= telling.last {
        let w = h.map(|h| probability(h - 1.0, total - 1.0, [0.5, 0.5]));
        for ((tail, h), w) in tails.iter_mut().zip(h).zip(w) {
            if total >= tail.due {
                *tail = Tail::new(h - 1.0, total - 1.0, w, lasting(L));
            }
        }
        let mut step = Step {
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
        common = common.max(error(step.telling) + STEP * steps);
        let block = pair.block(&mut step, end);
        (total, h) = (step.total, step.h);
        for lane in 0..L {
            let relative = error(w[lane]) + STEP * steps;
            let tail = &mut tails[lane];
            tail.u = step.u[lane];
            tail.error += relative * block.moved[lane] + steps * f64::EPSILON * block.most[lane];
            sums[lane].add(&block, lane, relative, pair.k1 * tail.error);
        }
    }
    // The last bit of p moves the mean, and P(T) with it; so do the other
    // parameters.
    let width = telling.last - telling.first;
    common += 8.0 * f64::EPSILON * (width + 64.0);
    sums.map(|sums| Divergence {
        delta: sums.sum,
        // Underflown probabilities are below 10⁻³⁰⁰ each.
        error: sums.error + common * sums.sum.abs() + 1e-280,
        fall: pair.k * sums.q,
    })
}

/// a* = base + slope·T, from which on P is above k·Q.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    base: f64,
    slope: f64,
}

impl Threshold {
    fn at(&self, total: f64) -> f64 {
        self.base + self.slope * total
    }

    /// The first T of a window that starts at `first` for which a* is at most T:
    /// below, nothing that may be seen makes ε_c.
    fn first(&self, first: f64) -> f64 {
        if self.at(first) > first {
            (self.base / (1.0 - self.slope)).ceil().max(first)
        } else {
            first
        }
    }
}

/// P and Q at one ε_c and L rests: what of their terms does not depend on T.
#[derive(Debug)]
struct Pair<const L: usize> {
    n: f64,
    /// α/(p·n), by which P(T) makes A/T.
    share: f64,
    rests: [Rest; L],
    e: f64,
    k: f64,
    /// k − 1.
    k1: f64,
    /// ke − 1.
    ke1: f64,
    /// p/(1 − p).
    odds: f64,
    thresholds: [Threshold; L],
}

/// Where the sums stand.
#[derive(Debug)]
struct Step<const L: usize> {
    /// T.
    total: f64,
    /// P(T).
    telling: f64,
    h: [f64; L],
    /// P(X = h − 1).
    w: [f64; L],
    /// P(X ≥ h − 1).
    u: [f64; L],
}

impl<const L: usize> Pair<L> {
    fn new(mixture: &Mixture, telling: &Telling, batch: &Batch, rests: &[Rest; L]) -> Self {
        let (epsilon, central) = (mixture.epsilon(), batch.central);
        let e = epsilon.exp();
        let lean = batch.lean;
        Self {
            n: telling.n,
            share: mixture.alpha() / (telling.p[0] * telling.n),
            rests: *rests,
            e,
            k: central.exp(),
            k1: central.exp_m1(),
            ke1: (epsilon + central).exp_m1(),
            odds: telling.p[0] / telling.p[1],
            thresholds: rests.map(|rest| Threshold {
                base: lean * rest.at_none,
                slope: 0.5 + lean * (0.5 * (e + 1.0) - rest.fall),
            }),
        }
    }

    /// Adds up the terms of T up to `end`.
    fn block(&self, step: &mut Step<L>, end: f64) -> Block<L> {
        let mut block = Block::new();
        while step.total <= end {
            let total = step.total;
            let share = self.share * step.telling;
            for lane in 0..L {
                let (w, u) = (step.w[lane], step.u[lane]);
                let y = self.rests[lane].at(total);
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
            self.advance(step);
        }
        block
    }

    /// w and U of T + 1: C(m + 1, j) from C(m, j), m = T − 1, j = h − 1, where h
    /// stays, and from C(m, j + 1) where it rises. By factors of 0 and 1, which change
    /// nothing, instead of branches, which would keep the lanes apart.
    #[inline(always)]
    fn advance(&self, step: &mut Step<L>) {
        let before = step.total;
        step.total += 1.0;
        let total = step.total;
        for lane in 0..L {
            let (h, w) = (step.h[lane], step.w[lane]);
            let rises = if self.thresholds[lane].at(total) <= h {
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

/// After how many steps for each of its terms U is summed up anew. A term takes as
/// long as a step of several rests, which only bounds from above are made of: what
/// they give away by grouping is far more than what the error of U adds.
const fn lasting(rests: usize) -> f64 {
    if rests == 1 { 1.0 } else { 8.0 }
}

/// U, with a bound on its error.
#[derive(Debug, Clone, Copy)]
struct Tail {
    u: f64,
    error: f64,
    /// From which T on it is worth summing up anew: after some steps for each term
    /// of the sum, so that summing costs little.
    due: f64,
}

impl Tail {
    /// Not summed up yet, and due at once. Where k − 1 is next to 0, U hardly counts and is
    /// taken for the half that it is about: a* is T/2 then, and its sum the longest.
    fn first(total: f64, k1: f64) -> Self {
        let counts = k1 > 1e-290;
        Self {
            u: 0.5,
            error: 0.0,
            due: if counts { total } else { f64::INFINITY },
        }
    }

    /// P(X ≥ x), X ~ Binomial(`trials`, 1/2), from `w`, P(X = x), to last for so many
    /// steps for each term.
    fn new(x: f64, trials: f64, w: f64, lasting: f64) -> Self {
        let (ratio, terms) = tail_ratio(x, trials);
        let u = w * ratio;
        Self {
            u,
            error: u * (error(w) + 4.0 * f64::EPSILON * terms),
            due: trials + 1.0 + lasting * terms,
        }
    }
}

/// Sums over the T of one block.
#[derive(Debug)]
struct Block<const L: usize> {
    sum: [f64; L],
    /// Of absolute values.
    gross: [f64; L],
    /// Q(a ≥ h).
    q: [f64; L],
    /// P(T).
    weight: [f64; L],
    /// By how much U may have moved, twice.
    moved: [f64; L],
    /// The greatest U.
    most: [f64; L],
}

impl<const L: usize> Block<L> {
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

/// Sums over all blocks.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    sum: f64,
    q: f64,
    error: f64,
}

impl Sums {
    /// A block's terms lose up to `tail` of P(T) by the error of U. A from that is off by the
    /// rounding of a* costs less than 4 roundings of the term; 80 leave room for its own.
    fn add<const L: usize>(&mut self, block: &Block<L>, lane: usize, relative: f64, tail: f64) {
        self.sum += block.sum[lane];
        self.q += block.q[lane];
        self.error += tail * block.weight[lane]
            + (relative + 40.0 * f64::EPSILON) * block.gross[lane]
            + f64::EPSILON * self.sum.abs();
    }
}
