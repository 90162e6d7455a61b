//! Local hashing: randomised response on the bucket of an answer.

use hushbin::Error;
use hushbin::bounds::BUCKET_COUNT_RANGE;
use hushbin::hash::{HashKeys, independent_bucket};
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::randomized_response::RandomizedResponse;
use super::rates::{SupportProbabilities, check_answer, check_options};
use crate::competitors::budget::Budget;
use crate::competitors::favoured_set::FavouredSetSizes;

/// Local hashing (LH of the paper). Each report draws a hash function that maps answers to g
/// buckets. It then reports the answer's bucket by generalised randomised response (GRR).
///
/// The hash function is [`independent_bucket`] of the core. The paper requires that two answers
/// collide with probability *at most* 1/g. But an estimate with q = 1/g is unbiased only if the
/// probability is exactly 1/g. No deviation from 1/g can be measured with this hash function.
///
/// ```
/// use hushbin_study::competitors::{Budget, LocalHash};
///
/// let lh = LocalHash::new(1000, 4, &Budget::new(1.0, 0.0)?)?;
/// assert_eq!(lh.support_probabilities().other_answer_probability, 0.25);
/// assert!(LocalHash::new(1000, 1, &Budget::new(1.0, 0.0)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalHash {
    option_count: u32,
    bucket_count: u32,
    /// Probability that the report is the bucket of the person's answer, rounded down to a
    /// threshold.
    own_bucket_threshold: Threshold,
}

/// Report of [`LocalHash`]: the seed of its hash function, and a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashReport {
    /// Seed of the hash function.
    pub seed: u64,
    /// Reported bucket, from 0 to g − 1.
    pub bucket: u32,
}

impl LocalHash {
    /// Returns the mechanism for k `options` and g `buckets`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE) or g is outside
    /// [`BUCKET_COUNT_RANGE`].
    pub fn new(options: u32, buckets: u32, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        BUCKET_COUNT_RANGE.check_in_range(f64::from(buckets))?;
        Ok(Self {
            option_count: options,
            bucket_count: buckets,
            own_bucket_threshold: FavouredSetSizes::single_favoured_output(buckets)
                .favoured_threshold(budget),
        })
    }

    /// Number of options, k.
    #[must_use]
    pub const fn option_count(&self) -> u32 {
        self.option_count
    }

    /// Number of buckets, g.
    #[must_use]
    pub const fn bucket_count(&self) -> u32 {
        self.bucket_count
    }

    /// Returns the probabilities that a report supports an answer, averaged over hash functions.
    /// They are exact for the rounded threshold.
    #[must_use]
    pub fn support_probabilities(&self) -> SupportProbabilities {
        SupportProbabilities {
            own_answer_probability: self.own_bucket_threshold.probability(),
            other_answer_probability: 1.0 / f64::from(self.bucket_count),
        }
    }

    /// Returns the δ of a report at ε. The worst case is two answers in different buckets.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        FavouredSetSizes::single_favoured_output(self.bucket_count)
            .delta_at(self.own_bucket_threshold, epsilon)
    }

    /// Returns the privacy loss of a report: the least ε that it satisfies with δ = 0.
    pub(in crate::competitors) fn privacy_loss(&self) -> f64 {
        let others = f64::from(self.bucket_count - 1);
        (self.own_bucket_threshold.probability() * others
            / self.own_bucket_threshold.false_probability())
        .ln()
    }

    /// Draws whether a report supports the person's own answer, without drawing the report.
    pub(in crate::competitors) fn draw_own_answer_support<R: CryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> bool {
        self.own_bucket_threshold.draw_bool(rng)
    }

    /// Draws a report for an answer from 0 to k − 1. The seed is drawn before the bucket.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if `answer` is not below k.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        answer: u32,
        rng: &mut R,
    ) -> Result<HashReport, Error> {
        check_answer(answer, self.option_count)?;
        let seed = rng.next_u64();
        let hashed = self.hashed_bucket(&HashKeys::new(seed), answer);
        let bucket = if self.own_bucket_threshold.draw_bool(rng) {
            hashed
        } else {
            // Skips `hashed`: drawn numbers from `hashed` on move up by one.
            let other = hushbin::sample::draw_below(rng, self.bucket_count - 1);
            other + u32::from(other >= hashed)
        };
        Ok(HashReport { seed, bucket })
    }

    /// Returns true if a report supports an answer: its hash function maps the answer to the
    /// reported bucket.
    #[must_use]
    pub fn report_supports_answer(&self, report: &HashReport, answer: u32) -> bool {
        self.hashed_bucket(&HashKeys::new(report.seed), answer) == report.bucket
    }

    pub(in crate::competitors) fn hashed_bucket(&self, keys: &HashKeys, answer: u32) -> u32 {
        independent_bucket(keys, answer.into(), self.bucket_count)
    }
}

/// Returns the best number of buckets g*, not rounded. At g* the variance (e + g − 1)²/((g − 1)(e −
/// 1 + g·δ)²) has a minimum over g, where e = exp(ε). This is the variance of the estimate of an
/// answer's share, from the report of a person with a different answer. Returns `None` if there is
/// no such minimum; the variance then falls for all g.
///
/// The formula avoids the cancellation of the printed one.
///
/// The minimum is only local. If δ > 0, the variance falls to 0 as g grows. For such g hardly any
/// report is informative: the variance from the report of a person who has the answer is 1/δ.
///
/// ```
/// use hushbin_study::competitors::{Budget, best_bucket_count};
///
/// // e + 1, for δ = 0.
/// let e = 1.0_f64.exp();
/// assert!((best_bucket_count(&Budget::new(1.0, 1e-13)?).unwrap() - (e + 1.0)).abs() < 1e-11);
/// assert_eq!(best_bucket_count(&Budget::new(1.0, 0.08)?), None);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn best_bucket_count(budget: &Budget) -> Option<f64> {
    let (a, delta) = (budget.exp_m1_epsilon(), budget.delta());
    let linear = a * (1.0 - 3.0 * delta);
    let constant = a * (a + 2.0 - 2.0 * delta);
    // The root of δ·g² − linear·g + constant = 0, written as 2·constant over a sum.
    let square = linear * linear - 4.0 * delta * constant;
    (linear > 0.0 && square >= 0.0).then(|| 2.0 * constant / (linear + square.sqrt()))
}

/// Optimal local hashing (OLH of the paper): [`LocalHash`] with the best number of buckets, at
/// least 2. It is the better one of ⌊g*⌋ and ⌈g*⌉, where g* is [`best_bucket_count`]. If g* does not
/// exist, OLH is [`RandomizedResponse`].
///
/// ```
/// use hushbin_study::competitors::{Budget, OptimalLocalHashing};
///
/// let best = |delta| OptimalLocalHashing::new(100, &Budget::new(1.0, delta).unwrap()).unwrap();
/// assert!(matches!(best(0.0), OptimalLocalHashing::LocalHashing(lh) if lh.bucket_count() == 4));
/// assert!(matches!(best(0.1), OptimalLocalHashing::RandomizedResponse(_)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptimalLocalHashing {
    /// Local hashing with the best number of buckets.
    LocalHashing(LocalHash),
    /// Randomised response over all answers, if no number of buckets is best.
    RandomizedResponse(RandomizedResponse),
}

impl OptimalLocalHashing {
    /// Returns the mechanism for k `options`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTION_COUNT_RANGE`](hushbin::bounds::OPTION_COUNT_RANGE).
    pub fn new(options: u32, budget: &Budget) -> Result<Self, Error> {
        let Some(root) = best_bucket_count(budget) else {
            return RandomizedResponse::new(options, budget).map(Self::RandomizedResponse);
        };
        // A single bucket would carry no information, so there are at least two.
        let of = |buckets: f64| LocalHash::new(options, (buckets as u32).max(2), budget);
        let (down, up) = (of(root.floor())?, of(root.ceil())?);
        let [low, high] =
            [down, up].map(|lh| lh.support_probabilities().single_report_variance(false));
        Ok(Self::LocalHashing(if low <= high { down } else { up }))
    }

    /// Returns the probabilities that a report supports an answer. They are exact for the rounded
    /// threshold.
    #[must_use]
    pub fn support_probabilities(&self) -> SupportProbabilities {
        match self {
            Self::LocalHashing(own) => own.support_probabilities(),
            Self::RandomizedResponse(own) => own.support_probabilities(),
        }
    }

    /// Returns the δ of a report at ε, in the worst case over pairs of answers.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        match self {
            Self::LocalHashing(own) => own.delta_at(epsilon),
            Self::RandomizedResponse(own) => own.delta_at(epsilon),
        }
    }
}
