//! Piecewise mechanisms: a uniform density with a favoured interval that slides with the number.

use hushbin::Error;
use hushbin::bounds::EPSILON;

use super::search::minimum;

/// Piecewise mechanism on [−H, H] with a favoured interval of width w.
///
/// The density is q, and e·q inside the favoured interval, with q = 1/(2H + (e − 1)w). The middle
/// of the interval is at x·s, where s = 1/((e − 1)·q·w) makes the report unbiased.
///
/// ```
/// use hushbin_study::competitors::{Sliding, piecewise_variance};
///
/// let published = Sliding::published(2.0)?;
/// assert!((published.variance(0.5) - piecewise_variance(0.5, 2.0)?).abs() < 1e-12);
/// assert!(Sliding::best(2.0)?.worst_variance() < published.worst_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sliding {
    half: f64,
    width: f64,
    e: f64,
}

impl Sliding {
    /// Piecewise mechanism PM as published (N. Wang et al., ICDE 2019).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where ε is outside [`EPSILON`].
    pub fn published(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        let half = 1.0 / (0.25 * epsilon).tanh();
        Ok(Self {
            half,
            width: half - 1.0,
            e: epsilon.exp(),
        })
    }

    /// Piecewise mechanism whose favoured width has the least worst variance.
    ///
    /// PM-OPT and PM-SUB (Y. Zhao et al., IEEE Internet of Things Journal, 2020) are of this
    /// kind, so neither is better.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where ε is outside [`EPSILON`].
    pub fn best(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        let of = |logarithm: f64| Self::with_part(logarithm.exp(), epsilon);
        let best = minimum([-12.0, 0.6], |logarithm| of(logarithm).worst_variance());
        Ok(of(best))
    }

    /// Unbiased form of the optimal piecewise mechanism OPM (Zheng, Mishra, Hu, PETS 2025,
    /// Theorem 5), moved from [0, 1] to [−1, 1].
    ///
    /// With C that of PM its range has half the length 2C + 1, and its interval the width
    /// (C − 1)(2C + 1)/C.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where ε is outside [`EPSILON`].
    pub fn optimal(epsilon: f64) -> Result<Self, Error> {
        let Self { half, e, .. } = Self::published(epsilon)?;
        Ok(Self {
            half: 2.0 * half + 1.0,
            width: (half - 1.0) * (2.0 * half + 1.0) / half,
            e,
        })
    }

    /// Interval of width u·H that reaches H where the number is 1, for u in (0, 2).
    pub(super) fn with_part(part: f64, epsilon: f64) -> Self {
        let e = epsilon.exp();
        let half = (2.0 + (e - 1.0) * part) / ((e - 1.0) * part * (1.0 - 0.5 * part));
        Self {
            half,
            width: part * half,
            e,
        }
    }

    /// Half the length H of the range of reports.
    #[must_use]
    pub const fn half(&self) -> f64 {
        self.half
    }

    /// Density outside the favoured interval, q.
    #[must_use]
    pub fn density(&self) -> f64 {
        1.0 / (2.0 * self.half + (self.e - 1.0) * self.width)
    }

    /// Ends of the favoured interval of a number in [−1, 1], where the density is e·q.
    #[must_use]
    pub fn favoured(&self, value: f64) -> [f64; 2] {
        let middle = value * self.slope();
        [-0.5, 0.5].map(|side| middle + side * self.width)
    }

    /// Variance of one report of a number in [−1, 1]: quadratic in the number.
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        let around = 2.0 * self.half.powi(3) / 3.0;
        let inside = (self.e - 1.0) * self.width.powi(3) / 12.0;
        self.density() * (around + inside) + (self.slope() - 1.0) * value * value
    }

    /// Greatest variance over all numbers, reached at ±1.
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        self.variance(1.0).max(self.variance(0.0))
    }

    /// Distance by which the interval moves while the number moves by 1.
    fn slope(&self) -> f64 {
        1.0 / ((self.e - 1.0) * self.density() * self.width)
    }
}
