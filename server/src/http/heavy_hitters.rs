//! Heavy hitters: texts that many people have.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hushbin_analysis::heavy_hitters::TextSearch;

use super::access::RequireAnalyst;
use super::answer_cache::AnswerKey;
use super::problem::Problem;
use super::response_writer::ResponseWorkKind;
use super::state::AppState;
use super::{accept, query, response_writer, tasks};

/// `GET /tasks/{id}/heavy-hitters`: frequent texts as JSON, or as CSV if the client prefers it.
pub(super) async fn get_heavy_hitters(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let raw = raw.as_deref().unwrap_or_default();
    let options =
        query::parse_heavy_hitters_query(raw, state.request_limits().max_hashes_per_response)?;
    let task = stored.task().report_task().ok_or(Problem::NotForSums)?;
    let search = TextSearch::new(task, options)?;
    let batches = state.select_released_batches(&stored, None).await?;
    let csv = accept::prefers_csv(&headers);
    let key = AnswerKey::new(&stored, "heavy-hitters", raw, csv, &batches);
    let work = ResponseWorkKind::ComputedFromReports;
    let body = state.write_cached_response(key, work, move |store, out| {
        let given_up = || out.is_abandoned();
        let mut reports = search.empty_reports();
        store.for_each_report(&stored, &batches, &given_up, |report| {
            reports.add_report(report);
        })?;
        let found = search.find_texts(&reports, &given_up)?;
        response_writer::write_json_or_csv(csv, &found, |out| found.write_csv(out), out)
    });
    Ok(response_writer::json_or_csv_response(csv, body.await?))
}
