//! Realised ε of hash-bin's reports, and the range of the bins.

use super::response_distribution::{EPSILON_FRACTION_BITS, ResponseDistribution, ResponseKind};
use crate::sample::{DiscreteLaplace, WeightAndCount, privacy_loss_of_ratio};

impl ResponseDistribution {
    /// Realised local ε. The result is rounded up, and never above the requested ε. The guarantee
    /// applies to the pairs of inputs that the [level](super::PrivacyLevel) covers. If the
    /// [realised δ](super::HashBin::realised_delta) is above 0, the guarantee is (ε, δ).
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        match self.response_kind {
            ResponseKind::TwoPoint { bound, clip } => {
                // The sums η and −η have the most different sign probabilities: 1/2 ± `lean`.
                const HALF_PROBABILITY: u128 = 1 << 63;
                let lean = u128::from(Self::plus_probability_excess(&bound, clip, clip));
                privacy_loss_of_ratio(
                    WeightAndCount(HALF_PROBABILITY + lean, 1),
                    WeightAndCount(HALF_PROBABILITY - lean, 1),
                    self.epsilon,
                )
            }
            // The rate of the noise times the sensitivity Δ is ε rounded down to a multiple of
            // 2⁻²⁴. So the loss is this number exactly.
            ResponseKind::Laplace { .. } => {
                let unit = f64::from(1 << EPSILON_FRACTION_BITS);
                libm::trunc(self.epsilon * unit) / unit
            }
        }
    }

    /// Maximum absolute value of a noisy bin, in steps of the grid. `None` if the response is one
    /// sign.
    ///
    /// Noisy bins are clipped to this limit, which costs no privacy. Clipping changes a report with
    /// a probability below b·2⁻⁶³, where b is the number of bins. In an open domain this holds for
    /// reports of at most 4096 entries. The limit prevents forged reports from dominating the
    /// estimate.
    #[must_use]
    pub const fn noisy_bin_limit(&self) -> Option<i64> {
        match self.response_kind {
            ResponseKind::TwoPoint { .. } => None,
            ResponseKind::Laplace { limit, .. } => Some(limit),
        }
    }

    /// Noise that is added to each bin. `None` if the response is one sign.
    #[must_use]
    pub const fn laplace_noise(&self) -> Option<DiscreteLaplace> {
        match self.response_kind {
            ResponseKind::TwoPoint { .. } => None,
            ResponseKind::Laplace { noise, .. } => Some(noise),
        }
    }

    /// Probability of a plus sign in response to a sum of `steps` steps of the grid. The sum is
    /// clipped first. `None` if the response consists of bins.
    #[must_use]
    pub fn plus_probability(&self, steps: i32) -> Option<f64> {
        match self.response_kind {
            ResponseKind::TwoPoint { bound, clip } => {
                let magnitude = steps.unsigned_abs().min(clip);
                let lean =
                    Self::plus_probability_excess(&bound, magnitude, clip) as f64 / TWO_POW_64;
                Some(if steps < 0 { 0.5 - lean } else { 0.5 + lean })
            }
            ResponseKind::Laplace { .. } => None,
        }
    }
}

/// Number of possible 64-bit words, 2⁶⁴. Thresholds are in units of 2⁻⁶⁴.
const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;
