//! Header of an upload.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::codec::append_varint;
use crate::fingerprint::{Fingerprint, write_hex};

/// Version of the format: the first byte of every upload.
pub const UPLOAD_FORMAT_VERSION: u8 = 1;

/// Location of the task's fingerprint in the bytes of an upload, sealed or not.
pub const FINGERPRINT_RANGE: Range<usize> = 1..17;

/// Returns the header of an upload that contains `count` reports. The encoded reports follow the
/// header, back to back.
#[must_use]
pub fn upload_header(id: UploadId, fingerprint: &Fingerprint, count: u32) -> Vec<u8> {
    upload_header_with_version(UPLOAD_FORMAT_VERSION, id, fingerprint, count)
}

/// Returns the header of an upload that contains `count` reports, in the given version of the
/// format.
pub(crate) fn upload_header_with_version(
    version: u8,
    id: UploadId,
    fingerprint: &Fingerprint,
    count: u32,
) -> Vec<u8> {
    let mut bytes = alloc::vec![version; 1 + 16 + 16];
    bytes[FINGERPRINT_RANGE].copy_from_slice(&fingerprint.0);
    bytes[17..].copy_from_slice(&id.0);
    append_varint(&mut bytes, count.into());
    bytes
}

/// Identity of an upload: 16 random bytes, written as 32 lower-case hexadecimal digits. An upload
/// that arrives twice is counted once.
///
/// ```
/// use hushbin::UploadId;
///
/// let id = UploadId([0xab; 16]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadId(pub [u8; 16]);

impl fmt::Debug for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}
