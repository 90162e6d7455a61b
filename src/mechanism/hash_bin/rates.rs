//! Scale and variance of the estimates that are computed from hash-bin's responses.

use super::attenuation::{clipped_sum_second_moment, share_surviving_clipping};
use super::parameters::HashBin;
use super::response_distribution::ResponseKind;
use crate::domain::Domain;

/// Scale and variance of the estimates that are computed from a report's response. The realised
/// noise determines both.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::hash_bin::{DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel};
///
/// let hash_bin = HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, 4, DEFAULT_GRID_STEPS_PER_UNIT).unwrap();
/// let rates = hash_bin.estimate_scale_and_variance(&Domain::of_rated_items(Some(40), 3), 1.0);
/// assert_eq!(rates.estimate_scale, 1.0 / 1024.0);
/// assert!(!rates.is_two_point_response && rates.clipping_bound.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateScaleAndVariance {
    /// Factor that turns a response into an estimate. If the response is a sign, the factor is A of
    /// the two-point response ±A. If the response is bins, the factor is 1/Γ, the step of the grid.
    pub estimate_scale: f64,
    /// Variance of one estimate if the input is empty. For a sign, the variance is A². For a bin,
    /// this field is the variance of the noise plus a quarter of a squared step, which bounds the
    /// variance of the rounding.
    pub empty_input_variance: f64,
    /// Probability that two given items are in the same bin.
    pub same_bin_probability: f64,
    /// Clipping bound η, or `None` if sums are not clipped.
    pub clipping_bound: Option<f64>,
    /// True if the response is one sign. Each estimate is then A or −A, where A is `estimate_scale`. The
    /// second moment of the estimate is A², for all other values of the person.
    pub is_two_point_response: bool,
}

/// Proportion of each value that remains in the estimate, if sums are clipped to the bound `clip`.
/// The proportion is 1 without clipping.
fn attenuation_under_clip(clip: Option<f64>, entries: u32) -> f64 {
    clip.map_or(1.0, |clip| share_surviving_clipping(entries, clip))
}

impl HashBin {
    /// Proportion of each value that remains in the estimates, for a person with `entries` entries
    /// of ±1. The proportion is 1 without clipping.
    #[must_use]
    pub fn share_surviving_clipping(&self, entries: u32) -> f64 {
        attenuation_under_clip(self.privacy_level().clipping_bound(), entries)
    }

    /// Computes the rates over `domain` at local ε.
    #[must_use]
    pub fn estimate_scale_and_variance(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> EstimateScaleAndVariance {
        let grid = f64::from(self.grid_steps());
        let bins = f64::from(self.bin_count());
        let shared = match self.element_hash(domain).slots_per_bucket() {
            None => 1.0 / bins,
            Some(m) if self.bin_count() > 1 => {
                let m = f64::from(m);
                // Of the other m·b − 1 slots, m − 1 are in the same bin.
                (m - 1.0) / (m * bins - 1.0)
            }
            Some(_) => 1.0,
        };
        let sampling = self.response_distribution(domain.item_count(), epsilon);
        let (scale, noise, two_point) = match sampling.response_kind {
            ResponseKind::TwoPoint { clip, .. } => {
                // P(plus) − P(minus) at the clip is η/A.
                let steps = i32::try_from(clip).expect("a clip is below 2²⁶ steps");
                let plus = sampling.plus_probability(steps).unwrap_or(0.5);
                let amplitude = f64::from(clip) / grid / (2.0 * plus - 1.0);
                (amplitude, amplitude * amplitude, true)
            }
            ResponseKind::Laplace { noise, .. } => {
                // Random rounding adds at most a quarter of a squared step.
                let variance = noise.variance() + 0.25;
                (1.0 / grid, variance / (grid * grid), false)
            }
        };
        EstimateScaleAndVariance {
            estimate_scale: scale,
            empty_input_variance: noise,
            same_bin_probability: shared,
            clipping_bound: self.privacy_level().clipping_bound(),
            is_two_point_response: two_point,
        }
    }
}

impl EstimateScaleAndVariance {
    /// Variance of one report's estimate of an item's value. `left` is the mean of the estimate:
    /// the proportion of the item's value that [clipping leaves](share_surviving_clipping). `square` is
    /// E\[clip(B)²\], where B is the sum of the person's values, each multiplied by a fair sign.
    /// Without clipping, `square` is the sum of the squared values.
    ///
    /// The estimate is the item's sign times the item's bin. Sums are clipped only if there is a
    /// single bin.
    #[must_use]
    pub fn value_variance(&self, square: f64, left: f64) -> f64 {
        let own = left * left;
        if self.is_two_point_response {
            self.empty_input_variance - own
        } else {
            self.empty_input_variance + self.same_bin_probability * (square - own)
        }
    }

    /// Second moment E\[clip(B)²\] of the clipped sum B of an input with `entries` entries of ±1.
    #[must_use]
    pub fn input_sum_second_moment(&self, entries: u32) -> f64 {
        let k = f64::from(entries);
        self.clipping_bound
            .map_or(k, |clip| clipped_sum_second_moment(entries, clip))
    }

    /// Sum of the variances of one report's estimates, over all d items. The input has `entries`
    /// entries of ±1. In an open domain, the result is instead the variance for one item outside
    /// the input.
    pub(crate) fn total_variance(&self, domain: &Domain, entries: u32) -> f64 {
        let k = f64::from(entries);
        let square = self.input_sum_second_moment(entries);
        let none = self.value_variance(square, 0.0);
        match domain.item_count() {
            None => none,
            Some(items) => {
                let left = attenuation_under_clip(self.clipping_bound, entries);
                let member = self.value_variance(square, left);
                k * member + (f64::from(items) - k) * none
            }
        }
    }
}
