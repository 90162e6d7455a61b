//! What can be made of estimates once they are there. It costs no privacy, but
//! the results are no longer unbiased: they are labelled, and given only to
//! those who ask.

use std::collections::BTreeMap;

use serde::Serialize;

use super::interval::Estimate;
use super::processing::PostProcessing;
use super::{ItemPoints, projection};

/// What was made of one item's estimates; `None` what was not asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PostProcessed {
    /// By [`PostProcessing::ConditionalMean`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditional_mean: Option<ConditionalMean>,
    /// By [`PostProcessing::Projection`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projected: Option<Projected>,
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
pub struct Projected {
    /// Frequency of the item with a positive value.
    pub plus: f64,
    /// Frequency of the item with a negative value.
    pub minus: f64,
    /// Their difference.
    pub mean: f64,
}

const REFUSED: &str =
    "the non-missing frequency is not significantly above 0 at the stated confidence";

/// Processes the estimates of the items asked for, in their order; `conditional`
/// gives the conditional mean of the item at an index, if it has one.
pub(super) fn process(
    post: &[PostProcessing],
    sparsity: u32,
    points: &[ItemPoints],
    conditional: impl Fn(usize) -> Option<Estimate>,
) -> Vec<PostProcessed> {
    let mut processed = vec![PostProcessed::default(); points.len()];
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
                let mut frequencies: Vec<f64> = points
                    .iter()
                    .flat_map(|points| [points.plus, points.minus])
                    .map(|point| point.expect("projection needs both signs").estimate)
                    .collect();
                projection::project(&mut frequencies, f64::from(sparsity));
                for (processed, signs) in processed.iter_mut().zip(frequencies.chunks_exact(2)) {
                    let (plus, minus) = (signs[0], signs[1]);
                    processed.projected = Some(Projected {
                        plus,
                        minus,
                        mean: plus - minus,
                    });
                }
            }
        }
    }
    processed
}

/// What was done, by member of [`PostProcessed`].
pub(super) fn statements(post: &[PostProcessing]) -> BTreeMap<&'static str, &'static str> {
    post.iter()
        .map(|post| (post.member(), post.statement()))
        .collect()
}
