//! Recovers the valid commits in a damaged log, including those after the damage.

use std::ops::Range;

use crate::store::engine::UploadRecord;
use crate::store::files::frame::{
    CLOSE_KIND, FIELDS_LENGTH, FrameFields, LOG_HEADER_LENGTH, LogHeader, LoggedUpload,
    TRAILER_LENGTH, UPLOADS_KIND, checksum_before_valid_frame, payload, read_closing_payload,
    read_upload, verify_by_mark, verify_frame, was_synced,
};

/// Data recovered from a damaged log.
pub(super) struct RecoveredLog {
    pub(super) header: LogHeader,
    /// Uploads in valid commits.
    pub(super) records: Vec<UploadRecord>,
    /// Byte ranges of the log that contain no valid commit.
    pub(super) lost_ranges: Vec<Range<usize>>,
    /// Number of uploads and number of reports that were in the ranges `lost`, or `None` if
    /// unknown.
    pub(super) lost_counts: Option<(u64, u64)>,
}

/// Function that returns the number of reports in an upload, or `None` if the upload is invalid.
pub(super) type CountReports<'a> = dyn Fn(&LoggedUpload<'_>) -> Option<u32> + 'a;

/// Finds the valid commits in the bytes of a log. Returns `None` if the log's header is invalid.
pub(super) fn recover_log(bytes: &[u8], report_count: &CountReports<'_>) -> Option<RecoveredLog> {
    let (header, mut before) = LogHeader::decode(bytes)?;
    let mut pieces = RecoveredLog {
        header,
        records: Vec::new(),
        lost_ranges: Vec::new(),
        lost_counts: Some((0, 0)),
    };
    let key = &header.checksum_key;
    let mut closed = None;
    let (mut uploads, mut reports) = (0, 0);
    let mut at = LOG_HEADER_LENGTH;
    while at < bytes.len() {
        let (frame, offset) = (&bytes[at..], at as u64);
        let verified = verify_frame(key, frame, offset, before)
            .or_else(|| verify_by_mark(key, frame, offset, before));
        let records =
            verified.and_then(|(fields, _)| uploads_in_frame(frame, &fields, report_count));
        if let (Some((fields, sum)), Some(records)) = (verified, records) {
            if fields.kind == CLOSE_KIND {
                closed = read_closing_payload(payload(frame, &fields)).map(|(counts, _)| counts);
            }
            uploads += u64::from(fields.uploads);
            reports += u64::from(fields.reports);
            pieces.records.extend(records);
            before = sum;
            at += fields.frame_length();
            continue;
        }
        // A later frame begins after the shortest possible frame at the earliest.
        let later = (at + FIELDS_LENGTH + TRAILER_LENGTH..bytes.len()).find_map(|later| {
            let before = checksum_before_valid_frame(key, bytes, later, 0)?;
            Some((later, before))
        });
        let end = match later {
            Some((end, _)) => end,
            // The write was interrupted, and nothing in it was acknowledged.
            None if !was_synced(key, frame, offset, before) => break,
            None => bytes.len(),
        };
        let told = count_lost_uploads(bytes, at..end);
        pieces.lost_counts = pieces
            .lost_counts
            .zip(told)
            .map(|(all, more)| (all.0 + more.0, all.1 + more.1));
        pieces.lost_ranges.push(at..end);
        let Some((end, sum)) = later else { break };
        (at, before) = (end, sum);
    }
    if let Some(counts) = closed {
        // The closing frame contains the numbers of all uploads and reports in the log.
        pieces.lost_counts = counts
            .uploads
            .checked_sub(uploads)
            .zip(counts.reports.checked_sub(reports));
    }
    Some(pieces)
}

/// Returns the uploads in a valid frame, or `None` if this version of the program does not know the
/// frame's format.
fn uploads_in_frame(
    frame: &[u8],
    fields: &FrameFields,
    report_count: &CountReports<'_>,
) -> Option<Vec<UploadRecord>> {
    let mut payload = payload(frame, fields);
    match fields.kind {
        UPLOADS_KIND => {}
        CLOSE_KIND => return read_closing_payload(payload).map(|_| Vec::new()),
        _ => return None,
    }
    let record = |_| {
        let logged = read_upload(&mut payload)?;
        Some(UploadRecord {
            id: logged.id,
            report_count: report_count(&logged)?,
            body: logged.body.to_vec(),
        })
    };
    (0..fields.uploads).map(record).collect()
}

/// Counts the uploads and reports in a lost range, from the fields of the frames in it. Returns
/// `None` if any of these fields are damaged.
fn count_lost_uploads(bytes: &[u8], lost: Range<usize>) -> Option<(u64, u64)> {
    let (mut uploads, mut reports) = (0, 0);
    let mut at = lost.start;
    while at < lost.end {
        let fields = FrameFields::decode(&bytes[at..], at as u64)?;
        uploads += u64::from(fields.uploads);
        reports += u64::from(fields.reports);
        at += fields.frame_length();
    }
    // This may pass the end of the range, because the last mark may be missing.
    (at <= lost.end + TRAILER_LENGTH).then_some((uploads, reports))
}
