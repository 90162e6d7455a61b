//! Distributions of one number over which the variance of its estimate is averaged.

use super::compared_mechanism::AVERAGE_VARIANCE_METRIC;

/// Crowd of numbers in [−1, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AveragedCrowd {
    /// Uniform numbers.
    Uniform,
    /// Normal numbers with mean 0 and standard deviation 1/4, clipped.
    Normal,
    /// Exponential numbers with mean 0.2, shifted to start at −1, clipped.
    Skewed,
    /// Crowd in which half of the people have the number −1, and half have 1.
    HalfAtEachEnd,
    /// Crowd in which each person has the number 0.
    AllAtZero,
}

/// Number of cells of the midpoint rule.
const MIDPOINT_CELL_COUNT: u32 = 2000;

impl AveragedCrowd {
    /// Crowds in the order of the tables.
    pub(super) const ALL: [Self; 5] = [
        Self::Uniform,
        Self::Normal,
        Self::Skewed,
        Self::HalfAtEachEnd,
        Self::AllAtZero,
    ];

    /// Returns the name of the metric: the mean variance over the crowd.
    pub(super) const fn mean_variance_metric(self) -> &'static str {
        match self {
            Self::Uniform => AVERAGE_VARIANCE_METRIC,
            Self::Normal => "mean variance, N(0, 1/16)",
            Self::Skewed => "mean variance, -1 + Exp(0.2)",
            Self::HalfAtEachEnd => "mean variance, halves at ±1",
            Self::AllAtZero => "mean variance, all at 0",
        }
    }

    /// Returns the mean of the function `of` over the crowd's numbers.
    pub(super) fn mean_over_crowd(self, of: &dyn Fn(f64) -> f64) -> f64 {
        let below: fn(f64) -> f64 = match self {
            Self::Uniform => |x| 0.5 * (x + 1.0),
            Self::Normal => |x| 0.5 * libm::erfc(-4.0 * x * std::f64::consts::FRAC_1_SQRT_2),
            Self::Skewed => |x| -(-5.0 * (x + 1.0)).exp_m1(),
            Self::HalfAtEachEnd => return of(-1.0).midpoint(of(1.0)),
            Self::AllAtZero => return of(0.0),
        };
        let edge = |cell: u32| 2.0 * f64::from(cell) / f64::from(MIDPOINT_CELL_COUNT) - 1.0;
        let part = |cell: u32| {
            let [low, high] = [edge(cell), edge(cell + 1)];
            (below(high) - below(low)) * of(low.midpoint(high))
        };
        let inside: f64 = (0..MIDPOINT_CELL_COUNT).map(part).sum();
        below(-1.0) * of(-1.0) + inside + (1.0 - below(1.0)) * of(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_squares_are_those_of_the_laws() {
        for (crowd, square) in [
            (AveragedCrowd::Uniform, 1.0 / 3.0),
            (AveragedCrowd::Normal, 1.0 / 16.0),
            (AveragedCrowd::Skewed, 0.68),
            (AveragedCrowd::HalfAtEachEnd, 1.0),
            (AveragedCrowd::AllAtZero, 0.0),
        ] {
            assert!((crowd.mean_over_crowd(&|_| 1.0) - 1.0).abs() < 1e-12);
            let found = crowd.mean_over_crowd(&|x| x * x);
            assert!((found - square).abs() < 1e-4, "{crowd:?}: {found}");
        }
    }
}
