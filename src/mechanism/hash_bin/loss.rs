//! Realised ε of hash-bin's reports, and the range of the bins.

use super::sampling::{EPSILON_BITS, Kind, Sampling};
use crate::sample::{DiscreteLaplace, Factors, least_epsilon_covering};

impl Sampling {
    /// Realised local ε, rounded up, never above the requested ε. It applies between
    /// [neighbours](super::Level), except for [δ](super::HashBin::realised_delta).
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        match self.kind {
            Kind::TwoPoint { bound, clip } => {
                const HALF: u128 = 1 << 63;
                let lean = u128::from(Self::excess_over_half(&bound, clip, clip));
                least_epsilon_covering(
                    Factors(HALF + lean, 1),
                    Factors(HALF - lean, 1),
                    self.epsilon,
                )
            }
            // The rate times Δ is a dyadic number, so nothing is rounded.
            Kind::Laplace { .. } => {
                let unit = f64::from(1 << EPSILON_BITS);
                libm::trunc(self.epsilon * unit) / unit
            }
        }
    }

    /// Maximum absolute value of a bin of a report, in steps of the grid; `None` if a report has no
    /// bins.
    ///
    /// Noise is cut off there, which costs no privacy. It changes a report with a probability below
    /// b·2⁻⁶³ (in an open domain, a report of at most 4096 entries). The limit prevents forged
    /// reports from dominating the estimate.
    #[must_use]
    pub const fn limit(&self) -> Option<i64> {
        match self.kind {
            Kind::TwoPoint { .. } => None,
            Kind::Laplace { limit, .. } => Some(limit),
        }
    }

    /// Noise of a bin; `None` if a report has no bins.
    #[must_use]
    pub const fn laplace(&self) -> Option<DiscreteLaplace> {
        match self.kind {
            Kind::TwoPoint { .. } => None,
            Kind::Laplace { noise, .. } => Some(noise),
        }
    }

    /// P(plus) for a clipped sum of `steps` out of ηΓ; `None` if a report has bins.
    #[must_use]
    pub fn plus_probability(&self, steps: i32) -> Option<f64> {
        match self.kind {
            Kind::TwoPoint { bound, clip } => {
                let magnitude = steps.unsigned_abs().min(clip);
                let lean = Self::excess_over_half(&bound, magnitude, clip) as f64 / TWO_64;
                Some(if steps < 0 { 0.5 - lean } else { 0.5 + lean })
            }
            Kind::Laplace { .. } => None,
        }
    }
}

/// Unit of thresholds: 2⁶⁴.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;
