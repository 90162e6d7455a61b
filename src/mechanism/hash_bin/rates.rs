//! What responses are worth: scale and variance of the estimates.

use super::attenuation::{attenuation, clipped_square};
use super::parameters::HashBin;
use super::sampling::Kind;
use crate::domain::Domain;

/// Scale and variance of the estimates that a report's response gives, of what is really sampled.
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
    /// What a response is multiplied by: A for a sign, 1/Γ for a bin.
    pub scale: f64,
    /// Variance of the response of an empty input, as a multiple of squared
    /// values: A², or that of the noise and the rounding of one bin.
    pub noise: f64,
    /// P(another item is in the same bin).
    pub shared: f64,
    /// η where sums are clipped.
    pub clip: Option<f64>,
    /// Whether the response is one sign, whose variance leaves no room for that of the sum.
    pub two_point: bool,
}

/// How much of each value reaches the estimate under this clip, if there is one.
fn left(clip: Option<f64>, entries: u32) -> f64 {
    clip.map_or(1.0, |clip| attenuation(entries, clip))
}

impl HashBin {
    /// How much of each value of a person with `entries` entries of ±1 reaches
    /// the estimates: 1 where nothing is clipped.
    #[must_use]
    pub fn left(&self, entries: u32) -> f64 {
        left(self.level().clip(), entries)
    }

    /// The rates over `domain` at local budget ε.
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
                // Rounding at random adds at most a quarter of a squared step.
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
    /// Variance of one report's estimate of an item, given what is [left](attenuation) of its own
    /// value on average, and E[clip(B)²] of the sum B of all the person's values with fair signs:
    /// the sum of their squares where nothing is clipped.
    ///
    /// The estimate is the item's sign times its bin, of mean `left`. A bin that
    /// is clipped is the only one.
    #[must_use]
    pub fn variance(&self, square: f64, left: f64) -> f64 {
        let own = left * left;
        if self.two_point {
            self.noise - own
        } else {
            self.noise + self.shared * (square - own)
        }
    }

    /// E[clip(B)²] of an input of so many entries of ±1.
    #[must_use]
    pub fn square(&self, entries: u32) -> f64 {
        let k = f64::from(entries);
        self.clip.map_or(k, |clip| clipped_square(entries, clip))
    }

    /// Sum of the variances of one report's estimates of all d means, for an input of `entries`
    /// entries of ±1; for an open domain, of one item that is none.
    pub(crate) fn total_variance(&self, domain: &Domain, entries: u32) -> f64 {
        let k = f64::from(entries);
        let square = self.square(entries);
        let none = self.variance(square, 0.0);
        match domain.items() {
            None => none,
            Some(items) => {
                let left = left(self.clip, entries);
                let member = self.variance(square, left);
                k * member + (f64::from(items) - k) * none
            }
        }
    }
}
