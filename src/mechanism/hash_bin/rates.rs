//! Scale and variance of the estimates from hash-bin's responses.

use super::attenuation::{attenuation, clipped_square};
use super::parameters::HashBin;
use super::sampling::Kind;
use crate::domain::Domain;

/// Scale and variance of the estimates from a report's response, for the realised noise.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::hash_bin::{GRID, HashBin, Level};
///
/// let hash_bin = HashBin::new(Level::Event, Hashing::Balanced, 4, GRID).unwrap();
/// let rates = hash_bin.rates(&Domain::rated(Some(40), 3), 1.0);
/// assert_eq!(rates.scale, 1.0 / 1024.0);
/// assert!(!rates.two_point && rates.clip.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Factor of a response: A for a sign, 1/Γ for a bin.
    pub scale: f64,
    /// Variance of the response to an empty input, in squared values: A², or that of the noise and
    /// the rounding of one bin.
    pub noise: f64,
    /// P(another item is in the same bin).
    pub shared: f64,
    /// Clip η, or `None` if sums are not clipped.
    pub clip: Option<f64>,
    /// True if the response is one sign. Its second moment is always A², so the variance of the sum
    /// adds nothing.
    pub two_point: bool,
}

/// Share of each value that reaches the estimate under this clip, if there is one.
fn clip_attenuation(clip: Option<f64>, entries: u32) -> f64 {
    clip.map_or(1.0, |clip| attenuation(entries, clip))
}

impl HashBin {
    /// Share of each value that reaches the estimates, for a person with `entries` entries of ±1.
    /// It is 1 if nothing is clipped.
    #[must_use]
    pub fn attenuation(&self, entries: u32) -> f64 {
        clip_attenuation(self.level().clip(), entries)
    }

    /// Computes the rates over `domain` at local ε.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let grid = f64::from(self.grid());
        let bins = f64::from(self.bins());
        let shared = match self.hash(domain).per_bucket() {
            None => 1.0 / bins,
            Some(m) if self.bins() > 1 => {
                let m = f64::from(m);
                (m - 1.0) / (m * bins - 1.0)
            }
            Some(_) => 1.0,
        };
        let sampling = self.sampling(domain.items(), epsilon);
        let (scale, noise, two_point) = match sampling.kind {
            Kind::TwoPoint { clip, .. } => {
                // P(plus) − P(minus) at the clip is η/A.
                let steps = i32::try_from(clip).expect("a clip is below 2²⁶ steps");
                let plus = sampling.plus_probability(steps).unwrap_or(0.5);
                let amplitude = f64::from(clip) / grid / (2.0 * plus - 1.0);
                (amplitude, amplitude * amplitude, true)
            }
            Kind::Laplace { noise, .. } => {
                // Random rounding adds at most a quarter of a squared step.
                let variance = noise.variance() + 0.25;
                (1.0 / grid, variance / (grid * grid), false)
            }
        };
        Rates {
            scale,
            noise,
            shared,
            clip: self.level().clip(),
            two_point,
        }
    }
}

impl Rates {
    /// Variance of one report's estimate of an item. `left` is the mean of the estimate: what
    /// clipping [leaves](attenuation) of the item's own value. `square` is E[clip(B)²] of the sum B
    /// of all the person's values with fair signs. Without a clip it is the sum of their squares.
    ///
    /// The estimate is the item's sign times its bin. A bin that is clipped is the only one.
    #[must_use]
    pub fn variance(&self, square: f64, left: f64) -> f64 {
        let own = left * left;
        if self.two_point {
            self.noise - own
        } else {
            self.noise + self.shared * (square - own)
        }
    }

    /// E[clip(B)²] of an input of `entries` entries of ±1.
    #[must_use]
    pub fn square(&self, entries: u32) -> f64 {
        let k = f64::from(entries);
        self.clip.map_or(k, |clip| clipped_square(entries, clip))
    }

    /// Sum of the variances of one report's estimates of all d means, for an input of `entries`
    /// entries of ±1. For an open domain, the variance of one item outside the input.
    pub(crate) fn total_variance(&self, domain: &Domain, entries: u32) -> f64 {
        let k = f64::from(entries);
        let square = self.square(entries);
        let none = self.variance(square, 0.0);
        match domain.items() {
            None => none,
            Some(items) => {
                let left = clip_attenuation(self.clip, entries);
                let member = self.variance(square, left);
                k * member + (f64::from(items) - k) * none
            }
        }
    }
}
