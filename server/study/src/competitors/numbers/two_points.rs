//! Algorithm 2: reports one number by a random sign, so that its estimate is one of two points.

use hushbin::Error;
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::input;
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::FavouredSetSizes;

/// Algorithm 2 of the paper: the estimate is A or −A, where A = (e + 1)/(e + 2δ − 1) and e =
/// exp(ε). For a number x, the estimate is A with probability 1/2 + x/(2A).
///
/// This code rounds x to a sign and reports that sign with probability (e + δ)/(e + 1), which has
/// the same distribution.
///
/// ```
/// use hushbin_study::competitors::{Budget, TwoPointMechanism};
///
/// let points = TwoPointMechanism::new(&Budget::new(1.0, 0.0)?);
/// assert!((points.estimate_scale() - 2.163_953_413).abs() < 1e-8);
/// assert!((points.variance(0.25) - 4.620_194_377).abs() < 1e-8);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPointMechanism {
    /// Probability of reporting the sign to which the number was rounded. The probability is
    /// rounded down to a threshold.
    own_sign_threshold: Threshold,
}

impl TwoPointMechanism {
    /// Returns the mechanism for one number in [−1, 1].
    #[must_use]
    pub fn new(budget: &Budget) -> Self {
        Self {
            own_sign_threshold: FavouredSetSizes::single_favoured_output(2)
                .favoured_threshold(budget),
        }
    }

    /// Returns the probability 1/2 + x/(2A) of reporting +, given a number x in [−1, 1]. A is
    /// [`estimate_scale`](Self::estimate_scale).
    #[must_use]
    pub fn plus_probability(&self, value: f64) -> f64 {
        0.5 + value / (2.0 * self.estimate_scale())
    }

    /// Scale A: the estimate is A times the reported sign.
    #[must_use]
    pub fn estimate_scale(&self) -> f64 {
        1.0 / (self.own_sign_threshold.probability() - self.own_sign_threshold.false_probability())
    }

    /// Variance A² − x² of one report's estimate of a number x, where A is [`estimate_scale`](Self::estimate_scale).
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        self.estimate_scale().powi(2) - value * value
    }

    /// Returns δ at ε for the worst pair of numbers, −1 and 1.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        FavouredSetSizes::single_favoured_output(2).delta_at(self.own_sign_threshold, epsilon)
    }

    /// Returns the privacy loss of a report: the least ε that it satisfies with δ = 0.
    pub(in crate::competitors) fn privacy_loss(&self) -> f64 {
        (self.own_sign_threshold.probability() / self.own_sign_threshold.false_probability()).ln()
    }

    /// Returns the estimated mean, from the sum of the reported signs.
    #[must_use]
    pub fn estimate_mean(&self, signs: i64, reports: u64) -> f64 {
        self.estimate_scale() * signs as f64 / reports as f64
    }

    /// Draws a report for a number in [−1, 1]: a sign, true for +.
    ///
    /// # Errors
    /// [`Error::ValueOutOfRange`] if the number is out of range or NaN.
    pub fn randomize<R: CryptoRng + ?Sized>(&self, value: f64, rng: &mut R) -> Result<bool, Error> {
        input::check_values(&[value], 1)?;
        Ok(self.randomize_unchecked(value, rng))
    }

    /// Draws a report for a number that is known to be in [−1, 1].
    pub(in crate::competitors) fn randomize_unchecked<R: CryptoRng + ?Sized>(
        &self,
        value: f64,
        rng: &mut R,
    ) -> bool {
        let up = input::randomly_rounds_up(value, rng);
        // The result is true (+) if the sign is + and kept, or − and flipped.
        self.own_sign_threshold.draw_bool(rng) == up
    }
}
