//! Sampler of the window mechanism's reports.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::parameters::Window;
use crate::domain::{Domain, Entry};
use crate::hash::for_each_drawn_item;
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Thresholds};
use crate::sample::{draw_below, draw_u64};

/// Sampler of the window mechanism's reports, from entries that have been checked.
/// [`crate::Randomizer`] includes the checks.
///
/// ```
/// use hushbin::Entry;
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::{Randomizer, Window};
///
/// let window = Window::new(1, 4, 2, [1, 2]).unwrap();
/// let randomizer = Randomizer::new(&window, &Domain::of_dense_inputs(1), 2.0);
/// // The number −1 favours the first two atoms.
/// let cell_probabilities = randomizer.cell_probabilities(7, &[Entry { item: 0, value: -1.0 }]);
/// assert!(cell_probabilities[0] == cell_probabilities[1] && cell_probabilities[1] > cell_probabilities[2]);
/// assert!((cell_probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    pub(super) window_mechanism: Window,
    pub(super) thresholds: Thresholds,
    /// Number d of attributes.
    pub(super) attribute_count: u32,
    /// Level that each drawn attribute is rounded to.
    rounded_levels: Vec<u32>,
}

impl Randomizer {
    /// Creates the sampler for the parameters, domain and ε of one [`Task`](crate::Task). The task
    /// has checked that the three fit together.
    #[must_use]
    pub fn new(window: &Window, domain: &Domain, epsilon: f64) -> Self {
        Self {
            window_mechanism: window.clone(),
            thresholds: window.thresholds(epsilon),
            attribute_count: domain.item_count().unwrap_or(0),
            rounded_levels: alloc::vec![0; window.drawn_attribute_count() as usize],
        }
    }

    /// Returns the cell with the given rank among the cells that the levels favour.
    fn favoured_cell_of_rank(&self, mut rank: u32) -> u32 {
        let (t, k) = (
            self.window_mechanism.atoms_per_attribute(),
            self.window_mechanism.favoured_atom_count(),
        );
        let (mut cell, mut place) = (0, 1);
        // The last attribute is the least significant digit of the cell.
        for level in self.rounded_levels.iter().rev() {
            cell += (level + rank % k) * place;
            rank /= k;
            place *= t;
        }
        cell
    }

    /// Returns true if the levels of all drawn attributes favour their atoms in `cell`.
    fn favours_cell(&self, mut cell: u32) -> bool {
        let (t, k) = (
            self.window_mechanism.atoms_per_attribute(),
            self.window_mechanism.favoured_atom_count(),
        );
        let mut favoured = true;
        for level in self.rounded_levels.iter().rev() {
            favoured &= (cell % t).wrapping_sub(*level) < k;
            cell /= t;
        }
        favoured
    }
}

/// Returns the person's number for `attribute`, or 0 if there is no entry for it.
pub(super) fn number_for_attribute(entries: &[Entry], attribute: u32) -> f64 {
    let own = entries
        .iter()
        .find(|entry| entry.item == u64::from(attribute));
    own.map_or(0.0, |own| own.value)
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order:
    ///
    /// - for each drawn attribute, a word that rounds its number;
    /// - a word that decides whether the cell is favoured;
    /// - the rank of a favoured cell;
    /// - uniformly random cells, until one is not favoured.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let mut at = 0;
        for_each_drawn_item(
            seed,
            self.attribute_count,
            self.window_mechanism.drawn_attribute_count(),
            |attribute| {
                let (level, up) = self
                    .window_mechanism
                    .level_and_round_up_probability(number_for_attribute(entries, attribute));
                self.rounded_levels[at] = level + u32::from(draw_u64(rng) < up);
                at += 1;
            },
        );
        let inside = self.thresholds.favoured_threshold(1).draw_bool(rng);
        // A favoured cell and another cell are always both drawn. At least half of the cells are
        // not favoured, and their number does not depend on the input. So the distribution of the
        // number of draws does not depend on the input either.
        let favoured =
            self.favoured_cell_of_rank(draw_below(rng, self.thresholds.favoured_count(1)));
        let other = loop {
            let cell = draw_below(rng, self.thresholds.outcome_count);
            if !self.favours_cell(cell) {
                break cell;
            }
        };
        let bucket = if inside { favoured } else { other };
        *report = Report { seed, bucket };
        // No entry is sampled down: every attribute may be drawn.
        false
    }
}
