//! Choosing: which mechanism, with which parameters, by predicted error.
//!
//! A [`TaskDraft`] is a task as people write it. What it leaves open is chosen for a [`Population`]
//! and an [`Objective`]: each mechanism searches its own parameters, and the sparsity is searched
//! above them. None of this is needed to make a report.

mod buckets;
mod budget;
mod cells;
mod contract;
mod cross;
mod differs;
mod draft;
mod file;
mod mechanism;
mod number;
mod objective;
mod population;
mod predict;
mod question;
mod search;
mod subset;
mod together;
mod windows;

pub use crate::task::{Spacing, Want};
pub use buckets::BucketsDraft;
pub use budget::{Budget, alpha};
pub use cross::{CrossDraft, PartDraft};
pub use draft::TaskDraft;
pub use mechanism::MechanismDraft;
pub use number::NumberDraft;
pub use objective::{AutoDraft, AutoLevel, Objective, ObjectiveDraft, ObjectiveName};
pub use population::Population;
pub use predict::{Predicted, SquaredError};
pub use question::{Asked, Choice, QuestionDraft};
pub use search::Candidate;
pub use together::{Comparison, together};

use alloc::vec::Vec;

use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::contract::Encode;
use crate::mechanism::hash_bin::LevelName;
use crate::mechanism::list::each;
use crate::task::{Question, Task};
use contract::Choose;
use predict::Predict;

macro_rules! register {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $(pub mod $module;)+
    };
}

crate::mechanisms!([register]);

impl Mechanism {
    /// The error to expect of a population with entries of ±1. In an open
    /// domain, items that hardly anybody has.
    ///
    /// # Panics
    /// If the parameters do not suit the domain; those of a
    /// [`Task`] do.
    #[must_use]
    pub fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        each!(Self, self, own => own.predict(domain, epsilon, population))
    }

    /// Bytes of one encoded report, at most.
    pub(crate) fn report_bytes(&self, domain: &Domain, epsilon: f64) -> usize {
        let mut bytes = Vec::new();
        each!(Self, self, own => own.longest_report(domain, epsilon).encode(&mut bytes));
        bytes.len()
    }

    /// The level of protection, in hash-bin's words: `user` for mechanisms that know no other.
    pub(crate) fn level(&self) -> LevelName {
        each!(Self, self, own => own.protects())
    }
}

impl Task {
    /// Bytes of one encoded report, at most, whichever question it answers.
    #[must_use]
    pub fn report_bytes(&self) -> usize {
        let bytes = |question: &Question| {
            let mechanism = question.mechanism();
            mechanism.report_bytes(&question.domain(), question.epsilon())
        };
        // A task has a question.
        self.questions().iter().map(bytes).max().unwrap_or(0)
    }
}
