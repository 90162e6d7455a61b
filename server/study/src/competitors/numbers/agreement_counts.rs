//! Numbers of sign vectors that agree with a given sign vector in at least κ of d coordinates. The
//! scale of Mechanism-1's estimates follows from these numbers.

use hushbin::Error;
use hushbin::bounds::ParameterRange;

use super::input::ATTRIBUTE_COUNT_RANGE;
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::FavouredSetSizes;

/// Numbers of vectors in {−1, 1}^d that agree with a given vector in exactly `a` coordinates, and
/// in at least `a` coordinates, for each `a` up to d. The numbers are doubles, exact up to 2⁵³.
#[derive(Debug, Clone)]
pub(crate) struct AgreementCounts {
    attribute_count: u32,
    /// Binomial coefficients C(d, a), for each `a` from 0 to d.
    binomials: Vec<f64>,
    /// Tail sums: for each `a` from 0 to d + 1, the sum of C(d, b) over b ≥ a.
    binomial_tail_sums: Vec<f64>,
}

impl AgreementCounts {
    pub(crate) fn new(attributes: u32) -> Result<Self, Error> {
        ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(attributes))?;
        let mut binomials = vec![1.0];
        for a in 0..attributes {
            // C(d, a + 1) = C(d, a)·(d − a)/(a + 1).
            let next = binomials[a as usize] * f64::from(attributes - a) / f64::from(a + 1);
            binomials.push(next);
        }
        let mut tail_sums = vec![0.0];
        for own in binomials.iter().rev() {
            tail_sums.push(own + tail_sums[tail_sums.len() - 1]);
        }
        tail_sums.reverse();
        Ok(Self {
            attribute_count: attributes,
            binomials,
            binomial_tail_sums: tail_sums,
        })
    }

    /// Returns the sizes N₊, N₋ and O of [`FavouredSetSizes`] for a threshold κ from 1 to d.
    ///
    /// An input that is a sign vector favours the vectors that agree with it in at least κ
    /// coordinates. The favoured sets of two inputs differ most if the inputs are opposite. A
    /// vector that agrees with an input in a coordinates agrees with the opposite input in d − a.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if κ is out of range.
    pub(crate) fn favoured_set_sizes(&self, threshold: u32) -> Result<FavouredSetSizes, Error> {
        ParameterRange {
            name: "threshold",
            min: 1.0,
            max: f64::from(self.attribute_count),
        }
        .check_in_range(f64::from(threshold))?;
        // Vectors that one input favours and the opposite input does not: a ≥ κ and d − a < κ.
        let opposite = threshold.max(self.attribute_count - threshold + 1);
        Ok(FavouredSetSizes {
            favoured_count: self.binomial_tail_sums[threshold as usize],
            // By symmetry, as many vectors agree in fewer than κ coordinates as agree in more than
            // d − κ.
            unfavoured_count: self.binomial_tail_sums
                [(self.attribute_count - threshold + 1) as usize],
            distinguishing_count: self.binomial_tail_sums[opposite as usize],
            max_rounding_error_count: self.max_rounding_error_count(),
        })
    }

    /// Upper bound on the number of rounding errors that N₊, N₋ and O contain. Each of these
    /// numbers is a sum of up to d binomial coefficients. Computing a coefficient takes d steps of
    /// at most two roundings. Up to d = 50 no intermediate product is above 2⁵³, so nothing is
    /// rounded.
    const fn max_rounding_error_count(&self) -> u32 {
        if self.attribute_count <= 50 {
            0
        } else {
            9 * self.attribute_count
        }
    }

    /// Returns C(d − 1, κ − 1), where κ is `threshold`. In any one coordinate, this is the number
    /// of favoured vectors with the input's sign minus the number of favoured vectors with the
    /// opposite sign. It is Σ C(d − 1, a − 1) − C(d − 1, a) over a ≥ κ. Among vectors that are not
    /// favoured, the difference has the same magnitude and is negative.
    pub(crate) fn matching_sign_vector_surplus(&self, threshold: u32) -> f64 {
        // C(d − 1, κ − 1) = (κ/d)·C(d, κ).
        f64::from(threshold) / f64::from(self.attribute_count) * self.binomials[threshold as usize]
    }

    /// Returns the scale B of the estimates: the estimate of a value is B times the reported sign.
    /// B = 1/[(α/N₊ − (1 − α)/N₋)·C(d − 1, κ − 1)], where α = `inside` is the probability of a
    /// favoured vector, and `outside` is 1 − α.
    pub(crate) fn estimate_scale(
        &self,
        threshold: u32,
        sets: &FavouredSetSizes,
        inside: f64,
        outside: f64,
    ) -> f64 {
        let more = self.matching_sign_vector_surplus(threshold);
        let gap = inside * (more / sets.favoured_count) - outside * (more / sets.unfavoured_count);
        1.0 / gap
    }

    /// Returns the scale B of the estimates for a threshold κ. The probability of a favoured vector
    /// is the greatest that the budget allows.
    ///
    /// # Errors
    /// Same errors as [`AgreementCounts::favoured_set_sizes`].
    pub(crate) fn scale_at_threshold(&self, threshold: u32, budget: &Budget) -> Result<f64, Error> {
        let sets = self.favoured_set_sizes(threshold)?;
        let (inside, outside) = (
            sets.favoured_probability(budget),
            sets.unfavoured_probability(budget),
        );
        Ok(self.estimate_scale(threshold, &sets, inside, outside))
    }

    /// Returns the threshold κ with the least scale B of the estimates under the budget, and this
    /// B.
    pub(crate) fn best_threshold(&self, budget: &Budget) -> (u32, f64) {
        let scale = |threshold| {
            let scale = self.scale_at_threshold(threshold, budget);
            (threshold, scale.expect("1 to d are in range"))
        };
        (1..=self.attribute_count)
            .map(scale)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there is at least one attribute")
    }
}
