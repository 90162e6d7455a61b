//! δ(ε_c), by a sum over how many reports tell anything: the reduction's, which is
//! proven where P(neither) = 0, and with `privacy_blanket` what is proven elsewhere.
//!
//! Let T be the number of reports of either kind, a of the first, and
//! h = ceil(a*), where P − k·Q changes its sign, k = exp(ε_c). With
//! A = α·P(C = T − 1), R = P(neither)·P(C = T), X ~ Binomial(T − 1, 1/2),
//! w = P(X = h − 1) and U = P(X ≥ h − 1), Pascal's rule leaves one binomial tail and
//! one probability of the sum over a:
//!
//! Σ_{a ≥ h} (P − k·Q)(a) = w·[A(ke − 1) + R(k − 1)/2] − (k − 1)·U·[A(e + 1) + R],
//!
//! and a* is linear in T, rising by 1/2 to 1 a step, so that w and U follow from
//! those of T − 1 in O(1).

use super::privacy_blanket::{Batch, Neither};
use super::{Method, Mixture};
use crate::numeric::binomial::{error, exponent, probability, tail_ratio};

/// Steps between which probabilities are computed anew, so that rounding cannot
/// add up.
const BLOCK: f64 = 128.0;
/// Relative error that a step adds: to a probability up to 3 roundings, and one
/// to a block's sums.
const STEP: f64 = 6.0 * f64::EPSILON;
/// How often what the reduction leaves out is bounded anew.
const SEGMENTS: f64 = 32.0;
/// How much of δ may be left out of the sum, and is added.
const CUT: f64 = 1e-12;

/// δ(ε_c) of one batch size, for δ about one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divergence {
    mixture: Mixture,
    n: f64,
    /// The probability that another's report tells anything, and that it does
    /// not.
    p: [f64; 2],
    first: f64,
    last: f64,
    /// P(T is not from `first` to `last`) is below it.
    outside: f64,
    /// −ln of what may be left out of a sum.
    far: f64,
    neither: Option<Neither>,
}

/// A δ that was computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delta {
    /// The reduction's, and bounds of it.
    pub(super) lower: f64,
    pub(super) middle: f64,
    pub(super) above: f64,
    /// What is proven of the batch.
    pub(super) upper: f64,
    /// −dδ/dε_c.
    pub(super) fall: f64,
}

impl Divergence {
    /// Of other reports 2α tell something.
    pub(super) fn new(mixture: Mixture, n: u64, delta: f64) -> Self {
        let (alpha, rest) = (mixture.alpha(), mixture.rest());
        let p = [2.0 * alpha, rest + alpha * mixture.epsilon().exp_m1()];
        Self::among(mixture, p, n, delta)
    }

    /// Of other reports another part tells something, p and 1 − p, while the
    /// report looked at always does: with P(neither) = 0 nothing below depends on
    /// p but P(C).
    pub(super) fn of_clones(mixture: Mixture, p: [f64; 2], n: u64, delta: f64) -> Self {
        debug_assert!(mixture.rest() == 0.0);
        Self::among(mixture, p, n, delta)
    }

    fn among(mixture: Mixture, p: [f64; 2], n: u64, delta: f64) -> Self {
        let n = n as f64;
        let others = n - 1.0;
        // T is C or C + 1: out of the window, C is below its start or at least
        // at its end.
        let far = -(0.5 * CUT * delta).ln();
        let beyond = |x: f64| exponent(x, others, p) >= far;
        let mean = (others * p[0]).floor();
        let first = furthest(mean, 0.0, beyond);
        let last = furthest(mean.max(1.0).min(others), others, beyond);
        let tail = |x: f64, end: f64| {
            if x == end {
                0.0
            } else {
                (-exponent(x, others, p)).exp()
            }
        };
        Self {
            mixture,
            n,
            p,
            first: first.max(1.0),
            last: if last == others { n } else { last },
            outside: (tail(first, 0.0) + tail(last, others)) * (1.0 + 1e-9),
            far: far + mixture.epsilon(),
            neither: Neither::of(&mixture, p),
        }
    }

    /// Whether the reduction leaves nothing out.
    pub(super) const fn is_reduced(&self) -> bool {
        self.neither.is_none()
    }

    /// Whether what the reduction leaves out is summed up, not bounded.
    fn sums(&self, neither: &Neither) -> bool {
        let telling = self.n * self.p[0];
        neither.few(self.n, self.width(), telling, self.far)
    }

    pub(super) fn method(&self) -> Method {
        match &self.neither {
            Some(neither) if !self.sums(neither) => Method::BoundedSum,
            _ => Method::ExactSum,
        }
    }

    /// How many totals are summed over.
    pub(super) fn width(&self) -> f64 {
        self.last - self.first + 1.0
    }

    /// About the ε_c of `delta`: the loss is nearly Gaussian, and the spread of
    /// the Gaussian is 2α(e − 1) between two reports by the √(np) of all.
    pub(super) fn limit(&self, delta: f64) -> f64 {
        let apart = 2.0 * self.mixture.alpha() * self.mixture.epsilon().exp_m1();
        let spread = apart / (self.n * self.p[0]).sqrt();
        let mut square: f64 = 2.0 * (1.0 / delta).ln();
        for _ in 0..4 {
            square = 2.0 * (spread / (2.5 * delta * square)).ln().max(0.5);
        }
        spread * square.sqrt()
    }

    /// Of any randomizer of the same ε.
    pub(super) fn any(&self, delta: f64) -> Option<Self> {
        let any = Mixture::generic(self.mixture.epsilon()).ok()?;
        Some(Self::new(any, self.n as u64, delta))
    }

    pub(super) const fn epsilon(&self) -> f64 {
        self.mixture.epsilon()
    }

    /// δ at `central`, from 0 to the local ε.
    pub(super) fn at(&self, central: f64) -> Delta {
        self.sum(central, self.neither)
    }

    /// The reduction's alone, in less time; what is proven is only that δ is at
    /// most 1.
    pub(super) fn reduced(&self, central: f64) -> Delta {
        Delta {
            upper: 1.0,
            ..self.sum(central, None)
        }
    }

    fn sum(&self, central: f64, neither: Option<Neither>) -> Delta {
        let epsilon = self.mixture.epsilon();
        let (alpha, rest) = (self.mixture.alpha(), self.mixture.rest());
        let (e, k, k1) = (epsilon.exp(), central.exp(), central.exp_m1());
        let ke1 = (epsilon + central).exp_m1();
        let others = self.n - 1.0;
        // a* = base + slope·T.
        let lean = (0.5 * central).tanh() / epsilon.exp_m1();
        let base = lean * rest / self.p[1] * self.n;
        let slope = 0.5 + lean * (0.5 * (e + 1.0) - rest / self.p[1]);
        // Below that, nothing that may be seen makes ε_c.
        let mut total = self.first;
        if base + slope * total > total {
            total = (base / (1.0 - slope)).ceil().max(total);
        }
        let batch = Batch {
            n: self.n,
            p: self.p,
            epsilon,
            central,
            lean,
        };
        // Where the sum over z is long, it is bounded by a factor, for so many T
        // in turn; not where h is at T or just below.
        let bounded = neither.filter(|neither| !self.sums(neither));
        let steep = if slope < 1.0 {
            ((base + 3.0) / (1.0 - slope)).ceil()
        } else {
            f64::INFINITY
        };
        let steep = steep.max(total).min(self.last + 1.0);
        let stride = ((self.last - steep) / SEGMENTS).ceil().max(1.0);
        let (mut factor, mut greatest, mut until, mut more) = (1.0, 1.0_f64, total - 1.0, 0.0);
        let (mut sum, mut common) = (Sum::default(), 0.0_f64);
        let mut tail = Tail {
            u: 0.0,
            error: 0.0,
            due: total,
        };
        let odds = self.p[0] / self.p[1];
        let mut from = (base + slope * total).ceil().clamp(1.0, total.max(1.0));
        while total <= self.last {
            let mut w = probability(from - 1.0, total - 1.0, [0.5, 0.5]);
            let mut one = probability(total - 1.0, others, self.p);
            if total >= tail.due {
                tail = Tail::new(from - 1.0, total - 1.0, w);
            }
            if total > until {
                until = if total < steep {
                    steep - 1.0
                } else {
                    total + stride - 1.0
                };
                until = until.min(self.last);
                factor = match bounded {
                    Some(_) if total < steep => 0.0,
                    Some(neither) => {
                        // h grows by less than 1 a step.
                        let reach = (0.5 * (total - 4.0 - base - slope * total)).max(0.0);
                        until = until.min(total + (reach / slope).floor());
                        let h = (base + slope * until).ceil();
                        neither.factor(&batch, total, h)
                    }
                    None => 1.0,
                };
                greatest = greatest.max(factor);
            }
            let end = until.min((total + BLOCK).min(tail.due) - 1.0);
            let steps = end - total + 1.0;
            let mut block = Block::default();
            let relative = error(w) + STEP * steps;
            common = common.max(error(one) + STEP * steps);
            while total <= end {
                let next = one * (others - total + 1.0) / total * odds;
                let (a, r) = (alpha * one, rest * next);
                let gain = w * (a * ke1 + 0.5 * r * k1);
                let weight = a * (e + 1.0) + r;
                let loss = k1 * weight * tail.u;
                block.sum += gain - loss;
                block.gross += gain + loss;
                block.q += weight * tail.u - 0.5 * w * (2.0 * e * a + r);
                block.weight += weight;
                block.moved += w;
                block.most = block.most.max(tail.u);

                total += 1.0;
                one = next;
                if base + slope * total <= from {
                    // C(m + 1, j) from C(m, j), m = T − 1, j = h − 1.
                    tail.u += 0.5 * w * (from - 1.0) / (total - from);
                    w *= (total - 1.0) / (2.0 * (total - from));
                } else {
                    tail.u -= 0.5 * w;
                    w *= (total - 1.0) / (2.0 * from);
                    from += 1.0;
                }
            }
            tail.error += relative * block.moved + steps * f64::EPSILON * block.most;
            sum.add(&block, relative, k1 * tail.error);
            more += (factor - 1.0) * block.sum;
        }
        // The last bit of p moves the mean, and P(T) with it; so do the other
        // parameters.
        let width = self.last - self.first;
        common += 8.0 * f64::EPSILON * (width + 64.0);
        // Underflown probabilities are below 10⁻³⁰⁰ each.
        let error = sum.error + common * sum.sum.abs() + 1e-280;
        let above = (sum.sum + error + self.outside).min(1.0);
        let upper = match (neither, bounded) {
            (None, _) => above,
            (Some(neither), None) => {
                neither.exactly(&batch, self.first, self.last, self.far) + self.outside
            }
            // Far out, where next to nothing is left of δ, a factor says little, or
            // is none.
            (Some(_), Some(_)) if greatest.is_nan() || greatest > 1e3 => {
                let cut = 2.0 * (-self.far).exp() / CUT;
                self.any(cut).map_or(1.0, |any| any.reduced(central).above)
            }
            (Some(_), Some(neither)) => {
                let before = neither.unlikely(&batch, self.first, steep);
                sum.sum + more + greatest * error + before + self.outside
            }
        };
        Delta {
            lower: (sum.sum - error).max(0.0),
            middle: sum.sum.max(0.0),
            above,
            upper: upper.clamp(above, 1.0),
            fall: k * sum.q,
        }
    }
}

/// The whole number nearest to `mean`, on the way to `end`, that is `beyond`;
/// `end` if none is.
fn furthest(mean: f64, end: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    if !beyond(end) {
        return end;
    }
    let (mut near, mut far) = (mean, end);
    while (far - near).abs() > 1.0 {
        let middle = (0.5 * (near + far)).floor();
        if beyond(middle) {
            far = middle;
        } else {
            near = middle;
        }
    }
    far
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

/// Sums over the totals of one block.
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

#[derive(Debug, Default)]
struct Sum {
    sum: f64,
    q: f64,
    error: f64,
}

impl Sum {
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

#[cfg(test)]
mod tests {
    use super::*;
    use hushbin::hash::Hashing;
    use hushbin::mechanism::collision::{Collision, Rule};

    /// Where the sum over z is bounded, it is never below the sum, and by little
    /// above.
    #[test]
    fn what_is_bounded_is_above_the_sum() {
        let mut bounded = 0;
        for (favoured, t, epsilon) in [(4, 17, 1.0), (1, 300, 3.0), (5, 7, 0.5), (1, 40, 8.0)] {
            let rule = Rule::Heaviest { favoured };
            let collision = Collision::new(rule, Hashing::Independent, t).unwrap();
            let mixture = Mixture::collision(&collision, 1, epsilon).unwrap();
            for n in [10_000, 100_000] {
                for delta in [1e-2, 1e-6, 1e-12] {
                    let divergence = Divergence::new(mixture, n, delta);
                    let neither = divergence.neither.unwrap();
                    if divergence.sums(&neither) {
                        continue;
                    }
                    bounded += 1;
                    let likely = divergence.limit(delta);
                    for part in [0.0, 0.3, 1.0, 1.5, 4.0, 20.0] {
                        let central = (part * likely).min(epsilon);
                        let batch = Batch {
                            n: divergence.n,
                            p: divergence.p,
                            epsilon,
                            central,
                            lean: (0.5 * central).tanh() / epsilon.exp_m1(),
                        };
                        let (first, last) = (divergence.first, divergence.last);
                        let sum = neither.exactly(&batch, first, last, divergence.far);
                        let upper = divergence.at(central).upper;
                        let at = format!("{mixture:?}, {n}, {central}: {sum}, {upper}");
                        assert!(upper >= sum * (1.0 - 1e-10), "{at}");
                        if part <= 1.0 {
                            assert!(upper <= 1.2 * sum + 2.0 * divergence.outside, "{at}");
                        }
                    }
                }
            }
        }
        assert!(bounded > 12, "{bounded}");
    }
}
