//! Estimates of a cross: margins, and shares or means within rows.

use hushbin::task::{Cross, Part};
use serde::Serialize;

use super::ratio::{RatioEstimate, Row};
use crate::estimate::law::SingleAnswerHits;
use crate::estimate::point::SamplingModel;
use crate::estimate::query::{Estimate, Label, Quantiles, part_label};

/// Estimates of a cross, in addition to the shares of its cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossEstimates {
    /// Marginal shares of rows.
    pub(crate) rows: Margin,
    /// Marginal shares of columns. Empty for a number with levels for its mean, because people are
    /// rounded between them.
    pub(crate) columns: Margin,
    /// Mean of a number within each row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditional_means: Vec<ConditionalMeanOf>,
    /// Share of each column within each row, unless the columns are levels for a mean. Empty above
    /// [`CrossEstimates::MOST_CELLS`] cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditional_shares: Vec<ConditionalShare>,
}

/// Marginal distribution of rows or columns, which are sums of cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Margin {
    /// Name of the part.
    pub(crate) name: String,
    /// Unit of a number, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// Minimum and maximum of a number. Numbers outside are clipped to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<[f64; 2]>,
    /// Shares by option or bin. Simultaneous intervals cover jointly over both margins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares: Vec<MarginalShare>,
}

/// Share of people in a row or a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MarginalShare {
    /// Label of the row or column.
    pub(crate) item: Label,
    /// Share, in [0, 1].
    pub(crate) share: Estimate,
}

/// Mean of a number among the people of a row, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionalMeanOf {
    /// Label of the row.
    pub row: Label,
    /// The mean.
    #[serde(flatten)]
    pub mean: RatioEstimate,
}

/// Share of a column among the people of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionalShare {
    /// Label of the row.
    pub row: Label,
    /// Label of the column.
    pub(crate) column: Label,
    /// Share, in [0, 1].
    #[serde(flatten)]
    pub share: RatioEstimate,
}

impl CrossEstimates {
    /// Maximum number of cells for conditional shares. Each takes about a millisecond.
    pub(crate) const MOST_CELLS: usize = 4096;
}

/// Computes the estimates for people who are each in one cell of `cross`.
pub(crate) fn estimates(
    cross: &Cross,
    answers: &SingleAnswerHits,
    confidence: &Quantiles,
) -> CrossEstimates {
    let [rows, columns] = cross.shape().map(|count| count as usize);
    let cells = rows * columns;
    let row = |row: usize| row * columns..(row + 1) * columns;
    let column = |column: usize| (column..cells).step_by(columns);
    let levels = cross.levels();
    // Rounding changes a person's level but never the row: for rows, people are given.
    let given = SingleAnswerHits {
        whose: match answers.whose {
            SamplingModel::RoundedValues => SamplingModel::FixedPopulation,
            other => other,
        },
        ..answers.clone()
    };
    let counted = if levels.is_some() { 0 } else { columns };
    // One Bonferroni correction covers both margins.
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

/// Returns the share of people in these cells, with intervals joint over both margins.
fn margin_share(
    answers: &SingleAnswerHits,
    cells: impl Iterator<Item = usize> + Clone,
    margins: &Quantiles,
) -> Estimate {
    let (point, law) = answers.among(cells);
    margins.estimate(point, |failure, side| {
        law.limit(point, answers.reports, failure, side)
    })
}

/// Returns the margin of a part, with the shares of its first `counted` cells.
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
