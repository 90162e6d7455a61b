//! How far made-up reports could move the estimates, and whether any are seen.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use hushbin::Fingerprint;
use hushbin_analysis::estimate::{CrowdTest, Influence, MADE_UP};
use serde::Serialize;

use super::access::Analyst;
use super::answer::Work;
use super::problem::Problem;
use super::state::AppState;
use super::{answer, query, tasks};

#[derive(Serialize)]
struct Show<'a> {
    task: &'a str,
    fingerprint: Fingerprint,
    /// In the batches that are looked at.
    reports: u64,
    /// The part of the reports that is taken to be made up.
    made_up: f64,
    influence: Vec<Influence>,
    /// What holds of all honest crowds.
    crowd: Vec<CrowdTest>,
    statement: &'static str,
}

const STATEMENT: &str = "influence: by how much 1 per cent of made-up reports can move what is \
    estimated, whatever people answer. Nothing prevents it, as whoever makes reports up can \
    randomise them as the page does; limit who can send them. crowd: whether the reports look \
    like those of people whose pages made them, which tells of careless forgery alone.";

/// `GET /tasks/{id}/influence?batches=1,4-6`.
pub(super) async fn show(
    _: Analyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let stored = state.task(tasks::id(path))?;
    let asked = query::batches(raw.as_deref().unwrap_or_default())?;
    state.released(&stored, asked.as_deref()).await?;
    // All items' estimates are looked at, and none told.
    let body = state.write(Work::Short, move |store, out| {
        let totals = store.totals(&stored, asked.as_deref())?;
        let (task, estimator) = (stored.task(), stored.estimator());
        let show = Show {
            task: task.id(),
            fingerprint: task.fingerprint(),
            reports: totals.reports(),
            made_up: MADE_UP,
            influence: estimator.influence(),
            crowd: estimator.crowd(&totals),
            statement: STATEMENT,
        };
        answer::json(&show, out)
    });
    Ok((tasks::ASK_AGAIN, tasks::JSON, body.await?).into_response())
}
