//! Answers about a cross: both margins, and shares and means within rows.

use hushbin::task::{Cross, Part};
use serde::Serialize;

use super::ratio::{RatioEstimate, Row};
use crate::estimate::law::OneAnswer;
use crate::estimate::point::People;
use crate::estimate::query::{Estimate, Label, Quantiles, part_label};

/// What a cross is answered with, beside the shares of its cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossEstimates {
    /// The marginal shares of rows.
    pub(crate) rows: Margin,
    /// The marginal shares of columns; none of the levels of a number for its mean, between which
    /// people are rounded.
    pub(crate) columns: Margin,
    /// Of a number for its mean: the mean within each row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditional_means: Vec<ConditionalMeanOf>,
    /// Of other columns: the share of each within each row. None are given of more than
    /// [`CrossEstimates::MOST_CELLS`] cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditional_shares: Vec<ConditionalShare>,
}

/// The marginal distribution of rows or of columns: sums of cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Margin {
    /// The part's name.
    pub(crate) name: String,
    /// The unit of a number, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// The least and the greatest number, of one; those beyond count as these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
    /// By option or bin. Simultaneous intervals hold together over both margins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares: Vec<MarginalShare>,
}

/// The share of people in a row or in a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MarginalShare {
    /// What the row or column is called.
    pub(crate) item: Label,
    /// The share, in [0, 1].
    pub(crate) share: Estimate,
}

/// The mean of a number among the people of a row, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionalMeanOf {
    /// What the row is called.
    pub row: Label,
    /// The mean.
    #[serde(flatten)]
    pub mean: RatioEstimate,
}

/// The share of a column among the people of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionalShare {
    /// What the row is called.
    pub row: Label,
    /// What the column is called.
    pub(crate) column: Label,
    /// The share, in [0, 1].
    #[serde(flatten)]
    pub share: RatioEstimate,
}

impl CrossEstimates {
    /// The greatest number of cells of which all conditional shares are given: each takes
    /// about a millisecond.
    pub(crate) const MOST_CELLS: usize = 4096;
}

/// Answers of people who are each in one cell of `cross`.
pub(crate) fn estimates(
    cross: &Cross,
    answers: &OneAnswer,
    confidence: &Quantiles,
) -> CrossEstimates {
    let [rows, columns] = cross.shape().map(|count| count as usize);
    let cells = rows * columns;
    let row = |row: usize| row * columns..(row + 1) * columns;
    let column = |column: usize| (column..cells).step_by(columns);
    let levels = cross.levels();
    // Rounding changes a person's level and never the row.
    let given = OneAnswer {
        whose: match answers.whose {
            People::Rounded => People::Given,
            other => other,
        },
        ..answers.clone()
    };
    let counted = if levels.is_some() { 0 } else { columns };
    let margins = confidence.together(rows + counted);
    let mut found = CrossEstimates {
        rows: margin(cross.rows(), rows, |index| {
            margin_share(&given, row(index), &margins)
        }),
        columns: margin(cross.columns(), counted, |index| {
            margin_share(answers, column(index), &margins)
        }),
        conditional_means: Vec::new(),
        conditional_shares: Vec::new(),
    };
    let label = |part: &Part, index: usize| part_label(part, index as u32);
    let together = confidence.together(if levels.is_some() { rows } else { cells });
    if levels.is_none() && cells > CrossEstimates::MOST_CELLS {
        return found;
    }
    for index in 0..rows {
        let cells = Row::new(answers, given.among(row(index)), row(index));
        if let Some(scale) = levels {
            found.conditional_means.push(ConditionalMeanOf {
                row: label(cross.rows(), index),
                mean: cells.mean(&together).within(scale.range()),
            });
            continue;
        }
        let shares = (0..columns).map(|column| ConditionalShare {
            row: label(cross.rows(), index),
            column: label(cross.columns(), column),
            share: cells.column(column, &together),
        });
        found.conditional_shares.extend(shares);
    }
    found
}

/// The share of people in these cells, among the intervals of both margins.
fn margin_share(
    answers: &OneAnswer,
    cells: impl Iterator<Item = usize> + Clone,
    margins: &Quantiles,
) -> Estimate {
    let (point, law) = answers.among(cells);
    margins.estimate(point, |failure, side| {
        law.limit(point, answers.reports, failure, side)
    })
}

/// The margin of a part, with the shares of so many of its cells.
fn margin(part: &Part, counted: usize, share: impl Fn(usize) -> Estimate) -> Margin {
    let scale = part.scale();
    let of = |index: usize| MarginalShare {
        item: part_label(part, index as u32),
        share: share(index),
    };
    Margin {
        name: part.name().to_owned(),
        unit: scale.as_ref().and_then(|own| own.unit().map(str::to_owned)),
        range: scale.as_ref().map(|own| own.range()),
        shares: (0..counted).map(of).collect(),
    }
}
