//! Exact probabilities of Collision's reports.

use alloc::vec::Vec;

use super::rule::Randomizer;
use crate::domain::SignedItem;

impl Randomizer {
    /// Computes the exact probability that each bucket is reported, for a given seed. The
    /// probabilities come from the thresholds that [`crate::Randomizer::randomize`] draws against.
    /// Takes O(R·t) steps for R hash functions of t buckets each. Intended for tests and audits.
    ///
    /// # Panics
    /// If `signed` has more items than the sparsity s.
    #[must_use]
    pub fn exact_bucket_probabilities(&mut self, seed: u64, signed: &[SignedItem]) -> Vec<f64> {
        self.signed_items.clear();
        self.signed_items.extend_from_slice(signed);
        self.prepare_padded_elements(0, |_| false);
        let favoured = self.compute_favoured_set(seed);
        let buckets = self.thresholds.outcome_count;
        let levels = favoured.bucket_probabilities(buckets, self.favoured_threshold());
        let mut probabilities =
            alloc::vec![favoured.bucket_probability_at_strength(&levels, 0); buckets as usize];
        for (bucket, strength) in self.cell_strengths.sides_and_strengths() {
            probabilities[bucket as usize / 2] =
                favoured.bucket_probability_at_strength(&levels, strength);
        }
        probabilities
    }
}
