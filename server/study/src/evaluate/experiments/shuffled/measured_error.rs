//! Measured error of an estimate, relative to a predicted standard error.

/// Ratio of a measured standard error to the predicted one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeasuredError {
    /// Root of the mean squared error, divided by the predicted standard error.
    pub(super) ratio: f64,
    /// Standard error of the ratio, from the spread of the squared errors over trials.
    pub(super) standard_error: f64,
}

impl MeasuredError {
    /// Creates the ratio from squared errors of independent trials, of which there must be at least
    /// two. A trial's squared error may be a mean over items that have the same distribution.
    pub(super) fn from_squared_errors(squares: &[f64], predicted: f64) -> Self {
        let trials = squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / trials;
        let spread: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
        let error_of_mean = (spread / (trials - 1.0) / trials).sqrt();
        let ratio = mean.sqrt() / predicted;
        Self {
            ratio,
            // The derivative of √x is 1/(2√x).
            standard_error: 0.5 * ratio * error_of_mean / mean,
        }
    }
}

/// Returns the mean of the squared differences between estimates and true values.
pub(super) fn mean_squared_error(errors: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = errors.into_iter().fold((0.0, 0.0), |(sum, count), error| {
        (sum + error * error, count + 1.0)
    });
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_the_error_of_their_trials() {
        // Two errors of equal size vary by nothing.
        let same = MeasuredError::from_squared_errors(&[4.0, 4.0], 1.0);
        assert_eq!((same.ratio, same.standard_error), (2.0, 0.0));
        // The mean of 1 and 9 is 5 ± 4.
        let other = MeasuredError::from_squared_errors(&[1.0, 9.0], 5.0_f64.sqrt());
        assert!((other.ratio - 1.0).abs() < 1e-15);
        assert!((other.standard_error - 0.4).abs() < 1e-15);
        assert_eq!(mean_squared_error([3.0, -1.0]), 5.0);
    }
}
