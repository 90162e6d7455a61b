//! Calibration of the negative binomial noise that hides a shift of a count (GKMPS): the printed
//! noise and the minimum.

use hushbin::Error;

use crate::competitors::budget::Budget;
use crate::competitors::sums::negative_binomial::NegativeBinomial;
use crate::roots::bisect;

/// Table row for the noise that hides a shift of a count by k (GKMPS). It compares the printed
/// noise and the least sufficient noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationRow {
    /// Shift k of the count.
    pub count_shift: u32,
    /// ε that the noise has to satisfy.
    pub epsilon: f64,
    /// δ that the noise has to satisfy.
    pub delta: f64,
    /// Mean of the printed noise, NB(3·(1 + ln(1/δ)), exp(−0.2·ε/k)).
    pub printed_mean: f64,
    /// Exact δ of the printed noise at ε.
    pub printed_noise_exact_delta: f64,
    /// Smallest mean of NB(r, exp(−0.2·ε/k)), minimised over r, that satisfies (ε, δ).
    pub least_mean_for_printed_p: f64,
    /// Smallest mean of any NB(r, p) that satisfies (ε, δ), to about one part in 10³.
    pub least_mean: f64,
    /// Parameter p of the noise with the least mean.
    pub p_of_least_mean: f64,
}

/// Returns the table row for a shift k and a budget (ε, δ).
///
/// # Errors
/// [`Error::OutOfRange`] if k or δ is 0.
///
/// ```
/// use hushbin_study::competitors::{Budget, sums::as_printed};
///
/// let row = as_printed::calibration_row(1, &Budget::new(1.0, 1e-6)?)?;
/// assert_eq!((row.printed_mean.round(), row.least_mean.round()), (201.0, 33.0));
/// assert!(row.printed_noise_exact_delta < 1e-20);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn calibration_row(shift: u32, promised: &Budget) -> Result<CalibrationRow, Error> {
    let (epsilon, delta) = (promised.epsilon(), promised.delta());
    let p = (-0.2 * epsilon / f64::from(shift)).exp();
    let law = NegativeBinomial::new(3.0 * (1.0 + (1.0 / delta).ln()), p)?;
    let (least_mean, least_p) = least_sufficient_mean(shift, promised);
    Ok(CalibrationRow {
        count_shift: shift,
        epsilon,
        delta,
        printed_mean: law.mean(),
        printed_noise_exact_delta: law.delta_of_shift(shift, epsilon),
        least_mean_for_printed_p: least_sufficient_mean_at(p, shift, promised),
        least_mean,
        p_of_least_mean: least_p,
    })
}

/// Returns the smallest mean of NB(r, p), minimised over r, that satisfies (ε, δ), to one part in
/// 10⁶. Returns infinity if even the printed mean does not satisfy (ε, δ), for example for p near
/// 0.
fn least_sufficient_mean_at(p: f64, shift: u32, promised: &Budget) -> f64 {
    let (epsilon, delta) = (promised.epsilon(), promised.delta());
    let enough = |mean: f64| {
        let law = NegativeBinomial::new(mean * (1.0 - p) / p, p);
        law.is_ok_and(|law| law.delta_of_shift(shift, epsilon) <= delta)
    };
    // The printed mean r·p/(1 − p): the printed p has odds p/(1 − p) = 1/(exp(0.2·ε/k) − 1).
    let most = 3.0 * (1.0 - delta.ln()) / (0.2 * epsilon / f64::from(shift)).exp_m1();
    if enough(most) {
        bisect(most, 1e-3, 1e-6, enough)
    } else {
        f64::INFINITY
    }
}

/// Returns the smallest mean of NB(r, p), minimised over r and p, that satisfies (ε, δ). Also
/// returns the p of this distribution.
///
/// The search tries odds p/(1 − p) that are a factor of two apart. It then refines the grid around
/// the best odds.
fn least_sufficient_mean(shift: u32, promised: &Budget) -> (f64, f64) {
    let (mut best, mut odds) = (f64::INFINITY, 1.0);
    let mut factor = 2.0_f64;
    for _ in 0..4 {
        let centre = odds;
        for step in -10..=10 {
            let tried = centre * factor.powi(step);
            let mean = least_sufficient_mean_at(tried / (1.0 + tried), shift, promised);
            if mean < best {
                (best, odds) = (mean, tried);
            }
        }
        // The next grid divides each step of this one into five.
        factor = factor.powf(0.2);
    }
    (best, odds / (1.0 + odds))
}

/// Returns the rows of [`calibration_row`] for shifts 1, 2 and 6.
///
/// # Errors
/// This never fails: all parameters are in range.
pub fn calibration_rows() -> Result<Vec<CalibrationRow>, Error> {
    let asked = [
        (1, 1.0, 1e-6),
        (1, 0.1, 1e-6),
        (1, 1.0, 1e-10),
        (2, 1.0, 1e-6),
        (6, 1.0, 1e-6),
    ];
    let row = |(shift, epsilon, delta)| calibration_row(shift, &Budget::new(epsilon, delta)?);
    asked.into_iter().map(row).collect()
}
