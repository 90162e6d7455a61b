//! What error to expect before there are reports.

use hushbin::choose::{Population, Predicted};
use hushbin::mechanism::hash_bin;
use hushbin::{Entry, Task, ValueKind};

use super::rates::Rates;
use super::{Estimand, variance_over_people};

/// Prediction of the noise of one task's estimates.
#[derive(Debug, Clone, Copy)]
pub struct Predictor {
    rates: Rates,
    sparsity: usize,
    /// Of one person with s full entries.
    person: Predicted,
}

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

impl Predictor {
    /// The predictor of a task, whose rates are computed once.
    #[must_use]
    pub fn for_task(task: &Task) -> Self {
        let person = Population::even(1.0, task.sparsity());
        Self {
            rates: Rates::for_task(task),
            sparsity: task.sparsity() as usize,
            person: (task.mechanism()).predict(&task.domain(), task.epsilon(), &person),
        }
    }

    /// Standard error at n `reports` of an item that hardly anybody has, of people
    /// with s full entries; one that many have is of the same order. `None` where
    /// the mechanism does not estimate this.
    #[must_use]
    pub fn standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = match estimand {
            Estimand::Mean => self.person.mean?.rare_variance,
            Estimand::Plus | Estimand::Minus => self.person.frequency?.rare_variance,
            Estimand::Nonmissing => self.sampled_variance(estimand, 0.0, 0.0)?,
        };
        Some((variance / reports).sqrt())
    }

    /// What a report of these entries contributes; `None` where the mechanism
    /// does not estimate this.
    pub(super) fn contribution(
        &self,
        estimand: Estimand,
        entries: &[Entry],
    ) -> Option<Contribution> {
        if let Rates::HashBin(rates) = &self.rates {
            return (estimand == Estimand::Mean).then(|| binned(rates, entries));
        }
        let kept = kept_probabilities(entries, self.sparsity);
        let entry = |(entry, kept): (&Entry, f64)| {
            let truth = match estimand {
                Estimand::Mean => entry.value,
                Estimand::Plus => entry.value.max(0.0),
                Estimand::Minus => (-entry.value).max(0.0),
                Estimand::Nonmissing => entry.value.abs(),
            };
            let expected = truth * kept;
            Some(EntryContribution {
                truth,
                expected,
                variance: self.sampled_variance(estimand, expected, expected.abs())?,
            })
        };
        Some(Contribution {
            nobody: self.sampled_variance(estimand, 0.0, 0.0)?,
            entries: entries.iter().zip(kept).map(entry).collect::<Option<_>>()?,
        })
    }

    /// Variance of one report's estimate of an item whose value, after what
    /// sampling down leaves of it, is `value` on average and present with
    /// probability `present`.
    fn sampled_variance(&self, estimand: Estimand, value: f64, present: f64) -> Option<f64> {
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
            // Takes whole inputs: see `binned`.
            (Rates::HashBin(_), _) => None,
        }
    }
}

/// Hash-bin: the other entries add their squares, and clipping takes off.
fn binned(rates: &hash_bin::Rates, entries: &[Entry]) -> Contribution {
    let values: Vec<f64> = entries.iter().map(|entry| entry.value).collect();
    let sum = Sum::new(&values, rates.clip.unwrap_or(f64::INFINITY));
    let entry = |(&truth, &expected)| EntryContribution {
        truth,
        expected,
        variance: rates.variance(sum.square, expected),
    };
    Contribution {
        nobody: rates.variance(sum.square, 0.0),
        entries: values.iter().zip(&sum.left).map(entry).collect(),
    }
}

/// A person's sum B of values with fair signs, after clipping.
#[derive(Debug, PartialEq)]
struct Sum {
    /// E[clip(B)²].
    square: f64,
    /// By value, the expectation of its sign times the clipped sum:
    /// E[clip(v + R)], R being the others' values with fair signs.
    left: Vec<f64>,
}

/// Up to so many entries every pattern of signs is looked at.
const PATTERNS: usize = 12;

impl Sum {
    /// Exact where values are of one magnitude, as ±1 are, or few; else B and R
    /// are taken as normal.
    fn new(values: &[f64], clip: f64) -> Self {
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let reach: f64 = values.iter().map(|value| value.abs()).sum();
        if reach <= clip {
            return Self {
                square: squares,
                left: values.to_vec(),
            };
        }
        let most = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if values.iter().all(|v| *v == 0.0 || v.abs() == most) {
            let entries = values.iter().filter(|value| **value != 0.0).count() as u32;
            let clip = clip / most;
            let left = hash_bin::attenuation(entries, clip);
            return Self {
                square: hash_bin::clipped_square(entries, clip) * most * most,
                left: values.iter().map(|value| value * left).collect(),
            };
        }
        if values.len() <= PATTERNS {
            return Self::of_patterns(values, clip);
        }
        let left = |value: &f64| {
            let deviation = (squares - value * value).sqrt();
            normal_clipped_mean(*value, deviation, clip)
        };
        Self {
            square: normal_clipped_square(squares.sqrt(), clip),
            left: values.iter().map(left).collect(),
        }
    }

    fn of_patterns(values: &[f64], clip: f64) -> Self {
        // The first sign may stay: all signs the other way give the same.
        let patterns = 1_u32 << (values.len() - 1);
        let mut square = 0.0;
        let mut left = vec![0.0; values.len()];
        for pattern in 0..patterns {
            let sign = |index: usize| f64::from(1 - 2 * (pattern << 1 >> index & 1) as i8);
            let signed = values.iter().enumerate().map(|(index, v)| sign(index) * v);
            let clipped = signed.sum::<f64>().clamp(-clip, clip);
            square += clipped * clipped / f64::from(patterns);
            for (index, left) in left.iter_mut().enumerate() {
                *left += sign(index) * clipped / f64::from(patterns);
            }
        }
        Self { square, left }
    }
}

/// E[clip(v + σZ)], Z standard normal.
fn normal_clipped_mean(value: f64, deviation: f64, clip: f64) -> f64 {
    use statrs::distribution::{Continuous, ContinuousCDF, Normal};
    let normal = Normal::standard();
    // E[min(v + σZ, c)] = c − E[(c − v − σZ)₊].
    let excess = |gap: f64| {
        let z = gap / deviation;
        gap * normal.cdf(z) + deviation * normal.pdf(z)
    };
    let above = excess(value - clip);
    let below = excess(-clip - value);
    value - above + below
}

/// E[clip(σZ)²], Z standard normal.
fn normal_clipped_square(deviation: f64, clip: f64) -> f64 {
    use statrs::distribution::{Continuous, ContinuousCDF, Normal};
    let normal = Normal::standard();
    let z = clip / deviation;
    // E[Z²; |Z| < z] = 1 − 2Φ(−z) − 2zφ(z).
    let outside = 2.0 * normal.cdf(-z);
    let inside = 1.0 - outside - 2.0 * z * normal.pdf(z);
    deviation * deviation * inside + clip * clip * outside
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

    /// One by one, for a value at a time.
    fn sum_by_definition(values: &[f64], clip: f64) -> Sum {
        let patterns = 1_u32 << values.len();
        let mean =
            |of: &dyn Fn(u32) -> f64| (0..patterns).map(of).sum::<f64>() / f64::from(patterns);
        let signed = |pattern: u32, index: usize| {
            if pattern >> index & 1 == 1 {
                -values[index]
            } else {
                values[index]
            }
        };
        let clipped = |pattern: u32, kept: Option<usize>| {
            let value = |index| match kept {
                Some(kept) if kept == index => values[index],
                _ => signed(pattern, index),
            };
            let sum: f64 = (0..values.len()).map(value).sum();
            sum.clamp(-clip, clip)
        };
        Sum {
            square: mean(&|pattern| clipped(pattern, None).powi(2)),
            left: (0..values.len())
                .map(|index| mean(&|pattern| clipped(pattern, Some(index))))
                .collect(),
        }
    }

    fn largest_difference(ours: &Sum, theirs: &Sum) -> f64 {
        let lefts = ours.left.iter().zip(&theirs.left);
        let differences = lefts.chain([(&ours.square, &theirs.square)]);
        differences.fold(0.0, |most, (a, b)| (a - b).abs().max(most))
    }

    #[test]
    fn clipped_sums_are_those_of_all_signs() {
        let mixed = [1.0, -0.3, 0.5, 0.0, -0.999, 0.02, 0.7, 1.0, -0.25];
        let even = [-0.5, 0.5, 0.5, 0.0, -0.5, -0.5, 0.5];
        let ones = [
            1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0,
        ];
        for values in [&mixed[..], &even, &ones, &mixed[..1], &mixed[..2]] {
            for clip in [0.1, 0.5, 0.75, 1.0, 2.5, 4.0, 20.0] {
                let off =
                    largest_difference(&Sum::new(values, clip), &sum_by_definition(values, clip));
                assert!(off < 1e-12, "{values:?} at {clip}: {off}");
            }
        }
        assert_eq!(
            Sum::new(&[], 1.0),
            Sum {
                square: 0.0,
                left: Vec::new()
            }
        );
    }

    /// Of 16 values up to 1 the normal ones are less than a hundredth off, and the
    /// square of their sum a fiftieth of what it is without a clip.
    #[test]
    fn clipped_sums_of_many_values_are_nearly_normal() {
        let many: Vec<f64> = (0..16).map(|i| 1.0 - 0.05 * f64::from(i)).collect();
        for clip in [0.5, 1.0, 2.0, 3.0, 5.0] {
            let (ours, theirs) = (Sum::new(&many, clip), sum_by_definition(&many, clip));
            let whole: f64 = many.iter().map(|value| value * value).sum();
            let square = ours.square - theirs.square;
            assert!(square.abs() < 0.02 * whole, "{clip}: {square}");
            for (ours, theirs) in ours.left.iter().zip(&theirs.left) {
                assert!((ours - theirs).abs() < 0.01, "{clip}: {ours} {theirs}");
            }
        }
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
