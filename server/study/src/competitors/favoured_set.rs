//! Favoured sets: each input makes a set of outputs likelier. Most mechanisms of this module are
//! determined by the sizes of such sets.
//!
//! An input favours N₊ outputs and does not favour the remaining N₋. With probability α the report
//! is uniform over the favoured outputs. Otherwise the report is uniform over the remaining
//! outputs. In the worst pair of inputs, the first input favours O outputs that the second does not
//! favour. Only these O outputs contribute to δ:
//!
//! δ(ε) = O·(α/N₊ − exp(ε)·(1 − α)/N₋).
//!
//! Write e = exp(ε). Solving for α gives α₀ + (1 − α₀)·δ·N₊/O, where α₀ = e·N₊/(e·N₊ + N₋) is the α
//! for δ = 0. This is a mixture. With probability δ·N₊/O the report is certainly favoured.
//! Otherwise the report comes from the mechanism for δ = 0, which satisfies ε-LDP.

use hushbin::Error;
use hushbin::bounds::{BUCKET_COUNT_RANGE, ParameterRange};
use hushbin::sample::Threshold;

use super::budget::Budget;

/// Numbers of outputs that determine a mechanism: N₊ favoured outputs, N₋ remaining outputs, and O
/// distinguishing outputs. One input favours the distinguishing outputs, and the worst alternative
/// input does not. Each number is at least 1. The numbers are doubles because they reach 2¹⁰⁰⁰.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FavouredSetSizes {
    /// Number of favoured outputs, N₊.
    pub(super) favoured_count: f64,
    /// Number of remaining outputs, N₋.
    pub(super) unfavoured_count: f64,
    /// Number O of outputs that one input favours and the worst alternative input does not favour.
    pub(super) distinguishing_count: f64,
    /// Maximum number of rounding errors in each of the three numbers of outputs; 0 if the numbers
    /// are exact. Each rounding error is at most half an ulp.
    pub(super) max_rounding_error_count: u32,
}

impl FavouredSetSizes {
    /// Returns the sizes for a mechanism in which each input favours one of `outputs` outputs, and
    /// different inputs favour different outputs. `outputs` must be at least 2.
    pub(super) fn single_favoured_output(outputs: u32) -> Self {
        Self {
            favoured_count: 1.0,
            unfavoured_count: f64::from(outputs) - 1.0,
            distinguishing_count: 1.0,
            max_rounding_error_count: 0,
        }
    }

    /// Returns the probability α, at most 1, that the report is a favoured output.
    pub(super) fn favoured_probability(&self, budget: &Budget) -> f64 {
        let weight = budget.exp_epsilon() * self.favoured_count;
        let all = weight + self.unfavoured_count;
        let certain = (budget.delta() * (self.favoured_count / self.distinguishing_count)).min(1.0);
        // With probability `certain` = δ·N₊/O the report is certainly favoured.
        weight / all + certain * (self.unfavoured_count / all)
    }

    /// Returns the probability 1 − α that the report is not a favoured output, computed without
    /// cancellation.
    pub(super) fn unfavoured_probability(&self, budget: &Budget) -> f64 {
        let certain = (budget.delta() * (self.favoured_count / self.distinguishing_count)).min(1.0);
        self.unfavoured_count / (budget.exp_epsilon() * self.favoured_count + self.unfavoured_count)
            * (1.0 - certain)
    }

    /// Returns the probability α of a favoured output, rounded down to a 64-bit threshold.
    pub(super) fn favoured_threshold(&self, budget: &Budget) -> Threshold {
        threshold_rounded_down(
            self.favoured_probability(budget),
            self.max_rounding_error_count,
        )
    }

    /// Returns δ at ε if the report is a favoured output with the probability of the threshold
    /// `inside`.
    pub(super) fn delta_at(&self, inside: Threshold, epsilon: f64) -> f64 {
        let (p, q) = (inside.probability(), inside.false_probability());
        self.delta_of_probabilities(p, q, epsilon)
    }

    /// Returns δ at ε if the report is a favoured output with probability α = `inside`. The caller
    /// passes 1 − α as `outside`, because subtracting would lose precision.
    pub(super) fn delta_of_probabilities(&self, inside: f64, outside: f64, epsilon: f64) -> f64 {
        let favoured = inside * (self.distinguishing_count / self.favoured_count);
        let left = outside * (self.distinguishing_count / self.unfavoured_count);
        (favoured - epsilon.exp() * left).max(0.0)
    }
}

/// Returns a threshold whose probability is at most the exact value that `probability`
/// approximates.
///
/// `roundings` is the number of rounding errors in the inputs of the caller's formula. The formula
/// adds at most 12 more. Each rounding error is at most half an ulp.
pub(super) fn threshold_rounded_down(probability: f64, roundings: u32) -> Threshold {
    let slack = f64::from(roundings + 12) * (f64::EPSILON / 2.0);
    // The cast truncates, which rounds down again. The slack keeps the product below 2⁶⁴.
    Threshold((probability * (1.0 - slack) * TWO_TO_THE_64) as u64)
}

/// Returns a threshold near `probability`, for draws whose exact probability does not matter to
/// privacy.
pub(super) fn nearest_threshold(probability: f64) -> Threshold {
    Threshold((probability * TWO_TO_THE_64) as u64)
}

/// Number of possible 64-bit words, 2⁶⁴.
const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

/// Returns the probability that a report is one of the c favoured buckets among t, under (ε, δ),
/// for 1 ≤ c < t. The `heaviest` rule of the collision mechanism and the `strongest` rule of CoCo
/// would have this probability if they supported a δ.
///
/// If 2c ≤ t, two inputs can favour disjoint sets of c buckets. Otherwise at most t − c buckets of
/// one favoured set are outside the other set.
///
/// The core does not offer δ, because it gains nothing. If 2c ≤ t, the divisor of the estimates
/// grows only by the factor 1 + δ·(t/c)/(exp(ε) − 1), which is negligible at δ ≤ 10⁻⁶. The δ of a
/// shuffled batch would also grow by δ for each report.
///
/// Source: enumeration of all pairs of favoured sets, in the tests.
///
/// # Errors
/// [`Error::OutOfRange`] if c or t is out of range.
///
/// ```
/// use hushbin_study::competitors::{Budget, favoured_probability_with_delta};
///
/// let inside = |delta| favoured_probability_with_delta(4, 17, &Budget::new(1.0, delta).unwrap()).unwrap();
/// let e = 1.0_f64.exp();
/// assert!((inside(0.0) - 4.0 * e / (4.0 * e + 13.0)).abs() < 1e-15);
/// // A relative gain of about 10⁻⁶, for a failure probability of 10⁻⁶ in each report.
/// assert!(inside(1e-6) / inside(0.0) - 1.0 < 2e-6);
/// ```
pub fn favoured_probability_with_delta(
    favoured: u32,
    buckets: u32,
    budget: &Budget,
) -> Result<f64, Error> {
    BUCKET_COUNT_RANGE.check_in_range(f64::from(buckets))?;
    ParameterRange {
        name: "favoured",
        min: 1.0,
        max: f64::from(buckets) - 1.0,
    }
    .check_in_range(f64::from(favoured))?;
    let (c, rest) = (f64::from(favoured), f64::from(buckets - favoured));
    let sets = FavouredSetSizes {
        favoured_count: c,
        unfavoured_count: rest,
        distinguishing_count: c.min(rest),
        max_rounding_error_count: 0,
    };
    Ok(sets.favoured_probability(budget))
}
