//! Generalised randomised response: reports the person's own answer or a random different one.

use hushbin::Error;
use hushbin::sample::{Threshold, draw_below};
use rand_core::CryptoRng;

use super::rates::{SupportProbabilities, check_answer, check_options};
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::FavouredSetSizes;

/// Generalised randomised response (GRR) over k answers, also called k-ary randomised response. It
/// reports the person's answer with probability p = (e + (k − 1)δ)/(e + k − 1), where e = exp(ε).
/// Otherwise it reports a different answer, and all different answers are equally likely.
///
/// ```
/// use hushbin_study::competitors::{Budget, RandomizedResponse};
///
/// let grr = RandomizedResponse::new(2, &Budget::new(1.0, 0.0)?)?;
/// let e = 1.0_f64.exp();
/// assert!((grr.support_probabilities().own_answer_probability - e / (e + 1.0)).abs() < 1e-11);
/// assert!(grr.delta_at(1.0) == 0.0 && grr.delta_at(0.9) > 0.0);
/// assert!(RandomizedResponse::new(1, &Budget::new(1.0, 0.0)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizedResponse {
    option_count: u32,
    /// Probability p that the report is the person's answer, rounded down to a threshold.
    own_answer_threshold: Threshold,
}

impl RandomizedResponse {
    /// Returns the mechanism for k `options`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE).
    pub fn new(options: u32, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        Ok(Self {
            option_count: options,
            own_answer_threshold: FavouredSetSizes::single_favoured_output(options)
                .favoured_threshold(budget),
        })
    }

    /// Number of options, k.
    #[must_use]
    pub const fn option_count(&self) -> u32 {
        self.option_count
    }

    /// Returns two probabilities: that a report equals the person's answer, and that a report
    /// equals a given different answer. They are exact for the rounded threshold.
    #[must_use]
    pub fn support_probabilities(&self) -> SupportProbabilities {
        SupportProbabilities {
            own_answer_probability: self.own_answer_threshold.probability(),
            other_answer_probability: self.own_answer_threshold.false_probability()
                / (f64::from(self.option_count) - 1.0),
        }
    }

    /// Returns the δ of a report at ε. It is the same for all pairs of different answers.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        FavouredSetSizes::single_favoured_output(self.option_count)
            .delta_at(self.own_answer_threshold, epsilon)
    }

    /// Returns the privacy loss of a report: the least ε that it satisfies with δ = 0.
    pub(in crate::competitors) fn privacy_loss(&self) -> f64 {
        let rates = self.support_probabilities();
        (rates.own_answer_probability / rates.other_answer_probability).ln()
    }

    /// Draws a report for an answer from 0 to k − 1. The report is also a number from 0 to k − 1.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if `answer` is not below k.
    pub fn randomize<R: CryptoRng + ?Sized>(&self, answer: u32, rng: &mut R) -> Result<u32, Error> {
        check_answer(answer, self.option_count)?;
        if self.own_answer_threshold.draw_bool(rng) {
            return Ok(answer);
        }
        // Skips `answer`: drawn numbers from `answer` on move up by one.
        let other = draw_below(rng, self.option_count - 1);
        Ok(other + u32::from(other >= answer))
    }
}
