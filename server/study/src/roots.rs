//! Bisection: finds the number at which a condition becomes true.

/// Finds the number between `inside` and `outside` at which `holds` changes, by bisection. Both
/// ends are at least 0. The search stops once the interval's width is at most `relative` times the
/// upper end of the interval. Returns the end of the interval at which `holds` is true.
///
/// `holds` must be true at `inside` and false at `outside`. The function does not check this.
pub(crate) fn bisect(
    mut inside: f64,
    mut outside: f64,
    relative: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> f64 {
    loop {
        let (low, high) = (inside.min(outside), inside.max(outside));
        // The geometric mean bisects orders of magnitude. It would be 0 for an interval that starts
        // at 0.
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
