//! Results of one experiment that the page shows.

use crate::evaluate::measure::contests::ContestOutcome;
use crate::figure::Figure;

/// Results of an experiment: figures, outcomes of contests, and remarks.
pub(crate) struct ExperimentResults {
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) outcomes: Vec<ContestOutcome>,
    pub(crate) remarks: &'static [&'static str],
}
