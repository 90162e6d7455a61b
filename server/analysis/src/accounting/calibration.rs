//! Calibration: searches for the local ε, mixture parameter α or batch size n with which a batch
//! has a given central ε_c.
//!
//! The searches rely on monotonicity. The [privacy blanket](super::privacy_blanket) bounds δ by
//! E[(Z₁ + … + Zₙ)₊]/n, with independent and identically distributed variables Z. This bound does
//! not increase with n: given Z₁ + … + Zₙ₊₁, the expected mean of the first n variables is the mean
//! of all, so Jensen's inequality applies. The bound does not decrease with α, because Z increases
//! in convex order as α increases.
//!
//! The reduction of P1's Theorem 1 is monotone, too. An additional report does not depend on the
//! person in question, so it can only hide that person better. Reports with a smaller α result from
//! post-processing reports with a larger α: each informative report is replaced, with a fixed
//! probability, by an uninformative one. The rounded bounds need not be monotone. But every result
//! is checked against the proven bound.

use hushbin::Error;
use hushbin::bounds::{EPSILON_RANGE, ParameterRange};

use super::batch_privacy::proven_central_epsilon;
use super::mixture::ReportMixture;
use super::privacy_profile::PrivacyProfile;
use super::ranges::{
    CENTRAL_EPSILON_RANGE, DELTA_RANGE, HONEST_FRACTION_RANGE, HONEST_REPORT_COUNT_RANGE,
    REPORT_COUNT_RANGE, checked_honest_report_count, honest_report_count,
};
use crate::numeric::roots::{
    bisect, find_root_by_chandrupatla, geometric_midpoint_function, growing_search_distances,
    integer_midpoint, try_bisect,
};

/// Finds the largest local ε at which the batch is (`central_epsilon`, δ)-differentially private.
/// The relative precision is 10⁻⁹. Returns the mixture at the local ε that was found.
///
/// `at` returns the mixture at a local ε. The other parameters of the mixture must be the same for
/// every ε. Then adding noise to reports at a larger ε yields reports at a smaller ε. So the
/// central ε increases with the local ε.
///
/// # Errors
/// The errors of [`compute_batch_privacy`](fn@super::compute_batch_privacy) and `at`. [`Error::OutOfRange`] if
/// `central_epsilon` is below the ε_c of the smallest local ε in [`EPSILON_RANGE`], or above the largest
/// local ε.
pub fn mixture_at_largest_epsilon<E: From<Error>>(
    at: impl Fn(f64) -> Result<ReportMixture, E>,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<ReportMixture, E> {
    let reached = |mixture: &ReportMixture| -> Result<f64, E> {
        Ok(proven_central_epsilon(
            mixture,
            reports,
            honest_fraction,
            delta,
        )?)
    };
    let best = at(EPSILON_RANGE.min)?;
    let range = ParameterRange {
        min: reached(&best)?,
        ..CENTRAL_EPSILON_RANGE
    };
    range.check_in_range(central_epsilon)?;
    let greatest = at(EPSILON_RANGE.max)?;
    if reached(&greatest)? <= central_epsilon {
        return Ok(greatest);
    }
    // The bisection needs only one sum for each ε. Then the full account checks its result.
    let least = best.epsilon();
    let (near, _) = try_bisect(
        least,
        EPSILON_RANGE.max,
        geometric_midpoint_function(1e-9),
        |epsilon| {
            let mixture = at(epsilon)?;
            Ok::<_, E>(meets_central_epsilon(
                &mixture,
                reports,
                honest_fraction,
                delta,
                central_epsilon,
            )?)
        },
    )?;
    // The fast test differs from the full account by rounding errors. So decrease ε in growing
    // steps until the full account agrees.
    for step in std::iter::once(0.0).chain(growing_search_distances(1e-10)) {
        let epsilon = near * (1.0 - step);
        if epsilon <= least {
            break;
        }
        let mixture = at(epsilon)?;
        if reached(&mixture)? <= central_epsilon {
            return Ok(mixture);
        }
    }
    Ok(best)
}

/// Returns true if the batch is (`central_epsilon`, `delta`)-differentially private.
///
/// This function computes one sum, while [`compute_batch_privacy`](fn@super::compute_batch_privacy) computes several. Both
/// agree up to rounding errors.
///
/// # Errors
/// The errors of [`compute_batch_privacy`](fn@super::compute_batch_privacy). [`Error::OutOfRange`] if `central_epsilon` is not
/// between 0 and the maximum of [`EPSILON_RANGE`](hushbin::bounds::EPSILON_RANGE).
pub(crate) fn meets_central_epsilon(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<bool, Error> {
    let honest_reports = checked_honest_report_count(reports, honest_fraction)?;
    DELTA_RANGE.check_in_range(delta)?;
    CENTRAL_EPSILON_RANGE.check_in_range(central_epsilon)?;
    let found =
        || PrivacyProfile::new(*mixture, honest_reports, delta).delta_bounds(central_epsilon);
    Ok(central_epsilon >= mixture.epsilon() || found().proven_upper_delta <= delta)
}

/// Returns approximately the largest mixture parameter α at which a batch of `reports` reports at
/// local ε is (`central_epsilon`, δ)-differentially private.
///
/// For a mechanism with this α that favours at most half of its buckets,
/// [`compute_batch_privacy`](fn@super::compute_batch_privacy) proves at most `central_epsilon`. A solution always
/// exists: with α ≤ δ/(exp(ε) − exp(ε_c)), a single report is (ε_c, δ)-differentially private
/// without a batch.
///
/// ```
/// use hushbin_analysis::accounting::largest_alpha;
///
/// let alpha = largest_alpha(1.0, 1_000_000, 1.0, 1e-8, 0.005).unwrap();
/// assert!(alpha < 1.0 / (1.0 + f64::exp(1.0)));
/// ```
///
/// # Errors
/// The errors of [`compute_batch_privacy`](fn@super::compute_batch_privacy). [`Error::OutOfRange`] if ε is
/// outside [`EPSILON_RANGE`], or if `central_epsilon` is not between 0 and the maximum of [`EPSILON_RANGE`].
pub fn largest_alpha(
    epsilon: f64,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<f64, Error> {
    let generic = ReportMixture::for_any_randomizer(epsilon)?;
    CENTRAL_EPSILON_RANGE.check_in_range(central_epsilon)?;
    let enough = |mixture: &ReportMixture| -> Result<bool, Error> {
        Ok(proven_central_epsilon(mixture, reports, honest_fraction, delta)? <= central_epsilon)
    };
    if enough(&generic)? {
        return Ok(generic.alpha());
    }
    let honest_reports = checked_honest_report_count(reports, honest_fraction)?;
    // Here ε_c is below ε, because otherwise the generic mixture would be sufficient. The smallest
    // α to try is the one that suffices without a batch. It is slightly decreased because of
    // rounding.
    let least =
        (1.0 - 1e-9) * delta / (central_epsilon.exp() * (epsilon - central_epsilon).exp_m1());
    let least = generic.with_scaled_alpha(least / generic.alpha());
    if least.alpha() >= generic.alpha() {
        return Ok(generic.alpha());
    }
    let beyond = |part: f64| {
        let batch = PrivacyProfile::new(generic.with_scaled_alpha(part), honest_reports, delta);
        log_delta_ratio(&batch, central_epsilon, delta)
    };
    // ε_c is nearly proportional to √α, which gives a narrow bracket for the search.
    let fewest = least.alpha() / generic.alpha();
    let likely = central_epsilon
        / PrivacyProfile::new(generic, honest_reports, delta).gaussian_epsilon(delta);
    let around = [0.7 * likely * likely, 1.4 * likely * likely];
    let bracketed =
        fewest < around[0] && around[1] < 1.0 && beyond(around[0]) < 0.0 && beyond(around[1]) > 0.0;
    let part = find_root_by_chandrupatla(if bracketed { around } else { [fewest, 1.0] }, beyond);
    for step in growing_search_distances(1e-10) {
        let mixture = generic.with_scaled_alpha(part * (1.0 - step));
        if mixture.alpha() <= least.alpha() {
            break;
        }
        if enough(&mixture)? {
            return Ok(mixture.alpha());
        }
    }
    Ok(least.alpha())
}

/// Returns the smallest batch size n for which [`compute_batch_privacy`](fn@super::compute_batch_privacy) proves
/// that the batch is (`central_epsilon`, δ)-differentially private. A fraction `honest_fraction` of
/// its reports is honest.
///
/// ```
/// use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy, smallest_batch_size};
///
/// let any = ReportMixture::for_any_randomizer(1.0).unwrap();
/// let n = smallest_batch_size(&any, 1.0, 1e-8, 0.01).unwrap();
/// assert!(compute_batch_privacy(&any, n, 1.0, 1e-8).unwrap().central_epsilon <= 0.01);
/// assert!(compute_batch_privacy(&any, n - 1, 1.0, 1e-8).unwrap().central_epsilon > 0.01);
/// ```
///
/// # Errors
/// The errors of [`compute_batch_privacy`](fn@super::compute_batch_privacy). [`Error::OutOfRange`] if
/// `central_epsilon` is below the ε_c of the largest n in [`REPORT_COUNT_RANGE`], or above the maximum of
/// [`EPSILON_RANGE`].
pub fn smallest_batch_size(
    mixture: &ReportMixture,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<u64, Error> {
    CENTRAL_EPSILON_RANGE.check_in_range(central_epsilon)?;
    HONEST_FRACTION_RANGE.check_in_range(honest_fraction)?;
    DELTA_RANGE.check_in_range(delta)?;
    let most = REPORT_COUNT_RANGE.max as u64;
    let most_honest = honest_report_count(most, honest_fraction);
    HONEST_REPORT_COUNT_RANGE.check_in_range(most_honest as f64)?;
    let enough = |hidden: u64| -> Result<bool, Error> {
        Ok(proven_central_epsilon(mixture, hidden, 1.0, delta)? <= central_epsilon)
    };
    let hidden = fewest_honest_reports(mixture, most_honest, delta, central_epsilon, enough)?;
    // `honest_count` never decreases with n, so a bisection finds the smallest n.
    let (n, _) = bisect(most, 1, integer_midpoint, |n| {
        honest_report_count(n, honest_fraction) >= hidden
    });
    Ok(n)
}

/// Returns the smallest number of honest reports, from 2 to `most`, that satisfies `enough`.
fn fewest_honest_reports(
    mixture: &ReportMixture,
    most: u64,
    delta: f64,
    central_epsilon: f64,
    enough: impl Fn(u64) -> Result<bool, Error>,
) -> Result<u64, Error> {
    let short = |n: f64| {
        let batch = PrivacyProfile::new(*mixture, n.round() as u64, delta);
        log_delta_ratio(&batch, central_epsilon, delta)
    };
    // The time to account for a batch increases with n, so the search starts with small batches.
    let (mut below, mut n) = (1, 2_u64);
    while !enough(n)? {
        if n == most {
            let range = ParameterRange {
                min: proven_central_epsilon(mixture, most, 1.0, delta)?,
                ..CENTRAL_EPSILON_RANGE
            };
            return range.check_in_range(central_epsilon).map(|()| most);
        }
        below = n;
        n = n.saturating_mul(8).min(most);
    }
    if n - below > 1 && central_epsilon < mixture.epsilon() {
        // Start near the n at which the computed δ meets the target, since the proven ε_c is close
        // to it, and widen the search from there.
        let near = find_root_by_chandrupatla([below as f64, n as f64], |n| -short(n)) as u64;
        let mut reach = 1 + near / 1_000_000_000;
        while near.saturating_sub(below) > reach || n.saturating_sub(near) > reach {
            for at in [near.saturating_sub(reach), near + reach] {
                if below < at && at < n {
                    if enough(at)? {
                        n = at;
                    } else {
                        below = at;
                    }
                }
            }
            reach *= 16;
        }
    }
    Ok(try_bisect(n, below, integer_midpoint, enough)?.0)
}

/// Returns ln(δ(ε_c)/`delta`), where δ(ε_c) is the batch's δ at ε_c = `central_epsilon`. The result
/// is positive if the batch misses the target `delta`.
fn log_delta_ratio(batch: &PrivacyProfile, central_epsilon: f64, delta: f64) -> f64 {
    (batch
        .delta_bounds(central_epsilon)
        .proven_upper_delta
        .max(f64::MIN_POSITIVE)
        / delta)
        .ln()
}
