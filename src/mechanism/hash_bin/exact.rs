//! Bins before noise.

use alloc::vec::Vec;

use super::randomize::{FRACTION_BITS, Randomizer};
use crate::domain::Entry;

impl Randomizer {
    /// Bins of entries under a seed, before rounding, in units of the grid's step. They are clipped
    /// at user level. For tests and audits.
    #[must_use]
    pub fn bins(&mut self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        self.sum(seed, entries);
        let unit = libm::scalbn(1.0, -((FRACTION_BITS - self.grid_bits) as i32));
        self.sums.iter().map(|&sum| sum as f64 * unit).collect()
    }
}
