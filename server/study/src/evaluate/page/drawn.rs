//! An experiment as the page shows it.

use crate::evaluate::measure::wins::Outcome;
use crate::figure::Figure;

/// An experiment's figures.
pub(crate) struct Drawn {
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) remarks: &'static [&'static str],
}
