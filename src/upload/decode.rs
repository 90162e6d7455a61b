//! Decoding of uploads in collectors.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use super::header::{UPLOAD_FORMAT_VERSION, UploadId, upload_header};
use crate::bounds;
use crate::codec::Cursor;
use crate::error::{Error, error};
use crate::fingerprint::{Fingerprint, ParseHexError, parse_16_hex_bytes};
use crate::mechanism::Report;
use crate::task::Task;

/// Reports that a client sends together and that a collector counts together.
///
/// ```
/// use hushbin::{ErrorCode, Report, Task, TaskDraft, Upload, UploadId};
/// use hushbin::mechanism::collision;
///
/// # let draft: TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let task: Task = draft.resolve_task().unwrap();
/// let report = Report::Collision(collision::Report { seed: 7, bucket: 1 });
/// let upload = Upload { id: UploadId([9; 16]), reports: vec![report] };
/// let bytes = upload.encode(&task.fingerprint());
/// assert_eq!(bytes.len(), 1 + 16 + 16 + 1 + 9);
/// assert_eq!(Upload::decode(&bytes, &task), Ok(upload));
///
/// let error = Upload::decode(&bytes[..40], &task).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::Malformed);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Random identity of the upload, equal in every retry.
    pub id: UploadId,
    /// Reports, 1 to [`bounds::REPORTS_PER_UPLOAD_RANGE`] of them.
    pub reports: Vec<Report>,
}

impl Upload {
    /// Returns the bytes to send.
    #[must_use]
    pub fn encode(&self, fingerprint: &Fingerprint) -> Vec<u8> {
        let mut bytes = upload_header(self.id, fingerprint, self.reports.len() as u32);
        for report in &self.reports {
            report.encode(&mut bytes);
        }
        bytes
    }

    /// Decodes and checks an upload made for `task`.
    ///
    /// # Errors
    /// [`Error::UnsupportedVersion`], [`Error::FingerprintMismatch`], or
    /// [`Error::Malformed`] for anything that [`Upload::encode`] would not have
    /// written: too short, too long, out of range, or not canonical.
    pub fn decode(bytes: &[u8], task: &Task) -> Result<Self, Error> {
        let mut cursor = Cursor::new("upload", bytes);
        let upload = Self::read_next_upload(&mut cursor, task)?;
        cursor.expect_end("expected the end after the last report")?;
        Ok(upload)
    }

    /// Reads the next upload.
    fn read_next_upload(cursor: &mut Cursor<'_>, task: &Task) -> Result<Self, Error> {
        let (id, count) = read_upload_header(cursor, UPLOAD_FORMAT_VERSION, task.fingerprint())?;
        let mut reports = Vec::new();
        task.decode_reports(cursor, count, &mut |report, _| reports.push(report))?;
        Ok(Self { id, reports })
    }
}

/// Upload whose reports stay encoded. A collector checks, stores and permutes reports in this form.
/// It decodes each report when it is counted.
///
/// ```
/// # use hushbin::{Report, Task, TaskDraft, Upload, UploadId, mechanism::collision};
/// use hushbin::upload::EncodedUpload;
///
/// # let draft: TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// # let task: Task = draft.resolve_task().unwrap();
/// let report = |bucket| Report::Collision(collision::Report { seed: 7, bucket });
/// let upload = Upload { id: UploadId([9; 16]), reports: vec![report(1), report(0)] };
/// let bytes = upload.encode(&task.fingerprint());
///
/// let checked = EncodedUpload::read_checked_uploads(&bytes, &task)?;
/// let [(encoded, range)] = &checked[..] else { panic!("one upload") };
/// assert_eq!((encoded.id, encoded.report_count, range.clone()), (upload.id, 2, 0..bytes.len()));
///
/// let mut decoded = Vec::new();
/// encoded.for_each_report(&task, |report, bytes| {
///     assert_eq!(bytes.len(), 9);
///     decoded.push(report);
/// })?;
/// assert_eq!(decoded, upload.reports);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedUpload<'a> {
    /// Identity of the upload.
    pub id: UploadId,
    /// Number of reports, 1 to [`bounds::REPORTS_PER_UPLOAD_RANGE`].
    pub report_count: u32,
    /// Encoded reports, back to back.
    pub encoded_reports: &'a [u8],
}

impl<'a> EncodedUpload<'a> {
    /// Checks all uploads in `bytes`, which are back to back and made for `task`. Returns each
    /// upload with the range of its bytes.
    ///
    /// # Errors
    /// Errors of [`Upload::decode`] for the first upload that is wrong, with offsets from the first
    /// byte of `bytes`. [`Error::Malformed`] if `bytes` is empty, or if all uploads together have
    /// more than [`bounds::REPORTS_PER_UPLOAD_RANGE`] reports.
    pub fn read_checked_uploads(
        bytes: &'a [u8],
        task: &Task,
    ) -> Result<Vec<(Self, Range<usize>)>, Error> {
        read_uploads(bytes, |cursor| {
            let (id, count) =
                read_upload_header(cursor, UPLOAD_FORMAT_VERSION, task.fingerprint())?;
            let begin = cursor.offset();
            task.decode_reports(cursor, count, &mut |_, _| {})?;
            let reports = &bytes[begin..cursor.offset()];
            Ok(Self {
                id,
                report_count: count,
                encoded_reports: reports,
            })
        })
    }

    /// Reads the header of the only upload in `bytes`. The reports are not checked yet:
    /// [`EncodedUpload::for_each_report`] checks them.
    ///
    /// # Errors
    /// [`Error::UnsupportedVersion`], [`Error::FingerprintMismatch`], or [`Error::Malformed`] if the header
    /// is not the header of an upload.
    pub fn read_unchecked_upload(bytes: &'a [u8], fingerprint: Fingerprint) -> Result<Self, Error> {
        let mut cursor = Cursor::new("upload", bytes);
        let (id, count) = read_upload_header(&mut cursor, UPLOAD_FORMAT_VERSION, fingerprint)?;
        let reports = &bytes[cursor.offset()..];
        Ok(Self {
            id,
            report_count: count,
            encoded_reports: reports,
        })
    }

    /// Creates an upload from its id and `body`, the bytes that follow the id: the number of
    /// reports and the reports. The reports are not checked yet: [`EncodedUpload::for_each_report`]
    /// checks them.
    ///
    /// # Errors
    /// [`Error::Malformed`] if `body` does not begin with a number of reports.
    pub fn from_id_and_body(id: UploadId, body: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new("upload", body);
        let count = read_report_count(&mut cursor)?;
        let reports = &body[cursor.offset()..];
        Ok(Self {
            id,
            report_count: count,
            encoded_reports: reports,
        })
    }

    /// Decodes each report, and calls `visit` with the report and its bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes are not [`report_count`](Self::report_count) reports of `task`. By then,
    /// the reports before the wrong one have been visited.
    pub fn for_each_report(
        &self,
        task: &Task,
        mut visit: impl FnMut(Report, &'a [u8]),
    ) -> Result<(), Error> {
        let mut cursor = Cursor::new("reports", self.encoded_reports);
        let mut begin = 0;
        task.decode_reports(&mut cursor, self.report_count, &mut |report, end| {
            visit(report, &self.encoded_reports[begin..end]);
            begin = end;
        })?;
        cursor.expect_end("expected the end after the last report")
    }
}

/// Reads the uploads of one request, which are back to back. `take` reads the next upload. Returns
/// each upload with the range of its bytes.
///
/// # Errors
/// Errors of `take`. [`Error::Malformed`] if `bytes` is empty, or if all uploads together have more
/// than [`bounds::REPORTS_PER_UPLOAD_RANGE`] reports.
pub(crate) fn read_uploads<'a>(
    bytes: &'a [u8],
    mut take: impl FnMut(&mut Cursor<'a>) -> Result<EncodedUpload<'a>, Error>,
) -> Result<Vec<(EncodedUpload<'a>, Range<usize>)>, Error> {
    let mut cursor = Cursor::new("upload", bytes);
    // Nearly all requests carry one upload.
    let mut all = Vec::with_capacity(1);
    let mut reports = 0_u32;
    loop {
        let begin = cursor.offset();
        let upload = take(&mut cursor)?;
        // No overflow: an upload has at most 4,096 reports, and the loop ends above that sum.
        reports += upload.report_count;
        if f64::from(reports) > bounds::REPORTS_PER_UPLOAD_RANGE.max {
            return Err(cursor.malformed_error("expected at most 4096 reports in all uploads"));
        }
        all.push((upload, begin..cursor.offset()));
        if cursor.remaining() == 0 {
            return Ok(all);
        }
    }
}

/// Reads an upload's header, and checks the format's version and the task's fingerprint. Returns
/// the upload's id and its number of reports.
pub(crate) fn read_upload_header(
    cursor: &mut Cursor<'_>,
    version: u8,
    fingerprint: Fingerprint,
) -> Result<(UploadId, u32), Error> {
    let [found] = cursor.read_array("expected a version byte")?;
    if found != version {
        return Err(error!(UnsupportedVersion {
            found,
            expected: version,
        }));
    }
    let received = Fingerprint(cursor.read_array("expected a task fingerprint of 16 bytes")?);
    if received != fingerprint {
        return Err(error!(FingerprintMismatch {
            expected: fingerprint,
            received,
        }));
    }
    let id = UploadId(cursor.read_array("expected an upload id of 16 bytes")?);
    Ok((id, read_report_count(cursor)?))
}

/// Reads the number of reports of an upload, and checks that it is in [`bounds::REPORTS_PER_UPLOAD_RANGE`].
fn read_report_count(cursor: &mut Cursor<'_>) -> Result<u32, Error> {
    let count: u32 = cursor.read_value("expected the number of reports")?;
    if !bounds::REPORTS_PER_UPLOAD_RANGE.contains(f64::from(count)) {
        return Err(cursor.malformed_error("expected 1 to 4096 reports"));
    }
    Ok(count)
}

impl fmt::Display for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl FromStr for UploadId {
    type Err = ParseHexError;

    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        parse_16_hex_bytes(text).map(Self).ok_or(ParseHexError)
    }
}
