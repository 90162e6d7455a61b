//! What one batch gives away.

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
    /// ε_c: the batch is (ε_c, δ)-differentially private. Proven by the privacy
    /// blanket, and never above the local ε.
    pub central_epsilon: f64,
    /// ε_c if the hash were ideal, rounded up: proven but for that assumption. Only of one batch
    /// and one report of a person, where elements are hashed independently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_hash_epsilon: Option<f64>,
    /// The least ε_c by the reduction of P1's Theorem 1, rounded up. It is no
    /// bound where reports may tell nothing, if only by little in large batches:
    /// see [`errata`](crate::errata). Only of one batch and one report of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_epsilon: Option<f64>,
    /// What the least ε_c of the reduction is above: its lower side, and a lower
    /// bound of what is given away only where that is attained.
    pub reduction_lower_epsilon: f64,
    /// Whether some batch of these reports is known to give away
    /// `reduction_lower_epsilon` or more, so that nothing below it can be promised:
    /// under direct encoding ([`Mixture::attains_reduction`]).
    pub reduction_attained: bool,
    /// Mixture parameter α of the mechanism.
    pub alpha: f64,
    /// δ, from 1e-15 to 0.1 ([`DELTA`]).
    pub delta: f64,
    /// How it was computed.
    pub method: Method,
    /// Reports of honest people: those that hide each other.
    pub honest_reports: u64,
}

/// Account of a batch of n `reports` shuffled, of which a part `honest_fraction` hides the others.
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
/// [`Error::OutOfRange`] when the reports or the honest of them are outside
/// [`REPORTS`], the part outside [`HONEST_FRACTION`](super::HONEST_FRACTION) or δ
/// outside [`DELTA`].
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

/// Central ε of any ε-LDP randomizer by the clones of Feldman, McMillan and Talwar
/// (2021, Section 3), summed and rounded up. [`account`] of [`Mixture::generic`] is
/// sharper: this is for comparison with the paper.
///
/// # Errors
/// [`Error::OutOfRange`] when ε, the honest reports or δ are out of their range.
pub fn clones_epsilon(epsilon: f64, honest_reports: u64, delta: f64) -> Result<f64, Error> {
    HONEST_REPORTS.check(honest_reports as f64)?;
    DELTA.check(delta)?;
    // Another report is a clone with probability exp(−ε), of either input alike.
    let clone = [(-epsilon).exp(), -(-epsilon).exp_m1()];
    let any = Mixture::generic(epsilon)?;
    let profile = PrivacyProfile::among(any, clone, honest_reports, delta);
    Ok(profile.epsilon(delta).upper)
}

/// [`Account::central_epsilon`] alone, for searches.
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

/// [`Account::ideal_hash_epsilon`]: no greater than what is `proven` of any hash, which
/// in a batch of a few reports is less.
pub(super) fn ideal_hash_epsilon(
    mixture: &Mixture,
    reports: u64,
    delta: f64,
    proven: f64,
) -> Option<f64> {
    let ideal = mixture.under_ideal_hash()?;
    let (found, _) = of_batch(&ideal, reports, delta);
    Some(found.upper.min(proven))
}

/// Bounds on δ(ε_c) of n `reports` shuffled. Sharp for δ above [`DELTA`]'s least; below,
/// what is proven is still true.
///
/// # Errors
/// [`Error::OutOfRange`] when the reports are outside [`REPORTS`] or ε_c is not
/// from 0 to the local ε.
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
