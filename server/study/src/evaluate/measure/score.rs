//! How wrong estimates are.

use hushbin::Entry;
use hushbin_analysis::estimate::{Sum, project};

/// What a crowd has, summed over people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Truth {
    people: f64,
    plus: Vec<f64>,
    minus: Vec<f64>,
}

/// Errors over all numbers that are estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score {
    /// The sum of absolute errors, not halved: the papers' total variation error.
    pub(crate) total: f64,
    /// The largest.
    pub(crate) largest: f64,
    /// The average square.
    pub(crate) mean_square: f64,
}

impl Truth {
    /// Nobody yet.
    pub(crate) fn new(items: u32) -> Self {
        Self {
            people: 0.0,
            plus: vec![0.0; items as usize],
            minus: vec![0.0; items as usize],
        }
    }

    /// Adds people.
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

    /// The mean of every item.
    pub(crate) fn means(&self) -> Vec<f64> {
        let both = self.plus.iter().zip(&self.minus);
        both.map(|(plus, minus)| (plus - minus) / self.people)
            .collect()
    }

    /// The frequency of every item with a positive value, and with a negative one.
    pub(crate) fn frequencies(&self) -> [Vec<f64>; 2] {
        let shares = |sums: &[f64]| sums.iter().map(|sum| sum / self.people).collect();
        [shares(&self.plus), shares(&self.minus)]
    }

    /// The items of greatest mean by magnitude, so many of them.
    pub(crate) fn foremost(&self, count: usize) -> Vec<usize> {
        let means = self.means();
        let mut items: Vec<usize> = (0..means.len()).collect();
        items.sort_by(|a, b| means[*b].abs().total_cmp(&means[*a].abs()));
        items.truncate(count);
        items
    }
}

impl Score {
    /// Of estimates beside the truth.
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

/// Frequencies moved to the nearest that a crowd with s entries each can have: P1's and P2's
/// projection.
pub(crate) fn onto_simplex(frequencies: &[Vec<f64>; 2], sparsity: u32) -> [Vec<f64>; 2] {
    let items = frequencies[0].len();
    let mut all = frequencies.concat();
    project(&mut all, Sum::Exactly(f64::from(sparsity)));
    let (plus, minus) = all.split_at(items);
    [plus.to_vec(), minus.to_vec()]
}

/// Means moved to the nearest whose magnitudes sum to s at most, as those of a crowd do: the
/// projection for whoever estimates means alone.
pub(crate) fn onto_ball(means: &[f64], sparsity: u32) -> Vec<f64> {
    let mut magnitudes: Vec<f64> = means.iter().map(|mean| mean.abs()).collect();
    project(&mut magnitudes, Sum::AtMost(f64::from(sparsity)));
    let both = magnitudes.iter().zip(means);
    both.map(|(magnitude, mean)| magnitude.copysign(*mean))
        .collect()
}
