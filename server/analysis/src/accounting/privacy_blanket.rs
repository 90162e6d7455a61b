//! Privacy blanket: theorem, proof and sum. The sum yields the proven bound on the δ of every
//! batch.
//!
//! P1's Theorem 1 is not an upper bound if a report may be uninformative, that is, if 1 − α − e·α >
//! 0. It assumes that an uninformative report of the person in question is hidden by all
//! uninformative reports of other people. But those reports that are outside the blanket depend on
//! the other people's data, and may be recognised from it ([`paper_errata`](crate::paper_errata)). The proven
//! bound is the privacy blanket (Balle, Bell, Gascón, Nissim, "The Privacy Blanket of the Shuffle
//! Model", 2019, Lemma 5.3), summed exactly.
//!
//! **Theorem.** Let every report, given its seed, be drawn from a mixture of distributions that
//! assign weight e to c of t buckets and weight 1 to the others. Let Ω = c·e + t − c. For k =
//! exp(ε_c) from 1 to e, n shuffled reports satisfy
//!
//! δ(ε_c) ≤ E[(Z₁ + … + Zₙ)₊]/n.
//!
//! The variables Z are independent and have the same distribution. Z is e − k with probability α =
//! min(c, t − c)/Ω, 1 − k·e with probability α, v(1 − k) with probability |t − 2c|/Ω, and otherwise
//! 0. Here v is 1 if 2c ≤ t, and e if not.
//!
//! **Proof.**
//!
//! 1. The blanket is the distribution of a uniform seed and a uniform bucket. For every input, a
//!    report is drawn from the blanket with probability γ = t/Ω.
//! 2. Reveal all reports of other people that are not drawn from the blanket. By convexity, this
//!    can only increase δ. What remains are N + 1 reports, where N ~ Binomial(n − 1, γ).
//! 3. Take the density of these reports if the person has input x₀, minus k times their density
//!    under input x₁. Divide it by the density of N + 1 reports drawn from the blanket. The
//!    quotient is the average over the reports of l = (R(x₀) − k·R(x₁))/ω, where R is the report
//!    density and ω the uniform density of the blanket.
//! 4. Weighting the distribution of N + 1 by 1/(N + 1) gives a binomial distribution with n trials,
//!    divided by γ·n. This gives the theorem's sum, in which Z is γ⁻¹·l if a report is drawn from
//!    the blanket, and otherwise 0.
//! 5. Let the favoured sets of x₀ and x₁ be fixed and overlap in o buckets. Then Z is e − k with
//!    probability (c − o)/Ω, 1 − k·e with probability (c − o)/Ω, e(1 − k) with probability o/Ω, and
//!    1 − k with probability (t − 2c + o)/Ω.
//! 6. Reducing the overlap moves equal masses from e(1 − k) and 1 − k to e − k and 1 − k·e. Both
//!    pairs of values have the same sum, and the latter pair is further apart. So Z increases in
//!    convex order, and so does the expectation of the convex function (·)₊ of the sum.
//! 7. By Jensen's inequality, a mixture over seeds or favoured sets has at most the δ of its worst
//!    component. ∎
//!
//! If 2c > t, any two favoured sets overlap in at least 2c − t buckets, and v = e accounts for
//! exactly this overlap. In small batches the bound is not tight, because step 2 reveals reports of
//! other people, as in every decomposition. For example, take three favoured buckets out of five, ε
//! = 1/2, three reports and δ = 0.1. Then ε_c is 0.0323 by the sum and 0.0083 by enumeration.
//!
//! **Under an ideal hash**, the buckets of elements are uniform and independent of each other. So
//! the favoured sets, the c heaviest of t buckets, overlap.
//!
//! 1. Condition on the buckets of the elements that both inputs have. Both inputs have the same
//!    number of other elements, whose buckets are independent and identically distributed.
//! 2. So a bucket b is in either favoured set with the same probability p_b. Ties are broken
//!    independently, so b is in both sets with probability p_b². The expected overlap is Σ p_b² ≥
//!    (Σ p_b)²/t = c²/t.
//! 3. With the overlap o = c²/t, the four probabilities of step 5 above are (c − o)/Ω twice, o/Ω
//!    and (t − 2c + o)/Ω.
//! 4. Move a fraction 1/e of the last mass, at 1 − k, to e(1 − k), and the remainder to 0. This
//!    keeps the mean and increases Z in convex order. The result is the theorem's sum with α = (c −
//!    c²/t)/Ω and v = e.
//!
//! **Corollary.** For any ε-LDP randomizer, the reduction with α = 1/(e + 1) is an upper bound.
//! With this α, no report points to neither input. Any such randomizer is a mixture as in the
//! theorem, with some real ratio c/t. If c/t ≠ 1/2, spread the mass at v(1 − k) to e − k, 1 − k·e
//! and 0. If 2c > t, also spread some of the mass at 0. This gives the Z of α = 1/(e + 1), with the
//! same mean. In the same way, Z increases with α. The corollary needs no theorem about clones. The
//! clone theorems of Feldman, McMillan and Talwar (2023) for arbitrary randomizers were withdrawn
//! by the authors' erratum, except for a restricted class.
//!
//! **Sum.** Let T reports be informative, and let a of them point to the first input. Let z be the
//! number of uninformative reports in the blanket, z ~ Binomial(n − T, q). The sum of the Z is
//! positive if a > h(z), where h is linear. So the bound on δ(ε_c) is (e − 1)(k + 1)/n times the
//! expectation of f(h(z)) over T and z. Here f(h) = E[(X − h)₊] with X ~ Binomial(T, 1/2). The
//! reduction evaluates f at the mean of z instead. By Jensen's inequality, this is at most the
//! expectation.

use super::informative_reports::InformativeCountDistribution;
use super::mixture::ReportMixture;
use crate::numeric::binomial::binomial_probability;

/// Weight y = v·z of the uninformative reports. Here z is the number of uninformative reports in
/// the blanket, and v is the weight of each. The weight is a linear function of T, the number of
/// informative reports. A value is either the mean of y or one of the values that replace the
/// distribution of y.
#[derive(Debug, Clone, Copy)]
pub(super) struct UninformativeWeight {
    /// Value of y at T = 0.
    pub(super) intercept: f64,
    /// Decrease of y from T to T + 1.
    pub(super) decrease_per_report: f64,
}

impl UninformativeWeight {
    /// Returns the mean of the weight y. The number z of uninformative reports in the blanket has
    /// mean (n − T)·q.
    pub(super) fn mean_weight(
        mixture: &ReportMixture,
        telling: &InformativeCountDistribution,
    ) -> Self {
        let fall = mixture.uninformative_probability() / telling.informative_probability_pair[1];
        Self {
            intercept: fall * telling.report_count,
            decrease_per_report: fall,
        }
    }

    /// Returns y at T = `total`.
    pub(super) fn weight_at(&self, total: f64) -> f64 {
        self.intercept - self.decrease_per_report * total
    }
}

/// Parameters of the uninformative reports in the blanket: the distribution of their number z, and
/// the weight of one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivacyBlanket {
    /// Probabilities q and 1 − q that an uninformative report is in the blanket, and that it is
    /// not.
    pub(super) blanket_probability_pair: [f64; 2],
    /// Weight v of an uninformative report that is in the blanket.
    pub(super) uninformative_report_weight: f64,
}

/// Parameters of a batch at one central ε (ε_c).
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchAtEpsilon {
    report_count: f64,
    /// Probabilities that a report is informative, and that it is not.
    informative_probability_pair: [f64; 2],
    local_epsilon: f64,
    pub(super) central_epsilon: f64,
    /// Slope (k − 1)/((e − 1)(k + 1)) of the threshold h as a function of y = v·z, where e = exp(ε)
    /// and k = exp(ε_c).
    pub(super) threshold_slope_per_weight: f64,
}

impl BatchAtEpsilon {
    /// Creates the parameters at ε_c = `central`, which must be between 0 and the local ε.
    pub(super) fn new(telling: &InformativeCountDistribution, epsilon: f64, central: f64) -> Self {
        Self {
            report_count: telling.report_count,
            informative_probability_pair: telling.informative_probability_pair,
            local_epsilon: epsilon,
            central_epsilon: central,
            threshold_slope_per_weight: (0.5 * central).tanh() / epsilon.exp_m1(),
        }
    }

    /// Returns the threshold h for `total` informative reports if no uninformative report is in the
    /// blanket (z = 0).
    fn threshold_without_uninformative(&self, total: f64) -> f64 {
        total * (0.5 + 0.5 * self.threshold_slope_per_weight * (self.local_epsilon.exp() + 1.0))
    }

    /// Returns the factor (e − 1)(k + 1)/n in front of the sum, where e = exp(ε) and k = exp(ε_c).
    fn sum_factor(&self) -> f64 {
        self.local_epsilon.exp_m1() * (self.central_epsilon.exp() + 1.0) / self.report_count
    }
}

/// Maximum number of terms of the ungrouped sum. Each term belongs to a pair (T, z): a number T of
/// informative reports and a number z of uninformative reports. With a smaller maximum, grouping z
/// would increase ε_c by more than 1/10000 in some batches.
const MAX_UNGROUPED_TERMS: f64 = 4e5;
/// Bound on the relative error of the sum. The error comes from a few hundred roundings of positive
/// terms, and from probabilities that are precise to 10⁻¹³.
pub(super) const SUM_RELATIVE_ERROR_BOUND: f64 = 1e-11;

impl PrivacyBlanket {
    /// Creates the blanket. Returns `None` if every report in the blanket is informative. `p` are
    /// the probabilities that another person's report is informative, and that it is not.
    pub(super) fn new(mixture: &ReportMixture, p: [f64; 2]) -> Option<Self> {
        let weight = mixture.uninformative_report_weight;
        let q = mixture.uninformative_probability() / (weight * p[1]);
        (q > 0.0).then_some(Self {
            blanket_probability_pair: [q.min(1.0), (1.0 - q).max(0.0)],
            uninformative_report_weight: weight,
        })
    }

    /// Returns a range for z, the number of reports in the blanket among `trials` uninformative
    /// reports. The probability below the range and the probability above it are each at most
    /// exp(−`far`).
    pub(super) fn uninformative_range(&self, trials: f64, far: f64) -> [f64; 2] {
        let mean = trials * self.blanket_probability_pair[0];
        // Bernstein's inequality: x solves x²/(2(v + x/3)) = far, where v is the variance.
        let variance = mean * self.blanket_probability_pair[1];
        let x = far / 3.0 + (far * far / 9.0 + 2.0 * far * variance).sqrt();
        [(mean - x).floor().max(0.0), (mean + x).ceil().min(trials)]
    }

    /// Returns true if the sum in [`PrivacyBlanket::delta_upper_bound`] has few enough terms to be
    /// computed without grouping.
    pub(super) fn has_few_terms(&self, telling: &InformativeCountDistribution, far: f64) -> bool {
        let [low, high] = self.uninformative_range(telling.report_count, far);
        telling.value_count() * (high - low + 1.0) <= MAX_UNGROUPED_TERMS
    }

    /// Returns an upper bound on δ(ε_c). The bound is a sum over the range of T, the number of
    /// informative reports.
    pub(super) fn delta_upper_bound(
        &self,
        batch: &BatchAtEpsilon,
        telling: &InformativeCountDistribution,
        far: f64,
    ) -> f64 {
        let (first, last) = (telling.min_informative_count, telling.max_informative_count);
        let step = batch.threshold_slope_per_weight * self.uninformative_report_weight;
        let (mut sum, mut total) = (0.0, first.max(1.0));
        let mut losses = Vec::new();
        while total <= last {
            let trials = batch.report_count - total;
            let [low, high] = self.uninformative_range(trials, far);
            let h = |z: f64| batch.threshold_without_uninformative(total) + step * z;
            let base = h(low).floor();
            expected_excesses(total, base, h(high).floor() + 1.0, &mut losses);
            let odds =
                self.blanket_probability_pair[0] / self.blanket_probability_pair[1].max(1e-300);
            let mut weight = binomial_probability(low, trials, self.blanket_probability_pair);
            let (mut expected, mut z) = (0.0, low);
            while z <= high && weight > 0.0 {
                // h increases slowly, so for many successive z it is between the same two integers.
                // The excesses at these integers are then weighted once for all of these z.
                let whole = h(z).floor();
                let (mut below, mut above) = (0.0, 0.0);
                while z <= high {
                    let part = h(z) - whole;
                    if part >= 1.0 {
                        break;
                    }
                    below += weight * (1.0 - part);
                    above += weight * part;
                    // Compute P(z + 1) from P(z).
                    weight *= (trials - z) / (z + 1.0) * odds;
                    z += 1.0;
                }
                let index = (whole - base) as usize;
                let loss = |i: usize| losses.get(i).copied().unwrap_or(0.0);
                expected += below * loss(index) + above * loss(index + 1);
            }
            sum += binomial_probability(
                total,
                batch.report_count,
                batch.informative_probability_pair,
            ) * expected;
            total += 1.0;
        }
        batch.sum_factor() * sum * (1.0 + SUM_RELATIVE_ERROR_BOUND)
            + omitted_delta_bound(batch, far)
    }
}

/// Returns an upper bound on the part of δ(ε_c) that the sum omits, because z is outside its range.
/// Here z is the number of uninformative reports. The sum of the Z is at most a(e − k) ≤ T·e, and
/// the mean of T is 2α·n.
pub(super) fn omitted_delta_bound(batch: &BatchAtEpsilon, far: f64) -> f64 {
    2.0 * (-far).exp() * batch.informative_probability_pair[0] * batch.local_epsilon.exp()
}

/// Computes the excesses f(j) = E[(X − j)₊] for j from `low` to `high`, where X ~
/// Binomial(`trials`, 1/2). Values missing at the end of `into` are 0.
fn expected_excesses(trials: f64, low: f64, high: f64, into: &mut Vec<f64>) {
    into.clear();
    if low >= trials {
        return;
    }
    let top = high.min(trials);
    // First P(X > top) and Σ (x − top)·P(X = x) over x > top. Then both sums are continued
    // downwards.
    let (mut tail, mut excess, mut x) = (0.0, 0.0, top + 1.0);
    let mut term = if x <= trials {
        binomial_probability(x, trials, [0.5, 0.5])
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
        tail += fair_binomial_probability(at, trials);
        excess += tail;
        at -= 1.0;
        into.push(excess);
    }
    into.reverse();
}

/// Returns the probability of `x` heads in `trials` fair coin flips. It is 0 for x < 0.
fn fair_binomial_probability(x: f64, trials: f64) -> f64 {
    if x < 0.0 {
        0.0
    } else {
        binomial_probability(x, trials, [0.5, 0.5])
    }
}
