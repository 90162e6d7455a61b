//! The privacy blanket: its theorem, its proof and its sum, which is what is proven of every batch.
//!
//! P1's Theorem 1 is no upper bound where a report may tell nothing, 1 − α − e·α > 0. It lets a
//! report of the person looked at that tells nothing hide among all reports of others that tell
//! nothing of themselves; but what others send that is none of the blanket's depends on what they
//! have, and may be told from it ([`errata`](crate::errata)). What is proven instead is the privacy
//! blanket (Balle, Bell, Gascón, Nissim, "The Privacy Blanket of the Shuffle Model", 2019, Lemma
//! 5.3), summed exactly.
//!
//! **Theorem.** Given its seed, let every report be drawn from a mixture of
//! distributions that weigh c of t buckets e and the others 1, Ω = c·e + t − c. For
//! k = exp(ε_c) from 1 to e, n shuffled reports satisfy
//!
//! δ(ε_c) ≤ E[(Z₁ + … + Zₙ)₊]/n,
//!
//! the Z independent, e − k and 1 − k·e with probability α = min(c, t − c)/Ω each, v(1 − k) with
//! probability |t − 2c|/Ω where v is 1 for 2c ≤ t and e beyond, and 0 otherwise.
//!
//! **Proof.** A report is one of the blanket, a uniform seed and bucket, with probability γ = t/Ω.
//! Reveal all reports of others that are not: by convexity that only raises δ. Of N + 1 that are
//! left, N ~ Binomial(n − 1, γ), the density under x₀ less k times that under x₁, against as many
//! of the blanket, is the average of γ⁻¹·l over them, l = (R(x₀) − k·R(x₁))/ω; N + 1 weighed by
//! 1/(N + 1) is a binomial of n trials, which gives the sum, Z being l where a report is of the
//! blanket and 0 elsewhere. For fixed favoured sets that overlap in o buckets Z is e − k or 1 − k·e
//! with probability (c − o)/Ω each, e(1 − k) with o/Ω, 1 − k with (t − 2c + o)/Ω. Less overlap
//! moves mass in pairs from e(1 − k) and 1 − k to e − k and 1 − k·e, which have the same sum and
//! lie outside: Z grows in convex order, and with it the expectation of the convex (·)₊ of the sum.
//! Mixtures, over seeds or sets, are below their worst part, by Jensen's inequality. ∎
//!
//! With 2c > t the forced overlap is what v = e says, and all that sets can be forced
//! to: what is lost in small batches is lost by revealing others' reports, as every
//! decomposition does. Of three favoured of five at ε = 1/2, three reports and
//! δ = 0.1, ε_c is 0.0323 by the sum and 0.0083 by enumeration.
//!
//! **Under an ideal hash**, buckets uniform and independent of each other, the sets of the c
//! heaviest of t buckets overlap. Given the buckets of what two inputs have in common, the rest of
//! either is as many elements, hashed alike and independently: a bucket is in either set with the
//! same probability p_b, so in both, ties broken independently, with p_b², and Σ p_b² ≥ (Σ p_b)²/t
//! = c²/t. At o = c²/t the atoms weigh (c − o)/Ω, twice, o/Ω and (t − 2c + o)/Ω; and a part 1/e of
//! the last moved to e(1 − k), the rest to 0, keeps the mean and makes Z grow in convex order. That
//! is the theorem's sum with α = (c − c²/t)/Ω and v = e.
//!
//! **Corollary.** Any ε-LDP randomizer is such a mixture with some c/t, in the reals. Where c/t ≠
//! 1/2, spreading what is at v(1 − k), and where 2c > t as much at 0 as it takes, to e − k, 1 − k·e
//! and 0 gives the Z of α = 1/(e + 1), with the same mean: for it the reduction, without a rest, is
//! right. This leans on no theorem about clones: those of Feldman, McMillan and Talwar (2023) for
//! any randomizer were withdrawn by their erratum, but for a restricted class. In the same way Z
//! grows with α.
//!
//! With T reports that tell, a of the first kind, and z that tell nothing, z ~ Binomial(n − T, q),
//! the sum is positive where a > h(z), which is linear. So δ(ε_c) is the expectation over T and z
//! of f(h(z)), f(h) = E[(X − h)₊], X ~ Binomial(T, 1/2), times (e − 1)(k + 1)/n; and the reduction
//! takes f at the mean of z, by Jensen's inequality at most that.

use super::mixture::Mixture;
use super::telling::Telling;
use crate::numeric::binomial::probability;

/// What the reports weigh that tell nothing, y = v·z, as a function of T: its mean, or
/// what it is taken for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    /// y at T = 0.
    pub(super) at_none: f64,
    /// By how much y falls from T to T + 1.
    pub(super) fall: f64,
}

impl Rest {
    /// Its mean: that of z is (n − T)·q.
    pub(super) fn expected(mixture: &Mixture, telling: &Telling) -> Self {
        let fall = mixture.rest() / telling.p[1];
        Self {
            at_none: fall * telling.n,
            fall,
        }
    }

    pub(super) fn at(&self, total: f64) -> f64 {
        self.at_none - self.fall * total
    }
}

/// The blanket's reports that tell nothing: how z is distributed, and what it does.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivacyBlanket {
    /// q and 1 − q.
    pub(super) q: [f64; 2],
    /// v.
    pub(super) weight: f64,
}

/// One batch at one ε_c.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    n: f64,
    /// Probability that a report tells, and that it does not.
    p: [f64; 2],
    epsilon: f64,
    pub(super) central: f64,
    /// (k − 1)/((e − 1)(k + 1)): by how much h grows with v·z.
    pub(super) lean: f64,
}

impl Batch {
    /// At `central`, from 0 to the local ε.
    pub(super) fn new(telling: &Telling, epsilon: f64, central: f64) -> Self {
        Self {
            n: telling.n,
            p: telling.p,
            epsilon,
            central,
            lean: (0.5 * central).tanh() / epsilon.exp_m1(),
        }
    }

    /// h(0).
    fn threshold(&self, total: f64) -> f64 {
        total * (0.5 + 0.5 * self.lean * (self.epsilon.exp() + 1.0))
    }

    /// (e − 1)(k + 1)/n.
    fn scale(&self) -> f64 {
        self.epsilon.exp_m1() * (self.central.exp() + 1.0) / self.n
    }
}

/// Over so many pairs of T and z the expectation is summed up. With fewer, what
/// grouping z adds would be more than 1/10000 of ε_c in some batches.
const PAIRS: f64 = 4e5;
/// Relative error of what is summed up: a few hundred roundings of positive
/// terms, of probabilities to 10⁻¹³.
pub(super) const ROUNDINGS: f64 = 1e-11;

impl PrivacyBlanket {
    /// `None` where every report of the blanket tells something.
    pub(super) fn new(mixture: &Mixture, p: [f64; 2]) -> Option<Self> {
        let weight = mixture.weight;
        let q = mixture.rest() / (weight * p[1]);
        (q > 0.0).then_some(Self {
            q: [q.min(1.0), (1.0 - q).max(0.0)],
            weight,
        })
    }

    /// How far z is from its mean but for exp(−`far`) on either side, among so many.
    pub(super) fn reach(&self, trials: f64, far: f64) -> [f64; 2] {
        let mean = trials * self.q[0];
        // Bernstein: x²/(2(v + x/3)) ≥ far.
        let variance = mean * self.q[1];
        let x = far / 3.0 + (far * far / 9.0 + 2.0 * far * variance).sqrt();
        [(mean - x).floor().max(0.0), (mean + x).ceil().min(trials)]
    }

    /// Whether [`PrivacyBlanket::sum`] has few enough terms to be worth it.
    pub(super) fn is_short(&self, telling: &Telling, far: f64) -> bool {
        let [low, high] = self.reach(telling.n, far);
        telling.width() * (high - low + 1.0) <= PAIRS
    }

    /// δ(ε_c) over the window of T, rounded up.
    pub(super) fn sum(&self, batch: &Batch, telling: &Telling, far: f64) -> f64 {
        let (first, last) = (telling.first, telling.last);
        let step = batch.lean * self.weight;
        let (mut sum, mut total) = (0.0, first.max(1.0));
        let mut losses = Vec::new();
        while total <= last {
            let trials = batch.n - total;
            let [low, high] = self.reach(trials, far);
            let h = |z: f64| batch.threshold(total) + step * z;
            let base = h(low).floor();
            excesses(total, base, h(high).floor() + 1.0, &mut losses);
            let odds = self.q[0] / self.q[1].max(1e-300);
            let mut weight = probability(low, trials, self.q);
            let (mut expected, mut z) = (0.0, low);
            while z <= high && weight > 0.0 {
                // As h grows slowly, many z in turn lie between the same whole
                // numbers: what is lost at either is weighed once.
                let whole = h(z).floor();
                let (mut below, mut above) = (0.0, 0.0);
                while z <= high {
                    let part = h(z) - whole;
                    if part >= 1.0 {
                        break;
                    }
                    below += weight * (1.0 - part);
                    above += weight * part;
                    weight *= (trials - z) / (z + 1.0) * odds;
                    z += 1.0;
                }
                let index = (whole - base) as usize;
                let loss = |i: usize| losses.get(i).copied().unwrap_or(0.0);
                expected += below * loss(index) + above * loss(index + 1);
            }
            sum += probability(total, batch.n, batch.p) * expected;
            total += 1.0;
        }
        batch.scale() * sum * (1.0 + ROUNDINGS) + beyond(batch, far)
    }
}

/// δ(ε_c) beyond the reach of z: a(e − k) is at most T·e, and T is 2α·n on average.
pub(super) fn beyond(batch: &Batch, far: f64) -> f64 {
    2.0 * (-far).exp() * batch.p[0] * batch.epsilon.exp()
}

/// f(j) for j from `low` to `high`, X ~ Binomial(`trials`, 1/2); those that are
/// missing at the end are 0.
fn excesses(trials: f64, low: f64, high: f64, into: &mut Vec<f64>) {
    into.clear();
    if low >= trials {
        return;
    }
    let top = high.min(trials);
    // Σ P(X ≥ x) and Σ (x − top)·P(X = x) beyond the top; then down.
    let (mut tail, mut excess, mut x) = (0.0, 0.0, top + 1.0);
    let mut term = if x <= trials {
        probability(x, trials, [0.5, 0.5])
    } else {
        0.0
    };
    while x <= trials && (term > 1e-25 * tail || 2.0 * x < trials) {
        tail += term;
        excess += (x - top) * term;
        term *= (trials - x) / (x + 1.0);
        x += 1.0;
    }
    let mut at = top;
    into.push(excess);
    while at > low {
        tail += probability_or_0(at, trials);
        excess += tail;
        at -= 1.0;
        into.push(excess);
    }
    into.reverse();
}

/// P(X = x), which is 0 below 0.
fn probability_or_0(x: f64, trials: f64) -> f64 {
    if x < 0.0 {
        0.0
    } else {
        probability(x, trials, [0.5, 0.5])
    }
}
