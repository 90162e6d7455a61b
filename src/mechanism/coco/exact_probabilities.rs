//! Exact probabilities of CoCo's reports.

use alloc::vec::Vec;

use super::rule::Randomizer;
use crate::domain::SignedItem;
use crate::mechanism::subset::opposite_side;
use crate::sample::Threshold;

impl Randomizer {
    /// Computes the exact probability that each bucket is reported, given the seed and the
    /// completion of the input. The probabilities come from the thresholds that
    /// [`crate::Randomizer::randomize`] draws against. Takes O(R·t) steps for R hash functions of t
    /// buckets each. Intended for tests and audits.
    ///
    /// `completion` encodes the entries that are added to reach the sparsity s, see
    /// [`Randomizer::input_completion_count`]. Let k be the number of added entries. Bit i below k is set
    /// if the i-th added entry is negative. If items are added instead of paddings, the bits from k
    /// on are the rank of the first added item among the items outside the input.
    ///
    /// # Panics
    /// If `signed` has more items than the sparsity s, if more than 64 entries are missing, or if
    /// the domain has too few items to add.
    #[must_use]
    pub fn exact_bucket_probabilities(
        &mut self,
        seed: u64,
        signed: &[SignedItem],
        completion: u64,
    ) -> Vec<f64> {
        self.signed_items.clear();
        self.signed_items.extend_from_slice(signed);
        let missing = self.missing_element_count();
        assert!(missing <= 64, "one bit for each sign");
        // With 64 missing entries no bits are left for a rank.
        let rank = completion.checked_shr(missing).unwrap_or(0);
        self.prepare_padded_elements(rank as u32, |index| (completion >> index) & 1 == 1);
        if let Some(decided) = self.thresholds.side_given_pair_threshold {
            self.sort_sides_by_number(seed);
            return self.overwrite_rule_probabilities(decided);
        }
        let sides = self.thresholds.outcome_count;
        let favoured = self.compute_favoured_set(seed);
        let levels = favoured.bucket_probabilities(sides, self.favoured_threshold());
        let mut probabilities =
            alloc::vec![favoured.bucket_probability_at_strength(&levels, 0); sides as usize];
        for (side, strength) in self.cell_strengths.sides_and_strengths() {
            probabilities[side as usize] =
                favoured.bucket_probability_at_strength(&levels, strength);
            probabilities[opposite_side(side) as usize] = levels.unfavoured_probability;
        }
        probabilities
    }

    /// Number of equally likely ways to fill up an input of `signed` items to s entries, the
    /// sparsity. Each added entry is positive or negative. If items are added instead of paddings,
    /// any item outside the input may be added first. The first added item determines all further
    /// ones. `None` if `signed` is above s, or if the number exceeds 64 bits.
    #[must_use]
    pub fn input_completion_count(&self, signed: u32) -> Option<u64> {
        let missing = self.domain.sparsity().checked_sub(signed)?;
        let firsts = self.addable_item_count(signed).unwrap_or(1);
        u64::from(firsts).checked_mul(1_u64.checked_shl(missing)?)
    }

    fn overwrite_rule_probabilities(&self, decided: Threshold) -> Vec<f64> {
        let pushed = self.sides_grouped_by_pair().count() as u32;
        let sides = self.thresholds.outcome_count;
        let elsewhere = self
            .thresholds
            .favoured_threshold(pushed)
            .false_probability()
            / f64::from(sides - 2 * pushed);
        let mut probabilities = alloc::vec![elsewhere; sides as usize];
        for pushes in self.sides_grouped_by_pair() {
            // Proportion of the pair's pushes that go to the minus side.
            let minus = pushes.iter().filter(|push| *push % 2 == 1).count() as f64;
            let minus = minus / pushes.len() as f64;
            // The deciding push is chosen uniformly. Its side is reported with the probability
            // `decided`.
            let plus_side =
                (1.0 - minus) * decided.probability() + minus * decided.false_probability();
            let minus_side =
                minus * decided.probability() + (1.0 - minus) * decided.false_probability();
            let pair_probability = self.thresholds.favoured_threshold(1).probability();
            let plus = (pushes[0] / 2 * 2) as usize;
            probabilities[plus] = pair_probability * plus_side;
            probabilities[plus + 1] = pair_probability * minus_side;
        }
        probabilities
    }
}
