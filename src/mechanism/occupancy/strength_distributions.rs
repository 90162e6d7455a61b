//! Distribution of the strength of a cell.

use alloc::vec;
use alloc::vec::Vec;

/// Distributions of the count and the strength of one hash function's cells.
pub(super) struct StrengthDistributions {
    /// Probability P(count = n) of a cell that is independent of the other cells, for n from 0 on.
    pub(super) independent_cell_occupancy: Vec<f64>,
    /// Probability P(count = n) of one of the T cells, whose counts sum to s, for n from 0 on.
    pub(super) cell_occupancy_distribution: Vec<f64>,
    /// Entry `[v][n]` is the probability that a cell with a count of n has a strength of v or more.
    /// Both v and n start at 0.
    pub(super) reach_probabilities: Vec<Vec<f64>>,
    /// Expected number of elements in a cell of strength 0, 1, ….
    pub(super) mean_elements_by_strength: Vec<f64>,
}

/// Computes the probabilities P(|sum of n fair signs| ≥ v). Entry `[v][n]` of the result is for v
/// from 0 to `len`, and for n below `len`. The distribution of |sum| is updated sign by sign.
pub(super) fn signed_sum_reach_probabilities(len: usize) -> Vec<Vec<f64>> {
    // `law[k]` is the probability of |sum| = k.
    let mut law = vec![0.0; len + 1];
    law[0] = 1.0;
    let mut reach_probabilities = vec![vec![0.0; len]; len + 1];
    for n in 0..len {
        let mut tail = 0.0;
        for (reach_probabilities, p) in reach_probabilities.iter_mut().zip(&law).take(n + 1).rev() {
            tail += p;
            reach_probabilities[n] = tail;
        }
        let mut next = vec![0.0; len + 1];
        for (k, &p) in law.iter().enumerate().take(n + 1) {
            if k == 0 {
                next[1] += p;
            } else {
                next[k - 1] += p / 2.0;
                next[k + 1] += p / 2.0;
            }
        }
        law = next;
    }
    reach_probabilities
}
