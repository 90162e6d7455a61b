//! Interface between accounting and the mechanisms.

use hushbin::Error;
use hushbin::domain::Domain;

use super::alpha::ReportMixture;

/// Reason why a batch cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountingError {
    /// A parameter is out of range, or two parameters cannot be combined.
    #[error(transparent)]
    InvalidParameter(#[from] Error),
    /// The mechanism is hash-bin, and its level is not `user`. Then ε limits only how well a report
    /// distinguishes two neighbouring inputs. Other people's inputs need not be neighbours of a
    /// person's input. So their reports are not known to hide the person's report.
    #[error(
        "hash-bin is accounted for at level \"user\" only: at other levels ε is about neighbours, \
         and shuffling with others is not known to hide anyone"
    )]
    NotAtUserLevel,
}

/// Mechanism whose batches can be accounted for: their central ε can be computed.
pub(super) trait AccountedMechanism {
    /// Returns the mixture of reports at local ε from people who have at most `sparsity` entries.
    ///
    /// # Errors
    /// [`AccountingError`].
    fn report_mixture(&self, sparsity: u32, epsilon: f64)
    -> Result<ReportMixture, AccountingError>;

    /// Returns the value of [`ReportMixture::attains_reduction`] for inputs over this domain.
    fn attains_reduction(&self, _domain: &Domain) -> bool {
        false
    }
}
