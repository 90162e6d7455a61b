//! Unbiased estimates of the share of people in each cell, from reported outputs, and variances of
//! these estimates.

use alloc::vec::Vec;
use core::ops::Range;

use crate::mechanism::pattern::parameters::Pattern;
use crate::solve::{cholesky_factorise, solve_with_cholesky_factor};

/// Probabilities of outputs for each cell, and weights of outputs in the estimated share of each
/// cell. The realised threshold determines both.
///
/// ```
/// use hushbin::mechanism::pattern::Pattern;
///
/// let rates = Pattern::new(5, [0, 1])?.share_estimator(4, 1.0);
/// let below = rates.output_weights_of_sum(&rates.range_indicator_weights(0..2));
/// // No bias: a report's estimate of the share in the first two cells has the mean 1 for a
/// // person in cell 1, and 0 for one in cell 2.
/// let mean = |cell| -> f64 { (0..5).map(|output| rates.output_probabilities(cell)[output] * below[output]).sum() };
/// assert!((mean(1) - 1.0).abs() < 1e-12 && mean(2).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PatternEstimator {
    /// Probability of each output for a person in each cell, one row for each cell.
    output_probabilities: Vec<f64>,
    /// Weight of each output in the estimated share of each cell, one row for each cell.
    output_weights: Vec<f64>,
    output_count: usize,
}

impl Pattern {
    /// Computes the rates over `cells` cells at local ε.
    ///
    /// # Panics
    /// If there are more cells than outputs.
    #[must_use]
    pub fn share_estimator(&self, cells: u32, epsilon: f64) -> PatternEstimator {
        assert!(cells <= self.output_count(), "more cells than outputs");
        let (size, outputs) = (cells as usize, self.output_count() as usize);
        let chances = self.output_probability_matrix(cells, epsilon);
        let (factor, weighed) = factor_normal_equations(&chances, size);
        let mut output_weights = alloc::vec![0.0; size * outputs];
        // Solve (Mᵀ·D⁻¹·M)·W = Mᵀ·D⁻¹ for the weights W, one output at a time.
        for output in 0..outputs {
            let of_cell = |cell: usize| weighed[cell * outputs + output];
            let right: Vec<f64> = (0..size).map(of_cell).collect();
            for (cell, own) in solve_with_cholesky_factor(&factor, &right)
                .into_iter()
                .enumerate()
            {
                output_weights[cell * outputs + output] = own;
            }
        }
        PatternEstimator {
            output_probabilities: chances,
            output_weights,
            output_count: outputs,
        }
    }

    /// Returns true if the expected shares of outputs determine the shares of people in the `cells`
    /// cells. They do not if two different distributions of people over cells lead to the same
    /// expected shares of outputs. For example, a pattern of two opposite outputs out of four has
    /// this defect.
    ///
    /// # Panics
    /// If there are more cells than outputs.
    #[must_use]
    pub fn is_identifiable(&self, cells: u32, epsilon: f64) -> bool {
        let size = cells as usize;
        let (factor, _) =
            factor_normal_equations(&self.output_probability_matrix(cells, epsilon), size);
        let pivots = (0..size).map(|row| factor[row * size + row]);
        let [least, most] = [f64::min, f64::max].map(|of| pivots.clone().reduce(of));
        // For patterns that hushbin chooses, pivots differ by a factor of at most 10⁵.
        least
            .zip(most)
            .is_some_and(|(least, most)| least > 1e-6 * most)
    }

    /// Probability of each output for a person in each of `cells` cells, one row for each cell.
    fn output_probability_matrix(&self, cells: u32, epsilon: f64) -> Vec<f64> {
        let [own, other] = self
            .favoured_output_thresholds(epsilon)
            .favoured_and_other_probabilities();
        let of_cell = |cell| {
            let chance = move |output| {
                if self.cell_favours_output(cell, output) {
                    own
                } else {
                    other
                }
            };
            (0..self.output_count()).map(chance)
        };
        (0..cells).flat_map(of_cell).collect()
    }
}

/// Prepares the normal equations of weighted least squares. Returns the Cholesky factor of
/// Mᵀ·D⁻¹·M, and the matrix Mᵀ·D⁻¹. Column j of M has the probabilities of the outputs for cell j.
/// The diagonal matrix D has the probabilities of the outputs if people are spread evenly over the
/// cells.
fn factor_normal_equations(chances: &[f64], cells: usize) -> (Vec<f64>, Vec<f64>) {
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
        matrix.extend(columns.map(|column| dot_product(row, column)));
    }
    cholesky_factorise(&mut matrix, cells);
    (matrix, weighed)
}

fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl PatternEstimator {
    /// Number of cells.
    #[must_use]
    pub const fn cell_count(&self) -> usize {
        self.output_probabilities.len() / self.output_count
    }

    /// Probability of each output for a person in `cell`.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn output_probabilities(&self, cell: usize) -> &[f64] {
        &self.output_probabilities[cell * self.output_count..][..self.output_count]
    }

    /// Returns the weight of each cell: 1 in the range `cells`, 0 elsewhere. With these weights,
    /// the weighted sum of shares is the share of people in the range.
    #[must_use]
    pub fn range_indicator_weights(&self, cells: Range<usize>) -> Vec<f64> {
        let weight = |cell| f64::from(u8::from(cells.contains(&cell)));
        (0..self.cell_count()).map(weight).collect()
    }

    /// Returns the weight of each output in an estimate. The estimate is of the sum of the cells'
    /// shares, weighted by `weights`. It is unbiased for every distribution of people over cells.
    #[must_use]
    pub fn output_weights_of_sum(&self, weights: &[f64]) -> Vec<f64> {
        let mut output_weights = alloc::vec![0.0; self.output_count];
        let rows = self
            .output_weights
            .chunks_exact(self.output_count)
            .zip(weights);
        for (own, weight) in rows.filter(|(_, weight)| **weight != 0.0) {
            for (sum, own) in output_weights.iter_mut().zip(own) {
                *sum += weight * own;
            }
        }
        output_weights
    }

    /// Variances of one report's estimate of a weighted sum of shares. The list has one variance
    /// for each cell that the person may be in. `output_weights` are the weights of the outputs,
    /// and `weights` are those of the cells.
    #[must_use]
    pub fn variances_by_cell(&self, output_weights: &[f64], weights: &[f64]) -> Vec<f64> {
        let squares: Vec<f64> = output_weights.iter().map(|own| own * own).collect();
        let of_cell = |(cell, weight): (usize, &f64)| {
            dot_product(self.output_probabilities(cell), &squares) - weight * weight
        };
        weights.iter().enumerate().map(of_cell).collect()
    }

    /// Variance of one report's estimate of a weighted sum of shares, for people drawn evenly from
    /// all cells. `weights` are the weights of the cells.
    #[must_use]
    pub fn variance_for_even_cells(&self, weights: &[f64]) -> f64 {
        let all = weights.len() as f64;
        let own: f64 = self
            .variances_by_cell(&self.output_weights_of_sum(weights), weights)
            .iter()
            .sum();
        let mean = weights.iter().sum::<f64>() / all;
        let spread: f64 = weights.iter().map(|own| (own - mean) * (own - mean)).sum();
        // Law of total variance: mean of the variances in each cell, plus variance of the cells'
        // weights.
        (own + spread) / all
    }
}

/// Distribution function of the triangular density on [−1, 1]. As a smooth step from 0 to 1, it
/// gives the weights of cells near an edge.
///
/// ```
/// use hushbin::mechanism::pattern::triangular_cdf;
///
/// assert_eq!([-2.0, 0.0, 0.5, 1.0].map(triangular_cdf), [0.0, 0.5, 0.875, 1.0]);
/// ```
#[must_use]
pub fn triangular_cdf(x: f64) -> f64 {
    let x = x.clamp(-1.0, 1.0);
    let tail = 0.5 * (1.0 - x.abs()) * (1.0 - x.abs());
    if x < 0.0 { tail } else { 1.0 - tail }
}
