//! Estimates of the reports so far.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hushbin::{Items, Upload};
use tokio::sync::oneshot;

use super::problem::Problem;
use super::{AppState, accept, query, tasks};
use crate::store::{Store, StoredTask};
use hushbin_analysis::estimate::{Estimates, Question, Totals, estimates};

/// `GET /tasks/{id}/estimates`, as JSON, or as CSV where that is preferred.
pub(super) async fn show(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = state.task(tasks::id(path))?;
    let options = query::parse(raw.as_deref().unwrap_or_default())?;
    let csv = accept::prefers_csv(&headers);
    let shared = &state.0;
    // Waiting here is bounded by the deadline of all requests.
    let place = Arc::clone(&shared.estimating)
        .acquire_owned()
        .await
        .map_err(|_| Problem::Internal)?;
    let running = match stored.task().items() {
        Items::Open(_) => None,
        Items::Named(_) | Items::Count(_) => Some(shared.store.totals(&stored).await?),
    };
    let store = shared.store.clone();
    let (reply, answer) = oneshot::channel();
    // Listing many items, and more so reading a journal, takes longer than a
    // thread of the runtime may be held.
    let work = tokio::task::spawn_blocking(move || {
        let _place = place;
        let result = estimate(&store, &stored, running, &options, || reply.is_closed())
            .and_then(|estimates| render(&estimates, csv));
        // Nobody listens any more when the request has been given up.
        let _ = reply.send(result);
    });
    match answer.await {
        Ok(result) => result,
        Err(_) => match work.await {
            // A panic goes where the panics of handlers go.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            _ => Err(Problem::Internal),
        },
    }
}

fn estimate(
    store: &Store,
    stored: &StoredTask,
    running: Option<Totals>,
    options: &hushbin_analysis::estimate::Options,
    given_up: impl Fn() -> bool,
) -> Result<Estimates, Problem> {
    let task = stored.task();
    let question = Question::new(task, options)?;
    let totals = match running {
        Some(totals) => totals,
        None => scan(store, stored, question.items(), given_up)?,
    };
    Ok(estimates(task, &totals, &question))
}

/// Totals for a few items of an open task, from its whole journal.
fn scan(
    store: &Store,
    stored: &StoredTask,
    items: &[u64],
    given_up: impl Fn() -> bool,
) -> Result<Totals, Problem> {
    let task = stored.task();
    let mut totals = Totals::of_items(task, items);
    let mut damaged = false;
    store.for_each_upload(stored, |bytes| {
        if given_up() {
            return ControlFlow::Break(());
        }
        match Upload::decode(bytes, task) {
            Ok(upload) => {
                upload.reports.iter().for_each(|report| totals.fold(report));
                ControlFlow::Continue(())
            }
            Err(error) => {
                tracing::error!(task = task.id(), %error, "the journal holds what is no upload");
                damaged = true;
                ControlFlow::Break(())
            }
        }
    })?;
    if damaged {
        Err(Problem::Storage)
    } else {
        Ok(totals)
    }
}

fn render(estimates: &Estimates, csv: bool) -> Result<Response, Problem> {
    // Both forms live at one address, and each is old with the next report.
    let common = [
        (header::VARY, HeaderValue::from_static("accept")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    if !csv {
        return Ok((common, Json(estimates)).into_response());
    }
    let mut body = Vec::new();
    estimates
        .write_csv(&mut body)
        .map_err(|_| Problem::Internal)?;
    let csv = HeaderValue::from_static("text/csv; charset=utf-8; header=present");
    Ok((common, [(header::CONTENT_TYPE, csv)], body).into_response())
}
