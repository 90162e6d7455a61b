//! What handlers share: the store, and bounds of what they may take.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use super::problem::Problem;
use crate::store::{Store, StoredTask};

/// Bounds of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest body of an upload, in bytes.
    pub upload_bytes: usize,
    /// Time that an upload's body may take to arrive.
    pub body_timeout: Duration,
    /// Time that an answer may take.
    pub request_timeout: Duration,
    /// Estimates computed at once; further ones wait.
    pub estimates_at_once: usize,
}

impl Limits {
    /// Bounds that suit browsers that send a few reports at a time.
    pub const DEFAULT: Self = Self {
        upload_bytes: 1 << 20,
        body_timeout: Duration::from_secs(10),
        request_timeout: Duration::from_secs(30),
        estimates_at_once: 2,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What handlers share.
#[derive(Clone)]
pub(super) struct AppState(Arc<Shared>);

struct Shared {
    store: Store,
    limits: Limits,
    /// Places for what is computed at once.
    computing: Arc<Semaphore>,
}

impl AppState {
    pub(super) fn new(store: Store, limits: Limits) -> Self {
        let computing = Arc::new(Semaphore::new(limits.estimates_at_once.max(1)));
        Self(Arc::new(Shared {
            store,
            limits,
            computing,
        }))
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(super) fn task(&self, id: Result<String, Problem>) -> Result<Arc<StoredTask>, Problem> {
        let id = id?;
        self.0.store.task(&id).ok_or(Problem::UnknownTask { id })
    }

    /// Runs what takes longer than a thread of the runtime may be held, on a
    /// thread of its own; only so much runs at once, and the rest waits. The work
    /// is handed the store, and a way to ask whether the request was given up.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &(dyn Fn() -> bool + Sync)) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // Waiting here is bounded by the deadline of all requests.
        let place = Arc::clone(&self.0.computing)
            .acquire_owned()
            .await
            .map_err(|_| Problem::Internal)?;
        let store = self.0.store.clone();
        let (reply, answer) = oneshot::channel();
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            let result = work(&store, &|| reply.is_closed());
            // Nobody listens any more when the request has been given up.
            let _ = reply.send(result);
        });
        match answer.await {
            Ok(result) => result,
            Err(_) => match running.await {
                // A panic goes where the panics of handlers go.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                _ => Err(Problem::Internal),
            },
        }
    }
}
