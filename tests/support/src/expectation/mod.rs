//! True values of a crowd, and the expected error of its estimates.

mod clipped_sum;
mod contribution;
mod kept;

use hushbin::{Entry, Question};
use hushbin_analysis::estimate::Estimand;

use contribution::Contributions;

/// True values of a crowd, with the expected error of its estimates.
#[derive(Debug, Clone)]
pub struct Expectation {
    contributions: Contributions,
    people: f64,
    items: Vec<Sums>,
    /// Variance of an item that no person has, summed over people.
    nobody: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    truth: f64,
    bias: f64,
    /// Variance in excess of that of people without the item.
    extra_variance: f64,
}

impl Expectation {
    /// Creates the expectation for no people yet. `None` if the question's mechanism does not
    /// estimate this.
    #[must_use]
    pub fn new(question: &Question, estimand: Estimand, items: u32) -> Option<Self> {
        Some(Self {
            contributions: Contributions::new(question, estimand)?,
            people: 0.0,
            items: vec![Sums::default(); items as usize],
            nobody: 0.0,
        })
    }

    /// Adds a person with these entries.
    pub fn add(&mut self, entries: &[Entry]) {
        let contribution = self.contributions.of(entries);
        self.people += 1.0;
        self.nobody += contribution.nobody;
        for (entry, own) in entries.iter().zip(&contribution.entries) {
            let sums = &mut self.items[entry.item as usize];
            sums.truth += own.truth;
            sums.bias += own.expected - own.truth;
            sums.extra_variance += own.variance - contribution.nobody;
        }
    }

    /// Adds a crowd of the same question and estimand.
    pub fn merge(&mut self, other: &Self) {
        self.people += other.people;
        self.nobody += other.nobody;
        for (sums, more) in self.items.iter_mut().zip(&other.items) {
            sums.truth += more.truth;
            sums.bias += more.bias;
            sums.extra_variance += more.extra_variance;
        }
    }

    /// Returns the true value of each item.
    pub fn truth(&self) -> impl Iterator<Item = f64> {
        self.items.iter().map(|sums| sums.truth / self.people)
    }

    /// Squared bias of sampling down or clipping, averaged over items.
    #[must_use]
    pub fn squared_bias(&self) -> f64 {
        let square = |sums: &Sums| (sums.bias / self.people).powi(2);
        self.items.iter().map(square).sum::<f64>() / self.items.len() as f64
    }

    /// Expected squared error, averaged over items: noise and squared bias.
    #[must_use]
    pub fn mean_squared_error(&self) -> f64 {
        let extra: f64 = self.items.iter().map(|sums| sums.extra_variance).sum();
        let noise = self.nobody + extra / self.items.len() as f64;
        noise / self.people.powi(2) + self.squared_bias()
    }
}
