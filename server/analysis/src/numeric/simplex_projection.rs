//! Projection of estimated frequencies onto the frequencies that a population can have.
//!
//! An input has at most s entries. So the frequencies of all items with either sign are
//! non-negative and sum to at most s. P1 and P2 (Wang et al., "Differentially Private Numerical
//! Vector Analyses in the Local and Shuffle Model" and "Hiding Numerical Vectors in Local Private
//! and Shuffled Messages") divide by s and project onto the probability simplex, Σ = 1. This is
//! valid only if every person has at least s entries, where real values count by magnitude. So both
//! constraints, Σ = s and Σ ≤ s, are available here. Dividing by s, projecting onto Σ ≤ 1 and
//! multiplying by s is the same as projecting onto Σ ≤ s.

/// Constraint on the sum of non-negative values.
///
/// ```
/// use hushbin_analysis::estimate::{SumConstraint, project_to_simplex};
///
/// let mut shares = [0.75, 0.5, -0.25];
/// project_to_simplex(&mut shares, SumConstraint::AtMost(1.0));
/// assert_eq!(shares, [0.625, 0.375, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SumConstraint {
    /// The sum is at most this number, because people may have fewer entries.
    AtMost(f64),
    /// The sum is exactly this number, because every person gives one answer or has s entries.
    Exactly(f64),
}

/// Replaces `values` by the nearest values, in Euclidean distance, that are non-negative and
/// satisfy the constraint `sum`.
///
/// The projection takes O(k log k) time for k values.
pub fn project_to_simplex(values: &mut [f64], sum: SumConstraint) {
    let positive: f64 = values.iter().map(|value| value.max(0.0)).sum();
    // If the positive parts of the values satisfy the constraint, they are the result. Otherwise
    // the result is max(v − τ, 0) for each value v, by the Karush–Kuhn–Tucker conditions.
    let excess = match sum {
        SumConstraint::AtMost(bound) if positive <= bound => 0.0,
        SumConstraint::AtMost(bound) | SumConstraint::Exactly(bound) => {
            projection_threshold(values, bound)
        }
    };
    for value in values {
        *value = (*value - excess).max(0.0);
    }
}

/// Returns the number τ for which Σ max(v − τ, 0) is `bound`, by sorting the values v.
///
/// Source: Duchi, Shalev-Shwartz, Singer, Chandra, "Efficient Projections onto the ℓ1-Ball for
/// Learning in High Dimensions", ICML 2008, Fig. 1.
fn projection_threshold(values: &[f64], bound: f64) -> f64 {
    let mut falling = values.to_vec();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut excess = f64::NEG_INFINITY;
    // If exactly the first k values are above τ, then τ is their sum minus the bound, divided by k.
    // It increases with k as long as the next value is above it.
    for (value, count) in falling.iter().zip(1_u32..) {
        if *value <= excess {
            break;
        }
        sum += value;
        excess = (sum - bound) / f64::from(count);
    }
    excess
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn projected(values: &[f64], bound: f64) -> Vec<f64> {
        let mut values = values.to_vec();
        project_to_simplex(&mut values, SumConstraint::AtMost(bound));
        values
    }

    /// Projects by a bisection for τ, without sorting.
    fn by_bisection(values: &[f64], bound: f64) -> Vec<f64> {
        let at = |excess: f64| values.iter().map(move |value| (value - excess).max(0.0));
        let (mut low, mut high) = (0.0, values.iter().copied().fold(0.0, f64::max));
        if at(low).sum::<f64>() <= bound {
            return at(low).collect();
        }
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if at(middle).sum::<f64>() > bound {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(high).collect()
    }

    fn near(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    /// Returns a test strategy that generates noise of any size, with ties.
    fn noisy() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            -3.0..3.0_f64,
            -0.1..0.1_f64,
            (-4..4_i32).prop_map(|v| f64::from(v) / 4.0),
        ];
        vec(value, 1..60)
    }

    /// Returns a test strategy that generates possible values, whose sum is a fraction of the
    /// bound.
    fn feasible() -> impl Strategy<Value = (Vec<f64>, f64)> {
        (vec(0.0..1.0_f64, 1..60), 0.0..0.999, 1..9_u32).prop_map(|(mut values, part, s)| {
            let sum: f64 = values.iter().sum::<f64>().max(1e-3);
            let bound = f64::from(s);
            values
                .iter_mut()
                .for_each(|value| *value *= part * bound / sum);
            (values, bound)
        })
    }

    proptest! {
        #[test]
        fn it_is_what_a_slow_solver_finds(values in noisy(), s in 1..9_u32) {
            let bound = f64::from(s);
            prop_assert!(near(&projected(&values, bound), &by_bisection(&values, bound)));
        }

        #[test]
        fn the_result_can_be(values in noisy(), s in 1..9_u32) {
            let bound = f64::from(s);
            let x = projected(&values, bound);
            prop_assert!(x.iter().all(|&x| x >= 0.0));
            prop_assert!(x.iter().sum::<f64>() <= bound + 1e-12);
        }

        /// The result is the nearest point. A point x of a convex set is nearest to v if and only
        /// if (v − x)·(y − x) ≤ 0 for all y in the set. For a polytope, it is enough to check the
        /// corners y. The corners are 0 and the points with `bound` in one coordinate and 0 in all
        /// others.
        #[test]
        fn nothing_that_can_be_is_nearer(values in noisy(), s in 1..9_u32) {
            let bound = f64::from(s);
            let x = projected(&values, bound);
            let away: Vec<f64> = values.iter().zip(&x).map(|(v, x)| v - x).collect();
            let along: f64 = away.iter().zip(&x).map(|(away, x)| away * x).sum();
            prop_assert!(-along <= 1e-11, "towards 0: {along}");
            for away in &away {
                prop_assert!(away * bound - along <= 1e-11, "{away} {along}");
            }
        }

        /// The result is the nearest point for an exact sum, too. Here 0 is not a corner.
        #[test]
        fn nothing_of_the_sum_is_nearer(values in noisy(), s in 1..9_u32) {
            let bound = f64::from(s);
            let mut x = values.clone();
            project_to_simplex(&mut x, SumConstraint::Exactly(bound));
            prop_assert!(x.iter().all(|&x| x >= 0.0));
            prop_assert!((x.iter().sum::<f64>() - bound).abs() < 1e-11);
            let away: Vec<f64> = values.iter().zip(&x).map(|(v, x)| v - x).collect();
            let along: f64 = away.iter().zip(&x).map(|(away, x)| away * x).sum();
            for away in &away {
                prop_assert!(away * bound - along <= 1e-10, "{away} {along}");
            }
        }

        #[test]
        fn what_can_be_stays((values, bound) in feasible()) {
            prop_assert_eq!(&projected(&values, bound), &values);
        }

        #[test]
        fn twice_is_once(values in noisy(), s in 1..9_u32) {
            let bound = f64::from(s);
            let once = projected(&values, bound);
            prop_assert!(near(&projected(&once, bound), &once));
        }

        /// Dividing by s, projecting onto sum 1 and multiplying by s gives the same result.
        #[test]
        fn scale_does_not_matter(values in noisy(), s in 1..9_u32) {
            let scale = f64::from(s);
            let shares: Vec<f64> = values.iter().map(|value| value / scale).collect();
            let mut x = projected(&shares, 1.0);
            x.iter_mut().for_each(|x| *x *= scale);
            prop_assert!(near(&projected(&values, scale), &x));
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(projected(&[0.5, -0.25, 0.25], 1.0), [0.5, 0.0, 0.25]);
        assert_eq!(projected(&[1.0, -0.25, 0.5], 1.0), [0.75, 0.0, 0.25]);
        assert_eq!(projected(&[2.5, 0.5, 0.0], 1.0), [1.0, 0.0, 0.0]);
        assert_eq!(projected(&[1.0, 1.0, 1.0, 1.0], 1.0), [0.25; 4]);
        assert_eq!(projected(&[], 1.0), [0.0; 0]);
    }
}
