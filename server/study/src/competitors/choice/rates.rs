//! What a report says of an answer.

use hushbin::Error;
use hushbin::bounds::OPTIONS;

/// Probabilities with which a report supports an answer.
///
/// ```
/// use hushbin_study::competitors::Rates;
///
/// let rates = Rates { p: 0.75, q: 0.25 };
/// assert_eq!(rates.estimate(500, 1000), 0.5);
/// assert_eq!(rates.variance(true), 0.75);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// The person's own answer.
    pub p: f64,
    /// Any other.
    pub q: f64,
}

impl Rates {
    /// Variance of one report's estimate of an answer's share, (support − q)/(p − q),
    /// of a person who gives that answer, p(1 − p)/(p − q)², or another,
    /// q(1 − q)/(p − q)². The paper's Var* is N times the latter.
    #[must_use]
    pub fn variance(&self, own: bool) -> f64 {
        let p = if own { self.p } else { self.q };
        p * (1.0 - p) / (self.p - self.q).powi(2)
    }

    /// The share of an answer that so many of all reports support, without bias.
    #[must_use]
    pub fn estimate(&self, supporting: u64, reports: u64) -> f64 {
        (supporting as f64 / reports as f64 - self.q) / (self.p - self.q)
    }
}

/// The check that there are as many options as a choice may have.
pub(super) fn check_options(options: u32) -> Result<(), Error> {
    OPTIONS.check(f64::from(options))
}

/// The check that an answer is one of them.
pub(super) fn check_answer(answer: u32, options: u32) -> Result<(), Error> {
    if answer < options {
        return Ok(());
    }
    Err(Error::UnknownItem {
        item: answer.into(),
        items: options,
    })
}
