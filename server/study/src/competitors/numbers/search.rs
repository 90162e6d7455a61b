//! Search for the minimum or maximum of a function of one variable.

/// Number of steps of the golden-section search. Each step shortens the interval by the factor
/// 0.618, and all steps together by 10⁻¹⁰.
const GOLDEN_SECTION_STEP_COUNT: u32 = 48;

/// Returns the point of an interval at which a function is least, by golden-section search. The
/// function must have only one local minimum.
pub(super) fn golden_section_argmin([mut low, mut high]: [f64; 2], of: impl Fn(f64) -> f64) -> f64 {
    // Inverse golden ratio: each step reuses one of the two inner points.
    let part = 0.5 * (5.0_f64.sqrt() - 1.0);
    let mut inner = [high - part * (high - low), low + part * (high - low)];
    let mut found = inner.map(&of);
    for _ in 0..GOLDEN_SECTION_STEP_COUNT {
        if found[0] <= found[1] {
            high = inner[1];
            inner = [high - part * (high - low), inner[0]];
            found = [of(inner[0]), found[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + part * (high - low)];
            found = [found[1], of(inner[1])];
        }
    }
    low.midpoint(high)
}

/// Returns the maximum of a function on the interval from 0 to 1. The function must be quadratic
/// there.
///
/// Three values of the function determine its vertex.
pub(super) fn maximum_of_quadratic(of: impl Fn(f64) -> f64) -> f64 {
    let [flat, middle, end] = [0.0, 0.5, 1.0].map(&of);
    // The function is flat + slope·x + curve·x².
    let curve = 2.0 * (end + flat - 2.0 * middle);
    let slope = end - flat - curve;
    let ends = flat.max(end);
    if curve < 0.0 {
        ends.max(of((-0.5 * slope / curve).clamp(0.0, 1.0)))
    } else {
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_value_is_found() {
        let found = golden_section_argmin([-3.0, 9.0], |x| (x - 2.0).powi(2));
        assert!((found - 2.0).abs() < 1e-7, "{found}");
        let corner = golden_section_argmin([0.0, 1.0], |x| (x - 0.3).abs());
        assert!((corner - 0.3).abs() < 1e-9, "{corner}");
    }

    #[test]
    fn a_quadratic_turns_inside_or_at_an_end() {
        for (turn, most) in [(0.25, 0.0), (-1.0, -1.0), (2.0, -1.0)] {
            let found = maximum_of_quadratic(|x| -(x - turn).powi(2));
            assert!((found - most).abs() < 1e-12, "{turn}: {found}");
        }
        let valley = maximum_of_quadratic(|x| (x - 0.25).powi(2));
        assert!((valley - 0.5625).abs() < 1e-12, "{valley}");
    }
}
