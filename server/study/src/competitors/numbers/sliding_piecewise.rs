//! Piecewise mechanisms: the density of a report is higher within a favoured interval, whose
//! position depends on the number.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

use super::search::golden_section_argmin;

/// Piecewise mechanism: reports a number in [−H, H], with a favoured interval of width w.
///
/// The density of a report is e·q inside the favoured interval and q elsewhere, with e = exp(ε) and
/// q = 1/(2H + (e − 1)w). For a number x, the middle of the interval is x·s. The slope s = 1/((e −
/// 1)·q·w) makes the report unbiased.
///
/// ```
/// use hushbin_study::competitors::{PiecewiseMechanism, piecewise_variance};
///
/// let published = PiecewiseMechanism::with_published_width(2.0)?;
/// assert!((published.variance(0.5) - piecewise_variance(0.5, 2.0)?).abs() < 1e-12);
/// assert!(PiecewiseMechanism::with_least_variance(2.0)?.worst_variance() < published.worst_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PiecewiseMechanism {
    /// Half the length of the range of reports, H.
    half_range: f64,
    /// Width w of the favoured interval.
    favoured_interval_width: f64,
    /// Ratio e = exp(ε) of the density inside the favoured interval to the density outside.
    exp_epsilon: f64,
}

impl PiecewiseMechanism {
    /// Returns the piecewise mechanism PM as published (N. Wang et al., ICDE 2019).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn with_published_width(epsilon: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        // The paper's C = (h + 1)/(h − 1), with h = exp(ε/2), is H here.
        let half = 1.0 / (0.25 * epsilon).tanh();
        Ok(Self {
            half_range: half,
            favoured_interval_width: half - 1.0,
            exp_epsilon: epsilon.exp(),
        })
    }

    /// Returns the piecewise mechanism with the least worst-case variance, over all widths w.
    ///
    /// PM-OPT and PM-SUB (Y. Zhao et al., IEEE Internet of Things Journal, 2020) are also of this
    /// form, so neither is better.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn with_least_variance(epsilon: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        let of = |logarithm: f64| Self::with_relative_width(logarithm.exp(), epsilon);
        // Search interval for ln u, where u = w/H. u is in (0, 2), and ln 2 = 0.69.
        let best = golden_section_argmin([-12.0, 0.6], |logarithm| of(logarithm).worst_variance());
        Ok(of(best))
    }

    /// Returns the unbiased form of the optimal piecewise mechanism OPM (Zheng, Mishra, Hu, PETS
    /// 2025, Theorem 5), moved from [0, 1] to [−1, 1].
    ///
    /// Let C be half the length of PM's range of reports. Then 2C + 1 is half the length of OPM's
    /// range, and the width of OPM's favoured interval is (C − 1)(2C + 1)/C.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn published_optimal_piecewise(epsilon: f64) -> Result<Self, Error> {
        let Self {
            half_range: half,
            exp_epsilon: e,
            ..
        } = Self::with_published_width(epsilon)?;
        Ok(Self {
            half_range: 2.0 * half + 1.0,
            favoured_interval_width: (half - 1.0) * (2.0 * half + 1.0) / half,
            exp_epsilon: e,
        })
    }

    /// Returns the mechanism whose favoured interval has width w = u·H, where u = `part` is in (0,
    /// 2) and reports are in [−H, H]. H is such that the favoured interval of the number 1 ends at
    /// H.
    pub(super) fn with_relative_width(part: f64, epsilon: f64) -> Self {
        let e = epsilon.exp();
        // Solves s + w/2 = H for H, with w = u·H.
        let half = (2.0 + (e - 1.0) * part) / ((e - 1.0) * part * (1.0 - 0.5 * part));
        Self {
            half_range: half,
            favoured_interval_width: part * half,
            exp_epsilon: e,
        }
    }

    /// Half the length of the range of reports, H.
    #[must_use]
    pub const fn half_range(&self) -> f64 {
        self.half_range
    }

    /// Density q of a report outside the favoured interval.
    #[must_use]
    pub fn density_outside(&self) -> f64 {
        1.0 / (2.0 * self.half_range + (self.exp_epsilon - 1.0) * self.favoured_interval_width)
    }

    /// Returns the ends of the favoured interval for a number in [−1, 1].
    #[must_use]
    pub fn favoured_interval(&self, value: f64) -> [f64; 2] {
        let middle = value * self.interval_slope();
        [-0.5, 0.5].map(|side| middle + side * self.favoured_interval_width)
    }

    /// Returns the variance of a report, given a number in [−1, 1]. It is quadratic in the number.
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        // E[y²] = q·(2H³/3) + (e − 1)·q·(w³/12 + w·(x·s)²), and (e − 1)·q·w·s = 1.
        let around = 2.0 * self.half_range.powi(3) / 3.0;
        let inside = (self.exp_epsilon - 1.0) * self.favoured_interval_width.powi(3) / 12.0;
        self.density_outside() * (around + inside) + (self.interval_slope() - 1.0) * value * value
    }

    /// Maximum of [`variance`](Self::variance) over all numbers in [−1, 1].
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        // The variance is quadratic in x without a linear term, so it is greatest at ±1 or 0.
        self.variance(1.0).max(self.variance(0.0))
    }

    /// Slope s: distance by which the favoured interval moves if the number increases by 1.
    fn interval_slope(&self) -> f64 {
        1.0 / ((self.exp_epsilon - 1.0) * self.density_outside() * self.favoured_interval_width)
    }
}
