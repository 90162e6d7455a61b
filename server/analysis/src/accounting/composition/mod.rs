//! Composition of several batches with reports of the same person, by privacy loss distributions
//! (PLDs).
//!
//! The losses of batches add up. Loss distributions are put on a grid, from above and from below
//! (`connect_dots`), and convolved directly. A Fourier transform (Koskela, Jälkö, Honkela 2020) has
//! absolute errors near 10⁻¹⁶, which would drown a δ of 10⁻¹⁵. Sums of non-negative terms have
//! small relative errors instead. Squaring a measure of some thousand points takes tens of
//! milliseconds.
//!
//! Sources: Dwork, Rothblum, Vadhan, "Boosting and Differential Privacy" (2010); Kairouz, Oh,
//! Viswanath, "The Composition Theorem for Differential Privacy" (2015); Doroshenko, Ghazi, Kamath,
//! Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
//! Distributions" (2022).

mod connect_dots;
mod privacy_loss;

use hushbin::Error;
use serde::Serialize;

use super::account::{Account, ideal_hash_epsilon};
use super::group_privacy::{self, OneBatch};
use super::method::Method;
use super::mixture::Mixture;
use super::privacy_profile::EpsilonBounds;
use super::ranges::{BATCHES, DELTA, honest_reports};

use connect_dots::Curve;
pub(super) use connect_dots::Side;
pub(super) use privacy_loss::LossDistribution;

/// Fraction of δ that truncation of measures may add.
const TRUNCATION_FRACTION: f64 = 1e-9;

/// Exposure of one person: R reports in each of K batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Exposure {
    /// Number K of batches with reports of the person.
    pub batches: u32,
    /// Number R of the person's reports in each batch, of any inputs.
    pub reports_per_person: u32,
}

impl Default for Exposure {
    /// Returns one report in one batch.
    fn default() -> Self {
        Self {
            batches: 1,
            reports_per_person: 1,
        }
    }
}

/// Central privacy of a person's reports in several batches together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Composed {
    /// Account of all batches together, with the least ε_c that is proven. `method` names the
    /// proof. The lower side is the reduction's for one report in each batch.
    #[serde(flatten)]
    pub account: Account,
    /// Assumed exposure of the person.
    #[serde(flatten)]
    pub exposure: Exposure,
    /// ε_c of one batch at the same δ.
    pub one_batch_epsilon: f64,
    /// ε_c by basic composition: K times the ε_c of one batch at δ/K.
    pub basic_epsilon: f64,
    /// ε_c by advanced composition (Kairouz, Oh, Viswanath 2015, Theorem 3.4): one batch at δ/2K,
    /// and δ/2 for the sum.
    pub advanced_epsilon: f64,
}

/// Computes the central privacy of a person's reports in `exposure.batches` batches of n `reports`
/// each, a fraction `honest_fraction` of them honest.
///
/// All batches have the same mechanism. The inputs may differ, and may depend on the outputs of
/// earlier batches.
///
/// ```
/// use hushbin_analysis::accounting::{Exposure, Mixture, account, account_exposure};
///
/// let any = Mixture::generic(1.0).unwrap();
/// let daily = Exposure { batches: 30, ..Exposure::default() };
/// let month = account_exposure(&any, 1_000_000, 1.0, 1e-8, daily).unwrap();
/// let day = account(&any, 1_000_000, 1.0, 1e-8).unwrap();
/// let times = month.account.central_epsilon / day.central_epsilon;
/// assert!(5.0 < times && times < 6.0);
/// ```
///
/// # Errors
/// As [`account`](super::account); [`Error::OutOfRange`] when the batches are outside [`BATCHES`],
/// or the reports of one person outside [`REPORTS_PER_PERSON`](super::REPORTS_PER_PERSON) or more
/// than the honest reports.
pub fn account_exposure(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    exposure: Exposure,
) -> Result<Composed, Error> {
    let honest_reports = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    BATCHES.check(f64::from(exposure.batches))?;
    group_privacy::check(exposure.reports_per_person, honest_reports)?;
    let k = f64::from(exposure.batches);
    // Precise for the least δ at which one batch is evaluated below.
    let least = if k == 1.0 { delta } else { 0.5 * delta / k };
    let one = OneBatch::new(mixture, honest_reports, exposure.reports_per_person, least);
    let EpsilonBounds {
        lower,
        reduction,
        upper,
    } = one.epsilon(delta);
    let (mut basic, mut advanced) = (upper, upper);
    let single = exposure == Exposure::default();
    let ideal = || ideal_hash_epsilon(mixture, honest_reports, delta, upper);
    let mut account = Account {
        central_epsilon: upper,
        ideal_hash_epsilon: single.then(ideal).flatten(),
        reduction_epsilon: single.then_some(reduction),
        reduction_lower_epsilon: lower,
        reduction_attained: mixture.attains_reduction(),
        alpha: mixture.alpha(),
        delta,
        method: one.method(),
        honest_reports,
    };
    if exposure.batches > 1 {
        basic = up(k * one.epsilon(delta / k).upper);
        advanced = advanced_composition(one.epsilon(0.5 * delta / k).upper, k, 0.5 * delta);
        let [below, above] = compose(&one, exposure.batches, delta, upper);
        // Several batches reveal no less than one.
        account.reduction_lower_epsilon = lower.max(below);
        (account.central_epsilon, account.method) = [
            (above, Method::LossDistribution),
            (basic, Method::BasicComposition),
            (advanced, Method::AdvancedComposition),
        ]
        .into_iter()
        .fold((f64::INFINITY, Method::BasicComposition), |best, next| {
            if next.0 < best.0 { next } else { best }
        });
    }
    Ok(Composed {
        account,
        exposure,
        one_batch_epsilon: upper,
        basic_epsilon: basic,
        advanced_epsilon: advanced,
    })
}

/// Returns ε by Kairouz, Oh and Viswanath's Theorem 3.4 for K mechanisms of (ε, δ/K). `rest` is the
/// part of δ left for the sum.
fn advanced_composition(epsilon: f64, k: f64, rest: f64) -> f64 {
    let drift = k * epsilon * (0.5 * epsilon).tanh();
    up(drift + epsilon * (-2.0 * k * rest.ln()).sqrt()).min(up(k * epsilon))
}

/// Returns `value` plus a few rounding errors.
fn up(value: f64) -> f64 {
    value * (1.0 + 16.0 * f64::EPSILON)
}

/// Returns bounds on ε_c of the composition. `least` is the ε_c of one batch.
fn compose(one: &OneBatch, batches: u32, delta: f64, least: f64) -> [f64; 2] {
    let rare = TRUNCATION_FRACTION * delta;
    let curve = delta_curve(one, batches, least, rare);
    [Side::Below, Side::Above].map(|side| sum(&curve, side, batches, rare).epsilon(delta))
}

/// Component of a composition of identical parts: a pair of distributions that is its own mirror
/// image.
pub(super) trait ComposedPart {
    /// Returns the greatest loss.
    fn most(&self) -> f64;

    /// Returns the number of grid points at which δ is computed.
    fn points(&self) -> usize;

    /// Returns a lower and an upper bound on δ(ε_c).
    fn delta(&self, central: f64) -> (f64, f64);
}

impl ComposedPart for OneBatch {
    fn most(&self) -> f64 {
        Self::most(self)
    }

    fn points(&self) -> usize {
        Self::points(self)
    }

    fn delta(&self, central: f64) -> (f64, f64) {
        Self::delta(self, central)
    }
}

/// Returns δ of one of `times` parts, from 0 to where the parts' remaining δ is `rare` in total.
/// The search for that end starts at `least`.
pub(super) fn delta_curve(part: &impl ComposedPart, times: u32, least: f64, rare: f64) -> Curve {
    let most = part.most();
    let mut reach = least.max(1e-9 * most);
    while reach < most && f64::from(times) * part.delta(reach).1 > rare {
        reach *= 1.2;
    }
    let reach = reach.min(most);
    let step = reach / part.points() as f64;
    let at = |i: usize| {
        let central = i as f64 * step;
        if central < most {
            part.delta(central)
        } else {
            (0.0, 0.0)
        }
    };
    let (lower, upper) = (0..=part.points()).map(at).unzip();
    Curve::new(step, lower, upper)
}

/// Returns the distribution of the summed losses of `times` parts, on one side. Truncation may cost
/// about `rare` of δ.
pub(super) fn sum(curve: &Curve, side: Side, times: u32, rare: f64) -> LossDistribution {
    let masses = match side {
        Side::Above => curve.above(),
        Side::Below => curve.below(),
    };
    LossDistribution::from_masses(&masses).self_composed(times, rare)
}
