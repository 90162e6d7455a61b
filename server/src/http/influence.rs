//! Influence of made-up reports on the estimates, and tests that detect some made-up reports.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use hushbin::Fingerprint;
use hushbin::sums::SumTask;
use hushbin_analysis::estimate::{FORGED_REPORT_FRACTION, ForgedReportInfluence, HonestyTest};
use hushbin_analysis::sums::{SumInfluence, SumTotals};
use serde::Serialize;

use super::access::RequireAnalyst;
use super::answer_cache::AnswerKey;
use super::problem::Problem;
use super::response_writer::ResponseWorkKind;
use super::state::AppState;
use super::{query, query_cost, response_writer, tasks};

#[derive(Serialize)]
struct InfluenceResponse<'a> {
    task_id: &'a str,
    fingerprint: Fingerprint,
    /// Number of reports in the selected batches.
    reports: u64,
    /// Share of the reports that is assumed to be made up.
    made_up_fraction: f64,
    influence: Vec<ForgedReportInfluence>,
    /// Tests that any honest population passes.
    crowd: Vec<HonestyTest>,
    statement: &'static str,
}

#[derive(Serialize)]
struct SumsInfluenceResponse<'a> {
    task_id: &'a str,
    fingerprint: Fingerprint,
    /// Number of people in the selected batches.
    people: u64,
    influence: Vec<SumInfluence>,
    statement: String,
}

impl<'a> SumsInfluenceResponse<'a> {
    fn new(task: &'a SumTask, totals: &SumTotals) -> Self {
        let people = totals.people_count();
        let moved = match task.summed_quantity().counted_questions() {
            Some(_) => "count",
            None => "sum",
        };
        Self {
            task_id: task.id(),
            fingerprint: task.fingerprint(),
            people,
            influence: SumInfluence::for_task(task, people as f64),
            statement: format!(
                "The influence is the maximum change of a {moved} by one person who breaks the \
                 protocol. The shuffler limits the messages of one upload, but it cannot see their \
                 sealed content. Someone who sends many uploads can move the {moved} that many \
                 times."
            ),
        }
    }
}

const FORGED_REPORT_STATEMENT: &str = "The influence is the maximum change of an estimate by 1 per cent of made-up \
                         reports. It is the worst case over answers. All of these reports may \
                         answer the same question, or the rarest prefix length of a text, which \
                         honest reports choose at random. No test can prevent this, because a \
                         forger can randomise as the page does: limit who can send reports. The \
                         tests of the crowd find only careless forgeries. Any honest population \
                         passes them.";

/// `GET /tasks/{id}/influence?batches=1,4-6`: the influence of made-up reports on the estimates.
pub(super) async fn get_influence(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let raw = raw.as_deref().unwrap_or_default();
    let asked = query::parse_batches_query(raw)?;
    let batches = state
        .select_released_batches(&stored, asked.as_deref())
        .await?;
    if let (Some(estimator), Some(asked)) = (stored.estimator(), &asked) {
        let predicted = query_cost::batches_time(estimator.task(), asked.len());
        query_cost::check_query_time(predicted, state.request_limits())?;
    }
    let key = AnswerKey::new(&stored, "influence", raw, false, &batches);
    // `ShortFromTotals`, since the estimates of all items are computed, but not sent.
    let work = ResponseWorkKind::ShortFromTotals;
    let body = state.write_cached_response(key, work, move |store, out| {
        if let Some(task) = stored.task().sum_task() {
            let totals = store.sum_task_totals(&stored, task, &batches)?;
            return response_writer::write_json(&SumsInfluenceResponse::new(task, &totals), out);
        }
        let estimator = stored.estimator().ok_or(Problem::NotForSums)?;
        let totals = store.totals(&stored, asked.as_deref())?;
        let task = stored.task();
        let show = InfluenceResponse {
            task_id: task.id(),
            fingerprint: task.fingerprint(),
            reports: totals.report_count(),
            made_up_fraction: FORGED_REPORT_FRACTION,
            influence: estimator.forged_report_influence(),
            crowd: estimator.run_honesty_tests(&totals),
            statement: FORGED_REPORT_STATEMENT,
        };
        response_writer::write_json(&show, out)
    });
    Ok((
        tasks::CACHE_CONTROL_NO_CACHE,
        tasks::JSON_CONTENT_TYPE_HEADER,
        body.await?,
    )
        .into_response())
}
