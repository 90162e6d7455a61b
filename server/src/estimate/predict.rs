//! What error to expect: before there are reports, or for a crowd whose truth
//! is known.

use hushbin::mechanism::{coco, collision};
use hushbin::{Entry, Mechanism, Task, ValueKind};

use super::{Estimand, variance_over_people};

/// Predicts the noise of one task's estimates.
#[derive(Debug, Clone, Copy)]
pub struct Predictor {
    rates: Rates,
    sparsity: usize,
}

#[derive(Debug, Clone, Copy)]
enum Rates {
    Collision(collision::Rates),
    Coco(coco::Rates),
}

impl Predictor {
    /// Computes the rates once.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        let (domain, epsilon) = (task.domain(), task.epsilon());
        let rates = match task.mechanism() {
            Mechanism::Collision(collision) => Rates::Collision(collision.rates(&domain, epsilon)),
            Mechanism::Coco(coco) => Rates::Coco(coco.rates(&domain, epsilon)),
        };
        Self {
            rates,
            sparsity: task.sparsity() as usize,
        }
    }

    /// The standard error at n reports of an item that hardly anybody has; one
    /// that many have is of the same order. `None` where the mechanism does not
    /// estimate this.
    #[must_use]
    pub fn standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = self.report_variance(estimand, 0.0, 0.0)?;
        Some((variance / reports).sqrt())
    }

    /// Variance of one report's estimate of an item whose value, after what
    /// sampling down leaves of it, is `value` on average and present with
    /// probability `present`.
    fn report_variance(&self, estimand: Estimand, value: f64, present: f64) -> Option<f64> {
        let over_presence =
            |with: f64, without: f64| variance_over_people(ValueKind::Real, present, with, without);
        // Means: a second moment, averaged over presence, less the square.
        let mean =
            |with: f64, without: f64| present * with + (1.0 - present) * without - value * value;
        match (&self.rates, estimand) {
            (Rates::Collision(rates), Estimand::Mean) => {
                Some(mean(rates.mean_square(true), rates.mean_square(false)))
            }
            (Rates::Collision(rates), Estimand::Plus | Estimand::Minus) => Some(over_presence(
                rates.frequency_variance(true),
                rates.frequency_variance(false),
            )),
            (Rates::Collision(rates), Estimand::Nonmissing) => Some(over_presence(
                rates.nonmissing_variance(true),
                rates.nonmissing_variance(false),
            )),
            (Rates::Coco(rates), Estimand::Mean) => {
                Some(mean(rates.mean_square(true), rates.mean_square(false)))
            }
            (Rates::Coco(_), Estimand::Plus | Estimand::Minus) => None,
            (Rates::Coco(rates), Estimand::Nonmissing) => Some(over_presence(
                rates.nonmissing_variance(true)?,
                rates.nonmissing_variance(false)?,
            )),
        }
    }
}

/// The truth about a crowd, with the error that its estimates are expected to
/// have.
#[derive(Debug, Clone)]
pub struct Expectation {
    predictor: Predictor,
    estimand: Estimand,
    people: f64,
    items: Vec<Sums>,
    nobody: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    truth: f64,
    bias: f64,
    /// Variance beyond that of people without the item.
    extra_variance: f64,
}

impl Expectation {
    /// Nobody yet; `None` where the task's mechanism does not estimate this.
    #[must_use]
    pub fn new(task: &Task, estimand: Estimand, items: u32) -> Option<Self> {
        let predictor = Predictor::new(task);
        Some(Self {
            predictor,
            estimand,
            people: 0.0,
            items: vec![Sums::default(); items as usize],
            nobody: predictor.report_variance(estimand, 0.0, 0.0)?,
        })
    }

    /// Adds a person with these entries.
    pub fn add(&mut self, entries: &[Entry]) {
        self.people += 1.0;
        let kept = kept_probabilities(entries, self.predictor.sparsity);
        for (entry, kept) in entries.iter().zip(kept) {
            let share = match self.estimand {
                Estimand::Mean => entry.value,
                Estimand::Plus => entry.value.max(0.0),
                Estimand::Minus => (-entry.value).max(0.0),
                Estimand::Nonmissing => entry.value.abs(),
            };
            let sums = &mut self.items[entry.item as usize];
            sums.truth += share;
            sums.bias -= share * (1.0 - kept);
            let present = share.abs() * kept;
            let variance = self
                .predictor
                .report_variance(self.estimand, share * kept, present)
                .expect("what is expected is estimated");
            sums.extra_variance += variance - self.nobody;
        }
    }

    /// The true value of each item.
    pub fn truth(&self) -> impl Iterator<Item = f64> {
        self.items.iter().map(|sums| sums.truth / self.people)
    }

    /// Expected squared error, averaged over items: noise, and the square of
    /// the bias of sampling down.
    #[must_use]
    pub fn mean_squared_error(&self) -> f64 {
        let n = self.people;
        let error = |sums: &Sums| {
            let bias = sums.bias / n;
            (n * self.nobody + sums.extra_variance) / (n * n) + bias * bias
        };
        self.items.iter().map(error).sum::<f64>() / self.items.len() as f64
    }
}

/// The probability that each entry's sign survives sampling down, given that
/// ternarisation left it: E[min(1, s/(1 + R))], R being how many of the other
/// entries ternarisation left.
fn kept_probabilities(entries: &[Entry], sparsity: usize) -> Vec<f64> {
    if entries.len() <= sparsity {
        return vec![1.0; entries.len()];
    }
    let left: Vec<f64> = entries.iter().map(|entry| entry.value.abs()).collect();
    // P(k entries left), adding one entry at a time.
    let mut all = vec![0.0; entries.len() + 1];
    all[0] = 1.0;
    for (seen, &p) in left.iter().enumerate() {
        for k in (0..=seen).rev() {
            all[k + 1] += all[k] * p;
            all[k] *= 1.0 - p;
        }
    }
    left.iter()
        .map(|&p| {
            let others = without(&all, p);
            let kept = |(r, probability): (usize, &f64)| {
                probability * (sparsity as f64 / (r as f64 + 1.0)).min(1.0)
            };
            others.iter().enumerate().map(kept).sum()
        })
        .collect()
}

/// Takes one entry out again: divides the generating polynomial by
/// (1 − p) + p·x, from the end where that is stable.
fn without(all: &[f64], p: f64) -> Vec<f64> {
    let len = all.len() - 1;
    let mut others = vec![0.0; len];
    if p < 0.5 {
        let mut carried = 0.0;
        for (k, other) in others.iter_mut().enumerate() {
            *other = (all[k] - p * carried) / (1.0 - p);
            carried = *other;
        }
    } else {
        let mut carried = 0.0;
        for (k, other) in others.iter_mut().enumerate().rev() {
            *other = (all[k + 1] - (1.0 - p) * carried) / p;
            carried = *other;
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subset, one by one.
    fn by_enumeration(values: &[f64], sparsity: usize) -> Vec<f64> {
        (0..values.len())
            .map(|j| {
                (0_u32..1 << values.len())
                    .filter(|set| set >> j & 1 == 1)
                    .map(|set| {
                        let probability: f64 = (0..values.len())
                            .filter(|&i| i != j)
                            .map(|i| {
                                if set >> i & 1 == 1 {
                                    values[i]
                                } else {
                                    1.0 - values[i]
                                }
                            })
                            .product();
                        let left = f64::from(set.count_ones());
                        probability * (sparsity as f64 / left).min(1.0)
                    })
                    .sum()
            })
            .collect()
    }

    #[test]
    fn kept_probabilities_are_those_of_all_subsets() {
        let values = [1.0, 0.3, 0.5, 0.999, 0.02, 0.7, 1.0];
        let entries: Vec<Entry> = (0..)
            .zip(values)
            .map(|(item, value)| Entry {
                item,
                value: if item % 2 == 0 { value } else { -value },
            })
            .collect();
        for sparsity in 1..=8 {
            let ours = kept_probabilities(&entries, sparsity);
            let theirs = by_enumeration(&values, sparsity);
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() < 1e-12, "s = {sparsity}: {a} {b}");
            }
        }
    }
}
