//! Estimates of the reports so far.

use std::io;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hushbin::Items;
use serde::Serialize;
use tokio::runtime::Handle;

use super::problem::Problem;
use super::state::AppState;
use super::{accept, query, tasks};
use crate::store::{Store, StoredTask};
use hushbin_analysis::estimate::{Query, Totals};

/// `GET /tasks/{id}/estimates`, as JSON, or as CSV where that is preferred.
pub(super) async fn show(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = state.task(tasks::id(path))?;
    let options = query::estimates(raw.as_deref().unwrap_or_default())?;
    let csv = accept::prefers_csv(&headers);
    // Listing many items, and more so reading a journal, takes its time.
    state
        .compute(move |store, given_up| {
            let query = Query::new(stored.task(), &options)?;
            let totals = totals(store, &stored, &query, given_up)?;
            let estimates = stored.estimator().estimates(&totals, &query);
            render(csv, &estimates, |out| estimates.write_csv(out))
        })
        .await
}

/// What is counted of the query's items: a copy of running totals, or from the
/// journal where the question has no list of items.
fn totals(
    store: &Store,
    stored: &StoredTask,
    query: &Query,
    given_up: &dyn Fn() -> bool,
) -> Result<Totals, Problem> {
    match stored.task().questions()[query.question()].items() {
        Items::Open(_) => scan(store, stored, query, given_up),
        Items::Named(_) | Items::Count(_) => Ok(Handle::current().block_on(store.totals(stored))?),
    }
}

/// Totals for a few items of an open task, from its whole journal.
fn scan(
    store: &Store,
    stored: &StoredTask,
    query: &Query,
    given_up: &dyn Fn() -> bool,
) -> Result<Totals, Problem> {
    let mut totals = Totals::of_items(stored.task(), query.question(), query.items());
    store.for_each_report(stored, given_up, |report| totals.fold(report))?;
    Ok(totals)
}

/// An answer as JSON or CSV.
pub(super) fn render(
    csv: bool,
    answer: &impl Serialize,
    write_csv: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) -> Result<Response, Problem> {
    // Both forms live at one address, and each is old with the next report.
    let common = [
        (header::VARY, HeaderValue::from_static("accept")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    if !csv {
        return Ok((common, Json(answer)).into_response());
    }
    let mut body = Vec::new();
    write_csv(&mut body).map_err(|_| Problem::Internal)?;
    let csv = HeaderValue::from_static("text/csv; charset=utf-8; header=present");
    Ok((common, [(header::CONTENT_TYPE, csv)], body).into_response())
}
