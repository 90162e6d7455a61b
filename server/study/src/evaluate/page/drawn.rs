//! Contents of one experiment on the page.

use crate::evaluate::measure::wins::Outcome;
use crate::figure::Figure;

/// Figures, outcomes and remarks of an experiment.
pub(crate) struct Drawn {
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) remarks: &'static [&'static str],
}
