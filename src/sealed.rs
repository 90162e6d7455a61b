//! Sealed reports: the page encrypts each report for an analyser, so that the collector cannot read
//! it.
//!
//! A sealed report has four parts:
//!
//! - the id of the public key ([`KEY_ID_BYTES`] bytes);
//! - the encapsulated key ([`ENCAPSULATED_KEY_BYTES`] bytes);
//! - the ciphertext of the report, padded with zeros to the task's longest report;
//! - the tag ([`AEAD_TAG_BYTES`] bytes).
//!
//! The encryption is HPKE (RFC 9180) in base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256,
//! AES-128-GCM. All sealed reports of a task have the same length.
//!
//! An upload of sealed reports has the format of an [`Upload`](crate::Upload), with its own version
//! and with sealed reports in place of reports.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::upload::{EncodedUpload, read_upload_header, read_uploads, upload_header_with_version};

/// Format version: the first byte of every upload of sealed reports.
pub const SEALED_UPLOAD_VERSION: u8 = 2;

/// Length of a key id, in bytes.
pub const KEY_ID_BYTES: usize = 4;

/// Length of an encapsulated key, in bytes: Nenc of the KEM (RFC 9180, table 2).
pub const ENCAPSULATED_KEY_BYTES: usize = 32;

/// Length of a tag, in bytes: Nt of the AEAD (RFC 9180, table 5).
pub const AEAD_TAG_BYTES: usize = 16;

/// Number of bytes that sealing adds to a report.
pub const SEALING_OVERHEAD_BYTES: usize = KEY_ID_BYTES + ENCAPSULATED_KEY_BYTES + AEAD_TAG_BYTES;

/// Encodes an upload whose reports are sealed.
///
/// ```
/// use hushbin::sealed::{self, SEALING_OVERHEAD_BYTES};
/// use hushbin::upload::EncodedUpload;
/// use hushbin::{ErrorCode, Fingerprint, UploadId};
///
/// let task = Fingerprint([7; 16]);
/// let length = SEALING_OVERHEAD_BYTES + 9;
/// let two = [[1; SEALING_OVERHEAD_BYTES + 9], [2; SEALING_OVERHEAD_BYTES + 9]].concat();
/// let upload = EncodedUpload { id: UploadId([9; 16]), report_count: 2, encoded_reports: &two };
/// let bytes = sealed::encode_upload(&upload, &task);
/// assert_eq!(bytes.len(), 1 + 16 + 16 + 1 + 2 * 61);
/// let decoded = sealed::decode_uploads(&bytes, &task, length).unwrap();
/// assert_eq!(decoded, [(upload, 0..bytes.len())]);
///
/// let error = sealed::decode_uploads(&bytes[..99], &task, length).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::Malformed);
/// ```
#[must_use]
pub fn encode_upload(upload: &EncodedUpload<'_>, fingerprint: &Fingerprint) -> Vec<u8> {
    let mut bytes = upload_header_with_version(
        SEALED_UPLOAD_VERSION,
        upload.id,
        fingerprint,
        upload.report_count,
    );
    bytes.extend_from_slice(upload.encoded_reports);
    bytes
}

/// Decodes concatenated uploads that were made for the task with this fingerprint. `length` is the
/// length of one sealed report in bytes. Returns each upload with the range of its bytes.
///
/// # Errors
/// As for [`EncodedUpload::read_checked_uploads`]. Only the length of sealed reports can be checked,
/// not the content.
pub fn decode_uploads<'a>(
    bytes: &'a [u8],
    fingerprint: &Fingerprint,
    length: usize,
) -> Result<Vec<(EncodedUpload<'a>, Range<usize>)>, Error> {
    read_uploads(bytes, |cursor| {
        let (id, count) = read_upload_header(cursor, SEALED_UPLOAD_VERSION, *fingerprint)?;
        let length = count as usize * length;
        let reports = cursor.read_bytes(length, "expected the stated number of sealed reports")?;
        Ok(EncodedUpload {
            id,
            report_count: count,
            encoded_reports: reports,
        })
    })
}
