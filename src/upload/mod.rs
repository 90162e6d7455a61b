//! Uploads on the wire.
//!
//! An upload is: the version byte, the task's fingerprint (16 bytes), the
//! upload id (16 bytes), the number of reports (varint), the reports. A report
//! of Collision or CoCo is its seed (8 bytes, little endian) and its bucket
//! (varint); one of hash-bin is its seed and either a sign (one byte, 1 for
//! plus) or its bins (zigzag varints, as many as the task has).
//! Encoding is canonical: bytes that decode are the bytes that encoding gives.
//!
//! An upload says where it ends, so that one request may carry several of one
//! task, back to back with nothing between. Each is counted once, by its own id,
//! whatever travels beside it; together they have at most as many reports as one
//! may have.

#[cfg(feature = "collector")]
mod decode;

#[cfg(feature = "collector")]
pub use decode::{EncodedUpload, Upload};
#[cfg(feature = "collector")]
pub(crate) use decode::{take_all, take_header};

use alloc::vec::Vec;
use core::fmt;

use crate::codec::append;
use crate::fingerprint::{Fingerprint, write_hex};

/// Version of the format, the first byte of every upload.
pub const VERSION: u8 = 1;

/// The identity of an upload, 16 random bytes: an upload that arrives twice is
/// counted once. Written as 32 lower-case hexadecimal digits.
///
/// ```
/// use hushbin::UploadId;
///
/// let id = UploadId([0xab; 16]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadId(pub [u8; 16]);

/// What an upload of `count` reports begins with: all but the encoded reports,
/// which follow back to back.
#[must_use]
pub fn header(id: UploadId, fingerprint: &Fingerprint, count: u32) -> Vec<u8> {
    header_of(VERSION, id, fingerprint, count)
}

/// The same in this version of the format.
pub(crate) fn header_of(
    version: u8,
    id: UploadId,
    fingerprint: &Fingerprint,
    count: u32,
) -> Vec<u8> {
    let mut bytes = alloc::vec![version; 1 + 16 + 16];
    bytes[1..17].copy_from_slice(&fingerprint.0);
    bytes[17..].copy_from_slice(&id.0);
    append(&mut bytes, count.into());
    bytes
}

impl fmt::Display for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}
