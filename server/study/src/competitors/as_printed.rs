//! What the paper prints where it errs, for errata and for the legends of figures: the
//! parameters, and what they really give away. Nothing here randomises.

use hushbin::Error;

use super::budget::Budget;
use super::gaussian::Gaussian;
use super::numbers::Counts;
use hushbin_analysis::accounting::gaussian_delta;

/// Mechanism-1 with the printed α and B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedMajority {
    /// α: (e + N₊·δ)/(e + 1) for odd d; (N₊·δ + e·r)/(1 + e·r) for even d, r = N₊/N₋ (Eq. 24).
    pub alpha: f64,
    /// B: (2^d + N₊·(e − 1))/(C(d − 1, κ − 1)·(e + 2^d·δ − 1)).
    pub scale: f64,
    /// δ at the ε asked for: N₊ times the δ asked for.
    pub delta: f64,
    /// B that is right for the same (ε, δ).
    pub right_scale: f64,
}

/// Mechanism-1 as printed, with κ = ⌊d/2⌋ + 1: δ is counted once for every output, so
/// that the α printed is (ε, N₊·δ) private.
///
/// # Errors
/// [`Error::OutOfRange`] where d is outside
/// [`ATTRIBUTES`](super::ATTRIBUTES); [`Error::Combination`] where α is above 1,
/// N₊·δ > 1.
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed};
///
/// let printed = as_printed::majority(5, &Budget::new(1.0, 1e-3)?)?;
/// assert!((printed.delta - 0.016).abs() < 1e-12);
/// assert!(as_printed::majority(64, &Budget::new(1.0, 1e-6)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn majority(attributes: u32, budget: &Budget) -> Result<PrintedMajority, Error> {
    let counts = Counts::new(attributes)?;
    let threshold = attributes / 2 + 1;
    let sets = counts.favoured(threshold)?;
    let (e, delta) = (budget.epsilon().exp(), sets.inside * budget.delta());
    let ratio = e * sets.inside / sets.outside;
    let alpha = (delta + ratio) / (1.0 + ratio);
    if alpha > 1.0 {
        return Err(Error::Combination {
            reason: "the printed probability is above 1: favoured vectors times \"delta\" is",
        });
    }
    let outside = (1.0 - delta) / (1.0 + ratio);
    let all = sets.inside + sets.outside;
    // C(d − 1, κ − 1), by which a sign's probability is above that of the other.
    let more = counts.more(threshold);
    let less_1 = budget.epsilon().exp_m1();
    Ok(PrintedMajority {
        alpha,
        scale: (all + sets.inside * less_1) / (more * (less_1 + all * budget.delta())),
        delta: sets.delta_of(alpha, outside, budget.epsilon()),
        right_scale: counts.scale_at(threshold, budget)?,
    })
}

/// Normal noise for a sensitivity of 2, whatever d is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedGaussian {
    /// σ of Δ = 2.
    pub sigma: f64,
    /// δ at the ε asked for, of d attributes.
    pub delta: f64,
    /// σ of Δ = 2√d.
    pub right_sigma: f64,
}

/// The Gaussian mechanism as the paper compares with it: noise for one attribute, on d.
///
/// # Errors
/// As [`Gaussian::on_numbers`].
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed};
///
/// let printed = as_printed::gaussian(5, &Budget::new(1.0, 1e-6)?)?;
/// assert!((printed.delta - 0.009_652).abs() < 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn gaussian(attributes: u32, budget: &Budget) -> Result<PrintedGaussian, Error> {
    let right = Gaussian::on_numbers(attributes, budget)?;
    let sigma = Gaussian::on_numbers(1, budget)?.sigma();
    Ok(PrintedGaussian {
        sigma,
        delta: gaussian_delta(sigma, right.sensitivity(), budget.epsilon()),
        right_sigma: right.sigma(),
    })
}

/// The number of buckets that is best for local hashing, by the printed root: nearly equal numbers
/// are subtracted and divided by 2δ. `None` where δ is 0 or the root is not real.
///
/// ```
/// use hushbin_study::competitors::{Budget, as_printed, best_buckets};
///
/// let budget = Budget::new(1.0, 1e-15)?;
/// let [printed, right] = [as_printed::best_buckets(&budget), best_buckets(&budget)];
/// assert!((printed.unwrap() / right.unwrap() - 1.0).abs() > 0.01);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn best_buckets(budget: &Budget) -> Option<f64> {
    let (e, delta) = (budget.epsilon().exp(), budget.delta());
    let linear = (e - 1.0) * (1.0 - 3.0 * delta);
    let constant = (e - 1.0) * (e + 1.0 - 2.0 * delta);
    let square = linear * linear - 4.0 * delta * constant;
    (delta > 0.0 && square >= 0.0).then(|| (linear - square.sqrt()) / (2.0 * delta))
}
