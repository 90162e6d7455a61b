//! Sampler of hash-bin's reports.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::parameters::HashBin;
use super::report::{HashBinReport as Report, RandomisedResponse};
use super::response_distribution::{ResponseDistribution, ResponseKind};
use crate::domain::{Domain, Entry};
use crate::hash::{ElementHash, HashKeys, SignBitLocation};
use crate::mechanism::contract::Randomize;
use crate::sample::Threshold;

/// Number of fraction bits of sums: values are summed in units of 2⁻⁴². Each value is first rounded
/// towards 0 to a multiple of 2⁻⁴². Sums of 2²⁰ items fit into 64 bits.
pub(super) const SUM_FRACTION_BITS: u32 = 42;

/// Sampler of hash-bin's reports, from entries that have been checked. [`crate::Randomizer`]
/// includes the checks.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::hash_bin::{DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel, Randomizer};
///
/// let hash_bin = HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, 4, DEFAULT_GRID_STEPS_PER_UNIT).unwrap();
/// let mut randomizer = Randomizer::new(&hash_bin, &Domain::of_rated_items(Some(40), 3), 1.0);
/// // An input without entries, under the seed 7, before noise is added.
/// assert_eq!(randomizer.bins_before_noise(7, &[]), [0.0; 4]);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    element_hash: ElementHash,
    response_distribution: ResponseDistribution,
    pub(super) log2_grid_steps: u32,
    /// Clipping bound at user level, in steps of the grid. `None` at other levels.
    clipping_bound_steps: Option<u32>,
    /// Sum of each bin, in units of 2⁻⁴².
    pub(super) bin_sums: Vec<i64>,
}

impl Randomizer {
    /// Creates the sampler for the parameters, domain and ε of one [`Task`](crate::Task). The task
    /// has checked that the three fit together.
    #[must_use]
    pub fn new(hash_bin: &HashBin, domain: &Domain, epsilon: f64) -> Self {
        Self {
            domain: *domain,
            element_hash: hash_bin.element_hash(domain),
            response_distribution: hash_bin.response_distribution(domain.item_count(), epsilon),
            log2_grid_steps: hash_bin.grid_steps().trailing_zeros(),
            clipping_bound_steps: hash_bin.clipping_bound_steps(),
            bin_sums: alloc::vec![0; hash_bin.bin_count() as usize],
        }
    }

    /// Multiplies each value by the item's sign, and adds the product to the item's bin. At user
    /// level, clips the sum.
    pub(super) fn sum_into_bins(&mut self, seed: u64, entries: &[Entry]) {
        let keys = HashKeys::new(seed);
        self.bin_sums.fill(0);
        for &Entry { item, value } in entries {
            // Multiplying by a power of two is exact; the conversion rounds towards 0.
            let value = (value * (1u64 << SUM_FRACTION_BITS) as f64) as i64;
            let plus = SignBitLocation::for_element(&self.domain, item)
                .read_sign_bit(keys.sign_hash_key)
                == 1;
            let signed = if plus { value } else { -value };
            let sum = &mut self.bin_sums[self
                .element_hash
                .bucket_of_prepared_element(&keys, self.element_hash.prepare_element(item))
                as usize];
            // Neither saturation nor clipping moves two sums further apart.
            *sum = sum.saturating_add(signed);
        }
        if let Some(clip) = self.clipping_bound_steps {
            let most = i64::from(clip) << (SUM_FRACTION_BITS - self.log2_grid_steps);
            self.bin_sums[0] = self.bin_sums[0].clamp(-most, most);
        }
    }

    /// Rounds a sum to the grid at random, so that the expected result is the sum.
    fn round_to_grid<R: CryptoRng + ?Sized>(&self, sum: i64, rng: &mut R) -> i64 {
        let shift = SUM_FRACTION_BITS - self.log2_grid_steps;
        // The shift rounds down, for negative sums too, so the rest is not negative.
        let floor = sum >> shift;
        let rest = sum - (floor << shift);
        let up = rest != 0 && Threshold((rest as u64) << (64 - shift)).draw_bool(rng);
        floor + i64::from(up)
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Makes two draws for each bin in turn. First comes the rounding to the grid: 64 bits, or none
    /// if the sum is on the grid. Then comes the noise of the bin, or the sign of the response.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        self.sum_into_bins(seed, entries);
        report.seed = seed;
        match self.response_distribution.response_kind {
            ResponseKind::TwoPoint { bound, clip } => {
                let steps = self.round_to_grid(self.bin_sums[0], rng);
                // The sum is clipped, so it is at most 2²⁶ steps.
                let lean = ResponseDistribution::plus_probability_excess(
                    &bound,
                    steps.unsigned_abs() as u32,
                    clip,
                );
                let half = 1 << 63;
                let plus = Threshold(if steps < 0 { half - lean } else { half + lean });
                report.response = RandomisedResponse::Sign(plus.draw_bool(rng));
            }
            ResponseKind::Laplace { noise, limit } => {
                let mut bins = match core::mem::take(&mut report.response) {
                    RandomisedResponse::Bins(bins) => bins,
                    RandomisedResponse::Sign(_) => Vec::with_capacity(self.bin_sums.len()),
                };
                bins.clear();
                for index in 0..self.bin_sums.len() {
                    let steps = self.round_to_grid(self.bin_sums[index], rng);
                    let noisy = steps + noise.sample(rng);
                    // Clipping after the noise is post-processing and costs no privacy.
                    bins.push(noisy.clamp(-limit, limit));
                }
                report.response = RandomisedResponse::Bins(bins);
            }
        }
        // No entry is sampled down.
        false
    }
}
