//! Expected sums over the strongest cells, exactly.

use alloc::vec;
use alloc::vec::Vec;

/// What the c strongest cells are expected to be together.
///
/// ```
/// use hushbin::mechanism::occupancy::{Occupancy, Strength};
///
/// let occupancy = Occupancy { elements: 3, cells: 12, per_cell: Some(7) };
/// let top = occupancy.top_sums(Strength::Count, 1, 3).at(2);
/// assert!(top.squares >= top.strength && top.load == top.strength);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopSum {
    /// G(c), the sum of their strengths.
    pub strength: f64,
    /// The sum of the squares of their strengths.
    pub squares: f64,
    /// The number of elements in them: nearly, as each is taken to hold what its
    /// own strength alone leads to expect. For signed sums, where c beyond the
    /// cells with strength falls on sides of the others.
    pub load: f64,
}

/// Expected sums over the c strongest cells, for each c up to a maximum.
///
/// ```
/// use hushbin::mechanism::occupancy::{Occupancy, Strength};
///
/// let occupancy = Occupancy { elements: 3, cells: 12, per_cell: Some(7) };
/// let top = occupancy.top_sums(Strength::Count, 1, 3);
/// assert!(top.at(1).strength < top.at(2).strength);
/// // The best of the cells of four functions is better than that of one.
/// assert!(occupancy.top_sums(Strength::Count, 4, 1).at(1).strength > top.at(1).strength);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopSums {
    sums: Vec<TopSum>,
    /// Expected number of the c strongest cells that have any strength.
    strong: Vec<f64>,
    /// Expected number of elements in a cell of strength 0.
    weak_load: f64,
}

impl TopSums {
    /// Of the c strongest. At most the maximum that the sums were computed for is looked at.
    #[must_use]
    pub fn at(&self, c: u32) -> TopSum {
        let last = (c as usize).min(self.sums.len() - 1);
        let top = self.sums[last];
        TopSum {
            load: top.load + (f64::from(c) - self.strong[last]) * self.weak_load,
            ..top
        }
    }

    /// From P(K_v ≥ j) for v = 1, 2, …, and the expected number of elements in a
    /// cell of strength 0, 1, ….
    pub(super) fn new(tails: impl Iterator<Item = Vec<f64>>, loads: &[f64], most: usize) -> Self {
        let none = TopSum {
            strength: 0.0,
            squares: 0.0,
            load: 0.0,
        };
        let mut top = Self {
            sums: vec![none; most + 1],
            strong: vec![0.0; most + 1],
            weak_load: loads[0],
        };
        for (v, at_least) in (1..).zip(tails) {
            let step = step(v, loads);
            // E[min(c, K)] = Σ_{j=1..c} P(K ≥ j).
            let mut mean = 0.0;
            for c in 1..=most {
                mean += at_least.get(c).copied().unwrap_or(0.0);
                top.sums[c].add(v, step, mean);
                if v == 1 {
                    top.strong[c] = mean;
                }
            }
        }
        top
    }
}

/// A load is the sum of its steps from one strength to the next, the first from none.
pub(super) fn step(v: usize, loads: &[f64]) -> f64 {
    if v == 1 {
        loads[1]
    } else {
        loads[v] - loads[v - 1]
    }
}

impl TopSum {
    /// Adds so many cells that reach v: X = Σ_{v ≤ X} 1, and X² = Σ_{v ≤ X} (2v − 1).
    pub(super) fn add(&mut self, v: usize, step: f64, cells: f64) {
        self.strength += cells;
        self.squares += (2 * v - 1) as f64 * cells;
        self.load += step * cells;
    }
}
