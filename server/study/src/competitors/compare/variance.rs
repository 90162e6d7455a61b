//! Worst and average.

use hushbin::Error;
use serde::Serialize;

use crate::competitors::choice::Rates;

/// Variance of one report's estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Variance {
    /// Of the worst answer or number.
    pub worst: f64,
    /// Averaged over answers or over numbers from −1 to 1.
    pub average: f64,
}

/// A mechanism, or why there is none.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) mechanism: &'static str,
    pub(super) parameters: String,
    pub(super) variance: Result<Variance, Error>,
}

impl Variance {
    /// Of shares, whose own answer is one of k.
    pub(super) fn of_shares(rates: &Rates, options: u32) -> Self {
        let [own, other] = [true, false].map(|own| rates.variance(own));
        let k = f64::from(options);
        Self {
            worst: own.max(other),
            average: (own + (k - 1.0) * other) / k,
        }
    }

    /// `square` − x², x from −1 to 1.
    pub(super) fn less_square(square: f64) -> Self {
        Self {
            worst: square,
            average: square - 1.0 / 3.0,
        }
    }

    /// The same whatever the answer.
    pub(super) const fn constant(variance: f64) -> Self {
        Self {
            worst: variance,
            average: variance,
        }
    }
}
