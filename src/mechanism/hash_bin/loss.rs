//! ε that a report of hash-bin really spends, and what it may say.

use super::sampling::{EPSILON_BITS, Kind, Sampling};
use crate::sample::{DiscreteLaplace, Factors, least_epsilon_covering};

impl Sampling {
    /// The realised local ε, rounded up, never above the requested: between
    /// [neighbours](super::Level), and but for
    /// [δ](super::HashBin::realised_delta).
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        match self.kind {
            Kind::TwoPoint { bound, clip } => {
                const HALF: u128 = 1 << 63;
                let lean = u128::from(Self::lean(&bound, clip, clip));
                least_epsilon_covering(
                    Factors(HALF + lean, 1),
                    Factors(HALF - lean, 1),
                    self.epsilon,
                )
            }
            // The rate times Δ: a dyadic number, so no rounding.
            Kind::Laplace { .. } => {
                let unit = f64::from(1 << EPSILON_BITS);
                libm::trunc(self.epsilon * unit) / unit
            }
        }
    }

    /// The greatest absolute value of a bin of a report, in steps of the grid; beyond it noise is
    /// cut off, which changes a report with a probability below b·2⁻⁶³ (in an open domain, one of
    /// at most 4096 entries), and costs no privacy. It keeps made-up reports from deciding
    /// everything. `None` where a report has no bins.
    #[must_use]
    pub const fn limit(&self) -> Option<i64> {
        match self.kind {
            Kind::TwoPoint { .. } => None,
            Kind::Laplace { limit, .. } => Some(limit),
        }
    }

    /// The noise of a bin; `None` where a report has no bins.
    #[must_use]
    pub const fn laplace(&self) -> Option<DiscreteLaplace> {
        match self.kind {
            Kind::TwoPoint { .. } => None,
            Kind::Laplace { noise, .. } => Some(noise),
        }
    }

    /// P(plus) of a clipped sum of `steps` out of ηΓ; `None` where a report has bins.
    #[must_use]
    pub fn plus_probability(&self, steps: i32) -> Option<f64> {
        match self.kind {
            Kind::TwoPoint { bound, clip } => {
                let magnitude = steps.unsigned_abs().min(clip);
                let lean = Self::lean(&bound, magnitude, clip) as f64 / TWO_64;
                Some(if steps < 0 { 0.5 - lean } else { 0.5 + lean })
            }
            Kind::Laplace { .. } => None,
        }
    }
}

/// 2⁶⁴.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;
