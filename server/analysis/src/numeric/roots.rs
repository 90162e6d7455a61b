//! Root finding. The methods differ in their assumptions about the function, and in their
//! guarantees about the result.
//!
//! [`bisect`] keeps a bracket whose first end is known to satisfy the condition, so that end is
//! certain. [`find_root_by_chandrupatla`], [`solve_by_newton_on_logarithm`] and [`find_root_by_secant`] are faster for
//! smooth functions, but approximate. Callers step [`growing_search_distances`] from an approximate result
//! until a proven condition is satisfied.

use std::convert::Infallible;

/// Halves a bracket until `middle` returns `None`, and returns its two ends. The first end
/// satisfies `holds`, and the second end does not. The initial ends, `inside` and `outside`, are
/// assumed to have these properties and are not evaluated.
pub(crate) fn bisect<T: Copy>(
    inside: T,
    outside: T,
    middle: impl Fn(T, T) -> Option<T>,
    mut holds: impl FnMut(T) -> bool,
) -> (T, T) {
    let Ok(ends) = try_bisect(inside, outside, middle, |x| Ok::<_, Infallible>(holds(x)));
    ends
}

/// Bisects like [`bisect`], with a condition that may return an error.
///
/// # Errors
/// The errors of `holds`.
pub(crate) fn try_bisect<T: Copy, E>(
    mut inside: T,
    mut outside: T,
    middle: impl Fn(T, T) -> Option<T>,
    mut holds: impl FnMut(T) -> Result<bool, E>,
) -> Result<(T, T), E> {
    while let Some(x) = middle(inside, outside) {
        if holds(x)? {
            inside = x;
        } else {
            outside = x;
        }
    }
    Ok((inside, outside))
}

/// Returns the middle of a bracket of integers, or `None` if the ends are neighbours.
pub(crate) fn integer_midpoint(a: u64, b: u64) -> Option<u64> {
    (a.abs_diff(b) > 1).then(|| a.midpoint(b))
}

/// Returns a function that computes the arithmetic mean of a bracket's ends. That function returns
/// `None` if the bracket's width is at most `relative` times the greater end, or if there is no
/// double between the ends.
pub(crate) fn arithmetic_midpoint_function(relative: f64) -> impl Fn(f64, f64) -> Option<f64> {
    move |a, b| {
        let middle = 0.5 * (a + b);
        let (low, high) = (a.min(b), a.max(b));
        (high - low > relative * high && low < middle && middle < high).then_some(middle)
    }
}

/// Returns a function that computes the geometric mean of a bracket's ends, which are positive.
/// That function returns `None` if the bracket's width is at most `relative` times the greater end.
pub(crate) fn geometric_midpoint_function(relative: f64) -> impl Fn(f64, f64) -> Option<f64> {
    move |a, b| {
        let (low, high) = (a.min(b), a.max(b));
        (high - low > relative * high).then(|| (a * b).sqrt())
    }
}

/// Returns the relative distances at which a search around an approximate value tries points. The
/// first distance is `first`, and each further one is six times the previous one.
///
/// With this factor, few distances are tried, and the first sufficient distance is not much too
/// large.
pub(crate) fn growing_search_distances(first: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), |step| Some(6.0 * step)).take_while(|step| step.is_finite())
}

/// Relative error of [`solve_by_newton_on_logarithm`], and the usual smallest relative distance in calls of
/// [`find_valid_value_above`] and [`find_valid_value_below`].
pub(crate) const NEWTON_RELATIVE_ERROR: f64 = 1e-12;

/// Returns a value slightly above `near` that satisfies `enough`. The relative distance `first` is
/// tried first. It is assumed that `most` satisfies `enough`.
///
/// If `near` is 0, the function tries 0 itself, and then the smallest positive normal double.
pub(crate) fn find_valid_value_above(
    near: f64,
    most: f64,
    first: f64,
    enough: impl Fn(f64) -> bool,
) -> f64 {
    growing_search_distances(first)
        .map(|step| near * (1.0 + step) + if step > first { f64::MIN_POSITIVE } else { 0.0 })
        .find(|&x| x >= most || enough(x))
        .map_or(most, |x| x.min(most))
}

/// Returns a value slightly below `near` that satisfies `little`. The relative distance `first` is
/// tried first. It is assumed that 0 satisfies `little`.
pub(crate) fn find_valid_value_below(near: f64, first: f64, little: impl Fn(f64) -> bool) -> f64 {
    growing_search_distances(first)
        .take_while(|&step| step < 1.0)
        .map(|step| near * (1.0 - step))
        .find(|&x| x <= 0.0 || little(x))
        .unwrap_or(0.0)
}

/// Number of steps after which [`find_root_by_chandrupatla`] bisects, if they have not halved its bracket.
const MAX_STEPS_TO_HALVE_BRACKET: u32 = 4;

/// Returns the approximate point x, between both ends, at which `excess` crosses 0. `excess` must
/// be below 0 at the first end and above 0 at the second end. The result is slightly below the
/// crossing.
///
/// The method works on ln x. It uses inverse quadratic interpolation if three values allow it, and
/// otherwise bisection (Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the
/// zero of a nonlinear function without using derivatives", 1997). Close to the root, a step
/// crosses the root by the precision, so that both ends of the bracket approach the root. The
/// method of false position left one end far away and needed six times as many evaluations.
pub(crate) fn find_root_by_chandrupatla(ends: [f64; 2], excess: impl Fn(f64) -> f64) -> f64 {
    let value = |x: f64| (x, excess(x.exp()));
    // The newest point, and a point on the other side of the root.
    let [mut opposite, mut newest] = ends.map(|end| value(end.ln()));
    let mut part = 0.5;
    let (mut steps, mut wide) = (0, f64::INFINITY);
    loop {
        let next = value(newest.0 + part * (opposite.0 - newest.0));
        let before = if (next.1 <= 0.0) == (newest.1 <= 0.0) {
            newest
        } else {
            std::mem::replace(&mut opposite, newest)
        };
        newest = next;
        let width = opposite.0 - newest.0;
        let least = 0.5e-12 * newest.0.abs().max(1.0) / width.abs();
        if least >= 0.5 {
            return newest.0.min(opposite.0).exp();
        }
        part = inverse_quadratic_zero(newest, opposite, before)
            .unwrap_or(0.5)
            .clamp(least, 1.0 - least);
        // If values hardly change, or only by rounding errors, steps would be as short as the
        // precision. So if four steps have not halved the bracket, bisect once.
        steps += 1;
        if steps % MAX_STEPS_TO_HALVE_BRACKET == 0 {
            if width.abs() > 0.5 * wide {
                part = 0.5;
            }
            wide = width.abs();
        }
    }
}

/// Returns the zero of the inverse parabola (x as a function of the value) through three points.
/// The result is a fraction of the way from the first to the second point. Returns `None` if the
/// zero may not lie between these two points.
fn inverse_quadratic_zero(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> Option<f64> {
    let across = (a.0 - b.0) / (c.0 - b.0);
    let along = (a.1 - b.1) / (c.1 - b.1);
    (along * along < across && (1.0 - along).powi(2) < 1.0 - across).then(|| {
        let near = a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1);
        let far = a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1);
        near + (c.0 - a.0) / (b.0 - a.0) * far
    })
}

/// Relative bracket width at which Newton's method stops.
const NEWTON_BRACKET_TOLERANCE: f64 = 1e-10;
/// Maximum relative length of Newton's last step. The error that remains, about half of the squared
/// length, is below [`NEWTON_RELATIVE_ERROR`]. The value must also be close to the level, because all steps
/// are short near an end at which the value decreases to 0.
const MAX_LAST_NEWTON_STEP: f64 = 1e-7;
/// Maximum of |ln(value/level)| before Newton's last step.
const MAX_LOG_RATIO_AT_LAST_STEP: f64 = 1e-5;

/// Returns the approximate x at which a positive function equals `level`. The function must
/// decrease from x = 0 to `high`. `at` returns the function's value and its negative derivative.
/// The result is 0 if the function's value at 0 is at most `level`.
///
/// Newton's method is applied to the function's logarithm and kept inside the known bracket. If the
/// logarithm is concave, a step that starts to the right of the solution also ends to the right of
/// it.
pub(crate) fn solve_by_newton_on_logarithm(
    high: f64,
    start: f64,
    level: f64,
    at: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let (mut low, mut high) = (None, high);
    let mut x = if start < high { start } else { 0.5 * high };
    for _ in 0..200 {
        let (value, fall) = at(x);
        if value > level {
            low = Some(x);
        } else {
            high = x;
        }
        let ratio = (value / level).ln();
        let step = ratio * value / fall;
        let next = x + step;
        // Evaluate the value at 0 only if a step leads at least half of the way to 0.
        if low.is_none() && (next.is_nan() || next <= 0.5 * x) {
            if x == 0.0 || at(0.0).0 <= level {
                return 0.0;
            }
            low = Some(0.0);
        }
        let least = low.unwrap_or(0.0);
        let is_last =
            step.abs() <= MAX_LAST_NEWTON_STEP * x && ratio.abs() <= MAX_LOG_RATIO_AT_LAST_STEP;
        if is_last && next > least && next < high {
            return next;
        }
        x = if next > least && next < high {
            next
        } else {
            0.5 * (least + high)
        };
        if high - least <= NEWTON_BRACKET_TOLERANCE * high {
            break;
        }
    }
    x
}

/// Returns the smallest x at which `excess`, a decreasing function, is at most 0. The result is
/// precise to the relative `precision`, and never too small. Returns `None` if `excess` is still
/// above 0 at `high`. `excess` may jump, and may be infinite.
///
/// # Errors
/// The errors of `excess`.
pub(crate) fn find_root_by_secant<E>(
    excess: &impl Fn(f64) -> Result<f64, E>,
    [low, high]: [f64; 2],
    start: f64,
    precision: f64,
) -> Result<Option<f64>, E> {
    let at_low = excess(low)?;
    if at_low <= 0.0 {
        return Ok(Some(low));
    }
    // Pairs (ln x, excess). The upper end is evaluated only when needed.
    let mut below = (low.ln(), at_low);
    let mut above: Option<(f64, f64)> = None;
    let mut next = start.ln();
    for step in 1_u64.. {
        let at = excess(next.exp())?;
        if at <= 0.0 {
            above = Some((next, at));
        } else {
            below = (next, at);
        }
        let Some(above) = above else {
            if next >= high.ln() {
                return Ok(None);
            }
            // As long as no value is at most 0, increase x as if `excess` decreased like −ln x.
            let stride = if at.is_finite() { at + 0.1 } else { 2.0 };
            next = (next + stride).min(high.ln());
            continue;
        };
        if above.0 - below.0 <= precision {
            return Ok(Some(above.0.exp()));
        }
        let guess = shifted_secant_zero(below, above, precision);
        // Bisect in every fourth step, because `excess` may jump.
        next = if step.is_multiple_of(4) || guess <= below.0 || guess >= above.0 {
            0.5 * (below.0 + above.0)
        } else {
            guess
        };
    }
    unreachable!("the bracket is halved every fourth time")
}

/// Returns the zero of the secant through both ends of the bracket. The zero is moved by less than
/// the precision towards the farther end.
fn shifted_secant_zero(below: (f64, f64), above: (f64, f64), precision: f64) -> f64 {
    let slope = if below.1.is_finite() {
        (below.1 - above.1) / (above.0 - below.0)
    } else {
        1.0
    };
    let root = above.0 + above.1 / slope;
    // The shift puts the next point on the side of the root whose end is farther away.
    if root - below.0 > above.0 - root {
        root - 0.4 * precision
    } else {
        root + 0.4 * precision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_halved_down_to_neighbours() {
        for root in [1_u64, 2, 999, 1 << 40] {
            assert_eq!(
                bisect(1 << 41, 0, integer_midpoint, |n| n >= root),
                (root, root - 1)
            );
            assert_eq!(
                bisect(0, 1 << 41, integer_midpoint, |n| n < root),
                (root - 1, root)
            );
        }
        let (inside, outside) = bisect(0.0, 1.0, arithmetic_midpoint_function(0.0), |x| {
            x * x <= 0.5
        });
        assert_eq!(inside.next_up(), outside);
        assert!(inside * inside <= 0.5 && outside * outside > 0.5);
        // The search terminates even if the condition is true only at 0.
        assert_eq!(
            bisect(0.0, 1.0, arithmetic_midpoint_function(1e-9), |_| false).0,
            0.0
        );
        let (inside, outside) = bisect(1e-30, 1e30, geometric_midpoint_function(1e-9), |x| {
            x <= 3e-7
        });
        assert!(inside <= 3e-7 && 3e-7 < outside && outside - inside <= 1e-9 * outside);
        let refused = try_bisect(0_u64, 9, integer_midpoint, |n| {
            if n > 3 { Err(n) } else { Ok(true) }
        });
        assert_eq!(refused, Err(4));
    }

    #[test]
    fn what_is_proven_lies_beside_what_is_near() {
        for near in [0.0, 1e-300, 1e-9, 0.3] {
            // The result is less than six times too far away, because the previous step was not
            // enough.
            let found = find_valid_value_above(near, 1.0, NEWTON_RELATIVE_ERROR, |x| {
                x >= near * (1.0 + 1e-8)
            });
            assert!(found >= near * (1.0 + 1e-8) && found <= near * (1.0 + 7e-8) + 1e-307);
            let found =
                find_valid_value_below(near, NEWTON_RELATIVE_ERROR, |x| x <= near * (1.0 - 1e-8));
            assert!(found <= near * (1.0 - 1e-8) && found >= near * (1.0 - 7e-8));
        }
        assert_eq!(
            find_valid_value_above(0.5, 1.0, NEWTON_RELATIVE_ERROR, |_| false),
            1.0
        );
        assert_eq!(
            find_valid_value_above(0.0, 1.0, NEWTON_RELATIVE_ERROR, |_| false),
            1.0
        );
        assert_eq!(
            find_valid_value_above(0.0, 1.0, NEWTON_RELATIVE_ERROR, |_| true),
            0.0
        );
        assert_eq!(
            find_valid_value_above(0.0, 1.0, NEWTON_RELATIVE_ERROR, |x| x > 0.0),
            f64::MIN_POSITIVE
        );
        assert_eq!(
            find_valid_value_below(0.5, NEWTON_RELATIVE_ERROR, |_| false),
            0.0
        );
    }

    /// Functions that jump, are flat or are dominated by rounding errors need at most four times as
    /// many steps as with bisection.
    #[test]
    fn crossings_of_what_is_not_smooth_are_found_too() {
        let steps = std::cell::Cell::new(0);
        let counted = |root: f64, excess: &dyn Fn(f64) -> f64| {
            steps.set(0);
            let found = find_root_by_chandrupatla([1e-12, 1.0], |x| {
                steps.set(steps.get() + 1);
                assert!(steps.get() < 250, "{root}: {}", steps.get());
                excess(x)
            });
            assert!((found / root - 1.0).abs() < 1e-9, "{root}: {found}");
        };
        for root in [1e-11, 3e-7, 0.002, 0.9] {
            counted(root, &|x| if x < root { -1e-300 } else { 30.0 });
            counted(root, &|x| if x < root { -690.0 } else { 1e-17 });
            counted(root, &|x| (x / root).ln().powi(31));
            counted(root, &|x| ((x / root).ln() * 1e-15).max(-1e-15) + 1e-30);
        }
    }

    #[test]
    fn smooth_crossings_are_found() {
        for root in [1e-8, 0.03, 5.0, 1e11] {
            let functions: [&dyn Fn(f64) -> f64; 3] = [
                &|x| (x / root).ln(),
                &|x| x / root - 1.0,
                // This function is flat on one side of the root and steep on the other.
                &|x| (x / root).powi(9) - 1.0,
            ];
            for function in functions {
                let found = find_root_by_chandrupatla([1e-9, 1e12], function);
                assert!((found / root - 1.0).abs() < 1e-9, "{found}, not {root}");
            }
        }
        for level in [1e-12, 1e-3, 0.4] {
            // The Gaussian density has a concave logarithm.
            let at = |x: f64| ((-0.5 * x * x).exp(), x * (-0.5 * x * x).exp());
            let root = (-2.0 * f64::ln(level)).sqrt();
            for start in [1e-3, 1.0, 7.0, 1e9] {
                let found = solve_by_newton_on_logarithm(8.0, start, level, at);
                assert!((found / root - 1.0).abs() < 1e-9, "{found}, not {root}");
            }
            // One evaluation is enough if the search starts very near the root, and a few if it
            // starts near it.
            for (distance, most) in [(1e-7, 1), (1e-3, 3)] {
                let values = std::cell::Cell::new(0);
                solve_by_newton_on_logarithm(8.0, root * (1.0 + distance), level, |x| {
                    values.set(values.get() + 1);
                    at(x)
                });
                assert!(values.get() <= most, "{level}, {distance}: {values:?}");
            }
            assert_eq!(solve_by_newton_on_logarithm(8.0, 1.0, 1.0, at), 0.0);
            assert_eq!(solve_by_newton_on_logarithm(8.0, 0.0, 1.0, at), 0.0);
            // This function decreases to 0 at the end, near which every step is short.
            let straight = |x: f64| (8.0 - x, 1.0);
            for start in [1e-3, 8.0 - 1e-9, 9.0] {
                let found = solve_by_newton_on_logarithm(8.0, start, level, straight);
                assert!((found / (8.0 - level) - 1.0).abs() < 1e-9, "{found}");
            }
        }
    }

    #[test]
    fn falling_roots_are_bracketed_from_above() {
        const PRECISION: f64 = 1e-3;
        // The functions are smooth, steep, with jumps, and infinite at one end.
        let functions: [fn(f64) -> f64; 4] = [
            |x| (1234.5 / x).ln(),
            |x| 4.0 * (77.0 / x).ln(),
            |x| if x < 5000.0 { 3.0 } else { -0.01 },
            |x| {
                if x < 300.0 {
                    f64::INFINITY
                } else {
                    (2e6 / x).ln().round()
                }
            },
        ];
        let search = |function: &dyn Fn(f64) -> f64, high: f64| {
            let Ok(found) = find_root_by_secant(
                &|x| Ok::<_, Infallible>(function(x)),
                [1.0, high],
                10_000.0_f64.min(high),
                PRECISION,
            );
            found
        };
        for function in functions {
            let found = search(&function, 1e12).unwrap();
            assert!(function(found) <= 0.0, "{found}");
            assert!(function(found * (1.0 - 2.0 * PRECISION)) > 0.0, "{found}");
        }
        assert_eq!(search(&|_| 1.0, 1e6), None);
        assert_eq!(search(&|_| -1.0, 1e6), Some(1.0));
    }
}
