//! What simulations found, once and summed up over several.

use hushbin_analysis::estimate::Estimand;
use serde::Serialize;

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// People who reported.
    pub(crate) people: usize,
    /// Reports folded, one for each of them.
    pub(crate) reports: u64,
    /// Items estimated.
    pub(crate) items: u32,
    /// What was estimated of each.
    pub(crate) estimand: Estimand,
    /// How wrong that came out.
    #[serde(flatten)]
    pub(crate) errors: Errors,
    /// [`Errors::mse`] of shrunken estimates.
    pub(crate) shrunken_mse: f64,
    /// [`Errors::mse`] as it is expected to be.
    pub(crate) predicted_mse: f64,
    /// The part of it that is expected to be bias, of entries left out or
    /// clipped.
    pub(crate) predicted_squared_bias: f64,
    /// Nanoseconds to randomise one person's entries, on one core.
    pub(crate) randomize_ns: f64,
    /// Nanoseconds to fold one report into totals, on one core.
    pub(crate) decode_ns: f64,
    /// Lines of the data set that a later one of the same person and item
    /// replaced.
    pub(crate) replaced: usize,
    /// People who had more entries left than the sparsity.
    pub(crate) sampled_down: usize,
}

/// Errors of the estimates of all items, and those of answering 0 for each: what
/// any estimate must beat to be worth having.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Errors {
    /// Total variation error: the sum of absolute errors over all items.
    pub(crate) tve: f64,
    /// The largest absolute error.
    pub(crate) max_abs_error: f64,
    /// Squared error, averaged over items.
    pub(crate) mse: f64,
    /// [`Errors::mse`] of answering 0.
    pub(crate) zero_mse: f64,
    /// [`Errors::max_abs_error`] of answering 0.
    pub(crate) zero_max_abs_error: f64,
    /// Estimate less truth, by item.
    #[serde(skip)]
    pub(crate) by_item: Vec<f64>,
}

impl Errors {
    /// Of estimates whose truth is known, both by item.
    pub(crate) fn new(estimates: &[f64], truth: impl Iterator<Item = f64>) -> Self {
        let items = estimates.len() as f64;
        let mut errors = Self::default();
        for (estimate, truth) in estimates.iter().zip(truth) {
            let error = estimate - truth;
            errors.by_item.push(error);
            errors.tve += error.abs();
            errors.max_abs_error = errors.max_abs_error.max(error.abs());
            errors.mse += error * error / items;
            errors.zero_mse += truth * truth / items;
            errors.zero_max_abs_error = errors.zero_max_abs_error.max(truth.abs());
        }
        errors
    }
}

/// What several simulations of one task found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Repeated {
    /// How many there were.
    pub(crate) runs: usize,
    /// Averages over them.
    #[serde(flatten)]
    pub(crate) average: Outcome,
    /// Standard error of the averaged mean squared error.
    pub(crate) mse_standard_error: f64,
    /// The largest absolute error of any run.
    pub(crate) largest_error: f64,
    /// Squared bias, averaged over items: the squares of the errors averaged
    /// over runs, less what the noise leaves in them. `None` of a single run,
    /// which does not tell bias from noise.
    pub(crate) squared_bias: Option<f64>,
}

impl Repeated {
    /// Sums up runs of the same task, people and estimand; `None` if there are
    /// none.
    pub(crate) fn from_outcomes(outcomes: &[Outcome]) -> Option<Self> {
        let first = outcomes.first()?;
        let runs = outcomes.len() as f64;
        let average =
            |read: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(read).sum::<f64>() / runs;
        let mse = average(&|run| run.errors.mse);
        let spread: f64 = outcomes
            .iter()
            .map(|run| (run.errors.mse - mse).powi(2))
            .sum();
        let by_item: Vec<f64> = (0..first.errors.by_item.len())
            .map(|item| average(&|run| run.errors.by_item[item]))
            .collect();
        // E[average²] = bias² + variance/runs, and the mean square of all errors
        // is bias² + variance.
        let square = by_item.iter().map(|e| e * e).sum::<f64>() / by_item.len() as f64;
        let several = outcomes.len() > 1;
        Some(Self {
            runs: outcomes.len(),
            mse_standard_error: (spread / (runs - 1.0).max(1.0) / runs).sqrt(),
            largest_error: outcomes
                .iter()
                .fold(0.0, |most, run| run.errors.max_abs_error.max(most)),
            squared_bias: several.then(|| (runs * square - mse) / (runs - 1.0)),
            average: Outcome {
                errors: Errors {
                    mse,
                    tve: average(&|run| run.errors.tve),
                    max_abs_error: average(&|run| run.errors.max_abs_error),
                    by_item,
                    ..first.errors.clone()
                },
                shrunken_mse: average(&|run| run.shrunken_mse),
                randomize_ns: average(&|run| run.randomize_ns),
                decode_ns: average(&|run| run.decode_ns),
                sampled_down: average(&|run| run.sampled_down as f64) as usize,
                ..first.clone()
            },
        })
    }

    /// Whether the estimates are better than answering 0 for every item, on
    /// average and in the worst item.
    pub(crate) fn verdict(&self) -> &'static str {
        let Errors {
            mse,
            zero_mse,
            max_abs_error,
            zero_max_abs_error,
            ..
        } = self.average.errors;
        match (mse < zero_mse, max_abs_error < zero_max_abs_error) {
            (true, true) => "better than answering 0 for every item",
            (true, false) => {
                "better than answering 0 for every item on average, but the worst item is farther off"
            }
            (false, true) => {
                "worse than answering 0 for every item on average, but the worst item is closer"
            }
            (false, false) => {
                "worth nothing here: answering 0 for every item errs less, on average and in the worst item"
            }
        }
    }
}
