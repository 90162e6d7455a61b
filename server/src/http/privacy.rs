//! Privacy of a task's reports, with statements for a privacy notice.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use hushbin::{Fingerprint, Task};
use serde::Serialize;

use super::access::RequireAnalyst;
use super::answer_cache::AnswerKey;
use super::problem::Problem;
use super::response_writer::ResponseWorkKind;
use super::server::PeerQuota;
use super::state::AppState;
use super::{query, response_writer, tasks};
use crate::store::{OriginCounts, ProcessRole, StoredTask};
use crate::task::ReportOrSumTask;
use hushbin_analysis::accounting::{
    BatchPrivacy, HONEST_REPORT_COUNT_RANGE, PersonExposure, REPORTS_PER_PERSON_RANGE,
    ReportMixture, compute_composed_privacy,
};
use hushbin_analysis::promise::{
    ReportPrivacy, SumPrivacy, batch_privacy_statement, sum_guarantee_check_text,
};

#[derive(Serialize)]
struct PrivacyResponse<'a> {
    task_id: &'a str,
    fingerprint: Fingerprint,
    /// Local privacy of each report.
    local: ReportPrivacy,
    /// Number of reports in released batches.
    reports: u64,
    /// Number of reports in the smallest released batch. On an analyser, the batches that shufflers
    /// sent count too, and one of them may be smaller. The number is 0 there if the origin of some
    /// reports is unknown.
    smallest_batch: u64,
    /// Ids of the shufflers that the reports came through; empty for a collector.
    shuffled_by: Vec<String>,
    /// Central privacy of the smallest batch, since an analyst may read the totals of that batch
    /// alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffled: Option<BatchPrivacy>,
    /// Meaning and assumptions of `shuffled`, or the reason that it is missing.
    shuffled_statement: String,
    flood_statement: String,
}

/// Response for a task of shuffled sums, which has no local privacy.
#[derive(Serialize)]
struct SumsPrivacyResponse<'a> {
    task_id: &'a str,
    fingerprint: Fingerprint,
    privacy: SumPrivacy,
    /// Number of people in released batches.
    people: u64,
    /// Number of people in the smallest batch that shufflers sent, or the number that its distinct
    /// messages can come from, if it is smaller. Messages sealed to different keys count as
    /// different batches.
    smallest_batch: u64,
    shuffled_by: Vec<String>,
    /// True if the smallest batch has at least the number of people that the task's central ε
    /// requires.
    smallest_batch_suffices: bool,
    batch_statement: String,
    flood_statement: String,
}

/// `GET /tasks/{id}/privacy?delta=1e-8&honest_fraction=1`: the privacy of the released reports.
pub(super) async fn get_privacy(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    quota: Option<Extension<PeerQuota>>,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let raw = raw.unwrap_or_default();
    let asked = query::parse_privacy_query(&raw)?;
    let batches = state.select_released_batches(&stored, None).await?;
    // A batch whose reports were lost has 0 reports, and reveals nothing.
    let counts = batches.iter().map(|batch| batch.report_count);
    let sizes = counts.filter(|&reports| reports > 0);
    let (reports, smallest) = (sizes.clone().sum(), sizes.min().unwrap_or(0));
    let flood_statement = flood_statement(&stored, state.store().role(), quota.as_deref());
    // The statement shows settings, which may change without a release.
    let query = format!("{raw}\n{flood_statement}");
    let key = AnswerKey::new(&stored, "privacy", &query, false, &batches);
    // `ShortFromTotals`, since computing the account takes 20 ms for 10⁸ reports.
    let work = ResponseWorkKind::ShortFromTotals;
    let body = state.write_cached_response(key, work, move |store, out| {
        let task = stored.task();
        let origins = store.origin_counts(&stored, &batches)?;
        let (smallest_batch, shuffled_by) = match store.role() {
            ProcessRole::Analyser => smallest_crowd(task, &origins, reports, smallest),
            ProcessRole::Collector | ProcessRole::Shuffler => (smallest, Vec::new()),
        };
        if let Some(task) = task.sum_task() {
            let shown = SumsPrivacyResponse {
                task_id: task.id(),
                fingerprint: task.fingerprint(),
                privacy: SumPrivacy::for_task(task),
                people: reports,
                smallest_batch,
                shuffled_by,
                smallest_batch_suffices: smallest_batch >= task.min_people(),
                batch_statement: sum_guarantee_check_text(task, smallest_batch),
                flood_statement,
            };
            return response_writer::write_json(&shown, out);
        }
        let task = task.report_task().ok_or(Problem::NotForSums)?;
        let (shuffled, shuffled_statement) =
            batch_privacy_and_statement(task, smallest_batch, &shuffled_by, asked)?;
        let show = PrivacyResponse {
            task_id: task.id(),
            fingerprint: task.fingerprint(),
            local: ReportPrivacy::for_task(task),
            reports,
            smallest_batch,
            shuffled_by,
            shuffled,
            shuffled_statement,
            flood_statement,
        };
        response_writer::write_json(&show, out)
    });
    let kind = tasks::JSON_CONTENT_TYPE_HEADER;
    Ok((tasks::CACHE_CONTROL_NO_CACHE, kind, body.await?).into_response())
}

/// Returns what made-up reports can do in spite of the limits, with the limits of this process.
fn flood_statement(stored: &StoredTask, role: ProcessRole, quota: Option<&PeerQuota>) -> String {
    let protection = match stored.task().report_task() {
        Some(task) => format!("only the local ε of {} protects it", task.epsilon()),
        None => "nothing protects it".to_owned(),
    };
    let limits = match role {
        ProcessRole::Analyser => "shufflers set them".to_owned(),
        ProcessRole::Collector | ProcessRole::Shuffler => {
            let address = match quota {
                Some(quota) => {
                    let reports = quota.reports_per_minute();
                    format!(
                        "one address may send {reports} reports at once, and as many a minute after that"
                    )
                }
                None => "this collector does not count by address, which a proxy may do".to_owned(),
            };
            let batch = match stored.batch_settings().min_minutes {
                0 => "a batch may close at any age".to_owned(),
                minutes => format!(
                    "a batch stays open for at least {minutes} minutes unless an admin closes it"
                ),
            };
            format!("{address}, and {batch}")
        }
    };
    format!(
        "An attacker who sends made-up reports moves the estimates, and can subtract these reports \
         from a batch: in the worst case one person's report is left, and {protection}. Limits hinder an attacker \
         with few addresses, but not one with many: \
         {limits}."
    )
}

/// Returns the smallest number of reports that a shuffler sent in one batch, at most `smallest`, and
/// the names of all shufflers. The number is 0 if the origin of some of `reports` reports is no
/// longer known, because they may have come without a crowd. In a task of sums, all origins are
/// known.
fn smallest_crowd(
    task: &ReportOrSumTask,
    origins: &OriginCounts,
    reports: u64,
    smallest: u64,
) -> (u64, Vec<String>) {
    let all_known = task.sum_task().is_some() || origins.report_count() == reports;
    let known = origins.smallest_report_count().filter(|_| all_known);
    let names = origins.shuffler_ids().into_iter();
    let names = names.map(|name| HEXLOWER.encode(&name));
    (known.unwrap_or(0).min(smallest), names.collect())
}

/// Returns the central privacy of a released batch of `reports` reports, in numbers and in words.
/// The numbers are `None` if the batch has no central ε; the words then state the reason.
///
/// # Errors
/// [`Problem::BadQuery`] if δ or the honest fraction is out of range for this task.
fn batch_privacy_and_statement(
    task: &Task,
    reports: u64,
    shufflers: &[String],
    asked: query::PrivacyAssumptions,
) -> Result<(Option<BatchPrivacy>, String), Problem> {
    let query::PrivacyAssumptions {
        delta,
        honest_report_fraction: honest,
    } = asked;
    let mixture = match ReportMixture::for_task(task) {
        Ok(mixture) => mixture,
        Err(reason) => return Ok((None, reason.to_string())),
    };
    if (reports as f64 * honest) < HONEST_REPORT_COUNT_RANGE.min {
        let statement = "Fewer than two honest reports cannot hide anyone.".to_owned();
        return Ok((None, statement));
    }
    let exposure = PersonExposure {
        reports_per_person: task.report_budget().max_reports(),
        ..PersonExposure::default()
    };
    let found = match compute_composed_privacy(&mixture, reports, honest, delta, exposure) {
        Ok(found) => found,
        Err(hushbin::Error::OutOfRange { name, value, .. })
            if name == REPORTS_PER_PERSON_RANGE.name =>
        {
            let statement = format!(
                "One person may send {value} reports, which is too many for other reports \
                         to hide."
            );
            return Ok((None, statement));
        }
        Err(error) => {
            return Err(Problem::BadQuery(error.to_string()));
        }
    };
    let statement = batch_privacy_statement(&found.account, reports, task, shufflers);
    Ok((Some(found.account), statement))
}
