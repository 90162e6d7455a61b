//! Estimates of the released reports.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hushbin::{Items, Question, Task};

use super::access::RequireAnalyst;
use super::answer_cache::AnswerKey;
use super::problem::Problem;
use super::response_writer::ResponseWorkKind;
use super::state::AppState;
use super::{accept, body, query, query_cost, response_writer, tasks};
use crate::estimates;
use crate::store::{BatchRow, StoredTask};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery};
use hushbin_analysis::sums::{SumEstimates, SumQuery};

/// Maximum number of items in a response that counts as short. One estimate has about 500 bytes.
const MAX_SHORT_RESPONSE_ITEMS: usize = 1000;

/// Maximum number of hashes per item and report: one for each sign of the item.
const HASHES_PER_REPORT_AND_ITEM: u64 = 2;

/// `GET /tasks/{id}/estimates`: estimates as JSON, or as CSV if the client prefers it.
pub(super) async fn get_estimates(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    estimates_response(raw.as_deref().unwrap_or_default(), &state, stored, &headers).await
}

/// `POST /tasks/{id}/estimates`: estimates for a query in the body, which may be longer than a URL.
pub(super) async fn post_estimates_query(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    body::check_no_content_encoding(&headers)?;
    let query = body::read_body_text(&state, body).await?;
    estimates_response(&query, &state, stored, &headers).await
}

async fn estimates_response(
    query: &str,
    state: &AppState,
    stored: Arc<StoredTask>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let raw = query;
    let (options, asked) = query::parse_estimates_query(raw)?;
    let batches = state
        .select_released_batches(&stored, asked.as_deref())
        .await?;
    let csv = accept::prefers_csv(headers);
    let key = AnswerKey::new(&stored, "estimates", raw, csv, &batches);
    if stored.task().sum_task().is_some() {
        return sum_estimates_response(state, stored, &options, batches, key, csv).await;
    }
    let estimator = stored.estimator().ok_or(Problem::NotForSums)?;
    let (asked_batches, limits) = (asked.as_ref().map_or(0, Vec::len), state.request_limits());
    let work = work_kind(
        estimator.task(),
        &options,
        &batches,
        limits.max_hashes_per_response,
    )?;
    let predicted = predicted_time(estimator.task(), &options, asked_batches);
    query_cost::check_query_time(predicted, limits)?;
    let body = state.write_cached_response(key, work, move |store, out| {
        let estimator = stored.estimator().ok_or(Problem::NotForSums)?;
        let query = EstimateQuery::new(estimator.task(), &options)?;
        let totals = match work {
            ResponseWorkKind::ShortFromTotals | ResponseWorkKind::LongFromTotals => {
                store.totals(&stored, asked.as_deref())?
            }
            ResponseWorkKind::ComputedFromReports => {
                let none = estimates::empty_totals(estimator.task(), &query);
                let given_up = || out.is_abandoned();
                Arc::new(store.recount_reports(&stored, &batches, &given_up, &none)?)
            }
        };
        let estimates = estimator.lazy_estimates(&totals, &query);
        response_writer::write_json_or_csv(csv, &estimates, |out| estimates.write_csv(out), out)
    });
    Ok(response_writer::json_or_csv_response(csv, body.await?))
}

async fn sum_estimates_response(
    state: &AppState,
    stored: Arc<StoredTask>,
    options: &EstimateOptions,
    batches: Vec<BatchRow>,
    key: AnswerKey,
    csv: bool,
) -> Result<Response, Problem> {
    let task = stored.task().sum_task().ok_or(Problem::Internal)?;
    let query = SumQuery::new(task, options)?;
    let work = ResponseWorkKind::ShortFromTotals;
    let body = state.write_cached_response(key, work, move |store, out| {
        let task = stored.task().sum_task().ok_or(Problem::Internal)?;
        let totals = store.sum_task_totals(&stored, task, &batches)?;
        let estimates = SumEstimates::new(task, &totals, &query)?;
        response_writer::write_json_or_csv(csv, &estimates, |out| estimates.write_csv(out), out)
    });
    Ok(response_writer::json_or_csv_response(csv, body.await?))
}

/// Returns the questions that a query may mean: the named one, or all if none is named.
fn asked_questions<'a>(task: &'a Task, options: &EstimateOptions) -> Vec<&'a Question> {
    let named = options.question_name.as_deref();
    let is_asked = |question: &&Question| named.is_none_or(|name| question.name() == name);
    task.questions().iter().filter(is_asked).collect()
}

/// Returns the predicted processor time of a query that lists `batches` batches, or 0 if it asks
/// for all batches, whose sum is stored.
fn predicted_time(task: &Task, options: &EstimateOptions, batches: usize) -> Duration {
    let of_question = |question: &&Question| {
        let items = options.item_names.as_ref().map(Vec::len);
        let items = items.unwrap_or_else(|| query_cost::listed_item_count(question));
        query_cost::estimates_time(question, items, options)
    };
    let estimates: Duration = asked_questions(task, options).iter().map(of_question).sum();
    query_cost::batches_time(task, batches) + estimates
}

/// Returns the kind of work that a query needs. Most queries need the totals of whole batches. A
/// query needs the reports if its question has no list of items. This function does not check
/// whether the query can be answered.
///
/// # Errors
/// [`Problem::TooManyItems`] if the items need more than `hashes` hashes.
fn work_kind(
    task: &Task,
    options: &EstimateOptions,
    batches: &[BatchRow],
    hashes: u64,
) -> Result<ResponseWorkKind, Problem> {
    let asked = asked_questions(task, options);
    let items = options.item_names.as_ref().map(Vec::len);
    let is_open = |question: &Question| matches!(question.items(), Items::Open(_));
    if let [sole] = asked[..]
        && is_open(sole)
    {
        let reports: u64 = batches.iter().map(|batch| batch.report_count).sum();
        let (items, max_items) = (
            items.unwrap_or(0),
            hashes / (HASHES_PER_REPORT_AND_ITEM * reports.max(1)),
        );
        return match items as u64 <= max_items {
            true => Ok(ResponseWorkKind::ComputedFromReports),
            false => Err(Problem::TooManyItems { items, max_items }),
        };
    }
    let listed = |question: &&Question| query_cost::listed_item_count(question);
    match items.unwrap_or_else(|| asked.iter().map(listed).sum()) {
        ..=MAX_SHORT_RESPONSE_ITEMS => Ok(ResponseWorkKind::ShortFromTotals),
        _ => Ok(ResponseWorkKind::LongFromTotals),
    }
}
