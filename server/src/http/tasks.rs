//! Requests that list, show, create and delete tasks.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use hushbin::Fingerprint;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::{RequireAdmin, RequireAnalyst};
use super::body;
use super::problem::Problem;
use super::state::AppState;
use crate::store::{TaskSettings, TaskSetup};
use crate::task::{ReportOrSumDraft, ReportOrSumTask};
use hushbin_analysis::promise::{SumPrivacy, protected_input_text};

/// Header `Cache-Control: no-cache`, so that clients always ask again. A task does not change, but
/// another data directory may use the same id for a different task.
pub(super) const CACHE_CONTROL_NO_CACHE: [(HeaderName, HeaderValue); 1] =
    [(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];

/// Header `Content-Type` for JSON.
pub(super) const JSON_CONTENT_TYPE_HEADER: [(HeaderName, HeaderValue); 1] = [(
    header::CONTENT_TYPE,
    HeaderValue::from_static("application/json"),
)];

/// Returns the task id in a request's path. If the id cannot be decoded, returns the problem for
/// unknown paths.
pub(super) fn task_id_in_path(
    path: Result<Path<String>, PathRejection>,
) -> Result<String, Problem> {
    path.map(|Path(id)| id).map_err(|_| Problem::NotFound)
}

#[derive(Serialize)]
pub(super) struct TaskList {
    tasks: Vec<String>,
}

/// `GET /tasks`: the ids of all tasks.
pub(super) async fn list_task_ids(
    _: RequireAnalyst,
    State(state): State<AppState>,
) -> Json<TaskList> {
    let tasks = state.store().tasks();
    Json(TaskList {
        tasks: tasks
            .iter()
            .map(|stored| stored.task().id().to_owned())
            .collect(),
    })
}

#[derive(Serialize)]
struct TaskResponse<'a> {
    task: &'a ReportOrSumTask,
    fingerprint: Fingerprint,
    #[serde(flatten)]
    privacy: TaskPrivacy,
}

/// Summary of a task's privacy.
#[derive(Serialize)]
#[serde(untagged)]
enum TaskPrivacy {
    Local {
        effective_epsilon: f64,
        /// Part of a person's input that ε protects, in words. If there are several questions, the
        /// mechanism of each question protects whole inputs.
        protects: String,
    },
    /// Shuffled sums, which have no local ε.
    Shuffled { privacy: SumPrivacy },
}

impl TaskPrivacy {
    fn for_task(task: &ReportOrSumTask) -> Self {
        match task {
            ReportOrSumTask::Reports(task) => Self::Local {
                effective_epsilon: task.achieved_report_epsilon(),
                protects: protected_input_text(task.questions()[0].mechanism().neighbours()),
            },
            ReportOrSumTask::Sums(task) => Self::Shuffled {
                privacy: SumPrivacy::for_task(task),
            },
        }
    }
}

/// `GET /tasks/{id}`: the complete task, its fingerprint and its privacy.
pub(super) async fn get_task(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl axum::response::IntoResponse, Problem> {
    let stored = state.find_stored_task(task_id_in_path(path))?;
    let task = stored.task();
    let shown = state.cached_task_json(task, || {
        let show = TaskResponse {
            task,
            fingerprint: task.fingerprint(),
            privacy: TaskPrivacy::for_task(task),
        };
        let json = serde_json::to_vec(&show).map_err(|_| Problem::Internal)?;
        Ok(Bytes::from(json))
    });
    Ok((CACHE_CONTROL_NO_CACHE, JSON_CONTENT_TYPE_HEADER, shown?))
}

/// Body of a request for a new task: the task, and the settings for collecting it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateTaskRequest {
    task: ReportOrSumDraft,
    collection_settings: Option<TaskSettings>,
}

/// Returns the settings in a request. The other settings are those in `defaults`.
pub(super) fn requested_settings(
    requested: Value,
    defaults: &TaskSettings,
) -> Result<TaskSettings, Problem> {
    /// Writes the members of `from` over those of `into`.
    fn overwrite(into: &mut Value, from: Value) {
        match (into, from) {
            (Value::Object(into), Value::Object(from)) => {
                for (name, value) in from {
                    overwrite(into.entry(name).or_insert(Value::Null), value);
                }
            }
            (into, from) => *into = from,
        }
    }
    let mut settings = serde_json::to_value(defaults).map_err(|_| Problem::Internal)?;
    overwrite(&mut settings, requested);
    serde_json::from_value(settings).map_err(|error| Problem::BadRequest(error.to_string()))
}

/// Parses the body of a request for a new task: a task file, or a task and its settings.
/// Settings that the body does not have are those in `defaults`.
fn parse_task_setup(bytes: &[u8], defaults: &TaskSettings) -> Result<TaskSetup, Problem> {
    /// Only a body with settings has this field.
    #[derive(Deserialize)]
    struct WithSettings {
        task: Option<IgnoredAny>,
    }
    let peeked: WithSettings = body::parse_json_object(bytes)?;
    // Parsed again as one of the two, so that errors name the right fields and positions.
    if peeked.task.is_none() {
        return Ok(TaskSetup {
            draft: body::parse_json_object(bytes)?,
            settings: Some(defaults.clone()),
        });
    }
    let CreateTaskRequest {
        task,
        collection_settings,
    } = body::parse_json_object(bytes)?;
    let settings = match collection_settings {
        Some(_) => {
            let mut body: Value = body::parse_json_object(bytes)?;
            requested_settings(body["collection_settings"].take(), defaults)?
        }
        None => defaults.clone(),
    };
    Ok(TaskSetup {
        draft: task,
        settings: Some(settings),
    })
}

#[derive(Serialize)]
pub(super) struct CreatedTask {
    task: ReportOrSumTask,
    fingerprint: Fingerprint,
    collection_settings: TaskSettings,
}

/// `POST /tasks`: creates a task from a task file, or from a task and its settings. Parameters that
/// are left out are chosen automatically, and settings that are left out are those of the
/// collector's options, as for task files.
pub(super) async fn create_task(
    admin: RequireAdmin,
    State(state): State<AppState>,
    body: Body,
) -> Result<(StatusCode, Json<CreatedTask>), Problem> {
    let bytes = body::read_body_bytes(&state, body).await?;
    let setup = parse_task_setup(&bytes, state.new_task_settings())?;
    let stored = state.store().add_task(setup).await?;
    tracing::info!(
        task = stored.task().id(),
        token = admin.token_id,
        "a task was created"
    );
    let created = CreatedTask {
        task: stored.task().clone(),
        fingerprint: stored.task().fingerprint(),
        collection_settings: (*stored.settings()).clone(),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// `DELETE /tasks/{id}`: deletes the task and all of its data.
pub(super) async fn delete_task(
    admin: RequireAdmin,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let stored = state.find_stored_task(task_id_in_path(path))?;
    state.store().remove_task(&stored).await?;
    state.answer_cache().forget_task(&stored);
    tracing::info!(
        task = stored.task().id(),
        token = admin.token_id,
        "a task was deleted"
    );
    Ok(StatusCode::NO_CONTENT)
}
