//! Exact probabilities of the grid's reports.

use alloc::vec::Vec;

use super::randomize::{Randomizer, beside};
use crate::domain::Entry;
use crate::sample::Threshold;

impl Randomizer {
    /// The exact probability of each cell, the seed being given, from the thresholds that
    /// [`crate::Randomizer::randomize`] draws against; an attribute without an entry is at
    /// 0. Takes O(k·M): for tests and audits.
    #[must_use]
    pub fn probabilities(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let [own, other] = self.thresholds.levels();
        let rounded = self.rounded(seed, entries).into_iter();
        rounded.map(|p| other + (own - other) * p).collect()
    }

    /// With which probability the values are rounded to each cell.
    fn rounded(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let mut cells = alloc::vec![1.0];
        self.for_each_attribute(seed, |attribute| {
            let own = entries.iter().find(|e| e.item == u64::from(attribute));
            let (level, up) = beside(self.grid.steps(), own.map_or(0.0, |own| own.value));
            let up = Threshold(up);
            let of = |index: u32| match index {
                _ if index == level => up.complement(),
                _ if index == level + 1 => up.probability(),
                _ => 0.0,
            };
            let levels = (0..=self.grid.steps()).map(of);
            let with = levels.flat_map(|p| cells.iter().map(move |cell| cell * p));
            cells = with.collect();
        });
        cells
    }
}
