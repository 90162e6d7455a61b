//! Sampling a report: who is favoured is settled once, then read by the sampler
//! and by whoever wants its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::rule::Collision;
use super::thresholds::Thresholds;
use crate::domain::{Domain, Entry, Signed};
use crate::hash::{Hash, Keys};
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Drawn, Favoured, Ranked};
use crate::sample::Threshold;
use crate::sort::sort;

/// The sampler of Collision's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
///
/// let rule = Rule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, Hashing::Balanced, 12).unwrap();
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// let mut randomizer = Randomizer::new(&collision, &task.domain(), 1.0);
/// // Of an input without entries, under the seed 7.
/// let probabilities = randomizer.probabilities(7, &[]);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    hash: Hash,
    thresholds: Thresholds,
    /// What is left of the entries, at most s.
    signed: Vec<Signed>,
    /// The bucket of each element, ascending.
    hashed: Vec<u64>,
    /// Buckets that hold an element, ascending.
    occupied: Vec<u32>,
    /// The same by falling number of elements, as keys of [`Ranked`].
    ranked: Vec<u64>,
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    ///
    /// # Panics
    /// If rule `occupied` has no more buckets than the domain's sparsity.
    #[must_use]
    pub fn new(collision: &Collision, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        Self {
            domain: *domain,
            hash: collision.hash(domain),
            thresholds: collision.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            hashed: Vec::with_capacity(capacity),
            occupied: Vec::with_capacity(capacity),
            ranked: Vec::with_capacity(capacity),
        }
    }

    /// The exact probability of each bucket, the seed being given, from the
    /// thresholds that [`crate::Randomizer::randomize`] draws against. Takes
    /// O(t): for tests and audits.
    ///
    /// # Panics
    /// If there are more than s signed items.
    #[cfg(feature = "analysis")]
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed]) -> Vec<f64> {
        let favoured = self.favoured(seed, signed);
        let buckets = self.thresholds.buckets();
        let levels = favoured.levels(buckets, self.threshold());
        let mut probabilities = alloc::vec![favoured.zero_level(&levels); buckets as usize];
        for (rank, &key) in (0..).zip(&self.ranked) {
            let bucket = Ranked::from_key(key).bucket();
            probabilities[bucket as usize] = favoured.level(&levels, rank);
        }
        probabilities
    }

    /// Hashes the input and ranks its buckets.
    fn favoured(&mut self, seed: u64, signed: &[Signed]) -> Favoured {
        let keys = Keys::new(seed);
        let domain = &self.domain;
        let missing = domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries");
        self.hashed.clear();
        self.hashed.extend(
            signed
                .iter()
                .map(|&signed| domain.signed_element(signed))
                .chain((0..missing).map(|index| domain.signed_padding(index))),
        );
        self.hash.replace(&keys, &mut self.hashed);
        sort(&mut self.hashed);
        self.occupied.clear();
        self.ranked.clear();
        for held in self.hashed.chunk_by(|a, b| a == b) {
            // Buckets are below t < 2³².
            let bucket = held[0] as u32;
            self.occupied.push(bucket);
            self.ranked
                .push(Ranked::new(bucket, held.len() as u32).key());
        }
        sort(&mut self.ranked);
        let occupied = self.ranked.len() as u32;
        let empty = self.thresholds.buckets() - occupied;
        Favoured::new(self.thresholds.favoured(occupied), &self.ranked, empty)
    }

    /// The probability of reporting inside the set, for the input last ranked.
    fn threshold(&self) -> Threshold {
        self.thresholds.inside(self.ranked.len() as u32)
    }

    /// The `index`-th bucket that holds nothing, in ascending order.
    fn empty(&self, index: u32) -> u32 {
        let mut bucket = index;
        for &occupied in &self.occupied {
            if occupied > bucket {
                break;
            }
            bucket += 1;
        }
        bucket
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order: what ternarisation and sampling down need; the seed
    /// (64 bits); inside or outside C (64 bits); a rank within; where the rank
    /// falls among tied buckets, one of them.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let mut signed = core::mem::take(&mut self.signed);
        let sampled_down = self.domain.draw_signed(entries, rng, &mut signed);
        let seed = rng.next_u64();
        let favoured = self.favoured(seed, &signed);
        self.signed = signed;
        let (buckets, threshold) = (self.thresholds.buckets(), self.threshold());
        let bucket = match favoured.sample(buckets, threshold, rng) {
            Drawn::Ranked(rank) => Ranked::from_key(self.ranked[rank as usize]).bucket(),
            // Whether they tie or not, these are the buckets that hold nothing.
            Drawn::Zero(index) | Drawn::Other(index) => self.empty(index),
        };
        *report = Report { seed, bucket };
        sampled_down
    }
}
