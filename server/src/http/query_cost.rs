//! Processor time of a query, predicted before any work starts. A query that costs more than its
//! share of the server is refused.
//!
//! Predictions are for the slowest case: no two items share an interval. Each constant is the time
//! of one step on one core of 2024, rounded up. `cargo bench -p hushbin-analysis --bench estimates`
//! measures them.

use std::time::Duration;

use hushbin::task::QuestionKind;
use hushbin::{Items, Question, Task};
use hushbin_analysis::estimate::{EstimateOptions, PostProcessingMethod, estimands};

use super::problem::Problem;
use super::state::RequestLimits;

/// Time to decode one count of a batch's totals, and to add it.
const COUNT_NANOSECONDS: u64 = 10;
/// Time to compute the two intervals of an estimate, and to write them.
const ESTIMATE_NANOSECONDS: u64 = 2_000;
/// Time to compute the two intervals of an item's conditional mean.
const CONDITIONAL_MEAN_NANOSECONDS: u64 = 40_000;
/// Time to shrink an item, or to test it against 0.
const COMPARISON_NANOSECONDS: u64 = 1_500;
/// Time to compute the mean or the share of a cell within a row of a cross-tabulation.
const CONDITIONAL_CELL_NANOSECONDS: u64 = 1_000_000;
/// Maximum number of shares within rows of a cross-tabulation. With more cells there are none.
const MAX_CONDITIONAL_SHARES: usize = 4096;
/// Time to find the interval of a quantile, for each bin.
const QUANTILE_BIN_NANOSECONDS: u64 = 100;

/// Returns the processor time that one query may cost: its share of the deadline, if as many long
/// responses as are allowed at once share one core.
fn max_query_time(limits: &RequestLimits) -> Duration {
    limits.request_timeout / limits.max_concurrent_long_responses.clamp(1, 1 << 16) as u32
}

/// Returns the number of items that a question lists. 0 if the question is open.
pub(super) fn listed_item_count(question: &Question) -> usize {
    match question.items() {
        Items::Named(names) => names.len(),
        Items::Count(count) => *count as usize,
        Items::Open(_) => 0,
    }
}

/// Returns the predicted processor time of reading the totals of `batches` batches.
pub(super) fn batches_time(task: &Task, batches: usize) -> Duration {
    let counts = |question: &Question| {
        listed_item_count(question) as u64 * u64::from(question.domain().elements_per_item())
    };
    let counts: u64 = task.questions().iter().map(counts).sum();
    nanoseconds(&[(counts * COUNT_NANOSECONDS, batches)])
}

/// Returns the predicted processor time of estimates of `items` items of a question.
pub(super) fn estimates_time(
    question: &Question,
    items: usize,
    options: &EstimateOptions,
) -> Duration {
    let is_asked = |post| options.post_processing_methods.contains(&post);
    let count = |is_asked: bool| usize::from(is_asked);
    let compared = count(options.false_discovery_rate.is_some())
        + count(is_asked(PostProcessingMethod::ShrinkageTowardsZero));
    let conditional = count(is_asked(PostProcessingMethod::MeanGivenPresence));
    let each = estimands(question).len() as u64 * ESTIMATE_NANOSECONDS
        + compared as u64 * COMPARISON_NANOSECONDS
        + conditional as u64 * CONDITIONAL_MEAN_NANOSECONDS;
    let quantiles = options.quantiles.as_ref().map_or(0, Vec::len);
    let (quantile_bins, cells) = match question.kind() {
        QuestionKind::Number(_) => (listed_item_count(question), 0),
        QuestionKind::CrossTabulation(cross) => {
            let [rows, columns] = cross.row_and_column_counts().map(|count| count as usize);
            match cross.level_scale() {
                Some(_) => (0, rows),
                None => (0, (rows * columns).min(MAX_CONDITIONAL_SHARES)),
            }
        }
        _ => (0, 0),
    };
    nanoseconds(&[
        (each, items),
        (quantile_bins as u64 * QUANTILE_BIN_NANOSECONDS, quantiles),
        (CONDITIONAL_CELL_NANOSECONDS, cells),
    ])
}

/// Returns the sum of products as a duration.
fn nanoseconds(products: &[(u64, usize)]) -> Duration {
    let product = |&(each, count): &(u64, usize)| each.saturating_mul(count as u64);
    Duration::from_nanos(products.iter().map(product).fold(0, u64::saturating_add))
}

/// Checks that a query may cost this much processor time.
///
/// # Errors
/// [`Problem::QueryTooCostly`] if it costs more than its share.
pub(super) fn check_query_time(predicted: Duration, limits: &RequestLimits) -> Result<(), Problem> {
    let most = max_query_time(limits);
    match predicted <= most {
        true => Ok(()),
        false => Err(Problem::QueryTooCostly {
            seconds: predicted.as_secs_f64(),
            max_seconds: most.as_secs_f64(),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_fit_and_many_batches_or_conditional_means_do_not() {
        let draft: hushbin::TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 1048576, "sparsity": 8, "epsilon": 2.0, "value": "sign" }"#,
        )
        .unwrap();
        let task = draft.resolve_task().unwrap();
        let fits = |batches, post: &[PostProcessingMethod], rate| {
            let options = EstimateOptions {
                post_processing_methods: post.to_vec(),
                false_discovery_rate: rate,
                ..EstimateOptions::default()
            };
            let predicted = batches_time(&task, batches)
                + estimates_time(&task.questions()[0], 1 << 20, &options);
            check_query_time(predicted, &RequestLimits::DEFAULT).is_ok()
        };
        assert!(fits(0, &[], None));
        assert!(fits(
            100,
            &[PostProcessingMethod::ShrinkageTowardsZero],
            Some(0.1)
        ));
        assert!(!fits(1000, &[], None));
        assert!(!fits(0, &[PostProcessingMethod::MeanGivenPresence], None));
    }
}
