//! Calibration: what a batch must be like for a given ε_c, how small ε or α, how large n.
//!
//! Both are monotone, of the blanket's sums. Given Z₁ + … + Zₙ₊₁, the mean of the n first is
//! expected to be that of all, so by Jensen's inequality E[(Z₁ + … + Zₙ)₊]/n does not grow with n;
//! and with α Z grows in convex order. The same holds of the reduction: one more report does not
//! depend on the person looked at, and reports of a smaller α are those of a larger one of which
//! every telling report, of whichever kind, is replaced by "neither" with the same probability, so
//! that the one pair of distributions is the other, post-processed. What is rounded up on the way
//! need not be monotone, but whatever is found is proven.

use hushbin::Error;
use hushbin::bounds::{Bound, EPSILON};

use super::account::proven_epsilon;
use super::mixture::Mixture;
use super::privacy_profile::PrivacyProfile;
use super::ranges::{
    CENTRAL_EPSILON, DELTA, HONEST_FRACTION, HONEST_REPORTS, REPORTS, honest_part, honest_reports,
};
use crate::numeric::roots::{bisect, chandrupatla, geometric, outward, try_bisect, whole};

/// The mechanism at the largest local ε, to one part in 10⁹, whose batch is
/// (`central_epsilon`, δ)-differentially private; `at` makes it of a local ε.
///
/// With all else fixed, reports of a smaller ε are those of a larger one mixed
/// with noise, so ε_c rises with ε.
///
/// # Errors
/// As [`account`](fn@super::account) and `at`; [`Error::OutOfRange`] when `central_epsilon` is not from
/// that of the least local ε to the greatest local ε, [`EPSILON`].
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
    // By one sum each; what is returned is accounted for.
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

/// Whether δ(ε_c) at `central_epsilon` comes out at δ or below: in one sum what
/// [`account`](fn@super::account) takes several for, but for roundings.
///
/// # Errors
/// As [`account`](fn@super::account); [`Error::OutOfRange`] when `central_epsilon` is outside 0 to the maximum of [`EPSILON`].
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

/// The largest α, about, at which n `reports` of local ε are (`central_epsilon`,
/// δ)-differentially private. [`account`](fn@super::account) finds no more than `central_epsilon` of a
/// mechanism with this α that favours at most half of its buckets.
///
/// There always is one: a single report of an α up to δ/(e − exp(ε_c)) is as private by itself.
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
    // ε_c is below ε, else any would be enough. The least is a little less than
    // what a single report allows, for rounding.
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
    // Nearly, ε_c is proportional to √α.
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

/// The smallest n whose batch is (`central_epsilon`, δ)-differentially private by
/// [`account`](fn@super::account), where a part `honest_fraction` of the reports hides the others.
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
/// As [`account`](fn@super::account); [`Error::OutOfRange`] when `central_epsilon` is not from what the
/// greatest n of [`REPORTS`] reaches to the greatest that is accounted for.
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
    // honest_part never falls, so that this is a search for where it rises.
    let (n, _) = bisect(most, 1, whole, |n| {
        honest_part(n, honest_fraction) >= hidden
    });
    Ok(n)
}

/// The smallest number of honest reports from 2 to `most` that is enough.
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
    // The cost of a batch grows with n, so look from below.
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
        // What is proven is close to what is computed.
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

/// ln of how far δ(ε_c) is above `delta`.
fn excess(batch: &PrivacyProfile, central_epsilon: f64, delta: f64) -> f64 {
    (batch.delta(central_epsilon).upper.max(f64::MIN_POSITIVE) / delta).ln()
}
