//! Sealed reports: each encrypted by itself in the page for whoever analyses it, so that
//! whoever collects it cannot read it.
//!
//! A sealed report is the id of the key that it is sealed to ([`KEY_ID`] bytes), the
//! encapsulated key ([`ENCAPSULATED`]), the ciphertext of the report, padded by zeros to the
//! task's longest, and the tag ([`TAG`]): HPKE (RFC 9180), base mode, DHKEM(X25519,
//! HKDF-SHA256), HKDF-SHA256, AES-128-GCM. All of a task have one length.
//!
//! An upload of sealed reports is what an [`Upload`](crate::Upload) is, with a version of its
//! own and sealed reports in the place of reports.

use alloc::vec::Vec;
use core::ops::Range;

use crate::codec::Cursor;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::upload::{UploadId, header_of, take_all, take_header};

/// Version of the format, the first byte of every upload of sealed reports.
pub const VERSION: u8 = 2;

/// Bytes of a key's id.
pub const KEY_ID: usize = 4;

/// Bytes of an encapsulated key: Nenc of the KEM (RFC 9180, table 2).
pub const ENCAPSULATED: usize = 32;

/// Bytes of a tag: Nt of the AEAD (RFC 9180, table 5).
pub const TAG: usize = 16;

/// Bytes that sealing adds to a report.
pub const OVERHEAD: usize = KEY_ID + ENCAPSULATED + TAG;

/// Sealed reports that travel together.
///
/// ```
/// use hushbin::sealed::{OVERHEAD, SealedUpload};
/// use hushbin::{ErrorCode, Fingerprint, UploadId};
///
/// let task = Fingerprint([7; 16]);
/// let length = OVERHEAD + 9;
/// let two = [[1; OVERHEAD + 9], [2; OVERHEAD + 9]].concat();
/// let upload = SealedUpload { id: UploadId([9; 16]), length, reports: &two };
/// let bytes = upload.encode(&task);
/// assert_eq!(bytes.len(), 1 + 16 + 16 + 1 + 2 * 61);
/// let decoded = SealedUpload::decode_all(&bytes, &task, length).unwrap();
/// assert_eq!(decoded, [(upload, 0..bytes.len())]);
/// assert_eq!(decoded[0].0.count(), 2);
///
/// let error = SealedUpload::decode_all(&bytes[..99], &task, length).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::Malformed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedUpload<'a> {
    /// Drawn once, kept through every retry.
    pub id: UploadId,
    /// Bytes of each report.
    pub length: usize,
    /// The reports, back to back.
    pub reports: &'a [u8],
}

impl<'a> SealedUpload<'a> {
    /// How many reports it has.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.reports.len() / self.length
    }

    /// The bytes that travel.
    #[must_use]
    pub fn encode(&self, fingerprint: &Fingerprint) -> Vec<u8> {
        let mut bytes = header_of(VERSION, self.id, fingerprint, self.count() as u32);
        bytes.extend_from_slice(self.reports);
        bytes
    }

    /// Uploads back to back, all of them of sealed reports of this length, made for the task of
    /// this fingerprint; and which bytes are whose.
    ///
    /// # Errors
    /// As [`EncodedUpload::check_all`](crate::upload::EncodedUpload::check_all). Sealed reports
    /// cannot be checked, except for their length.
    pub fn decode_all(
        bytes: &'a [u8],
        fingerprint: &Fingerprint,
        length: usize,
    ) -> Result<Vec<(Self, Range<usize>)>, Error> {
        take_all(bytes, |cursor: &mut Cursor<'a>| {
            let (id, count) = take_header(cursor, VERSION, *fingerprint)?;
            let count = count as usize;
            let reports = cursor.bytes(count * length, "expected as many sealed reports")?;
            let upload = Self {
                id,
                length,
                reports,
            };
            Ok((upload, count))
        })
    }
}
