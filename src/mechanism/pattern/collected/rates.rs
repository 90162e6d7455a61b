//! What outputs are worth: unbiased estimates of shares of cells, and their variances.

use alloc::vec::Vec;
use core::ops::Range;

use crate::mechanism::pattern::parameters::Pattern;
use crate::solve::{factorise, solve};

/// Probabilities of outputs, and what each output counts for the share of each cell, from the
/// threshold that is really sampled.
///
/// ```
/// use hushbin::mechanism::pattern::Pattern;
///
/// let rates = Pattern::new(5, [0, 1])?.rates(4, 1.0);
/// let below = rates.sum(&rates.weights(0..2));
/// // Without bias: what a report counts for the share in the first two cells is 1 on average
/// // of a person in cell 1, and 0 of one in cell 2.
/// let mean = |cell| -> f64 { (0..5).map(|output| rates.chances(cell)[output] * below[output]).sum() };
/// assert!((mean(1) - 1.0).abs() < 1e-12 && mean(2).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Probability of each output for a person in each cell, in a row for each cell.
    chances: Vec<f64>,
    /// What each output counts for each cell's share, in a row for each cell.
    worth: Vec<f64>,
    outputs: usize,
}

impl Pattern {
    /// The rates over so many cells, at most L, at local budget ε.
    ///
    /// # Panics
    /// If there are more cells than outputs.
    #[must_use]
    pub fn rates(&self, cells: u32, epsilon: f64) -> Rates {
        assert!(cells <= self.outputs(), "more cells than outputs");
        let (size, outputs) = (cells as usize, self.outputs() as usize);
        let chances = self.chances(cells, epsilon);
        let (factor, weighed) = weighed(&chances, size);
        let mut worth = alloc::vec![0.0; size * outputs];
        for output in 0..outputs {
            let of_cell = |cell: usize| weighed[cell * outputs + output];
            let right: Vec<f64> = (0..size).map(of_cell).collect();
            for (cell, own) in solve(&factor, &right).into_iter().enumerate() {
                worth[cell * outputs + output] = own;
            }
        }
        Rates {
            chances,
            worth,
            outputs,
        }
    }

    /// Returns whether shares of so many cells follow from the shares of outputs. Where another
    /// crowd has the same outputs they do not, as of two outputs out of four that are opposite.
    ///
    /// # Panics
    /// If there are more cells than outputs.
    #[must_use]
    pub fn tells_apart(&self, cells: u32, epsilon: f64) -> bool {
        let size = cells as usize;
        let (factor, _) = weighed(&self.chances(cells, epsilon), size);
        let pivots = (0..size).map(|row| factor[row * size + row]);
        let [least, most] = [f64::min, f64::max].map(|of| pivots.clone().reduce(of));
        // They differ by a factor of 10⁵ at most, for patterns that hushbin chooses.
        least
            .zip(most)
            .is_some_and(|(least, most)| least > 1e-6 * most)
    }

    /// The probability of each output for a person in each of so many cells.
    fn chances(&self, cells: u32, epsilon: f64) -> Vec<f64> {
        let [own, other] = self.thresholds(epsilon).levels();
        let of_cell = |cell| {
            let chance = move |output| {
                if self.favours(cell, output) {
                    own
                } else {
                    other
                }
            };
            (0..self.outputs()).map(chance)
        };
        (0..cells).flat_map(of_cell).collect()
    }
}

/// Factor of Mᵀ·D⁻¹·M, and Mᵀ·D⁻¹, for M the probabilities of outputs by cell and D those of
/// people who are spread evenly over the cells: the equations of weighted least squares.
fn weighed(chances: &[f64], cells: usize) -> (Vec<f64>, Vec<f64>) {
    let outputs = chances.len() / cells;
    let mut evenly = alloc::vec![0.0; outputs];
    for own in chances.chunks_exact(outputs) {
        for (sum, chance) in evenly.iter_mut().zip(own) {
            *sum += chance / cells as f64;
        }
    }
    let over = |(chance, evenly): (&f64, &f64)| chance / evenly;
    let weighed: Vec<f64> = (chances.iter().zip(evenly.iter().cycle()))
        .map(over)
        .collect();
    let mut matrix = Vec::with_capacity(cells * cells);
    for row in weighed.chunks_exact(outputs) {
        let columns = chances.chunks_exact(outputs);
        matrix.extend(columns.map(|column| product(row, column)));
    }
    factorise(&mut matrix, cells);
    (matrix, weighed)
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Rates {
    /// K, how many cells there are.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.chances.len() / self.outputs
    }

    /// The probabilities of outputs for a person in a cell.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn chances(&self, cell: usize) -> &[f64] {
        &self.chances[cell * self.outputs..][..self.outputs]
    }

    /// Weights of the share of people in a range of cells: 1 inside, 0 elsewhere.
    #[must_use]
    pub fn weights(&self, cells: Range<usize>) -> Vec<f64> {
        let weight = |cell| f64::from(u8::from(cells.contains(&cell)));
        (0..self.cells()).map(weight).collect()
    }

    /// What each output counts for the sum of shares of cells, each times its weight:
    /// without bias, whatever the shares are.
    #[must_use]
    pub fn sum(&self, weights: &[f64]) -> Vec<f64> {
        let mut worth = alloc::vec![0.0; self.outputs];
        let rows = self.worth.chunks_exact(self.outputs).zip(weights);
        for (own, weight) in rows.filter(|(_, weight)| **weight != 0.0) {
            for (sum, own) in worth.iter_mut().zip(own) {
                *sum += weight * own;
            }
        }
        worth
    }

    /// Variance of what one report of a person in each cell counts for a sum, from what
    /// outputs count and the weights of cells.
    #[must_use]
    pub fn variances(&self, worth: &[f64], weights: &[f64]) -> Vec<f64> {
        let squares: Vec<f64> = worth.iter().map(|own| own * own).collect();
        let of_cell =
            |(cell, weight): (usize, &f64)| product(self.chances(cell), &squares) - weight * weight;
        weights.iter().enumerate().map(of_cell).collect()
    }

    /// Variance of one report's estimate of a sum, of people who are drawn from all cells evenly.
    #[must_use]
    pub fn even_variance(&self, weights: &[f64]) -> f64 {
        let all = weights.len() as f64;
        let own: f64 = self.variances(&self.sum(weights), weights).iter().sum();
        let mean = weights.iter().sum::<f64>() / all;
        let spread: f64 = weights.iter().map(|own| (own - mean) * (own - mean)).sum();
        (own + spread) / all
    }
}

/// The distribution function of the triangular density on [−1, 1], by which shares below an
/// edge are smoothed.
///
/// ```
/// use hushbin::mechanism::pattern::triangle;
///
/// assert_eq!([-2.0, 0.0, 0.5, 1.0].map(triangle), [0.0, 0.5, 0.875, 1.0]);
/// ```
#[must_use]
pub fn triangle(x: f64) -> f64 {
    let x = x.clamp(-1.0, 1.0);
    let tail = 0.5 * (1.0 - x.abs()) * (1.0 - x.abs());
    if x < 0.0 { tail } else { 1.0 - tail }
}
