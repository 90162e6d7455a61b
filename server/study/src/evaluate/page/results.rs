//! Results of one experiment that the page shows.

use crate::evaluate::measure::metric_comparisons::MetricComparisonOutcome;
use crate::figure::Figure;

/// Results of an experiment: figures, outcomes of contests, and remarks.
pub(crate) struct ExperimentResults {
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) outcomes: Vec<MetricComparisonOutcome>,
    pub(crate) remarks: &'static [&'static str],
}
