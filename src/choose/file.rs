//! Reading of task drafts and question drafts from task files.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, de};

use super::cross::{CrossDraft, PartDraft};
use super::draft::TaskDraft;
use super::mechanism::MechanismDraft;
use super::number::NumberDraft;
use super::question::{KindDraft, QuestionDraft};
use crate::domain::ValueKind;
use crate::error::Error;
use crate::task::collected::file::{KindName, QUESTIONS_OR_ITEMS, QuestionFile};
use crate::task::collected::part_file::{PartFile, PartOrNumber, ScaleFile};
use crate::task::{Budget, Items, NumberPurpose, PrefixLengths};

/// Draft of a task in a file. It has one of two forms: one question without a name, or questions
/// with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DraftFile {
    id: String,
    items: Option<Items>,
    sparsity: Option<u32>,
    entries: Option<Vec<u64>>,
    overlap: Option<f64>,
    people: Option<u64>,
    epsilon: f64,
    value: Option<ValueKind>,
    mechanism: Option<MechanismDraft>,
    questions: Option<Vec<QuestionDraft>>,
    #[serde(default)]
    budget: Budget,
}

impl<'de> Deserialize<'de> for TaskDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = DraftFile::deserialize(deserializer)?;
        let missing = <D::Error as de::Error>::missing_field;
        let of_its_own = file.items.is_some()
            || file.sparsity.is_some()
            || file.entries.is_some()
            || file.overlap.is_some()
            || file.value.is_some()
            || file.mechanism.is_some();
        let questions = match file.questions {
            Some(_) if of_its_own => return Err(de::Error::custom(QUESTIONS_OR_ITEMS)),
            Some(questions) => questions,
            None => {
                let items = file.items.ok_or_else(|| missing("items"))?;
                let value = file.value.ok_or_else(|| missing("value"))?;
                alloc::vec![QuestionDraft {
                    name: String::new(),
                    kind: KindDraft::Ratings(items, value),
                    sparsity: file.sparsity,
                    entries: file.entries,
                    overlap: file.overlap,
                    weight: None,
                    mechanism: file.mechanism.unwrap_or_default(),
                }]
            }
        };
        Ok(Self {
            id: file.id,
            epsilon: file.epsilon,
            people: file.people,
            questions,
            budget: file.budget,
        })
    }
}

impl CrossDraft {
    fn from_question_file(file: &QuestionFile<MechanismDraft>) -> Result<Self, Error> {
        let part = |file: &PartFile| {
            Ok(match file.part_or_number()? {
                PartOrNumber::Complete(part) => PartDraft::Complete(part),
                PartOrNumber::Number(name, scale) => PartDraft::Number(name, scale.into()),
            })
        };
        let [rows, columns] = file.cross_parts()?;
        Ok(Self {
            parts: [part(rows)?, part(columns)?],
        })
    }
}

impl<'de> Deserialize<'de> for QuestionDraft {
    /// Reads one of the questions of a task file.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = QuestionFile::<MechanismDraft>::deserialize(deserializer)?;
        Self::from_question_file(file).map_err(de::Error::custom)
    }
}

impl QuestionDraft {
    fn from_question_file(file: QuestionFile<MechanismDraft>) -> Result<Self, Error> {
        let listed = file
            .stated_items()
            .map_err(|error| file.error_in_question(error))?
            .cloned();
        let sparsity = file.sparsity();
        let kind = match (file.kind, listed, file.value) {
            (KindName::Ratings, Some(items), Some(value)) => KindDraft::Ratings(items, value),
            (KindName::Set, Some(items), _) => KindDraft::Set(items),
            (KindName::Choice, Some(items), _) => KindDraft::Choice(items),
            (KindName::Numbers, ..) => {
                let (names, limits) = file
                    .names_and_limits()
                    .map_err(|error| file.error_in_question(error))?;
                KindDraft::Numbers(names, limits.into())
            }
            (KindName::Number, ..) => {
                let number = NumberDraft::from(file.scale_fields());
                if number.purpose() == NumberPurpose::Mean {
                    let scale = ScaleFile {
                        want: None,
                        ..file.scale_fields()
                    };
                    let limits = scale.limits(ScaleFile::NO_LIMITS);
                    let limits = limits.map_err(|error| file.error_in_question(error))?;
                    KindDraft::Numbers(Items::Count(1), alloc::vec![limits].into())
                } else {
                    KindDraft::Number(number)
                }
            }
            (KindName::Text, ..) => KindDraft::Text(
                text_prefix_lengths(&file).map_err(|error| file.error_in_question(error))?,
            ),
            (KindName::Together, ..) => KindDraft::Together(
                file.together_kind()
                    .map_err(|error| file.error_in_question(error))?,
            ),
            (KindName::Cross, ..) => KindDraft::Cross(
                CrossDraft::from_question_file(&file)
                    .map_err(|error| file.error_in_question(error))?,
            ),
            // Only a flag remains: `stated_items` guarantees the lists of the other kinds.
            _ => KindDraft::Flag,
        };
        Ok(Self {
            name: file.name,
            kind,
            sparsity,
            entries: file.entries,
            overlap: file.overlap,
            weight: file.weight,
            mechanism: file.mechanism.unwrap_or_default(),
        })
    }
}

/// Returns the stated prefix lengths of a text, or prefix lengths for its stated maximum length.
fn text_prefix_lengths(file: &QuestionFile<MechanismDraft>) -> Result<PrefixLengths, Error> {
    match (&file.prefixes, file.length) {
        (Some(_), None) => file.stated_prefix_lengths(),
        (None, Some(length)) => PrefixLengths::up_to_length(length),
        _ => Err(Error::Combination {
            reason: "a \"text\" needs either a \"length\" in characters, or the lengths of its \
                     \"prefixes\"",
        }),
    }
}
