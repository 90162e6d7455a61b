//! Answers about a cross: both margins, and shares and means within rows.

use hushbin::task::{Cross, Part};
use serde::Serialize;

use super::ratio::{RatioEstimate, Row};
use crate::estimate::law::OneAnswer;
use crate::estimate::query::{Estimate, Label, Quantiles, part_label};

/// What a cross is answered with, beside the shares of its cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossEstimates {
    /// The marginal shares of rows.
    pub(crate) rows: Margin,
    /// The marginal shares of columns.
    pub columns: Margin,
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
pub struct Margin {
    /// The part's name.
    pub(crate) name: String,
    /// The unit of a number, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// The least and the greatest number, of one; those beyond count as these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
    /// By option, level or bin.
    pub shares: Vec<MarginalShare>,
}

/// The share of people in a row or in a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarginalShare {
    /// What the row or column is called.
    pub item: Label,
    /// The share, in [0, 1].
    pub share: Estimate,
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
    let mut found = CrossEstimates {
        rows: margin(cross.rows(), answers, confidence, row),
        columns: margin(cross.columns(), answers, confidence, column),
        conditional_means: Vec::new(),
        conditional_shares: Vec::new(),
    };
    let label = |part: &Part, index: usize| part_label(part, index as u32);
    let levels = cross.columns().scale();
    let levels = levels.filter(|scale| scale.edges().is_none());
    let together = confidence.together(if levels.is_some() { rows } else { cells });
    if levels.is_none() && cells > CrossEstimates::MOST_CELLS {
        return found;
    }
    for index in 0..rows {
        let cells = Row::new(answers, row(index));
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

fn margin<I: Iterator<Item = usize> + Clone>(
    part: &Part,
    answers: &OneAnswer,
    confidence: &Quantiles,
    cells: impl Fn(usize) -> I,
) -> Margin {
    let confidence = confidence.together(part.cells() as usize);
    let share = |index: u32| {
        let (point, law) = answers.among(cells(index as usize));
        MarginalShare {
            item: part_label(part, index),
            share: confidence.estimate(point, |failure, side| {
                law.limit(point, answers.reports, failure, side)
            }),
        }
    };
    Margin {
        name: part.name().to_owned(),
        unit: part
            .scale()
            .and_then(|scale| scale.unit())
            .map(str::to_owned),
        range: part.scale().map(|scale| scale.range()),
        shares: (0..part.cells()).map(share).collect(),
    }
}
