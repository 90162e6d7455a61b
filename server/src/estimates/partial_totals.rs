//! Partial totals: totals of some of the reports. They are computed where these reports are stored,
//! and added up elsewhere.
//!
//! Partial totals are one line of JSON, so programs that forward lines leave them unchanged:
//!
//! | key | value |
//! |---|---|
//! | `fingerprint` | fingerprint of the task |
//! | `reports` | number of reports |
//! | `parts` | for each fold (run that added up reports), the first 16 bytes of the SHA-256 of its reports; each report is preceded by its length (varint) |
//! | `totals` | [`Totals::encode`] |
//! | `sum` | the first 16 bytes of the SHA-256 of the line without this key |
//!
//! This is version 1, which has no key `version`. Every later version has one.
//!
//! Bytes are lower-case hexadecimal digits. Adding fails if a part occurs twice, for example
//! because a job ran again. Otherwise the reports of this part would be counted twice.

use std::collections::BTreeMap;
use std::fmt;

use data_encoding::HEXLOWER;
use hushbin::codec::append_varint;
use hushbin::{Fingerprint, Report, Task};
use hushbin_analysis::estimate::{Totals, TotalsError};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::format_version::json_format_version;

/// Version of the format.
const PARTIAL_TOTALS_VERSION: u64 = 1;

/// Identifier of a fold: the first 16 bytes of the SHA-256 of its reports.
type ReportsDigest = [u8; 16];

/// Totals to which reports are still being added.
pub(crate) struct TotalsAccumulator {
    totals: Totals,
    reports_hasher: Sha256,
    /// Encoding of the last report; kept to avoid an allocation for each report.
    report_buffer: Vec<u8>,
    length_buffer: Vec<u8>,
}

/// Totals of reports, with the identifiers of the folds that were added up.
pub(crate) struct PartialTotals {
    pub(crate) totals: Totals,
    /// Position in the input at which each part was found, for error messages.
    input_location_by_part: BTreeMap<ReportsDigest, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialTotalsLine {
    fingerprint: Fingerprint,
    reports: u64,
    parts: Vec<String>,
    totals: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
}

/// Errors of adding a line to partial totals.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartialTotalsError {
    #[error(
        "{at}: expected partial totals, as hushbin estimate --format totals writes them: {source}"
    )]
    Syntax {
        at: String,
        source: serde_json::Error,
    },
    #[error("{at}: partial totals of version {found}, this hushbin supports version {known}")]
    UnsupportedVersion { at: String, found: u64, known: u64 },
    #[error("{at}: {what} is damaged")]
    DamagedLine { at: String, what: &'static str },
    #[error("{at}: the task has the fingerprint {found}, expected {expected}")]
    TaskMismatch {
        at: String,
        expected: Fingerprint,
        found: Fingerprint,
    },
    #[error("{at}: {source}")]
    InvalidTotals { at: String, source: TotalsError },
    #[error("{at} and {other} hold the same reports, which would be counted twice")]
    DuplicatePart { at: String, other: String },
}

/// Keys of partial totals that rows of reports do not have.
const PARTIAL_TOTALS_ONLY_KEYS: [&str; 3] = ["fingerprint", "parts", "totals"];

/// Returns true if a file with this beginning is meant to contain partial totals: its first line
/// has a key that only partial totals have. Damaged and truncated lines count too.
pub(crate) fn looks_like_partial_totals(beginning: &[u8]) -> bool {
    let line = beginning.trim_ascii();
    if let Ok(keys) = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line) {
        return PARTIAL_TOTALS_ONLY_KEYS
            .iter()
            .any(|&key| keys.contains_key(key));
    }
    let text = String::from_utf8_lossy(line);
    let is_cut = !text.is_empty() && "{\"fingerprint\":".starts_with(&*text);
    // A string inside a row has a backslash before its quotes, so it cannot match.
    let has = |key: &&str| text.contains(&format!("\"{key}\":"));
    is_cut || PARTIAL_TOTALS_ONLY_KEYS.iter().any(has)
}

impl TotalsAccumulator {
    pub(crate) fn new(task: &Task) -> Self {
        Self {
            totals: Totals::new(task),
            reports_hasher: Sha256::new(),
            report_buffer: Vec::new(),
            length_buffer: Vec::new(),
        }
    }

    /// Adds one report that was decoded under the same task.
    pub(crate) fn add_report(&mut self, report: &Report) {
        self.totals.add_report(report);
        self.report_buffer.clear();
        report.encode(&mut self.report_buffer);
        // The length goes first, so that different lists of reports never give the same bytes.
        self.length_buffer.clear();
        append_varint(&mut self.length_buffer, self.report_buffer.len() as u64);
        self.reports_hasher.update(&self.length_buffer);
        self.reports_hasher.update(&self.report_buffer);
    }

    pub(crate) fn into_partial_totals(self) -> PartialTotals {
        let part = first_16_bytes(self.reports_hasher);
        // An empty fold has no part: several of them would collide, and nothing is counted twice.
        let parts = (self.totals.report_count() > 0).then(|| (part, String::new()));
        PartialTotals {
            totals: self.totals,
            input_location_by_part: parts.into_iter().collect(),
        }
    }
}

impl PartialTotals {
    /// Creates partial totals of no reports.
    pub(crate) fn new(task: &Task) -> Self {
        TotalsAccumulator::new(task).into_partial_totals()
    }

    /// Adds the partial totals of a line found at position `at`.
    ///
    /// # Errors
    /// When the line belongs to another task, is damaged, or was added before.
    pub(crate) fn add_partial_totals_line(
        &mut self,
        task: &Task,
        line: &[u8],
        at: &dyn fmt::Display,
    ) -> Result<(), PartialTotalsError> {
        let at = at.to_string();
        let damaged = |what| PartialTotalsError::DamagedLine {
            at: at.clone(),
            what,
        };
        let syntax = |source| PartialTotalsError::Syntax {
            at: at.clone(),
            source,
        };
        let found = json_format_version(line).map_err(syntax)?;
        if found != PARTIAL_TOTALS_VERSION {
            return Err(PartialTotalsError::UnsupportedVersion {
                at,
                found,
                known: PARTIAL_TOTALS_VERSION,
            });
        }
        let mut line: PartialTotalsLine = serde_json::from_slice(line).map_err(syntax)?;
        let sum = line.sum.take();
        if sum != Some(line.checksum()) {
            return Err(damaged("it"));
        }
        let (expected, found) = (task.fingerprint(), line.fingerprint);
        if found != expected {
            return Err(PartialTotalsError::TaskMismatch {
                at,
                expected,
                found,
            });
        }
        let totals = HEXLOWER
            .decode(line.totals.as_bytes())
            .map_err(|_| damaged("totals"))?;
        let totals = Totals::decode(task, &totals);
        let totals = totals.map_err(|source| PartialTotalsError::InvalidTotals {
            at: at.clone(),
            source,
        })?;
        if totals.report_count() != line.reports {
            return Err(damaged("reports"));
        }
        for part in &line.parts {
            let part: Option<ReportsDigest> = HEXLOWER
                .decode(part.as_bytes())
                .ok()
                .and_then(|part| part.try_into().ok());
            let part = part.ok_or_else(|| damaged("parts"))?;
            if let Some(other) = self.input_location_by_part.insert(part, at.clone()) {
                return Err(PartialTotalsError::DuplicatePart { at, other });
            }
        }
        self.totals.merge(&totals);
        Ok(())
    }

    /// Returns the partial totals as one line of JSON, without a line break.
    pub(crate) fn to_json_line(&self, task: &Task) -> String {
        let mut line = PartialTotalsLine {
            fingerprint: task.fingerprint(),
            reports: self.totals.report_count(),
            parts: self
                .input_location_by_part
                .keys()
                .map(|part| HEXLOWER.encode(part))
                .collect(),
            totals: HEXLOWER.encode(&self.totals.encode()),
            sum: None,
        };
        line.sum = Some(line.checksum());
        line.to_json()
    }
}

impl PartialTotalsLine {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be written as JSON")
    }

    /// Returns the checksum of a line whose `sum` is `None`.
    fn checksum(&self) -> String {
        HEXLOWER.encode(&first_16_bytes(Sha256::new_with_prefix(self.to_json())))
    }
}

fn first_16_bytes(digest: Sha256) -> ReportsDigest {
    *digest
        .finalize()
        .first_chunk()
        .expect("a digest has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::looks_like_partial_totals;

    #[test]
    fn damaged_lines_are_told_from_rows_of_reports() {
        let line = r#"{"fingerprint":"0a","reports":1,"parts":["0b"],"totals":"0c","sum":"0d"}"#;
        for cut in 1..=line.len() {
            assert!(looks_like_partial_totals(&line.as_bytes()[..cut]), "{cut}");
            assert!(looks_like_partial_totals(
                format!("\r\n \n{}\n", &line[..cut]).as_bytes()
            ));
        }
        for place in 0..line.len() {
            let mut damaged = line.as_bytes().to_owned();
            damaged[place] ^= 1;
            assert!(looks_like_partial_totals(&damaged), "{place}");
        }
        assert!(looks_like_partial_totals(
            format!("\u{feff}{line}").as_bytes()
        ));
        assert!(looks_like_partial_totals(b"{ \"totals\" : \"\" }"));
        let row = r#"{"batch":1,"question":"\"totals\":","seed":"1","bucket":null,"report":"00"}"#;
        for cut in (0..=row.len()).filter(|cut| !(1..=2).contains(cut)) {
            assert!(!looks_like_partial_totals(&row.as_bytes()[..cut]), "{cut}");
        }
        for other in ["", "\n", "batch,question,seed,bucket,report\n", "PAR1"] {
            assert!(!looks_like_partial_totals(other.as_bytes()), "{other}");
        }
    }
}
