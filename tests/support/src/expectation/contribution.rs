//! Mean and variance of one report's contribution to estimates.

use hushbin::mechanism::{coco, collision, hash_bin, window};
use hushbin::{Entry, Mechanism, Question};
use hushbin_analysis::estimate::{Estimand, estimands};

use super::clipped_sum::ClippedSum;
use super::kept::kept_probabilities;

/// Contribution of one report to the estimates of all items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contribution {
    /// Variance of the estimate of an item that the person does not have.
    pub(super) nobody: f64,
    /// Contributions by entry.
    pub(super) entries: Vec<EntryContribution>,
}

/// Contribution of one report to the estimate of an item that the person has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EntryContribution {
    /// True value of the estimand for the entry.
    pub(super) truth: f64,
    /// Mean of the estimate.
    pub(super) expected: f64,
    /// Variance of the estimate.
    pub(super) variance: f64,
}

/// Rates of a question's mechanism, and the estimand.
#[derive(Debug, Clone)]
pub(super) struct Contributions {
    rates: Rates,
    sparsity: u32,
    estimand: Estimand,
}

#[derive(Debug, Clone)]
enum Rates {
    Collision(collision::CollisionHitProbabilities),
    Coco(coco::CocoHitProbabilities),
    HashBin(hash_bin::EstimateScaleAndVariance),
    Window(window::EstimateScaleAndVariance),
    /// Greatest variances over bins: for people in the bin, and for the rest.
    Pattern([f64; 2]),
}

impl Contributions {
    /// Creates the rates. `None` if the question's mechanism does not estimate this.
    pub(super) fn new(question: &Question, estimand: Estimand) -> Option<Self> {
        if !estimands(question).contains(&estimand) {
            return None;
        }
        let (domain, epsilon) = (question.domain(), question.epsilon());
        Some(Self {
            rates: match question.mechanism() {
                Mechanism::Collision(own) => {
                    Rates::Collision(own.hit_probabilities(&domain, epsilon))
                }
                Mechanism::Coco(own) => Rates::Coco(own.hit_probabilities(&domain, epsilon)),
                Mechanism::HashBin(own) => {
                    Rates::HashBin(own.estimate_scale_and_variance(&domain, epsilon))
                }
                Mechanism::Window(own) => {
                    Rates::Window(own.estimate_scale_and_variance(&domain, epsilon))
                }
                Mechanism::Pattern(own) => {
                    let rates = own.share_estimator(domain.item_count()?, epsilon);
                    let mut most = [0.0_f64; 2];
                    for cell in 0..rates.cell_count() {
                        let weights = rates.range_indicator_weights(cell..cell + 1);
                        let own = rates
                            .variances_by_cell(&rates.output_weights_of_sum(&weights), &weights);
                        for (at, variance) in own.into_iter().enumerate() {
                            let whose = usize::from(at != cell);
                            most[whose] = most[whose].max(variance);
                        }
                    }
                    Rates::Pattern(most)
                }
                #[allow(unreachable_patterns, reason = "tests add a mechanism")]
                _ => return None,
            },
            sparsity: domain.sparsity(),
            estimand,
        })
    }

    /// Returns the contribution of a report of these entries.
    pub(super) fn of(&self, entries: &[Entry]) -> Contribution {
        let (estimand, sparsity) = (self.estimand, self.sparsity);
        let share = |value: f64, variance: &dyn Fn(bool) -> f64| {
            share_variance(counted(estimand, value), [true, false].map(variance))
        };
        match &self.rates {
            Rates::Collision(rates) => self.sampled(entries, |value| match estimand {
                Estimand::Mean => mean_variance(
                    value,
                    [true, false].map(|has| rates.estimate_second_moment(has)),
                ),
                Estimand::Plus | Estimand::Minus | Estimand::Share => {
                    share(value, &|member| rates.frequency_variance(member))
                }
                Estimand::Nonmissing => {
                    share(value, &|present| rates.presence_estimate_variance(present))
                }
            }),
            Rates::Coco(rates) => {
                // Ternarisation keeps this many entries on average.
                let left: f64 = entries.iter().map(|entry| entry.value.abs()).sum();
                let left = left.min(f64::from(sparsity));
                let squares = [
                    rates.estimate_second_moment(true),
                    rates.absent_item_second_moment(sparsity, left),
                ];
                let estimated = "asked for where the rule estimates it";
                self.sampled(entries, |value| match estimand {
                    Estimand::Mean => mean_variance(value, squares),
                    Estimand::Plus | Estimand::Minus => {
                        let [own, other] = [counted(estimand, value), counted(estimand, -value)];
                        let [with, opposite, none] =
                            rates.frequency_variance_by_sign().expect(estimated);
                        let mixed = own * with + other * opposite + (1.0 - own - other) * none;
                        mixed + own * (1.0 - own)
                    }
                    Estimand::Nonmissing | Estimand::Share => share(value, &|present| {
                        rates.presence_estimate_variance(present).expect(estimated)
                    }),
                })
            }
            // Every person has every number. For people without it, the greatest variance over all
            // numbers is used.
            Rates::Window(rates) => Contribution {
                nobody: rates.max_variance(),
                ..self.sampled(entries, |value| rates.estimate_variance(value))
            },
            Rates::Pattern(most) => self.sampled(entries, |value| {
                share_variance(counted(estimand, value), *most)
            }),
            // The other entries add their squares, and clipping reduces the total.
            Rates::HashBin(rates) => {
                let values: Vec<f64> = entries.iter().map(|entry| entry.value).collect();
                let sum = ClippedSum::new(&values, rates.clipping_bound.unwrap_or(f64::INFINITY));
                let entry = |(&truth, &expected)| EntryContribution {
                    truth,
                    expected,
                    variance: rates.value_variance(sum.square, expected),
                };
                Contribution {
                    nobody: rates.value_variance(sum.square, 0.0),
                    entries: values.iter().zip(&sum.left).map(entry).collect(),
                }
            }
        }
    }

    /// Returns each entry's mean after sampling down. `variance` gives the average variance for an
    /// item of that value.
    fn sampled(&self, entries: &[Entry], variance: impl Fn(f64) -> f64) -> Contribution {
        let kept = kept_probabilities(entries, self.sparsity as usize);
        let entry = |(entry, kept): (&Entry, f64)| {
            let value = entry.value * kept;
            EntryContribution {
                truth: counted(self.estimand, entry.value),
                expected: counted(self.estimand, value),
                variance: variance(value),
            }
        };
        Contribution {
            nobody: variance(0.0),
            entries: entries.iter().zip(kept).map(entry).collect(),
        }
    }
}

/// Returns a person's contribution to the estimand, given the item's value in [-1, 1]; 0 means
/// none.
fn counted(estimand: Estimand, value: f64) -> f64 {
    match estimand {
        Estimand::Mean => value,
        Estimand::Plus => value.max(0.0),
        Estimand::Minus => (-value).max(0.0),
        Estimand::Nonmissing | Estimand::Share => value.abs(),
    }
}

/// Variance of a share that is present with probability `present`.
fn share_variance(present: f64, [with, without]: [f64; 2]) -> f64 {
    present * with + (1.0 - present) * without + present * (1.0 - present)
}

/// Variance of a mean of `value`: the second moment averaged over presence, minus the square.
fn mean_variance(value: f64, [with, without]: [f64; 2]) -> f64 {
    let present = value.abs();
    present * with + (1.0 - present) * without - value * value
}
