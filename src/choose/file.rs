//! Reading of task drafts and question drafts from task files.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, de};

use super::cross::{CrossDraft, PartDraft};
use super::draft::TaskDraft;
use super::mechanism_draft::MechanismDraft;
use super::number::NumberDraft;
use super::question::{KindDraft, QuestionDraft};
use crate::domain::ValueKind;
use crate::error::Error;
use crate::task::collected::file::{
    QUESTIONS_AND_ITEMS_ERROR, QuestionKindName, SerializedQuestion,
};
use crate::task::collected::part_file::{PartOrUnresolvedNumber, ScaleFields, SerializedPart};
use crate::task::{Items, NumberPurpose, PrefixLengths, ReportBudget};

/// Draft of a task in a file. It has one of two forms: one question without a name, or questions
/// with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedTaskDraft {
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
    budget: ReportBudget,
}

impl<'de> Deserialize<'de> for TaskDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = SerializedTaskDraft::deserialize(deserializer)?;
        let missing = <D::Error as de::Error>::missing_field;
        let of_its_own = file.items.is_some()
            || file.sparsity.is_some()
            || file.entries.is_some()
            || file.overlap.is_some()
            || file.value.is_some()
            || file.mechanism.is_some();
        let questions = match file.questions {
            Some(_) if of_its_own => return Err(de::Error::custom(QUESTIONS_AND_ITEMS_ERROR)),
            Some(questions) => questions,
            None => {
                let items = file.items.ok_or_else(|| missing("items"))?;
                let value = file.value.ok_or_else(|| missing("value"))?;
                alloc::vec![QuestionDraft {
                    name: String::new(),
                    kind: KindDraft::Ratings(items, value),
                    sparsity: file.sparsity,
                    people_count_by_entry_count: file.entries,
                    mean_item_overlap: file.overlap,
                    sampling_weight: None,
                    mechanism: file.mechanism.unwrap_or_default(),
                }]
            }
        };
        Ok(Self {
            id: file.id,
            epsilon: file.epsilon,
            people_count: file.people,
            questions,
            budget_per_person: file.budget,
        })
    }
}

impl CrossDraft {
    fn from_serialized_question(file: &SerializedQuestion<MechanismDraft>) -> Result<Self, Error> {
        let part = |file: &SerializedPart| {
            Ok(match file.part_or_number()? {
                PartOrUnresolvedNumber::CompletePart(part) => PartDraft::Complete(part),
                PartOrUnresolvedNumber::UnresolvedNumber(name, scale) => {
                    PartDraft::Number(name, scale.into())
                }
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
        let file = SerializedQuestion::<MechanismDraft>::deserialize(deserializer)?;
        Self::from_serialized_question(file).map_err(de::Error::custom)
    }
}

impl QuestionDraft {
    fn from_serialized_question(file: SerializedQuestion<MechanismDraft>) -> Result<Self, Error> {
        let listed = file
            .stated_items()
            .map_err(|error| file.add_question_to_error(error))?
            .cloned();
        let sparsity = file.stated_or_implied_sparsity();
        let kind = match (file.kind, listed, file.value) {
            (QuestionKindName::Ratings, Some(items), Some(value)) => {
                KindDraft::Ratings(items, value)
            }
            (QuestionKindName::Set, Some(items), _) => KindDraft::Set(items),
            (QuestionKindName::Choice, Some(items), _) => KindDraft::Choice(items),
            (QuestionKindName::Numbers, ..) => {
                let (names, limits) = file
                    .names_and_limits()
                    .map_err(|error| file.add_question_to_error(error))?;
                KindDraft::Numbers(names, limits.into())
            }
            (QuestionKindName::Number, ..) => {
                let number = NumberDraft::from(file.scale_fields());
                if number.stated_or_implied_purpose() == NumberPurpose::Mean {
                    let scale = ScaleFields {
                        number_purpose: None,
                        ..file.scale_fields()
                    };
                    let limits = scale.number_limits(ScaleFields::INVALID_NUMBER_FIELDS_ERROR);
                    let limits = limits.map_err(|error| file.add_question_to_error(error))?;
                    KindDraft::Numbers(Items::Count(1), alloc::vec![limits].into())
                } else {
                    KindDraft::Number(number)
                }
            }
            (QuestionKindName::Text, ..) => KindDraft::Text(
                text_prefix_lengths(&file).map_err(|error| file.add_question_to_error(error))?,
            ),
            (QuestionKindName::Together, ..) => KindDraft::Together(
                file.together_kind()
                    .map_err(|error| file.add_question_to_error(error))?,
            ),
            (QuestionKindName::Cross, ..) => KindDraft::Cross(
                CrossDraft::from_serialized_question(&file)
                    .map_err(|error| file.add_question_to_error(error))?,
            ),
            // Only a flag remains: `stated_items` guarantees the lists of the other kinds.
            _ => KindDraft::Flag,
        };
        Ok(Self {
            name: file.name,
            kind,
            sparsity,
            people_count_by_entry_count: file.entries,
            mean_item_overlap: file.overlap,
            sampling_weight: file.weight,
            mechanism: file.mechanism.unwrap_or_default(),
        })
    }
}

/// Returns the stated prefix lengths of a text, or prefix lengths for its stated maximum length.
fn text_prefix_lengths(file: &SerializedQuestion<MechanismDraft>) -> Result<PrefixLengths, Error> {
    match (&file.prefixes, file.length) {
        (Some(_), None) => file.stated_prefix_lengths(),
        (None, Some(length)) => PrefixLengths::even_lengths_up_to(length),
        _ => Err(Error::InvalidCombination {
            reason: "a \"text\" needs either a \"length\" in characters, or the lengths of its \
                     \"prefixes\"",
        }),
    }
}
