//! Sampling a report of the grid.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::parameters::Grid;
use crate::domain::{Domain, Entry};
use crate::hash::for_each_drawn;
use crate::mechanism::contract::Randomize;
use crate::mechanism::cube::Thresholds;
use crate::mechanism::subset::BucketReport as Report;
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
    pub(super) grid: Grid,
    pub(super) thresholds: Thresholds,
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
            thresholds: grid.thresholds(epsilon),
            values: alloc::vec![0.0; domain.items().unwrap_or(0) as usize],
        }
    }

    /// Calls `visit` with the attributes that a seed draws, in their order.
    pub(super) fn for_each_attribute(&self, seed: u64, visit: impl FnMut(u32)) {
        for_each_drawn(seed, self.values.len() as u32, self.grid.drawn(), visit);
    }
}

/// The level at or below a value from −1 to 1, and the probability, in units of 2⁻⁶⁴, with
/// which it becomes the next one.
///
/// Exact where the value is a multiple of 2⁻⁵³, which those of numbers are; else the value
/// is rounded towards 0 by less.
pub(super) const fn beside(steps: u32, value: f64) -> (u32, u64) {
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
        self.for_each_attribute(seed, |attribute| {
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
