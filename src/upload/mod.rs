//! Wire format of uploads.
//!
//! An upload has a header of four fields: the version byte, the task's fingerprint (16 bytes), the
//! upload id (16 bytes), and the number of reports (varint). The reports follow. A report of
//! hash-bin is its seed (8 bytes, little endian) and either a sign (one byte, 1 for plus) or the
//! task's number of bins (zigzag varints). A report of any other mechanism is its seed and its
//! bucket (varint). The encoding is canonical: if bytes decode, then encoding the result returns
//! these bytes.
//!
//! The number of reports determines where an upload ends. One request may therefore carry several
//! uploads of one task, back to back. Each is counted once, by its own id. All uploads of a request
//! together have at most [`bounds::REPORTS`](crate::bounds::REPORTS_PER_UPLOAD_RANGE) reports.

#[cfg(feature = "collector")]
mod decode;
mod header;

#[cfg(feature = "collector")]
pub use decode::{EncodedUpload, Upload};
pub use header::{FINGERPRINT_RANGE, UPLOAD_FORMAT_VERSION, UploadId, upload_header};
#[cfg(feature = "collector")]
pub(crate) use {
    decode::{read_upload_header, read_uploads},
    header::upload_header_with_version,
};
