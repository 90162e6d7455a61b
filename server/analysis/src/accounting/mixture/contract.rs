//! Trait of mechanisms whose batches can be accounted for.

use hushbin::Error;
use hushbin::domain::Domain;

use super::alpha::Mixture;

/// Reason why a batch cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A parameter is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// Hash-bin below user level: ε covers only neighbouring inputs. Other people's inputs may be
    /// further away, so those reports need not hide a person.
    #[error(
        "hash-bin is accounted for at level \"user\" only: at other levels ε is about neighbours, \
         and shuffling with others is not known to hide anyone"
    )]
    Neighbours,
}

/// Mechanism whose batches can be accounted for.
pub(super) trait Accounted {
    /// Returns the mixture of reports by people with at most `sparsity` entries at local ε.
    ///
    /// # Errors
    /// [`AccountError`].
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError>;

    /// Returns [`Mixture::attains_reduction`] for people of `domain`.
    fn attains_reduction(&self, _domain: &Domain) -> bool {
        false
    }
}
