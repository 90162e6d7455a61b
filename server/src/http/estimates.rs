//! Estimates of the released reports.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hushbin::{Items, Question, Task};

use super::access::Analyst;
use super::answer::Length;
use super::problem::Problem;
use super::state::AppState;
use super::{accept, answer, query, tasks};
use crate::estimates;
use crate::store::{BatchRow, Store, StoredTask};
use hushbin_analysis::estimate::{Query, Totals};

/// Items whose estimates are a short answer: some 500 bytes each.
const SHORT_ITEMS: u64 = 1000;

/// `GET /tasks/{id}/estimates`, as JSON, or as CSV where that is preferred.
pub(super) async fn show(
    _: Analyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = state.task(tasks::id(path))?;
    let (options, asked) = query::estimates(raw.as_deref().unwrap_or_default())?;
    let batches = state.released(&stored, asked.as_deref()).await?;
    let csv = accept::prefers_csv(&headers);
    // Listing many items, and more so reading a journal, takes its time.
    let length = length(stored.task(), options.items.as_deref());
    let body = state.write(length, move |store, out| {
        let query = Query::new(stored.task(), &options)?;
        let given_up = || out.is_given_up();
        let totals = totals(
            store,
            &stored,
            &batches,
            asked.as_deref(),
            &query,
            &given_up,
        )?;
        let estimates = stored.estimator().estimates(&totals, &query);
        drop(totals);
        answer::render(csv, &estimates, |out| estimates.write_csv(out), out)
    });
    Ok(answer::table(csv, body.await?))
}

/// Of estimates of these items, or of all of them.
fn length(task: &Task, items: Option<&[String]>) -> Length {
    let of_question = |question: &Question| match question.items() {
        Items::Named(names) => names.len() as u64,
        Items::Count(count) => u64::from(*count),
        Items::Open(_) => 0,
    };
    let items = match items {
        Some(items) => items.len() as u64,
        None => task.questions().iter().map(of_question).sum(),
    };
    match items {
        ..=SHORT_ITEMS => Length::Short,
        _ => Length::Long,
    }
}

/// What is counted of the query's items: what was counted of the batches, or from their
/// reports where the question has no list of items.
fn totals(
    store: &Store,
    stored: &StoredTask,
    batches: &[BatchRow],
    asked: Option<&[u64]>,
    query: &Query,
    given_up: &dyn Fn() -> bool,
) -> Result<Arc<Totals>, Problem> {
    let task = stored.task();
    if estimates::is_listed(task, query) {
        return Ok(store.totals(stored, asked)?);
    }
    let mut totals = estimates::no_reports(task, query);
    store.for_each_report(stored, batches, given_up, |report| totals.fold(report))?;
    Ok(Arc::new(totals))
}
