//! Comparison of estimates with the true values, averaged over runs.

use hushbin_analysis::estimate::Estimate;
use serde::Serialize;

/// Comparison of estimates with the true values, and shares of intervals that contain the true
/// values.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct ErrorTally {
    /// Share of the intervals that contain the truth.
    pub(crate) covered: f64,
    /// Share of the runs in which all simultaneous intervals contain the truth.
    pub(crate) all_covered: f64,
    pub(crate) estimates: Vec<ComparedEstimate>,
    /// Sum of squared errors and number of runs, for each estimate.
    #[serde(skip)]
    squares: Vec<(f64, f64)>,
    #[serde(skip)]
    runs: f64,
}

/// Estimate compared with the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ComparedEstimate {
    /// Name of the estimated quantity: an item, a mean, a quantile or the mean of a row.
    pub(crate) what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// True value, computed from answers clipped to the range. NaN for a row without people.
    pub(crate) truth: f64,
    /// Estimate of the first run, or `None` if the run had too few reports for an estimate.
    pub(crate) estimate: Option<f64>,
    /// Interval of the first run. `simultaneous_interval` holds jointly for all estimates.
    pub(crate) interval: [f64; 2],
    pub(crate) simultaneous_interval: [f64; 2],
    /// Root of the mean squared error over runs with an estimate.
    pub(crate) error: Option<f64>,
}

impl ComparedEstimate {
    pub(crate) fn new(
        what: &impl ToString,
        unit: Option<&str>,
        truth: f64,
        estimate: Option<f64>,
        [interval, simultaneous_interval]: [[f64; 2]; 2],
    ) -> Self {
        Self {
            what: what.to_string(),
            unit: unit.map(str::to_owned),
            truth,
            estimate,
            interval,
            simultaneous_interval,
            error: estimate.map(|own| (own - truth).abs()),
        }
    }

    pub(super) fn from_estimate(
        what: &impl ToString,
        unit: Option<&str>,
        truth: f64,
        own: &Estimate,
    ) -> Self {
        let intervals = [own.interval, own.simultaneous_interval];
        Self::new(what, unit, truth, Some(own.estimate), intervals)
    }
}

impl ErrorTally {
    /// Returns true if no estimates were added.
    pub(crate) fn is_empty(&self) -> bool {
        self.estimates.is_empty()
    }

    /// Adds the estimates of a run.
    pub(super) fn add_run(&mut self, found: Vec<ComparedEstimate>) {
        let mut known = found.iter().filter(|own| own.truth.is_finite());
        let holds =
            |[low, high]: [f64; 2], own: &ComparedEstimate| (low..=high).contains(&own.truth);
        let held = known.clone().filter(|own| holds(own.interval, own));
        self.covered += held.count() as f64 / known.clone().count() as f64;
        let all = known.all(|own| holds(own.simultaneous_interval, own));
        self.all_covered += f64::from(u8::from(all));
        self.runs += 1.0;
        self.squares.resize(found.len(), (0.0, 0.0));
        for ((sum, runs), own) in self.squares.iter_mut().zip(&found) {
            *sum += own.error.map_or(0.0, |error| error * error);
            *runs += f64::from(u8::from(own.error.is_some()));
        }
        if self.is_empty() {
            self.estimates = found;
        }
    }

    /// Converts the sums over the added runs to averages.
    pub(super) fn into_averages(mut self) -> Self {
        self.covered /= self.runs;
        self.all_covered /= self.runs;
        for (own, &(sum, runs)) in self.estimates.iter_mut().zip(&self.squares) {
            own.error = (runs > 0.0).then(|| (sum / runs).sqrt());
        }
        self
    }
}
