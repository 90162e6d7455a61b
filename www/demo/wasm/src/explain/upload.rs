//! Fields of an upload that has one report.

use hushbin::{Report, Task, Upload};
use serde::Serialize;

use super::error::ExplainError;
use super::explain_mechanism::Reported;
use super::ratings_explainer::Explainer;

/// Name of a field in an upload of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum UploadFieldName {
    /// Version of the format.
    Version,
    /// Fingerprint of the task.
    Task,
    /// Id of the upload.
    Id,
    /// Number of reports.
    Count,
    /// Seed of the report.
    Seed,
    /// Randomised part of the report.
    Response,
}

/// Field of an upload, with the range of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct UploadField {
    /// Name of the field.
    pub name: UploadFieldName,
    /// Offset of the field's first byte in the upload.
    pub from: usize,
    /// Offset of the first byte after the field.
    pub to: usize,
}

/// Upload of one report, split into its fields and decoded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct DissectedUpload {
    /// Fields, in order. They cover all bytes.
    pub parts: Vec<UploadField>,
    /// Decoded response, which is the last field.
    pub response: Reported,
}

/// Fields before the response, each with its number of bytes. The number of reports is a varint,
/// which has one byte for one report.
const FIXED_LENGTH_FIELDS: [(UploadFieldName, usize); 5] = [
    (UploadFieldName::Version, 1),
    (UploadFieldName::Task, 16),
    (UploadFieldName::Id, 16),
    (UploadFieldName::Count, 1),
    (UploadFieldName::Seed, 8),
];

/// Decodes the only report of an upload made for the task.
pub(super) fn decode_sole_report(task: &Task, upload: &[u8]) -> Result<Report, ExplainError> {
    let mut reports = Upload::decode(upload, task)?.reports;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(report),
        (_, others) => Err(ExplainError::NotOneReport(others + 1)),
    }
}

/// Returns the fields of an upload of one report. `length` is the number of bytes of the upload.
pub(super) fn field_byte_ranges(length: usize) -> Vec<UploadField> {
    let mut from = 0;
    let mut part = |(name, length): (UploadFieldName, usize)| {
        let to = from + length;
        UploadField {
            name,
            from: core::mem::replace(&mut from, to),
            to,
        }
    };
    let mut parts: Vec<UploadField> = FIXED_LENGTH_FIELDS.into_iter().map(&mut part).collect();
    let fixed: usize = FIXED_LENGTH_FIELDS.iter().map(|(_, length)| length).sum();
    parts.push(part((UploadFieldName::Response, length - fixed)));
    parts
}

impl Explainer {
    /// Decodes the only report of an upload made for the task.
    ///
    /// # Errors
    /// Errors of [`Upload::decode`], and [`ExplainError::NotOneReport`] unless there is one report.
    pub fn decode_sole_report(&self, upload: &[u8]) -> Result<Report, ExplainError> {
        decode_sole_report(&self.task, upload)
    }

    /// Splits an upload of one report into its fields.
    ///
    /// # Errors
    /// Errors of [`Explainer::decode_sole_report`].
    pub fn dissect_upload(&self, upload: &[u8]) -> Result<DissectedUpload, ExplainError> {
        let report = self.decode_sole_report(upload)?;
        Ok(DissectedUpload {
            parts: field_byte_ranges(upload.len()),
            response: self.reported(&report)?,
        })
    }
}
