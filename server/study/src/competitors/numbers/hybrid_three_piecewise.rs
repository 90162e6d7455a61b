//! HM-TP: each report uses either Three-Outputs or a piecewise mechanism, chosen at random.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

use super::search::{golden_section_argmin, maximum_of_quadratic};
use super::sliding_piecewise::PiecewiseMechanism;
use super::three_outputs::ThreeOutputMechanism;

/// HM-TP (Y. Zhao et al., IEEE Internet of Things Journal, 2020). Three parameters minimise the
/// worst-case variance: the mixing probability, the width of the piecewise mechanism, and the
/// probability `a` of the output 0 of [`ThreeOutputMechanism`].
///
/// ```
/// use hushbin_study::competitors::{HybridThreeOutputPiecewise, PiecewiseMechanism, ThreeOutputMechanism};
///
/// let mixed = HybridThreeOutputPiecewise::with_least_variance(2.0)?;
/// assert!(mixed.worst_variance() < ThreeOutputMechanism::with_least_variance(2.0)?.worst_variance());
/// assert!(mixed.worst_variance() < PiecewiseMechanism::with_least_variance(2.0)?.worst_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridThreeOutputPiecewise {
    piecewise_probability: f64,
    piecewise_mechanism: PiecewiseMechanism,
    three_output_mechanism: ThreeOutputMechanism,
}

impl HybridThreeOutputPiecewise {
    /// Returns the mixture with the least worst-case variance at ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn with_least_variance(epsilon: f64) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        let most = ThreeOutputMechanism::max_zero_output_probability(epsilon);
        let of = |middle: f64, logarithm: f64| {
            let own = Self {
                piecewise_probability: 0.0,
                piecewise_mechanism: PiecewiseMechanism::with_relative_width(
                    logarithm.exp(),
                    epsilon,
                ),
                three_output_mechanism: ThreeOutputMechanism::with_zero_output_probability(
                    middle, epsilon,
                ),
            };
            // For given components, the mixing probability is optimised.
            let with = |part| Self {
                piecewise_probability: part,
                ..own
            };
            with(golden_section_argmin([0.0, 1.0], |part| {
                with(part).worst_variance()
            }))
        };
        let with_middle = |middle: f64| {
            let width = |logarithm| of(middle, logarithm).worst_variance();
            // Search interval for ln u, where u is the interval's width relative to half the range.
            // u is in (0, 2), and ln 2 = 0.69.
            of(middle, golden_section_argmin([-8.0, 0.6], width))
        };
        // There can be several local minima, so the search starts at the best point of a grid.
        let step = most / 24.0;
        let tried = (0..=24).map(|place| with_middle(f64::from(place) * step));
        let best = tried.min_by(|a, b| a.worst_variance().total_cmp(&b.worst_variance()));
        let best = best.expect("25 are tried");
        let [low, high] = [-step, step].map(|way| {
            (best.three_output_mechanism.zero_output_probability() + way).clamp(0.0, most)
        });
        let found = with_middle(golden_section_argmin([low, high], |a| {
            with_middle(a).worst_variance()
        }));
        Ok(if found.worst_variance() < best.worst_variance() {
            found
        } else {
            best
        })
    }

    /// Probability that a report uses the piecewise mechanism.
    #[must_use]
    pub const fn piecewise_probability(&self) -> f64 {
        self.piecewise_probability
    }

    /// Piecewise mechanism, which a report uses with probability
    /// [`piecewise_probability`](Self::piecewise_probability).
    #[must_use]
    pub const fn piecewise_mechanism(&self) -> PiecewiseMechanism {
        self.piecewise_mechanism
    }

    /// Three-Outputs mechanism, which the remaining reports use.
    #[must_use]
    pub const fn three_output_mechanism(&self) -> ThreeOutputMechanism {
        self.three_output_mechanism
    }

    /// Variance of one report's estimate of a number in [−1, 1].
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        let [own, other] = [
            self.piecewise_mechanism.variance(value),
            self.three_output_mechanism.variance(value),
        ];
        self.piecewise_probability * own + (1.0 - self.piecewise_probability) * other
    }

    /// Maximum of [`variance`](Self::variance) over all numbers in [−1, 1].
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        maximum_of_quadratic(|value| self.variance(value))
    }
}
