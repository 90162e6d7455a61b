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
/// let rates = Window::new(1, 2, 1, [1])?.estimate_scale_and_variance(&Domain::of_dense_inputs(1), 1.0);
/// let e = 1.0_f64.exp();
/// let scale = (e + 1.0) / (e - 1.0);
/// assert!((rates.estimate_factor() - scale).abs() < 1e-12);
/// assert!((rates.max_variance() - scale * scale).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateScaleAndVariance {
    /// Proportion m/d of reports that reveal a given attribute.
    pub attribute_reveal_fraction: f64,
    /// Probability of an atom that the attribute's level favours, minus the probability of an atom
    /// that it does not favour. Both probabilities are given that the attribute is drawn.
    pub favoured_probability_gap: f64,
    /// Probability of an atom that the attribute's level does not favour, given that the attribute
    /// is drawn.
    pub unfavoured_atom_probability: f64,
    /// Value of each atom, divided by the sum of the values that the last level favours.
    pub atom_top_level_ratios: Vec<f64>,
    /// Number of each level, from −1 to 1.
    pub level_values: Vec<f64>,
    /// Second moment of one report's estimate of a number, at each level.
    second_moment_by_level: Vec<f64>,
}

impl Window {
    /// Computes the rates over `domain` at local ε.
    ///
    /// An atom of one attribute is part of t^(m − 1) cells. In k^(m − 1) of these, the other m − 1
    /// atoms are all favoured.
    #[must_use]
    pub fn estimate_scale_and_variance(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> EstimateScaleAndVariance {
        let d = domain.item_count().unwrap_or(self.drawn_attribute_count());
        let [own, other] = self.thresholds(epsilon).favoured_and_other_probabilities();
        let gap =
            f64::from(self.favoured_cell_count() / self.favoured_atom_count()) * (own - other);
        let other = f64::from(self.atom_combination_count() / self.atoms_per_attribute()) * other;
        let share = f64::from(self.drawn_attribute_count()) / f64::from(d);
        let top = f64::from(self.favoured_atom_value_sum(self.level_count() - 1));
        let values: Vec<f64> = (0..self.atoms_per_attribute())
            .map(|atom| f64::from(self.atom_value(atom)) / top)
            .collect();
        let squared = |values: &[f64]| values.iter().map(|y| y * y).sum::<f64>();
        let all = squared(&values);
        let windows = values.windows(self.favoured_atom_count() as usize);
        let squares = windows.map(|own| (other * all + gap * squared(own)) / (share * gap * gap));
        EstimateScaleAndVariance {
            attribute_reveal_fraction: share,
            favoured_probability_gap: gap,
            unfavoured_atom_probability: other,
            second_moment_by_level: squares.collect(),
            level_values: (0..self.level_count())
                .map(|level| f64::from(self.favoured_atom_value_sum(level)) / top)
                .collect(),
            atom_top_level_ratios: values,
        }
    }
}

impl EstimateScaleAndVariance {
    /// Factor that turns the value of a reported atom into an estimate: 1/(share·gap), with the
    /// fields `share` and `gap`.
    #[must_use]
    pub fn estimate_factor(&self) -> f64 {
        1.0 / (self.attribute_reveal_fraction * self.favoured_probability_gap)
    }

    /// Number of atoms that a level favours.
    #[must_use]
    pub const fn favoured_atom_count(&self) -> usize {
        self.atom_top_level_ratios.len() - self.level_values.len() + 1
    }

    /// Second moment of one report's estimate of a number. It is linear in the number between two
    /// levels.
    #[must_use]
    pub fn estimate_second_moment(&self, number: f64) -> f64 {
        let above = self.level_values.partition_point(|level| *level <= number);
        // Levels that stand for the same number have the same second moment.
        if above == self.level_values.len() {
            return self.second_moment_by_level[above - 1];
        }
        let above = above.max(1);
        let [low, high] = [self.level_values[above - 1], self.level_values[above]];
        let [from, to] = [
            self.second_moment_by_level[above - 1],
            self.second_moment_by_level[above],
        ];
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
    pub fn max_variance(&self) -> f64 {
        let pairs = self
            .level_values
            .windows(2)
            .zip(self.second_moment_by_level.windows(2));
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
    pub fn uniform_average_variance(&self) -> f64 {
        let pairs = self
            .level_values
            .windows(2)
            .zip(self.second_moment_by_level.windows(2));
        let area = pairs
            .map(|(levels, squares)| 0.5 * (levels[1] - levels[0]) * (squares[0] + squares[1]));
        0.5 * area.sum::<f64>() - 1.0 / 3.0
    }
}

impl Window {
    /// Probability that a number from −1 to 1 is rounded to a level that favours `atom`.
    #[must_use]
    pub fn atom_favoured_probability(&self, number: f64, atom: u32) -> f64 {
        let (level, up) = self.level_and_round_up_probability(number);
        let up = Threshold(up);
        let favours = |level: u32| {
            f64::from(u8::from(
                (level..level + self.favoured_atom_count()).contains(&atom),
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
        let favoured = self.favoured_probability_by_cell(seed, entries).into_iter();
        favoured.map(|p| other + (own - other) * p).collect()
    }

    /// Returns, for each cell, the probability that the numbers are rounded to levels that favour
    /// the cell.
    fn favoured_probability_by_cell(&self, seed: u64, entries: &[Entry]) -> Vec<f64> {
        let mut cells = alloc::vec![1.0];
        for_each_drawn_item(
            seed,
            self.attribute_count,
            self.window_mechanism.drawn_attribute_count(),
            |attribute| {
                let of = |atom: u32| {
                    self.window_mechanism
                        .atom_favoured_probability(number_for_attribute(entries, attribute), atom)
                };
                let with = |cell: &f64| {
                    let cell = *cell;
                    (0..self.window_mechanism.atoms_per_attribute())
                        .map(move |atom| cell * of(atom))
                };
                cells = cells.iter().flat_map(with).collect();
            },
        );
        cells
    }
}
