//! Bins of an input before noise is added.

use alloc::vec::Vec;

use super::randomize::{Randomizer, SUM_FRACTION_BITS};
use crate::domain::Entry;

impl Randomizer {
    /// Computes the bins of `entries` under `seed`, before rounding and noise, in steps of the
    /// grid. At user level the sum is clipped. Intended for tests and audits.
    #[must_use]
    pub fn bins_before_noise(&mut self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        self.sum_into_bins(seed, entries);
        let unit = libm::scalbn(1.0, -((SUM_FRACTION_BITS - self.log2_grid_steps) as i32));
        self.bin_sums.iter().map(|&sum| sum as f64 * unit).collect()
    }
}
