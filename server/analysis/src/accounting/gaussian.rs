//! Privacy profile of Gaussian noise: δ as a function of ε.
//!
//! Balle and Y.-X. Wang, "Improving the Gaussian Mechanism for Differential Privacy" (ICML 2018),
//! Theorem 8.

use std::f64::consts::FRAC_1_SQRT_2;

/// Returns the δ that Gaussian noise provides at `epsilon`. The noise has standard deviation
/// `sigma` (σ) and is added to a value of sensitivity `sensitivity` (Δ).
///
/// ```
/// use hushbin_analysis::accounting::gaussian_delta;
///
/// // At ε = 0 it is the total variation, 2Φ(Δ/2σ) − 1.
/// assert!((gaussian_delta(1.0, 2.0, 0.0) - 0.682_689_492).abs() < 1e-9);
/// ```
#[must_use]
pub fn gaussian_delta(sigma: f64, sensitivity: f64, epsilon: f64) -> f64 {
    let (half, shift) = (sensitivity / (2.0 * sigma), epsilon * sigma / sensitivity);
    // The difference below is much smaller than either term, so both must be precise to a few ulps.
    let [p, q] = [half - shift, -half - shift].map(standard_normal_cdf);
    (p - epsilon.exp() * q).max(0.0)
}

/// Returns −dδ/dε, the negative derivative of [`gaussian_delta`] with respect to ε.
pub(super) fn gaussian_delta_decrease_rate(sigma: f64, sensitivity: f64, epsilon: f64) -> f64 {
    let (half, shift) = (sensitivity / (2.0 * sigma), epsilon * sigma / sensitivity);
    epsilon.exp() * standard_normal_cdf(-half - shift)
}

/// Returns Φ(z), the probability that a standard normal number is below `z`.
fn standard_normal_cdf(z: f64) -> f64 {
    libm::erfc(-z * FRAC_1_SQRT_2) / 2.0
}
