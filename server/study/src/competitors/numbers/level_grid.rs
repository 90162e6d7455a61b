//! Generalised randomised response whose answers are evenly spaced levels of a number.

use hushbin::Error;
use hushbin::bounds::{EPSILON_RANGE, ParameterRange};

/// Mechanism for one number. It reports one of r + 1 levels, which divide the range from −1 to 1
/// into r equal steps.
///
/// A number is rounded at random, without bias, to one of its two neighbouring levels. The report
/// is exp(ε) times as likely to be this level as to be a given one of the r remaining levels. With
/// one step, this mechanism is [`TwoPointMechanism`](super::TwoPointMechanism).
///
/// ```
/// use hushbin_study::competitors::RandomizedLevelResponse;
///
/// let grid = RandomizedLevelResponse::with_least_variance(2.0)?;
/// assert_eq!(grid.step_count(), 2);
/// assert!((grid.worst_variance() - 1.0).abs() < 1e-3);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizedLevelResponse {
    step_count: u32,
    /// Ratio e = exp(ε): the level of the rounded number is e times as likely to be reported as any
    /// other level.
    exp_epsilon: f64,
}

/// Allowed range of the number of steps r.
const STEP_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "steps",
    min: 1.0,
    max: 64.0,
};

impl RandomizedLevelResponse {
    /// Returns the mechanism with r `steps` at ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if r is not from 1 to 64 or ε is outside [`EPSILON_RANGE`].
    pub fn new(steps: u32, epsilon: f64) -> Result<Self, Error> {
        STEP_COUNT_RANGE.check_in_range(f64::from(steps))?;
        EPSILON_RANGE.check_in_range(epsilon)?;
        Ok(Self {
            step_count: steps,
            exp_epsilon: epsilon.exp(),
        })
    }

    /// Returns the mechanism at ε with the number of steps for which the worst-case variance is
    /// least.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn with_least_variance(epsilon: f64) -> Result<Self, Error> {
        let mut best = Self::new(1, epsilon)?;
        for steps in 2..=STEP_COUNT_RANGE.max as u32 {
            let other = Self::new(steps, epsilon)?;
            if other.worst_variance() < best.worst_variance() {
                best = other;
            }
        }
        Ok(best)
    }

    /// Number of steps r.
    #[must_use]
    pub const fn step_count(&self) -> u32 {
        self.step_count
    }

    /// Returns the estimate that each reported level yields, in ascending order.
    #[must_use]
    pub fn estimates_by_level(&self) -> Vec<f64> {
        let scaled = |level| self.level_value(level) / self.probability_gap();
        (0..=self.step_count).map(scaled).collect()
    }

    /// Returns the probability of each reported level, given a person's number in [−1, 1].
    #[must_use]
    pub fn level_probabilities(&self, value: f64) -> Vec<f64> {
        let (low, up) = self.lower_level_and_up_probability(value);
        let own = |level| {
            let rounded = match level {
                _ if level == low => 1.0 - up,
                _ if level == low + 1 => up,
                _ => 0.0,
            };
            self.other_level_probability() + self.probability_gap() * rounded
        };
        (0..=self.step_count).map(own).collect()
    }

    /// Variance of one report's estimate of a number `value` in [−1, 1].
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        let (low, up) = self.lower_level_and_up_probability(value);
        let [from, to] = [low, low + 1].map(|level| self.mean_square_at_level(level));
        from + up * (to - from) - value * value
    }

    /// Maximum of [`variance`](Self::variance) over all numbers in [−1, 1].
    ///
    /// Between two levels, the mean square of the estimate is linear in the number x. The variance
    /// is therefore greatest at half the slope of this line, or at the nearer level if this point
    /// is outside the step.
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        let of_step = |low: u32| {
            let ends = [low, low + 1];
            let [from, to] = ends.map(|level| self.mean_square_at_level(level));
            let [left, right] = ends.map(|level| self.level_value(level));
            let turn = 0.5 * (to - from) / (right - left);
            self.variance(turn.clamp(left, right))
        };
        (0..self.step_count).map(of_step).fold(0.0, f64::max)
    }

    /// Returns the level below a number, and the probability that the number is rounded up to the
    /// next level.
    fn lower_level_and_up_probability(&self, value: f64) -> (u32, f64) {
        let place = 0.5 * (value + 1.0) * f64::from(self.step_count);
        let low = place.floor().clamp(0.0, f64::from(self.step_count - 1));
        (low as u32, place - low)
    }

    /// Returns the number, from −1 to 1, that a level stands for.
    fn level_value(&self, level: u32) -> f64 {
        2.0 * f64::from(level) / f64::from(self.step_count) - 1.0
    }

    /// Probability of reporting a given level that differs from the level of the rounded number.
    fn other_level_probability(&self) -> f64 {
        1.0 / (self.exp_epsilon + f64::from(self.step_count))
    }

    /// Probability of reporting the rounded number's level, minus the probability of reporting a
    /// given different level.
    fn probability_gap(&self) -> f64 {
        (self.exp_epsilon - 1.0) * self.other_level_probability()
    }

    /// Returns the mean square of the estimate, for a number that is exactly at `level`.
    fn mean_square_at_level(&self, level: u32) -> f64 {
        let all: f64 = (0..=self.step_count)
            .map(|own| self.level_value(own).powi(2))
            .sum();
        (self.other_level_probability() * all
            + self.probability_gap() * self.level_value(level).powi(2))
            / self.probability_gap().powi(2)
    }
}
