//! Questions in files of tasks that only a shuffler protects.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::error::{Error, error};
use crate::sums::counted_questions::{CountedKind, CountedQuestions};
use crate::task::{Items, NumberLimits};

/// Counted question in a task file. The words are those of questions that have a local ε.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum SerializedCountedQuestion {
    Choice {
        name: String,
        options: Items,
    },
    Set {
        name: String,
        options: Items,
        sparsity: u32,
    },
    Flag {
        name: String,
    },
    Number {
        name: String,
        min: f64,
        max: f64,
        bins: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
}

impl SerializedCountedQuestion {
    fn name(&self) -> &String {
        match self {
            Self::Choice { name, .. }
            | Self::Set { name, .. }
            | Self::Flag { name }
            | Self::Number { name, .. } => name,
        }
    }

    /// Returns the question, as the only one of its task.
    fn into_questions(self) -> Result<CountedQuestions, Error> {
        let (kind, items) = match self {
            Self::Choice { name, options } => (CountedKind::Choice { name }, options),
            Self::Set {
                name,
                options,
                sparsity,
            } => (CountedKind::Set { name, sparsity }, options),
            Self::Flag { name } => (CountedKind::Flags, Items::Named(alloc::vec![name])),
            Self::Number {
                name,
                min,
                max,
                bins,
                unit,
            } => {
                let limits = NumberLimits::new(min, max, unit)?;
                (CountedKind::Number { name, limits }, Items::Count(bins))
            }
        };
        CountedQuestions::new(kind, items)
    }
}

/// Returns the counted questions that a task file describes.
///
/// # Errors
/// As [`CountedQuestions::new`]. [`Error::InvalidCombination`] for several questions that are not
/// all flags.
pub(super) fn questions_from_file(
    questions: Vec<SerializedCountedQuestion>,
) -> Result<CountedQuestions, Error> {
    let questions = match <[_; 1]>::try_from(questions) {
        Ok([question]) => {
            let name = question.name().clone();
            let one = question.into_questions();
            return one.map_err(|error| error.with_question(&name));
        }
        Err(questions) => questions,
    };
    let is_flag =
        |own: &SerializedCountedQuestion| matches!(own, SerializedCountedQuestion::Flag { .. });
    if !questions.iter().all(is_flag) {
        return Err(error!(InvalidCombination {
            reason: "\"questions\" through a shuffler are one question, or several of the kind \
                     \"flag\"",
        }));
    }
    let names = questions.iter().map(|own| own.name().clone());
    CountedQuestions::new(CountedKind::Flags, Items::Named(names.collect()))
}

/// Returns counted questions in the form of a task file.
pub(super) fn questions_to_file(questions: &CountedQuestions) -> Vec<SerializedCountedQuestion> {
    let items = questions.items().clone();
    let one = match (questions.kind().clone(), items) {
        (CountedKind::Choice { name }, options) => {
            SerializedCountedQuestion::Choice { name, options }
        }
        (CountedKind::Set { name, sparsity }, options) => SerializedCountedQuestion::Set {
            name,
            options,
            sparsity,
        },
        (CountedKind::Number { name, limits }, bins) => {
            let [min, max] = limits.range();
            SerializedCountedQuestion::Number {
                name,
                min,
                max,
                bins: bins.item_count().unwrap_or(0),
                unit: limits.unit().map(ToOwned::to_owned),
            }
        }
        (CountedKind::Flags, flags) => {
            // Flags always have names.
            let Items::Named(names) = flags else {
                return Vec::new();
            };
            let flag = |name| SerializedCountedQuestion::Flag { name };
            return names.into_iter().map(flag).collect();
        }
    };
    alloc::vec![one]
}
