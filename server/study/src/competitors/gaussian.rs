//! The optimal Gaussian mechanism: as little normal noise as (ε, δ) allows.
//!
//! Balle and Y.-X. Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML 2018),
//! Theorem 8: noise of standard deviation σ on a vector that two inputs move by at most Δ, in
//! Euclidean distance, is (ε, δ) private exactly where Φ(Δ/2σ − εσ/Δ) − exp(ε)·Φ(−Δ/2σ − εσ/Δ) ≤ δ.

use hushbin::Error;
use hushbin::bounds::Bound;
use rand_core::{CryptoRng, Rng};

use super::budget::{Budget, DELTA};
use super::numbers::ATTRIBUTES;
use crate::roots::bisect;
use hushbin_analysis::accounting::gaussian_delta;

/// δ of normal noise, which no σ brings to 0.
const POSITIVE_DELTA: Bound = Bound {
    min: 1e-15,
    ..DELTA
};

/// Normal noise on every coordinate.
///
/// ```
/// use hushbin_study::competitors::{Budget, Gaussian};
///
/// let noise = Gaussian::on_numbers(5, &Budget::new(1.0, 1e-6)?)?;
/// assert!((noise.sigma() - 18.893_338_359).abs() < 1e-8);
/// assert!(noise.delta_at(1.0) <= 1e-6);
/// assert!(Gaussian::on_numbers(5, &Budget::new(1.0, 0.0)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    sensitivity: f64,
    sigma: f64,
}

impl Gaussian {
    /// On an answer's one-hot vector: Δ = √2.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where δ is below 10⁻¹⁵.
    pub fn on_one_hot(budget: &Budget) -> Result<Self, Error> {
        Self::new(2.0_f64.sqrt(), budget)
    }

    /// On d attributes in [−1, 1]: Δ = 2√d, not 2 as printed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where d is outside [`ATTRIBUTES`] or δ is below 10⁻¹⁵.
    pub fn on_numbers(attributes: u32, budget: &Budget) -> Result<Self, Error> {
        ATTRIBUTES.check(f64::from(attributes))?;
        Self::new(2.0 * f64::from(attributes).sqrt(), budget)
    }

    /// On vectors that two inputs move by at most Δ.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where δ is below 10⁻¹⁵.
    pub(in crate::competitors) fn new(sensitivity: f64, budget: &Budget) -> Result<Self, Error> {
        POSITIVE_DELTA.check(budget.delta())?;
        Ok(Self {
            sensitivity,
            sigma: sigma(sensitivity, budget),
        })
    }

    /// The classical σ, Δ·√(2·ln(1.25/δ))/ε (Dwork and Roth 2014, Theorem A.1, which
    /// proves it for ε below 1).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where δ is below 10⁻¹⁵.
    pub(in crate::competitors) fn classical(
        sensitivity: f64,
        budget: &Budget,
    ) -> Result<Self, Error> {
        POSITIVE_DELTA.check(budget.delta())?;
        let root = (2.0 * (1.25 / budget.delta()).ln()).sqrt();
        Ok(Self {
            sensitivity,
            sigma: sensitivity * root / budget.epsilon(),
        })
    }

    /// σ.
    #[must_use]
    pub const fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Δ.
    #[must_use]
    pub const fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// Variance of one report's estimate of a coordinate: σ², whatever it is.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.sigma * self.sigma
    }

    /// δ at an ε.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        gaussian_delta(self.sigma, self.sensitivity, epsilon)
    }

    /// A vector with noise, for simulations only: normal noise in floating point
    /// gives away more than σ says (Mironov, "On Significance of the Least
    /// Significant Bits for Differential Privacy", CCS 2012). Unbiased as it is.
    pub fn simulate<R: CryptoRng + ?Sized>(&self, vector: &[f64], rng: &mut R) -> Vec<f64> {
        let noisy = |value: &f64| value + self.sigma * standard_normal(rng);
        vector.iter().map(noisy).collect()
    }
}

/// The least σ, to one part in 10¹³ and rounded up.
fn sigma(sensitivity: f64, budget: &Budget) -> f64 {
    let enough =
        |sigma: f64| gaussian_delta(sigma, sensitivity, budget.epsilon()) <= budget.delta();
    let mut high = sensitivity;
    while !enough(high) {
        high *= 2.0;
    }
    let mut low = high / 2.0;
    while enough(low) {
        low /= 2.0;
    }
    bisect(high, low, 1e-13, enough)
}

/// Marsaglia's polar method.
fn standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let mut uniform = || rng.next_u64() as f64 / (1_u64 << 63) as f64 - 1.0;
    loop {
        let [x, y] = [uniform(), uniform()];
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}
