//! Exact probabilities of CoCo's reports.

use alloc::vec::Vec;

use super::rule::Randomizer;
use crate::domain::Signed;
use crate::mechanism::subset::opposite;
use crate::sample::Threshold;

impl Randomizer {
    /// Computes the exact probability of each bucket, for a given seed and a given completion of
    /// the input. It uses the thresholds that [`crate::Randomizer::randomize`] draws against. Takes
    /// O(R·t): for tests and audits.
    ///
    /// `completion` encodes how missing entries are filled up, see [`Randomizer::completions`].
    /// With k entries missing, bit i below k is set if the i-th is negative. If items are added,
    /// the bits from k on are the rank of the first one.
    ///
    /// # Panics
    /// If there are more than s signed items, more than 64 entries missing, or too few items to
    /// add.
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed], completion: u64) -> Vec<f64> {
        self.signed.clear();
        self.signed.extend_from_slice(signed);
        let missing = self.missing();
        assert!(missing <= 64, "one bit for each sign");
        // With 64 missing entries no bits are left for a rank.
        let rank = completion.checked_shr(missing).unwrap_or(0);
        self.list_elements(rank as u32, |index| (completion >> index) & 1 == 1);
        if let Some(decided) = self.thresholds.decided {
            self.sort_pushes(seed);
            return self.overwrite_probabilities(decided);
        }
        let sides = self.thresholds.outcomes;
        let favoured = self.favour(seed);
        let levels = favoured.probabilities(sides, self.inside());
        let mut probabilities =
            alloc::vec![favoured.probability_of_strength(&levels, 0); sides as usize];
        for (side, strength) in self.cells.strengths() {
            probabilities[side as usize] = favoured.probability_of_strength(&levels, strength);
            probabilities[opposite(side) as usize] = levels.outside;
        }
        probabilities
    }

    /// Number of equally likely ways to fill up an input of `signed` items to s entries. Each
    /// missing entry has either sign. If items are added, they may begin with any item outside the
    /// input. `None` if `signed` is above s, or if the number exceeds 64 bits.
    #[must_use]
    pub fn completions(&self, signed: u32) -> Option<u64> {
        let missing = self.domain.sparsity().checked_sub(signed)?;
        let firsts = self.others(signed).unwrap_or(1);
        u64::from(firsts).checked_mul(1_u64.checked_shl(missing)?)
    }

    fn overwrite_probabilities(&self, decided: Threshold) -> Vec<f64> {
        let pushed = self.pairs().count() as u32;
        let sides = self.thresholds.outcomes;
        let elsewhere = self.thresholds.inside(pushed).complement() / f64::from(sides - 2 * pushed);
        let mut probabilities = alloc::vec![elsewhere; sides as usize];
        for pushes in self.pairs() {
            let minus = pushes.iter().filter(|push| *push % 2 == 1).count() as f64;
            let minus = minus / pushes.len() as f64;
            let plus_side = (1.0 - minus) * decided.probability() + minus * decided.complement();
            let minus_side = minus * decided.probability() + (1.0 - minus) * decided.complement();
            let pair_probability = self.thresholds.inside(1).probability();
            let plus = (pushes[0] / 2 * 2) as usize;
            probabilities[plus] = pair_probability * plus_side;
            probabilities[plus + 1] = pair_probability * minus_side;
        }
        probabilities
    }
}
