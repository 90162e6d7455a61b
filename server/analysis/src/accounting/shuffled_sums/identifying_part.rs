//! Parts of a composition that may identify a person's input outright.

use crate::accounting::composition::ComposedPart;

/// Part of a composition whose outcomes may identify the input. Its `delta_bounds` are given that
/// the outcome does not.
pub(super) trait IdentifyingPart: ComposedPart {
    /// Returns a lower and an upper bound on the probability that the outcome identifies the input.
    fn identifying_bounds(&self) -> [f64; 2];

    /// Returns the approximate standard deviation of the privacy loss.
    fn loss_standard_deviation(&self) -> f64;
}
