//! Exact distributions that hash-bin's responses are drawn from.

use super::parameters::HashBin;
use super::privacy_level::SumNoiseKind;
use crate::bounds;
use crate::sample::{DiscreteLaplace, ExpLowerBound};

/// Number of fraction bits of ε. Before noise is scaled, ε is rounded down to a multiple of 2⁻²⁴.
pub(super) const EPSILON_FRACTION_BITS: u32 = 24;
/// Multiple of the scale that the noise exceeds with a probability below 2⁻⁶⁴.
const NOISE_BOUND_SCALE_MULTIPLE: f64 = 45.0;

impl HashBin {
    /// Discrete Laplace noise of one bin, in steps of the grid. The rate is ε/Δ, where Δ is the
    /// sensitivity. This ε is rounded down to a multiple of 2⁻²⁴.
    fn laplace_noise(&self, epsilon: f64) -> DiscreteLaplace {
        // The numerator is below 2²⁸. So is Δ, by the bounds of its parts, and the denominator is
        // below 2⁵².
        let numerator = (epsilon * f64::from(1 << EPSILON_FRACTION_BITS)) as u64;
        DiscreteLaplace::new(numerator, self.sensitivity() << EPSILON_FRACTION_BITS)
    }

    /// Returns the distribution of responses at local ε. `items` is the number d of items, or
    /// `None` in an open domain.
    #[must_use]
    pub fn response_distribution(&self, items: Option<u32>, epsilon: f64) -> ResponseDistribution {
        let kind = match self.privacy_level().sum_noise_kind() {
            Some(SumNoiseKind::TwoPoint) => ResponseKind::TwoPoint {
                bound: ExpLowerBound::new(epsilon),
                clip: self.clipping_bound_steps().unwrap_or(0),
            },
            Some(SumNoiseKind::Laplace) | None => {
                let noise = self.laplace_noise(epsilon);
                let grid = f64::from(self.grid_steps());
                let sum = self
                    .privacy_level()
                    .clipping_bound()
                    .unwrap_or_else(|| likely_sum_bound(items));
                let limit =
                    libm::ceil(sum * grid) + libm::ceil(NOISE_BOUND_SCALE_MULTIPLE / noise.rate());
                ResponseKind::Laplace {
                    noise,
                    limit: limit as i64,
                }
            }
        };
        ResponseDistribution {
            response_kind: kind,
            epsilon,
        }
    }
}

/// Returns a bound that a bin's sum exceeds with a probability below 2⁻⁶⁴.
///
/// A sum of d values in [−1, 1] is at most d. By Hoeffding's inequality, a sum of d values with
/// fair signs exceeds 10·√d with a probability below 2·exp(−50). In an open domain the bound is for
/// 4096 entries, the maximum number.
fn likely_sum_bound(items: Option<u32>) -> f64 {
    let most = items.map_or(bounds::ENTRIES_PER_PERSON_RANGE.max, f64::from);
    most.min(10.0 * libm::sqrt(most))
}

/// Exact distribution of responses: an integer threshold or discrete noise.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::hash_bin::{DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel};
///
/// let hash_bin = HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, 4, DEFAULT_GRID_STEPS_PER_UNIT).unwrap();
/// let distribution = hash_bin.response_distribution(Some(40), 1.0);
/// assert!(distribution.laplace_noise().is_some() && distribution.effective_epsilon() <= 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResponseDistribution {
    pub(super) response_kind: ResponseKind,
    pub(super) epsilon: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResponseKind {
    TwoPoint {
        bound: ExpLowerBound,
        /// Clipping bound, in steps of the grid.
        clip: u32,
    },
    Laplace {
        noise: DiscreteLaplace,
        /// Maximum absolute value of a noisy bin, in steps of the grid.
        limit: i64,
    },
}

impl ResponseDistribution {
    /// Excess of P(plus) over 1/2, in units of 2⁻⁶⁴, for a sum of `steps` grid steps. The excess is
    /// floor(2⁶³·(e − 1)/(e + 1)·`steps`/`clip`), where e is the lower bound of exp(ε). So P(plus)
    /// and P(minus) are both rounded towards 1/2.
    pub(super) fn plus_probability_excess(bound: &ExpLowerBound, steps: u32, clip: u32) -> u64 {
        bound.sign_probability_difference(steps, clip) >> 1
    }
}
