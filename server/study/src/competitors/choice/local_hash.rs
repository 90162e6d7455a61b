//! Local hashing: randomised response on the bucket of an answer.

use hushbin::Error;
use hushbin::bounds::BUCKETS;
use hushbin::hash::{HashKeys, independent_bucket};
use hushbin::sample::Threshold;
use rand_core::CryptoRng;

use super::direct::Direct;
use super::rates::{Rates, check_answer, check_options};
use crate::competitors::budget::Budget;
use crate::competitors::favoured::Favoured;

/// LH of the paper. Each report draws a hash function to g buckets and applies GRR to the answer's
/// bucket.
///
/// The hash is the core's independent one. The paper requires that two answers collide with
/// probability *at most* 1/g. An unbiased estimate with q = 1/g needs exactly 1/g. No deviation
/// from 1/g can be measured with this hash.
///
/// ```
/// use hushbin_study::competitors::{Budget, LocalHash};
///
/// let lh = LocalHash::new(1000, 4, &Budget::new(1.0, 0.0)?)?;
/// assert_eq!(lh.rates().q, 0.25);
/// assert!(LocalHash::new(1000, 1, &Budget::new(1.0, 0.0)?).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalHash {
    options: u32,
    buckets: u32,
    /// Threshold of reporting the own bucket, rounded down.
    own: Threshold,
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
    /// [`Error::OutOfRange`] if k is outside [`OPTIONS`](hushbin::bounds::OPTIONS) or g is outside
    /// [`BUCKETS`].
    pub fn new(options: u32, buckets: u32, budget: &Budget) -> Result<Self, Error> {
        check_options(options)?;
        BUCKETS.check(f64::from(buckets))?;
        Ok(Self {
            options,
            buckets,
            own: Favoured::one_of(buckets).threshold(budget),
        })
    }

    /// Number of options, k.
    #[must_use]
    pub const fn options(&self) -> u32 {
        self.options
    }

    /// Number of buckets, g.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Probabilities of support, averaged over hash functions, for the realised threshold.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates {
            p: self.own.probability(),
            q: 1.0 / f64::from(self.buckets),
        }
    }

    /// Returns δ at ε for two answers in different buckets, which is the worst case.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        Favoured::one_of(self.buckets).delta_at(self.own, epsilon)
    }

    /// Returns the least ε that a report satisfies with δ = 0.
    pub(in crate::competitors) fn loss(&self) -> f64 {
        let others = f64::from(self.buckets - 1);
        (self.own.probability() * others / self.own.complement()).ln()
    }

    /// Draws only whether a report supports the person's own answer, without the rest of the
    /// report.
    pub(in crate::competitors) fn keeps<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> bool {
        self.own.sample(rng)
    }

    /// Draws a report of an answer from 0 to k − 1. The seed is drawn first.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if `answer` is not below k.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &self,
        answer: u32,
        rng: &mut R,
    ) -> Result<HashReport, Error> {
        check_answer(answer, self.options)?;
        let seed = rng.next_u64();
        let hashed = self.bucket(&HashKeys::new(seed), answer);
        let bucket = if self.own.sample(rng) {
            hashed
        } else {
            // Uniform over the rest: numbers from `hashed` on move up by one.
            let other = hushbin::sample::below(rng, self.buckets - 1);
            other + u32::from(other >= hashed)
        };
        Ok(HashReport { seed, bucket })
    }

    /// Checks whether a report supports an answer.
    #[must_use]
    pub fn supports(&self, report: &HashReport, answer: u32) -> bool {
        self.bucket(&HashKeys::new(report.seed), answer) == report.bucket
    }

    pub(in crate::competitors) fn bucket(&self, keys: &HashKeys, answer: u32) -> u32 {
        independent_bucket(keys, answer.into(), self.buckets)
    }
}

/// Returns the root g* that minimises the variance for a person with another answer,
/// (e + g − 1)²/((g − 1)(e − 1 + g·δ)²). `None` if the root is not real; then the variance falls
/// for all g.
///
/// This form avoids the cancellation of the printed one.
///
/// The minimum is a local one. If δ > 0, the variance falls to 0 as g grows. Then hardly any report
/// is informative, and the variance for a person with the answer itself is 1/δ.
///
/// ```
/// use hushbin_study::competitors::{Budget, best_buckets};
///
/// // e + 1, for δ = 0.
/// let e = 1.0_f64.exp();
/// assert!((best_buckets(&Budget::new(1.0, 1e-13)?).unwrap() - (e + 1.0)).abs() < 1e-11);
/// assert_eq!(best_buckets(&Budget::new(1.0, 0.08)?), None);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[must_use]
pub fn best_buckets(budget: &Budget) -> Option<f64> {
    let (a, delta) = (budget.e_minus_1(), budget.delta());
    let linear = a * (1.0 - 3.0 * delta);
    let constant = a * (a + 2.0 - 2.0 * delta);
    // The root of δ·g² − linear·g + constant = 0, written as 2·constant over a sum.
    let square = linear * linear - 4.0 * delta * constant;
    (linear > 0.0 && square >= 0.0).then(|| 2.0 * constant / (linear + square.sqrt()))
}

/// OLH of the paper: [`LocalHash`] with the better of ⌊g*⌋ and ⌈g*⌉, at least 2. It is [`Direct`]
/// if g* is not real.
///
/// ```
/// use hushbin_study::competitors::{Budget, OptimalHash};
///
/// let best = |delta| OptimalHash::new(100, &Budget::new(1.0, delta).unwrap()).unwrap();
/// assert!(matches!(best(0.0), OptimalHash::Hash(lh) if lh.buckets() == 4));
/// assert!(matches!(best(0.1), OptimalHash::Direct(_)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptimalHash {
    /// Local hashing with the best number of buckets.
    Hash(LocalHash),
    /// GRR over all answers.
    Direct(Direct),
}

impl OptimalHash {
    /// Returns the mechanism for k `options`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if k is outside [`OPTIONS`](hushbin::bounds::OPTIONS).
    pub fn new(options: u32, budget: &Budget) -> Result<Self, Error> {
        let Some(root) = best_buckets(budget) else {
            return Direct::new(options, budget).map(Self::Direct);
        };
        // A single bucket would reveal nothing, so there are at least two.
        let of = |buckets: f64| LocalHash::new(options, (buckets as u32).max(2), budget);
        let (down, up) = (of(root.floor())?, of(root.ceil())?);
        let [low, high] = [down, up].map(|lh| lh.rates().variance(false));
        Ok(Self::Hash(if low <= high { down } else { up }))
    }

    /// Probabilities of the realised threshold.
    #[must_use]
    pub fn rates(&self) -> Rates {
        match self {
            Self::Hash(own) => own.rates(),
            Self::Direct(own) => own.rates(),
        }
    }

    /// Returns δ at ε.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        match self {
            Self::Hash(own) => own.delta_at(epsilon),
            Self::Direct(own) => own.delta_at(epsilon),
        }
    }
}
