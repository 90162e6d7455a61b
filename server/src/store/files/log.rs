//! Log of the uploads of one batch, in a file that only grows.
//!
//! ```text
//! file   := header frame*
//! header := "hushlog\x01" fingerprint[16] batch[8] opened[8] key[16] sum
//! frame  := "hush" kind[4] offset[8] length[4] uploads[4] reports[4] check[4]
//!           payload[length] sum mark
//! ```
//!
//! Numbers are little endian. A check covers the fields before it. A checksum (`sum`) covers the
//! key, the checksum before it, the frame's fields and its payload. So frames can be neither
//! altered nor exchanged. The key is random, so that no client can send bytes that look like a
//! frame.
//!
//! A frame holds one commit. Its uploads are sorted by id, so that not even the order within a
//! commit is kept. The last frame of a closed batch closes it.
//!
//! # Frames that do not verify
//!
//! A frame is written with its checksum and then synced. Only then are its uploads acknowledged.
//! The mark, a checksum over the key and the frame's checksum, is written after the sync. Frames
//! are written one at a time.
//!
//! So if the file ends in a frame that does not verify, its write was interrupted, and nothing in
//! it was acknowledged. It is cut off. If its mark is there, or anything that was written later,
//! the frame had been synced and has changed since. That is damage, and is reported.
//!
//! One case remains. If the power fails just after a sync, the mark may be missing. If that very
//! frame is damaged as well, it passes for an interrupted one. Cutting off is reported, too.

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

/// Contents of a log.
pub(super) struct Contents {
    bytes: Vec<u8>,
    pub(super) header: Header,
    frames: Vec<Fields>,
    pub(super) held: Held,
    /// Time at which the batch was closed, in seconds since 1970, or `None` if it is open.
    pub(super) closed: Option<u64>,
    /// Offset at which the last frame that verifies ends.
    end: u64,
    sum: Sum,
}

impl Contents {
    /// Reads and verifies a log.
    ///
    /// # Errors
    /// When it cannot be read, is no log, or is damaged.
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
            // This may pass the end of the file, because the last mark may be missing.
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

    /// Visits every upload, in the order of commits and, within a commit, of ids.
    ///
    /// # Errors
    /// When a payload does not consist of uploads.
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

    /// Returns true if nothing was ever appended.
    pub(super) fn is_new(&self) -> bool {
        self.frames.is_empty() && self.torn() == 0
    }

    /// Returns the number of bytes after the last frame that verifies. They are of an interrupted
    /// commit.
    pub(super) fn torn(&self) -> u64 {
        (self.bytes.len() as u64).saturating_sub(self.end)
    }
}

/// Returns the fingerprint of a log's task. Reads only the header.
///
/// # Errors
/// When it cannot be read, or is no log.
pub(super) fn fingerprint(path: &Path) -> Result<[u8; 16], EngineError> {
    let mut bytes = [0; HEADER];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut bytes, 0));
    read.map_err(|source| disk::error(path, source))?;
    Header::read(path, &bytes).map(|(header, _)| header.fingerprint)
}

/// A log that is open for writing.
#[derive(Debug)]
pub(super) struct Log {
    file: Written,
    pub(super) header: Header,
    pub(super) held: Held,
    /// Offset of the next frame, and end of the valid data.
    end: u64,
    sum: Sum,
    /// True if something may follow the end, because it could not be removed.
    spoilt: bool,
}

impl Log {
    /// Creates the log of a new batch, durably.
    ///
    /// # Errors
    /// When it cannot be created.
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

    /// Opens a log that was read, to be written to. Cuts off an interrupted commit.
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
        // A frame may have been written and never synced. Its uploads are acknowledged as
        // duplicates when they are sent again, and later frames build on it. So it must be on the
        // disk by then.
        log.file.sync().map_err(failed)?;
        if !contents.frames.is_empty() {
            log.put_mark(log.end - Sum::LENGTH as u64);
        }
        Ok(log)
    }

    /// Appends a commit, durably. Nothing of it is stored on an error.
    ///
    /// # Errors
    /// When the disk does not take it, or the file was removed.
    pub(super) fn append(&mut self, group: &[&Record]) -> Result<(), EngineError> {
        let mut records = group.to_vec();
        // Sorted, so that the order of arrival is not kept.
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

    /// Closes the batch, durably. Nothing can be appended to it any more.
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
        // Written after the sync, because a mark proves that its frame is on the disk.
        self.put_mark(end);
        self.end = end + Sum::LENGTH as u64;
        self.held.add(&fields);
        Ok(())
    }

    /// Marks the last frame as synced. The mark itself need not be synced.
    fn put_mark(&mut self, at: u64) {
        // A failed write may be there in part. The next commit cuts the file to its end first.
        self.spoilt = self.file.write(&self.mark().0, at).is_err();
    }

    fn failed(&self, source: io::Error) -> EngineError {
        disk::error(&self.file.path, source)
    }

    /// Writes and syncs at the end. On an error, cuts off what was written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spoilt {
            self.cut()?;
        }
        let written = self
            .file
            .write(bytes, self.end)
            .and_then(|()| self.file.sync())
            // No start would find the data in a file that was removed.
            .and_then(|()| self.file.is_there());
        if written.is_err() {
            self.spoilt = self.cut().is_err();
        }
        written
    }

    /// Computes the mark of the last frame.
    fn mark(&self) -> Sum {
        mark_of(&self.header.key, &self.sum.0)
    }

    fn cut(&self) -> io::Result<()> {
        self.file.set_length(self.end)?;
        self.file.sync()
    }
}
