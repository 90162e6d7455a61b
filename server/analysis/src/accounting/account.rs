//! Central privacy of one batch.

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use super::method::Method;
use super::mixture::Mixture;
use super::privacy_profile::{DeltaBounds, EpsilonBounds, PrivacyProfile};
use super::ranges::{DELTA, HONEST_REPORTS, REPORTS, honest_reports};

/// Central privacy of a shuffled batch: ε_c in nats, rounded up, at a δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Account {
    /// ε_c: the batch is (ε_c, δ)-differentially private. Proven by the privacy blanket, and never
    /// above the local ε.
    pub central_epsilon: f64,
    /// ε_c under an ideal hash, rounded up. The proof needs only this assumption. Present only if
    /// elements are hashed independently, for one batch and one report a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_hash_epsilon: Option<f64>,
    /// Least ε_c by the reduction of P1's Theorem 1, rounded up. It is not an upper bound if
    /// reports may be uninformative, though the gap is small in large batches: see
    /// [`errata`](crate::errata). Present only for one batch and one report a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_epsilon: Option<f64>,
    /// Lower bound on the least ε_c of the reduction. It is a lower bound on the batch's own ε_c
    /// only if the reduction is attained.
    pub reduction_lower_epsilon: f64,
    /// True if some batch of these reports is known to have an ε_c of `reduction_lower_epsilon` or
    /// more. No smaller ε_c can then be promised. See [`Mixture::attains_reduction`]: direct
    /// encoding, for example.
    pub reduction_attained: bool,
    /// Mixture parameter α of the mechanism.
    pub alpha: f64,
    /// δ, from 1e-15 to 0.1 ([`DELTA`]).
    pub delta: f64,
    /// Method of computation.
    pub method: Method,
    /// Number of reports by honest people, which hide each other.
    pub honest_reports: u64,
}

/// Computes the central privacy of n shuffled `reports`, a fraction `honest_fraction` of them
/// honest.
///
/// ```
/// use hushbin_analysis::accounting::{Mixture, account};
///
/// let any = Mixture::generic(1.0).unwrap();
/// let batch = account(&any, 1_000_000, 1.0, 1e-8).unwrap();
/// assert!(batch.central_epsilon < 0.01);
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] when the reports or the honest of them are outside [`REPORTS`], the
/// fraction outside [`HONEST_FRACTION`](super::HONEST_FRACTION) or δ outside [`DELTA`].
pub fn account(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Account, Error> {
    let honest_reports = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    let (bounds, method) = of_batch(mixture, honest_reports, delta);
    let EpsilonBounds {
        lower,
        reduction,
        upper,
    } = bounds;
    Ok(Account {
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

/// Computes the central ε of any ε-LDP randomizer by the clones of Feldman, McMillan and Talwar
/// (2021, Section 3), summed and rounded up.
///
/// This is for comparison with the paper: [`account`] of [`Mixture::generic`] is sharper.
///
/// # Errors
/// [`Error::OutOfRange`] when ε, the honest reports or δ are out of range.
pub fn clones_epsilon(epsilon: f64, honest_reports: u64, delta: f64) -> Result<f64, Error> {
    HONEST_REPORTS.check(honest_reports as f64)?;
    DELTA.check(delta)?;
    // Another report is a clone with probability exp(−ε), equally of either input.
    let clone = [(-epsilon).exp(), -(-epsilon).exp_m1()];
    let any = Mixture::generic(epsilon)?;
    let profile = PrivacyProfile::among(any, clone, honest_reports, delta);
    Ok(profile.epsilon(delta).upper)
}

/// Returns [`Account::central_epsilon`] alone, for searches.
///
/// # Errors
/// As [`account`].
pub(super) fn proven_epsilon(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<f64, Error> {
    let honest_reports = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    Ok(of_batch(mixture, honest_reports, delta).0.upper)
}

fn of_batch(mixture: &Mixture, reports: u64, delta: f64) -> (EpsilonBounds, Method) {
    let profile = PrivacyProfile::new(*mixture, reports, delta);
    (profile.epsilon(delta), profile.method())
}

/// Returns [`Account::ideal_hash_epsilon`], at most `proven`, the ε_c under any hash.
pub(super) fn ideal_hash_epsilon(
    mixture: &Mixture,
    reports: u64,
    delta: f64,
    proven: f64,
) -> Option<f64> {
    let ideal = mixture.under_ideal_hash()?;
    let (found, _) = of_batch(&ideal, reports, delta);
    // In a batch of a few reports the bound for any hash can be the smaller one.
    Some(found.upper.min(proven))
}

/// Returns bounds on δ(ε_c) of n shuffled `reports`.
///
/// They are sharp for δ above the minimum of [`DELTA`], and valid below it too.
///
/// # Errors
/// [`Error::OutOfRange`] when the reports are outside [`REPORTS`] or ε_c is not between 0 and the
/// local ε.
pub fn delta_bounds(
    mixture: &Mixture,
    reports: u64,
    central_epsilon: f64,
) -> Result<DeltaBounds, Error> {
    REPORTS.check(reports as f64)?;
    let range = Bound {
        name: "central_epsilon",
        min: 0.0,
        max: mixture.epsilon(),
    };
    range.check(central_epsilon)?;
    Ok(PrivacyProfile::new(*mixture, reports, DELTA.min).delta(central_epsilon))
}
