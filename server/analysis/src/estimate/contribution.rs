//! What one report contributes to estimates, on average and in variance.

use hushbin::{Entry, ValueKind};

use super::point::{Estimand, variance_over_people};

/// What one report does to the estimates of all items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contribution {
    /// Variance of the estimate of an item that the person does not have.
    pub(super) nobody: f64,
    /// By entry.
    pub(super) entries: Vec<EntryContribution>,
}

/// What one report does to the estimate of an item that the person has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EntryContribution {
    /// What is to be estimated of the entry.
    pub(super) truth: f64,
    /// What is estimated on average.
    pub(super) expected: f64,
    /// With this variance.
    pub(super) variance: f64,
}

/// What a report of sampled entries contributes: each has what sampling down to
/// `sparsity` leaves of it, with the variance that `variance` gives for an item of
/// this average value that is present with this probability.
pub(super) fn sampled(
    sparsity: u32,
    estimand: Estimand,
    entries: &[Entry],
    variance: impl Fn(f64, f64) -> f64,
) -> Contribution {
    let kept = kept_probabilities(entries, sparsity as usize);
    let entry = |(entry, kept): (&Entry, f64)| {
        let truth = match estimand {
            Estimand::Mean => entry.value,
            Estimand::Plus => entry.value.max(0.0),
            Estimand::Minus => (-entry.value).max(0.0),
            Estimand::Nonmissing => entry.value.abs(),
        };
        let expected = truth * kept;
        EntryContribution {
            truth,
            expected,
            variance: variance(expected, expected.abs()),
        }
    };
    Contribution {
        nobody: variance(0.0, 0.0),
        entries: entries.iter().zip(kept).map(entry).collect(),
    }
}

/// Variance of a share that is there with probability `present`.
pub(super) fn share_variance(present: f64, [with, without]: [f64; 2]) -> f64 {
    variance_over_people(ValueKind::Real, present, with, without)
}

/// Variance of a mean of `value`: a second moment, averaged over presence, less the
/// square.
pub(super) fn mean_variance(value: f64, present: f64, [with, without]: [f64; 2]) -> f64 {
    present * with + (1.0 - present) * without - value * value
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
