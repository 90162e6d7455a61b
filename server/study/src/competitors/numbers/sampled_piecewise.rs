//! Mechanism that draws k of d attributes and reports each of them by a mechanism for one number.

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;

use super::hybrid_three_piecewise::HybridThreeOutputPiecewise;
use super::input::ATTRIBUTE_COUNT_RANGE;
use super::piecewise::hybrid_variance;
use super::search::maximum_of_quadratic;
use super::sliding_piecewise::PiecewiseMechanism;

/// Mechanism for one number, used for each drawn attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleNumberMechanismKind {
    /// Piecewise mechanism PM, with the published width of its favoured interval.
    Piecewise,
    /// Piecewise mechanism whose favoured interval has the best width.
    BestWidthPiecewise,
    /// Hybrid mechanism HM ([`hybrid_variance`]).
    Hybrid,
    /// Mixture HM-TP ([`HybridThreeOutputPiecewise`]).
    HybridThreeOutputPiecewise,
}

/// Mechanism for one number, with its parameters for the budget ε/k of a drawn attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BudgetedMechanism {
    PiecewiseMechanism(PiecewiseMechanism),
    Hybrid(f64),
    HybridThreeOutputPiecewise(HybridThreeOutputPiecewise),
}

/// Mechanism of N. Wang et al. (ICDE 2019, Algorithm 4) for d attributes. It draws k attributes,
/// and reports each drawn attribute by a mechanism for one number at ε/k. Estimates are multiplied
/// by d/k.
///
/// ```
/// use hushbin_study::competitors::{SingleNumberMechanismKind, SampledNumberMechanism};
///
/// let published = SampledNumberMechanism::new(2, SingleNumberMechanismKind::Hybrid, 4.0)?;
/// let best = SampledNumberMechanism::with_least_variance(2, SingleNumberMechanismKind::Hybrid, 4.0)?;
/// assert_eq!((published.drawn_count(), best.drawn_count()), (1, 2));
/// assert!(best.worst_variance() < published.worst_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledNumberMechanism {
    attribute_count: u32,
    drawn_count: u32,
    attribute_mechanism: BudgetedMechanism,
}

/// Divisor of ε in the paper's number of drawn attributes, ⌊ε/2.5⌋.
const EPSILON_PER_DRAWN_ATTRIBUTE: f64 = 2.5;
/// Minimum ε/k that the search tries. Below this minimum, the hybrid mechanism is only
/// [`TwoPointMechanism`](super::TwoPointMechanism).
const MIN_TRIED_ATTRIBUTE_EPSILON: f64 = 0.6;

impl SampledNumberMechanism {
    /// Returns the mechanism with the paper's k = max(1, min(d, ⌊ε/2.5⌋)).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d is outside [`ATTRIBUTE_COUNT_RANGE`], or ε or ε/k is outside [`EPSILON_RANGE`].
    pub fn new(
        attributes: u32,
        part: SingleNumberMechanismKind,
        epsilon: f64,
    ) -> Result<Self, Error> {
        ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(attributes))?;
        EPSILON_RANGE.check_in_range(epsilon)?;
        let answered = ((epsilon / EPSILON_PER_DRAWN_ATTRIBUTE) as u32).clamp(1, attributes);
        Self::with_drawn_count(attributes, answered, part, epsilon)
    }

    /// Returns the mechanism with the k for which the worst-case variance is least.
    ///
    /// # Errors
    /// Same errors as [`SampledNumberMechanism::new`].
    pub fn with_least_variance(
        attributes: u32,
        part: SingleNumberMechanismKind,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let mut best = Self::new(attributes, part, epsilon)?;
        let most = ((epsilon / MIN_TRIED_ATTRIBUTE_EPSILON) as u32).clamp(1, attributes);
        for answered in 1..=most {
            let other = Self::with_drawn_count(attributes, answered, part, epsilon)?;
            if other.worst_variance() < best.worst_variance() {
                best = other;
            }
        }
        Ok(best)
    }

    fn with_drawn_count(
        attributes: u32,
        answered: u32,
        part: SingleNumberMechanismKind,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let each = epsilon / f64::from(answered);
        EPSILON_RANGE.check_in_range(each)?;
        let one = match part {
            SingleNumberMechanismKind::Piecewise => BudgetedMechanism::PiecewiseMechanism(
                PiecewiseMechanism::with_published_width(each)?,
            ),
            SingleNumberMechanismKind::BestWidthPiecewise => BudgetedMechanism::PiecewiseMechanism(
                PiecewiseMechanism::with_least_variance(each)?,
            ),
            SingleNumberMechanismKind::Hybrid => BudgetedMechanism::Hybrid(each),
            SingleNumberMechanismKind::HybridThreeOutputPiecewise => {
                BudgetedMechanism::HybridThreeOutputPiecewise(
                    HybridThreeOutputPiecewise::with_least_variance(each)?,
                )
            }
        };
        Ok(Self {
            attribute_count: attributes,
            drawn_count: answered,
            attribute_mechanism: one,
        })
    }

    /// Number k of attributes that are drawn for a report.
    #[must_use]
    pub const fn drawn_count(&self) -> u32 {
        self.drawn_count
    }

    /// Variance of one report's estimate of an attribute with value x: (d/k)·E\[y²\] − x². Here y
    /// is the estimate of x by the mechanism for one number.
    #[must_use]
    pub fn single_report_variance(&self, value: f64) -> f64 {
        let times = f64::from(self.attribute_count) / f64::from(self.drawn_count);
        let own = match &self.attribute_mechanism {
            BudgetedMechanism::PiecewiseMechanism(own) => own.variance(value),
            BudgetedMechanism::Hybrid(each) => {
                hybrid_variance(value, *each).expect("the budget was checked")
            }
            BudgetedMechanism::HybridThreeOutputPiecewise(own) => own.variance(value),
        };
        // `own` is the variance of y, so E[y²] is `own` + x².
        times * (own + value * value) - value * value
    }

    /// Maximum of [`single_report_variance`](Self::single_report_variance) over all values in [−1, 1].
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        maximum_of_quadratic(|value| self.single_report_variance(value))
    }
}
