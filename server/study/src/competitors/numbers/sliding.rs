//! Piecewise mechanisms: a uniform density with a favoured interval that moves with the number.

use hushbin::Error;
use hushbin::bounds::EPSILON;

use super::search::minimum;

/// Piecewise mechanism on [−H, H] with a favoured interval of width w.
///
/// The density is e·q inside the favoured interval and q elsewhere, with q = 1/(2H + (e − 1)w). The
/// middle of the interval is at x·s. The slope s = 1/((e − 1)·q·w) makes the report unbiased.
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
    /// Half the length of the range of reports, H.
    half: f64,
    /// Width w of the favoured interval.
    width: f64,
    /// Ratio e = exp(ε) of the two densities.
    e: f64,
}

impl Sliding {
    /// Returns the piecewise mechanism PM as published (N. Wang et al., ICDE 2019).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON`].
    pub fn published(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        // C = (h + 1)/(h − 1) with h = exp(ε/2).
        let half = 1.0 / (0.25 * epsilon).tanh();
        Ok(Self {
            half,
            width: half - 1.0,
            e: epsilon.exp(),
        })
    }

    /// Returns the piecewise mechanism whose favoured width has the least worst-case variance.
    ///
    /// PM-OPT and PM-SUB (Y. Zhao et al., IEEE Internet of Things Journal, 2020) are of this form,
    /// so neither is better.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON`].
    pub fn best(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        let of = |logarithm: f64| Self::with_part(logarithm.exp(), epsilon);
        // Bounds of the logarithm of the relative width u, which is in (0, 2): ln 2 = 0.69.
        let best = minimum([-12.0, 0.6], |logarithm| of(logarithm).worst_variance());
        Ok(of(best))
    }

    /// Returns the unbiased form of the optimal piecewise mechanism OPM (Zheng, Mishra, Hu, PETS
    /// 2025, Theorem 5), moved from [0, 1] to [−1, 1].
    ///
    /// Let C be the half length of PM's range. The half length of OPM's range is 2C + 1, and the
    /// width of its interval is (C − 1)(2C + 1)/C.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON`].
    pub fn optimal(epsilon: f64) -> Result<Self, Error> {
        let Self { half, e, .. } = Self::published(epsilon)?;
        Ok(Self {
            half: 2.0 * half + 1.0,
            width: (half - 1.0) * (2.0 * half + 1.0) / half,
            e,
        })
    }

    /// Returns the mechanism with an interval of width u·H that reaches H when the number is 1, for
    /// u in (0, 2).
    pub(super) fn with_part(part: f64, epsilon: f64) -> Self {
        let e = epsilon.exp();
        // Solves s + w/2 = H for H, with w = u·H.
        let half = (2.0 + (e - 1.0) * part) / ((e - 1.0) * part * (1.0 - 0.5 * part));
        Self {
            half,
            width: part * half,
            e,
        }
    }

    /// Half the length of the range of reports, H.
    #[must_use]
    pub const fn half(&self) -> f64 {
        self.half
    }

    /// Density outside the favoured interval, q.
    #[must_use]
    pub fn density(&self) -> f64 {
        1.0 / (2.0 * self.half + (self.e - 1.0) * self.width)
    }

    /// Ends of the favoured interval of a number in [−1, 1]. The density inside is e·q.
    #[must_use]
    pub fn favoured(&self, value: f64) -> [f64; 2] {
        let middle = value * self.slope();
        [-0.5, 0.5].map(|side| middle + side * self.width)
    }

    /// Variance of one report of a number in [−1, 1]. It is quadratic in the number.
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        // E[y²] = q·(2H³/3) + (e − 1)·q·(w³/12 + w·(x·s)²), and (e − 1)·q·w·s = 1.
        let around = 2.0 * self.half.powi(3) / 3.0;
        let inside = (self.e - 1.0) * self.width.powi(3) / 12.0;
        self.density() * (around + inside) + (self.slope() - 1.0) * value * value
    }

    /// Maximum variance over all numbers in [−1, 1].
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        // The variance is quadratic in x without a linear term, so it is greatest at ±1 or 0.
        self.variance(1.0).max(self.variance(0.0))
    }

    /// Distance by which the interval moves while the number moves by 1.
    fn slope(&self) -> f64 {
        1.0 / ((self.e - 1.0) * self.density() * self.width)
    }
}
