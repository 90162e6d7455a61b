//! Search for the place where a condition begins to hold.

/// Halves a bracket of numbers that are not negative, and returns its end where `holds` is
/// true, once the bracket is at most `relative` of its greater end.
///
/// `holds` is taken to be true at `inside` and false at `outside`, without a look.
pub(crate) fn bisect(
    mut inside: f64,
    mut outside: f64,
    relative: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> f64 {
    loop {
        let (low, high) = (inside.min(outside), inside.max(outside));
        // The geometric middle halves orders of magnitude; from 0 there is none.
        let middle = if low > 0.0 {
            low.sqrt() * high.sqrt()
        } else {
            low.midpoint(high)
        };
        let is_between = low < middle && middle < high;
        if high - low <= relative * high || !is_between {
            return inside;
        }
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_holds_is_found_from_either_side() {
        let above = bisect(64.0, 0.0, 1e-12, |x| x * x >= 2.0);
        assert!(above * above >= 2.0 && (above - 2.0_f64.sqrt()).abs() < 1e-11);
        let below = bisect(1e-9, 1.0, 0.0, |x| x < 1e-3);
        assert!(below < 1e-3 && (1e-3 - below) < 1e-17, "{below}");
    }
}
