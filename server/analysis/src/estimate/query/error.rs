//! Errors of queries.

use super::confidence::{CONFIDENCE_RANGE, FALSE_DISCOVERY_RATE_RANGE};
use super::post_processing_methods::PostProcessingMethod;
use crate::estimate::point::Estimand;

/// Reasons for refusing a query.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// The task has no question with this name.
    #[error("the task has no question {question:?}")]
    UnknownQuestion {
        /// Requested name.
        question: String,
    },
    /// The task has several questions and the query names none.
    #[error("the task has several questions, expected the name of one in `question`")]
    MissingQuestionName,
    /// The question has no item with this name.
    #[error("the task has no item {item:?}")]
    UnknownItem {
        /// Requested item.
        item: String,
    },
    /// An item is listed twice, which would widen the simultaneous intervals.
    #[error("item {item:?} is requested twice")]
    DuplicateItem {
        /// Requested item.
        item: String,
    },
    /// The query names no items, and the question is open, so there is no list of all items.
    #[error("the task is open: name the items to estimate")]
    MissingItemNames,
    /// The confidence is out of range.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE_RANGE.min, CONFIDENCE_RANGE.max)]
    ConfidenceOutOfRange {
        /// Requested confidence.
        confidence: f64,
    },
    /// The name of the post-processing is unknown.
    #[error(
        "no post-processing is called {name:?}, expected {}",
        PostProcessingMethod::names_joined_by_or()
    )]
    UnknownPostProcessing {
        /// Requested name.
        name: String,
    },
    /// The post-processing needs an estimate that the mechanism does not provide.
    #[error("{} needs estimates of {}, which the task's mechanism does not give",
        post.as_str(), estimand.as_str())]
    MissingEstimand {
        /// Requested post-processing.
        post: PostProcessingMethod,
        /// Missing estimand.
        estimand: Estimand,
    },
    /// The post-processing needs all items, but the query names only some of them.
    #[error("{} uses all items of a closed task: name no items", post.as_str())]
    PostProcessingNeedsAllItems {
        /// Requested post-processing.
        post: PostProcessingMethod,
    },
    /// The quantile is not strictly between 0 and 1.
    #[error("a quantile is {quantile}, expected a number between 0 and 1")]
    QuantileOutOfRange {
        /// Requested quantile.
        quantile: f64,
    },
    /// Quantiles were requested, but the question does not ask for a number with bins.
    #[error("{question:?} has no quantiles, expected a \"number\" with bins")]
    QuestionWithoutQuantiles {
        /// Name of the question.
        question: String,
    },
    /// The false discovery rate is out of range.
    #[error("the false discovery rate is {rate}, expected {} to {}",
        FALSE_DISCOVERY_RATE_RANGE.min, FALSE_DISCOVERY_RATE_RANGE.max)]
    FalseDiscoveryRateOutOfRange {
        /// Requested rate.
        rate: f64,
    },
    /// The question asks for a text. A search for heavy hitters finds the answers.
    #[error(
        "{question:?} asks for a text: what people have is found by a search for heavy hitters"
    )]
    TextQuestionNeedsSearch {
        /// Name of the question.
        question: String,
    },
    /// The query compares items with 0. The question asks for several numbers, for which 0 has no
    /// meaning.
    #[error(
        "{question:?} asks for numbers, for which 0 means nothing: they are not shrunken, nor do \
         any stand out"
    )]
    ZeroMeaninglessForNumbers {
        /// Name of the question.
        question: String,
    },
}
