//! True means and frequencies of a crowd, and the errors of their estimates.

use hushbin::Entry;
use hushbin_analysis::estimate::{SumConstraint, project_to_simplex};

/// True values of a crowd. For each item, they have the sum of positive values and the sum of
/// negative values over all people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CrowdTruth {
    people_count: f64,
    positive_sums: Vec<f64>,
    negative_sums: Vec<f64>,
}

/// Errors of estimates, summarised over all estimated values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorSummary {
    /// Sum of absolute errors. The papers call it total variation error, and do not halve it.
    pub(crate) total_absolute_error: f64,
    /// Largest absolute error.
    pub(crate) largest_absolute_error: f64,
    /// Mean squared error.
    pub(crate) mean_squared_error: f64,
}

impl CrowdTruth {
    /// Creates the true values of a crowd that has no people yet.
    pub(crate) fn new(items: u32) -> Self {
        Self {
            people_count: 0.0,
            positive_sums: vec![0.0; items as usize],
            negative_sums: vec![0.0; items as usize],
        }
    }

    /// Adds the entries of people to the crowd.
    pub(crate) fn add_people(&mut self, people: &[&[Entry]]) {
        self.people_count += people.len() as f64;
        for entry in people.iter().copied().flatten() {
            let (item, value) = (entry.item as usize, entry.value);
            if value > 0.0 {
                self.positive_sums[item] += value;
            } else {
                self.negative_sums[item] -= value;
            }
        }
    }

    /// Returns the true mean of every item over all people. A missing entry counts as 0.
    pub(crate) fn true_means(&self) -> Vec<f64> {
        let both = self.positive_sums.iter().zip(&self.negative_sums);
        both.map(|(plus, minus)| (plus - minus) / self.people_count)
            .collect()
    }

    /// Returns the true frequencies of positive values and of negative values, each as a list with
    /// one number for each item.
    pub(crate) fn true_sign_frequencies(&self) -> [Vec<f64>; 2] {
        let shares = |sums: &[f64]| sums.iter().map(|sum| sum / self.people_count).collect();
        [shares(&self.positive_sums), shares(&self.negative_sums)]
    }

    /// Returns the `count` items whose means have the greatest magnitudes.
    pub(crate) fn top_mean_magnitude_items(&self, count: usize) -> Vec<usize> {
        let means = self.true_means();
        let mut items: Vec<usize> = (0..means.len()).collect();
        items.sort_by(|a, b| means[*b].abs().total_cmp(&means[*a].abs()));
        items.truncate(count);
        items
    }
}

impl ErrorSummary {
    /// Computes the errors of estimates, given the true values in the same order.
    pub(crate) fn new<'a>(
        estimates: impl IntoIterator<Item = &'a f64>,
        truth: impl IntoIterator<Item = &'a f64>,
    ) -> Self {
        let (mut total, mut largest, mut squares, mut count) = (0.0, 0.0_f64, 0.0, 0.0);
        for (estimate, truth) in estimates.into_iter().zip(truth) {
            let error = (estimate - truth).abs();
            total += error;
            largest = largest.max(error);
            squares += error * error;
            count += 1.0;
        }
        Self {
            total_absolute_error: total,
            largest_absolute_error: largest,
            mean_squared_error: squares / count,
        }
    }
}

/// Projects estimated frequencies onto the nearest frequencies that are possible for a crowd. In
/// the crowd, each person has exactly s = `sparsity` entries. This is the projection of P1 and P2.
pub(crate) fn project_onto_scaled_simplex(
    frequencies: &[Vec<f64>; 2],
    sparsity: u32,
) -> [Vec<f64>; 2] {
    let items = frequencies[0].len();
    let mut all = frequencies.concat();
    project_to_simplex(&mut all, SumConstraint::Exactly(f64::from(sparsity)));
    let (plus, minus) = all.split_at(items);
    [plus.to_vec(), minus.to_vec()]
}

/// Projects estimated means onto the nearest means whose magnitudes sum to at most s = `sparsity`.
/// The true means satisfy this for every crowd with at most s entries for each person. This
/// projection is for mechanisms that estimate only means.
pub(crate) fn project_onto_l1_ball(means: &[f64], sparsity: u32) -> Vec<f64> {
    let mut magnitudes: Vec<f64> = means.iter().map(|mean| mean.abs()).collect();
    project_to_simplex(&mut magnitudes, SumConstraint::AtMost(f64::from(sparsity)));
    let both = magnitudes.iter().zip(means);
    both.map(|(magnitude, mean)| magnitude.copysign(*mean))
        .collect()
}
