//! State that all request handlers share, and limits of requests.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::FromRef;
use hushbin::Fingerprint;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};

use super::access::AccessPolicy;
use super::answer_cache::{AnswerCache, AnswerKey, MAX_ERASABLE_AGE};
use super::handled_blocks::HandledBlocks;
use super::problem::Problem;
use super::response_writer::{ResponseWorkKind, ResponseWriter};
use crate::http::metrics::Metrics;
use crate::ohttp::OhttpGateway;
use crate::role::RoleKeysAndPeers;
use crate::store::{BatchRow, Store, StoredTask, TaskSettings};
use crate::task::ReportOrSumTask;

/// Limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Maximum length of an upload's body, in bytes.
    pub max_upload_bytes: usize,
    /// Time limit for the arrival of a request's body.
    pub body_timeout: Duration,
    /// Time limit from the start of a request until the response begins.
    pub request_timeout: Duration,
    /// Maximum number of short responses that are computed at once. Further responses wait.
    pub max_concurrent_short_responses: usize,
    /// True to release all reports, even a few, when estimates are requested. This is for
    /// development, where the reports are not from real people.
    pub release_on_read: bool,
    /// Maximum number of long responses, such as estimates of many items, that are computed and
    /// sent at once. Further long responses wait. A response is sent as fast as the client reads.
    pub max_concurrent_long_responses: usize,
    /// Maximum number of responses that are computed from all reports at once, such as estimates of
    /// items that the task does not list. Each such response uses all cores. Further ones wait.
    pub max_concurrent_report_scans: usize,
    /// Maximum number of hashes for a response that is computed from all reports. The default
    /// number takes one core 10 to 30 seconds.
    pub max_hashes_per_response: u64,
}

impl RequestLimits {
    /// Default limits, for browsers that send a few reports at a time.
    pub const DEFAULT: Self = Self {
        max_upload_bytes: 1 << 20,
        body_timeout: Duration::from_secs(10),
        request_timeout: Duration::from_secs(30),
        max_concurrent_short_responses: 2,
        release_on_read: false,
        max_concurrent_long_responses: 2,
        max_concurrent_report_scans: 1,
        max_hashes_per_response: 10_000_000_000,
    };
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl FromRef<AppState> for AccessPolicy {
    fn from_ref(state: &AppState) -> Self {
        state.0.access_policy.clone()
    }
}

impl FromRef<AppState> for Arc<Metrics> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.0.metrics)
    }
}

/// State that all request handlers share.
#[derive(Clone)]
pub(super) struct AppState(Arc<SharedState>);

struct SharedState {
    store: Store,
    access_policy: AccessPolicy,
    request_limits: RequestLimits,
    role_keys_and_peers: RoleKeysAndPeers,
    metrics: Arc<Metrics>,
    ohttp_gateway: Option<Arc<OhttpGateway>>,
    /// Settings of new tasks, unless a request has its own.
    new_task_settings: TaskSettings,
    /// Permits for short responses.
    short_response_permits: Arc<Semaphore>,
    /// Permits for long responses. They are separate, so that long responses cannot delay short
    /// ones.
    long_response_permits: Arc<Semaphore>,
    /// Permits for responses that are computed from all reports. They are separate, so that such
    /// responses cannot delay other responses.
    report_scan_permits: Arc<Semaphore>,
    /// Public description of each task as JSON, by the task's id.
    task_json_by_id: Mutex<HashMap<String, (Fingerprint, Bytes)>>,
    answer_cache: AnswerCache,
    handled_blocks: HandledBlocks,
}

fn response_semaphore(count: usize) -> Arc<Semaphore> {
    // At least one permit, or no response would ever be written.
    Arc::new(Semaphore::new(count.max(1)))
}

impl AppState {
    pub(super) fn new(
        store: Store,
        access: AccessPolicy,
        limits: RequestLimits,
        peers: RoleKeysAndPeers,
        metrics: Arc<Metrics>,
        gateway: Option<Arc<OhttpGateway>>,
        new_task_settings: TaskSettings,
    ) -> Self {
        Self(Arc::new(SharedState {
            store,
            access_policy: access,
            request_limits: limits,
            role_keys_and_peers: peers,
            metrics,
            ohttp_gateway: gateway,
            new_task_settings,
            short_response_permits: response_semaphore(limits.max_concurrent_short_responses),
            long_response_permits: response_semaphore(limits.max_concurrent_long_responses),
            report_scan_permits: response_semaphore(limits.max_concurrent_report_scans),
            task_json_by_id: Mutex::default(),
            answer_cache: AnswerCache::default(),
            handled_blocks: HandledBlocks::default(),
        }))
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Returns the latest blocks of shufflers.
    pub(super) fn handled_blocks(&self) -> &HandledBlocks {
        &self.0.handled_blocks
    }

    pub(super) fn request_limits(&self) -> &RequestLimits {
        &self.0.request_limits
    }

    /// Returns the keys of this process, and the processes with which it exchanges reports.
    pub(super) fn role_keys_and_peers(&self) -> &RoleKeysAndPeers {
        &self.0.role_keys_and_peers
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Returns the gateway for requests through relays; `None` if relays are not supported.
    pub(super) fn ohttp_gateway(&self) -> Option<&OhttpGateway> {
        self.0.ohttp_gateway.as_deref()
    }

    /// Returns the settings of new tasks, which a request may change.
    pub(super) fn new_task_settings(&self) -> &TaskSettings {
        &self.0.new_task_settings
    }

    pub(super) fn find_stored_task(
        &self,
        id: Result<String, Problem>,
    ) -> Result<Arc<StoredTask>, Problem> {
        let id = id?;
        self.0.store.task(&id).ok_or(Problem::UnknownTask(id))
    }

    /// Returns the released batches that a query requests, or all released batches if `asked` is
    /// `None`.
    ///
    /// # Errors
    /// [`Problem::NothingReleased`] or [`Problem::UnknownBatch`].
    pub(super) async fn select_released_batches(
        &self,
        stored: &Arc<StoredTask>,
        asked: Option<&[u64]>,
    ) -> Result<Vec<BatchRow>, Problem> {
        match self.request_limits().release_on_read {
            true => self.store().force_release_open_batch(stored).await?,
            false => self.store().refresh_batches(stored).await?,
        }
        let all = stored.released_batches();
        let Some(asked) = asked else {
            return match all.is_empty() && !self.request_limits().release_on_read {
                true => Err(Problem::NothingReleased {
                    reports: stored.open_batch_report_count(),
                    min_reports: stored.batch_settings().least,
                }),
                false => Ok(all),
            };
        };
        let of = |batch: &u64| {
            let found = all.iter().find(|row| row.number == *batch);
            found
                .copied()
                .ok_or(Problem::UnknownBatch { batch: *batch })
        };
        asked.iter().map(of).collect()
    }

    /// Returns the public description of a task as JSON. `make` creates the JSON at the first call
    /// only, since the JSON may be long and requested often.
    ///
    /// # Errors
    /// When `make` fails, with the same error.
    pub(super) fn cached_task_json(
        &self,
        task: &ReportOrSumTask,
        make: impl FnOnce() -> Result<Bytes, Problem>,
    ) -> Result<Bytes, Problem> {
        let mut shown = self.0.task_json_by_id.lock();
        let fingerprint = task.fingerprint();
        match shown.get(task.id()) {
            // A new task may have the id of a deleted one, so the fingerprint must match.
            Some((of, bytes)) if *of == fingerprint => Ok(bytes.clone()),
            _ => {
                let bytes = make()?;
                shown.insert(task.id().to_owned(), (fingerprint, bytes.clone()));
                Ok(bytes)
            }
        }
    }

    /// Returns the cached answers.
    pub(super) fn answer_cache(&self) -> &AnswerCache {
        &self.0.answer_cache
    }

    /// Returns the answer to a query from the cache, or writes it like [`Self::spawn_limited_response`].
    pub(super) async fn write_cached_response(
        &self,
        key: AnswerKey,
        work: ResponseWorkKind,
        write: impl FnOnce(&Store, &mut ResponseWriter) -> Result<(), Problem> + Send + 'static,
    ) -> Result<Body, Problem> {
        if let Some(known) = self.answer_cache().find(&key) {
            return Ok(Body::from(known));
        }
        let state = self.clone();
        let write = move |store: &Store, out: &mut ResponseWriter| {
            // Another request may have computed the answer while this one waited for its permit.
            if let Some(known) = state.answer_cache().find(&key) {
                return out.write_all(&known).map_err(|_| Problem::Internal);
            }
            out.keep_copy();
            let erasable = work == ResponseWorkKind::ComputedFromReports && store.is_shared();
            let expires = erasable.then(|| Instant::now() + MAX_ERASABLE_AGE);
            write(store, out)?;
            if let Some(answer) = out.take_copy() {
                state.answer_cache().insert(key, answer, expires);
            }
            Ok(())
        };
        self.spawn_limited_response(work, write).await
    }

    /// Writes a response on a blocking thread, for work that would hold a thread of the runtime too
    /// long.
    ///
    /// Each kind of work has a limited number of permits, and work without a permit waits. `write`
    /// is called with the store and the writer of the response. The permit is returned when the
    /// last piece of the response has been handed over for sending.
    pub(super) async fn spawn_limited_response(
        &self,
        work: ResponseWorkKind,
        write: impl FnOnce(&Store, &mut ResponseWriter) -> Result<(), Problem> + Send + 'static,
    ) -> Result<Body, Problem> {
        let places = match work {
            ResponseWorkKind::ShortFromTotals => &self.0.short_response_permits,
            ResponseWorkKind::LongFromTotals => &self.0.long_response_permits,
            ResponseWorkKind::ComputedFromReports => &self.0.report_scan_permits,
        };
        // The deadline of all requests also ends this wait.
        let place = Arc::clone(places)
            .acquire_owned()
            .await
            .map_err(|_| Problem::Internal)?;
        let store = self.0.store.clone();
        let (reply, answer) = oneshot::channel();
        let running = tokio::task::spawn_blocking(move || {
            // Holds the permit until the response is written.
            let _place = place;
            let mut writer = ResponseWriter::new(work, reply);
            let result = write(&store, &mut writer);
            writer.finish_response(result);
        });
        match answer.await {
            Ok(result) => result,
            Err(_) => match running.await {
                // Resumes a panic, so that the layer for panics of handlers catches it.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                _ => Err(Problem::Internal),
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt;

    use super::*;
    use crate::store::StoreOptions;

    #[tokio::test]
    async fn only_complete_answers_are_cached() {
        let directory = tempfile::tempdir().unwrap();
        let draft: hushbin::TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        let store = Store::open(directory.path(), &[draft.into()], StoreOptions::DEFAULT).unwrap();
        let task = store.task("t").unwrap();
        let state = AppState::new(
            store,
            AccessPolicy::Unrestricted,
            RequestLimits::DEFAULT,
            RoleKeysAndPeers::default(),
            Arc::new(Metrics::new()),
            None,
            TaskSettings::default(),
        );
        let written = Arc::new(AtomicUsize::new(0));
        let answer = async |query: &str, length: usize, end: Result<(), Problem>| {
            let (key, written) = (
                AnswerKey::new(&task, "estimates", query, false, &[]),
                Arc::clone(&written),
            );
            let work = ResponseWorkKind::LongFromTotals;
            let body = state.write_cached_response(key, work, move |_, out| {
                written.fetch_add(1, Ordering::Relaxed);
                out.write_all(&vec![7; length]).unwrap();
                end
            });
            let body = body.await.ok()?.collect().await.ok()?;
            Some(body.to_bytes().len())
        };
        // (query, length, end, number of times that two equal requests write the answer)
        for (query, length, end, times) in [
            ("short", 10, Ok(()), 1),
            ("streamed", 1 << 20, Ok(()), 1),
            (
                "long",
                super::super::answer_cache::MAX_ANSWER_BYTES + 1,
                Ok(()),
                2,
            ),
            ("failed", 10, Err(Problem::Storage), 2),
        ] {
            written.store(0, Ordering::Relaxed);
            for _ in 0..2 {
                let expected = end.is_ok().then_some(length);
                assert_eq!(answer(query, length, end.clone()).await, expected);
            }
            assert_eq!(written.load(Ordering::Relaxed), times, "{query}");
        }
    }
}
