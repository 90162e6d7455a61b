//! What a batch must be like for a given ε_c: how small α, how large n.
//!
//! Both are monotone, of the sums of `privacy_blanket`. Given Z₁ + … + Zₙ₊₁, the mean of
//! the n first is expected to be that of all, so by Jensen's inequality
//! E[(Z₁ + … + Zₙ)₊]/n does not grow with n; and with α Z grows in convex order.
//! The same holds of the reduction: one more report does not depend on the person
//! looked at, and reports of a smaller α are those of a larger one of which every
//! telling report, of whichever kind, is replaced by "neither" with the same
//! probability, so that the one pair of distributions is the other,
//! post-processed. What is rounded up on the way need not be monotone, but
//! whatever is found is proven.

use hushbin::Error;
use hushbin::bounds::{Bound, EPSILON};

use super::hockey_stick::Divergence;
use super::{DELTA, HONEST_FRACTION, HONEST_REPORTS, Mixture, REPORTS, account, hiding, honest_of};

/// ε_c that is asked for.
pub const CENTRAL_EPSILON: Bound = Bound {
    name: "central_epsilon",
    min: 0.0,
    max: EPSILON.max,
};

/// The mechanism at the largest local ε, to one part in 10⁹, whose batch is
/// (`central`, δ)-differentially private; `at` makes it of a local ε.
///
/// With all else fixed, reports of a smaller ε are those of a larger one mixed
/// with noise, so ε_c rises with ε.
///
/// # Errors
/// As [`account`] and `at`; [`Error::OutOfRange`] when `central` is not from
/// that of the least local ε to the greatest local ε, [`EPSILON`].
pub fn largest_epsilon<E: From<Error>>(
    at: impl Fn(f64) -> Result<Mixture, E>,
    n: u64,
    honest: f64,
    delta: f64,
    central: f64,
) -> Result<Mixture, E> {
    let reached = |mixture: &Mixture| -> Result<f64, E> {
        Ok(account(mixture, n, honest, delta)?.central_epsilon)
    };
    let mut best = at(EPSILON.min)?;
    let range = Bound {
        min: reached(&best)?,
        ..CENTRAL_EPSILON
    };
    range.check(central)?;
    let greatest = at(EPSILON.max)?;
    if reached(&greatest)? <= central {
        return Ok(greatest);
    }
    // By one sum each; what is returned is accounted for.
    let (least, mut above) = (best, EPSILON.max);
    while above - best.epsilon() > 1e-9 * above {
        let middle = at((best.epsilon() * above).sqrt())?;
        if meets_central_epsilon(&middle, n, honest, delta, central)? {
            best = middle;
        } else {
            above = middle.epsilon();
        }
    }
    let mut step = 1e-10;
    let near = best.epsilon();
    while reached(&best)? > central {
        let lower = near * (1.0 - step);
        if lower <= least.epsilon() {
            return Ok(least);
        }
        best = at(lower)?;
        step *= 6.0;
    }
    Ok(best)
}

/// Whether δ(ε_c) at `central` comes out at δ or below: in one sum what
/// [`account`] takes a dozen for, but for roundings.
///
/// # Errors
/// As [`account`]; [`Error::OutOfRange`] when `central` is outside [`CENTRAL_EPSILON`].
pub fn meets_central_epsilon(
    mixture: &Mixture,
    n: u64,
    honest: f64,
    delta: f64,
    central: f64,
) -> Result<bool, Error> {
    let honest_reports = hiding(n, honest)?;
    DELTA.check(delta)?;
    CENTRAL_EPSILON.check(central)?;
    let found = || Divergence::new(*mixture, honest_reports, delta).at(central);
    Ok(central >= mixture.epsilon() || found().upper <= delta)
}

/// The largest α, about, at which `n` reports of local ε are (`central`,
/// δ)-differentially private. [`account`] finds no more than `central` of a
/// mechanism with this α that favours at most half of its buckets.
///
/// There always is one: a single report of an α up to δ/(e − exp(ε_c)) is as
/// private by itself.
///
/// ```
/// use hushbin_analysis::accounting::largest_alpha;
///
/// let alpha = largest_alpha(1.0, 1_000_000, 1.0, 1e-8, 0.005).unwrap();
/// assert!(alpha < 1.0 / (1.0 + f64::exp(1.0)));
/// ```
///
/// # Errors
/// As [`account`]; [`Error::OutOfRange`] when ε is outside [`EPSILON`] or
/// `central` outside [`CENTRAL_EPSILON`].
pub fn largest_alpha(
    epsilon: f64,
    n: u64,
    honest: f64,
    delta: f64,
    central: f64,
) -> Result<f64, Error> {
    let generic = Mixture::generic(epsilon)?;
    CENTRAL_EPSILON.check(central)?;
    let enough = |mixture: &Mixture| -> Result<bool, Error> {
        Ok(account(mixture, n, honest, delta)?.central_epsilon <= central)
    };
    if enough(&generic)? {
        return Ok(generic.alpha());
    }
    let honest_reports = hiding(n, honest)?;
    // ε_c is below ε, else any would be enough. The least is a little less than
    // what a single report allows, for rounding.
    let least = (1.0 - 1e-9) * delta / (central.exp() * (epsilon - central).exp_m1());
    let least = generic.part_of(least / generic.alpha());
    if least.alpha() >= generic.alpha() {
        return Ok(generic.alpha());
    }
    let beyond = |part: f64| {
        let batch = Divergence::new(generic.part_of(part), honest_reports, delta);
        excess(&batch, central, delta)
    };
    // Nearly, ε_c is proportional to √α.
    let fewest = least.alpha() / generic.alpha();
    let likely = central / Divergence::new(generic, honest_reports, delta).limit(delta);
    let around = [0.7 * likely * likely, 1.4 * likely * likely];
    let bracketed =
        fewest < around[0] && around[1] < 1.0 && beyond(around[0]) < 0.0 && beyond(around[1]) > 0.0;
    let part = crossing(if bracketed { around } else { [fewest, 1.0] }, beyond);
    let mut step = 1e-10;
    while step < 1.0 {
        let mixture = generic.part_of(part * (1.0 - step));
        if mixture.alpha() <= least.alpha() {
            break;
        }
        if enough(&mixture)? {
            return Ok(mixture.alpha());
        }
        step *= 6.0;
    }
    Ok(least.alpha())
}

/// The smallest n whose batch is (`central`, δ)-differentially private by
/// [`account`], where a part `honest` of the reports hides the others.
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
/// As [`account`]; [`Error::OutOfRange`] when `central` is not from what the
/// greatest n of [`REPORTS`] reaches to [`CENTRAL_EPSILON`]'s greatest.
pub fn smallest_batch(
    mixture: &Mixture,
    honest: f64,
    delta: f64,
    central: f64,
) -> Result<u64, Error> {
    CENTRAL_EPSILON.check(central)?;
    HONEST_FRACTION.check(honest)?;
    DELTA.check(delta)?;
    let most = REPORTS.max as u64;
    HONEST_REPORTS.check(honest_of(most, honest) as f64)?;
    let enough = |hidden: u64| -> Result<bool, Error> {
        Ok(account(mixture, hidden, 1.0, delta)?.central_epsilon <= central)
    };
    let hidden = smallest_hidden(mixture, honest_of(most, honest), delta, central, enough)?;
    // honest_of never falls, so that this is a search for where it rises.
    let (mut below, mut n) = (1, most);
    while n - below > 1 {
        let middle = below + (n - below) / 2;
        if honest_of(middle, honest) >= hidden {
            n = middle;
        } else {
            below = middle;
        }
    }
    Ok(n)
}

/// The smallest number of honest reports from 2 to `most` that is enough.
fn smallest_hidden(
    mixture: &Mixture,
    most: u64,
    delta: f64,
    central: f64,
    enough: impl Fn(u64) -> Result<bool, Error>,
) -> Result<u64, Error> {
    let short = |n: f64| {
        let batch = Divergence::new(*mixture, n.round() as u64, delta);
        excess(&batch, central, delta)
    };
    // The cost of a batch grows with n, so look from below.
    let (mut below, mut n) = (1, 2_u64);
    while !enough(n)? {
        if n == most {
            let range = Bound {
                min: account(mixture, most, 1.0, delta)?.central_epsilon,
                ..CENTRAL_EPSILON
            };
            return range.check(central).map(|()| most);
        }
        below = n;
        n = n.saturating_mul(8).min(most);
    }
    if n - below > 1 && central < mixture.epsilon() {
        // What is proven is close to what is computed.
        let near = crossing([below as f64, n as f64], |n| -short(n)) as u64;
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
    while n - below > 1 {
        let middle = below + (n - below) / 2;
        if enough(middle)? {
            n = middle;
        } else {
            below = middle;
        }
    }
    Ok(n)
}

/// ln of how far δ(ε_c) is above `delta`.
fn excess(batch: &Divergence, central: f64, delta: f64) -> f64 {
    (batch.at(central).upper.max(f64::MIN_POSITIVE) / delta).ln()
}

/// About where a function of ln x that rises through 0 between both ends does
/// so, from below: inverse quadratic interpolation where three values allow it,
/// else bisection (Chandrupatla, "A new hybrid quadratic/bisection algorithm for
/// finding the zero of a nonlinear function without using derivatives", 1997).
/// Next to the root it steps across it by the precision, so that both ends close
/// in; false position left one of them far away, and took six times as many
/// values.
pub(super) fn crossing(ends: [f64; 2], excess: impl Fn(f64) -> f64) -> f64 {
    let value = |x: f64| (x, excess(x.exp()));
    // The newest value, and one on the other side of the root.
    let [mut opposite, mut newest] = ends.map(|end| value(end.ln()));
    let mut part = 0.5;
    loop {
        let next = value(newest.0 + part * (opposite.0 - newest.0));
        let before = if (next.1 <= 0.0) == (newest.1 <= 0.0) {
            newest
        } else {
            core::mem::replace(&mut opposite, newest)
        };
        newest = next;
        let width = opposite.0 - newest.0;
        let least = 0.5e-12 * newest.0.abs().max(1.0) / width.abs();
        if least >= 0.5 {
            return newest.0.min(opposite.0).exp();
        }
        part = quadratic(newest, opposite, before)
            .unwrap_or(0.5)
            .clamp(least, 1.0 - least);
    }
}

/// Where between the first two points the parabola through three of them, as x
/// over the value, has value 0; `None` where it is not sure to lie between them.
fn quadratic(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> Option<f64> {
    let across = (a.0 - b.0) / (c.0 - b.0);
    let along = (a.1 - b.1) / (c.1 - b.1);
    (along * along < across && (1.0 - along).powi(2) < 1.0 - across).then(|| {
        let near = a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1);
        let far = a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1);
        near + (c.0 - a.0) / (b.0 - a.0) * far
    })
}
