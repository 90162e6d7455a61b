//! What accounting needs of every mechanism.

use hushbin::Error;
use hushbin::domain::Domain;

use super::alpha::Mixture;

/// The reason why a batch cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A parameter is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// Other people's reports need not hide a person where ε is about
    /// neighbours only: they may be further away.
    #[error(
        "hash-bin is accounted for at level \"user\" only: below it ε is about neighbours, and \
         shuffling with people who are none is not known to hide anyone"
    )]
    Neighbours,
}

/// A mechanism whose batches can be accounted for.
pub(super) trait Accounted {
    /// The reports of people with at most `sparsity` entries at local ε.
    ///
    /// # Errors
    /// [`AccountError`].
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError>;

    /// As [`Mixture::attains_reduction`], of people of `domain`.
    fn attains_reduction(&self, _domain: &Domain) -> bool {
        false
    }
}
