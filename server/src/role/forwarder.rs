//! Forwards released batches from a shuffler to its analyser, block by block.
//!
//! A block is sent again until the analyser's signature proves that the block is on the analyser's
//! disk. The analyser counts each block once. The reports of a batch are deleted once all blocks of
//! the batch are acknowledged. No further state is kept, so this also works after a crash: a
//! released batch whose reports are still in the journal is still to be sent.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use data_encoding::HEXLOWER;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

use super::connector::{Connector, connector};
use super::shuffler_keys::ShufflerKeys;
use super::signature;
use crate::sealed::KeyConfiguration;
use crate::store::{BatchRow, JournalError, Store, StoreError, StoredTask};
use crate::task::ReportOrSumTask;

/// Interval between checks for batches to send.
const RELEASED_BATCH_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Interval between requests for the analyser's keys.
const KEY_FETCH_INTERVAL: Duration = Duration::from_secs(60);

/// Pauses after failures: the first pause and the longest pause. Each further failure doubles the
/// pause.
const RETRY_BACKOFF_MIN_MAX: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(60)];

/// Time limit for the analyser's answer to a request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of bytes in an answer from the analyser.
const MAX_ANSWER_BYTES: usize = 1 << 16;

/// Maximum number of blocks that are read from the journal before they can be sent.
const MAX_BLOCKS_READ_AHEAD: usize = 2;

/// Reason that a batch could not be sent.
#[derive(Debug, thiserror::Error)]
enum ForwardError {
    #[error("the analyser cannot be reached: {0}")]
    Unreachable(#[from] hyper_util::client::legacy::Error),
    #[error("the analyser did not answer within {} s", ANSWER_TIMEOUT.as_secs())]
    TimedOut,
    #[error("the analyser answered {status}: {detail}")]
    Refused { status: StatusCode, detail: String },
    #[error("the answer of the analyser is invalid: {0}")]
    InvalidAnswer(String),
    #[error("the journal could not be read: {0}")]
    JournalReadFailed(String),
    #[error(transparent)]
    StoreFailed(#[from] StoreError),
}

impl ForwardError {
    /// Returns true if the analyser did not answer. Then it would take nothing else either.
    const fn is_silence(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::TimedOut)
    }
}

/// Forwarder that sends a shuffler's released batches to its analyser.
pub(crate) struct BatchForwarder {
    store: Store,
    shuffler_keys: Arc<ShufflerKeys>,
    client: Client<Connector, Full<Bytes>>,
}

/// An analyser's answer to a block.
#[derive(Deserialize)]
struct BlockReceipt {
    receipt: String,
}

/// Answer of an analyser that was asked for the keys of a task.
#[derive(Deserialize)]
struct KeysAnswer {
    keys: Vec<String>,
}

impl BatchForwarder {
    /// Creates a forwarder that sends batches in `store` to the analyser of `shuffler`.
    ///
    /// # Errors
    /// When this machine has no root certificates, by which an analyser could be identified.
    pub(crate) fn new(
        store: Store,
        shuffler: Arc<ShufflerKeys>,
    ) -> Result<Self, impl std::error::Error + Send + Sync + 'static> {
        connector().map(|connector| Self {
            store,
            shuffler_keys: shuffler,
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    /// Sends batches to the analyser, in an endless loop.
    pub(crate) async fn forward_forever(self) {
        let (mut asked, mut pause, mut logged) = (None, None, String::new());
        loop {
            let now = tokio::time::Instant::now();
            let due = self.shuffler_keys.take_keys_outdated()
                || asked.is_none_or(|last| now >= last + KEY_FETCH_INTERVAL);
            let done = self.forward_all_tasks(due).await;
            match done {
                Ok(()) => {
                    asked = if due { Some(now) } else { asked };
                    if pause.take().is_some() {
                        tracing::info!("the analyser takes batches again");
                        logged.clear();
                    }
                    tokio::time::sleep(RELEASED_BATCH_POLL_INTERVAL).await;
                }
                Err(error) => {
                    // Each error is logged once, not with every attempt.
                    let message = error.to_string();
                    if message != logged {
                        tracing::error!(error = message, "batches wait for the analyser");
                        logged = message;
                    }
                    let [first, most] = RETRY_BACKOFF_MIN_MAX;
                    let next = pause.map_or(first, |last: Duration| (2 * last).min(most));
                    pause = Some(next);
                    tokio::time::sleep(next).await;
                }
            }
        }
    }

    /// Sends all batches that are ready. If `ask` is true, fetches each task's keys from the
    /// analyser again before sending. A task that the analyser refuses does not delay other tasks.
    ///
    /// # Errors
    /// The first error that occurred.
    async fn forward_all_tasks(&self, ask: bool) -> Result<(), ForwardError> {
        let mut first = Ok(());
        for stored in self.store.tasks() {
            match self.forward_task(&stored, ask).await {
                Err(error) if error.is_silence() => return Err(error),
                done => first = first.and(done),
            }
        }
        first
    }

    /// Sends all batches of a task that are ready. Fetches the keys if they are unknown or `ask` is
    /// true. A batch that the analyser refuses does not delay later ones: it may lack the key of that
    /// batch alone. The batch is kept, and sent again with the next check.
    ///
    /// # Errors
    /// The first error that occurred.
    async fn forward_task(&self, stored: &Arc<StoredTask>, ask: bool) -> Result<(), ForwardError> {
        if ask
            || self
                .shuffler_keys
                .key_configurations(stored.task().id())
                .is_none()
        {
            self.fetch_keys(stored.task()).await?;
        }
        self.store.refresh_batches(stored).await?;
        let mut first = Ok(());
        for batch in stored.released_batches() {
            if batch.reports_kept && batch.report_count > 0 {
                match self.send_batch(stored, batch).await {
                    Err(error) if error.is_silence() => return Err(error),
                    done => first = first.and(done),
                }
            }
        }
        first
    }

    /// Fetches the analyser's keys for a task.
    async fn fetch_keys(&self, task: &ReportOrSumTask) -> Result<(), ForwardError> {
        let request = Request::get(self.resource_address(task, "keys")?).body(Full::default());
        let answer = self.send_request(request).await?;
        let strange = |reason: String| ForwardError::InvalidAnswer(reason);
        let KeysAnswer { keys } =
            serde_json::from_slice(&answer).map_err(|error| strange(error.to_string()))?;
        let configurations = keys.iter().map(|text| {
            let bytes = HEXLOWER
                .decode(text.as_bytes())
                .map_err(|error| strange(error.to_string()))?;
            KeyConfiguration::parse_configuration(&bytes, task)
                .map_err(|error| strange(error.to_string()))
        });
        let configurations = configurations.collect::<Result<_, _>>()?;
        self.shuffler_keys
            .set_key_configurations(task.id(), configurations);
        Ok(())
    }

    /// Checks that the analyser's answer has a receipt of the block.
    fn check_receipt(&self, answer: &[u8], block: &[u8]) -> Result<(), ForwardError> {
        let taken: Result<BlockReceipt, _> = serde_json::from_slice(answer);
        let receipt = taken
            .ok()
            .and_then(|taken| HEXLOWER.decode(taken.receipt.as_bytes()).ok());
        if receipt.is_some_and(|receipt| self.shuffler_keys.is_valid_receipt(&receipt, block)) {
            return Ok(());
        }
        Err(ForwardError::InvalidAnswer(
            "its receipt is not a signature of the block".to_owned(),
        ))
    }

    /// Sends all blocks of a batch. Then asks the store to delete the batch's reports, and waits
    /// until they are deleted.
    async fn send_batch(
        &self,
        stored: &Arc<StoredTask>,
        batch: BatchRow,
    ) -> Result<(), ForwardError> {
        let (blocks, mut read) = mpsc::channel::<Bytes>(MAX_BLOCKS_READ_AHEAD);
        let (sent, is_sent) = oneshot::channel::<()>();
        let reading = {
            let (store, stored) = (self.store.clone(), Arc::clone(stored));
            tokio::task::spawn_blocking(move || {
                let Some(claim) = store.claim_batch_exclusively(&stored, batch.number)? else {
                    return Ok(false);
                };
                store.for_each_block(&stored, batch.number, &mut |block| {
                    // The receiver is gone if sending has failed.
                    match blocks.blocking_send(Bytes::copy_from_slice(block)) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                })?;
                // The claim is held until the blocks are sent, so that no other process sends them
                // meanwhile.
                drop(blocks);
                let _ = is_sent.blocking_recv();
                drop(claim);
                Ok::<_, JournalError>(true)
            })
        };
        let address = self.resource_address(stored.task(), "blocks")?;
        while let Some(block) = read.recv().await {
            let request = Request::builder()
                .method(Method::POST)
                .uri(address.clone())
                .header(header::CONTENT_TYPE, "application/octet-stream")
                .header(
                    signature::SIGNATURE_HEADER,
                    self.shuffler_keys.signature_header(&block),
                )
                .body(Full::new(block.clone()));
            let answer = self.send_request(request).await?;
            self.check_receipt(&answer, &block)?;
        }
        drop(sent);
        // An error of the reader means that blocks may be missing, so the batch is not deleted.
        let whole = reading.await.map_err(|error| error.to_string());
        let whole = whole.and_then(|read| read.map_err(|error| error.to_string()));
        if !whole.map_err(ForwardError::JournalReadFailed)? {
            // Another shuffler that shares the journal is sending this batch.
            return Ok(());
        }
        self.store
            .delete_batch_reports(stored, batch.number)
            .await?;
        tracing::info!(
            task = stored.task().id(),
            batch = batch.number,
            "the analyser has received the batch"
        );
        // Waits for the deletion, so that the next check does not send the batch again.
        stored.wait_until_reports_deleted(batch.number).await;
        Ok(())
    }

    /// Sends a request to the analyser, and returns the body of the answer.
    async fn send_request(
        &self,
        request: Result<Request<Full<Bytes>>, hyper::http::Error>,
    ) -> Result<Bytes, ForwardError> {
        let strange = |reason: String| ForwardError::InvalidAnswer(reason);
        let request = request.map_err(|error| strange(error.to_string()))?;
        let answered = async {
            let answer = self.client.request(request).await?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES)
                .collect()
                .await;
            let body = body.map_err(|error| strange(error.to_string()))?.to_bytes();
            match status {
                StatusCode::OK => Ok(body),
                _ => Err(ForwardError::Refused {
                    status,
                    detail: String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned(),
                }),
            }
        };
        tokio::time::timeout(ANSWER_TIMEOUT, answered)
            .await
            .unwrap_or(Err(ForwardError::TimedOut))
    }

    /// Returns the address of a task's resource at the analyser.
    fn resource_address(
        &self,
        task: &ReportOrSumTask,
        resource: &str,
    ) -> Result<Uri, ForwardError> {
        let base = self.shuffler_keys.analyser_address.to_string();
        let address = format!(
            "{}/tasks/{}/{resource}",
            base.trim_end_matches('/'),
            task.id()
        );
        let address: Result<Uri, _> = address.parse();
        address.map_err(|error| ForwardError::InvalidAnswer(error.to_string()))
    }
}
