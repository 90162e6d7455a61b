//! Sampling a report of the cube.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::parameters::Cube;
use super::report::CornerReport as Report;
use super::thresholds::Thresholds;
use crate::domain::{Domain, Entry};
use crate::hash::for_each_drawn;
use crate::mechanism::contract::Randomize;
use crate::sample::word;

/// The sampler of the cube's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::domain::{Domain, Signed};
/// use hushbin::mechanism::cube::{Cube, Randomizer};
///
/// let cube = Cube::new(2, 2).unwrap();
/// let randomizer = Randomizer::new(&cube, &Domain::dense(5), 1.0);
/// let least: Vec<Signed> = (0..5).map(|item| Signed { item, negative: true }).collect();
/// let probabilities = randomizer.probabilities(7, &least);
/// // Of four corners the one with two minuses is favoured.
/// assert!(probabilities[0] > probabilities[1]);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    pub(super) cube: Cube,
    pub(super) thresholds: Thresholds,
    /// By attribute.
    values: Vec<f64>,
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    #[must_use]
    pub fn new(cube: &Cube, domain: &Domain, epsilon: f64) -> Self {
        Self {
            cube: *cube,
            thresholds: cube.thresholds(epsilon),
            values: alloc::vec![0.0; domain.items().unwrap_or(0) as usize],
        }
    }

    /// Calls `visit` with the attributes that a seed draws, in their order.
    pub(super) fn for_each_attribute(&self, seed: u64, visit: impl FnMut(u32)) {
        for_each_drawn(seed, self.values.len() as u32, self.cube.drawn(), visit);
    }

    /// Whether a corner is that differs from the input's in these coordinates.
    pub(super) const fn is_favoured(&self, turned: u64) -> bool {
        turned.count_ones() <= self.cube.drawn() - self.cube.agreements()
    }
}

/// The sign of a value from −1 to 1, or with probability 1 − |v| a fair one, of a word:
/// plus with probability (1 + v)/2, rounded towards 1/2 by less than 2⁻⁶⁴.
const fn is_plus(value: f64, word: u64) -> bool {
    // |v| in units of 2⁻⁶³, which its own sign takes of as many words; the lowest bit
    // is the fair one.
    let own = (value.abs() * (1_u64 << 63) as f64) as u64;
    if word >> 1 < own {
        value > 0.0
    } else {
        word & 1 == 1
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order, for each attribute drawn a word that rounds its value, one
    /// for the side, and words until the coordinates to turn are on it. Neither their
    /// number nor what they turn depends on the input.
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
        let (mut corner, mut bit) = (0, 1);
        self.for_each_attribute(seed, |attribute| {
            let plus = is_plus(self.values[attribute as usize], word(rng));
            corner |= if plus { bit } else { 0 };
            bit <<= 1;
        });
        let inside = self.thresholds.inside().sample(rng);
        // Uniform among all that are favoured, or among all that are not.
        let turned = loop {
            let turned = word(rng) & self.cube.mask();
            if self.is_favoured(turned) == inside {
                break turned;
            }
        };
        *report = Report {
            seed,
            drawn: self.cube.drawn(),
            signs: corner ^ turned,
        };
        // Every attribute may be drawn.
        false
    }
}
