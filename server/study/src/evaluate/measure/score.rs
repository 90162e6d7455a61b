//! Errors of estimates.

use hushbin::Entry;
use hushbin_analysis::estimate::{Sum, project};

/// Entries of a crowd, summed over people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Truth {
    people: f64,
    plus: Vec<f64>,
    minus: Vec<f64>,
}

/// Errors over all estimated values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score {
    /// Sum of absolute errors, not halved: the papers' total variation error.
    pub(crate) total: f64,
    /// Largest absolute error.
    pub(crate) largest: f64,
    /// Mean squared error.
    pub(crate) mean_square: f64,
}

impl Truth {
    /// Creates the truth of no people yet.
    pub(crate) fn new(items: u32) -> Self {
        Self {
            people: 0.0,
            plus: vec![0.0; items as usize],
            minus: vec![0.0; items as usize],
        }
    }

    /// Adds people's entries.
    pub(crate) fn add(&mut self, people: &[&[Entry]]) {
        self.people += people.len() as f64;
        for entry in people.iter().copied().flatten() {
            let (item, value) = (entry.item as usize, entry.value);
            if value > 0.0 {
                self.plus[item] += value;
            } else {
                self.minus[item] -= value;
            }
        }
    }

    /// Returns the mean of every item.
    pub(crate) fn means(&self) -> Vec<f64> {
        let both = self.plus.iter().zip(&self.minus);
        both.map(|(plus, minus)| (plus - minus) / self.people)
            .collect()
    }

    /// Returns the frequencies of every item with a positive value, then with a negative value.
    pub(crate) fn frequencies(&self) -> [Vec<f64>; 2] {
        let shares = |sums: &[f64]| sums.iter().map(|sum| sum / self.people).collect();
        [shares(&self.plus), shares(&self.minus)]
    }

    /// Returns the `count` items of greatest absolute mean.
    pub(crate) fn foremost(&self, count: usize) -> Vec<usize> {
        let means = self.means();
        let mut items: Vec<usize> = (0..means.len()).collect();
        items.sort_by(|a, b| means[*b].abs().total_cmp(&means[*a].abs()));
        items.truncate(count);
        items
    }
}

impl Score {
    /// Scores estimates against the truth.
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
            total,
            largest,
            mean_square: squares / count,
        }
    }
}

/// Projects frequencies onto the nearest ones of a crowd with exactly s entries each: P1's and P2's
/// projection.
pub(crate) fn onto_simplex(frequencies: &[Vec<f64>; 2], sparsity: u32) -> [Vec<f64>; 2] {
    let items = frequencies[0].len();
    let mut all = frequencies.concat();
    project(&mut all, Sum::Exactly(f64::from(sparsity)));
    let (plus, minus) = all.split_at(items);
    [plus.to_vec(), minus.to_vec()]
}

/// Projects means onto the nearest ones whose magnitudes sum to at most s, as those of any crowd
/// do. This is the projection for estimates of means alone.
pub(crate) fn onto_ball(means: &[f64], sparsity: u32) -> Vec<f64> {
    let mut magnitudes: Vec<f64> = means.iter().map(|mean| mean.abs()).collect();
    project(&mut magnitudes, Sum::AtMost(f64::from(sparsity)));
    let both = magnitudes.iter().zip(means);
    both.map(|(magnitude, mean)| magnitude.copysign(*mean))
        .collect()
}
