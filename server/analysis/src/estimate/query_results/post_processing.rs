//! Post-processing of estimates. It costs no privacy, but its results are biased. So they are
//! computed only on request, and labelled in the output.

use std::collections::BTreeMap;

use hushbin::Question;
use hushbin::task::{QuestionKind, QuestionPart};
use serde::Serialize;

use super::shrinkage::{ShrinkageOutcome, ShrunkenEstimate, shrink_estimates};
use crate::estimate::point::{Estimand, ItemPointEstimates, PointEstimate};
use crate::estimate::query::{Estimate, PostProcessingMethod};
use crate::numeric::simplex_projection::{SumConstraint, project_to_simplex};

/// Post-processed results of one item. A field is `None` if its method was not requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PostProcessed {
    /// Result of [`PostProcessingMethod::MeanGivenPresence`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditional_mean: Option<ConditionalMean>,
    /// Result of [`PostProcessingMethod::MaxSparsityProjection`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) projected: Option<ProjectedFrequencies>,
    /// Result of [`PostProcessingMethod::ExactSparsityProjection`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fully_projected: Option<ProjectedFrequencies>,
    /// Result of [`PostProcessingMethod::ShrinkageTowardsZero`] for the first estimand of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrunken: Option<ShrunkenEstimate>,
}

/// Estimated mean among the people who have an item. The true mean lies in [-1, 1].
///
/// Real values are weighted by magnitude, because a small value cannot be distinguished from
/// absence. The result is then Σv/Σ|v|, the balance of positive and negative values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ConditionalMean {
    /// Raw ratio of estimates, neither unbiased nor clamped.
    Estimate(Estimate),
    /// Result refused, because the non-missing frequency is not significantly above 0.
    Refused {
        /// Reason for the refusal.
        refused: &'static str,
    },
}

/// Frequencies of one item after projecting all items onto values that a population can have.
///
/// They have no standard errors, because the projection cuts off a part of the noise, and raising
/// the frequency of one item lowers those of the remaining items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProjectedFrequencies {
    /// Projected frequencies of a rated item, which has a positive or negative value.
    Rated {
        /// Frequency of the item with a positive value.
        plus: f64,
        /// Frequency of the item with a negative value.
        minus: f64,
        /// Mean: `plus` minus `minus`.
        mean: f64,
    },
    /// Projected share of an answer, which is an item without a sign.
    Answer {
        /// Share of people who gave the answer.
        share: f64,
    },
}

const MEAN_REFUSAL_REASON: &str =
    "the non-missing frequency is not significantly above 0 at the stated confidence";

/// Constraints on the sum of the frequencies of a question's items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SumConstraints<'a> {
    /// Sparsity s, the maximum number of entries of one person.
    pub(crate) sparsity: u32,
    /// True if every person has exactly `sparsity` entries. Frequencies then sum to `sparsity`.
    pub(crate) has_exact_entry_count: bool,
    /// Parts of a question that asks several parts together. Each person chooses one option per
    /// part, and the items are the options of all parts, in order. Empty for other questions.
    pub(crate) joint_parts: &'a [QuestionPart],
}

impl<'a> SumConstraints<'a> {
    /// Returns the constraints of a question.
    pub(crate) fn of_question(question: &'a Question) -> Self {
        Self {
            sparsity: question.max_entries_per_report(),
            has_exact_entry_count: !question.domain().is_padded(),
            joint_parts: match question.kind() {
                QuestionKind::JointChoices(together) => together.parts(),
                _ => &[],
            },
        }
    }
}

/// Applies the requested post-processing methods to the queried items.
///
/// Returns the results by item, in query order, and the outcome of shrinkage if it was requested.
/// The list is empty if no method was requested or there are no points.
///
/// `conditional` returns the conditional mean of the item at an index, if it has one. `null`
/// returns that item's first estimate, and the standard error that it would have if the true value
/// were 0.
pub(crate) fn post_process_items(
    post: &[PostProcessingMethod],
    sums: SumConstraints<'_>,
    points: &[ItemPointEstimates],
    conditional: impl Fn(usize) -> Option<Estimate>,
    null: impl Fn(usize) -> Option<(PointEstimate, f64)>,
) -> (Vec<PostProcessed>, Option<ShrinkageOutcome>) {
    if post.is_empty() || points.is_empty() {
        return (Vec::new(), None);
    }
    let mut processed = vec![PostProcessed::default(); points.len()];
    let mut shrinkage = None;
    let sparsity = f64::from(sums.sparsity);
    for post in post {
        match post {
            PostProcessingMethod::MeanGivenPresence => {
                for (index, processed) in processed.iter_mut().enumerate() {
                    let refused = ConditionalMean::Refused {
                        refused: MEAN_REFUSAL_REASON,
                    };
                    let mean = conditional(index).map_or(refused, ConditionalMean::Estimate);
                    processed.conditional_mean = Some(mean);
                }
            }
            PostProcessingMethod::MaxSparsityProjection => {
                let sum = if sums.has_exact_entry_count {
                    SumConstraint::Exactly(sparsity)
                } else {
                    SumConstraint::AtMost(sparsity)
                };
                for (own, projected) in processed
                    .iter_mut()
                    .zip(sums.project_all_items(points, sum))
                {
                    own.projected = Some(projected);
                }
            }
            PostProcessingMethod::ExactSparsityProjection => {
                let projected = sums.project_all_items(points, SumConstraint::Exactly(sparsity));
                for (own, projected) in processed.iter_mut().zip(projected) {
                    own.fully_projected = Some(projected);
                }
            }
            PostProcessingMethod::ShrinkageTowardsZero => {
                let items: Vec<_> = (0..points.len()).filter_map(&null).collect();
                shrinkage = Some(match shrink_estimates(&items) {
                    Ok((shrunken, errors)) => {
                        for (own, shrunken) in processed.iter_mut().zip(shrunken) {
                            own.shrunken = Some(shrunken);
                        }
                        ShrinkageOutcome::Shrunken(errors)
                    }
                    Err(refused) => ShrinkageOutcome::Refused { refused },
                });
            }
        }
    }
    (processed, shrinkage)
}

impl SumConstraints<'_> {
    fn project_all_items(
        self,
        points: &[ItemPointEstimates],
        sum: SumConstraint,
    ) -> Vec<ProjectedFrequencies> {
        let mut left = points;
        let mut all = Vec::with_capacity(points.len());
        for part in self.joint_parts {
            let (own, others) = left.split_at(part.cell_count() as usize);
            all.extend(project_frequencies(own, SumConstraint::Exactly(1.0)));
            left = others;
        }
        all.extend(
            (!left.is_empty())
                .then(|| project_frequencies(left, sum))
                .into_iter()
                .flatten(),
        );
        all
    }
}

fn project_frequencies(
    points: &[ItemPointEstimates],
    sum: SumConstraint,
) -> Vec<ProjectedFrequencies> {
    let frequencies = points.iter().flat_map(|points| {
        PROJECTED_ESTIMANDS
            .into_iter()
            .filter_map(|estimand| points.get(estimand))
    });
    let mut frequencies: Vec<f64> = frequencies.map(|point| point.estimate).collect();
    project_to_simplex(&mut frequencies, sum);
    // Items with signs have two frequencies, items without signs one.
    let each = frequencies.len() / points.len().max(1);
    let projected = |of_item: &[f64]| match *of_item {
        [share] => ProjectedFrequencies::Answer { share },
        [plus, minus] => ProjectedFrequencies::Rated {
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

/// Estimands that are projected, if the question estimates them.
const PROJECTED_ESTIMANDS: [Estimand; 3] = [Estimand::Plus, Estimand::Minus, Estimand::Share];

/// Returns a statement about each requested post-processing method and its bias. The keys are the
/// fields of [`PostProcessed`].
pub(crate) fn method_statements(
    post: &[PostProcessingMethod],
) -> BTreeMap<&'static str, &'static str> {
    post.iter()
        .map(|post| (post.result_field(), post.bias_statement()))
        .collect()
}
