//! Receiving blocks of sealed reports from shufflers.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use data_encoding::HEXLOWER;
use hushbin::sealed;
use hushbin::{Fingerprint, UploadId, upload};
use rayon::prelude::*;
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::role::signature::{self, SignerId};
use crate::sealed::{KeyId, OpenedReport, OpeningResult, ReportRecipient};
use crate::store::{
    BlockError, BlockRecord, BlockStatement, MemoryReservation, ReportOrigin, StoreError,
    StoredTask, Submission, SubmittedUpload, common_key_id,
};

/// Size limit of a block, in bytes. If the size limit of uploads is higher, that limit applies
/// instead. Shufflers send at most half of `MAX_BLOCK_BYTES`, unless a single report is longer.
const MAX_BLOCK_BYTES: usize = 1 << 20;

#[derive(Serialize)]
pub(super) struct BlockReceipt {
    /// Analyser's signature on the SHA-256 of the block, hexadecimal.
    receipt: String,
}

/// `POST /tasks/{id}/blocks`: sealed reports of one shuffled batch, signed by a known shuffler.
/// Responds with 200 only when all reports that can be opened are on disk. A block that is sent
/// again is not counted again.
///
/// By an empty block, a shuffler checks that both sides have the right keys. Nothing is stored.
///
/// A block with a report whose key this analyser lacks is refused, so that the shuffler keeps the
/// block until the operator has restored the key. Reports that their key does not open were made by
/// a client that broke the protocol. They are left out, so that such a client cannot keep the
/// remaining reports from being counted. A block that has little else is acknowledged, too, because
/// its shuffler would send it forever. The log then has an error. Repeated reports are left out
/// too: one person's report that is counted many times would show in the estimates.
pub(super) async fn receive_sealed_block(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BlockReceipt>, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let analyser = state.role_keys_and_peers().analyser_keys.as_ref();
    let analyser = analyser.ok_or(Problem::OtherRole)?;
    body::check_no_content_encoding(&headers)?;
    let limits = state.request_limits();
    let mut memory = state.store().empty_memory_reservation();
    let most = limits.max_upload_bytes.max(MAX_BLOCK_BYTES);
    let block =
        body::read_body_within_deadline(body, most, limits.body_timeout, &mut memory).await?;
    let signature = headers
        .get(signature::SIGNATURE_HEADER)
        .and_then(|value| value.to_str().ok());
    let shuffler = signature.and_then(|signature| analyser.verified_shuffler_id(signature, &block));
    let shuffler = shuffler.ok_or(Problem::UnknownShuffler)?;
    let receipt = HEXLOWER.encode(&analyser.sign_receipt(&block));
    let recipient = analyser.recipient(stored.task());
    let recipient = recipient.map_err(|_| Problem::NoKeys)?;
    if block.is_empty() {
        return Ok(Json(BlockReceipt { receipt }));
    }
    // Opening takes about 60 µs a report, too long for a thread of the runtime.
    let opened = tokio::task::spawn_blocking(move || open_block_reports(&recipient, &block));
    let opened = opened.await.map_err(|_| Problem::Internal)??;
    let missing_keys = analyser.without_lost_keys(&opened.missing_keys);
    if !missing_keys.is_empty() {
        let task = stored.task().id();
        tracing::error!(
            task,
            keys = missing_keys.join(" "),
            "refused: a block is sealed to keys that this analyser lacks"
        );
        return Err(Problem::MissingSealingKeys { missing_keys });
    }
    // The key is given up, so none of the block's people are counted.
    let is_lost = !opened.missing_keys.is_empty();
    let repeated = match is_lost {
        true => 0,
        false => store_opened_block(&state, &stored, shuffler, &opened, memory).await?,
    };
    if state.handled_blocks().is_new(shuffler, &receipt) {
        log_omitted_reports(&state, &stored, shuffler, &opened, repeated);
    }
    Ok(Json(BlockReceipt { receipt }))
}

/// Stores the reports of a block, each once. Returns the number of repeated reports.
///
/// A block may be sent again, because its receipt was lost. Then its reports are known and come from
/// its own origin. If they came from another origin, they are repeated.
async fn store_opened_block(
    state: &AppState,
    stored: &Arc<StoredTask>,
    shuffler: SignerId,
    opened: &OpenedBlock,
    memory: MemoryReservation,
) -> Result<u64, Problem> {
    let origin = ReportOrigin {
        shuffler,
        batch_id: opened.batch_id,
        key_id: opened.key_id,
    };
    let block = stored.has_block_records().then_some(BlockRecord {
        origin,
        statement: opened.statement,
        reports: opened.reports.len() as u64 + opened.unopenable_report_count,
    });
    let task = stored.task().fingerprint();
    let (uploads, bytes) = encode_distinct_reports(&opened.reports, origin, block.as_ref(), task);
    let stored_uploads = uploads.len();
    let distinct = stored_uploads - usize::from(block.is_some());
    let repeated_in_block = opened.reports.len() - distinct;
    if stored_uploads == 0 {
        return Ok(0);
    }
    let submission = Submission {
        uploads,
        bytes,
        memory,
        block: block.map(Box::new),
    };
    let receipt = state.store().submit_uploads(stored, submission).await?;
    // The record comes first. The batch of the block that it contradicts may be closed already.
    let contradicts = |block: BlockRecord| receipt.first_conflicting_id == Some(block.upload_id());
    if block.is_some_and(contradicts) {
        return Err(StoreError::from(BlockError::Contradiction).into());
    }
    let known = stored_uploads - receipt.new_upload_count;
    let is_sent_again = match (block, receipt.new_upload_count) {
        (_, 1..) => false,
        // Its own record is known.
        (Some(_), 0) => return Ok(0),
        // Other bytes would be those of another origin.
        (None, 0) if receipt.duplicates == 0 => false,
        (None, 0) => {
            let (store, stored) = (state.store().clone(), Arc::clone(stored));
            let found =
                tokio::task::spawn_blocking(move || store.has_reports_of_origin(&stored, origin));
            // Only a number in the log depends on it.
            matches!(found.await, Ok(Ok(true)))
        }
    };
    let known = if is_sent_again { 0 } else { known };
    Ok((repeated_in_block + known) as u64)
}

/// Logs and counts the reports of a block that are left out.
fn log_omitted_reports(
    state: &AppState,
    stored: &StoredTask,
    shuffler: SignerId,
    opened: &OpenedBlock,
    repeated: u64,
) {
    let task = stored.task().id();
    let unopenable = opened.unopenable_report_count;
    if opened.is_mostly_unopenable() {
        tracing::error!(
            task,
            reports = unopenable,
            opened = opened.reports.len(),
            key = HEXLOWER.encode(&opened.key_id),
            shuffler = HEXLOWER.encode(&shuffler),
            "left out: most sealed reports of a block cannot be opened, although their key is here"
        );
        state.metrics().count_unopenable_block();
    } else if unopenable > 0 {
        tracing::warn!(
            task,
            reports = unopenable,
            "left out: sealed reports that cannot be opened"
        );
    }
    state.metrics().count_unopenable_reports(unopenable);
    if repeated > 0 {
        tracing::warn!(
            task,
            reports = repeated,
            "left out: repeated sealed reports"
        );
        state.metrics().count_repeated_reports(repeated);
    }
}

/// Opened reports of a block.
struct OpenedBlock {
    /// Id of the shuffled batch that the block belongs to.
    batch_id: [u8; 16],
    /// Id of the key that all reports were sealed to.
    key_id: KeyId,
    statement: BlockStatement,
    reports: Vec<OpenedReport>,
    /// Number of reports that could not be opened, also for lack of their key.
    unopenable_report_count: u64,
    /// Ids of the keys that the analyser lacks.
    missing_keys: BTreeSet<KeyId>,
}

impl OpenedBlock {
    /// Returns true if most reports cannot be opened, and not for lack of their key.
    ///
    /// Any client can make some reports that cannot be opened. But blocks are sorted by the random
    /// bytes of sealed reports, so a block is a random sample of its batch. If most of it cannot be
    /// opened, then pages seal wrongly, reports are damaged on the way, or there is a flood.
    fn is_mostly_unopenable(&self) -> bool {
        self.missing_keys.is_empty() && self.unopenable_report_count > self.reports.len() as u64
    }
}

/// Opens the reports of a block.
///
/// # Errors
/// When `block` is not exactly one block of this task.
fn open_block_reports(recipient: &ReportRecipient, block: &[u8]) -> Result<OpenedBlock, Problem> {
    let task = recipient.task();
    let (fingerprint, length) = (task.fingerprint(), task.sealed_report_length());
    let (statement, block) = BlockStatement::split_from(block)
        .ok_or_else(|| Problem::BadRequest("the block is shorter than its statement".to_owned()))?;
    let blocks = sealed::decode_uploads(block, &fingerprint, length)?;
    let [(sealed, _)] = &blocks[..] else {
        return Err(Problem::BadRequest(format!(
            "{} blocks, expected one",
            blocks.len()
        )));
    };
    let invalid = |error: BlockError| Problem::from(StoreError::from(error));
    let checked = statement.check(recipient.task(), sealed.report_count.into());
    checked.map_err(invalid)?;
    let key_id = common_key_id(sealed.encoded_reports, length);
    let key_id = key_id.ok_or_else(|| invalid(BlockError::SeveralKeys))?;
    let reports = sealed.encoded_reports.par_chunks_exact(length);
    let results: Vec<_> = reports
        .map(|report| recipient.open_report(report))
        .collect();
    let mut opened = OpenedBlock {
        batch_id: sealed.id.0,
        key_id,
        statement,
        reports: Vec::with_capacity(results.len()),
        unopenable_report_count: 0,
        missing_keys: BTreeSet::new(),
    };
    for result in results {
        match result {
            OpeningResult::Opened(report) => opened.reports.push(report),
            OpeningResult::Invalid => opened.unopenable_report_count += 1,
            OpeningResult::MissingKey(key) => {
                opened.missing_keys.insert(key);
                opened.unopenable_report_count += 1;
            }
        }
    }
    Ok(opened)
}

/// Encodes each report as an upload with the report's id, so that the store recognises a report
/// that it has already, from whichever block, batch or shuffler. Omits repeats within the block.
/// The record of the block, if any, comes first. It counts the people of the block, so that the
/// messages count none. Returns the uploads and their bytes.
fn encode_distinct_reports(
    reports: &[OpenedReport],
    origin: ReportOrigin,
    block: Option<&BlockRecord>,
    fingerprint: Fingerprint,
) -> (Vec<SubmittedUpload>, Vec<u8>) {
    let (mut uploads, mut bytes, mut known_ids) = (Vec::new(), Vec::new(), HashSet::new());
    if let Some(block) = block {
        bytes = block.encode();
        uploads.push(SubmittedUpload {
            id: block.upload_id(),
            // Each person has at least one message, so a block has at most 4,097 people.
            report_count: u32::try_from(block.people()).unwrap_or(u32::MAX),
            body_range: 0..bytes.len(),
        });
    }
    let report_count = u32::from(block.is_none());
    for report in reports {
        if !known_ids.insert(report.id) {
            continue;
        }
        let id = UploadId(report.id);
        let begin = bytes.len();
        bytes.extend(upload::upload_header(id, &fingerprint, 1));
        bytes.extend(&report.encoded);
        bytes.extend(origin.encode());
        uploads.push(SubmittedUpload::new(id, report_count, begin..bytes.len()));
    }
    (uploads, bytes)
}
