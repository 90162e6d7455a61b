//! One upload, field by field.

use hushbin::{Report, Task, Upload};
use serde::Serialize;

use super::contract::Reported;
use super::error::ExplainError;
use super::explainer::Explainer;

/// A field of an upload of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum PartName {
    /// The format's version.
    Version,
    /// The task's fingerprint.
    Task,
    /// The upload's id.
    Id,
    /// The number of reports.
    Count,
    /// The report's seed.
    Seed,
    /// What was randomised.
    Response,
}

/// A stretch of an upload's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Part {
    /// Which field it is.
    pub name: PartName,
    /// Offset of its first byte.
    pub from: usize,
    /// Offset of the first byte after it.
    pub to: usize,
}

/// An upload of one report, taken apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Dissected {
    /// All of its bytes, in order.
    pub parts: Vec<Part>,
    /// What the last of them says.
    pub response: Reported,
}

/// The fields before the response and their bytes: of one report, the count is a
/// varint of one.
const FIELDS: [(PartName, usize); 5] = [
    (PartName::Version, 1),
    (PartName::Task, 16),
    (PartName::Id, 16),
    (PartName::Count, 1),
    (PartName::Seed, 8),
];

/// The only report of an upload made for the task.
pub(super) fn sole_report(task: &Task, upload: &[u8]) -> Result<Report, ExplainError> {
    let mut reports = Upload::decode(upload, task)?.reports;
    match (reports.pop(), reports.len()) {
        (Some(report), 0) => Ok(report),
        (_, others) => Err(ExplainError::NotOne(others + 1)),
    }
}

/// The fields of an upload of one report that has so many bytes.
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
    /// The only report of an upload made for the task.
    ///
    /// # Errors
    /// As [`Upload::decode`]; [`ExplainError::NotOne`].
    pub fn report(&self, upload: &[u8]) -> Result<Report, ExplainError> {
        sole_report(&self.task, upload)
    }

    /// Splits an upload of one report into its fields.
    ///
    /// # Errors
    /// As [`Explainer::report`].
    pub fn dissect(&self, upload: &[u8]) -> Result<Dissected, ExplainError> {
        let report = self.report(upload)?;
        Ok(Dissected {
            parts: parts(upload.len()),
            response: self.reported(&report)?,
        })
    }
}
