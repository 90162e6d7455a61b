//! Sampling a report of the grid.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::support::Support;
use super::{Grid, Report, Thresholds};
use crate::domain::{Domain, Entry};
use crate::mechanism::contract::Randomize;
use crate::sample::{below, word};

/// The sampler of the grid's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::Entry;
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::grid::{Grid, Randomizer};
///
/// let grid = Grid::new(1, 4).unwrap();
/// let randomizer = Randomizer::new(&grid, &Domain::dense(1), 2.0);
/// // A value between −0.5 and 0 becomes either.
/// let probabilities = randomizer.probabilities(7, &[Entry { item: 0, value: -0.4 }]);
/// assert!(probabilities[1] > probabilities[2] && probabilities[2] > probabilities[0]);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    grid: Grid,
    support: Support,
    thresholds: Thresholds,
    /// By attribute.
    values: Vec<f64>,
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    #[must_use]
    pub fn new(grid: &Grid, domain: &Domain, epsilon: f64) -> Self {
        Self {
            grid: *grid,
            support: grid.support(domain),
            thresholds: grid.thresholds(epsilon),
            values: alloc::vec![0.0; domain.items().unwrap_or(0) as usize],
        }
    }

    /// The exact probability of each cell, the seed being given, from the thresholds that
    /// [`crate::Randomizer::randomize`] draws against; an attribute without an entry is at
    /// 0. Takes O(k·M): for tests and audits.
    #[cfg(feature = "analysis")]
    #[must_use]
    pub fn probabilities(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let [own, other] = self.thresholds.levels();
        let rounded = self.rounded(seed, entries).into_iter();
        rounded.map(|p| other + (own - other) * p).collect()
    }

    /// With which probability the values are rounded to each cell.
    #[cfg(feature = "analysis")]
    fn rounded(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let mut cells = alloc::vec![1.0];
        self.support.for_each_attribute(seed, |attribute| {
            let own = entries.iter().find(|e| e.item == u64::from(attribute));
            let (level, up) = beside(self.grid.steps(), own.map_or(0.0, |own| own.value));
            let up = crate::sample::Threshold(up);
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

/// The level at or below a value from −1 to 1, and the probability, in units of 2⁻⁶⁴, with
/// which it becomes the next one.
///
/// Exact where the value is a multiple of 2⁻⁵³, which those of numbers are; else the value
/// is rounded towards 0 by less.
const fn beside(steps: u32, value: f64) -> (u32, u64) {
    const ONE: i64 = 1 << 53;
    // (1 + v)/2 in units of 2⁻⁵⁴, times r below 2¹⁰; at 1 the level is the last, for certain.
    let place = ((value * ONE as f64) as i64 + ONE) as u64 * steps as u64;
    ((place >> 54) as u32, place << 10)
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order, for each attribute drawn a word that rounds its value, one for
    /// whether its cell is told, and where it is not, which of the others is. Neither their
    /// number nor by how much the cell is moved depends on the input.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        for entry in entries {
            self.values[entry.item as usize] = entry.value;
        }
        let (mut cell, mut place) = (0, 1);
        self.support.for_each_attribute(seed, |attribute| {
            let (level, up) = beside(self.grid.steps(), self.values[attribute as usize]);
            cell += place * (level + u32::from(word(rng) < up));
            place *= self.grid.levels();
        });
        let cells = self.grid.cells();
        if !self.thresholds.inside().sample(rng) {
            // Uniform among all others.
            cell = (cell + 1 + below(rng, cells - 1)) % cells;
        }
        *report = Report { seed, bucket: cell };
        // Every attribute may be drawn.
        false
    }
}
