//! Parts of questions in task files: one of several numbers, the rows or columns of a `cross`, or a
//! part of a question of kind `together`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::purpose::{BinSpacing, NumberPurpose};
use crate::error::{Error, error};
use crate::task::items::Items;
use crate::task::limits::NumberLimits;
use crate::task::local::kind::{PartKind, QuestionPart};
use crate::task::local::scale::NumberScale;

/// Fields of a number's scale in a task file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScaleFields {
    pub(crate) number_purpose: Option<NumberPurpose>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) unit: Option<String>,
    pub(crate) level_count: Option<u32>,
    pub(crate) bin_edges: Option<Vec<f64>>,
    pub(crate) bin_count: Option<u32>,
    pub(crate) bin_spacing: Option<BinSpacing>,
    pub(crate) value_step: Option<f64>,
    pub(crate) optional: bool,
}

impl ScaleFields {
    /// Error message for a number without a valid description. The description is either bins, or a
    /// minimum and a maximum alone.
    pub(crate) const INVALID_NUMBER_FIELDS_ERROR: &'static str = "a \"number\" needs \"min\" and \"max\" for its mean, or bins for its distribution; an \
         \"optional\" number needs bins";

    /// Returns the fields that describe a scale.
    pub(crate) fn from_scale(scale: &NumberScale) -> Self {
        let range = scale.edges().is_none().then(|| scale.range());
        Self {
            min: range.map(|[min, _]| min),
            max: range.map(|[_, max]| max),
            level_count: range.map(|_| scale.cell_count()),
            bin_edges: scale.edges().map(<[f64]>::to_vec),
            unit: scale.unit().map(ToOwned::to_owned),
            // A step of 0 means any number, and is not written.
            value_step: Some(scale.value_step()).filter(|step| *step > 0.0),
            optional: scale.is_optional(),
            ..Self::default()
        }
    }

    /// Returns the fields that describe a number with limits, which is not divided into cells.
    pub(crate) fn from_limits(limits: &NumberLimits) -> Self {
        let [min, max] = limits.range();
        Self {
            min: Some(min),
            max: Some(max),
            unit: limits.unit().map(ToOwned::to_owned),
            ..Self::default()
        }
    }

    /// Returns whether the edges of bins are stated.
    pub(crate) const fn has_edges(&self) -> bool {
        self.bin_edges.is_some()
    }

    /// Returns whether there are fields that only a draft may have. These fields control the choice
    /// of cells.
    pub(crate) const fn has_draft_fields(&self) -> bool {
        self.number_purpose.is_some() || self.bin_count.is_some() || self.bin_spacing.is_some()
    }

    /// Returns the limits of a number without cells.
    ///
    /// # Errors
    /// As [`NumberLimits::new`]; [`Error::InvalidCombination`] with `reason` if other fields are stated.
    pub(crate) fn number_limits(self, reason: &'static str) -> Result<NumberLimits, Error> {
        let others = Self {
            min: None,
            max: None,
            unit: None,
            ..self.clone()
        };
        match (self.min, self.max) {
            (Some(min), Some(max)) if others == Self::default() => {
                NumberLimits::new(min, max, self.unit)
            }
            _ => Err(error!(InvalidCombination { reason })),
        }
    }

    /// Returns the scale that the fields of a complete task describe.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the scale is incomplete, and the errors of [`NumberScale`]'s
    /// constructors.
    pub(crate) fn scale_if_complete(self) -> Result<NumberScale, Error> {
        let scale = match (self.min, self.max, self.level_count, self.bin_edges) {
            (Some(min), Some(max), Some(levels), None) => {
                NumberScale::from_levels(min, max, levels)
            }
            (None, None, None, Some(edges)) => NumberScale::from_edges(edges),
            _ => Err(error!(InvalidCombination {
                reason: "a \"number\" needs \"min\", \"max\" and \"levels\" for its mean, or the \
                         \"edges\" of bins for its distribution",
            })),
        };
        scale?.with_details(self.unit, self.value_step, self.optional)
    }
}

/// Kind of a part of a `cross` or of a question of kind `together`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PartKindName {
    Choice,
    Flag,
    Number,
}

/// Part of a question in a task file. The kind is missing if the part is one of several numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SerializedPart {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<PartKindName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Items>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edges: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(default, skip_serializing)]
    want: Option<NumberPurpose>,
    #[serde(default, skip_serializing)]
    bins: Option<u32>,
    #[serde(default, skip_serializing)]
    spacing: Option<BinSpacing>,
}

impl SerializedPart {
    /// Returns a part for each of several numbers.
    pub(super) fn parts_from_numbers(items: &Items, limits: &[NumberLimits]) -> Vec<Self> {
        let Items::Named(names) = items else {
            unreachable!("numbers have names");
        };
        let number = |(name, limits): (&String, &NumberLimits)| {
            let [min, max] = limits.range();
            Self {
                name: name.clone(),
                min: Some(min),
                max: Some(max),
                unit: limits.unit().map(ToOwned::to_owned),
                ..Self::default()
            }
        };
        names.iter().zip(limits).map(number).collect()
    }

    /// Returns the fields that describe a part with a kind.
    pub(super) fn from_part(part: &QuestionPart) -> Self {
        let scale = part
            .scale()
            .map(ScaleFields::from_scale)
            .unwrap_or_default();
        let (kind, options) = match &part.kind {
            PartKind::Number(_) => (PartKindName::Number, None),
            PartKind::Flag => (PartKindName::Flag, None),
            PartKind::Choice => (PartKindName::Choice, Some(part.items().clone())),
        };
        Self {
            name: part.name().to_owned(),
            kind: Some(kind),
            options,
            min: scale.min,
            max: scale.max,
            levels: scale.level_count,
            edges: scale.bin_edges,
            unit: scale.unit,
            step: scale.value_step,
            ..Self::default()
        }
    }

    fn scale_fields(&self) -> ScaleFields {
        ScaleFields {
            number_purpose: self.want,
            min: self.min,
            max: self.max,
            unit: self.unit.clone(),
            level_count: self.levels,
            bin_edges: self.edges.clone(),
            bin_count: self.bins,
            bin_spacing: self.spacing,
            value_step: self.step,
            optional: false,
        }
    }

    /// Returns the limits of one of several numbers.
    ///
    /// # Errors
    /// As [`NumberLimits::new`], and [`Error::InvalidCombination`] if other fields are stated.
    pub(super) fn number_limits(&self) -> Result<NumberLimits, Error> {
        let reason = "each number in \"numbers\" needs \"min\" and \"max\", may have a \"unit\", \
                      and must not have \"kind\", \"options\", \"levels\" or bins";
        if self.kind.is_some() || self.options.is_some() {
            return Err(error!(InvalidCombination { reason }));
        }
        self.scale_fields().number_limits(reason)
    }

    /// Returns the part that the file describes. For a number, returns the name and the fields of
    /// the scale that the file states. Missing fields stay unset.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the kind or the options are missing, or if fields belong to
    /// another kind.
    pub(crate) fn part_or_number(&self) -> Result<PartOrUnresolvedNumber, Error> {
        let (name, scale) = (self.name.clone(), self.scale_fields());
        let scaled = scale != ScaleFields::default();
        match (self.kind, &self.options) {
            (Some(PartKindName::Choice), Some(items)) if !scaled => Ok(
                PartOrUnresolvedNumber::CompletePart(QuestionPart::new_choice(name, items.clone())),
            ),
            (Some(PartKindName::Flag), None) if !scaled => Ok(
                PartOrUnresolvedNumber::CompletePart(QuestionPart::new_flag(name)),
            ),
            (Some(PartKindName::Number), None) => {
                Ok(PartOrUnresolvedNumber::UnresolvedNumber(name, scale))
            }
            _ => Err(error!(InvalidCombination {
                reason: "each part of a \"cross\" or \"together\" needs the \"kind\" \"choice\" \
                         with \"options\", or \"flag\"; a part of a \"cross\" may also be a \
                         \"number\" with its fields",
            })),
        }
    }

    /// Returns the part, which must be complete.
    ///
    /// # Errors
    /// As [`SerializedPart::part_or_number`]; [`Error::InvalidCombination`] if the scale is incomplete.
    pub(super) fn part_if_complete(&self) -> Result<QuestionPart, Error> {
        match self.part_or_number()? {
            PartOrUnresolvedNumber::CompletePart(part) => Ok(part),
            PartOrUnresolvedNumber::UnresolvedNumber(_, scale) if scale.has_draft_fields() => {
                Err(error!(InvalidCombination {
                    reason: "\"want\", \"bins\" and \"spacing\" only guide the choice of \
                             parameters: a complete question must not have them",
                }))
            }
            PartOrUnresolvedNumber::UnresolvedNumber(name, scale) => {
                Ok(QuestionPart::new_number(name, scale.scale_if_complete()?))
            }
        }
    }
}

/// Part of a `cross`. If it is a number, parameters of its scale may be unset.
pub(crate) enum PartOrUnresolvedNumber {
    /// A choice or a flag.
    CompletePart(QuestionPart),
    /// Name and scale of a number.
    UnresolvedNumber(String, ScaleFields),
}
