//! Exact probabilities of CoCo's reports.

use alloc::vec::Vec;

use super::randomize::{Randomizer, opposite};
use super::thresholds::Kind;
use crate::domain::Signed;
use crate::sample::Threshold;

impl Randomizer {
    /// The exact probability of each bucket, from the thresholds that
    /// [`crate::Randomizer::randomize`] draws against, where the seed is given and
    /// what makes up for missing entries, see [`Randomizer::completions`]: with k
    /// missing, bit i below k of `completion` is set where the i-th is negative, and
    /// the bits from k on are the rank of the first item that is added, where items
    /// are. Takes O(R·t): for tests and audits.
    ///
    /// # Panics
    /// If there are more than s signed items, more than 64 missing, or not as many
    /// items to add.
    #[must_use]
    pub fn probabilities(&mut self, seed: u64, signed: &[Signed], completion: u64) -> Vec<f64> {
        let missing = self.missing(signed);
        assert!(missing <= 64, "one bit for each sign");
        let rank = completion.checked_shr(missing).unwrap_or(0);
        self.gather(signed, rank as u32, |index| (completion >> index) & 1 == 1);
        match self.thresholds.kind {
            Kind::Strongest { inside, favoured } => {
                let sides = 2 * self.thresholds.pairs;
                let favoured = self.favour(seed, favoured);
                let levels = favoured.levels(sides, inside);
                let mut probabilities = alloc::vec![favoured.level(&levels, 0); sides as usize];
                for (side, strength) in self.cells.strengths() {
                    probabilities[side as usize] = favoured.level(&levels, strength);
                    probabilities[opposite(side) as usize] = levels.outside;
                }
                probabilities
            }
            Kind::Overwrite { pair, decided, .. } => {
                self.find_pairs(seed);
                self.overwrite_probabilities(pair, decided)
            }
        }
    }

    /// In how many ways, all as likely, entries that are missing from so many signed
    /// items are made up for: each has either sign, and where items are added these
    /// begin with any. `None` beyond 2⁶³.
    #[must_use]
    pub fn completions(&self, signed: u32) -> Option<u64> {
        let missing = self.domain.sparsity().checked_sub(signed)?;
        let firsts = self.others(signed).unwrap_or(1);
        u64::from(firsts).checked_mul(1_u64.checked_shl(missing)?)
    }

    fn overwrite_probabilities(&mut self, pair: u64, decided: Threshold) -> Vec<f64> {
        let pushed = self.pairs.len() as u32;
        let pairs = self.thresholds.pairs;
        let inside = Threshold(u64::from(pushed) * pair);
        let elsewhere = inside.complement() / f64::from(2 * (pairs - pushed));
        let mut probabilities = alloc::vec![elsewhere; 2 * pairs as usize];
        for index in 0..self.pairs.len() {
            let pushes = self.pushes_of(index);
            let minus = pushes.iter().filter(|push| *push % 2 == 1).count() as f64;
            let minus = minus / pushes.len() as f64;
            let plus_side = (1.0 - minus) * decided.probability() + minus * decided.complement();
            let minus_side = minus * decided.probability() + (1.0 - minus) * decided.complement();
            let pair_probability = Threshold(pair).probability();
            let plus = 2 * self.pairs[index] as usize;
            probabilities[plus] = pair_probability * plus_side;
            probabilities[plus + 1] = pair_probability * minus_side;
        }
        probabilities
    }
}
