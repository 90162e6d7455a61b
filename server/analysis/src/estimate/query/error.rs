//! Why estimates cannot be given.

use super::confidence::{CONFIDENCE, FALSE_DISCOVERY_RATE};
use super::processing::PostProcessing;
use crate::estimate::point::Estimand;

/// Why estimates cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// A question that the task does not ask.
    #[error("the task has no question {question:?}")]
    UnknownQuestion {
        /// What was asked for.
        question: String,
    },
    /// A task with several questions.
    #[error("the task asks several questions: name one")]
    QuestionNeeded,
    /// An item that the task does not have.
    #[error("the task has no item {item:?}")]
    UnknownItem {
        /// What was asked for.
        item: String,
    },
    /// The same item twice, which would widen the simultaneous intervals.
    #[error("item {item:?} is asked for twice")]
    DuplicateItem {
        /// What was asked for.
        item: String,
    },
    /// An open task has no list of items.
    #[error("the task is open: name the items to estimate")]
    ItemsNeeded,
    /// Not a confidence.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// What was asked for.
        confidence: f64,
    },
    /// No post-processing has this name.
    #[error(
        "no post-processing is called {name:?}, expected {}",
        PostProcessing::names()
    )]
    UnknownPostProcessing {
        /// What was asked for.
        name: String,
    },
    /// A post-processing of what the task's mechanism does not estimate.
    #[error("{} needs estimates of {}, which the task's mechanism does not give",
        post.as_str(), estimand.as_str())]
    NotEstimated {
        /// What was asked for.
        post: PostProcessing,
        /// What is missing.
        estimand: Estimand,
    },
    /// A post-processing of all items together, for some.
    #[error("{} is of all items of a closed task together: name none", post.as_str())]
    NotAllItems {
        /// What was asked for.
        post: PostProcessing,
    },
    /// Not a part of people.
    #[error("a quantile is {quantile}, expected a number between 0 and 1")]
    Quantile {
        /// What was asked for.
        quantile: f64,
    },
    /// Quantiles of what is not a number in bins.
    #[error("quantiles are of a \"number\" with bins, which {question:?} is not")]
    NoQuantiles {
        /// The question.
        question: String,
    },
    /// Not a false discovery rate.
    #[error("the false discovery rate is {rate}, expected {} to {}",
        FALSE_DISCOVERY_RATE.min, FALSE_DISCOVERY_RATE.max)]
    FalseDiscoveryRate {
        /// What was asked for.
        rate: f64,
    },
    /// Estimates of what is searched for.
    #[error(
        "{question:?} asks for a text: what people have is found by a search for heavy hitters"
    )]
    Searched {
        /// The question.
        question: String,
    },
    /// A comparison with 0 of numbers that have limits of their own.
    #[error(
        "{question:?} asks for numbers, for which 0 means nothing: they are not shrunken, nor do any stand out"
    )]
    NoZero {
        /// The question.
        question: String,
    },
}
