//! ε_c(δ): the least ε_c at which δ(ε_c) is at most δ.

use super::hockey_stick::Divergence;

/// What is known of the least ε_c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    /// By the reduction it is above this, and at most `reduction`.
    pub(super) lower: f64,
    pub(super) reduction: f64,
    /// It is proven to be at most this.
    pub(super) upper: f64,
}

/// Where Newton's method stops, relative to ε_c; what is returned is proven
/// afterwards.
const CLOSE: f64 = 1e-10;

/// Less than this part that the reduction leaves out is not looked into further.
const VISIBLE: f64 = 1e-3;

/// The bracket for δ, where local ε always is enough.
pub(super) fn least(divergence: &Divergence, epsilon: f64, start: f64, delta: f64) -> Bracket {
    let reduced = |central: f64| divergence.reduced(central);
    let near = root(epsilon, start, delta, |central| {
        let found = reduced(central);
        (found.middle, found.fall)
    });
    let reduction = above(epsilon, near, |central| reduced(central).above <= delta);
    let upper = if divergence.is_reduced() || reduction >= epsilon {
        reduction
    } else {
        let near = root(epsilon, reduction, delta, |central| {
            let found = divergence.at(central);
            (found.upper, found.fall)
        });
        let upper = above(epsilon, near, |central| {
            divergence.at(central).upper <= delta
        });
        of_any(divergence, reduction, upper, delta)
            .min(upper)
            .max(reduction)
    };
    let mut step = 1e-12;
    let lower = loop {
        let lower = near * (1.0 - step);
        if step >= 1.0 || lower <= 0.0 {
            break 0.0;
        }
        if reduced(lower).lower > delta {
            break lower;
        }
        step *= 6.0;
    };
    Bracket {
        lower,
        reduction,
        upper,
    }
}

/// What any randomizer of the same ε keeps to, where that may be less than the
/// `upper` of this one.
fn of_any(divergence: &Divergence, reduction: f64, upper: f64, delta: f64) -> f64 {
    if upper <= reduction * (1.0 + VISIBLE) {
        return upper;
    }
    let any = divergence.any(delta);
    any.map_or(upper, |any| least(&any, any.epsilon(), upper, delta).upper)
}

/// A little above `near`, where it is enough; `most` always is.
pub(super) fn above(most: f64, near: f64, enough: impl Fn(f64) -> bool) -> f64 {
    let mut step = 1e-12;
    loop {
        let upper = near * (1.0 + step) + f64::MIN_POSITIVE;
        if upper >= most {
            return most;
        }
        if enough(upper) {
            return upper;
        }
        step *= 6.0;
    }
}

/// About where δ(ε_c) = δ, `at` giving δ(ε_c) and −dδ/dε_c: Newton's method on
/// ln δ, kept inside what is known. ln δ bends downwards, so a step from the right
/// stays there.
fn root(epsilon: f64, start: f64, delta: f64, at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (0.0, epsilon);
    if at(0.0).0 <= delta {
        return 0.0;
    }
    let mut central = if start < epsilon {
        start
    } else {
        0.5 * epsilon
    };
    for _ in 0..200 {
        let (value, fall) = at(central);
        if value > delta {
            low = central;
        } else {
            high = central;
        }
        let step = (value / delta).ln() * value / fall;
        let next = central + step;
        // Quadratic convergence: the step after this one is far below CLOSE.
        if step.abs() <= CLOSE.sqrt() * 1e-2 * central && next > low && next < high {
            return next;
        }
        central = if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
        if high - low <= CLOSE * high {
            break;
        }
    }
    central
}
