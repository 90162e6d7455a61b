//! Choice of the toy, where only the sparsity is open.

use alloc::vec::Vec;

use serde::Deserialize;

use super::contract::ChooseParameters;
use super::population::Population;
use super::predict::{self, PredictErrors, PredictedErrors};
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::toy::{Report, Toy};

/// Draft of [`Toy`], which has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersDraft {}

impl PredictErrors for Toy {
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        let gap = self.lean(epsilon) / f64::from(domain.sparsity());
        let square = 1.0 / (gap * gap);
        let items = predict::item_count_for_averaging(domain, population);
        let mean =
            predict::error_with_entry_limit(domain, population, items, square - 1.0, |_| square);
        PredictedErrors {
            mean_error: Some(mean),
            frequency_error: None,
            nonmissing_error: None,
        }
    }
}

impl ChooseParameters for Toy {
    type ParametersDraft = ParametersDraft;

    fn check_draft(_: &ParametersDraft, _: &Domain) -> Result<(), Error> {
        Ok(())
    }

    fn best_candidate(
        search: &ParameterSearch<'_>,
        _: &ParametersDraft,
    ) -> Result<Candidate, Error> {
        search.best_over_sparsities(|_, _| Ok(Self {}))
    }

    /// Returns no candidates: the toy is used only on request.
    fn best_candidate_per_variant(
        _: &ParameterSearch<'_>,
        _: PrivacyLevelName,
    ) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }

    fn check_agrees_with(&self, _: &ParametersDraft) -> Result<(), Error> {
        Ok(())
    }

    fn report_with_longest_encoding(&self, _: &Domain, _: f64) -> Report {
        Report {
            seed: u64::MAX,
            plus: true,
        }
    }
}
