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
//! A frame is written with its sum, then synced, and only then are its uploads acknowledged; the
//! mark, a sum over key and sum, is written after the sync. One frame is written at a time. So when
//! the file ends in a frame that does not verify, that frame was on its way as the machine stopped,
//! and nothing in it was acknowledged: it is cut off. Where its mark is there, or anything that was
//! written later, it had been synced, and what was on the disk has changed: that is damage, and is
//! told. (Of a frame that was synced just before the power went, the mark may be missing. If that
//! very frame is damaged as well, it passes for one that was on its way; cutting off is told, too.)

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::disk::{self, Written};
use super::frame::{
    CLOSE, FIELDS, Fields, HEADER, Header, Held, Logged, TRAILER, UPLOADS, closing, frame, logged,
    mark_of, payload, sum_of, was_synced,
};
use super::sum::Sum;
use crate::store::engine::{EngineError, Record};

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
