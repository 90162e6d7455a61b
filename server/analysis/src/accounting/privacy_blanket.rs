//! Privacy blanket: theorem, proof and sum. The sum is the proven bound of every batch.
//!
//! P1's Theorem 1 is not an upper bound if a report may be uninformative, 1 − α − e·α > 0. It lets
//! an uninformative report of the person in question hide among all uninformative reports of other
//! people. But their reports outside the blanket depend on their data, and may be recognised from
//! it ([`errata`](crate::errata)). The proven bound is the privacy blanket (Balle, Bell, Gascón,
//! Nissim, "The Privacy Blanket of the Shuffle Model", 2019, Lemma 5.3), summed exactly.
//!
//! **Theorem.** Let every report, given its seed, be drawn from a mixture of distributions that
//! give c of t buckets the weight e and the rest the weight 1. Let Ω = c·e + t − c. For k =
//! exp(ε_c) from 1 to e, n shuffled reports satisfy
//!
//! δ(ε_c) ≤ E[(Z₁ + … + Zₙ)₊]/n.
//!
//! The Z are independent. Each is e − k and 1 − k·e with probability α = min(c, t − c)/Ω each, v(1
//! − k) with probability |t − 2c|/Ω, and 0 otherwise. Here v is 1 for 2c ≤ t and e beyond.
//!
//! **Proof.**
//!
//! 1. A report lies in the blanket, a uniform seed and bucket, with probability γ = t/Ω.
//! 2. Reveal all reports of other people outside the blanket. By convexity that only raises δ. The
//!    rest are N + 1 reports, with N ~ Binomial(n − 1, γ).
//! 3. Take the density under x₀ less k times that under x₁, relative to N + 1 reports of the
//!    blanket. It is the average of l over them, with l = (R(x₀) − k·R(x₁))/ω and ω the uniform
//!    density of the blanket.
//! 4. N + 1 weighed by 1/(N + 1) is a binomial of n trials, over γ·n. This gives the sum: Z is
//!    γ⁻¹·l if a report is of the blanket, and 0 elsewhere.
//! 5. Let fixed favoured sets overlap in o buckets. Then Z is e − k or 1 − k·e with probability (c
//!    − o)/Ω each, e(1 − k) with o/Ω, and 1 − k with (t − 2c + o)/Ω.
//! 6. Less overlap moves mass in pairs from e(1 − k) and 1 − k to e − k and 1 − k·e. Both pairs
//!    have the same sum, and the latter lies outside. So Z grows in convex order, and with it the
//!    expectation of the convex (·)₊ of the sum.
//! 7. Mixtures, over seeds or sets, are below the worst part, by Jensen's inequality. ∎
//!
//! If 2c > t, favoured sets must overlap, and v = e accounts for exactly this overlap. The loss in
//! small batches comes from revealing other people's reports, as in every decomposition. For
//! example, take three favoured buckets of five, ε = 1/2, three reports and δ = 0.1. Then ε_c is
//! 0.0323 by the sum and 0.0083 by enumeration.
//!
//! **Under an ideal hash**, buckets are uniform and independent of each other, so the sets of the c
//! heaviest of t buckets overlap.
//!
//! 1. Condition on the buckets of the elements that two inputs share. The rest of either input is
//!    an equal number of elements, hashed alike and independently.
//! 2. So a bucket is in either set with the same probability p_b. Ties are broken independently, so
//!    it is in both with p_b². Σ p_b² ≥ (Σ p_b)²/t = c²/t.
//! 3. At o = c²/t the atoms weigh (c − o)/Ω, twice, o/Ω and (t − 2c + o)/Ω.
//! 4. Move a part 1/e of the last to e(1 − k) and the rest of it to 0. This keeps the mean and
//!    makes Z grow in convex order. The result is the theorem's sum with α = (c − c²/t)/Ω and v =
//!    e.
//!
//! **Corollary.** For any ε-LDP randomizer, the reduction with α = 1/(e + 1), which has no rest, is
//! an upper bound. Any such randomizer is a mixture as above with some c/t, in the reals. If c/t ≠
//! 1/2, spread the mass at v(1 − k) to e − k, 1 − k·e and 0. If 2c > t, also spread the necessary
//! mass at 0. This gives the Z of α = 1/(e + 1), with the same mean. In the same way Z grows with
//! α. The corollary needs no theorem about clones. Those of Feldman, McMillan and Talwar (2023) for
//! any randomizer were withdrawn by the authors' erratum, except for a restricted class.
//!
//! **Sum.** Let T reports be informative, a of them pointing to the first input. Let z reports of
//! the blanket be uninformative, z ~ Binomial(n − T, q). The sum is positive if a > h(z), which is
//! linear. So δ(ε_c) is (e − 1)(k + 1)/n times the expectation of f(h(z)) over T and z. Here f(h) =
//! E[(X − h)₊] and X ~ Binomial(T, 1/2). The reduction takes f at the mean of z, which is at most
//! that by Jensen's inequality.

use super::mixture::Mixture;
use super::telling::InformativeReports;
use crate::numeric::binomial::probability;

/// Weight y = v·z of the uninformative reports, as a linear function of T: its mean, or a value
/// that replaces it.
#[derive(Debug, Clone, Copy)]
pub(super) struct UninformativeWeight {
    /// Value y at T = 0.
    pub(super) intercept: f64,
    /// Decrease of y from T to T + 1.
    pub(super) fall: f64,
}

impl UninformativeWeight {
    /// Returns the mean of y. That of z is (n − T)·q.
    pub(super) fn expected(mixture: &Mixture, telling: &InformativeReports) -> Self {
        let fall = mixture.rest() / telling.p[1];
        Self {
            intercept: fall * telling.n,
            fall,
        }
    }

    /// Returns y at T = `total`.
    pub(super) fn at(&self, total: f64) -> f64 {
        self.intercept - self.fall * total
    }
}

/// Uninformative reports of the blanket: distribution of z, and weight of one report.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivacyBlanket {
    /// Probabilities q and 1 − q that an uninformative report lies in the blanket, and that it does
    /// not.
    pub(super) q: [f64; 2],
    /// Weight v of an uninformative report that lies in the blanket.
    pub(super) weight: f64,
}

/// One batch at one ε_c.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchAtEpsilon {
    n: f64,
    /// Probabilities that a report is informative, and that it is not.
    p: [f64; 2],
    epsilon: f64,
    pub(super) central: f64,
    /// Slope (k − 1)/((e − 1)(k + 1)) of h in y = v·z.
    pub(super) threshold_slope: f64,
}

impl BatchAtEpsilon {
    /// Returns the batch at `central`, which is between 0 and the local ε.
    pub(super) fn new(telling: &InformativeReports, epsilon: f64, central: f64) -> Self {
        Self {
            n: telling.n,
            p: telling.p,
            epsilon,
            central,
            threshold_slope: (0.5 * central).tanh() / epsilon.exp_m1(),
        }
    }

    /// Returns h(0) at T = `total`.
    fn threshold(&self, total: f64) -> f64 {
        total * (0.5 + 0.5 * self.threshold_slope * (self.epsilon.exp() + 1.0))
    }

    /// Returns the factor (e − 1)(k + 1)/n of the sum.
    fn scale(&self) -> f64 {
        self.epsilon.exp_m1() * (self.central.exp() + 1.0) / self.n
    }
}

/// Maximum number of pairs of T and z for the ungrouped sum. With a smaller limit, grouping z would
/// add more than 1/10000 of ε_c in some batches.
const PAIRS: f64 = 4e5;
/// Relative error of the sum: a few hundred roundings of positive terms, of probabilities precise
/// to 10⁻¹³.
pub(super) const ROUNDINGS: f64 = 1e-11;

impl PrivacyBlanket {
    /// Returns the blanket; `None` if every report of the blanket is informative.
    pub(super) fn new(mixture: &Mixture, p: [f64; 2]) -> Option<Self> {
        let weight = mixture.weight;
        let q = mixture.rest() / (weight * p[1]);
        (q > 0.0).then_some(Self {
            q: [q.min(1.0), (1.0 - q).max(0.0)],
            weight,
        })
    }

    /// Returns the range of z among `trials` reports, outside which at most exp(−`far`) lies on
    /// either side.
    pub(super) fn window(&self, trials: f64, far: f64) -> [f64; 2] {
        let mean = trials * self.q[0];
        // Bernstein's inequality: x²/(2(v + x/3)) ≥ far.
        let variance = mean * self.q[1];
        let x = far / 3.0 + (far * far / 9.0 + 2.0 * far * variance).sqrt();
        [(mean - x).floor().max(0.0), (mean + x).ceil().min(trials)]
    }

    /// Returns whether [`PrivacyBlanket::sum`] has few enough terms.
    pub(super) fn is_cheap(&self, telling: &InformativeReports, far: f64) -> bool {
        let [low, high] = self.window(telling.n, far);
        telling.width() * (high - low + 1.0) <= PAIRS
    }

    /// Returns δ(ε_c) over the window of T, rounded up.
    pub(super) fn sum(
        &self,
        batch: &BatchAtEpsilon,
        telling: &InformativeReports,
        far: f64,
    ) -> f64 {
        let (first, last) = (telling.first, telling.last);
        let step = batch.threshold_slope * self.weight;
        let (mut sum, mut total) = (0.0, first.max(1.0));
        let mut losses = Vec::new();
        while total <= last {
            let trials = batch.n - total;
            let [low, high] = self.window(trials, far);
            let h = |z: f64| batch.threshold(total) + step * z;
            let base = h(low).floor();
            excesses(total, base, h(high).floor() + 1.0, &mut losses);
            let odds = self.q[0] / self.q[1].max(1e-300);
            let mut weight = probability(low, trials, self.q);
            let (mut expected, mut z) = (0.0, low);
            while z <= high && weight > 0.0 {
                // h grows slowly, thus many successive z lie between the same whole numbers. The
                // excesses at the two whole numbers are then weighted once for all of them.
                let whole = h(z).floor();
                let (mut below, mut above) = (0.0, 0.0);
                while z <= high {
                    let part = h(z) - whole;
                    if part >= 1.0 {
                        break;
                    }
                    below += weight * (1.0 - part);
                    above += weight * part;
                    // P(z + 1) from P(z).
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
        batch.scale() * sum * (1.0 + ROUNDINGS) + tail_bound(batch, far)
    }
}

/// Returns a bound on δ(ε_c) beyond the range of z: a(e − k) is at most T·e, and the mean of T is
/// 2α·n.
pub(super) fn tail_bound(batch: &BatchAtEpsilon, far: f64) -> f64 {
    2.0 * (-far).exp() * batch.p[0] * batch.epsilon.exp()
}

/// Computes f(j) for j from `low` to `high`, X ~ Binomial(`trials`, 1/2). Missing values at the end
/// are 0.
fn excesses(trials: f64, low: f64, high: f64, into: &mut Vec<f64>) {
    into.clear();
    if low >= trials {
        return;
    }
    let top = high.min(trials);
    // Σ P(X ≥ x) and Σ (x − top)·P(X = x) beyond the top. Then the sums continue downwards.
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

/// Returns P(X = x), which is 0 for x < 0.
fn probability_or_0(x: f64, trials: f64) -> f64 {
    if x < 0.0 {
        0.0
    } else {
        probability(x, trials, [0.5, 0.5])
    }
}
