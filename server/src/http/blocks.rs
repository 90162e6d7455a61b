//! Receiving blocks of sealed reports from shufflers.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use data_encoding::HEXLOWER;
use hushbin::sealed::{self, KEY_ID_BYTES};
use hushbin::{UploadId, upload};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::role::signature::{self, SignerId};
use crate::sealed::{KeyId, ReportRecipient};
use crate::store::{ReportOrigin, Submission, SubmittedUpload};

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
/// Reports that cannot be opened were made by a client that broke the protocol. They are left out,
/// so that such a client cannot keep the remaining reports from being counted.
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
    let opened =
        tokio::task::spawn_blocking(move || unseal_block_reports(&recipient, shuffler, &block));
    let opened = opened.await.map_err(|_| Problem::Internal)??;
    if opened.unopenable_report_count > 0 {
        let (task, reports) = (stored.task().id(), opened.unopenable_report_count);
        tracing::warn!(
            task,
            reports,
            "left out: sealed reports that cannot be opened"
        );
        state.metrics().count_unopenable_reports(reports);
    }
    if !opened.uploads.is_empty() {
        let submission = Submission {
            uploads: opened.uploads,
            bytes: opened.encoded_uploads,
            memory,
        };
        let taken = state.store().submit_uploads(&stored, submission).await?;
        if let Some(id) = taken.first_conflicting_id {
            return Err(Problem::UploadIdConflict { id: id.to_string() });
        }
    }
    Ok(Json(BlockReceipt { receipt }))
}

/// Opened reports of a block, and the number of reports that could not be opened.
struct UnsealedBlock {
    uploads: Vec<SubmittedUpload>,
    encoded_uploads: Vec<u8>,
    unopenable_report_count: u64,
}

/// Opens the reports of a block. Reports that were sealed to the same key become one upload, whose
/// id is derived from the block and the key.
///
/// # Errors
/// When `block` is not exactly one block of this task.
fn unseal_block_reports(
    recipient: &ReportRecipient,
    shuffler: SignerId,
    block: &[u8],
) -> Result<UnsealedBlock, Problem> {
    let task = recipient.task();
    let (fingerprint, length) = (task.fingerprint(), task.sealed_report_length());
    let blocks = sealed::decode_uploads(block, &fingerprint, length)?;
    let [(sealed, _)] = &blocks[..] else {
        return Err(Problem::BadRequest(format!(
            "{} blocks, expected one",
            blocks.len()
        )));
    };
    let reports = sealed.encoded_reports.par_chunks_exact(length);
    let opened: Vec<_> = reports
        .map(|report| recipient.open_report(report))
        .collect();
    let count = opened.len() as u64;
    let mut by_key: BTreeMap<KeyId, (u32, Vec<u8>)> = BTreeMap::new();
    for (key, report) in opened.into_iter().flatten() {
        let (reports, bytes) = by_key.entry(key).or_default();
        *reports += 1;
        bytes.extend(report);
    }
    let digest = Sha256::digest(block);
    let (mut uploads, mut bytes, mut found) = (Vec::new(), Vec::new(), 0);
    for (key, (reports, encoded)) in by_key {
        found += reports;
        let id = derive_upload_id(&digest, &key);
        let origin = ReportOrigin {
            shuffler,
            batch_id: sealed.id.0,
            key_id: key,
        };
        let begin = bytes.len();
        bytes.extend(upload::upload_header(id, &fingerprint, reports));
        bytes.extend(encoded);
        bytes.extend(origin.encode());
        uploads.push(SubmittedUpload::new(id, reports, begin..bytes.len()));
    }
    Ok(UnsealedBlock {
        uploads,
        encoded_uploads: bytes,
        unopenable_report_count: count - u64::from(found),
    })
}

/// Returns the upload id for those reports in a block that are sealed to `key`. `block` is the
/// digest of the block.
fn derive_upload_id(block: &[u8], key: &[u8; KEY_ID_BYTES]) -> UploadId {
    // A repeated block gives the same ids, so that its reports are duplicates.
    let digest = Sha256::digest([block, key].concat());
    UploadId(*digest.first_chunk().expect("a digest has 32 bytes"))
}
