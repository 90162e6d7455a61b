//! Scale and variance of the estimates that are computed from reported atoms, and exact
//! probabilities of reports.

use alloc::vec::Vec;

use super::parameters::Window;
use super::randomize::{Randomizer, number_for_attribute};
use crate::domain::{Domain, Entry};
use crate::hash::for_each_drawn_item;
use crate::sample::Threshold;

/// Scale and variance of the estimates that are computed from a report's atoms. The realised
/// threshold determines both.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::Window;
///
/// // Two atoms at odds of e: randomised response, whose worst variance is at 0.
/// let rates = Window::new(1, 2, 1, [1])?.rates(&Domain::dense(1), 1.0);
/// let e = 1.0_f64.exp();
/// let scale = (e + 1.0) / (e - 1.0);
/// assert!((rates.estimate_factor() - scale).abs() < 1e-12);
/// assert!((rates.worst_variance() - scale * scale).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Proportion m/d of reports that reveal a given attribute.
    pub share: f64,
    /// Probability of an atom that the attribute's level favours, minus the probability of an atom
    /// that it does not favour. Both probabilities are given that the attribute is drawn.
    pub gap: f64,
    /// Probability of an atom that the attribute's level does not favour, given that the attribute
    /// is drawn.
    pub other: f64,
    /// Value of each atom, divided by the sum of the values that the last level favours.
    pub values: Vec<f64>,
    /// Number of each level, from −1 to 1.
    pub levels: Vec<f64>,
    /// Second moment of one report's estimate of a number, at each level.
    squares: Vec<f64>,
}

impl Window {
    /// Computes the rates over `domain` at local ε.
    ///
    /// An atom of one attribute is part of t^(m − 1) cells. In k^(m − 1) of these, the other m − 1
    /// atoms are all favoured.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let d = domain.item_count().unwrap_or(self.drawn_attributes());
        let [own, other] = self.thresholds(epsilon).favoured_and_other_probabilities();
        let gap = f64::from(self.favoured_cells() / self.favoured_atoms()) * (own - other);
        let other = f64::from(self.cells() / self.atoms()) * other;
        let share = f64::from(self.drawn_attributes()) / f64::from(d);
        let top = f64::from(self.level_sum(self.levels() - 1));
        let values: Vec<f64> = (0..self.atoms())
            .map(|atom| f64::from(self.atom_value(atom)) / top)
            .collect();
        let squared = |values: &[f64]| values.iter().map(|y| y * y).sum::<f64>();
        let all = squared(&values);
        let windows = values.windows(self.favoured_atoms() as usize);
        let squares = windows.map(|own| (other * all + gap * squared(own)) / (share * gap * gap));
        Rates {
            share,
            gap,
            other,
            squares: squares.collect(),
            levels: (0..self.levels())
                .map(|level| f64::from(self.level_sum(level)) / top)
                .collect(),
            values,
        }
    }
}

impl Rates {
    /// Factor that turns the value of a reported atom into an estimate: 1/(share·gap), with the
    /// fields `share` and `gap`.
    #[must_use]
    pub fn estimate_factor(&self) -> f64 {
        1.0 / (self.share * self.gap)
    }

    /// Number of atoms that a level favours.
    #[must_use]
    pub const fn favoured_atoms(&self) -> usize {
        self.values.len() - self.levels.len() + 1
    }

    /// Second moment of one report's estimate of a number. It is linear in the number between two
    /// levels.
    #[must_use]
    pub fn estimate_second_moment(&self, number: f64) -> f64 {
        let above = self.levels.partition_point(|level| *level <= number);
        // Levels that stand for the same number have the same second moment.
        if above == self.levels.len() {
            return self.squares[above - 1];
        }
        let above = above.max(1);
        let [low, high] = [self.levels[above - 1], self.levels[above]];
        let [from, to] = [self.squares[above - 1], self.squares[above]];
        from + (number - low) / (high - low) * (to - from)
    }

    /// Variance of one report's estimate of a number.
    #[must_use]
    pub fn estimate_variance(&self, number: f64) -> f64 {
        self.estimate_second_moment(number) - number * number
    }

    /// Maximum variance of one report's estimate over all numbers.
    ///
    /// Between two levels the variance is greatest where the number is half the slope of the second
    /// moment. If that number is outside, it is greatest at the nearer level.
    #[must_use]
    pub fn worst_variance(&self) -> f64 {
        let pairs = self.levels.windows(2).zip(self.squares.windows(2));
        let worst = pairs.filter(|(levels, _)| levels[0] < levels[1]);
        let worst = worst.map(|(levels, squares)| {
            let slope = (squares[1] - squares[0]) / (levels[1] - levels[0]);
            let number = (0.5 * slope).clamp(levels[0], levels[1]);
            squares[0] + slope * (number - levels[0]) - number * number
        });
        worst.fold(0.0, f64::max)
    }

    /// Variance of one report's estimate, averaged over numbers that are spread evenly from −1
    /// to 1.
    ///
    /// The trapezoidal rule averages the second moment exactly, because it is linear between
    /// levels. The mean of x² is 1/3.
    #[must_use]
    pub fn average_variance(&self) -> f64 {
        let pairs = self.levels.windows(2).zip(self.squares.windows(2));
        let area = pairs
            .map(|(levels, squares)| 0.5 * (levels[1] - levels[0]) * (squares[0] + squares[1]));
        0.5 * area.sum::<f64>() - 1.0 / 3.0
    }
}

impl Window {
    /// Probability that a number from −1 to 1 is rounded to a level that favours `atom`.
    #[must_use]
    pub fn atom_favoured_probability(&self, number: f64, atom: u32) -> f64 {
        let (level, up) = self.level_and_rounding(number);
        let up = Threshold(up);
        let favours = |level: u32| {
            f64::from(u8::from(
                (level..level + self.favoured_atoms()).contains(&atom),
            ))
        };
        up.false_probability() * favours(level) + up.probability() * favours(level + 1)
    }
}

impl Randomizer {
    /// Computes the exact probability of each cell under a given seed. The thresholds are those
    /// that [`crate::Randomizer::randomize`] uses. An attribute without an entry counts as 0. Takes
    /// O(m·tᵐ) steps. Intended for tests and audits.
    #[must_use]
    pub fn cell_probabilities(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let [own, other] = self.thresholds.favoured_and_other_probabilities();
        let favoured = self.favoured_probabilities(seed, entries).into_iter();
        favoured.map(|p| other + (own - other) * p).collect()
    }

    /// Returns, for each cell, the probability that the numbers are rounded to levels that favour
    /// the cell.
    fn favoured_probabilities(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let mut cells = alloc::vec![1.0];
        for_each_drawn_item(
            seed,
            self.attributes,
            self.window.drawn_attributes(),
            |attribute| {
                let of = |atom: u32| {
                    self.window
                        .atom_favoured_probability(number_for_attribute(entries, attribute), atom)
                };
                let with = |cell: &f64| {
                    let cell = *cell;
                    (0..self.window.atoms()).map(move |atom| cell * of(atom))
                };
                cells = cells.iter().flat_map(with).collect();
            },
        );
        cells
    }
}
