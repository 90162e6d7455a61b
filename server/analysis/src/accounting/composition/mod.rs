//! Composition: central privacy of several batches that contain reports from the same person.
//! Privacy loss distributions (PLDs) are used to compute it.
//!
//! The privacy losses of batches add up. The loss distribution of one batch is bounded on a grid,
//! from above and from below (`connect_dots`), and convolved with itself by direct summation. A
//! Fourier transform (Koskela, Jälkö, Honkela 2020) would have absolute errors near 10⁻¹⁶, too
//! large for a δ of 10⁻¹⁵. Sums of non-negative terms have small relative errors instead. One
//! convolution of a few thousand points takes tens of milliseconds.
//!
//! Sources: Dwork, Rothblum, Vadhan, "Boosting and Differential Privacy" (2010); Kairouz, Oh,
//! Viswanath, "The Composition Theorem for Differential Privacy" (2015); Doroshenko, Ghazi, Kamath,
//! Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
//! Distributions" (2022).

mod connect_dots;
mod privacy_loss;

use hushbin::Error;
use serde::Serialize;

use super::batch_privacy::{BatchPrivacy, ideal_hash_epsilon};
use super::group_privacy::{self, GroupPrivacyProfile};
use super::method::AccountingMethod;
use super::mixture::ReportMixture;
use super::privacy_profile::EpsilonBounds;
use super::ranges::{BATCH_COUNT_RANGE, DELTA_RANGE, checked_honest_report_count};

pub(super) use connect_dots::BoundSide;
use connect_dots::DeltaBoundsOnGrid;
pub(super) use privacy_loss::PrivacyLossDistribution;

/// Maximum change of δ due to truncating loss distributions, as a fraction of δ. The limit applies
/// to all truncations together.
const TRUNCATION_FRACTION: f64 = 1e-9;

/// Exposure of one person: R reports from the person in each of K batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PersonExposure {
    /// Number K of batches that contain reports from the person.
    pub batches: u32,
    /// Number R of the person's reports in each batch. Their inputs may differ.
    pub reports_per_person: u32,
}

impl Default for PersonExposure {
    /// Returns one report in one batch.
    fn default() -> Self {
        Self {
            batches: 1,
            reports_per_person: 1,
        }
    }
}

/// Central privacy of all reports from one person in several batches together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComposedPrivacy {
    /// Account of all batches together. `central_epsilon` is the smallest central ε that is proven,
    /// and `method` is the method that proves it. `reduction_lower_epsilon` assumes that the person
    /// sends one report to each batch.
    #[serde(flatten)]
    pub account: BatchPrivacy,
    /// Assumed exposure of the person.
    #[serde(flatten)]
    pub exposure: PersonExposure,
    /// Proven central ε of a single batch at the same δ.
    pub one_batch_epsilon: f64,
    /// Central ε of all K batches by basic composition: K times the central ε of one batch at δ/K.
    pub basic_epsilon: f64,
    /// Central ε of all K batches by advanced composition (Kairouz, Oh, Viswanath 2015, Theorem
    /// 3.4). It uses the central ε of one batch at δ/(2K), and δ/2 for the sum of losses.
    pub advanced_epsilon: f64,
}

/// Computes the central privacy of all reports from one person in `exposure.batches` batches. Each
/// batch has `reports` reports, of which a fraction `honest_fraction` is honest.
///
/// All batches use the same mechanism. The person's inputs may differ from batch to batch, and may
/// depend on the outputs of earlier batches.
///
/// ```
/// use hushbin_analysis::accounting::{PersonExposure, ReportMixture, compute_batch_privacy, compute_composed_privacy};
///
/// let any = ReportMixture::for_any_randomizer(1.0).unwrap();
/// let daily = PersonExposure { batches: 30, ..PersonExposure::default() };
/// let month = compute_composed_privacy(&any, 1_000_000, 1.0, 1e-8, daily).unwrap();
/// let day = compute_batch_privacy(&any, 1_000_000, 1.0, 1e-8).unwrap();
/// let times = month.account.central_epsilon / day.central_epsilon;
/// assert!(5.0 < times && times < 6.0);
/// ```
///
/// # Errors
/// The errors of [`compute_batch_privacy`](super::compute_batch_privacy). [`Error::OutOfRange`] if the number of
/// batches is outside [`BATCH_COUNT_RANGE`], or if the number of reports per person is outside
/// [`REPORTS_PER_PERSON_RANGE`](super::REPORTS_PER_PERSON_RANGE) or exceeds that of honest reports.
pub fn compute_composed_privacy(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    exposure: PersonExposure,
) -> Result<ComposedPrivacy, Error> {
    let honest_reports = checked_honest_report_count(reports, honest_fraction)?;
    DELTA_RANGE.check_in_range(delta)?;
    BATCH_COUNT_RANGE.check_in_range(f64::from(exposure.batches))?;
    group_privacy::check_reports_per_person(exposure.reports_per_person, honest_reports)?;
    let k = f64::from(exposure.batches);
    // The sums must be precise down to the smallest δ at which one batch is evaluated below.
    let least = if k == 1.0 { delta } else { 0.5 * delta / k };
    let one = GroupPrivacyProfile::new(mixture, honest_reports, exposure.reports_per_person, least);
    let EpsilonBounds {
        reduction_lower_epsilon: lower,
        reduction_upper_epsilon: reduction,
        proven_upper_epsilon: upper,
    } = one.epsilon_bounds(delta);
    let (mut basic, mut advanced) = (upper, upper);
    let single = exposure == PersonExposure::default();
    let ideal = || ideal_hash_epsilon(mixture, honest_reports, delta, upper);
    let mut account = BatchPrivacy {
        central_epsilon: upper,
        ideal_hash_epsilon: single.then(ideal).flatten(),
        reduction_epsilon: single.then_some(reduction),
        reduction_lower_epsilon: lower,
        reduction_attained: mixture.attains_reduction(),
        alpha: mixture.alpha(),
        delta,
        method: one.accounting_method(),
        honest_reports,
    };
    if exposure.batches > 1 {
        basic = with_rounding_margin(k * one.epsilon_bounds(delta / k).proven_upper_epsilon);
        advanced = advanced_composition(
            one.epsilon_bounds(0.5 * delta / k).proven_upper_epsilon,
            k,
            0.5 * delta,
        );
        let [below, above] = composed_epsilon_bounds(&one, exposure.batches, delta, upper);
        // Several batches reveal at least as much as one.
        account.reduction_lower_epsilon = lower.max(below);
        (account.central_epsilon, account.method) = (basic, AccountingMethod::BasicComposition);
        for (bound, method) in [
            (above, AccountingMethod::LossDistribution),
            (advanced, AccountingMethod::AdvancedComposition),
        ] {
            if bound < account.central_epsilon {
                (account.central_epsilon, account.method) = (bound, method);
            }
        }
    }
    Ok(ComposedPrivacy {
        account,
        exposure,
        one_batch_epsilon: upper,
        basic_epsilon: basic,
        advanced_epsilon: advanced,
    })
}

/// Returns the ε of a composition of K mechanisms, by Theorem 3.4 of Kairouz, Oh and Viswanath.
/// Each mechanism is (`epsilon`, δ′)-differentially private. The composition has δ = K·δ′ + `rest`.
fn advanced_composition(epsilon: f64, k: f64, rest: f64) -> f64 {
    let drift = k * epsilon * (0.5 * epsilon).tanh();
    with_rounding_margin(drift + epsilon * (-2.0 * k * rest.ln()).sqrt())
        .min(with_rounding_margin(k * epsilon))
}

/// Returns `value` increased by a few rounding errors.
fn with_rounding_margin(value: f64) -> f64 {
    value * (1.0 + 16.0 * f64::EPSILON)
}

/// Returns a lower and an upper bound on the central ε of `batches` batches, from privacy loss
/// distributions. `least` is the central ε of one batch.
fn composed_epsilon_bounds(
    one: &GroupPrivacyProfile,
    batches: u32,
    delta: f64,
    least: f64,
) -> [f64; 2] {
    let rare = TRUNCATION_FRACTION * delta;
    let curve = delta_curve(one, batches, least, rare);
    [BoundSide::Below, BoundSide::Above]
        .map(|side| composed_loss_distribution(&curve, side, batches, rare).epsilon_at_delta(delta))
}

/// Part of a composition of identical parts. It is a pair of distributions that is its own mirror
/// image: exchanging the two inputs does not change its privacy profile δ(ε_c).
pub(super) trait ComposedPart {
    /// Returns the largest possible privacy loss.
    fn largest_loss(&self) -> f64;

    /// Returns the number of grid points at which δ is computed.
    fn grid_point_count(&self) -> usize;

    /// Returns a lower and an upper bound on δ at ε_c = `central`.
    fn delta_bounds(&self, central: f64) -> (f64, f64);
}

impl ComposedPart for GroupPrivacyProfile {
    fn largest_loss(&self) -> f64 {
        Self::largest_loss(self)
    }

    fn grid_point_count(&self) -> usize {
        Self::grid_point_count(self)
    }

    fn delta_bounds(&self, central: f64) -> (f64, f64) {
        Self::delta_bounds(self, central)
    }
}

/// Returns the privacy profile of one part, for a composition of `times` parts. The profile ends at
/// an ε_c at which `times` times the δ of one part is at most `rare`. The search for this ε_c
/// starts at `least`.
pub(super) fn delta_curve(
    part: &impl ComposedPart,
    times: u32,
    least: f64,
    rare: f64,
) -> DeltaBoundsOnGrid {
    let most = part.largest_loss();
    let mut reach = least.max(1e-9 * most);
    while reach < most && f64::from(times) * part.delta_bounds(reach).1 > rare {
        reach *= 1.2;
    }
    let reach = reach.min(most);
    let step = reach / part.grid_point_count() as f64;
    let at = |i: usize| {
        let central = i as f64 * step;
        if central < most {
            part.delta_bounds(central)
        } else {
            (0.0, 0.0)
        }
    };
    let (lower, upper) = (0..=part.grid_point_count()).map(at).unzip();
    DeltaBoundsOnGrid::new(step, lower, upper)
}

/// Returns the distribution of the total privacy loss of `times` parts, as an upper or a lower
/// bound (`side`). Truncation may change δ by about `rare`.
pub(super) fn composed_loss_distribution(
    curve: &DeltaBoundsOnGrid,
    side: BoundSide,
    times: u32,
    rare: f64,
) -> PrivacyLossDistribution {
    let masses = match side {
        BoundSide::Above => curve.upper_loss_measure(),
        BoundSide::Below => curve.lower_loss_measure(),
    };
    PrivacyLossDistribution::from_masses(&masses).self_composed(times, rare)
}
