//! Staircase mechanism: adds noise to the number. The density of the noise is a staircase.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

/// Sensitivity Δ: the distance between −1 and 1.
const SENSITIVITY: f64 = 2.0;

/// Staircase mechanism with the least variance (Geng, Kairouz, Oh, Viswanath, "The Staircase
/// Mechanism in Differential Privacy", 2015). The density of its noise falls, on either side of 0,
/// by the factor exp(−ε) once in each interval of length 2.
///
/// ```
/// use hushbin_study::competitors::StaircaseMechanism;
///
/// // At a small ε it is Laplace noise; at a large ε it has less than half the variance.
/// let of = |epsilon: f64| StaircaseMechanism::new(epsilon).map(|own| own.variance() * epsilon.powi(2) / 8.0);
/// assert!((of(0.1)? - 1.0).abs() < 1e-2 && of(6.0)? < 0.5);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaircaseMechanism {
    /// Factor b = exp(−ε) by which the density falls once in each interval.
    density_fall_factor: f64,
}

impl StaircaseMechanism {
    /// Returns the mechanism at ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        Ok(Self {
            density_fall_factor: (-epsilon).exp(),
        })
    }

    /// Fraction γ, in (0, 1), of an interval of length 2. The density falls after this fraction of
    /// each interval.
    #[must_use]
    pub fn density_fall_fraction(&self) -> f64 {
        let b = self.density_fall_factor;
        let cube = b - 2.0 * b.powi(2) + 2.0 * b.powi(4) - b.powi(5);
        (0.5 * cube).cbrt() / (1.0 - b).powi(2) - b / (1.0 - b)
    }

    /// Returns the density of the noise at a value of the noise.
    #[must_use]
    pub fn noise_density(&self, noise: f64) -> f64 {
        let (b, part) = (self.density_fall_factor, self.density_fall_fraction());
        let place = noise.abs() / SENSITIVITY;
        let falls = place.floor() + f64::from(u8::from(place.fract() >= part));
        let first = (1.0 - b) / (2.0 * SENSITIVITY * (part + b * (1.0 - part)));
        first * b.powf(falls)
    }

    /// Variance of one report. It does not depend on the number.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let b = self.density_fall_factor;
        let root = (0.5 * b * (1.0 + b)).cbrt().powi(2);
        (SENSITIVITY / (1.0 - b)).powi(2) * (root + b)
    }
}
