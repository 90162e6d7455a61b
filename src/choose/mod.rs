//! Choice of mechanism and parameters, by predicted error.
//!
//! A [`TaskDraft`] is a task as people write it. Its unset parameters are chosen for a
//! [`Population`] and an [`Objective`]. Each mechanism searches its own parameters, and an outer
//! search finds the sparsity. Clients do not need this module to make reports.

mod balanced_windows;
mod buckets_draft;
mod budget;
mod candidate_cell_counts;
mod contract;
mod cross;
mod draft;
mod draft_agreement;
mod file;
mod mechanism_draft;
mod memo;
mod number;
mod objective;
mod population;
mod predict;
mod question;
mod sparsity_search;
mod subset;
mod together;

pub use crate::task::{BinSpacing, NumberPurpose};
pub use buckets_draft::BucketsDraft;
pub use budget::{PrivacyBudget, mixture_alpha};
pub use cross::{CrossDraft, PartDraft};
pub use draft::TaskDraft;
pub use mechanism_draft::MechanismDraft;
pub use number::NumberDraft;
pub use objective::{AutoDraft, AutoLevel, Objective, ObjectiveDraft, ObjectiveName};
pub use population::Population;
pub use predict::{PredictedErrors, PredictedSquaredError};
pub use question::{ChosenQuestion, KindDraft, QuestionDraft};
pub use sparsity_search::Candidate;
pub use together::{SeparateVsTogetherVariances, compare_separate_with_together};

use alloc::vec::Vec;

use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::contract::EncodeReport;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::mechanism_list::match_any_mechanism;
use crate::task::{Question, Task};
use contract::ChooseParameters;
use predict::PredictErrors;

macro_rules! declare_mechanism_modules {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $(pub mod $module;)+
    };
}

crate::mechanisms!([declare_mechanism_modules]);

impl Mechanism {
    /// Returns the expected errors of estimates, for a population whose entries are ±1. In an open
    /// domain, the errors are those of rare items.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. The parameters of a [`Task`] do.
    #[must_use]
    pub fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        match_any_mechanism!(Self, self, own => own.predict_errors(domain, epsilon, population))
    }

    /// Returns the maximum length of an encoded report, in bytes.
    pub(crate) fn max_report_bytes(&self, domain: &Domain, epsilon: f64) -> usize {
        let mut bytes = Vec::new();
        match_any_mechanism!(Self, self, own => own.report_with_longest_encoding(domain, epsilon).encode(&mut bytes));
        bytes.len()
    }

    /// Returns the mechanism's level of protection, named like the levels of hash-bin. Mechanisms
    /// without levels have the level `user`.
    pub(crate) fn protection_level(&self) -> PrivacyLevelName {
        match_any_mechanism!(Self, self, own => own.protection_level())
    }
}

impl Task {
    /// Returns the maximum length of an encoded report over all questions, in bytes.
    #[must_use]
    pub fn max_single_report_bytes(&self) -> usize {
        let bytes = |question: &Question| {
            let mechanism = question.mechanism();
            mechanism.max_report_bytes(&question.domain(), question.epsilon())
        };
        // A task has at least one question, so the 0 is never returned.
        self.questions().iter().map(bytes).max().unwrap_or(0)
    }
}
