//! The integer probability that the window and the pattern draw with.

use crate::mechanism::subset::threshold;
use crate::sample::{ExpLowerBound, Threshold};

/// The integer probability that reports are drawn with: the sampler, the estimates and the
/// account of privacy all use it.
///
/// ```
/// use hushbin::mechanism::window::Window;
///
/// // One of two atoms is favoured, at odds of e.
/// let thresholds = Window::new(1, 2, 1, [1])?.thresholds(1.0);
/// assert!((thresholds.inside().probability() - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-12);
/// assert!(thresholds.effective_epsilon() <= 1.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    inside: Threshold,
    pub(super) favoured: u32,
    pub(super) others: u32,
    pub(super) epsilon: f64,
}

impl Thresholds {
    pub(in crate::mechanism) fn new(epsilon: f64, [favoured, others]: [u32; 2]) -> Self {
        Self {
            inside: threshold(&ExpLowerBound::new(epsilon), favoured, others),
            favoured,
            others,
            epsilon,
        }
    }

    /// The probability of a favoured cell: ⌊2⁶⁴·kᵐ·e/(kᵐ·e + tᵐ − kᵐ)⌋ units of 2⁻⁶⁴, e
    /// rounded down.
    #[must_use]
    pub const fn inside(&self) -> Threshold {
        self.inside
    }
}
