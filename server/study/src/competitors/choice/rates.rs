//! Probabilities that a report supports an answer, and the estimates computed from them.

use hushbin::Error;
use hushbin::bounds::OPTION_COUNT_RANGE;

/// Probabilities that a report supports an answer.
///
/// ```
/// use hushbin_study::competitors::SupportProbabilities;
///
/// let rates = SupportProbabilities { own_answer_probability: 0.75, other_answer_probability: 0.25 };
/// assert_eq!(rates.estimate_share(500, 1000), 0.5);
/// assert_eq!(rates.single_report_variance(true), 0.75);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SupportProbabilities {
    /// Probability p of supporting the person's own answer.
    pub own_answer_probability: f64,
    /// Probability q of supporting a given answer that is not the person's own.
    pub other_answer_probability: f64,
}

impl SupportProbabilities {
    /// Returns the variance of one report's estimate of an answer's share. The estimate is (1 −
    /// q)/(p − q) if the report supports the answer, otherwise −q/(p − q). If the reporting person
    /// has this answer (`own`), the variance is p(1 − p)/(p − q)². Otherwise the variance is q(1 −
    /// q)/(p − q)².
    ///
    /// The paper's Var* is N·q(1 − q)/(p − q)², where N is the number of people.
    #[must_use]
    pub fn single_report_variance(&self, own: bool) -> f64 {
        let p = if own {
            self.own_answer_probability
        } else {
            self.other_answer_probability
        };
        p * (1.0 - p) / (self.own_answer_probability - self.other_answer_probability).powi(2)
    }

    /// Returns the unbiased estimate of an answer's share if `supporting` of `reports` reports
    /// support it.
    #[must_use]
    pub fn estimate_share(&self, supporting: u64, reports: u64) -> f64 {
        (supporting as f64 / reports as f64 - self.other_answer_probability)
            / (self.own_answer_probability - self.other_answer_probability)
    }
}

/// Checks that the number of options of a choice is within [`OPTION_COUNT_RANGE`].
pub(super) fn check_options(options: u32) -> Result<(), Error> {
    OPTION_COUNT_RANGE.check_in_range(f64::from(options))
}

/// Checks that an answer is one of the options.
pub(super) fn check_answer(answer: u32, options: u32) -> Result<(), Error> {
    if answer < options {
        return Ok(());
    }
    Err(Error::UnknownItem {
        item: answer.into(),
        items: options,
    })
}
