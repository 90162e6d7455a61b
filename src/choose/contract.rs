//! Interface of a mechanism whose parameters can be chosen.

use alloc::vec::Vec;

use super::predict::PredictErrors;
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::hash_bin::PrivacyLevelName;

/// Mechanism whose parameters can be chosen.
pub(crate) trait ChooseParameters: PredictErrors {
    /// Parameters of the mechanism, which may be unset.
    type ParametersDraft;

    /// Checks the stated parameters of a draft for a domain, without choosing the unset parameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`].
    fn check_draft(draft: &Self::ParametersDraft, domain: &Domain) -> Result<(), Error>;

    /// Returns the best parameters that a draft allows, and the best sparsity.
    ///
    /// # Errors
    /// As [`ChooseParameters::check_draft`]; [`Error::InvalidCombination`] also if no parameters stay within the
    /// budget.
    fn best_candidate(
        search: &ParameterSearch<'_>,
        draft: &Self::ParametersDraft,
    ) -> Result<Candidate, Error>;

    /// Lists the mechanism's variants for comparison with other mechanisms. Each variant has its
    /// best parameters.
    ///
    /// Only variants that protect at least as much as the given level are listed. The list is empty
    /// if the mechanism cannot stay within the budget.
    ///
    /// Collision and CoCo offer the project's own rules with balanced hashing, or with independent
    /// hashing in open domains. No case is known in which the papers' rules are better.
    ///
    /// # Errors
    /// As [`ChooseParameters::best_candidate`].
    fn best_candidate_per_variant(
        _: &ParameterSearch<'_>,
        _: PrivacyLevelName,
    ) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }

    /// Checks that the parameters in use agree with a draft.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first field that differs.
    fn check_agrees_with(&self, draft: &Self::ParametersDraft) -> Result<(), Error>;

    /// Returns the report with the longest encoding.
    fn report_with_longest_encoding(&self, domain: &Domain, epsilon: f64) -> Self::Report;

    /// Returns the mechanism's level of protection, named like the levels of hash-bin.
    fn protection_level(&self) -> PrivacyLevelName {
        PrivacyLevelName::User
    }
}
