//! What can be made of estimates once they are there. It costs no privacy, but
//! the results are no longer unbiased: they are labelled, and given only to
//! those who ask.

use std::collections::BTreeMap;
use std::str::FromStr;

use hushbin::Task;
use serde::Serialize;

use super::{Estimand, Estimate, EstimateError, ItemPoints, Predictor, Quantiles};
use super::{conditional, projection};

/// A way to process estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostProcessing {
    /// The mean divided by the non-missing frequency, item by item.
    ConditionalMean,
    /// The frequencies of all items with either sign, moved to the nearest that
    /// a crowd can have: not negative, their sum s at most. The papers (Wang et
    /// al., P1 and P2) take a sum of exactly s, which holds only where nobody
    /// has fewer than s entries.
    Projection,
}

impl PostProcessing {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ConditionalMean, Self::Projection];

    /// The word that asks for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional-mean",
            Self::Projection => "projection",
        }
    }

    /// The member of [`PostProcessed`] that it makes.
    const fn member(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional_mean",
            Self::Projection => "projected",
        }
    }

    /// What is done to the estimates.
    const fn statement(self) -> &'static str {
        match self {
            Self::ConditionalMean => {
                "The estimated mean was divided by the estimated non-missing frequency, in which \
                 real values weigh by magnitude, unless that is not significantly above 0; a ratio \
                 of estimates is biased where few have the item, and its error bars are those of \
                 the delta method."
            }
            Self::Projection => {
                "The estimated frequencies of all items with either sign were moved to the nearest \
                 that are not negative and sum to the sparsity at most, and the mean is their \
                 difference; that biases each of them, and there are no error bars."
            }
        }
    }

    const fn needs(self) -> &'static [Estimand] {
        match self {
            Self::ConditionalMean => conditional::NEEDS,
            Self::Projection => &[Estimand::Plus, Estimand::Minus],
        }
    }

    /// Whether it can be had of so many items, all different, of a task.
    ///
    /// # Errors
    /// [`EstimateError::NotEstimated`], [`EstimateError::NotAllItems`].
    pub(super) fn check(self, task: &Task, items: usize) -> Result<(), EstimateError> {
        let predictor = Predictor::new(task);
        for &estimand in self.needs() {
            if predictor.standard_error(estimand, 1.0).is_none() {
                return Err(EstimateError::NotEstimated {
                    post: self,
                    estimand,
                });
            }
        }
        match self {
            Self::ConditionalMean => Ok(()),
            Self::Projection if task.items().count().map(|count| count as usize) == Some(items) => {
                Ok(())
            }
            Self::Projection => Err(EstimateError::NotAllItems { post: self }),
        }
    }
}

impl FromStr for PostProcessing {
    type Err = EstimateError;

    fn from_str(name: &str) -> Result<Self, EstimateError> {
        Self::ALL
            .into_iter()
            .find(|post| post.as_str() == name)
            .ok_or_else(|| EstimateError::UnknownPostProcessing {
                name: name.to_owned(),
            })
    }
}

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

/// Processes the estimates of the items asked for, in their order.
pub(super) fn process(
    post: &[PostProcessing],
    task: &Task,
    points: &[ItemPoints],
    quantiles: &Quantiles,
) -> Vec<PostProcessed> {
    let mut processed = vec![PostProcessed::default(); points.len()];
    for post in post {
        match post {
            PostProcessing::ConditionalMean => {
                for (processed, points) in processed.iter_mut().zip(points) {
                    processed.conditional_mean = Some(match conditional::mean(points, quantiles) {
                        Some(point) => ConditionalMean::Estimate(quantiles.estimate(point)),
                        None => ConditionalMean::Refused { refused: REFUSED },
                    });
                }
            }
            PostProcessing::Projection => {
                let mut frequencies: Vec<f64> = points
                    .iter()
                    .flat_map(|points| [points.plus, points.minus])
                    .map(|point| point.expect("projection needs both signs").estimate)
                    .collect();
                projection::project(&mut frequencies, f64::from(task.sparsity()));
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
