//! Commits of a log that verify, regardless of damage between them.

use std::ops::Range;

use hushbin::codec::Cursor;

use crate::store::engine::UploadRecord;
use crate::store::files::frame::{
    CLOSE_KIND, FIELDS_LENGTH, FrameFields, HEADER_LENGTH, LogHeader, TRAILER_LENGTH, UPLOADS_KIND,
    checksum_before, payload, read_closing, read_upload, verify_by_mark, verify_frame, was_synced,
};

/// Data found in a log.
pub(super) struct RecoveredLog {
    pub(super) header: LogHeader,
    /// Uploads of the commits that verify.
    pub(super) records: Vec<UploadRecord>,
    /// Byte ranges that do not verify.
    pub(super) lost: Vec<Range<usize>>,
    /// Numbers of uploads and reports in these ranges, or `None` if they are unknown.
    pub(super) known: Option<(u64, u64)>,
}

/// Finds the data in the bytes of a log. Returns `None` if the header does not verify.
pub(super) fn recover(bytes: &[u8]) -> Option<RecoveredLog> {
    let (header, mut before) = LogHeader::decode(bytes)?;
    let mut pieces = RecoveredLog {
        header,
        records: Vec::new(),
        lost: Vec::new(),
        known: Some((0, 0)),
    };
    let key = &header.key;
    let mut closed = None;
    let (mut uploads, mut reports) = (0, 0);
    let mut at = HEADER_LENGTH;
    while at < bytes.len() {
        let verified =
            verify_frame(key, bytes, at, before).or_else(|| verify_by_mark(key, bytes, at, before));
        let records = verified.and_then(|(fields, _)| records(bytes, &fields));
        if let (Some((fields, sum)), Some(records)) = (verified, records) {
            if fields.kind == CLOSE_KIND {
                closed = read_closing(bytes, &fields).map(|(counts, _)| counts);
            }
            uploads += u64::from(fields.uploads);
            reports += u64::from(fields.reports);
            pieces.records.extend(records);
            before = sum;
            at += FIELDS_LENGTH + fields.length as usize + TRAILER_LENGTH;
            continue;
        }
        let later = (at + FIELDS_LENGTH + TRAILER_LENGTH..bytes.len()).find_map(|later| {
            let before = checksum_before(key, bytes, later)?;
            Some((later, before))
        });
        let end = match later {
            Some((end, _)) => end,
            // The write was interrupted, and nothing in it was acknowledged.
            None if !was_synced(key, bytes, at, before) => break,
            None => bytes.len(),
        };
        let told = count_lost(bytes, at..end);
        pieces.known = pieces
            .known
            .zip(told)
            .map(|(all, more)| (all.0 + more.0, all.1 + more.1));
        pieces.lost.push(at..end);
        let Some((end, sum)) = later else { break };
        (at, before) = (end, sum);
    }
    if let Some(counts) = closed {
        // The closing frame contains the number that there were.
        pieces.known = counts
            .uploads
            .checked_sub(uploads)
            .zip(counts.reports.checked_sub(reports));
    }
    Some(pieces)
}

/// Returns the uploads of a frame that verifies, or `None` if it is not of this version.
fn records(bytes: &[u8], fields: &FrameFields) -> Option<Vec<UploadRecord>> {
    match fields.kind {
        UPLOADS_KIND => {}
        CLOSE_KIND => return read_closing(bytes, fields).map(|_| Vec::new()),
        _ => return None,
    }
    let mut payload = payload(bytes, fields);
    let record = |_| {
        let logged = read_upload(&mut payload)?;
        let reports = Cursor::new("upload", logged.body).read("expected a number");
        Some(UploadRecord {
            id: logged.id,
            reports: reports.ok()?,
            body: logged.body.to_vec(),
        })
    };
    (0..fields.uploads).map(record).collect()
}

/// Counts uploads and reports in frames that do not verify. Returns `None` if the fields are
/// damaged.
fn count_lost(bytes: &[u8], lost: Range<usize>) -> Option<(u64, u64)> {
    let (mut uploads, mut reports) = (0, 0);
    let mut at = lost.start;
    while at < lost.end {
        let fields = FrameFields::decode(&bytes[at..], at as u64)?;
        uploads += u64::from(fields.uploads);
        reports += u64::from(fields.reports);
        at += FIELDS_LENGTH + fields.length as usize + TRAILER_LENGTH;
    }
    // This may pass the end of the range, because the last mark may be missing.
    (at <= lost.end + TRAILER_LENGTH).then_some((uploads, reports))
}
