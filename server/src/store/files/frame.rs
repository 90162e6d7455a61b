//! Frames of a log as bytes: how they are encoded, verified and told from others.

use std::path::Path;

use super::disk;
use super::sum::{Sum, take};
use crate::store::engine::EngineError;

pub(super) const MAGIC: [u8; 8] = *b"hushlog\x01";
pub(super) const HEADER: usize = 8 + 16 + 8 + 8 + 16 + Sum::LENGTH;
const MARKER: [u8; 4] = *b"hush";
pub(super) const FIELDS: usize = 32;
/// Of a frame, what is neither fields nor payload.
pub(super) const TRAILER: usize = 2 * Sum::LENGTH;

pub(super) const UPLOADS: u32 = 1;
pub(super) const CLOSE: u32 = 2;

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Fingerprint of the task.
    pub(super) fingerprint: [u8; 16],
    /// Number of the batch.
    pub(super) batch: u64,
    /// When the batch was opened, in seconds since 1970.
    pub(super) opened: u64,
    pub(super) key: Key,
}

/// What sums of a log depend on, and nobody else knows.
pub(super) type Key = [u8; 16];

impl Header {
    /// That of a new log.
    ///
    /// # Errors
    /// When the operating system has no entropy.
    pub(super) fn new(fingerprint: [u8; 16], batch: u64, opened: u64) -> Result<Self, EngineError> {
        let mut key = Key::default();
        getrandom::fill(&mut key).map_err(EngineError::Entropy)?;
        Ok(Self {
            fingerprint,
            batch,
            opened,
            key,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.fingerprint);
        bytes.extend(self.batch.to_le_bytes());
        bytes.extend(self.opened.to_le_bytes());
        bytes.extend(self.key);
        let sum = Sum::of(&[&bytes]);
        bytes.extend(sum.0);
        bytes
    }

    /// The header of a log that begins with these bytes, with its sum.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Self, Sum), EngineError> {
        Self::decode(bytes)
            .ok_or_else(|| disk::damaged(path, "it does not begin as a log of this version does"))
    }

    /// The header, with its sum, if it is one.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, Sum)> {
        let (fields, mut sum) = bytes.split_at_checked(HEADER - Sum::LENGTH)?;
        let sum = Sum(take(&mut sum)?);
        let mut rest = fields;
        let magic: [u8; 8] = take(&mut rest)?;
        let header = Self {
            fingerprint: take(&mut rest)?,
            batch: u64::from_le_bytes(take(&mut rest)?),
            opened: u64::from_le_bytes(take(&mut rest)?),
            key: take(&mut rest)?,
        };
        (magic == MAGIC && sum == Sum::of(&[fields])).then_some((header, sum))
    }
}

/// The fields of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) kind: u32,
    /// Where the frame begins.
    pub(super) offset: u64,
    /// Of the payload.
    pub(super) length: u32,
    pub(super) uploads: u32,
    pub(super) reports: u32,
}

impl Fields {
    pub(super) fn encode(&self) -> [u8; FIELDS] {
        let mut bytes = [0; FIELDS];
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4..8].copy_from_slice(&self.kind.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.uploads.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.reports.to_le_bytes());
        let check = Sum::of(&[&bytes[..28]]);
        bytes[28..].copy_from_slice(&check.0[..4]);
        bytes
    }

    /// The fields of the frame that begins at `offset`, if one does.
    pub(super) fn decode(bytes: &[u8], offset: u64) -> Option<Self> {
        let mut rest = bytes.get(..FIELDS)?;
        let marker: [u8; 4] = take(&mut rest)?;
        let fields = Self {
            kind: u32::from_le_bytes(take(&mut rest)?),
            offset: u64::from_le_bytes(take(&mut rest)?),
            length: u32::from_le_bytes(take(&mut rest)?),
            uploads: u32::from_le_bytes(take(&mut rest)?),
            reports: u32::from_le_bytes(take(&mut rest)?),
        };
        let whole =
            marker == MARKER && fields.offset == offset && fields.encode() == bytes[..FIELDS];
        whole.then_some(fields)
    }
}

/// What a log holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) uploads: u64,
    pub(super) reports: u64,
}

impl Held {
    pub(super) fn add(&mut self, fields: &Fields) {
        self.uploads += u64::from(fields.uploads);
        self.reports += u64::from(fields.reports);
    }
}

/// One upload of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logged<'a> {
    pub(super) id: [u8; 16],
    pub(super) body: &'a [u8],
}

pub(super) fn payload<'a>(bytes: &'a [u8], fields: &Fields) -> &'a [u8] {
    let begin = fields.offset as usize + FIELDS;
    &bytes[begin..begin + fields.length as usize]
}

/// What a closing frame says that the log holds, and when it was closed.
pub(super) fn closing(bytes: &[u8], fields: &Fields) -> Option<(Held, u64)> {
    let mut rest = payload(bytes, fields);
    let mut number = || take(&mut rest).map(u64::from_le_bytes);
    let held = Held {
        uploads: number()?,
        reports: number()?,
    };
    Some((held, number()?))
}

pub(super) fn logged<'a>(payload: &mut &'a [u8]) -> Option<Logged<'a>> {
    let id = take(payload)?;
    let length = u32::from_le_bytes(take(payload)?) as usize;
    let (body, rest) = payload.split_at_checked(length)?;
    *payload = rest;
    Some(Logged { id, body })
}

/// The sum of a frame behind another.
pub(super) fn sum_of(key: &Key, before: Sum, fields: &[u8; FIELDS], payload: &[u8]) -> Sum {
    Sum::of(&[key, &before.0, fields, payload])
}

/// What stands behind a sum once it is known to be on the disk.
pub(super) fn mark_of(key: &Key, sum: &[u8]) -> Sum {
    Sum::of(&[key, b"synced", sum])
}

/// The frame that begins at `begin`, with its sum, if it verifies.
pub(super) fn frame(key: &Key, bytes: &[u8], begin: usize, before: Sum) -> Option<(Fields, Sum)> {
    let fields = Fields::decode(&bytes[begin..], begin as u64)?;
    let body = begin + FIELDS;
    let mut behind = bytes.get(body..)?.get(fields.length as usize..)?;
    let payload = &bytes[body..body + fields.length as usize];
    let sum = Sum(take(&mut behind)?);
    (sum == sum_of(key, before, &fields.encode(), payload)).then_some((fields, sum))
}

/// Whether a frame that does not verify had been synced: its mark is there, or a later frame.
pub(super) fn was_synced(key: &Key, bytes: &[u8], begin: usize, before: Sum) -> bool {
    // Written behind the frame, whatever of the frame has changed.
    let ends = bytes.last_chunk::<TRAILER>().is_some_and(|trailer| {
        let (sum, mark) = trailer.split_at(Sum::LENGTH);
        *mark == mark_of(key, sum).0
    });
    // Its sum may be what has changed.
    let marked = with_mark(key, bytes, begin, before).is_some();
    let later = |at| resumes(key, bytes, at).is_some();
    ends || marked || (begin + FIELDS + TRAILER..bytes.len()).any(later)
}

/// The frame that begins at `begin`, if it verifies by the mark behind it, with the sum that it
/// had.
pub(super) fn with_mark(
    key: &Key,
    bytes: &[u8],
    begin: usize,
    before: Sum,
) -> Option<(Fields, Sum)> {
    let fields = Fields::decode(&bytes[begin..], begin as u64)?;
    let body = begin + FIELDS;
    let end = body + fields.length as usize;
    let mark = bytes.get(end + Sum::LENGTH..end + TRAILER)?;
    let sum = sum_of(key, before, &fields.encode(), &bytes[body..end]);
    (*mark == mark_of(key, &sum.0).0).then_some((fields, sum))
}

/// The sum that stands before `at`, behind a frame at least, if a frame that begins there
/// verifies by it.
pub(super) fn resumes(key: &Key, bytes: &[u8], at: usize) -> Option<Sum> {
    Fields::decode(&bytes[at..], at as u64)?;
    let (sum, _) = bytes[at - TRAILER..at].split_at(Sum::LENGTH);
    let before = Sum(sum.try_into().ok()?);
    frame(key, bytes, at, before).map(|_| before)
}
