//! Algorithm 2: one number by two points.

use hushbin::Error;
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::input;
use crate::competitors::budget::Budget;
use crate::competitors::favoured::Favoured;

/// Algorithm 2 of the paper: ±A with A = (e + 1)/(e + 2δ − 1), + with probability 1/2 + x/(2A). It
/// rounds x to a sign and answers by it with probability (e + δ)/(e + 1), which is the same.
///
/// ```
/// use hushbin_study::competitors::{Budget, TwoPoints};
///
/// let points = TwoPoints::new(&Budget::new(1.0, 0.0)?);
/// assert!((points.scale() - 2.163_953_413).abs() < 1e-8);
/// assert!((points.variance(0.25) - 4.620_194_377).abs() < 1e-8);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPoints {
    own: Threshold,
}

impl TwoPoints {
    /// For one number in [−1, 1].
    #[must_use]
    pub fn new(budget: &Budget) -> Self {
        Self {
            own: Favoured::one_of(2).threshold(budget),
        }
    }

    /// P(+) of a number in [−1, 1], 1/2 + x/(2A).
    #[must_use]
    pub fn plus(&self, value: f64) -> f64 {
        0.5 + value / (2.0 * self.scale())
    }

    /// A: the estimate is A times the sign reported.
    #[must_use]
    pub fn scale(&self) -> f64 {
        1.0 / (self.own.probability() - self.own.complement())
    }

    /// Variance of one report's estimate of x: A² − x².
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        self.scale().powi(2) - value * value
    }

    /// δ at an ε, of the worst numbers, −1 and 1.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        Favoured::one_of(2).delta_at(self.own, epsilon)
    }

    /// The least ε.
    pub(in crate::competitors) fn loss(&self) -> f64 {
        (self.own.probability() / self.own.complement()).ln()
    }

    /// The mean, from the sum of the signs reported.
    #[must_use]
    pub fn estimate(&self, signs: i64, reports: u64) -> f64 {
        self.scale() * signs as f64 / reports as f64
    }

    /// A report of a number in [−1, 1]: its sign, true for +.
    ///
    /// # Errors
    /// [`Error::ValueRange`] where it is out of range or not a number.
    pub fn randomize<R: CryptoRng + ?Sized>(&self, value: f64, rng: &mut R) -> Result<bool, Error> {
        input::check(&[value], 1)?;
        Ok(self.respond(value, rng))
    }

    /// The same of a number that was checked.
    pub(in crate::competitors) fn respond<R: CryptoRng + ?Sized>(
        &self,
        value: f64,
        rng: &mut R,
    ) -> bool {
        let up = input::rounds_up(value, rng);
        self.own.sample(rng) == up
    }
}
