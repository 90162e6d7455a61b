//! The hockey-stick divergence of the reduction, E[(P − k·Q)₊] with k = exp(ε_c),
//! by a sum over T, how many reports tell anything.
//!
//! Let a of these T be of the first kind, and h = ceil(a*), where P − k·Q changes
//! its sign. With A = α·P(C = T − 1), R = P(neither)·P(C = T),
//! X ~ Binomial(T − 1, 1/2), w = P(X = h − 1) and U = P(X ≥ h − 1), Pascal's rule
//! leaves one binomial tail and one probability of the sum over a:
//!
//! Σ_{a ≥ h} (P − k·Q)(a) = w·[A(ke − 1) + R(k − 1)/2] − (k − 1)·U·[A(e + 1) + R],
//!
//! and a* is linear in T, rising by 1/2 to 1 a step, so that w and U follow from
//! those of T − 1 in O(1).
//!
//! Source: Feldman, McMillan, Talwar, "Stronger Privacy Amplification by Shuffling
//! for Rényi and Approximate Differential Privacy" (2023), as P1's Theorem 1 states
//! it. By their erratum it is no theorem for any randomizer; where P(neither) = 0 it
//! follows from the [`privacy_blanket`](super::privacy_blanket), which is what is
//! proven elsewhere.

use super::mixture::Mixture;
use super::privacy_blanket::{Batch, PrivacyBlanket};
use super::telling::Telling;
use crate::numeric::binomial::{error, probability, tail_ratio};

/// Steps between which probabilities are computed anew, so that rounding cannot
/// add up.
const BLOCK: f64 = 128.0;
/// Relative error that a step adds: to a probability up to 3 roundings, and one
/// to a block's sums.
const STEP: f64 = 6.0 * f64::EPSILON;
/// How often what the reduction leaves out is bounded anew.
const SEGMENTS: f64 = 32.0;

/// What the sum comes to, but for what lies outside the window of T.
#[derive(Debug, Default)]
pub(super) struct Divergence {
    /// E[(P − k·Q)₊].
    pub(super) delta: f64,
    /// How far off that may be.
    pub(super) error: f64,
    /// −dδ/dε_c.
    pub(super) fall: f64,
    /// What the blanket's factors add.
    pub(super) more: f64,
    /// The greatest of these factors.
    pub(super) greatest: f64,
    /// The least T with such a factor.
    pub(super) steep: f64,
}

/// Sums up over the window of T. Where a `blanket` is given, what its sum is more
/// than the reduction's is bounded by a factor ([`PrivacyBlanket::factor`]), for
/// so many T in turn.
pub(super) fn sum(
    mixture: &Mixture,
    telling: &Telling,
    batch: &Batch,
    blanket: Option<&PrivacyBlanket>,
) -> Divergence {
    let pair = Pair::new(mixture, telling, batch);
    let mut total = pair.threshold.first(telling.first);
    let mut segments = Segments::new(pair.threshold, batch, blanket, total, telling.last);
    let steep = segments.steep;
    let (mut sums, mut more, mut common) = (Sums::default(), 0.0, 0.0_f64);
    let mut tail = Tail::due(total);
    let mut h = pair.threshold.at(total).ceil().clamp(1.0, total.max(1.0));
    while total <= telling.last {
        let mut step = Step {
            total,
            h,
            w: probability(h - 1.0, total - 1.0, [0.5, 0.5]),
            clones: probability(total - 1.0, pair.others, telling.p),
        };
        if total >= tail.due {
            tail = Tail::new(h - 1.0, total - 1.0, step.w);
        }
        segments.reach(total);
        let end = segments.until.min((total + BLOCK).min(tail.due) - 1.0);
        let steps = end - total + 1.0;
        let relative = error(step.w) + STEP * steps;
        common = common.max(error(step.clones) + STEP * steps);
        let block = pair.block(&mut step, &mut tail, end);
        (total, h) = (step.total, step.h);
        tail.error += relative * block.moved + steps * f64::EPSILON * block.most;
        sums.add(&block, relative, pair.k1 * tail.error);
        more += (segments.factor - 1.0) * block.sum;
    }
    // The last bit of p moves the mean, and P(T) with it; so do the other
    // parameters.
    let width = telling.last - telling.first;
    common += 8.0 * f64::EPSILON * (width + 64.0);
    Divergence {
        delta: sums.sum,
        // Underflown probabilities are below 10⁻³⁰⁰ each.
        error: sums.error + common * sums.sum.abs() + 1e-280,
        fall: pair.k * sums.q,
        more,
        greatest: segments.greatest,
        steep,
    }
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

    /// From where on a* is below T by more than a factor needs.
    fn steep(&self) -> f64 {
        if self.slope < 1.0 {
            ((self.base + 3.0) / (1.0 - self.slope)).ceil()
        } else {
            f64::INFINITY
        }
    }
}

/// P and Q at one ε_c: what of their terms does not depend on T.
#[derive(Debug)]
struct Pair {
    alpha: f64,
    /// P(neither).
    rest: f64,
    e: f64,
    k: f64,
    /// k − 1.
    k1: f64,
    /// ke − 1.
    ke1: f64,
    others: f64,
    /// p/(1 − p).
    odds: f64,
    threshold: Threshold,
}

/// Where the sum stands.
#[derive(Debug)]
struct Step {
    /// T.
    total: f64,
    h: f64,
    /// P(X = h − 1).
    w: f64,
    /// P(C = T − 1).
    clones: f64,
}

impl Pair {
    fn new(mixture: &Mixture, telling: &Telling, batch: &Batch) -> Self {
        let (epsilon, central) = (mixture.epsilon(), batch.central);
        let (rest, e, untold) = (mixture.rest(), epsilon.exp(), telling.p[1]);
        let lean = batch.lean;
        Self {
            alpha: mixture.alpha(),
            rest,
            e,
            k: central.exp(),
            k1: central.exp_m1(),
            ke1: (epsilon + central).exp_m1(),
            others: telling.others(),
            odds: telling.p[0] / untold,
            threshold: Threshold {
                base: lean * rest / untold * telling.n,
                slope: 0.5 + lean * (0.5 * (e + 1.0) - rest / untold),
            },
        }
    }

    /// Adds up the terms of T up to `end`.
    fn block(&self, step: &mut Step, tail: &mut Tail, end: f64) -> Block {
        let mut block = Block::default();
        while step.total <= end {
            let next = step.clones * (self.others - step.total + 1.0) / step.total * self.odds;
            let (a, r) = (self.alpha * step.clones, self.rest * next);
            let gain = step.w * (a * self.ke1 + 0.5 * r * self.k1);
            let weight = a * (self.e + 1.0) + r;
            let loss = self.k1 * weight * tail.u;
            block.sum += gain - loss;
            block.gross += gain + loss;
            block.q += weight * tail.u - 0.5 * step.w * (2.0 * self.e * a + r);
            block.weight += weight;
            block.moved += step.w;
            block.most = block.most.max(tail.u);

            step.clones = next;
            self.advance(step, tail);
        }
        block
    }

    /// w and U of T + 1: C(m + 1, j) from C(m, j), m = T − 1, j = h − 1, where h
    /// stays, and from C(m, j + 1) where it rises.
    fn advance(&self, step: &mut Step, tail: &mut Tail) {
        step.total += 1.0;
        let (total, h) = (step.total, step.h);
        if self.threshold.at(total) <= h {
            tail.u += 0.5 * step.w * (h - 1.0) / (total - h);
            step.w *= (total - 1.0) / (2.0 * (total - h));
        } else {
            tail.u -= 0.5 * step.w;
            step.w *= (total - 1.0) / (2.0 * h);
            step.h += 1.0;
        }
    }
}

/// The blanket's factors, each for so many T: 0 where h is at T or just below, as
/// what is there is bounded otherwise ([`PrivacyBlanket::unlikely`]), and 1
/// everywhere where there is no blanket.
#[derive(Debug)]
struct Segments<'a> {
    threshold: Threshold,
    batch: &'a Batch,
    blanket: Option<&'a PrivacyBlanket>,
    steep: f64,
    stride: f64,
    last: f64,
    /// Up to which T the factor holds.
    until: f64,
    factor: f64,
    greatest: f64,
}

impl<'a> Segments<'a> {
    fn new(
        threshold: Threshold,
        batch: &'a Batch,
        blanket: Option<&'a PrivacyBlanket>,
        total: f64,
        last: f64,
    ) -> Self {
        let steep = threshold.steep().max(total).min(last + 1.0);
        Self {
            threshold,
            batch,
            blanket,
            steep,
            stride: ((last - steep) / SEGMENTS).ceil().max(1.0),
            last,
            until: total - 1.0,
            factor: 1.0,
            greatest: 1.0,
        }
    }

    /// Goes on to the segment of T, if it is not reached yet.
    fn reach(&mut self, total: f64) {
        if total <= self.until {
            return;
        }
        let until = if total < self.steep {
            self.steep - 1.0
        } else {
            total + self.stride - 1.0
        };
        self.until = until.min(self.last);
        self.factor = match self.blanket {
            Some(_) if total < self.steep => 0.0,
            Some(blanket) => {
                // h grows by less than 1 a step.
                let Threshold { base, slope } = self.threshold;
                let reach = (0.5 * (total - 4.0 - base - slope * total)).max(0.0);
                self.until = self.until.min(total + (reach / slope).floor());
                let h = self.threshold.at(self.until).ceil();
                blanket.factor(self.batch, total, h)
            }
            None => 1.0,
        };
        self.greatest = self.greatest.max(self.factor);
    }
}

/// U, with a bound on its error.
#[derive(Debug)]
struct Tail {
    u: f64,
    error: f64,
    /// From which T on it is worth summing up anew: after as many steps as the
    /// sum has terms, so that summing costs O(1) a step.
    due: f64,
}

impl Tail {
    /// Not summed up yet; due at once.
    const fn due(total: f64) -> Self {
        Self {
            u: 0.0,
            error: 0.0,
            due: total,
        }
    }

    /// P(X ≥ x), X ~ Binomial(`trials`, 1/2), from `w`, P(X = x).
    fn new(x: f64, trials: f64, w: f64) -> Self {
        let (ratio, terms) = tail_ratio(x, trials);
        let u = w * ratio;
        Self {
            u,
            error: u * (error(w) + 4.0 * f64::EPSILON * terms),
            due: trials + 1.0 + terms,
        }
    }
}

/// Sums over the T of one block.
#[derive(Debug, Default)]
struct Block {
    sum: f64,
    /// Of absolute values.
    gross: f64,
    /// Q(a ≥ h).
    q: f64,
    /// P(T).
    weight: f64,
    /// By how much U may have moved, twice.
    moved: f64,
    /// The greatest U.
    most: f64,
}

/// Sums over all blocks.
#[derive(Debug, Default)]
struct Sums {
    sum: f64,
    q: f64,
    error: f64,
}

impl Sums {
    /// A block's terms lose up to `tail` of P(T) by the error of U. A from that
    /// is off by the rounding of a* costs less than 4 roundings of the term; 80
    /// leave room for its own.
    fn add(&mut self, block: &Block, relative: f64, tail: f64) {
        self.sum += block.sum;
        self.q += block.q;
        self.error += tail * block.weight
            + (relative + 40.0 * f64::EPSILON) * block.gross
            + f64::EPSILON * self.sum.abs();
    }
}
