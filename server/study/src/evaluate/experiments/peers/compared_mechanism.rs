//! Mechanism in one cell of the comparison, and the names of metrics.

use crate::competitors::{ComparisonRow, MechanismComparison};

/// Compared mechanism, with its value of each metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComparedMechanism {
    pub(super) name: &'static str,
    pub(super) values: Vec<(&'static str, f64)>,
}

/// Metric: variance of one report's estimate, in the worst case over inputs.
pub(super) const WORST_VARIANCE_METRIC: &str = "worst variance";
/// Metric: variance of one report's estimate, averaged over uniform inputs.
pub(super) const AVERAGE_VARIANCE_METRIC: &str = "mean variance";
/// Metric: lower bound on the worst-case variance of all unbiased mechanisms.
pub(super) const LOWER_BOUND_METRIC: &str = "least worst variance";
/// Name of the window mechanism whose output values minimise the mean variance over uniform
/// numbers, instead of the worst-case variance.
pub(super) const HUSHBIN_FOR_AVERAGE_NAME: &str = "hushbin window, for the average";
/// Name of the lower bound in tables.
pub(super) const LOWER_BOUND_NAME: &str = "lower bound";

impl ComparedMechanism {
    pub(super) fn from_lower_bound(values: Vec<(&'static str, f64)>) -> Self {
        Self {
            name: LOWER_BOUND_NAME,
            values,
        }
    }

    /// Returns the mechanisms of a comparison that have a variance.
    pub(super) fn from_comparison(compared: &MechanismComparison) -> Vec<Self> {
        let peer = |row: &ComparisonRow| {
            let variance = row.variance?;
            Some(Self {
                name: row.mechanism,
                values: vec![
                    (WORST_VARIANCE_METRIC, variance.worst),
                    (AVERAGE_VARIANCE_METRIC, variance.average),
                ],
            })
        };
        compared.rows.iter().filter_map(peer).collect()
    }

    pub(super) fn metric_value(&self, metric: &str) -> Option<f64> {
        let own = self.values.iter().find(|own| own.0 == metric);
        own.map(|own| own.1)
    }

    pub(super) fn is_published(&self) -> bool {
        !self.name.starts_with("hushbin")
    }
}
