//! Three-Outputs: a mechanism for one number that reports −C, 0 or C.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

use super::search::golden_section_argmin;

/// Three-Outputs (Y. Zhao et al., IEEE Internet of Things Journal, 2020).
///
/// The output 0 has probability `a` for the number 0, and a/e for ±1, where e = exp(ε). In between,
/// each output's probability is linear in the number. In the paper, the best `a` is the root of a
/// cubic equation. This code finds it by search.
///
/// ```
/// use hushbin_study::competitors::ThreeOutputMechanism;
///
/// let [low, middle, high] = ThreeOutputMechanism::with_least_variance(2.0)?.output_probabilities(0.25);
/// assert!((low + middle + high - 1.0).abs() < 1e-12);
/// assert!(low < high);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreeOutputMechanism {
    /// Probability a of the output 0 for the number 0.
    zero_output_probability: f64,
    exp_epsilon: f64,
}

impl ThreeOutputMechanism {
    /// Returns the mechanism with the least worst-case variance at ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn with_least_variance(epsilon: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        let of = |middle| Self::with_zero_output_probability(middle, epsilon);
        let best = golden_section_argmin(
            [0.0, Self::max_zero_output_probability(epsilon)],
            |middle| of(middle).worst_variance(),
        );
        // The search never tries the end a = 0, where the mechanism has only two outputs. This end
        // is best at small ε.
        let [own, none] = [of(best), of(0.0)];
        Ok(if own.worst_variance() < none.worst_variance() {
            own
        } else {
            none
        })
    }

    /// Returns the greatest probability of the output 0, for the number 0, that is ε-private:
    /// e/(e + 2), where e = exp(ε). The output C then has equal probabilities for 0 and −1, and is
    /// e times as likely for 1.
    pub(super) fn max_zero_output_probability(epsilon: f64) -> f64 {
        1.0 / (1.0 + 2.0 * (-epsilon).exp())
    }

    /// Returns the mechanism at ε that outputs 0 with probability `middle` for the number 0.
    pub(super) fn with_zero_output_probability(middle: f64, epsilon: f64) -> Self {
        Self {
            zero_output_probability: middle,
            exp_epsilon: epsilon.exp(),
        }
    }

    /// Probability a of the output 0 for the number 0.
    #[must_use]
    pub const fn zero_output_probability(&self) -> f64 {
        self.zero_output_probability
    }

    /// Largest output C of the three outputs −C, 0 and C.
    #[must_use]
    pub fn largest_output(&self) -> f64 {
        let e = self.exp_epsilon;
        // The estimate is unbiased for the number 1: C·(P(C) − P(−C)) = 1.
        e * (e + 1.0) / ((e - 1.0) * (e - self.zero_output_probability))
    }

    /// Returns the probabilities of the outputs −C, 0 and C, given a number in [−1, 1].
    #[must_use]
    pub fn output_probabilities(&self, value: f64) -> [f64; 3] {
        let (a, e) = (self.zero_output_probability, self.exp_epsilon);
        // `from` is the probability of either end, −C or C, for the number 0. `to` has the three
        // probabilities for the number 1.
        let from = 0.5 * (1.0 - a);
        let to = [(e - a) / (e * (e + 1.0)), a / e, (e - a) / (e + 1.0)];
        let between = |from: f64, to: f64| from + value.abs() * (to - from);
        let own = [
            between(from, to[0]),
            between(a, to[1]),
            between(from, to[2]),
        ];
        if value < 0.0 {
            [own[2], own[1], own[0]]
        } else {
            own
        }
    }

    /// Variance of one report's estimate of a number in [−1, 1].
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        let [flat, slope] = self.mean_square_intercept_and_slope();
        flat + slope * value.abs() - value * value
    }

    /// Maximum of [`variance`](Self::variance) over all numbers in [−1, 1].
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        let [_, slope] = self.mean_square_intercept_and_slope();
        // `flat` + `slope`·x − x² is greatest at x = `slope`/2.
        self.variance((0.5 * slope).min(1.0))
    }

    /// Returns the mean square of the estimate as a line in |x|, for a number x: its value at 0 and
    /// its slope.
    fn mean_square_intercept_and_slope(&self) -> [f64; 2] {
        let square = self.largest_output().powi(2);
        let less = self.zero_output_probability * (1.0 - 1.0 / self.exp_epsilon);
        [square * (1.0 - self.zero_output_probability), square * less]
    }
}
