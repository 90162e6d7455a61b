//! Variances of the piecewise and hybrid mechanisms. Reports are not drawn here, because they are
//! real numbers.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

/// Returns the variance of one report's estimate of x in [−1, 1] under the piecewise mechanism at ε
/// (N. Wang et al., ICDE 2019, Lemma 1). With h = exp(ε/2) it is x²/(h − 1) + (h + 3)/(3(h − 1)²).
/// It is greatest for x = ±1.
///
/// # Errors
/// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
///
/// ```
/// use hushbin_study::competitors::piecewise_variance;
///
/// // Beyond ε ≈ 1.3 it is better than two points in the worst case.
/// assert!((piecewise_variance(1.0, 1.0)? - 5.223_597_452).abs() < 1e-8);
/// assert!((piecewise_variance(1.0, 2.0)? - 1.227_564_792).abs() < 1e-8);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn piecewise_variance(value: f64, epsilon: f64) -> Result<f64, Error> {
    EPSILON_RANGE.check_in_range(epsilon)?;
    let less_1 = (epsilon / 2.0).exp_m1();
    // h + 3 is `less_1` + 4.
    Ok(value * value / less_1 + (less_1 + 4.0) / (3.0 * less_1 * less_1))
}

/// Returns the variance of one report's estimate of x in [−1, 1] under the hybrid mechanism at ε
/// (N. Wang et al., ICDE 2019, Equation 6). The hybrid mechanism uses the piecewise mechanism with
/// probability 1 − exp(−ε/2), and otherwise [`TwoPointMechanism`](super::TwoPointMechanism). At ε ≤ 0.61 it uses
/// only [`TwoPointMechanism`](super::TwoPointMechanism).
///
/// # Errors
/// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
///
/// ```
/// use hushbin_study::competitors::hybrid_variance;
///
/// // Equal for all numbers, and less than either part in the worst case.
/// assert!((hybrid_variance(1.0, 1.0)? - 4.288_992).abs() < 1e-6);
/// assert!((hybrid_variance(0.0, 1.0)? - 4.288_992).abs() < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn hybrid_variance(value: f64, epsilon: f64) -> Result<f64, Error> {
    let piecewise = piecewise_variance(value, epsilon)?;
    let scale = 1.0 / (0.5 * epsilon).tanh();
    let two_points = scale * scale - value * value;
    let part = if epsilon > 0.61 {
        -(-0.5 * epsilon).exp_m1()
    } else {
        0.0
    };
    Ok(part * piecewise + (1.0 - part) * two_points)
}
