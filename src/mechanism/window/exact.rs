//! Exact probabilities of the window's reports.

use alloc::vec::Vec;

use super::parameters::Window;
use super::randomize::{Randomizer, number_of};
use crate::domain::Entry;
use crate::hash::for_each_drawn;
use crate::sample::Threshold;

impl Window {
    /// The probability with which a number from −1 to 1 becomes a level that favours an atom.
    #[must_use]
    pub fn chance(&self, number: f64, atom: u32) -> f64 {
        let (level, up) = self.beside(number);
        let up = Threshold(up);
        let favours =
            |level: u32| f64::from(u8::from((level..level + self.favoured()).contains(&atom)));
        up.complement() * favours(level) + up.probability() * favours(level + 1)
    }
}

impl Randomizer {
    /// The exact probability of each cell under a seed, from the thresholds that
    /// [`crate::Randomizer::randomize`] draws against. An attribute without an entry is at
    /// 0. Takes O(m·tᵐ): for tests and audits.
    #[must_use]
    pub fn probabilities(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let [own, other] = self.thresholds.levels();
        let favoured = self.favoured(seed, entries).into_iter();
        favoured.map(|p| other + (own - other) * p).collect()
    }

    /// The probability with which the numbers become levels that favour each cell.
    fn favoured(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let mut cells = alloc::vec![1.0];
        for_each_drawn(seed, self.attributes, self.window.drawn(), |attribute| {
            let of = |atom: u32| self.window.chance(number_of(entries, attribute), atom);
            let with = |cell: &f64| {
                let cell = *cell;
                (0..self.window.atoms()).map(move |atom| cell * of(atom))
            };
            cells = cells.iter().flat_map(with).collect();
        });
        cells
    }
}
