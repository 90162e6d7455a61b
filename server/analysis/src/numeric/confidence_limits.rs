//! Confidence limits for a parameter, computed from an observed sum of independent terms. The
//! limits need only the cumulant generating function K of the sum, and are valid for any number of
//! terms.
//!
//! Let S be the sum, I(x) = sup_t t·x − K(t), and k an integer above the mean of S. Two bounds on
//! P(S ≥ k) are used. The first is Chernoff's bound exp(−I(k)). For binomial S, the second bound is
//! Φ(−√(2·I(k − 1))), with the normal distribution function Φ (Zubkov and Serov, "A Complete Proof
//! of Universal Inequalities for the Distribution Function of the Binomial Law", 2013). The first
//! bound is sharp if few terms are not 0, the second one otherwise. For other sums, the second
//! bound may use a shift smaller than 1. Which shifts are possible, and with what error, is tested
//! against exact sums.
//!
//! A parameter value is ruled out if the tail probability of the observed sum is too small. This is
//! the case if t·x − K(t) is large enough for some t. For each t, the limit is the solution of an
//! equation in closed form. The result is the tightest of these limits over t. Every t gives a
//! valid limit.

use statrs::distribution::{ContinuousCDF, Normal};

/// Thresholds on the function I for one tail probability. A parameter value is ruled out if I
/// reaches one of its thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TailThresholds {
    /// Threshold for Chernoff's bound. I is evaluated at the observed sum.
    chernoff_threshold: f64,
    /// Threshold for the normal tail. I is evaluated closer to the mean, at the distance
    /// [`SumForConfidenceLimits::continuity_correction`] from the observed sum.
    normal_tail_threshold: f64,
    /// Normal quantile −Φ⁻¹ of the tail probability.
    normal_quantile: f64,
}

impl TailThresholds {
    /// Computes the thresholds for a tail probability, which must be at most 1/2.
    pub(crate) fn new(probability: f64) -> Self {
        let z = -Normal::standard().inverse_cdf(probability);
        Self {
            chernoff_threshold: -probability.ln(),
            normal_tail_threshold: 0.5 * z * z,
            normal_quantile: z,
        }
    }

    /// Returns the tail probability.
    pub(crate) fn probability(&self) -> f64 {
        (-self.chernoff_threshold).exp()
    }

    /// Returns the number of standard deviations beyond which a normal distribution has this tail
    /// probability.
    pub(crate) const fn normal_quantile(&self) -> f64 {
        self.normal_quantile
    }
}

/// Side of the estimate on which a confidence limit lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitSide {
    /// Smallest parameter value that is not ruled out.
    Lower,
    /// Largest parameter value that is not ruled out.
    Upper,
}

impl LimitSide {
    /// Returns −1 for `Lower` and 1 for `Upper`.
    pub(crate) const fn sign(self) -> f64 {
        match self {
            Self::Lower => -1.0,
            Self::Upper => 1.0,
        }
    }
}

/// Observed sum, with the parameters of the search for limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SumForConfidenceLimits {
    /// Observed sum S.
    pub(crate) observed_sum: f64,
    /// Distance from S to the start of the normal tail, which is closer to the mean. 0 if S is
    /// continuous.
    pub(crate) continuity_correction: f64,
    /// Approximate standard deviation of S. It determines the value of t at which the search
    /// starts.
    pub(crate) standard_deviation: f64,
    /// Maximum of |t|, the argument of K, that the search tries.
    pub(crate) max_cumulant_argument: f64,
}

/// Largest |t|·shift for which Chernoff's bound is not tried, because it cannot be better. Up to
/// this value, the shift multiplies a normal tail by at most about e^½. Chernoff's bound is at
/// least 3.2 times any normal tail of up to 1/4.
const MAX_SHIFT_WITHOUT_CHERNOFF: f64 = 0.5;

impl SumForConfidenceLimits {
    /// Returns the confidence limit on one side of the estimate. The distribution of S must
    /// increase with the parameter.
    ///
    /// `solve` is called with t, a sum x and a threshold e. It returns the parameter value for
    /// which K(t) = t·x − e, or `None` if K(t) is not monotone in the parameter.
    pub(crate) fn confidence_limit(
        &self,
        failure: &TailThresholds,
        side: LimitSide,
        solve: impl Fn(f64, f64, f64) -> Option<f64>,
    ) -> f64 {
        let sign = side.sign();
        let least = |sum: f64, exponent: f64| {
            let start = (2.0 * exponent).sqrt() / self.standard_deviation;
            find_minimum(start, self.max_cumulant_argument, |t| {
                solve(-sign * t, sum, exponent).map_or(f64::INFINITY, |limit| sign * limit)
            })
        };
        let (t, mut limit) = least(
            self.observed_sum + sign * self.continuity_correction,
            failure.normal_tail_threshold,
        );
        if t * self.continuity_correction > MAX_SHIFT_WITHOUT_CHERNOFF {
            limit = limit.min(least(self.observed_sum, failure.chernoff_threshold).1);
        }
        sign * limit
    }

    /// Returns true if the observed sum rules out the distribution with cumulant generating
    /// function `cumulants`.
    ///
    /// `side` is the side of the estimate on which the tested parameter value lies.
    pub(crate) fn rules_out_distribution(
        &self,
        failure: &TailThresholds,
        side: LimitSide,
        cumulants: impl Fn(f64) -> f64,
    ) -> bool {
        let sign = side.sign();
        let reached = |sum: f64, exponent: f64| {
            let start = (2.0 * exponent).sqrt() / self.standard_deviation;
            // The minimum is −sup_t (t·x − K(t)), over the t of this side.
            let divergence = |t: f64| cumulants(-sign * t) + sign * t * sum;
            -find_minimum(start, self.max_cumulant_argument, divergence).1 >= exponent
        };
        reached(
            self.observed_sum + sign * self.continuity_correction,
            failure.normal_tail_threshold,
        ) || reached(self.observed_sum, failure.chernoff_threshold)
    }
}

/// Smallest t at which the search starts, relative to the maximum t. Products with t as a factor
/// then stay far above the smallest double.
const MIN_RELATIVE_SEARCH_START: f64 = 1e-12;
/// Logarithm of the factor between successive values of t in the first phase of the search.
const LOG_STEP_SIZE: f64 = 0.4;
/// Maximum number of strides in the first phase. 52 strides cover a factor of 10⁻⁹. If no minimum
/// is found by then, there is none.
const MAX_SEARCH_STEPS: usize = 64;
/// Number of parabolas in the second phase, each through the best three points. After two
/// parabolas, ln t is precise to a few hundredths. The limit is then precise to a thousandth of its
/// distance from the estimate.
const PARABOLA_FIT_COUNT: usize = 2;

/// Returns the point in (0, `most`] at which a function is smallest, and its value there. The
/// function must first decrease and then increase. The search starts at `start`.
fn find_minimum(start: f64, most: f64, value: impl Fn(f64) -> f64) -> (f64, f64) {
    let at = |u: f64| {
        let t = u.exp().min(most);
        (u, value(t))
    };
    let start = start.clamp(MIN_RELATIVE_SEARCH_START * most, most).ln();
    let mut points = [start - LOG_STEP_SIZE, start, start + LOG_STEP_SIZE].map(at);
    for _ in 0..MAX_SEARCH_STEPS {
        let [low, middle, high] = points;
        if low.1 < middle.1 || middle.1 == f64::INFINITY {
            points = [at(low.0 - LOG_STEP_SIZE), low, middle];
        } else if high.1 < middle.1 && middle.0.exp() < most {
            points = [middle, high, at(high.0 + LOG_STEP_SIZE)];
        } else {
            break;
        }
    }
    for _ in 0..PARABOLA_FIT_COUNT {
        let Some(vertex) = parabola_vertex(points) else {
            break;
        };
        let next = at(vertex);
        let [low, middle, high] = points;
        points = match (next.0 < middle.0, next.1 < middle.1) {
            (true, true) => [low, next, middle],
            (true, false) => [next, middle, high],
            (false, true) => [middle, next, high],
            (false, false) => [low, middle, next],
        };
    }
    (points[1].0.exp().min(most), points[1].1)
}

/// Returns the position of the vertex of the parabola through three points. Returns `None` if the
/// vertex is not between the outer points, or is the middle point.
fn parabola_vertex([a, b, c]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let curvature = (right - left) / (c.0 - a.0);
    let vertex = 0.5 * (a.0 + b.0 - left / curvature);
    (a.0 < vertex && vertex < c.0 && vertex != b.0).then_some(vertex)
}

#[cfg(test)]
mod tests {
    use super::super::clopper_pearson;
    use super::*;

    /// Probabilities of the values −1, 0, 1 and 2.
    type Law = [f64; 4];

    fn cumulants(parts: [(usize, Law); 2], t: f64) -> f64 {
        let moment = |law: Law| -> f64 {
            let numbers = [-1.0, 0.0, 1.0, 2.0].map(|x: f64| (t * x).exp_m1());
            law.iter().zip(numbers).map(|(p, x)| p * x).sum()
        };
        let part = |(terms, law): (usize, Law)| terms as f64 * moment(law).ln_1p();
        parts.map(part).iter().sum()
    }

    /// Returns the distribution of the sum S of n terms: P(S = −n), P(S = 1 − n), …
    fn exact(parts: [(usize, Law); 2]) -> Vec<f64> {
        let mut all = vec![1.0];
        for (terms, law) in parts {
            for _ in 0..terms {
                let mut next = vec![0.0; all.len() + 3];
                for (at, own) in all.iter().enumerate() {
                    for (step, p) in law.iter().enumerate() {
                        next[at + step] += own * p;
                    }
                }
                all = next;
            }
        }
        all
    }

    /// Returns the greatest ratio of an exact tail to its bound, over all values of the sum whose
    /// tail is between 10⁻¹² and 1/4.
    fn greatest_ratio(parts: [(usize, Law); 2], shift: f64) -> f64 {
        let law = exact(parts);
        let terms = (parts[0].0 + parts[1].0) as f64;
        let numbers = || (0..law.len()).map(|at| at as f64 - terms);
        let mean: f64 = law.iter().zip(numbers()).map(|(p, x)| p * x).sum();
        let square: f64 = law.iter().zip(numbers()).map(|(p, x)| p * x * x).sum();
        let mut worst: f64 = 0.0;
        for (at, sum) in numbers().enumerate().filter(|(at, _)| law[*at] > 0.0) {
            let below: f64 = law[..=at].iter().sum();
            let above: f64 = law[at..].iter().sum();
            for (side, tail) in [(LimitSide::Upper, below), (LimitSide::Lower, above)] {
                if !(1e-12..=0.25).contains(&tail) {
                    continue;
                }
                let observed = SumForConfidenceLimits {
                    observed_sum: sum,
                    continuity_correction: shift,
                    standard_deviation: (square - mean * mean).sqrt(),
                    max_cumulant_argument: 40.0,
                };
                let ruled_out = |ratio: f64| {
                    let failure = TailThresholds::new((tail / ratio).min(0.5));
                    observed.rules_out_distribution(&failure, side, |t| cumulants(parts, t))
                };
                // Increase the ratio in steps of 0.1 per cent from the worst one so far.
                while ruled_out(worst + 0.001) && worst < 10.0 {
                    worst += 0.001;
                }
            }
        }
        worst
    }

    fn hit(p: f64) -> Law {
        [0.0, 1.0 - p, p, 0.0]
    }

    fn signed(pair: f64, lean: f64) -> Law {
        [0.5 * (pair - lean), 1.0 - pair, 0.5 * (pair + lean), 0.0]
    }

    const TERMS: [[usize; 2]; 8] = [
        [1, 0],
        [1, 1],
        [5, 0],
        [2, 18],
        [20, 0],
        [0, 100],
        [50, 50],
        [150, 150],
    ];

    fn worst(laws: &[[Law; 2]], shift: f64) -> f64 {
        let ratios = laws.iter().flat_map(|&[a, b]| {
            TERMS.map(|[first, second]| greatest_ratio([(first, a), (second, b)], shift))
        });
        ratios.fold(0.0, f64::max)
    }

    /// A shift of 1 gives valid bounds on the tails of sums of hits. This is proven if all terms
    /// have the same distribution. The test also covers sums of terms with two distributions.
    #[test]
    fn tails_of_hits_are_bounded() {
        let pairs = [
            [0.5, 0.005],
            [0.9, 0.01],
            [0.99, 0.3],
            [0.3, 0.2],
            [0.05, 0.001],
        ];
        let ratio = worst(&pairs.map(|pair| pair.map(hit)), 1.0);
        assert!(ratio < 1.002, "{ratio}");
    }

    /// Tails exceed the bounds with a shift of 2/3 by less than 2 per cent, unless hardly any term
    /// is 0.
    #[test]
    fn tails_are_bounded_two_thirds_of_a_step_nearer() {
        let hits = [
            [0.5, 0.005],
            [0.9, 0.01],
            [0.99, 0.3],
            [0.3, 0.2],
            [0.05, 0.001],
        ];
        let ratio = worst(&hits.map(|pair| pair.map(hit)), 2.0 / 3.0);
        assert!(ratio < 1.01, "{ratio}");
        let none = |q: f64| signed(q, 0.0);
        let signs = [
            [signed(0.5, 0.3), none(0.005)],
            [signed(0.6, 0.5), none(0.5)],
            [signed(0.6, 0.3), none(0.1)],
            [signed(0.1, 0.09), none(0.01)],
            [signed(0.05, 0.01), none(0.04)],
        ];
        let ratio = worst(&signs, 2.0 / 3.0);
        assert!(ratio < 1.02, "{ratio}");
        let both = [
            [[0.0, 0.48, 0.5, 0.02], [0.0, 0.949, 0.05, 0.001]],
            [[0.0, 0.3, 0.5, 0.2], [0.0, 0.6, 0.3, 0.1]],
        ];
        let ratio = worst(&both, 2.0 / 3.0);
        assert!(ratio < 1.02, "{ratio}");
    }

    /// If the tail probability is 1/2, the limit differs from the estimate only by the shift.
    #[test]
    fn limits_of_even_odds_are_the_shift() {
        let observed = SumForConfidenceLimits {
            observed_sum: 7.0,
            continuity_correction: 2.0 / 3.0,
            standard_deviation: 2.5,
            max_cumulant_argument: 40.0,
        };
        for side in [LimitSide::Lower, LimitSide::Upper] {
            let limit =
                observed.confidence_limit(&TailThresholds::new(0.5), side, |t, sum, exponent| {
                    Some((t * sum - exponent) / t.exp_m1())
                });
            let exact = 7.0 + side.sign() * 2.0 / 3.0;
            assert!((limit - exact).abs() < 1e-3, "{side:?}: {limit}");
        }
    }

    /// Limits for a probability are slightly wider than those of Clopper and Pearson, for every
    /// count.
    #[test]
    fn limits_of_a_probability_are_a_little_beyond_the_exact() {
        for n in [1_u64, 2, 7, 40, 300, 100_000] {
            let counts = (0..=n.min(40)).chain([n / 2, n - 1, n]);
            for (k, failure) in counts.flat_map(|k| [0.25, 0.025, 1e-5, 1e-9].map(|f| (k, f))) {
                let (trials, p) = (n as f64, k as f64 / n as f64);
                let observed = SumForConfidenceLimits {
                    observed_sum: k as f64,
                    continuity_correction: 2.0 / 3.0,
                    standard_deviation: (trials * p * (1.0 - p)).sqrt().max(1.0),
                    max_cumulant_argument: 40.0,
                };
                let solve = |t: f64, sum: f64, exponent: f64| {
                    Some(((t * sum - exponent) / trials).exp_m1() / t.exp_m1())
                };
                let [low, high] = [LimitSide::Lower, LimitSide::Upper].map(|side| {
                    observed.confidence_limit(&TailThresholds::new(failure), side, solve)
                });
                let exact_low = clopper_pearson::lower_confidence_bound(k, n, failure);
                let exact_high = clopper_pearson::upper_confidence_bound(k, n, failure);
                let reach = [p - exact_low, exact_high - p];
                let ours = [p - low, high - p];
                let what = format!("{k} of {n} at {failure}: {ours:?}, exact {reach:?}");
                for (ours, exact) in ours.into_iter().zip(reach) {
                    assert!(ours > exact * 0.99 - 1e-12, "{what}");
                    assert!(ours < exact * 1.2 + 1.0 / trials, "{what}");
                }
            }
        }
    }
}
