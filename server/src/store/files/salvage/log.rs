//! Commits of a log that verify, regardless of damage between them.

use std::ops::Range;

use hushbin::codec::Cursor;

use crate::store::engine::Record;
use crate::store::files::frame::{
    CLOSE, FIELDS, Fields, HEADER, Header, TRAILER, UPLOADS, closing, frame, logged, payload,
    resumes, was_synced, with_mark,
};

/// Data found in a log.
pub(super) struct Pieces {
    pub(super) header: Header,
    /// Uploads of the commits that verify.
    pub(super) records: Vec<Record>,
    /// Byte ranges that do not verify.
    pub(super) lost: Vec<Range<usize>>,
    /// Numbers of uploads and reports in these ranges, or `None` if they are unknown.
    pub(super) known: Option<(u64, u64)>,
}

/// Finds the data in the bytes of a log. Returns `None` if the header does not verify.
pub(super) fn pieces(bytes: &[u8]) -> Option<Pieces> {
    let (header, mut before) = Header::decode(bytes)?;
    let mut pieces = Pieces {
        header,
        records: Vec::new(),
        lost: Vec::new(),
        known: Some((0, 0)),
    };
    let key = &header.key;
    let mut closed = None;
    let (mut uploads, mut reports) = (0, 0);
    let mut at = HEADER;
    while at < bytes.len() {
        let verified = frame(key, bytes, at, before).or_else(|| with_mark(key, bytes, at, before));
        let records = verified.and_then(|(fields, _)| records(bytes, &fields));
        if let (Some((fields, sum)), Some(records)) = (verified, records) {
            if fields.kind == CLOSE {
                closed = closing(bytes, &fields).map(|(held, _)| held);
            }
            uploads += u64::from(fields.uploads);
            reports += u64::from(fields.reports);
            pieces.records.extend(records);
            before = sum;
            at += FIELDS + fields.length as usize + TRAILER;
            continue;
        }
        let later = (at + FIELDS + TRAILER..bytes.len()).find_map(|later| {
            let before = resumes(key, bytes, later)?;
            Some((later, before))
        });
        let end = match later {
            Some((end, _)) => end,
            // The write was interrupted, and nothing in it was acknowledged.
            None if !was_synced(key, bytes, at, before) => break,
            None => bytes.len(),
        };
        let told = told(bytes, at..end);
        pieces.known = pieces
            .known
            .zip(told)
            .map(|(all, more)| (all.0 + more.0, all.1 + more.1));
        pieces.lost.push(at..end);
        let Some((end, sum)) = later else { break };
        (at, before) = (end, sum);
    }
    if let Some(held) = closed {
        // The closing frame contains the number that there were.
        pieces.known = held
            .uploads
            .checked_sub(uploads)
            .zip(held.reports.checked_sub(reports));
    }
    Some(pieces)
}

/// Returns the uploads of a frame that verifies, or `None` if it is not of this version.
fn records(bytes: &[u8], fields: &Fields) -> Option<Vec<Record>> {
    match fields.kind {
        UPLOADS => {}
        CLOSE => return closing(bytes, fields).map(|_| Vec::new()),
        _ => return None,
    }
    let mut payload = payload(bytes, fields);
    let record = |_| {
        let logged = logged(&mut payload)?;
        let reports = Cursor::new("upload", logged.body).take("expected a number");
        Some(Record {
            upload: logged.id,
            reports: reports.ok()?,
            body: logged.body.to_vec(),
        })
    };
    (0..fields.uploads).map(record).collect()
}

/// Counts uploads and reports in frames that do not verify. Returns `None` if the fields are
/// damaged.
fn told(bytes: &[u8], lost: Range<usize>) -> Option<(u64, u64)> {
    let (mut uploads, mut reports) = (0, 0);
    let mut at = lost.start;
    while at < lost.end {
        let fields = Fields::decode(&bytes[at..], at as u64)?;
        uploads += u64::from(fields.uploads);
        reports += u64::from(fields.reports);
        at += FIELDS + fields.length as usize + TRAILER;
    }
    // This may pass the end of the range, because the last mark may be missing.
    (at <= lost.end + TRAILER).then_some((uploads, reports))
}
