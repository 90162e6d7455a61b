//! What can be made of estimates once they are there. It costs no privacy, but the results are no
//! longer unbiased: they are labelled, and given only to those who ask.

use std::collections::BTreeMap;

use hushbin::task::Part;
use serde::Serialize;

use super::shrinkage::{Shrinkage, Shrunken, shrink};
use crate::estimate::point::{Estimand, ItemPoints, Point};
use crate::estimate::query::{Estimate, PostProcessing};
use crate::numeric::projection::{Sum, project};

/// What was made of one item's estimates; `None` what was not asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PostProcessed {
    /// By [`PostProcessing::ConditionalMean`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditional_mean: Option<ConditionalMean>,
    /// By [`PostProcessing::Projection`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) projected: Option<Projected>,
    /// By [`PostProcessing::FullProjection`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fully_projected: Option<Projected>,
    /// By [`PostProcessing::Shrinkage`], of the first estimand of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunken: Option<Shrunken>,
}

/// Mean among those who have the item, in [-1, 1].
///
/// With real values everybody weighs by magnitude: it is Σv/Σ|v|, the balance
/// of positive and negative, as magnitudes cannot be told from absence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ConditionalMean {
    /// A ratio of estimates, as it is: neither unbiased nor clamped.
    Estimate(Estimate),
    /// The non-missing frequency may as well be 0.
    Refused {
        /// What was found.
        refused: &'static str,
    },
}

/// Frequencies that a crowd can have. Without standard errors: noise is cut off
/// at the bounds, and what one item gains others lose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Projected {
    /// Of an item that is rated.
    Rated {
        /// Frequency of the item with a positive value.
        plus: f64,
        /// Frequency of the item with a negative value.
        minus: f64,
        /// Their difference.
        mean: f64,
    },
    /// Of an answer.
    Answer {
        /// Share of people who gave it.
        share: f64,
    },
}

const REFUSED: &str =
    "the non-missing frequency is not significantly above 0 at the stated confidence";

/// What frequencies of all items may sum to, by the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums<'a> {
    /// s.
    pub(crate) sparsity: u32,
    /// Whether everybody has s entries.
    pub(crate) full: bool,
    /// Where one item of each is given: those of which items are the options.
    pub(crate) parts: &'a [Part],
}

/// Processes the estimates of the items asked for, in their order, or of none where nothing
/// is to be made of them; `conditional` gives the conditional mean of the item at an index, if
/// it has one, `null` its first estimate with the standard error of a truth of 0.
pub(crate) fn process(
    post: &[PostProcessing],
    sums: Sums<'_>,
    points: &[ItemPoints],
    conditional: impl Fn(usize) -> Option<Estimate>,
    null: impl Fn(usize) -> Option<(Point, f64)>,
) -> (Vec<PostProcessed>, Option<Shrinkage>) {
    if post.is_empty() || points.is_empty() {
        return (Vec::new(), None);
    }
    let mut processed = vec![PostProcessed::default(); points.len()];
    let mut shrinkage = None;
    let sparsity = f64::from(sums.sparsity);
    for post in post {
        match post {
            PostProcessing::ConditionalMean => {
                for (index, processed) in processed.iter_mut().enumerate() {
                    let refused = ConditionalMean::Refused { refused: REFUSED };
                    let mean = conditional(index).map_or(refused, ConditionalMean::Estimate);
                    processed.conditional_mean = Some(mean);
                }
            }
            PostProcessing::Projection => {
                let sum = if sums.full {
                    Sum::Exactly(sparsity)
                } else {
                    Sum::AtMost(sparsity)
                };
                for (own, projected) in processed.iter_mut().zip(sums.projected(points, sum)) {
                    own.projected = Some(projected);
                }
            }
            PostProcessing::FullProjection => {
                let projected = sums.projected(points, Sum::Exactly(sparsity));
                for (own, projected) in processed.iter_mut().zip(projected) {
                    own.fully_projected = Some(projected);
                }
            }
            PostProcessing::Shrinkage => {
                let items: Vec<_> = (0..points.len()).filter_map(&null).collect();
                shrinkage = Some(match shrink(&items) {
                    Ok((shrunken, errors)) => {
                        for (own, shrunken) in processed.iter_mut().zip(shrunken) {
                            own.shrunken = Some(shrunken);
                        }
                        Shrinkage::Shrunken(errors)
                    }
                    Err(refused) => Shrinkage::Refused { refused },
                });
            }
        }
    }
    (processed, shrinkage)
}

impl Sums<'_> {
    fn projected(self, points: &[ItemPoints], sum: Sum) -> Vec<Projected> {
        let mut left = points;
        let mut all = Vec::with_capacity(points.len());
        for part in self.parts {
            let (own, others) = left.split_at(part.cells() as usize);
            all.extend(projected(own, Sum::Exactly(1.0)));
            left = others;
        }
        all.extend(
            (!left.is_empty())
                .then(|| projected(left, sum))
                .into_iter()
                .flatten(),
        );
        all
    }
}

fn projected(points: &[ItemPoints], sum: Sum) -> Vec<Projected> {
    let frequencies = points.iter().flat_map(|points| {
        FREQUENCIES
            .into_iter()
            .filter_map(|estimand| points.get(estimand))
    });
    let mut frequencies: Vec<f64> = frequencies.map(|point| point.estimate).collect();
    project(&mut frequencies, sum);
    let each = frequencies.len() / points.len().max(1);
    let projected = |of_item: &[f64]| match *of_item {
        [share] => Projected::Answer { share },
        [plus, minus] => Projected::Rated {
            plus,
            minus,
            mean: plus - minus,
        },
        _ => unreachable!("an item has one frequency or two, as the query has checked"),
    };
    frequencies
        .chunks_exact(each.max(1))
        .map(projected)
        .collect()
}

/// What is projected, as there is it.
const FREQUENCIES: [Estimand; 3] = [Estimand::Plus, Estimand::Minus, Estimand::Share];

/// What was done, by member of [`PostProcessed`].
pub(crate) fn statements(post: &[PostProcessing]) -> BTreeMap<&'static str, &'static str> {
    post.iter()
        .map(|post| (post.member(), post.statement()))
        .collect()
}
