//! Bins of an input before noise is added.

use alloc::vec::Vec;

use super::randomize::{FRACTION_BITS, Randomizer};
use crate::domain::Entry;

impl Randomizer {
    /// Computes the bins of `entries` under `seed`, before rounding and noise, in steps of the
    /// grid. At user level the sum is clipped. Intended for tests and audits.
    #[must_use]
    pub fn bins_before_noise(&mut self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        self.sum_into_bins(seed, entries);
        let unit = libm::scalbn(1.0, -((FRACTION_BITS - self.grid_bits) as i32));
        self.sums.iter().map(|&sum| sum as f64 * unit).collect()
    }
}
