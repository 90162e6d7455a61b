//! The uploads of one batch, in a file that only grows.
//!
//! ```text
//! file   := header frame*
//! header := "hushlog\x01" fingerprint[16] batch[8] opened[8] key[16] sum
//! frame  := "hush" kind[4] offset[8] length[4] uploads[4] reports[4] check[4]
//!           payload[length] sum mark
//! ```
//!
//! Numbers are little endian; a check is over the fields before it, and a sum over the key, the
//! sum before it, the frame's fields and its payload, so that frames can be neither altered nor
//! exchanged. The key is random, so that nobody can send bytes that look like a frame. A frame holds one commit: its uploads in the order of their ids, so that not even
//! their order within a commit is kept. The last frame of a closed batch closes it.
//!
//! # What a frame that does not verify means
//!
//! A frame is written with its sum, then synced, and only then are its uploads acknowledged;
//! the mark, a sum over key and sum, is written after the sync. One frame is written at a time.
//! So when the file ends in a frame that does not verify, that frame was on its way as the
//! machine stopped, and nothing in it was acknowledged: it is cut off. Where its mark is
//! there, or anything that was written later, it had been synced, and what was on the disk has
//! changed: that is damage, and is told. (Of a frame that was synced just before the power
//! went, the mark may be missing. If that very frame is damaged as well, it passes for one that
//! was on its way; cutting off is told, too.)

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::disk::{self, Written};
use super::sum::{Sum, take};
use crate::store::engine::{EngineError, Record};

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

    fn encode(&self) -> Vec<u8> {
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
    fn read(path: &Path, bytes: &[u8]) -> Result<(Self, Sum), EngineError> {
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
    offset: u64,
    /// Of the payload.
    pub(super) length: u32,
    pub(super) uploads: u32,
    pub(super) reports: u32,
}

impl Fields {
    fn encode(&self) -> [u8; FIELDS] {
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
    fn add(&mut self, fields: &Fields) {
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

/// A log that has been read.
pub(super) struct Contents {
    bytes: Vec<u8>,
    pub(super) header: Header,
    frames: Vec<Fields>,
    pub(super) held: Held,
    /// When the batch was closed, in seconds since 1970.
    pub(super) closed: Option<u64>,
    /// Where the last frame that verifies ends.
    end: u64,
    sum: Sum,
}

impl Contents {
    /// Reads and verifies a log.
    ///
    /// # Errors
    /// When it cannot be read, is none, or is damaged.
    pub(super) fn read(path: &Path) -> Result<Self, EngineError> {
        let bytes = std::fs::read(path).map_err(|source| disk::error(path, source))?;
        Self::parse(path, bytes)
    }

    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, EngineError> {
        let (header, mut sum) = Header::read(path, &bytes)?;
        let (mut frames, mut held, mut closed) = (Vec::new(), Held::default(), None);
        let mut end = HEADER;
        while end < bytes.len() {
            let Some((fields, next)) = frame(&header.key, &bytes, end, sum) else {
                if was_synced(&header.key, &bytes, end, sum) {
                    return Err(disk::damaged(
                        path,
                        &format!("the commit at byte {end} has changed since it was written"),
                    ));
                }
                break;
            };
            if closed.is_some() {
                return Err(disk::damaged(
                    path,
                    "a commit follows the one that closes it",
                ));
            }
            match fields.kind {
                UPLOADS => held.add(&fields),
                CLOSE if closing(&bytes, &fields).is_some_and(|(all, _)| all == held) => {
                    closed = closing(&bytes, &fields).map(|(_, at)| at);
                }
                _ => {
                    return Err(disk::damaged(
                        path,
                        &format!("the commit at byte {end} is not one of this version"),
                    ));
                }
            }
            frames.push(fields);
            sum = next;
            // The mark of the last may be missing.
            end += FIELDS + fields.length as usize + TRAILER;
        }
        Ok(Self {
            end: end as u64,
            bytes,
            header,
            frames,
            held,
            closed,
            sum,
        })
    }

    /// Visits every upload, in the order of commits and, within one, of ids.
    ///
    /// # Errors
    /// When a payload is not made of uploads.
    pub(super) fn for_each(
        &self,
        path: &Path,
        mut visit: impl FnMut(Logged<'_>),
    ) -> Result<(), EngineError> {
        for fields in &self.frames {
            let mut payload = payload(&self.bytes, fields);
            if fields.kind != UPLOADS {
                continue;
            }
            for _ in 0..fields.uploads {
                let logged = logged(&mut payload)
                    .ok_or_else(|| disk::damaged(path, "a commit is shorter than its uploads"))?;
                visit(logged);
            }
        }
        Ok(())
    }

    /// Whether nothing was ever appended.
    pub(super) fn is_new(&self) -> bool {
        self.frames.is_empty() && self.torn() == 0
    }

    /// Bytes behind the last frame that verifies: of a commit that was on its way.
    pub(super) fn torn(&self) -> u64 {
        (self.bytes.len() as u64).saturating_sub(self.end)
    }
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
fn sum_of(key: &Key, before: Sum, fields: &[u8; FIELDS], payload: &[u8]) -> Sum {
    Sum::of(&[key, &before.0, fields, payload])
}

/// What stands behind a sum once it is known to be on the disk.
fn mark_of(key: &Key, sum: &[u8]) -> Sum {
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

/// The fingerprint of a log's task, of which nothing else is read.
///
/// # Errors
/// When it cannot be read, or is no log.
pub(super) fn fingerprint(path: &Path) -> Result<[u8; 16], EngineError> {
    let mut bytes = [0; HEADER];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut bytes, 0));
    read.map_err(|source| disk::error(path, source))?;
    Header::read(path, &bytes).map(|(header, _)| header.fingerprint)
}

/// A log that is written to.
#[derive(Debug)]
pub(super) struct Log {
    file: Written,
    pub(super) header: Header,
    pub(super) held: Held,
    /// Where the next frame begins; what lies behind is nothing.
    end: u64,
    sum: Sum,
    /// Whether something may lie behind the end, which could not be removed.
    spoilt: bool,
}

impl Log {
    /// Makes the log of a new batch, durably.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn create(path: &Path, header: Header) -> Result<Self, EngineError> {
        let bytes = header.encode();
        disk::write_whole(path, &bytes)?;
        let file = Written::open(path).map_err(|source| disk::error(path, source))?;
        let mut sum = [0; Sum::LENGTH];
        sum.copy_from_slice(&bytes[HEADER - Sum::LENGTH..]);
        Ok(Self {
            file,
            header,
            held: Held::default(),
            end: HEADER as u64,
            sum: Sum(sum),
            spoilt: false,
        })
    }

    /// The log that was read, to be written to again: without the commit that was on its way.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn resume(path: &Path, contents: &Contents) -> Result<Self, EngineError> {
        let failed = |source| disk::error(path, source);
        let mut log = Self {
            file: Written::open(path).map_err(failed)?,
            header: contents.header,
            held: contents.held,
            end: contents.end,
            sum: contents.sum,
            spoilt: false,
        };
        log.file.set_length(log.end).map_err(failed)?;
        // Frames that were written and never synced are acknowledged when they are sent again,
        // or rested on by what comes next, so they must be on the disk by then.
        log.file.sync().map_err(failed)?;
        if !contents.frames.is_empty() {
            log.put_mark(log.end - Sum::LENGTH as u64);
        }
        Ok(log)
    }

    /// Appends a commit, durably; nothing of it is there on an error.
    ///
    /// # Errors
    /// When the disk does not take it, or the file was removed.
    pub(super) fn append(&mut self, group: &[&Record]) -> Result<(), EngineError> {
        let mut records = group.to_vec();
        records.sort_unstable_by_key(|record| record.upload);
        let mut payload = Vec::new();
        for record in &records {
            payload.extend(record.upload);
            payload.extend((record.body.len() as u32).to_le_bytes());
            payload.extend(&record.body);
        }
        let reports = records.iter().map(|record| record.reports).sum();
        self.commit(UPLOADS, records.len() as u32, reports, &payload)
    }

    /// Closes the batch, durably: nothing can be appended to it any more.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub(super) fn close(&mut self, now: u64) -> Result<(), EngineError> {
        let Held { uploads, reports } = self.held;
        let payload = [uploads, reports, now].map(u64::to_le_bytes).concat();
        self.commit(CLOSE, 0, 0, &payload)
    }

    fn commit(
        &mut self,
        kind: u32,
        uploads: u32,
        reports: u32,
        payload: &[u8],
    ) -> Result<(), EngineError> {
        let length = u32::try_from(payload.len())
            .map_err(|_| self.failed(io::ErrorKind::FileTooLarge.into()))?;
        let fields = Fields {
            kind,
            offset: self.end,
            length,
            uploads,
            reports,
        };
        let head = fields.encode();
        let sum = sum_of(&self.header.key, self.sum, &head, payload);
        let bytes = [&head[..], payload, &sum.0].concat();
        self.write(&bytes).map_err(|source| self.failed(source))?;
        let end = self.end + bytes.len() as u64;
        self.sum = sum;
        self.put_mark(end);
        self.end = end + Sum::LENGTH as u64;
        self.held.add(&fields);
        Ok(())
    }

    /// Says of the last frame that it was synced, which need not itself be.
    fn put_mark(&mut self, at: u64) {
        self.spoilt = self.file.write(&self.mark().0, at).is_err();
    }

    fn failed(&self, source: io::Error) -> EngineError {
        disk::error(&self.file.path, source)
    }

    /// Writes and syncs at the end, or leaves nothing there.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spoilt {
            self.cut()?;
        }
        let written = self
            .file
            .write(bytes, self.end)
            .and_then(|()| self.file.sync())
            .and_then(|()| self.file.is_there());
        if written.is_err() {
            self.spoilt = self.cut().is_err();
        }
        written
    }

    /// What stands behind the last frame.
    fn mark(&self) -> Sum {
        mark_of(&self.header.key, &self.sum.0)
    }

    fn cut(&self) -> io::Result<()> {
        self.file.set_length(self.end)?;
        self.file.sync()
    }
}
