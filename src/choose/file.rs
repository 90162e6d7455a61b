//! Drafts as they stand in files.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, de};

use super::MechanismDraft;
use super::draft::TaskDraft;
use super::number::NumberDraft;
use super::question::{Asked, QuestionDraft};
use crate::domain::ValueKind;
use crate::error::Error;
use crate::task::Items;
use crate::task::file::{KindName, QUESTIONS_OR_ITEMS, QuestionFile};

/// A draft of either form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DraftFile {
    id: String,
    #[serde(default)]
    items: Option<Items>,
    #[serde(default)]
    sparsity: Option<u32>,
    #[serde(default)]
    entries: Option<Vec<u64>>,
    #[serde(default)]
    people: Option<u64>,
    epsilon: f64,
    #[serde(default)]
    value: Option<ValueKind>,
    #[serde(default)]
    mechanism: Option<MechanismDraft>,
    #[serde(default)]
    questions: Option<Vec<QuestionDraft>>,
}

impl<'de> Deserialize<'de> for TaskDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = DraftFile::deserialize(deserializer)?;
        let missing = <D::Error as de::Error>::missing_field;
        let of_its_own = file.items.is_some()
            || file.sparsity.is_some()
            || file.entries.is_some()
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
                    asked: Asked::Ratings(items, value),
                    sparsity: file.sparsity,
                    entries: file.entries,
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
        })
    }
}

impl<'de> Deserialize<'de> for QuestionDraft {
    /// A question as it stands among others in a task file.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = QuestionFile::<MechanismDraft>::deserialize(deserializer)?;
        Self::of_file(file).map_err(de::Error::custom)
    }
}

impl QuestionDraft {
    fn of_file(file: QuestionFile<MechanismDraft>) -> Result<Self, Error> {
        let listed = file.listed().map_err(|error| file.blame(error))?.cloned();
        let sparsity = file.sparsity();
        let (names, limits) = file.attributes().map_err(|error| file.blame(error))?;
        let asked = match (file.kind, listed, file.value) {
            (KindName::Ratings, Some(items), Some(value)) => Asked::Ratings(items, value),
            (KindName::Set, Some(items), _) => Asked::Set(items),
            (KindName::Choice, Some(items), _) => Asked::Choice(items),
            (KindName::Numbers, ..) => Asked::Numbers(names, limits),
            (KindName::Number, ..) => Asked::Number(NumberDraft {
                want: file.want,
                min: file.min,
                max: file.max,
                unit: file.unit,
                levels: file.levels,
                edges: file.edges,
                bins: file.bins,
                spacing: file.spacing,
            }),
            // What else there is lists nothing.
            _ => Asked::Flag,
        };
        Ok(Self {
            name: file.name,
            asked,
            sparsity,
            entries: file.entries,
            weight: file.weight,
            mechanism: file.mechanism.unwrap_or_default(),
        })
    }
}
