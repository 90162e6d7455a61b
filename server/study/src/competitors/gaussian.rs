//! Optimal Gaussian mechanism: the least normal noise that satisfies (ε, δ).
//!
//! Source: Balle and Y.-X. Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML
//! 2018), Theorem 8. Let the vectors of two inputs differ by at most Δ in Euclidean distance.
//! Normal noise of standard deviation σ on each coordinate is then (ε, δ) private if and only if
//! Φ(Δ/2σ − εσ/Δ) − exp(ε)·Φ(−Δ/2σ − εσ/Δ) ≤ δ.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use rand_core::{CryptoRng, Rng};

use super::budget::{Budget, DELTA_RANGE};
use super::numbers::ATTRIBUTE_COUNT_RANGE;
use crate::roots::bisect;
use hushbin_analysis::accounting::gaussian_delta;

/// Allowed range of δ for normal noise. The minimum is above 0 because no finite σ reaches δ = 0.
const POSITIVE_DELTA_RANGE: ParameterRange = ParameterRange {
    min: 1e-15,
    ..DELTA_RANGE
};

/// Gaussian mechanism: adds independent normal noise to every coordinate of a vector.
///
/// ```
/// use hushbin_study::competitors::{Budget, GaussianMechanism};
///
/// let noise = GaussianMechanism::for_numbers(5, &Budget::new(1.0, 1e-6)?)?;
/// assert!((noise.sigma() - 18.893_338_359).abs() < 1e-8);
/// assert!(noise.delta_at(1.0) <= 1e-6);
/// assert!(GaussianMechanism::for_numbers(5, &Budget::new(1.0, 0.0)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianMechanism {
    sensitivity: f64,
    sigma: f64,
}

impl GaussianMechanism {
    /// Returns the mechanism for one-hot vectors, which have a 1 at the answer and 0 elsewhere.
    /// Their sensitivity is Δ = √2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if δ is below 10⁻¹⁵.
    pub fn for_one_hot_vectors(budget: &Budget) -> Result<Self, Error> {
        Self::new(2.0_f64.sqrt(), budget)
    }

    /// Returns the mechanism for d `attributes` in [−1, 1]. The sensitivity is Δ = 2√d; the paper
    /// prints 2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d is outside [`ATTRIBUTE_COUNT_RANGE`] or δ is below 10⁻¹⁵.
    pub fn for_numbers(attributes: u32, budget: &Budget) -> Result<Self, Error> {
        ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(attributes))?;
        Self::new(2.0 * f64::from(attributes).sqrt(), budget)
    }

    /// Returns the mechanism for inputs whose vectors are at most Δ = `sensitivity` apart in
    /// Euclidean distance.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if δ is below 10⁻¹⁵.
    pub(in crate::competitors) fn new(sensitivity: f64, budget: &Budget) -> Result<Self, Error> {
        POSITIVE_DELTA_RANGE.check_in_range(budget.delta())?;
        Ok(Self {
            sensitivity,
            sigma: least_sigma(sensitivity, budget),
        })
    }

    /// Returns the mechanism with the classical standard deviation σ = Δ·√(2·ln(1.25/δ))/ε, where Δ
    /// is `sensitivity`. For ε below 1, Dwork and Roth 2014 (Theorem A.1) prove that it satisfies
    /// (ε, δ).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if δ is below 10⁻¹⁵.
    pub(in crate::competitors) fn with_classical_sigma(
        sensitivity: f64,
        budget: &Budget,
    ) -> Result<Self, Error> {
        POSITIVE_DELTA_RANGE.check_in_range(budget.delta())?;
        let root = (2.0 * (1.25 / budget.delta()).ln()).sqrt();
        Ok(Self {
            sensitivity,
            sigma: sensitivity * root / budget.epsilon(),
        })
    }

    /// Standard deviation σ of the noise on a coordinate.
    #[must_use]
    pub const fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Sensitivity Δ: maximum Euclidean distance between the vectors of two inputs.
    #[must_use]
    pub const fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// Variance σ² of one report's estimate of a coordinate. It is the same for every value of the
    /// coordinate.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.sigma * self.sigma
    }

    /// Returns the exact δ for which a report satisfies (ε, δ).
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        gaussian_delta(self.sigma, self.sensitivity, epsilon)
    }

    /// Adds noise to a vector, for simulations only. The result is an unbiased estimate of the
    /// vector.
    ///
    /// Normal noise in floating point reveals more than σ promises (Mironov, "On Significance of
    /// the Least Significant Bits for Differential Privacy", CCS 2012).
    pub fn add_noise<R: CryptoRng + ?Sized>(&self, vector: &[f64], rng: &mut R) -> Vec<f64> {
        let noisy = |value: &f64| value + self.sigma * draw_standard_normal(rng);
        vector.iter().map(noisy).collect()
    }
}

/// Returns the least standard deviation σ that satisfies the budget, to one part in 10¹³ and
/// rounded up.
fn least_sigma(sensitivity: f64, budget: &Budget) -> f64 {
    let enough =
        |sigma: f64| gaussian_delta(sigma, sensitivity, budget.epsilon()) <= budget.delta();
    let mut high = sensitivity;
    // δ decreases with σ. Doubling and halving bracket the least sufficient σ.
    while !enough(high) {
        high *= 2.0;
    }
    let mut low = high / 2.0;
    while enough(low) {
        low /= 2.0;
    }
    // `bisect` returns the end at which `enough` is true, so σ is rounded up.
    bisect(high, low, 1e-13, enough)
}

/// Draws a standard normal number by Marsaglia's polar method.
fn draw_standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    // Uniform in [−1, 1]: 64 random bits over 2⁶³, less 1.
    let mut uniform = || rng.next_u64() as f64 / (1_u64 << 63) as f64 - 1.0;
    loop {
        let [x, y] = [uniform(), uniform()];
        let square = x * x + y * y;
        // Rejects points outside the unit disc, and 0, whose logarithm is infinite.
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}
