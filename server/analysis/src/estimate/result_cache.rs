//! Cache of results that depend on few numbers, such as confidence intervals. It serves one query.
//!
//! Finding the ends of an interval takes over a microsecond, and most items of a long table share
//! few distinct estimates, because hits are whole numbers. A cached result is returned only if all
//! numbers on which it depends are equal to the last bit. So results do not depend on the cache.

use std::sync::{Mutex, OnceLock};

use crate::estimate::distribution::{ContributionDistribution, NoiseLaw};
use crate::estimate::point::{Estimand, PointEstimate};

/// Maximum number of results in a cache. A cache of intervals then takes 25 MB.
const MAX_RESULTS: usize = 1 << 18;

/// Maximum number of distinct noise distributions whose results are cached. Usually all items share
/// one. Under CoCo's rule `strongest`, an item with too many hits has its own.
const MAX_NOISE_LAWS: usize = 8;

/// Multiplier of the hash: 2⁶⁴ divided by the golden ratio, and odd.
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Inputs on which a result depends, and which differ between the items of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ResultKey<const N: usize> {
    /// Index of the noise distribution among those of the cache.
    noise_law: u8,
    /// Estimand of an interval. `None` for a conditional mean.
    estimand: Option<Estimand>,
    /// Numbers of the item, as bits.
    numbers: [u64; N],
}

impl<const N: usize> ResultKey<N> {
    fn hash(&self) -> u64 {
        let kind = u64::from(self.noise_law) ^ self.estimand.map_or(0, |own| (1 + own as u64) << 8);
        self.numbers.iter().fold(kind, |hash, word| {
            // The shift lets high bits affect low ones, which a product does not.
            let mixed = (hash ^ word).wrapping_mul(HASH_MULTIPLIER);
            mixed ^ (mixed >> 32)
        })
    }
}

/// Place of one result at a time, with the key of the result.
type CachePlace<T, const N: usize> = Mutex<Option<(ResultKey<N>, T)>>;

/// Cache of results that depend on `N` numbers of an item. It serves one query, for one number of
/// reports and one confidence level. All threads of the query share it.
///
/// Each key has one place, where a new result replaces the old one. So memory is bounded.
#[derive(Debug)]
pub(crate) struct ResultCache<T, const N: usize> {
    noise_laws: [OnceLock<NoiseLaw>; MAX_NOISE_LAWS],
    /// Number of places: 0 or a power of two.
    place_count: usize,
    /// Results, each at the place of its key. Allocated on first use.
    places: OnceLock<Vec<CachePlace<T, N>>>,
}

/// Returns the number of results that are worth caching for a query of `items` items.
pub(crate) fn useful_result_count(items: usize) -> usize {
    // Few items share few results.
    match items * Estimand::RATING_ESTIMANDS.len() {
        0..64 => 0,
        results => results.next_power_of_two().min(MAX_RESULTS),
    }
}

/// Cache of results for estimates. They depend on the estimate and its standard error, and on the
/// observed mean and frequency if the estimate is a mean.
pub(crate) type EstimateCache<T> = ResultCache<T, 4>;

/// Cache of results for conditional means. They depend on the mean and the non-missing frequency,
/// on both standard errors and the covariance, and on the observed mean and frequency.
pub(crate) type RatioCache<T> = ResultCache<T, 7>;

impl<T: Copy, const N: usize> ResultCache<T, N> {
    /// Creates a cache of at most `results` results: 0, which caches nothing, or a power of two.
    pub(crate) fn new(results: usize) -> Self {
        debug_assert!(results == 0 || results.is_power_of_two());
        Self {
            noise_laws: [const { OnceLock::new() }; MAX_NOISE_LAWS],
            place_count: results,
            places: OnceLock::new(),
        }
    }

    fn reuse(
        &self,
        law: &ContributionDistribution,
        estimand: Option<Estimand>,
        numbers: [f64; N],
        compute: impl FnOnce() -> T,
    ) -> T {
        let Some(place_mask) = self.place_count.checked_sub(1) else {
            return compute();
        };
        let Some(noise_law) = law.noise_law().and_then(|own| {
            // The first free entry takes a distribution that is not known yet.
            self.noise_laws
                .iter()
                .position(|known| *known.get_or_init(|| own) == own)
        }) else {
            return compute();
        };
        let key = ResultKey {
            noise_law: noise_law as u8,
            estimand,
            numbers: numbers.map(f64::to_bits),
        };
        let new_places = || (0..self.place_count).map(|_| Mutex::default()).collect();
        let place = &self.places.get_or_init(new_places)[key.hash() as usize & place_mask];
        // A place that another thread uses is not waited for.
        if let Ok(known) = place.try_lock()
            && let Some((_, result)) = known.filter(|(own, _)| *own == key)
        {
            return result;
        }
        let result = compute();
        if let Ok(mut known) = place.try_lock() {
            *known = Some((key, result));
        }
        result
    }
}

impl<T: Copy> EstimateCache<T> {
    /// Returns the result for an item's estimate of `estimand`, from the cache or from `compute`.
    /// The result may depend on the arguments of
    /// [`ContributionDistribution::confidence_limit`] only.
    pub(crate) fn of_estimate(
        &self,
        law: &ContributionDistribution,
        estimand: Estimand,
        point: PointEstimate,
        compute: impl FnOnce() -> T,
    ) -> T {
        let [mean, frequency] = match estimand {
            Estimand::Mean => law.observed_mean_and_frequency(),
            // These limits do not depend on the observed mean and frequency.
            _ => [0.0; 2],
        };
        let numbers = [point.estimate, point.standard_error, mean, frequency];
        self.reuse(law, Some(estimand), numbers, compute)
    }
}

impl<T: Copy> RatioCache<T> {
    /// Returns the result for an item's conditional mean, from the cache or from `compute`. `parts`
    /// are the mean and the non-missing frequency, with the given covariance.
    pub(crate) fn of_ratio(
        &self,
        law: &ContributionDistribution,
        parts: [PointEstimate; 2],
        covariance: f64,
        compute: impl FnOnce() -> T,
    ) -> T {
        let [mean, frequency] = law.observed_mean_and_frequency();
        let [a, b] = parts.map(|point| (point.estimate, point.standard_error));
        self.reuse(
            law,
            None,
            [a.0, a.1, b.0, b.1, covariance, mean, frequency],
            compute,
        )
    }
}
