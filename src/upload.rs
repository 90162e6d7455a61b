//! Uploads on the wire.
//!
//! An upload is: the version byte, the task's fingerprint (16 bytes), the
//! upload id (16 bytes), the number of reports (varint), the reports. A report
//! of Collision or CoCo is its seed (8 bytes, little endian) and its bucket
//! (varint); one of hash-bin is its seed and either a sign (one byte, 1 for
//! plus) or its bins (zigzag varints, as many as the task has).
//! Encoding is canonical: bytes that decode are the bytes that encoding gives.
//!
//! An upload says where it ends, so that one request may carry several of one
//! task, back to back with nothing between. Each is counted once, by its own id,
//! whatever travels beside it; together they have at most as many reports as one
//! may have.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::bounds;
use crate::codec::{Cursor, append};
use crate::error::{Error, error};
use crate::fingerprint::{Fingerprint, ParseHexError, parse_hex, write_hex};
use crate::mechanism::Report;
use crate::task::Task;

/// Version of the format, the first byte of every upload.
pub const VERSION: u8 = 1;

/// The identity of an upload, 16 random bytes: an upload that arrives twice is
/// counted once. Written as 32 lower-case hexadecimal digits.
///
/// ```
/// use hushbin::UploadId;
///
/// let id = UploadId([0xab; 16]);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadId(pub [u8; 16]);

/// Reports that travel and are counted together.
///
/// ```
/// use hushbin::{ErrorCode, Report, Task, TaskDraft, Upload, UploadId};
/// use hushbin::mechanism::collision;
///
/// # let draft: TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let task: Task = draft.resolve().unwrap();
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
    /// Drawn once, kept through every retry.
    pub id: UploadId,
    /// The reports, 1 to [`bounds::REPORTS`] of them.
    pub reports: Vec<Report>,
}

impl Upload {
    /// The bytes that travel.
    #[must_use]
    pub fn encode(&self, fingerprint: &Fingerprint) -> Vec<u8> {
        let mut bytes = header(self.id, fingerprint, self.reports.len() as u32);
        for report in &self.reports {
            report.encode(&mut bytes);
        }
        bytes
    }

    /// Decodes and checks an upload made for `task`.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::FingerprintMismatch`], or
    /// [`Error::Malformed`] for anything that [`Upload::encode`] would not have
    /// written: too short, too long, out of range, or not canonical.
    pub fn decode(bytes: &[u8], task: &Task) -> Result<Self, Error> {
        let mut cursor = Cursor::new("upload", bytes);
        let upload = Self::take(&mut cursor, task)?;
        cursor.end("expected the end after the last report")?;
        Ok(upload)
    }

    /// Decodes and checks uploads back to back, all of them made for `task`, and
    /// says which bytes are whose.
    ///
    /// ```
    /// # use hushbin::{Report, Task, TaskDraft, Upload, UploadId, mechanism::collision};
    /// # let draft: TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// # ).unwrap();
    /// # let task: Task = draft.resolve().unwrap();
    /// let report = Report::Collision(collision::Report { seed: 7, bucket: 1 });
    /// let upload = |id| Upload { id: UploadId([id; 16]), reports: vec![report.clone()] };
    /// let (one, two) = (upload(1), upload(2));
    /// let bytes = [one.encode(&task.fingerprint()), two.encode(&task.fingerprint())].concat();
    /// assert_eq!(Upload::decode_all(&bytes, &task), Ok(vec![(one, 0..43), (two, 43..86)]));
    /// ```
    ///
    /// # Errors
    /// Those of [`Upload::decode`] for the first that is none, its place counted
    /// from the first byte of all; [`Error::Malformed`] where there is none at all,
    /// or more than [`bounds::REPORTS`] reports in all of them.
    pub fn decode_all(bytes: &[u8], task: &Task) -> Result<Vec<(Self, Range<usize>)>, Error> {
        take_all(bytes, |cursor| {
            let upload = Self::take(cursor, task)?;
            let reports = upload.reports.len();
            Ok((upload, reports))
        })
    }

    /// The next upload.
    fn take(cursor: &mut Cursor<'_>, task: &Task) -> Result<Self, Error> {
        let (id, count) = take_header(cursor, VERSION, task.fingerprint())?;
        let reports = task.decode_reports(cursor, count)?;
        Ok(Self { id, reports })
    }
}

/// Takes what one request carries, back to back: each with how many reports it has, and
/// where it lies.
///
/// # Errors
/// Those of `take`; [`Error::Malformed`] where there is nothing at all, or more than
/// [`bounds::REPORTS`] reports in all of it.
pub(crate) fn take_all<'a, T>(
    bytes: &'a [u8],
    mut take: impl FnMut(&mut Cursor<'a>) -> Result<(T, usize), Error>,
) -> Result<Vec<(T, Range<usize>)>, Error> {
    let mut cursor = Cursor::new("upload", bytes);
    // Most often there is one.
    let mut all = Vec::with_capacity(1);
    let mut reports = 0;
    loop {
        let begin = cursor.offset();
        let (taken, more) = take(&mut cursor)?;
        reports += more;
        if reports as f64 > bounds::REPORTS.max {
            return Err(cursor.malformed("expected at most 4096 reports in all uploads"));
        }
        all.push((taken, begin..cursor.offset()));
        if cursor.rest() == 0 {
            return Ok(all);
        }
    }
}

/// The id of the upload that begins here, and how many reports follow.
pub(crate) fn take_header(
    cursor: &mut Cursor<'_>,
    version: u8,
    fingerprint: Fingerprint,
) -> Result<(UploadId, u32), Error> {
    let [found] = cursor.array("expected a version byte")?;
    if found != version {
        return Err(error!(Version {
            found,
            expected: version,
        }));
    }
    let received = Fingerprint(cursor.array("expected a task fingerprint of 16 bytes")?);
    if received != fingerprint {
        return Err(error!(FingerprintMismatch {
            expected: fingerprint,
            received,
        }));
    }
    let id = UploadId(cursor.array("expected an upload id of 16 bytes")?);
    let count: u32 = cursor.take("expected the number of reports")?;
    if !bounds::REPORTS.holds(f64::from(count)) {
        return Err(cursor.malformed("expected 1 to 4096 reports"));
    }
    Ok((id, count))
}

/// What an upload of `count` reports begins with: all but the encoded reports,
/// which follow back to back.
#[must_use]
pub fn header(id: UploadId, fingerprint: &Fingerprint, count: u32) -> Vec<u8> {
    header_of(VERSION, id, fingerprint, count)
}

/// The same in this version of the format.
pub(crate) fn header_of(
    version: u8,
    id: UploadId,
    fingerprint: &Fingerprint,
    count: u32,
) -> Vec<u8> {
    let mut bytes = alloc::vec![version; 1 + 16 + 16];
    bytes[1..17].copy_from_slice(&fingerprint.0);
    bytes[17..].copy_from_slice(&id.0);
    append(&mut bytes, count.into());
    bytes
}

impl fmt::Display for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl FromStr for UploadId {
    type Err = ParseHexError;

    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        parse_hex(text).map(Self).ok_or(ParseHexError)
    }
}
