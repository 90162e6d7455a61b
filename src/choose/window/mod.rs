//! Choice of the window mechanism's parameters. They minimise the worst-case variance of an
//! estimated mean, over all numbers that people may have.

mod draft;
mod sizes;
mod values;

pub use draft::{ParametersDraft, VarianceObjective};

use alloc::vec::Vec;

use super::budget::{BUDGET_EXCEEDED_ERROR, PrivacyBudget};
use super::contract::ChooseParameters;
use super::draft_agreement::check_equal_if_stated;
use super::population::Population;
use super::predict::{PredictErrors, PredictedErrors, PredictedSquaredError};
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::window::{Report, Window};

impl PredictErrors for Window {
    /// Returns the worst-case variance over all possible numbers. Every person has all attributes.
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        let variance = self
            .estimate_scale_and_variance(domain, epsilon)
            .max_variance()
            / population.people_count();
        PredictedErrors {
            mean_error: Some(PredictedSquaredError {
                variance,
                rare_item_variance: variance,
                ..PredictedSquaredError::default()
            }),
            frequency_error: None,
            nonmissing_error: None,
        }
    }
}

impl ChooseParameters for Window {
    type ParametersDraft = ParametersDraft;

    fn check_draft(draft: &ParametersDraft, domain: &Domain) -> Result<(), Error> {
        let [drawn, favoured] = [draft.drawn, draft.favoured].map(|own| own.unwrap_or(1));
        if let Some(values) = &draft.values {
            if draft.objective.is_some() {
                return Err(Error::InvalidCombination {
                    reason: "\"values\" and \"objective\" exclude each other",
                });
            }
            let (Some(atoms), Some(_)) = (draft.atoms, draft.favoured) else {
                return Err(Error::InvalidCombination {
                    reason: "\"values\" need \"atoms\" and \"favoured\"",
                });
            };
            let window = Self::new(drawn, atoms, favoured, values.as_slice())?;
            return MechanismParameters::check_suits_domain(&window, domain);
        }
        let fewest = favoured.saturating_mul(2).max(2);
        let atoms = draft.atoms.unwrap_or(fewest);
        bounds::ATOM_COUNT_RANGE
            .with_max(f64::from(sizes::MAX_ATOMS_FOR_VALUE_CHOICE))
            .check_in_range(f64::from(atoms))?;
        let values = alloc::vec![1; (atoms / 2) as usize];
        MechanismParameters::check_suits_domain(&Self::new(drawn, atoms, favoured, values)?, domain)
    }

    fn best_candidate(
        search: &ParameterSearch<'_>,
        draft: &ParametersDraft,
    ) -> Result<Candidate, Error> {
        search.best_over_sparsities(|domain, budget| Self::choose_parameters(domain, budget, draft))
    }

    fn best_candidate_per_variant(
        search: &ParameterSearch<'_>,
        _: PrivacyLevelName,
    ) -> Result<Vec<Candidate>, Error> {
        if !search.domain.is_dense() {
            return Ok(Vec::new());
        }
        let keeps_to_it = |candidate: &Candidate| candidate.objective_error.is_finite();
        match Self::best_candidate(search, &ParametersDraft::default()) {
            Err(error) if error == BUDGET_EXCEEDED_ERROR => Ok(Vec::new()),
            best => Ok(alloc::vec![best?].into_iter().filter(keeps_to_it).collect()),
        }
    }

    fn check_agrees_with(&self, draft: &ParametersDraft) -> Result<(), Error> {
        check_equal_if_stated("drawn", &draft.drawn, self.drawn_attribute_count())?;
        check_equal_if_stated("atoms", &draft.atoms, self.atoms_per_attribute())?;
        check_equal_if_stated("favoured", &draft.favoured, self.favoured_atom_count())?;
        check_equal_if_stated(
            "values",
            &draft.values,
            self.upper_half_atom_values().to_vec(),
        )
    }

    fn report_with_longest_encoding(&self, _: &Domain, _: f64) -> Report {
        Report::with_longest_encoding(self.atom_combination_count())
    }
}

impl Window {
    /// Returns the best parameters that a draft allows and that stay within the budget. The best
    /// parameters have the minimum worst-case variance over numbers. If the draft's objective is
    /// `average`, only the atoms' values differ from these.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if the draft allows no parameters, or none
    /// within the budget.
    ///
    /// ```
    /// use hushbin::choose::window::ParametersDraft;
    /// use hushbin::domain::Domain;
    /// use hushbin::mechanism::window::Window;
    ///
    /// let of = |epsilon| Window::choose_parameters(&Domain::of_dense_inputs(1), epsilon, &ParametersDraft::default()).unwrap();
    /// assert_eq!((of(0.5).atoms_per_attribute(), of(0.5).favoured_atom_count()), (8, 4));
    /// ```
    pub fn choose_parameters(
        domain: &Domain,
        budget: impl Into<PrivacyBudget>,
        draft: &ParametersDraft,
    ) -> Result<Self, Error> {
        Self::check_draft(draft, domain)?;
        sizes::best_window(domain, budget.into(), draft).ok_or(BUDGET_EXCEEDED_ERROR)
    }
}
