//! Dummies of the shuffler: people send one message each, without noise, and the shuffler adds
//! noise messages about every cell.
//!
//! Source: Murakami, Sei, Eriguchi, "Augmented Shuffle Protocols for Accurate and Robust Frequency
//! Estimation under Differential Privacy" (arXiv 2504.07362). The shuffler has to be trusted to add
//! the noise, which nobody can check.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use hushbin::sample::DiscreteLaplace;
use rand_core::CryptoRng;

use crate::competitors::budget::Budget;

/// Allowed range of the number c.
const CENTRE_RANGE: ParameterRange = ParameterRange {
    name: "dummies of a cell",
    min: 1.0,
    max: 1e6,
};
/// Denominator of ε: the sampler takes a ratio of integers.
const EPSILON_DENOMINATOR: u64 = 1_000_000;

/// Distribution of the number of dummies about one cell: c plus discrete Laplace noise Z with P(z) ∝
/// exp(−ε·|z|/2), under the condition that c + Z is from 0 to 2c.
///
/// A person who changes one choice moves one count up by 1, and another one down by 1. Each count
/// hides this at ε/2, except if it shows the least or greatest number of dummies. So the two counts
/// have δ = 1 − (1 − p₀)², where p₀ is the probability of 0 dummies.
///
/// ```
/// use hushbin_study::competitors::{Budget, shuffled_counts::ShufflerDummies};
///
/// let dummies = ShufflerDummies::calibrate(&Budget::new(1.0, 1e-6)?)?;
/// assert_eq!(dummies.mean_per_cell(), 27);
/// assert!(dummies.delta() <= 1e-6);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShufflerDummies {
    epsilon: f64,
    mean_per_cell: u32,
}

impl ShufflerDummies {
    /// Finds the least c for which the counts are (ε, δ)-differentially private.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if more than 10⁶ dummies a cell would be needed.
    pub fn calibrate(budget: &Budget) -> Result<Self, Error> {
        // δ is about (1 − exp(−ε/2))·exp(−c·ε/2), so c grows with the inverse of ε.
        let at = |mean_per_cell| Self {
            epsilon: budget.epsilon(),
            mean_per_cell,
        };
        let least = (1..).find(|&c| {
            let range_ends = f64::from(c) > CENTRE_RANGE.max;
            range_ends || at(c).delta() <= budget.delta()
        });
        let least = least.expect("the range ends");
        CENTRE_RANGE.check_in_range(f64::from(least))?;
        Ok(at(least))
    }

    /// Mean number c of dummies about one cell. There are at most 2c.
    #[must_use]
    pub const fn mean_per_cell(&self) -> u32 {
        self.mean_per_cell
    }

    /// Probabilities of 0, 1, …, 2c dummies.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let c = self.mean_per_cell;
        let weight = |dummies: u32| (-0.5 * self.epsilon * f64::from(dummies.abs_diff(c))).exp();
        let weights: Vec<f64> = (0..=2 * c).map(weight).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    /// Exact δ of the counts at the ε of the calibration, 1 − (1 − p₀)².
    #[must_use]
    pub fn delta(&self) -> f64 {
        // A geometric series is the sum of the weights on either side of c.
        let ratio = (-0.5 * self.epsilon).exp();
        let least = (-0.5 * self.epsilon * f64::from(self.mean_per_cell)).exp();
        let p0 = least * (1.0 - ratio) / (1.0 + ratio - 2.0 * ratio * least);
        p0 * (2.0 - p0)
    }

    /// Variance of the number of dummies about one cell.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let c = f64::from(self.mean_per_cell);
        let square = |(dummies, p): (u32, f64)| p * (f64::from(dummies) - c).powi(2);
        (0..).zip(self.probabilities()).map(square).sum()
    }

    /// Standard error of the share of one of K = `cells` cells, for `people` people. The analyser
    /// knows the total of the dummies, and subtracts its mean from each count.
    #[must_use]
    pub fn share_error(&self, cells: u32, people: u64) -> f64 {
        (self.variance() * (1.0 - 1.0 / f64::from(cells))).sqrt() / people as f64
    }

    /// Draws the number of dummies about one cell. ε is rounded to six decimal places.
    pub fn draw_count<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> u64 {
        let numerator = (self.epsilon * EPSILON_DENOMINATOR as f64).round().max(1.0);
        let noise = DiscreteLaplace::new(numerator as u64, 2 * EPSILON_DENOMINATOR);
        let c = i64::from(self.mean_per_cell);
        loop {
            if let Ok(count @ 0..) = u64::try_from(c + noise.sample(rng))
                && count <= 2 * u64::from(self.mean_per_cell)
            {
                return count;
            }
        }
    }
}
