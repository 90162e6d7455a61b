//! Estimates of a cross-tabulation question: margins, and shares or means within rows.
//!
//! A person is in one cell, which has a row and a column. The margins are the shares of people in
//! each row and in each column. If the columns are levels of a number, its mean within each row is
//! estimated instead of shares.

use hushbin::task::{Cross, QuestionPart};
use serde::Serialize;

use super::ratio::{CrossRow, RatioEstimate};
use crate::estimate::distribution::SingleAnswerHits;
use crate::estimate::point::SamplingModel;
use crate::estimate::query::{ConfidenceLevel, Estimate, ItemLabel, part_option_label};

/// Estimates of a cross-tabulation, in addition to the shares of its cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossEstimates {
    /// Shares of people in each row.
    pub(crate) rows: Margin,
    /// Shares of people in each column. Empty if the columns are levels of a number, because
    /// people's numbers are rounded to levels at random.
    pub(crate) columns: Margin,
    /// Mean of the number within each row. Empty unless the columns are levels of a number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditional_means: Vec<MeanWithinRow>,
    /// Share of each column among the people of each row. Empty if the columns are levels of a
    /// number, or if there are more than [`CrossEstimates::MAX_CONDITIONAL_SHARE_CELLS`] cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditional_shares: Vec<ShareWithinRow>,
}

/// Shares of people in each row, or in each column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Margin {
    /// Name of the part whose options or bins are the rows, or the columns.
    pub(crate) name: String,
    /// Unit, if the part is a number that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// Minimum and maximum, if the part is a number. Numbers outside this range are clipped to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
    /// Share of each option or bin. Simultaneous intervals cover all shares of both margins at
    /// once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares: Vec<MarginalShare>,
}

/// Share of people in a row or a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MarginalShare {
    /// Label of the row or column.
    pub(crate) item: ItemLabel,
    /// Share, in [0, 1].
    pub(crate) share: Estimate,
}

/// Mean of a number among the people of one row, in the number's unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanWithinRow {
    /// Label of the row.
    pub row: ItemLabel,
    /// Estimated mean.
    #[serde(flatten)]
    pub mean: RatioEstimate,
}

/// Share of one column among the people of one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShareWithinRow {
    /// Label of the row.
    pub row: ItemLabel,
    /// Label of the column.
    pub(crate) column: ItemLabel,
    /// Share, in [0, 1].
    #[serde(flatten)]
    pub share: RatioEstimate,
}

impl CrossEstimates {
    /// Maximum number of cells for which conditional shares are computed. Each share takes about a
    /// millisecond.
    pub(crate) const MAX_CONDITIONAL_SHARE_CELLS: usize = 4096;
}

/// Computes the estimates of a cross-tabulation. Each person is in one of its cells.
pub(crate) fn estimate_cross(
    cross: &Cross,
    answers: &SingleAnswerHits,
    confidence: &ConfidenceLevel,
) -> CrossEstimates {
    let [rows, columns] = cross.row_and_column_counts().map(|count| count as usize);
    let cells = rows * columns;
    let row = |row: usize| row * columns..(row + 1) * columns;
    let column = |column: usize| (column..cells).step_by(columns);
    let levels = cross.level_scale();
    // Rounding changes a person's level but never the row. So for rows, the population is fixed.
    let given = SingleAnswerHits {
        sampling_model: match answers.sampling_model {
            SamplingModel::RoundedValues => SamplingModel::FixedPopulation,
            other => other,
        },
        ..answers.clone()
    };
    let counted = if levels.is_some() { 0 } else { columns };
    // One Bonferroni correction covers both margins.
    let margins = confidence.for_simultaneous_intervals(rows + counted);
    let mut found = CrossEstimates {
        rows: create_margin(cross.row_part(), rows, |index| {
            estimate_margin_share(&given, row(index), &margins)
        }),
        columns: create_margin(cross.column_part(), counted, |index| {
            estimate_margin_share(answers, column(index), &margins)
        }),
        conditional_means: Vec::new(),
        conditional_shares: Vec::new(),
    };
    let label = |part: &QuestionPart, index: usize| part_option_label(part, index as u32);
    let together =
        confidence.for_simultaneous_intervals(if levels.is_some() { rows } else { cells });
    if levels.is_none() && cells > CrossEstimates::MAX_CONDITIONAL_SHARE_CELLS {
        return found;
    }
    for index in 0..rows {
        let cells = CrossRow::new(
            answers,
            given.share_and_score_distribution(row(index)),
            row(index),
        );
        if let Some(scale) = levels {
            found.conditional_means.push(MeanWithinRow {
                row: label(cross.row_part(), index),
                mean: cells
                    .conditional_mean(&together)
                    .rescale_to_range(scale.range()),
            });
            continue;
        }
        let shares = (0..columns).map(|column| ShareWithinRow {
            row: label(cross.row_part(), index),
            column: label(cross.column_part(), column),
            share: cells.conditional_share(column, &together),
        });
        found.conditional_shares.extend(shares);
    }
    found
}

/// Estimates the share of people in these cells. `margins` is the confidence level for simultaneous
/// intervals over both margins.
fn estimate_margin_share(
    answers: &SingleAnswerHits,
    cells: impl Iterator<Item = usize> + Clone,
    margins: &ConfidenceLevel,
) -> Estimate {
    let (point, law) = answers.share_and_score_distribution(cells);
    margins.estimate_with_intervals(point, |failure, side| {
        law.confidence_limit(point, answers.reports, failure, side)
    })
}

/// Returns the margin of a part, with the shares of its first `counted` options or bins.
fn create_margin(part: &QuestionPart, counted: usize, share: impl Fn(usize) -> Estimate) -> Margin {
    let scale = part.scale();
    let of = |index: usize| MarginalShare {
        item: part_option_label(part, index as u32),
        share: share(index),
    };
    Margin {
        name: part.name().to_owned(),
        unit: scale.as_ref().and_then(|own| own.unit().map(str::to_owned)),
        range: scale.as_ref().map(|own| own.range()),
        shares: (0..counted).map(of).collect(),
    }
}
