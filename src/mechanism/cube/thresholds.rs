//! The integer probabilities of the cube.

use super::parameters::Cube;
use crate::mechanism::subset::threshold;
use crate::sample::{ExpLowerBound, Threshold};

impl Cube {
    /// The threshold sampled at local budget ε.
    #[must_use]
    pub fn thresholds(&self, epsilon: f64) -> Thresholds {
        Thresholds::new(epsilon, self.favoured(), self.others())
    }
}

/// The integer probability that reports are drawn with: what is sampled, what the
/// estimator divides by and what privacy is accounted for.
///
/// ```
/// use hushbin::mechanism::cube::Cube;
///
/// let thresholds = Cube::new(3, 2).unwrap().thresholds(1.0);
/// // Half of the corners are favoured, at odds of e.
/// assert!((thresholds.inside().probability() - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-12);
/// assert!(thresholds.effective_epsilon() <= 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    pub(super) inside: Threshold,
    pub(super) favoured: u64,
    pub(super) others: u64,
    pub(super) epsilon: f64,
}

impl Thresholds {
    /// Where so many corners, or cells of a grid, are favoured.
    pub(in crate::mechanism) fn new(epsilon: f64, favoured: u64, others: u64) -> Self {
        Self {
            inside: threshold(&ExpLowerBound::new(epsilon), favoured, others),
            favoured,
            others,
            epsilon,
        }
    }

    /// Of reporting a favoured corner: floor(2⁶⁴·e·N₊/(e·N₊ + N₋)), e rounded down.
    #[must_use]
    pub const fn inside(&self) -> Threshold {
        self.inside
    }
}
