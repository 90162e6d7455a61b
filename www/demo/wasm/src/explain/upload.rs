//! Fields of an upload.

use hushbin::{Report, Task, Upload};
use serde::Serialize;

use super::contract::Reported;
use super::error::ExplainError;
use super::explainer::Explainer;

/// Name of a field in an upload of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum PartName {
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

/// Field of an upload, with its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Part {
    /// Name of the field.
    pub name: PartName,
    /// Offset of its first byte.
    pub from: usize,
    /// Offset of the first byte after it.
    pub to: usize,
}

/// Upload of one report, split into its fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Dissected {
    /// Fields, in order. They cover all bytes.
    pub parts: Vec<Part>,
    /// Decoded response, which is the last field.
    pub response: Reported,
}

/// Fields before the response, with numbers of bytes. The count of one report is a varint of one
/// byte.
const FIELDS: [(PartName, usize); 5] = [
    (PartName::Version, 1),
    (PartName::Task, 16),
    (PartName::Id, 16),
    (PartName::Count, 1),
    (PartName::Seed, 8),
];

/// Decodes the only report of an upload made for the task.
pub(super) fn sole_report(task: &Task, upload: &[u8]) -> Result<Report, ExplainError> {
    let mut reports = Upload::decode(upload, task)?.reports;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(report),
        (_, others) => Err(ExplainError::NotOne(others + 1)),
    }
}

/// Returns the fields of an upload of one report with `length` bytes.
pub(super) fn parts(length: usize) -> Vec<Part> {
    let mut from = 0;
    let mut part = |(name, length): (PartName, usize)| {
        let to = from + length;
        Part {
            name,
            from: core::mem::replace(&mut from, to),
            to,
        }
    };
    let mut parts: Vec<Part> = FIELDS.into_iter().map(&mut part).collect();
    let fixed: usize = FIELDS.iter().map(|(_, length)| length).sum();
    parts.push(part((PartName::Response, length - fixed)));
    parts
}

impl Explainer {
    /// Decodes the only report of an upload made for the task.
    ///
    /// # Errors
    /// Errors of [`Upload::decode`], and [`ExplainError::NotOne`] unless there is one report.
    pub fn report(&self, upload: &[u8]) -> Result<Report, ExplainError> {
        sole_report(&self.task, upload)
    }

    /// Splits an upload of one report into its fields.
    ///
    /// # Errors
    /// Errors of [`Explainer::report`].
    pub fn dissect(&self, upload: &[u8]) -> Result<Dissected, ExplainError> {
        let report = self.report(upload)?;
        Ok(Dissected {
            parts: parts(upload.len()),
            response: self.reported(&report)?,
        })
    }
}
