//! Task files: one question without a name, or questions with names.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::part_file::{ScaleFields, SerializedPart};
use super::purpose::{BinSpacing, NumberPurpose};
use super::ratings_task_fields::RatingsTaskFields;
use crate::domain::ValueKind;
use crate::error::{Error, error};
use crate::mechanism::Mechanism;
use crate::task::items::Items;
use crate::task::limits::NumberLimits;
use crate::task::local::kind::{Cross, QuestionKind, QuestionPart, Together};
use crate::task::local::prefix_lengths::PrefixLengths;
use crate::task::local::question::{Question, QuestionFields};
use crate::task::local::task_definition::Task;
use crate::task::report_budget::ReportBudget;

/// Name of a [`QuestionKind`] of question in a task file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuestionKindName {
    Ratings,
    Set,
    Choice,
    Flag,
    Number,
    Numbers,
    Cross,
    Text,
    Together,
}

/// Question in a task file, with a mechanism of type `M`. Fields that belong to another kind are
/// rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "M: Deserialize<'de>"))]
pub(crate) struct SerializedQuestion<M> {
    pub(crate) name: String,
    pub(crate) kind: QuestionKindName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items: Option<Items>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<Items>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<Vec<SerializedPart>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sparsity: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<ValueKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edges: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<f64>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) optional: bool,
    #[serde(default, skip_serializing)]
    pub(crate) entries: Option<Vec<u64>>,
    #[serde(default, skip_serializing)]
    pub(crate) overlap: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prefixes: Option<Vec<u32>>,
    #[serde(default, skip_serializing)]
    pub(crate) length: Option<u32>,
    #[serde(default, skip_serializing)]
    pub(crate) want: Option<NumberPurpose>,
    #[serde(default, skip_serializing)]
    pub(crate) bins: Option<u32>,
    #[serde(default, skip_serializing)]
    pub(crate) spacing: Option<BinSpacing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mechanism: Option<M>,
}

impl<M> SerializedQuestion<M> {
    /// Returns the items of ratings, or the options of a set or choice. Returns `None` for other
    /// kinds.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if a field is missing or belongs to another kind.
    pub(crate) fn stated_items(&self) -> Result<Option<&Items>, Error> {
        let combination = |reason| Err(error!(InvalidCombination { reason }));
        let rates = self.kind == QuestionKindName::Ratings;
        let lists = matches!(self.kind, QuestionKindName::Set | QuestionKindName::Choice);
        if self.items.is_some() != rates || self.value.is_some() != rates {
            return combination(
                "only \"ratings\" have \"items\" and a \"value\", and they need both",
            );
        }
        if self.options.is_some() != lists {
            return combination("only \"set\" and \"choice\" have \"options\", and they need them");
        }
        let parts = matches!(
            self.kind,
            QuestionKindName::Numbers | QuestionKindName::Cross | QuestionKindName::Together
        );
        if self.of.is_some() != parts {
            return combination(
                "only \"numbers\", \"cross\" and \"together\" have parts in \"of\", and they need \
                 them",
            );
        }
        if self.kind != QuestionKindName::Text && (self.prefixes.is_some() || self.length.is_some())
        {
            return combination("only \"text\" has \"prefixes\" or a \"length\"");
        }
        let many = self.sparsity.is_some() || self.overlap.is_some();
        if many && !rates && self.kind != QuestionKindName::Set {
            return combination(
                "\"sparsity\" and \"overlap\" are only for \"ratings\" and \"set\": other kinds \
                 have a fixed number of answers",
            );
        }
        if self.scale_fields() != ScaleFields::default() && self.kind != QuestionKindName::Number {
            return combination(
                "only a \"number\" has \"min\", \"max\", \"unit\", \"edges\", \"step\", \
                 \"optional\", \"want\", \"bins\" or \"spacing\"",
            );
        }
        Ok(self.items.as_ref().or(self.options.as_ref()))
    }

    /// Returns the names and limits of several numbers.
    ///
    /// # Errors
    /// As [`NumberLimits::new`]; [`Error::InvalidCombination`] for a single number, and for fields that do
    /// not belong to numbers.
    pub(crate) fn names_and_limits(&self) -> Result<(Items, Vec<NumberLimits>), Error> {
        let of = self.of.as_deref().unwrap_or_default();
        if of.len() == 1 {
            return Err(error!(InvalidCombination {
                reason: "\"numbers\" need at least two numbers: use \"number\" for one",
            }));
        }
        let names = of.iter().map(|own| own.name.clone()).collect();
        let limits: Result<_, Error> = of.iter().map(SerializedPart::number_limits).collect();
        Ok((Items::Named(names), limits?))
    }

    /// Returns the two parts of a `cross`.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if there are not exactly two parts.
    pub(crate) fn cross_parts(&self) -> Result<&[SerializedPart; 2], Error> {
        let of = self.of.as_deref().unwrap_or_default();
        of.try_into().map_err(|_| {
            error!(InvalidCombination {
                reason: "a \"cross\" needs exactly two parts in \"of\": rows and columns",
            })
        })
    }

    /// Returns the kind `together` with its parts.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for incomplete parts.
    pub(crate) fn together_kind(&self) -> Result<Together, Error> {
        let of = self.of.iter().flatten();
        let parts: Result<Vec<QuestionPart>, Error> =
            of.map(SerializedPart::part_if_complete).collect();
        Ok(Together::new(parts?))
    }

    /// Returns the kind of a complete question, with its items.
    ///
    /// # Errors
    /// As [`SerializedQuestion::stated_items`], and the errors of the kind's parts.
    /// [`Error::InvalidCombination`] for fields that only a draft may have.
    fn complete_kind(&self) -> Result<(QuestionKind, Items), Error> {
        let crowd = self.entries.is_some() || self.overlap.is_some();
        if self.scale_fields().has_draft_fields() || crowd || self.length.is_some() {
            return Err(error!(InvalidCombination {
                reason: "\"entries\", \"overlap\", \"want\", \"bins\", \"spacing\" and \"length\" \
                         only guide the choice of parameters: a complete question must not have \
                         them",
            }));
        }
        let items = self.stated_items()?.cloned();
        if self.kind == QuestionKindName::Numbers {
            let (names, limits) = self.names_and_limits()?;
            return Ok((QuestionKind::Numbers(limits.into()), names));
        }
        let kind = match (self.kind, self.value) {
            (QuestionKindName::Cross, _) => {
                let [rows, columns] = self.cross_parts()?;
                QuestionKind::CrossTabulation(Cross::new(
                    rows.part_if_complete()?,
                    columns.part_if_complete()?,
                ))
            }
            (QuestionKindName::Ratings, Some(value)) => QuestionKind::Ratings(value),
            (QuestionKindName::Set, _) => QuestionKind::Set,
            (QuestionKindName::Choice, _) => QuestionKind::Choice,
            (QuestionKindName::Flag, _) => QuestionKind::Flag,
            (QuestionKindName::Text, _) => QuestionKind::Text(self.stated_prefix_lengths()?),
            (QuestionKindName::Together, _) => QuestionKind::JointChoices(self.together_kind()?),
            _ if self.scale_fields().has_edges() => {
                QuestionKind::Number(self.scale_fields().scale_if_complete()?)
            }
            _ => QuestionKind::Numbers(
                alloc::vec![
                    self.scale_fields()
                        .number_limits(ScaleFields::INVALID_NUMBER_FIELDS_ERROR)?
                ]
                .into(),
            ),
        };
        let items = kind.implied_items().or(items);
        Ok((
            kind,
            items.expect("a kind without items of its own lists them"),
        ))
    }

    /// Returns the stated prefix lengths of a text.
    ///
    /// # Errors
    /// As [`PrefixLengths::new`].
    pub(crate) fn stated_prefix_lengths(&self) -> Result<PrefixLengths, Error> {
        PrefixLengths::new(self.prefixes.clone().unwrap_or_default())
    }

    /// Returns the fields of a number's scale.
    pub(crate) fn scale_fields(&self) -> ScaleFields {
        ScaleFields {
            number_purpose: self.want,
            min: self.min,
            max: self.max,
            unit: self.unit.clone(),
            level_count: None,
            bin_edges: self.edges.clone(),
            bin_count: self.bins,
            bin_spacing: self.spacing,
            value_step: self.step,
            optional: self.optional,
        }
    }

    /// Attributes an error to this question.
    pub(crate) fn add_question_to_error(&self, error: Error) -> Error {
        error.with_question(&self.name)
    }

    /// Returns the sparsity if it is stated or follows from the kind, else `None`.
    pub(crate) fn stated_or_implied_sparsity(&self) -> Option<u32> {
        match self.kind {
            QuestionKindName::Ratings | QuestionKindName::Set => self.sparsity,
            QuestionKindName::Choice
            | QuestionKindName::Flag
            | QuestionKindName::Number
            | QuestionKindName::Cross
            | QuestionKindName::Text => Some(1),
            QuestionKindName::Numbers | QuestionKindName::Together => {
                self.of.as_ref().map(|of| of.len() as u32)
            }
        }
    }
}

impl SerializedQuestion<Mechanism> {
    fn complete_question(self, epsilon: f64) -> Result<Question, Error> {
        let (kind, items) = self
            .complete_kind()
            .map_err(|error| self.add_question_to_error(error))?;
        let missing = |reason| self.add_question_to_error(error!(InvalidCombination { reason }));
        let sparsity = self.stated_or_implied_sparsity();
        let sparsity =
            sparsity.ok_or_else(|| missing("\"ratings\" and \"set\" need a \"sparsity\""))?;
        let mechanism = self.mechanism.clone();
        let mechanism =
            mechanism.ok_or_else(|| missing("a complete question needs a \"mechanism\""))?;
        Question::new(QuestionFields {
            name: self.name,
            kind,
            items,
            max_entries_per_report: sparsity,
            weight: self.weight.unwrap_or(1),
            epsilon,
            mechanism,
        })
    }

    fn from_question(question: &Question) -> Self {
        let kind = question.kind();
        let scale = match kind {
            QuestionKind::Number(scale) => ScaleFields::from_scale(scale),
            QuestionKind::Numbers(own) if own.is_single() => ScaleFields::from_limits(&own[0]),
            _ => ScaleFields::default(),
        };
        let lists = kind.implied_items().is_none() && !matches!(kind, QuestionKind::Numbers(_));
        let items = lists.then(|| question.items().clone());
        let rates = matches!(kind, QuestionKind::Ratings(_));
        let several = rates || *kind == QuestionKind::Set;
        let (items, options) = if rates { (items, None) } else { (None, items) };
        let written =
            |parts: &[QuestionPart]| Some(parts.iter().map(SerializedPart::from_part).collect());
        Self {
            name: question.name().to_owned(),
            kind: match kind {
                QuestionKind::Ratings(_) => QuestionKindName::Ratings,
                QuestionKind::Set => QuestionKindName::Set,
                QuestionKind::Choice => QuestionKindName::Choice,
                QuestionKind::Flag => QuestionKindName::Flag,
                QuestionKind::Number(_) => QuestionKindName::Number,
                QuestionKind::Numbers(own) if own.is_single() => QuestionKindName::Number,
                QuestionKind::Numbers(_) => QuestionKindName::Numbers,
                QuestionKind::CrossTabulation(_) => QuestionKindName::Cross,
                QuestionKind::Text(_) => QuestionKindName::Text,
                QuestionKind::JointChoices(_) => QuestionKindName::Together,
            },
            items,
            options,
            of: match kind {
                QuestionKind::Numbers(limits) if !limits.is_single() => {
                    Some(SerializedPart::parts_from_numbers(question.items(), limits))
                }
                QuestionKind::CrossTabulation(cross) => written(cross.parts()),
                QuestionKind::JointChoices(all) => written(all.parts()),
                _ => None,
            },
            sparsity: several.then(|| question.max_entries_per_report()),
            value: rates.then(|| question.coded_value_kind()),
            min: scale.min,
            max: scale.max,
            edges: scale.bin_edges,
            unit: scale.unit,
            step: scale.value_step,
            optional: scale.optional,
            entries: None,
            overlap: None,
            prefixes: match kind {
                QuestionKind::Text(prefixes) => Some(prefixes.lengths().to_vec()),
                _ => None,
            },
            length: None,
            want: None,
            bins: None,
            spacing: None,
            // The default weight is not written.
            weight: Some(question.weight()).filter(|weight| *weight != 1),
            mechanism: Some(question.mechanism().clone()),
        }
    }
}

/// Task file. It has one of two forms: one question without a name, or questions with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedTask {
    id: String,
    #[serde(default)]
    items: Option<Items>,
    #[serde(default)]
    sparsity: Option<u32>,
    epsilon: f64,
    #[serde(default)]
    value: Option<ValueKind>,
    #[serde(default)]
    mechanism: Option<Mechanism>,
    #[serde(default)]
    questions: Option<Vec<SerializedQuestion<Mechanism>>>,
    #[serde(default)]
    budget: ReportBudget,
}

/// Error message for a task that has both questions and the fields of a single question.
pub(crate) const QUESTIONS_AND_ITEMS_ERROR: &str =
    "a task has \"questions\", or its own \"items\", \"sparsity\", \"value\" and \"mechanism\"";

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = SerializedTask::deserialize(deserializer)?;
        let budgeted = |task: Self| task.with_report_budget(file.budget);
        let missing = <D::Error as de::Error>::missing_field;
        let Some(questions) = file.questions else {
            let parts = RatingsTaskFields {
                id: file.id,
                items: file.items.ok_or_else(|| missing("items"))?,
                sparsity: file.sparsity.ok_or_else(|| missing("sparsity"))?,
                epsilon: file.epsilon,
                value: file.value.ok_or_else(|| missing("value"))?,
                mechanism: file.mechanism.ok_or_else(|| missing("mechanism"))?,
            };
            return Self::new(parts)
                .and_then(budgeted)
                .map_err(de::Error::custom);
        };
        let of_its_own = file.items.is_some()
            || file.sparsity.is_some()
            || file.value.is_some()
            || file.mechanism.is_some();
        if of_its_own {
            return Err(de::Error::custom(QUESTIONS_AND_ITEMS_ERROR));
        }
        let complete =
            |question: SerializedQuestion<Mechanism>| question.complete_question(file.epsilon);
        let questions: Result<Vec<Question>, Error> = questions.into_iter().map(complete).collect();
        let task = |questions| Self::from_questions(file.id, questions);
        questions
            .and_then(task)
            .and_then(budgeted)
            .map_err(de::Error::custom)
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct UnnamedQuestionTask {
            #[serde(flatten)]
            parts: RatingsTaskFields,
            #[serde(skip_serializing_if = "ReportBudget::is_default")]
            budget: ReportBudget,
        }

        #[derive(Serialize)]
        struct NamedQuestionsTask<'a> {
            id: &'a str,
            epsilon: f64,
            questions: Vec<SerializedQuestion<Mechanism>>,
            #[serde(skip_serializing_if = "ReportBudget::is_default")]
            budget: ReportBudget,
        }

        let budget = self.report_budget();
        match RatingsTaskFields::try_from(self.clone()) {
            Ok(parts) => UnnamedQuestionTask { parts, budget }.serialize(serializer),
            Err(_) => NamedQuestionsTask {
                id: self.id(),
                epsilon: self.epsilon(),
                questions: self
                    .questions()
                    .iter()
                    .map(SerializedQuestion::from_question)
                    .collect(),
                budget,
            }
            .serialize(serializer),
        }
    }
}
