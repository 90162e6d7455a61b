//! Wrong parameters as the paper printed them, for errata and figure legends. Each parameter comes
//! with the privacy loss that it really causes. No function of this module randomises an answer.
//!
//! Below, e = exp(ε) and d is the number of attributes. A vector of signs is favoured if at least κ
//! of its signs agree with the person's signs. N₊ is the number of favoured vectors, and N₋ is the
//! number of remaining vectors.

use hushbin::Error;

use super::budget::Budget;
use super::gaussian::GaussianMechanism;
use super::numbers::AgreementCounts;
use hushbin_analysis::accounting::gaussian_delta;

/// Mechanism-1 with the printed probability α of a favoured vector, and the printed scale B of its
/// estimates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UncorrectedMajorityMechanism {
    /// Printed probability α of reporting a favoured vector (Eq. 24). It is (e + N₊·δ)/(e + 1) for
    /// odd d. For even d it is (N₊·δ + e·r)/(1 + e·r), where r = N₊/N₋. The module comment defines
    /// e, d, N₊ and N₋.
    pub favoured_probability: f64,
    /// Printed scale B of the estimates, (2^d + N₊·(e − 1))/(C(d − 1, κ − 1)·(e + 2^d·δ − 1)). The
    /// module comment defines the symbols.
    pub estimate_scale: f64,
    /// Actual δ at the requested ε. It is the requested δ times the number N₊ of favoured vectors.
    pub actual_delta: f64,
    /// Correct scale B of the estimates, for the same (ε, δ).
    pub corrected_scale: f64,
}

/// Returns Mechanism-1 as printed, for d = `attributes`. A vector is favoured if at least κ = ⌊d/2⌋
/// + 1 of its signs agree with the person's.
///
/// The printed α counts δ once for every favoured output, so it is only (ε, N₊·δ) private.
///
/// # Errors
/// [`Error::OutOfRange`] if d is outside [`ATTRIBUTE_COUNT_RANGE`](super::ATTRIBUTE_COUNT_RANGE). [`Error::InvalidCombination`]
/// if the printed α is above 1, which means N₊·δ > 1.
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed};
///
/// let printed = as_printed::uncorrected_majority_mechanism(5, &Budget::new(1.0, 1e-3)?)?;
/// assert!((printed.actual_delta - 0.016).abs() < 1e-12);
/// assert!(as_printed::uncorrected_majority_mechanism(64, &Budget::new(1.0, 1e-6)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn uncorrected_majority_mechanism(
    attributes: u32,
    budget: &Budget,
) -> Result<UncorrectedMajorityMechanism, Error> {
    let counts = AgreementCounts::new(attributes)?;
    let threshold = attributes / 2 + 1;
    let sets = counts.favoured_set_sizes(threshold)?;
    let (e, delta) = (budget.epsilon().exp(), sets.favoured_count * budget.delta());
    // Both cases of Eq. 24: r = N₊/N₋ is 1 for odd d.
    let ratio = e * sets.favoured_count / sets.unfavoured_count;
    let alpha = (delta + ratio) / (1.0 + ratio);
    if alpha > 1.0 {
        return Err(Error::InvalidCombination {
            reason: "the printed probability is above 1: favoured vectors times \"delta\" is",
        });
    }
    let outside = (1.0 - delta) / (1.0 + ratio);
    let all = sets.favoured_count + sets.unfavoured_count;
    // C(d − 1, κ − 1): for one attribute, the number of favoured vectors with the person's own sign
    // minus the number of favoured vectors with the opposite sign.
    let more = counts.matching_sign_vector_surplus(threshold);
    let less_1 = budget.epsilon().exp_m1();
    Ok(UncorrectedMajorityMechanism {
        favoured_probability: alpha,
        estimate_scale: (all + sets.favoured_count * less_1)
            / (more * (less_1 + all * budget.delta())),
        actual_delta: sets.delta_of_probabilities(alpha, outside, budget.epsilon()),
        corrected_scale: counts.scale_at_threshold(threshold, budget)?,
    })
}

/// Gaussian mechanism with noise for the printed sensitivity Δ = 2, which ignores the number d of
/// attributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UncorrectedGaussianMechanism {
    /// Printed standard deviation σ of the noise, for the sensitivity Δ = 2.
    pub sigma: f64,
    /// Actual δ at the requested ε, with d attributes.
    pub actual_delta: f64,
    /// Correct standard deviation σ of the noise, for the sensitivity Δ = 2√d.
    pub corrected_sigma: f64,
}

/// Returns the Gaussian mechanism as printed: its noise is calibrated for one attribute, but added
/// to each of d attributes.
///
/// # Errors
/// Same errors as [`GaussianMechanism::for_numbers`].
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed};
///
/// let printed = as_printed::undercalibrated_gaussian(5, &Budget::new(1.0, 1e-6)?)?;
/// assert!((printed.actual_delta - 0.009_652).abs() < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn undercalibrated_gaussian(
    attributes: u32,
    budget: &Budget,
) -> Result<UncorrectedGaussianMechanism, Error> {
    let right = GaussianMechanism::for_numbers(attributes, budget)?;
    let sigma = GaussianMechanism::for_numbers(1, budget)?.sigma();
    Ok(UncorrectedGaussianMechanism {
        sigma,
        actual_delta: gaussian_delta(sigma, right.sensitivity(), budget.epsilon()),
        corrected_sigma: right.sigma(),
    })
}

/// Computes the best number of buckets for local hashing by the printed formula, a root of a
/// quadratic equation. Returns `None` if δ is 0 or the root is not real.
///
/// The printed form subtracts nearly equal numbers and divides by 2δ, so it loses precision.
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed, best_bucket_count};
///
/// let budget = Budget::new(1.0, 1e-15)?;
/// let [printed, right] = [as_printed::uncorrected_best_bucket_count(&budget), best_bucket_count(&budget)];
/// assert!((printed.unwrap() / right.unwrap() - 1.0).abs() > 0.01);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn uncorrected_best_bucket_count(budget: &Budget) -> Option<f64> {
    let (e, delta) = (budget.epsilon().exp(), budget.delta());
    let linear = (e - 1.0) * (1.0 - 3.0 * delta);
    let constant = (e - 1.0) * (e + 1.0 - 2.0 * delta);
    // g* as printed, a root of δ·g² − linear·g + constant = 0.
    let square = linear * linear - 4.0 * delta * constant;
    (delta > 0.0 && square >= 0.0).then(|| (linear - square.sqrt()) / (2.0 * delta))
}
