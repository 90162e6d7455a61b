//! Account of one batch: its central privacy, if reports are shuffled.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use serde::Serialize;

use super::method::AccountingMethod;
use super::mixture::ReportMixture;
use super::privacy_profile::{DeltaBounds, EpsilonBounds, PrivacyProfile};
use super::ranges::{
    DELTA_RANGE, HONEST_REPORT_COUNT_RANGE, REPORT_COUNT_RANGE, checked_honest_report_count,
};

/// Central privacy of a shuffled batch: a proven central ε at a given δ. Every ε is in nats. Upper
/// bounds on ε are rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct BatchPrivacy {
    /// Proven central ε (ε_c): the batch is (ε_c, δ)-differentially private. The proof uses the
    /// privacy blanket. ε_c never exceeds the local ε.
    pub central_epsilon: f64,
    /// Central ε that is proven under the assumption of ideal hash functions, and under no other
    /// assumption. The value is rounded up. Present only if elements are hashed independently, and
    /// only for one batch with one report per person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_hash_epsilon: Option<f64>,
    /// Central ε that the reduction yields (Theorem 1 of the paper P1), rounded up. If reports may
    /// be uninformative, this value is not a proven bound, although it nearly is one in large
    /// batches: see [`paper_errata`](crate::paper_errata). Present only for one batch with one report per
    /// person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_epsilon: Option<f64>,
    /// Lower bound on the central ε that the reduction yields (P1's Theorem 1). If some batch
    /// attains the reduction, no smaller central ε can be promised for a batch. Otherwise a batch
    /// may have a smaller central ε.
    pub reduction_lower_epsilon: f64,
    /// True if some batch of such reports is known to have a central ε of at least
    /// `reduction_lower_epsilon`. Then no smaller central ε can be promised. An example is direct
    /// encoding. See [`ReportMixture::attains_reduction`].
    pub reduction_attained: bool,
    /// Mixture parameter α of the mechanism ([`ReportMixture::alpha`]).
    pub alpha: f64,
    /// δ of the guarantee, from 1e-15 to 0.1 ([`DELTA_RANGE`]).
    pub delta: f64,
    /// Method by which `central_epsilon` was computed.
    pub method: AccountingMethod,
    /// Number of reports from honest people. Only these reports hide each other.
    pub honest_reports: u64,
}

/// Computes the central privacy of a batch of `reports` shuffled reports, of which a fraction
/// `honest_fraction` is honest.
///
/// ```
/// use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
///
/// let any = ReportMixture::for_any_randomizer(1.0).unwrap();
/// let batch = compute_batch_privacy(&any, 1_000_000, 1.0, 1e-8).unwrap();
/// assert!(batch.central_epsilon < 0.01);
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if the number of reports or of honest reports is outside [`REPORT_COUNT_RANGE`], the
/// fraction outside [`HONEST_FRACTION_RANGE`](super::HONEST_FRACTION_RANGE), or δ outside [`DELTA_RANGE`].
pub fn compute_batch_privacy(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<BatchPrivacy, Error> {
    let honest_reports = checked_honest_report_count(reports, honest_fraction)?;
    DELTA_RANGE.check_in_range(delta)?;
    let (bounds, method) = epsilon_bounds_and_method(mixture, honest_reports, delta);
    let EpsilonBounds {
        reduction_lower_epsilon: lower,
        reduction_upper_epsilon: reduction,
        proven_upper_epsilon: upper,
    } = bounds;
    Ok(BatchPrivacy {
        central_epsilon: upper,
        ideal_hash_epsilon: ideal_hash_epsilon(mixture, honest_reports, delta, upper),
        reduction_epsilon: Some(reduction),
        reduction_lower_epsilon: lower,
        reduction_attained: mixture.attains_reduction(),
        alpha: mixture.alpha(),
        delta,
        method,
        honest_reports,
    })
}

/// Computes the central ε of a batch under any ε-LDP randomizer, by the clone argument of Feldman,
/// McMillan and Talwar (2021, Section 3). The result is rounded up.
///
/// The result is for comparison with the paper. [`compute_batch_privacy`] of
/// [`ReportMixture::for_any_randomizer`] proves a smaller ε.
///
/// # Errors
/// [`Error::OutOfRange`] if ε, the number of honest reports or δ is out of range.
pub fn clone_argument_epsilon(epsilon: f64, honest_reports: u64, delta: f64) -> Result<f64, Error> {
    HONEST_REPORT_COUNT_RANGE.check_in_range(honest_reports as f64)?;
    DELTA_RANGE.check_in_range(delta)?;
    // Another person's report is a clone with probability exp(−ε), with equal probability of either
    // input.
    let clone = [(-epsilon).exp(), -(-epsilon).exp_m1()];
    let any = ReportMixture::for_any_randomizer(epsilon)?;
    let profile = PrivacyProfile::with_informative_probability(any, clone, honest_reports, delta);
    Ok(profile.epsilon_bounds(delta).proven_upper_epsilon)
}

/// Returns [`BatchPrivacy::central_epsilon`] alone. This function is faster than [`compute_batch_privacy`], so
/// searches use it.
///
/// # Errors
/// As [`compute_batch_privacy`].
pub(super) fn proven_central_epsilon(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<f64, Error> {
    let honest_reports = checked_honest_report_count(reports, honest_fraction)?;
    DELTA_RANGE.check_in_range(delta)?;
    Ok(epsilon_bounds_and_method(mixture, honest_reports, delta)
        .0
        .proven_upper_epsilon)
}

fn epsilon_bounds_and_method(
    mixture: &ReportMixture,
    reports: u64,
    delta: f64,
) -> (EpsilonBounds, AccountingMethod) {
    let profile = PrivacyProfile::new(*mixture, reports, delta);
    (profile.epsilon_bounds(delta), profile.accounting_method())
}

/// Returns [`BatchPrivacy::ideal_hash_epsilon`]. `proven` is the central ε that is proven for any hash
/// function. The result is at most `proven`.
pub(super) fn ideal_hash_epsilon(
    mixture: &ReportMixture,
    reports: u64,
    delta: f64,
    proven: f64,
) -> Option<f64> {
    let ideal = mixture.under_ideal_hash()?;
    let (found, _) = epsilon_bounds_and_method(&ideal, reports, delta);
    // In a batch of a few reports, the bound for any hash function can be the smaller one.
    Some(found.proven_upper_epsilon.min(proven))
}

/// Returns bounds on the δ of a batch of `reports` shuffled reports at a given central ε (ε_c).
///
/// The bounds are sharp if δ is above the minimum of [`DELTA_RANGE`], and valid for any δ.
///
/// # Errors
/// [`Error::OutOfRange`] if the number of reports is outside [`REPORT_COUNT_RANGE`], or if ε_c is not between
/// 0 and the local ε.
pub fn delta_bounds(
    mixture: &ReportMixture,
    reports: u64,
    central_epsilon: f64,
) -> Result<DeltaBounds, Error> {
    REPORT_COUNT_RANGE.check_in_range(reports as f64)?;
    let range = ParameterRange {
        name: "central_epsilon",
        min: 0.0,
        max: mixture.epsilon(),
    };
    range.check_in_range(central_epsilon)?;
    Ok(PrivacyProfile::new(*mixture, reports, DELTA_RANGE.min).delta_bounds(central_epsilon))
}
