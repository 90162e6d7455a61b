//! Frames of a log of uploads, and the log's header: encoding and verification.

use std::path::Path;

use super::checksum::{Checksum, take_array_from_slice};
use super::disk;
use crate::store::engine::EngineError;

pub(super) const LOG_MAGIC: [u8; 8] = *b"hushlog\x01";
pub(super) const LOG_HEADER_LENGTH: usize = 8 + 16 + 8 + 8 + 16 + Checksum::LENGTH;
/// First bytes of every frame.
const MARKER: [u8; 4] = *b"hush";
/// Length of a frame's fields in bytes. The fields begin with `MARKER` and end with `check`, a
/// checksum over the fields.
pub(super) const FIELDS_LENGTH: usize = 32;
/// Length of a frame's trailer in bytes. The trailer is the frame's checksum, followed by the mark
/// that shows that the frame was synced.
pub(super) const TRAILER_LENGTH: usize = 2 * Checksum::LENGTH;

/// Kind of frame that contains uploads.
pub(super) const UPLOADS_KIND: u32 = 1;
/// Kind of frame that closes the batch.
pub(super) const CLOSE_KIND: u32 = 2;
/// Kind of frame that contains frames of several logs. It occurs only in the shared log.
pub(super) const SHARED_KIND: u32 = 3;
/// Batch number in the header of the shared log, which belongs to no batch.
pub(super) const SHARED_BATCH: u64 = 0;

/// Header of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogHeader {
    /// Fingerprint of the task.
    pub(super) fingerprint: [u8; 16],
    /// Number of the batch.
    pub(super) batch: u64,
    /// Time at which the batch was opened, in seconds since 1970.
    pub(super) opened_at: u64,
    pub(super) checksum_key: LogChecksumKey,
}

/// Secret random key of a log, on which the checksums of all its frames depend.
pub(super) type LogChecksumKey = [u8; 16];

impl LogHeader {
    /// Creates the header of a new log.
    ///
    /// # Errors
    /// When the operating system has no entropy.
    pub(super) fn new(fingerprint: [u8; 16], batch: u64, opened: u64) -> Result<Self, EngineError> {
        let mut key = LogChecksumKey::default();
        getrandom::fill(&mut key).map_err(EngineError::NoRandomNumbers)?;
        Ok(Self {
            fingerprint,
            batch,
            opened_at: opened,
            checksum_key: key,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = LOG_MAGIC.to_vec();
        bytes.extend(self.fingerprint);
        bytes.extend(self.batch.to_le_bytes());
        bytes.extend(self.opened_at.to_le_bytes());
        bytes.extend(self.checksum_key);
        let sum = Checksum::compute(&[&bytes]);
        bytes.extend(sum.0);
        bytes
    }

    /// Decodes the header of the log at `path`, and the header's checksum, from the bytes of the
    /// file.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Self, Checksum), EngineError> {
        Self::decode(bytes).ok_or_else(|| {
            let what = "it does not start with the header of a log of this format version";
            disk::damage_error(path, what)
        })
    }

    /// Decodes the header of a log, and the header's checksum. Returns `None` if the header is
    /// invalid.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, Checksum)> {
        let (fields, mut sum) = bytes.split_at_checked(LOG_HEADER_LENGTH - Checksum::LENGTH)?;
        let sum = Checksum(take_array_from_slice(&mut sum)?);
        let mut rest = fields;
        let magic: [u8; 8] = take_array_from_slice(&mut rest)?;
        let header = Self {
            fingerprint: take_array_from_slice(&mut rest)?,
            batch: u64::from_le_bytes(take_array_from_slice(&mut rest)?),
            opened_at: u64::from_le_bytes(take_array_from_slice(&mut rest)?),
            checksum_key: take_array_from_slice(&mut rest)?,
        };
        (magic == LOG_MAGIC && sum == Checksum::compute(&[fields])).then_some((header, sum))
    }
}

/// Fields at the beginning of a frame, before the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameFields {
    pub(super) kind: u32,
    /// Offset of the frame in the file.
    pub(super) offset: u64,
    /// Length of the payload in bytes.
    pub(super) payload_length: u32,
    pub(super) uploads: u32,
    pub(super) reports: u32,
}

impl FrameFields {
    pub(super) fn encode(&self) -> [u8; FIELDS_LENGTH] {
        let mut bytes = [0; FIELDS_LENGTH];
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4..8].copy_from_slice(&self.kind.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.payload_length.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.uploads.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.reports.to_le_bytes());
        let check = Checksum::compute(&[&bytes[..28]]);
        bytes[28..].copy_from_slice(&check.0[..4]);
        bytes
    }

    /// Decodes the fields of the frame at `offset`. Returns `None` if the bytes are not valid
    /// fields for this offset.
    pub(super) fn decode(bytes: &[u8], offset: u64) -> Option<Self> {
        let mut rest = bytes.get(..FIELDS_LENGTH)?;
        let marker: [u8; 4] = take_array_from_slice(&mut rest)?;
        let fields = Self {
            kind: u32::from_le_bytes(take_array_from_slice(&mut rest)?),
            offset: u64::from_le_bytes(take_array_from_slice(&mut rest)?),
            payload_length: u32::from_le_bytes(take_array_from_slice(&mut rest)?),
            uploads: u32::from_le_bytes(take_array_from_slice(&mut rest)?),
            reports: u32::from_le_bytes(take_array_from_slice(&mut rest)?),
        };
        // Encoding the fields again also verifies their check.
        let whole = marker == MARKER
            && fields.offset == offset
            && fields.encode() == bytes[..FIELDS_LENGTH];
        whole.then_some(fields)
    }
}

/// Numbers of uploads and reports in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UploadCounts {
    pub(super) uploads: u64,
    pub(super) reports: u64,
}

impl FrameFields {
    /// Returns the length of the whole frame in bytes, with fields and trailer.
    pub(super) const fn frame_length(&self) -> usize {
        FIELDS_LENGTH + self.payload_length as usize + TRAILER_LENGTH
    }
}

impl UploadCounts {
    pub(super) fn add_frame(&mut self, fields: &FrameFields) {
        self.uploads += u64::from(fields.uploads);
        self.reports += u64::from(fields.reports);
    }
}

/// One upload in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoggedUpload<'a> {
    pub(super) id: [u8; 16],
    pub(super) body: &'a [u8],
}

/// Returns the payload of a frame with these fields, from bytes that begin with the frame.
pub(super) fn payload<'a>(frame: &'a [u8], fields: &FrameFields) -> &'a [u8] {
    &frame[FIELDS_LENGTH..FIELDS_LENGTH + fields.payload_length as usize]
}

/// Decodes the payload of a closing frame: the numbers of uploads and reports in the log, and the
/// time of closing in seconds since 1970.
pub(super) fn read_closing_payload(mut payload: &[u8]) -> Option<(UploadCounts, u64)> {
    let mut number = || take_array_from_slice(&mut payload).map(u64::from_le_bytes);
    let counts = UploadCounts {
        uploads: number()?,
        reports: number()?,
    };
    Some((counts, number()?))
}

/// Removes the first upload from a payload, and returns it.
pub(super) fn read_upload<'a>(payload: &mut &'a [u8]) -> Option<LoggedUpload<'a>> {
    let id = take_array_from_slice(payload)?;
    let length = u32::from_le_bytes(take_array_from_slice(payload)?) as usize;
    let (body, rest) = payload.split_at_checked(length)?;
    *payload = rest;
    Some(LoggedUpload { id, body })
}

/// Computes the checksum of a frame. It also covers `before`, the checksum of the previous frame or
/// of the header.
pub(super) fn frame_checksum(
    key: &LogChecksumKey,
    before: Checksum,
    fields: &[u8; FIELDS_LENGTH],
    payload: &[u8],
) -> Checksum {
    Checksum::compute(&[key, &before.0, fields, payload])
}

/// Computes the mark that follows the checksum `sum` of a frame. The mark is written once the frame
/// is known to be on the disk.
pub(super) fn synced_mark(key: &LogChecksumKey, sum: &[u8]) -> Checksum {
    Checksum::compute(&[key, b"synced", sum])
}

/// Verifies the frame that `bytes` begin with, for a place in a log: the offset, and the checksum
/// of the frame or header before it. Returns the frame's fields and checksum, or `None` if the frame
/// is invalid there.
pub(super) fn verify_frame(
    key: &LogChecksumKey,
    bytes: &[u8],
    offset: u64,
    before: Checksum,
) -> Option<(FrameFields, Checksum)> {
    let fields = FrameFields::decode(bytes, offset)?;
    let (payload, mut behind) =
        bytes[FIELDS_LENGTH..].split_at_checked(fields.payload_length as usize)?;
    let sum = Checksum(take_array_from_slice(&mut behind)?);
    (sum == frame_checksum(key, before, &fields.encode(), payload)).then_some((fields, sum))
}

/// Returns true if the invalid frame at `offset` had been synced. Its mark, or any later mark or
/// frame in the log, proves this. `bytes` are the log from the frame to the end.
pub(super) fn was_synced(
    key: &LogChecksumKey,
    bytes: &[u8],
    offset: u64,
    before: Checksum,
) -> bool {
    // A valid mark at the end of the file was written after the frame.
    let ends = bytes.last_chunk::<TRAILER_LENGTH>().is_some_and(|trailer| {
        let (sum, mark) = trailer.split_at(Checksum::LENGTH);
        *mark == synced_mark(key, sum).0
    });
    // The mark also verifies if the frame's checksum alone has changed.
    let marked = verify_by_mark(key, bytes, offset, before).is_some();
    let later = |at| checksum_before_valid_frame(key, bytes, at, offset).is_some();
    // A later frame begins after the shortest possible frame at the earliest.
    ends || marked || (FIELDS_LENGTH + TRAILER_LENGTH..bytes.len()).any(later)
}

/// Verifies the frame that `bytes` begin with by its mark, even if the frame's checksum is damaged.
/// Returns the frame's fields and its original checksum.
pub(super) fn verify_by_mark(
    key: &LogChecksumKey,
    bytes: &[u8],
    offset: u64,
    before: Checksum,
) -> Option<(FrameFields, Checksum)> {
    let fields = FrameFields::decode(bytes, offset)?;
    let end = FIELDS_LENGTH + fields.payload_length as usize;
    let mark = bytes.get(end + Checksum::LENGTH..end + TRAILER_LENGTH)?;
    let sum = frame_checksum(key, before, &fields.encode(), &bytes[FIELDS_LENGTH..end]);
    (*mark == synced_mark(key, &sum.0).0).then_some((fields, sum))
}

/// Returns the checksum of the frame that ends at the index `at` of `bytes`. Returns `None` unless
/// the frame that begins there is valid after this checksum. At least one frame must fit before
/// `at`. `bytes` begin at `offset` in the log.
pub(super) fn checksum_before_valid_frame(
    key: &LogChecksumKey,
    bytes: &[u8],
    at: usize,
    offset: u64,
) -> Option<Checksum> {
    let offset = offset + at as u64;
    FrameFields::decode(&bytes[at..], offset)?;
    let (sum, _) = bytes[at - TRAILER_LENGTH..at].split_at(Checksum::LENGTH);
    let before = Checksum(sum.try_into().ok()?);
    verify_frame(key, &bytes[at..], offset, before).map(|_| before)
}
