//! OLH over signed elements: local hashing of pairs (item, sign).

use hushbin::Error;
use hushbin::hash::HashKeys;
use rand_core::CryptoRng;

use super::one_sparse::OneSparseOracle;
use super::rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::{Slot, draw_binomial, sign_value};
use crate::competitors::choice::{LocalHash, SupportProbabilities};
use crate::competitors::numbers::randomly_rounds_up;

/// OLH (T. Wang, Blocki, Li, Jha, "Locally Differentially Private Protocols for Frequency
/// Estimation", USENIX Security 2017) over the elements (item, sign) and s dummies, by
/// [`LocalHash`] with g = max(2, round(e + 1)) buckets, where e = exp(ε). An answer supports its
/// own element with probability p = e/(e + g − 1), and any other element with probability q = 1/g.
///
/// ```
/// use hushbin_study::competitors::ratings::{OneSparseOracle, OracleSetting, SignedItemHashOracle};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let hash = SignedItemHashOracle::new(&setting)?;
/// assert_eq!((hash.local_hash().bucket_count(), hash.answer_bits()), (4, 66.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedItemHashOracle {
    item_count: u32,
    local_hash: LocalHash,
}

impl SignedItemHashOracle {
    /// Local hashing over elements: 2j is item j with +, and 2j + 1 is item j with −. Dummies
    /// follow, with two elements for each dummy.
    #[must_use]
    pub const fn local_hash(&self) -> &LocalHash {
        &self.local_hash
    }
}

impl OneSparseOracle for SignedItemHashOracle {
    /// Creates the oracle for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`]. [`Error::OutOfRange`] if 2(d + s) is outside
    /// [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE).
    fn new(setting: &OracleSetting) -> Result<Self, Error> {
        let budget = setting.budget_ignoring_delta()?;
        // OLH's variance is least at e + 1 buckets.
        let buckets = (budget.exp_epsilon() + 1.0).round().max(2.0) as u32;
        let elements = 2 * (setting.item_count + setting.sparsity);
        Ok(Self {
            item_count: setting.item_count,
            local_hash: LocalHash::new(elements, buckets, &budget)?,
        })
    }

    fn privacy_loss(&self) -> f64 {
        self.local_hash.privacy_loss()
    }

    /// Length of an answer: a seed of 64 bits, and a bucket.
    fn answer_bits(&self) -> f64 {
        64.0 + f64::from(self.local_hash.bucket_count()).log2().ceil()
    }

    fn linear_estimator(&self) -> LinearEstimator {
        let SupportProbabilities {
            own_answer_probability: p,
            other_answer_probability: q,
        } = self.local_hash.support_probabilities();
        let scale = 1.0 / (p - q);
        LinearEstimator {
            mean_factor: scale,
            presence_factor_and_offset: Some([scale, 2.0 * q]),
        }
    }

    /// Second moments of one answer's estimates. Whether an answer supports (item, +) is
    /// independent of whether it supports (item, −). The sum and the difference of the estimates
    /// for these two elements therefore have the same variance. The covariance of sum and
    /// difference is the difference of the two estimates' variances.
    fn second_moments(&self) -> EstimateMoments {
        let rates = self.local_hash.support_probabilities();
        let [own, other] = [true, false].map(|own| rates.single_report_variance(own));
        EstimateMoments {
            // A person with the item at 1 has mean 1, which adds 1 to the mean square and the
            // product.
            mean_square: [own + other + 1.0, 2.0 * other],
            presence_moments: Some(PresenceMoments {
                frequency_estimate_variances: [own + other, 2.0 * other],
                frequency_mean_cross_moment: own - other + 1.0,
            }),
        }
    }

    fn element_domain_size(&self) -> usize {
        2 * self.item_count as usize
    }

    fn draw_answer_into_sums(
        &self,
        slot: Slot<'_>,
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let element = match slot {
            Slot::Entry(entry) => {
                2 * entry.item as u32 + u32::from(!randomly_rounds_up(entry.value, rng))
            }
            Slot::Dummy(dummy) => 2 * (self.item_count + dummy),
        };
        let report = self.local_hash.randomize(element, rng);
        let report = report.expect("there are items and dummies below d + s");
        let keys = HashKeys::new(report.seed);
        for item in 0..self.item_count {
            for (element, sign) in [(2 * item, 1.0), (2 * item + 1, -1.0)] {
                if self.local_hash.hashed_bucket(&keys, element) == report.bucket {
                    sums.presence_counts[item as usize] += 1.0;
                    sums.sign_sums[item as usize] += sign;
                }
            }
        }
    }

    fn draw_own_element_support(
        &self,
        slot: Slot<'_>,
        sums: &mut ReportSums,
        own: &mut [u64],
        rng: &mut dyn CryptoRng,
    ) {
        let Slot::Entry(entry) = slot else { return };
        let (item, up) = (entry.item as usize, randomly_rounds_up(entry.value, rng));
        own[2 * item + usize::from(!up)] += 1;
        if self.local_hash.draw_own_answer_support(rng) {
            sums.presence_counts[item] += 1.0;
            sums.sign_sums[item] += sign_value(up);
        }
    }

    fn draw_other_element_supports(
        &self,
        answers: u64,
        own: &[u64],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let q = self
            .local_hash
            .support_probabilities()
            .other_answer_probability;
        for item in 0..self.item_count as usize {
            for (own, sign) in [(own[2 * item], 1.0), (own[2 * item + 1], -1.0)] {
                // Under ideal hashing, the buckets of elements are independent. Any other element
                // then falls into the reported bucket with probability 1/g, independently of
                // everything else. No deviation of the real hash function from this can be
                // measured. So the number of hits of an element is binomial, over the answers whose
                // own element is a different one.
                let hits = draw_binomial(answers - own, q, rng) as f64;
                sums.presence_counts[item] += hits;
                sums.sign_sums[item] += sign * hits;
            }
        }
    }
}
