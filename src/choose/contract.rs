//! What choosing needs of every mechanism.

use alloc::vec::Vec;

use super::predict::Predict;
use super::search::{Candidate, Search};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::hash_bin::LevelName;

/// A mechanism whose parameters can be chosen.
pub(crate) trait Choose: Predict {
    /// The parameters, each of which may be left open.
    type Draft;

    /// Checks what a draft says over a domain, without choosing the rest.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`].
    fn check_draft(draft: &Self::Draft, domain: &Domain) -> Result<(), Error>;

    /// The best parameters that agree with a draft, with their sparsity.
    ///
    /// # Errors
    /// As [`Choose::check_draft`]; [`Error::Combination`] too where none of them
    /// keep to the budget.
    fn best(search: &Search<'_>, draft: &Self::Draft) -> Result<Candidate, Error>;

    /// Itself at its best where nothing is said of it, for comparison with other mechanisms that
    /// protect as much as `level`; none where it cannot keep to the budget.
    ///
    /// Of Collision and CoCo their own rules with balanced hashing are considered, independent in
    /// open domains: nowhere have the papers' been found better.
    ///
    /// # Errors
    /// As [`Choose::best`].
    fn offers(_: &Search<'_>, _: LevelName) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }

    /// The check that parameters in use have what the draft says.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first field in which the draft says
    /// something else.
    fn agrees_with(&self, draft: &Self::Draft) -> Result<(), Error>;

    /// The report with the longest encoding.
    fn longest_report(&self, domain: &Domain, epsilon: f64) -> Self::Report;

    /// The level of protection, in hash-bin's words.
    fn protects(&self) -> LevelName {
        LevelName::User
    }
}
