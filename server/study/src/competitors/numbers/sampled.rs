//! Mechanism-2: k of d attributes, by two points each.

use hushbin::Error;
use hushbin::bounds::{Bound, EPSILON};
use hushbin::sample::choose_front;
use rand_core::CryptoRng;
use statrs::function::factorial::ln_binomial;

use super::input::{self, ATTRIBUTES};
use super::two_points::TwoPoints;
use crate::competitors::budget::{Budget, hockey_stick};

/// What the paper divides ε by for the number of attributes: about the ε of one at
/// which ε·((e + 1)/(e − 1))² is least.
pub const ANSWERED_EPSILON: f64 = 2.17;

/// Mechanism-2 of the paper: k of the d attributes, drawn uniformly, each by
/// [`TwoPoints`] at (ε/k, δ/k); estimates are scaled by d/k.
///
/// ```
/// use hushbin_study::competitors::SampledTwoPoints;
///
/// // The printed floor is not always best.
/// let printed = SampledTwoPoints::new(10, 8.0, 1e-6)?;
/// let best = SampledTwoPoints::best(10, 8.0, 1e-6)?;
/// assert_eq!((printed.answered(), best.answered()), (3, 4));
/// assert!(best.variance(0.0) < printed.variance(0.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledTwoPoints {
    attributes: u32,
    answered: u32,
    each: TwoPoints,
}

impl SampledTwoPoints {
    /// With the paper's k = max(1, min(d, ⌊ε/2.17⌋)).
    ///
    /// # Errors
    /// As [`SampledTwoPoints::with_answered`].
    pub fn new(attributes: u32, epsilon: f64, delta: f64) -> Result<Self, Error> {
        let answered = (epsilon / ANSWERED_EPSILON).floor().max(1.0) as u32;
        let answered = answered.min(attributes.max(1));
        Self::with_answered(attributes, answered, epsilon, delta)
    }

    /// With the k of least variance, of those that ε/k is in range with.
    ///
    /// # Errors
    /// As [`SampledTwoPoints::with_answered`].
    pub fn best(attributes: u32, epsilon: f64, delta: f64) -> Result<Self, Error> {
        let least = ((epsilon / EPSILON.max).ceil().max(1.0) as u32).min(attributes.max(1));
        let mut best = Self::with_answered(attributes, least, epsilon, delta)?;
        let more = least + 1..=attributes;
        let more = more.take_while(|k| EPSILON.holds(epsilon / f64::from(*k)));
        for answered in more {
            let other = Self::with_answered(attributes, answered, epsilon, delta)?;
            if other.variance(0.0) < best.variance(0.0) {
                best = other;
            }
        }
        Ok(best)
    }

    /// With k `answered` attributes, 1 to d.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where d is outside [`ATTRIBUTES`], k outside 1 to d, ε/k
    /// outside [`EPSILON`] or δ/k outside [`DELTA`](crate::competitors::DELTA).
    pub fn with_answered(
        attributes: u32,
        answered: u32,
        epsilon: f64,
        delta: f64,
    ) -> Result<Self, Error> {
        ATTRIBUTES.check(f64::from(attributes))?;
        Bound {
            name: "answered",
            min: 1.0,
            max: f64::from(attributes),
        }
        .check(f64::from(answered))?;
        let parts = f64::from(answered);
        let each = Budget::new(epsilon / parts, delta / parts)?;
        Ok(Self {
            attributes,
            answered,
            each: TwoPoints::new(&each),
        })
    }

    /// d.
    #[must_use]
    pub const fn attributes(&self) -> u32 {
        self.attributes
    }

    /// k.
    #[must_use]
    pub const fn answered(&self) -> u32 {
        self.answered
    }

    /// (d/k)·A: the estimate of an attribute that was drawn is as often its sign.
    #[must_use]
    pub fn scale(&self) -> f64 {
        f64::from(self.attributes) / f64::from(self.answered) * self.each.scale()
    }

    /// Variance of one report's estimate of an attribute whose value is x, (d/k)·A² − x².
    #[must_use]
    pub fn variance(&self, value: f64) -> f64 {
        self.scale() * self.each.scale() - value * value
    }

    /// δ at an ε, of the worst inputs, which are opposite corners: k attributes differ, whichever
    /// are drawn, and how many signs are their own says all. At most what the sum of k parts is.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let k = self.answered;
        let [own, other] = [1.0, -1.0].map(|value| self.each.plus(value).ln());
        let outcome = |kept: u32| {
            let ways = ln_binomial(k.into(), kept.into());
            let (a, b) = (f64::from(kept), f64::from(k - kept));
            let p = (ways + a * own + b * other).exp();
            (p, (ways + a * other + b * own).exp())
        };
        hockey_stick((0..=k).map(outcome), epsilon)
    }

    /// The mean of an attribute, from the sum of the signs reported of it and the number
    /// of all reports.
    #[must_use]
    pub fn estimate(&self, signs: i64, reports: u64) -> f64 {
        self.scale() * signs as f64 / reports as f64
    }

    /// A report of d numbers in [−1, 1]: k attributes, from 0 to d − 1, with a sign each,
    /// true for +.
    ///
    /// # Errors
    /// [`Error::AnswerCount`] where there are not d, [`Error::ValueRange`] where one is
    /// out of range or not a number.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        values: &[f64],
        rng: &mut R,
    ) -> Result<Vec<(u32, bool)>, Error> {
        input::check(values, self.attributes)?;
        let mut drawn: Vec<u32> = (0..self.attributes).collect();
        choose_front(rng, &mut drawn, self.answered as usize);
        drawn.truncate(self.answered as usize);
        let mut respond = |attribute: u32| {
            (
                attribute,
                self.each.respond(values[attribute as usize], rng),
            )
        };
        Ok(drawn.into_iter().map(&mut respond).collect())
    }
}
