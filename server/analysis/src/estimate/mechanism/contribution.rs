//! What one report contributes to estimates, on average and in variance.

use hushbin::Entry;

use super::kept::kept_probabilities;
use crate::estimate::point::{Estimand, People, variance_over_people};

/// What one report does to the estimates of all items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contribution {
    /// Variance of the estimate of an item that the person does not have.
    pub(crate) nobody: f64,
    /// By entry.
    pub(crate) entries: Vec<EntryContribution>,
}

/// What one report does to the estimate of an item that the person has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryContribution {
    /// What is to be estimated of the entry.
    pub(crate) truth: f64,
    /// What is estimated on average.
    pub(crate) expected: f64,
    /// With this variance.
    pub(crate) variance: f64,
}

/// What a report of sampled entries contributes: each has what sampling down to
/// `sparsity` leaves of its value, with the variance that `variance` gives for an item
/// of that value on average.
pub(crate) fn sampled(
    sparsity: u32,
    estimand: Estimand,
    entries: &[Entry],
    variance: impl Fn(f64) -> f64,
) -> Contribution {
    let kept = kept_probabilities(entries, sparsity as usize);
    let entry = |(entry, kept): (&Entry, f64)| {
        let value = entry.value * kept;
        EntryContribution {
            truth: estimand.of(entry.value),
            expected: estimand.of(value),
            variance: variance(value),
        }
    };
    Contribution {
        nobody: variance(0.0),
        entries: entries.iter().zip(kept).map(entry).collect(),
    }
}

/// Variance of a share that is there with probability `present`.
pub(crate) fn share_variance(present: f64, [with, without]: [f64; 2]) -> f64 {
    variance_over_people(People::Drawn, present, with, without)
}

/// Variance of a mean of `value`: a second moment, averaged over presence, less the
/// square.
pub(crate) fn mean_variance(value: f64, [with, without]: [f64; 2]) -> f64 {
    let present = value.abs();
    present * with + (1.0 - present) * without - value * value
}
