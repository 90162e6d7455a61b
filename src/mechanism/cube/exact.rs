//! Exact probabilities of the cube's reports.

use alloc::vec::Vec;

use super::randomize::Randomizer;
use crate::domain::Signed;

impl Randomizer {
    /// The exact probability of each corner, by its [signs](super::Report::signs), the seed
    /// being given, from the threshold that [`crate::Randomizer::randomize`] draws
    /// against, of an input of −1 and 1. Takes O(2ᵏ): for tests and audits.
    ///
    /// # Panics
    /// If an attribute that is drawn has no sign.
    #[must_use]
    pub fn probabilities(&self, seed: u64, signed: &[Signed]) -> Vec<f64> {
        let (mut corner, mut bit) = (0, 1);
        self.for_each_attribute(seed, |attribute| {
            let own = |signed: &&Signed| signed.item == u64::from(attribute);
            let signed = signed.iter().find(own).expect("all attributes have a sign");
            corner |= if signed.negative { 0 } else { bit };
            bit <<= 1;
        });
        let [favoured, other] = self.thresholds.levels();
        let probability = |signs: u64| {
            if self.is_favoured(signs ^ corner) {
                favoured
            } else {
                other
            }
        };
        (0..=self.cube.mask()).map(probability).collect()
    }
}
