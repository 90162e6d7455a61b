//! Mechanism-2: draws k of d attributes and reports each of them by [`TwoPointMechanism`].

use hushbin::Error;
use hushbin::bounds::{EPSILON_RANGE, ParameterRange};
use hushbin::sample::move_random_subset_to_front;
use rand_core::CryptoRng;
use statrs::function::factorial::ln_binomial;

use super::input::{self, ATTRIBUTE_COUNT_RANGE};
use super::two_points::TwoPointMechanism;
use crate::competitors::budget::{Budget, hockey_stick_divergence};

/// Divisor of ε in the paper's number of drawn attributes, ⌊ε/2.17⌋. It is near the minimum of
/// ε·((exp(ε) + 1)/(exp(ε) − 1))² over ε, which is the best ε for one attribute.
pub const EPSILON_PER_DRAWN_ATTRIBUTE: f64 = 2.17;

/// Mechanism-2 of the paper: k of the d attributes are drawn uniformly. Each drawn attribute is
/// reported by [`TwoPointMechanism`] at (ε/k, δ/k). Estimates are multiplied by d/k.
///
/// ```
/// use hushbin_study::competitors::SampledTwoPointMechanism;
///
/// // The printed floor is not always best.
/// let printed = SampledTwoPointMechanism::new(10, 8.0, 1e-6)?;
/// let best = SampledTwoPointMechanism::with_least_variance(10, 8.0, 1e-6)?;
/// assert_eq!((printed.drawn_count(), best.drawn_count()), (3, 4));
/// assert!(best.single_report_variance(0.0) < printed.single_report_variance(0.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledTwoPointMechanism {
    attribute_count: u32,
    drawn_count: u32,
    attribute_mechanism: TwoPointMechanism,
}

impl SampledTwoPointMechanism {
    /// Returns the mechanism with the paper's k = max(1, min(d, ⌊ε/2.17⌋)).
    ///
    /// # Errors
    /// Same errors as [`SampledTwoPointMechanism::with_drawn_count`].
    pub fn new(attributes: u32, epsilon: f64, delta: f64) -> Result<Self, Error> {
        let answered = (epsilon / EPSILON_PER_DRAWN_ATTRIBUTE).floor().max(1.0) as u32;
        let answered = answered.min(attributes.max(1));
        Self::with_drawn_count(attributes, answered, epsilon, delta)
    }

    /// Returns the mechanism with the k for which the variance is least, among all k with ε/k in
    /// [`EPSILON_RANGE`].
    ///
    /// # Errors
    /// Same errors as [`SampledTwoPointMechanism::with_drawn_count`].
    pub fn with_least_variance(attributes: u32, epsilon: f64, delta: f64) -> Result<Self, Error> {
        // Smallest k for which ε/k is not above the range of ε.
        let least = ((epsilon / EPSILON_RANGE.max).ceil().max(1.0) as u32).min(attributes.max(1));
        let mut best = Self::with_drawn_count(attributes, least, epsilon, delta)?;
        let more = least + 1..=attributes;
        let more = more.take_while(|k| EPSILON_RANGE.contains(epsilon / f64::from(*k)));
        for answered in more {
            let other = Self::with_drawn_count(attributes, answered, epsilon, delta)?;
            if other.single_report_variance(0.0) < best.single_report_variance(0.0) {
                best = other;
            }
        }
        Ok(best)
    }

    /// Returns the mechanism that draws k = `answered` of the d `attributes`, with k from 1 to d.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d is outside [`ATTRIBUTE_COUNT_RANGE`], k is outside 1 to d, ε/k is outside
    /// [`EPSILON_RANGE`], or δ/k is outside [`DELTA_RANGE`](crate::competitors::DELTA_RANGE).
    pub fn with_drawn_count(
        attributes: u32,
        answered: u32,
        epsilon: f64,
        delta: f64,
    ) -> Result<Self, Error> {
        ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(attributes))?;
        ParameterRange {
            name: "answered",
            min: 1.0,
            max: f64::from(attributes),
        }
        .check_in_range(f64::from(answered))?;
        let parts = f64::from(answered);
        let each = Budget::new(epsilon / parts, delta / parts)?;
        Ok(Self {
            attribute_count: attributes,
            drawn_count: answered,
            attribute_mechanism: TwoPointMechanism::new(&each),
        })
    }

    /// Number of attributes, d.
    #[must_use]
    pub const fn attribute_count(&self) -> u32 {
        self.attribute_count
    }

    /// Number k of attributes that are drawn for a report.
    #[must_use]
    pub const fn drawn_count(&self) -> u32 {
        self.drawn_count
    }

    /// Scale (d/k)·A, where A is the scale of [`TwoPointMechanism`]. The estimate of a drawn attribute is
    /// this scale times the reported sign.
    #[must_use]
    pub fn estimate_scale(&self) -> f64 {
        f64::from(self.attribute_count) / f64::from(self.drawn_count)
            * self.attribute_mechanism.estimate_scale()
    }

    /// Variance of one report's estimate of an attribute with value x: (d/k)·A² − x², where A is
    /// the scale of [`TwoPointMechanism`].
    #[must_use]
    pub fn single_report_variance(&self, value: f64) -> f64 {
        self.estimate_scale() * self.attribute_mechanism.estimate_scale() - value * value
    }

    /// Returns δ at ε for the worst pair of inputs, which are opposite vectors of ±1.
    ///
    /// All k drawn attributes then differ, whichever are drawn. The number of reported signs that
    /// equal the first input's signs is a sufficient statistic. The result is at most k times the δ
    /// of one attribute.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let k = self.drawn_count;
        let [own, other] =
            [1.0, -1.0].map(|value| self.attribute_mechanism.plus_probability(value).ln());
        let outcome = |kept: u32| {
            let ways = ln_binomial(k.into(), kept.into());
            let (a, b) = (f64::from(kept), f64::from(k - kept));
            let p = (ways + a * own + b * other).exp();
            (p, (ways + a * other + b * own).exp())
        };
        hockey_stick_divergence((0..=k).map(outcome), epsilon)
    }

    /// Returns the estimated mean of an attribute. `signs` is the sum of its reported signs.
    /// `reports` is the number of all reports, including those that did not draw the attribute.
    #[must_use]
    pub fn estimate_mean(&self, signs: i64, reports: u64) -> f64 {
        self.estimate_scale() * signs as f64 / reports as f64
    }

    /// Draws a report for d numbers in [−1, 1]: k attributes, numbered from 0 to d − 1, each with a
    /// sign, true for +.
    ///
    /// # Errors
    /// [`Error::WrongAnswerCount`] if there are not d numbers. [`Error::ValueOutOfRange`] if a number is out
    /// of range or NaN.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        values: &[f64],
        rng: &mut R,
    ) -> Result<Vec<(u32, bool)>, Error> {
        input::check_values(values, self.attribute_count)?;
        let mut drawn: Vec<u32> = (0..self.attribute_count).collect();
        move_random_subset_to_front(rng, &mut drawn, self.drawn_count as usize);
        drawn.truncate(self.drawn_count as usize);
        let mut randomize_unchecked = |attribute: u32| {
            (
                attribute,
                self.attribute_mechanism
                    .randomize_unchecked(values[attribute as usize], rng),
            )
        };
        Ok(drawn.into_iter().map(&mut randomize_unchecked).collect())
    }
}
