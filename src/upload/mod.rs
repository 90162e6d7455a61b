//! Uploads on the wire.
//!
//! An upload is: the version byte, the task's fingerprint (16 bytes), the upload id (16 bytes), the
//! number of reports (varint), the reports. A report of Collision or CoCo is its seed (8 bytes,
//! little endian) and its bucket (varint); one of hash-bin is its seed and either a sign (one byte,
//! 1 for plus) or its bins (zigzag varints, as many as the task has). Encoding is canonical: bytes
//! that decode are the bytes that encoding gives.
//!
//! An upload says where it ends, so that one request may carry several of one task, back to back
//! with nothing between. Each is counted once, by its own id, whatever travels beside it; together
//! they have at most as many reports as one may have.

#[cfg(feature = "collector")]
mod decode;
mod header;

#[cfg(feature = "collector")]
pub use decode::{EncodedUpload, Upload};
pub use header::{UploadId, VERSION, header};
#[cfg(feature = "collector")]
pub(crate) use {
    decode::{take_all, take_header},
    header::header_of,
};
