//! Mechanism-1: reports a vector of signs that probably agrees with the person's signs in many
//! coordinates.
//!
//! Source: Algorithm 1 of the paper, after Duchi, Jordan, Wainwright (2018). Each number is rounded
//! to a sign without bias. A vector is favoured if it agrees with these signs in at least κ
//! coordinates. With probability α the report is uniform over the favoured vectors. Otherwise the
//! report is uniform over the remaining vectors. The paper's κ is ⌊d/2⌋ + 1, the strict majority of
//! the d coordinates. α and the scale B of the estimates differ from the printed ones: see
//! [`as_printed`](crate::competitors::as_printed).

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::agreement_counts::AgreementCounts;
use super::input;
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::FavouredSetSizes;

/// Allowed range of the expected number of vectors that rejection sampling draws for one report.
/// Parameters that need more draws are refused.
const EXPECTED_DRAW_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "vectors drawn for one",
    min: 1.0,
    max: (1_u32 << 20) as f64,
};

/// Mechanism-1, corrected, with d attributes and threshold κ.
///
/// ```
/// use hushbin_study::competitors::{Budget, MajorityMechanism};
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let paper = MajorityMechanism::new(4, &budget)?;
/// assert_eq!(paper.agreement_threshold(), 3);
/// assert!((paper.single_report_variance(0.0) - 22.76).abs() < 0.01);
/// assert!(paper.delta_at(1.0) == 0.0);
/// // For a large ε draft_agreement in more places is better.
/// let large = Budget::new(6.0, 0.0)?;
/// let [paper, best] = [MajorityMechanism::new(64, &large)?, MajorityMechanism::with_least_variance(64, &large)?];
/// assert!(best.agreement_threshold() == 41 && best.single_report_variance(0.0) < 0.2 * paper.single_report_variance(0.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MajorityMechanism {
    attribute_count: u32,
    agreement_threshold: u32,
    /// Numbers of favoured vectors and of remaining vectors, which determine the privacy.
    favoured_set_sizes: FavouredSetSizes,
    /// Probability α that the report is a favoured vector, rounded down to a threshold.
    favoured_threshold: Threshold,
    /// Scale B: the estimate of an attribute is B times the reported sign.
    estimate_scale: f64,
}

impl MajorityMechanism {
    /// Returns the mechanism with the paper's threshold, ⌊d/2⌋ + 1.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d is outside [`ATTRIBUTE_COUNT_RANGE`](super::ATTRIBUTE_COUNT_RANGE).
    pub fn new(attributes: u32, budget: &Budget) -> Result<Self, Error> {
        Self::with_agreement_threshold(attributes, attributes / 2 + 1, budget)
    }

    /// Returns the mechanism with the threshold κ for which the variance is least.
    ///
    /// # Errors
    /// Same errors as [`MajorityMechanism::with_agreement_threshold`].
    pub fn with_least_variance(attributes: u32, budget: &Budget) -> Result<Self, Error> {
        let (threshold, _) = AgreementCounts::new(attributes)?.best_threshold(budget);
        Self::with_agreement_threshold(attributes, threshold, budget)
    }

    /// Returns the mechanism with a threshold κ from 1 to d.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if d or κ is out of range, or if fewer than one vector in 2²⁰ is
    /// favoured or fewer than one in 2²⁰ is not.
    pub fn with_agreement_threshold(
        attributes: u32,
        threshold: u32,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let counts = AgreementCounts::new(attributes)?;
        let sets = counts.favoured_set_sizes(threshold)?;
        EXPECTED_DRAW_COUNT_RANGE.check_in_range(
            (sets.favoured_count + sets.unfavoured_count)
                / sets.favoured_count.min(sets.unfavoured_count),
        )?;
        let inside = sets.favoured_threshold(budget);
        let (p, q) = (inside.probability(), inside.false_probability());
        Ok(Self {
            attribute_count: attributes,
            agreement_threshold: threshold,
            favoured_set_sizes: sets,
            favoured_threshold: inside,
            estimate_scale: counts.estimate_scale(threshold, &sets, p, q),
        })
    }

    /// Number of attributes, d.
    #[must_use]
    pub const fn attribute_count(&self) -> u32 {
        self.attribute_count
    }

    /// Minimum number κ of coordinates in which a favoured vector agrees with the person's signs.
    #[must_use]
    pub const fn agreement_threshold(&self) -> u32 {
        self.agreement_threshold
    }

    /// Number of favoured vectors, N₊.
    #[must_use]
    pub const fn favoured_count(&self) -> f64 {
        self.favoured_set_sizes.favoured_count
    }

    /// Probability α that the report is a favoured vector. It is exact for the rounded threshold.
    #[must_use]
    pub fn favoured_probability(&self) -> f64 {
        self.favoured_threshold.probability()
    }

    /// Scale B: the estimate of an attribute is B times the reported sign.
    #[must_use]
    pub const fn estimate_scale(&self) -> f64 {
        self.estimate_scale
    }

    /// Variance B² − x² of one report's estimate of an attribute with value x, where B is
    /// [`estimate_scale`](Self::estimate_scale). It includes the rounding of x to a sign.
    #[must_use]
    pub fn single_report_variance(&self, value: f64) -> f64 {
        self.estimate_scale * self.estimate_scale - value * value
    }

    /// Returns δ at ε for the worst pair of inputs, which are opposite vectors of ±1.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        self.favoured_set_sizes
            .delta_at(self.favoured_threshold, epsilon)
    }

    /// Returns the estimated mean of an attribute, from the sum of its reported signs.
    #[must_use]
    pub fn estimate_mean(&self, signs: i64, reports: u64) -> f64 {
        self.estimate_scale * signs as f64 / reports as f64
    }

    /// Draws a report for d numbers in [−1, 1]: d signs, true for +. The time for rounding depends
    /// on the numbers. The time for drawing the vector does not.
    ///
    /// # Errors
    /// [`Error::WrongAnswerCount`] if there are not d numbers. [`Error::ValueOutOfRange`] if a number is out
    /// of range or NaN.
    pub fn randomize_to_signs<R: CryptoRng + ?Sized>(
        &self,
        values: &[f64],
        rng: &mut R,
    ) -> Result<Vec<bool>, Error> {
        input::check_values(values, self.attribute_count)?;
        let mut own = vec![0_u64; values.len().div_ceil(64)];
        for (place, &value) in values.iter().enumerate() {
            own[place / 64] |= u64::from(input::randomly_rounds_up(value, rng)) << (place % 64);
        }
        // Rejection sampling: draws uniform vectors until one is favoured if `inside`, or until one
        // is not favoured otherwise.
        let inside = self.favoured_threshold.draw_bool(rng);
        let mut signs = own.clone();
        loop {
            let mut apart = 0;
            for (index, (signs, own)) in signs.iter_mut().zip(&own).enumerate() {
                *signs = rng.next_u64();
                apart += ((*signs ^ own) & self.attribute_bits_of_word(index)).count_ones();
            }
            if (self.attribute_count - apart >= self.agreement_threshold) == inside {
                let sign = |place: usize| signs[place / 64] >> (place % 64) & 1 == 1;
                return Ok((0..values.len()).map(sign).collect());
            }
        }
    }

    /// Returns a mask of those bits in a vector's 64-bit word that belong to an attribute.
    const fn attribute_bits_of_word(&self, word: usize) -> u64 {
        match self.attribute_count - 64 * word as u32 {
            0..64 => (1 << (self.attribute_count % 64)) - 1,
            _ => u64::MAX,
        }
    }
}
