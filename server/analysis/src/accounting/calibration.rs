//! Calibration: the ε, α or n that a batch needs for a given ε_c.
//!
//! The blanket's sums are monotone in n and α. Given Z₁ + … + Zₙ₊₁, the expected mean of the first
//! n is the mean of all. So by Jensen's inequality E[(Z₁ + … + Zₙ)₊]/n does not grow with n. As α
//! grows, Z grows in convex order.
//!
//! The reduction is monotone too. One more report does not depend on the person in question.
//! Reports of a smaller α are those of a larger one, post-processed: each informative report is
//! replaced by "neither" with the same probability. The rounded bounds need not be monotone, but
//! every result is proven.

use hushbin::Error;
use hushbin::bounds::{Bound, EPSILON};

use super::account::proven_epsilon;
use super::mixture::Mixture;
use super::privacy_profile::PrivacyProfile;
use super::ranges::{
    CENTRAL_EPSILON, DELTA, HONEST_FRACTION, HONEST_REPORTS, REPORTS, honest_part, honest_reports,
};
use crate::numeric::roots::{bisect, chandrupatla, geometric, outward, try_bisect, whole};

/// Finds the largest local ε, to one part in 10⁹, whose batch is (`central_epsilon`,
/// δ)-differentially private, and returns its mixture.
///
/// `at` returns the mixture at a local ε. With all else fixed, reports of a smaller ε are those of
/// a larger one mixed with noise, so ε_c rises with ε.
///
/// # Errors
/// As [`account`](fn@super::account) and `at`; [`Error::OutOfRange`] when `central_epsilon` is
/// below that of the least local ε, or above the greatest local ε, [`EPSILON`].
pub fn largest_epsilon<E: From<Error>>(
    at: impl Fn(f64) -> Result<Mixture, E>,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<Mixture, E> {
    let reached = |mixture: &Mixture| -> Result<f64, E> {
        Ok(proven_epsilon(mixture, reports, honest_fraction, delta)?)
    };
    let best = at(EPSILON.min)?;
    let range = Bound {
        min: reached(&best)?,
        ..CENTRAL_EPSILON
    };
    range.check(central_epsilon)?;
    let greatest = at(EPSILON.max)?;
    if reached(&greatest)? <= central_epsilon {
        return Ok(greatest);
    }
    // The bisection needs one sum for each ε. The result is then accounted for in full.
    let least = best.epsilon();
    let (near, _) = try_bisect(least, EPSILON.max, geometric(1e-9), |epsilon| {
        let mixture = at(epsilon)?;
        Ok::<_, E>(meets_central_epsilon(
            &mixture,
            reports,
            honest_fraction,
            delta,
            central_epsilon,
        )?)
    })?;
    // The fast test differs by roundings, so step outward until the full account agrees.
    for step in std::iter::once(0.0).chain(outward(1e-10)) {
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

/// Returns whether δ(ε_c) at `central_epsilon` is at most δ.
///
/// This takes one sum, where [`account`](fn@super::account) takes several, and agrees with it up to
/// rounding.
///
/// # Errors
/// As [`account`](fn@super::account); [`Error::OutOfRange`] when `central_epsilon` is outside 0 to
/// the maximum of [`EPSILON`].
pub(crate) fn meets_central_epsilon(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<bool, Error> {
    let honest_reports = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    CENTRAL_EPSILON.check(central_epsilon)?;
    let found = || PrivacyProfile::new(*mixture, honest_reports, delta).delta(central_epsilon);
    Ok(central_epsilon >= mixture.epsilon() || found().upper <= delta)
}

/// Returns approximately the largest α at which n `reports` of local ε are (`central_epsilon`,
/// δ)-differentially private.
///
/// [`account`](fn@super::account) finds at most `central_epsilon` for a mechanism with this α that
/// favours at most half of its buckets. A solution always exists: one report with α ≤ δ/(e −
/// exp(ε_c)) suffices even without a batch.
///
/// ```
/// use hushbin_analysis::accounting::largest_alpha;
///
/// let alpha = largest_alpha(1.0, 1_000_000, 1.0, 1e-8, 0.005).unwrap();
/// assert!(alpha < 1.0 / (1.0 + f64::exp(1.0)));
/// ```
///
/// # Errors
/// As [`account`](fn@super::account); [`Error::OutOfRange`] when ε is outside [`EPSILON`] or
/// `central_epsilon` outside 0 to the maximum of [`EPSILON`].
pub fn largest_alpha(
    epsilon: f64,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<f64, Error> {
    let generic = Mixture::generic(epsilon)?;
    CENTRAL_EPSILON.check(central_epsilon)?;
    let enough = |mixture: &Mixture| -> Result<bool, Error> {
        Ok(proven_epsilon(mixture, reports, honest_fraction, delta)? <= central_epsilon)
    };
    if enough(&generic)? {
        return Ok(generic.alpha());
    }
    let honest_reports = honest_reports(reports, honest_fraction)?;
    // ε_c is below ε here, since otherwise the generic mixture would be enough. The least α is
    // slightly below what a single report allows, because of rounding.
    let least =
        (1.0 - 1e-9) * delta / (central_epsilon.exp() * (epsilon - central_epsilon).exp_m1());
    let least = generic.thinned(least / generic.alpha());
    if least.alpha() >= generic.alpha() {
        return Ok(generic.alpha());
    }
    let beyond = |part: f64| {
        let batch = PrivacyProfile::new(generic.thinned(part), honest_reports, delta);
        excess(&batch, central_epsilon, delta)
    };
    // ε_c is nearly proportional to √α.
    let fewest = least.alpha() / generic.alpha();
    let likely = central_epsilon
        / PrivacyProfile::new(generic, honest_reports, delta).gaussian_epsilon(delta);
    let around = [0.7 * likely * likely, 1.4 * likely * likely];
    let bracketed =
        fewest < around[0] && around[1] < 1.0 && beyond(around[0]) < 0.0 && beyond(around[1]) > 0.0;
    let part = chandrupatla(if bracketed { around } else { [fewest, 1.0] }, beyond);
    for step in outward(1e-10) {
        let mixture = generic.thinned(part * (1.0 - step));
        if mixture.alpha() <= least.alpha() {
            break;
        }
        if enough(&mixture)? {
            return Ok(mixture.alpha());
        }
    }
    Ok(least.alpha())
}

/// Returns the smallest n whose batch is (`central_epsilon`, δ)-differentially private by
/// [`account`](fn@super::account), if a fraction `honest_fraction` of the reports is honest.
///
/// ```
/// use hushbin_analysis::accounting::{Mixture, account, smallest_batch};
///
/// let any = Mixture::generic(1.0).unwrap();
/// let n = smallest_batch(&any, 1.0, 1e-8, 0.01).unwrap();
/// assert!(account(&any, n, 1.0, 1e-8).unwrap().central_epsilon <= 0.01);
/// assert!(account(&any, n - 1, 1.0, 1e-8).unwrap().central_epsilon > 0.01);
/// ```
///
/// # Errors
/// As [`account`](fn@super::account); [`Error::OutOfRange`] when `central_epsilon` is below that of
/// the greatest n of [`REPORTS`], or above the maximum that is accounted for.
pub fn smallest_batch(
    mixture: &Mixture,
    honest_fraction: f64,
    delta: f64,
    central_epsilon: f64,
) -> Result<u64, Error> {
    CENTRAL_EPSILON.check(central_epsilon)?;
    HONEST_FRACTION.check(honest_fraction)?;
    DELTA.check(delta)?;
    let most = REPORTS.max as u64;
    let most_honest = honest_part(most, honest_fraction);
    HONEST_REPORTS.check(most_honest as f64)?;
    let enough = |hidden: u64| -> Result<bool, Error> {
        Ok(proven_epsilon(mixture, hidden, 1.0, delta)? <= central_epsilon)
    };
    let hidden = smallest_hidden(mixture, most_honest, delta, central_epsilon, enough)?;
    // honest_part never falls, so a bisection finds where it rises.
    let (n, _) = bisect(most, 1, whole, |n| {
        honest_part(n, honest_fraction) >= hidden
    });
    Ok(n)
}

/// Returns the smallest number of honest reports from 2 to `most` that satisfies `enough`.
fn smallest_hidden(
    mixture: &Mixture,
    most: u64,
    delta: f64,
    central_epsilon: f64,
    enough: impl Fn(u64) -> Result<bool, Error>,
) -> Result<u64, Error> {
    let short = |n: f64| {
        let batch = PrivacyProfile::new(*mixture, n.round() as u64, delta);
        excess(&batch, central_epsilon, delta)
    };
    // The cost of a batch grows with n, so the search starts from below.
    let (mut below, mut n) = (1, 2_u64);
    while !enough(n)? {
        if n == most {
            let range = Bound {
                min: proven_epsilon(mixture, most, 1.0, delta)?,
                ..CENTRAL_EPSILON
            };
            return range.check(central_epsilon).map(|()| most);
        }
        below = n;
        n = n.saturating_mul(8).min(most);
    }
    if n - below > 1 && central_epsilon < mixture.epsilon() {
        // The proven bound is close to the computed one, so the search starts near it and widens.
        let near = chandrupatla([below as f64, n as f64], |n| -short(n)) as u64;
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
    Ok(try_bisect(n, below, whole, enough)?.0)
}

/// Returns ln(δ(ε_c)/`delta`), which is positive if the batch misses the target.
fn excess(batch: &PrivacyProfile, central_epsilon: f64, delta: f64) -> f64 {
    (batch.delta(central_epsilon).upper.max(f64::MIN_POSITIVE) / delta).ln()
}
