//! Log of the uploads of one batch, in a file that only grows.
//!
//! ```text
//! file   := header frame*
//! header := "hushlog\x01" fingerprint[16] batch[8] opened[8] key[16] sum
//! frame  := "hush" kind[4] offset[8] length[4] uploads[4] reports[4] check[4]
//!           payload[length] sum mark
//! ```
//!
//! Numbers are little endian. The value `check` covers the fields before it. A frame's checksum,
//! `sum`, covers the key, the previous checksum, the frame's fields and its payload. So a frame
//! that was altered or exchanged is noticed. The key is random, so that no client can send bytes
//! that look like a frame.
//!
//! A frame holds one commit. Its uploads are sorted by id, so that not even the order within a
//! commit is kept. The last frame of a closed batch closes it.
//!
//! # Invalid frames
//!
//! A frame is written with its checksum and then synced. Only then are its uploads acknowledged.
//! The mark, a checksum over the key and the frame's checksum, is written after the sync. Frames
//! are written one at a time.
//!
//! If the file ends in an invalid frame without a mark, the write of the frame was interrupted, and
//! nothing in it was acknowledged. The frame is cut off. If the frame's mark, or anything that was
//! written later, is in the file, the frame had been synced and has changed since. This is damage,
//! and is reported.
//!
//! One case remains. If the power fails just after a sync, the mark may be missing. If this last
//! frame is then damaged as well, it is mistaken for an interrupted frame. So cutting off a frame
//! is reported as well.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::checksum::Checksum;
use super::disk::{self, WritableFile};
use super::frame::{
    CLOSE_KIND, FIELDS_LENGTH, FrameFields, LOG_HEADER_LENGTH, LogHeader, LoggedUpload,
    SHARED_BATCH, SHARED_KIND, UPLOADS_KIND, UploadCounts, frame_checksum, payload,
    read_closing_payload, read_upload, synced_mark, verify_frame, was_synced,
};
use crate::store::engine::{EngineError, UploadRecord};

/// Frames that may be missing from a log, by offset. Several may have been written for one offset.
pub(super) type FramesByOffset = BTreeMap<u64, Vec<Vec<u8>>>;

/// Contents of a log, verified. The uploads stay in the file, so that a log may be larger than the
/// memory: at most one commit is read at a time.
pub(super) struct LogContents {
    file: File,
    pub(super) header: LogHeader,
    /// Fields of all valid frames, each with the checksum before it.
    frames: Vec<(FrameFields, Checksum)>,
    /// Valid frames that the file lacks, by offset. Each ends in a mark.
    pub(super) missing_frames: BTreeMap<u64, Vec<u8>>,
    pub(super) counts: UploadCounts,
    /// Time at which the batch was closed, in seconds since 1970, or `None` if it is open.
    pub(super) closed_at: Option<u64>,
    /// Offset of the end of the last valid frame.
    valid_length: u64,
    /// Length of the log in bytes, with the missing frames.
    length: u64,
    last_checksum: Checksum,
}

impl LogContents {
    /// Reads and verifies a log.
    ///
    /// # Errors
    /// When the file cannot be read, is not a log, or is damaged.
    pub(super) fn read(path: &Path) -> Result<Self, EngineError> {
        Self::read_with_missing(path, &FramesByOffset::new())
    }

    /// Reads and verifies a log. Where the valid frames end, adds the frame of `candidates`
    /// that continues them.
    ///
    /// # Errors
    /// As [`LogContents::read`].
    pub(super) fn read_with_missing(
        path: &Path,
        candidates: &FramesByOffset,
    ) -> Result<Self, EngineError> {
        match Self::read_valid_frames(path, candidates)? {
            (log, None) => Ok(log),
            (_, Some(damage)) => Err(disk::damage_error(path, &damage)),
        }
    }

    /// Reads the valid frames of a log, as [`LogContents::read_with_missing`] does. Also returns the
    /// first damage of the log.
    ///
    /// # Errors
    /// When the file cannot be read or is not a log.
    pub(super) fn read_valid_frames(
        path: &Path,
        candidates: &FramesByOffset,
    ) -> Result<(Self, Option<String>), EngineError> {
        let failed = |source| disk::file_error(path, source);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let begin = read_at_most(&file, 0, LOG_HEADER_LENGTH).map_err(failed)?;
        let (header, last_checksum) = LogHeader::read(path, &begin)?;
        let mut log = Self {
            file,
            header,
            frames: Vec::new(),
            missing_frames: BTreeMap::new(),
            counts: UploadCounts::default(),
            closed_at: None,
            valid_length: LOG_HEADER_LENGTH as u64,
            length,
            last_checksum,
        };
        let mut damage = None;
        while let Some((fields, sum, frame)) = log.read_next_frame(candidates).map_err(failed)? {
            let problem = log.add_frame(fields, sum, payload(&frame, &fields));
            damage = damage.or(problem);
        }
        if damage.is_none() && log.valid_length < log.length {
            let (key, end) = (&log.header.checksum_key, log.valid_length);
            let rest = read_at_most(&log.file, end, (log.length - end) as usize).map_err(failed)?;
            if was_synced(key, &rest, end, log.last_checksum) {
                damage = Some(format!(
                    "the commit at byte {end} has changed since it was written"
                ));
            }
        }
        Ok((log, damage))
    }

    /// Reads the frame after the valid frames, from the file or from `candidates`. Returns the frame
    /// with its fields and its checksum, or `None` if no valid frame follows.
    fn read_next_frame(
        &mut self,
        candidates: &FramesByOffset,
    ) -> io::Result<Option<(FrameFields, Checksum, Vec<u8>)>> {
        let (key, at, before) = (
            self.header.checksum_key,
            self.valid_length,
            self.last_checksum,
        );
        let verify = |frame: &[u8]| verify_frame(&key, frame, at, before);
        let frame = read_frame(&self.file, at)?;
        if let Some((fields, sum)) = verify(&frame) {
            return Ok(Some((fields, sum, frame)));
        }
        let fitting = candidates.get(&at).into_iter().flatten().rev();
        let mut fitting = fitting.filter_map(|frame| Some((frame, verify(frame)?)));
        let Some((frame, (fields, sum))) = fitting.next() else {
            return Ok(None);
        };
        let marked = [&frame[..], &synced_mark(&key, &sum.0).0].concat();
        self.length = self.length.max(at + marked.len() as u64);
        self.missing_frames.insert(at, marked.clone());
        Ok(Some((fields, sum, marked)))
    }

    /// Adds a valid frame. Returns the damage if the frame does not belong in its place.
    fn add_frame(&mut self, fields: FrameFields, sum: Checksum, payload: &[u8]) -> Option<String> {
        let at = fields.offset;
        let mut damage = None;
        if self.closed_at.is_some() {
            damage = Some("a commit follows the one that closes it".to_owned());
        }
        let is_shared = self.header.batch == SHARED_BATCH;
        match (fields.kind, read_closing_payload(payload)) {
            (UPLOADS_KIND, _) if !is_shared => self.counts.add_frame(&fields),
            (SHARED_KIND, _) if is_shared => self.counts.add_frame(&fields),
            (CLOSE_KIND, Some((all, closed))) if all == self.counts => {
                self.closed_at = Some(closed);
            }
            _ => {
                let what = format!("the commit at byte {at} is not one of this version");
                damage = damage.or(Some(what));
            }
        }
        self.frames.push((fields, self.last_checksum));
        self.last_checksum = sum;
        // This may pass the end of the file, because the last mark may be missing.
        self.valid_length += fields.frame_length() as u64;
        damage
    }

    /// Visits every upload in the log, commit by commit. Within a commit, uploads are sorted by id.
    ///
    /// # Errors
    /// When a commit cannot be read again, or does not consist of uploads.
    pub(super) fn for_each_upload(
        &self,
        path: &Path,
        mut visit: impl FnMut(LoggedUpload<'_>),
    ) -> Result<(), EngineError> {
        self.for_each_payload(path, |fields, mut payload| {
            // A closing frame has no uploads.
            for _ in 0..fields.uploads {
                let logged = read_upload(&mut payload).ok_or_else(|| {
                    disk::damage_error(path, "a commit is shorter than its uploads")
                })?;
                visit(logged);
            }
            Ok(())
        })
    }

    /// Visits the payloads of all valid frames.
    ///
    /// # Errors
    /// When a frame cannot be read again, or when the visitor fails.
    pub(super) fn for_each_payload(
        &self,
        path: &Path,
        mut visit: impl FnMut(&FrameFields, &[u8]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for (fields, before) in &self.frames {
            let frame = self.read_valid_frame(fields);
            let frame = frame.map_err(|source| disk::file_error(path, source))?;
            let key = &self.header.checksum_key;
            // Verified again, since the file may have changed.
            if verify_frame(key, &frame, fields.offset, *before).is_none() {
                let at = fields.offset;
                let what = format!("the commit at byte {at} has changed since it was written");
                return Err(disk::damage_error(path, &what));
            }
            visit(fields, payload(&frame, fields))?;
        }
        Ok(())
    }

    /// Reads a valid frame again.
    fn read_valid_frame(&self, fields: &FrameFields) -> io::Result<Cow<'_, [u8]>> {
        match self.missing_frames.get(&fields.offset) {
            Some(frame) => Ok(Cow::Borrowed(frame)),
            None => read_at_most(&self.file, fields.offset, fields.frame_length()).map(Cow::Owned),
        }
    }

    /// Returns the valid frames at these offsets, each with its offset.
    ///
    /// # Errors
    /// When a frame cannot be read again.
    pub(super) fn frames_at<'a>(
        &'a self,
        offsets: &'a FramesByOffset,
    ) -> impl Iterator<Item = io::Result<(u64, Cow<'a, [u8]>)>> {
        let frames = self.frames.iter().map(|(fields, _)| fields);
        let wanted = frames.filter(|fields| offsets.contains_key(&fields.offset));
        wanted.map(|fields| Ok((fields.offset, self.read_valid_frame(fields)?)))
    }

    /// Returns true if nothing was ever appended to the log.
    pub(super) fn is_new(&self) -> bool {
        self.frames.is_empty() && self.invalid_end_length() == 0
    }

    /// Returns the number of bytes after the last valid frame. They are left over from an
    /// interrupted commit.
    pub(super) fn invalid_end_length(&self) -> u64 {
        self.length.saturating_sub(self.valid_length)
    }
}

/// Reads the frame at `offset`, or fewer bytes if there is no whole frame.
fn read_frame(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let begin = read_at_most(file, offset, FIELDS_LENGTH)?;
    match FrameFields::decode(&begin, offset) {
        Some(fields) => read_at_most(file, offset, fields.frame_length()),
        None => Ok(begin),
    }
}

/// Reads `length` bytes at `offset`, or fewer if the file ends before.
fn read_at_most(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let (mut bytes, mut found) = (vec![0; length], 0);
    while found < length {
        match file.read_at(&mut bytes[found..], offset + found as u64) {
            Ok(0) => break,
            Ok(more) => found += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(found);
    Ok(bytes)
}

/// Returns the fingerprint of a log's task. Reads only the header.
///
/// # Errors
/// When the file cannot be read, or is not a log.
pub(super) fn task_fingerprint(path: &Path) -> Result<[u8; 16], EngineError> {
    let mut bytes = [0; LOG_HEADER_LENGTH];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut bytes, 0));
    read.map_err(|source| disk::file_error(path, source))?;
    LogHeader::read(path, &bytes).map(|(header, _)| header.fingerprint)
}

/// Frame that is encoded for the end of a log.
#[derive(Debug)]
pub(super) struct EncodedFrame {
    pub(super) fields: FrameFields,
    sum: Checksum,
    /// Fields, payload and checksum, without the mark.
    pub(super) bytes: Vec<u8>,
}

/// A log that is open for writing.
#[derive(Debug)]
pub(super) struct UploadLog {
    file: WritableFile,
    pub(super) header: LogHeader,
    pub(super) counts: UploadCounts,
    /// End of the valid data, which is the offset of the next frame.
    pub(super) valid_length: u64,
    last_checksum: Checksum,
    /// True if stray bytes may follow the end, because truncating the file or writing a mark
    /// failed.
    may_have_stray_bytes: bool,
}

impl UploadLog {
    /// Creates the log of a new batch, durably.
    ///
    /// # Errors
    /// When the log cannot be created.
    pub(super) fn create(path: &Path, header: LogHeader) -> Result<Self, EngineError> {
        let bytes = header.encode();
        disk::write_atomically(path, &bytes)?;
        let file = WritableFile::open(path).map_err(|source| disk::file_error(path, source))?;
        let mut sum = [0; Checksum::LENGTH];
        sum.copy_from_slice(&bytes[LOG_HEADER_LENGTH - Checksum::LENGTH..]);
        Ok(Self {
            file,
            header,
            counts: UploadCounts::default(),
            valid_length: LOG_HEADER_LENGTH as u64,
            last_checksum: Checksum(sum),
            may_have_stray_bytes: false,
        })
    }

    /// Opens a log for writing, after it was read as `contents`. Cuts off an interrupted commit at
    /// the end.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub(super) fn resume(path: &Path, contents: &LogContents) -> Result<Self, EngineError> {
        let failed = |source| disk::file_error(path, source);
        let mut log = Self {
            file: WritableFile::open(path).map_err(failed)?,
            header: contents.header,
            counts: contents.counts,
            valid_length: contents.valid_length,
            last_checksum: contents.last_checksum,
            may_have_stray_bytes: false,
        };
        log.file.set_length(log.valid_length).map_err(failed)?;
        // A frame may have been written and never synced. Its uploads are acknowledged as
        // duplicates when they are sent again, and later frames build on it. So it must be on the
        // disk by then.
        log.file.sync().map_err(failed)?;
        if !contents.frames.is_empty() {
            log.write_synced_mark(log.valid_length - Checksum::LENGTH as u64);
        }
        Ok(log)
    }

    /// Appends uploads in one commit, durably. On an error, none of the uploads is stored.
    ///
    /// # Errors
    /// When writing to the disk fails, or the file was removed.
    pub(super) fn append_commit(&mut self, group: &[&UploadRecord]) -> Result<(), EngineError> {
        let frame = self.encode_commit(group)?;
        self.append_frame(&frame)
    }

    /// Encodes a commit, as the next frame of this log. Writes nothing.
    ///
    /// # Errors
    /// When the commit has more than 4 GiB.
    pub(super) fn encode_commit(
        &self,
        group: &[&UploadRecord],
    ) -> Result<EncodedFrame, EngineError> {
        let mut records = group.to_vec();
        // Sorted, so that the order of arrival is not kept.
        records.sort_unstable_by_key(|record| record.id);
        let mut payload = Vec::new();
        for record in &records {
            payload.extend(record.id);
            payload.extend((record.body.len() as u32).to_le_bytes());
            payload.extend(&record.body);
        }
        let reports = records.iter().map(|record| record.report_count).sum();
        self.encode_frame(UPLOADS_KIND, records.len() as u32, reports, &payload)
    }

    /// Closes the batch, durably. Nothing can be appended to it any more.
    ///
    /// # Errors
    /// As [`UploadLog::append_commit`].
    pub(super) fn write_closing_frame(&mut self, now: u64) -> Result<(), EngineError> {
        let UploadCounts { uploads, reports } = self.counts;
        let payload = [uploads, reports, now].map(u64::to_le_bytes).concat();
        let frame = self.encode_frame(CLOSE_KIND, 0, 0, &payload)?;
        self.append_frame(&frame)
    }

    /// Appends frames of other logs in one frame, durably. The log is the shared log.
    ///
    /// # Errors
    /// As [`UploadLog::append_commit`].
    pub(super) fn append_shared_frames(&mut self, payload: &[u8]) -> Result<(), EngineError> {
        let frame = self.encode_frame(SHARED_KIND, 0, 0, payload)?;
        self.append_frame(&frame)
    }

    fn encode_frame(
        &self,
        kind: u32,
        uploads: u32,
        reports: u32,
        payload: &[u8],
    ) -> Result<EncodedFrame, EngineError> {
        let length = u32::try_from(payload.len())
            .map_err(|_| self.to_engine_error(io::ErrorKind::FileTooLarge.into()))?;
        let fields = FrameFields {
            kind,
            offset: self.valid_length,
            payload_length: length,
            uploads,
            reports,
        };
        let head = fields.encode();
        let sum = frame_checksum(
            &self.header.checksum_key,
            self.last_checksum,
            &head,
            payload,
        );
        let bytes = [&head[..], payload, &sum.0].concat();
        Ok(EncodedFrame { fields, sum, bytes })
    }

    /// Writes a frame, syncs it, and then writes its mark.
    fn append_frame(&mut self, frame: &EncodedFrame) -> Result<(), EngineError> {
        self.write_frame(frame)?;
        if let Err(source) = self.file.sync() {
            self.discard_frame();
            return Err(self.to_engine_error(source));
        }
        self.accept_frame(frame);
        Ok(())
    }

    /// Writes a frame at the end of the log, without a sync. Then [`UploadLog::accept_frame`] or
    /// [`UploadLog::discard_frame`] must follow.
    ///
    /// # Errors
    /// When writing to the disk fails, or the file was removed. The frame is discarded then.
    pub(super) fn write_frame(&mut self, frame: &EncodedFrame) -> Result<(), EngineError> {
        let ready = match self.may_have_stray_bytes {
            true => self.cut_off_invalid_end(),
            false => Ok(()),
        };
        let written = ready
            .and_then(|()| self.file.write(&frame.bytes, self.valid_length))
            .and_then(|()| self.file.check_in_place());
        if written.is_err() {
            self.discard_frame();
        }
        written.map_err(|source| self.to_engine_error(source))
    }

    /// Makes a written frame part of the log, and writes its mark. The frame must be on the disk:
    /// in this log, or in the shared log.
    pub(super) fn accept_frame(&mut self, frame: &EncodedFrame) {
        let end = self.valid_length + frame.bytes.len() as u64;
        self.last_checksum = frame.sum;
        // Written after the sync, because a mark proves that its frame is on the disk.
        self.write_synced_mark(end);
        self.valid_length = end + Checksum::LENGTH as u64;
        self.counts.add_frame(&frame.fields);
    }

    /// Cuts off a frame that was written.
    pub(super) fn discard_frame(&mut self) {
        self.may_have_stray_bytes = self.cut_off_invalid_end().is_err();
    }

    /// Syncs the log.
    ///
    /// # Errors
    /// When the sync fails.
    pub(super) fn sync(&self) -> Result<(), EngineError> {
        self.file
            .sync()
            .map_err(|source| self.to_engine_error(source))
    }

    /// Writes the last frame's mark to the offset `at`. The mark need not be synced.
    fn write_synced_mark(&mut self, at: u64) {
        // After a failed write, a part of the mark may be in the file. The next commit cuts the
        // file to its end first.
        self.may_have_stray_bytes = self.file.write(&self.last_frame_mark().0, at).is_err();
    }

    fn to_engine_error(&self, source: io::Error) -> EngineError {
        disk::file_error(&self.file.path, source)
    }

    /// Checks that the log is where the next start looks for it. If `test_growth` is true, also
    /// checks that the log can grow, by bytes that are cut off again.
    ///
    /// # Errors
    /// When a commit would fail as well.
    pub(super) fn probe(&mut self, test_growth: bool) -> Result<(), EngineError> {
        let checked = self.file.check_in_place().and_then(|()| {
            if !test_growth {
                return Ok(());
            }
            self.may_have_stray_bytes = true;
            let grown = self.file.write(&[0; disk::PROBE_BYTES], self.valid_length);
            self.cut_off_invalid_end()?;
            self.may_have_stray_bytes = false;
            grown
        });
        checked.map_err(|source| self.to_engine_error(source))
    }

    /// Computes the mark of the last frame.
    fn last_frame_mark(&self) -> Checksum {
        synced_mark(&self.header.checksum_key, &self.last_checksum.0)
    }

    /// Truncates the file to the end of the valid data, durably.
    fn cut_off_invalid_end(&self) -> io::Result<()> {
        self.file.set_length(self.valid_length)?;
        self.file.sync()
    }
}
