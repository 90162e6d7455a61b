//! Partial totals: the totals of some reports, folded where they lie, to be added up elsewhere.
//!
//! They are a line of JSON, which programs that pass lines on leave as it is:
//!
//! | key | holds |
//! |---|---|
//! | `fingerprint` | the task's |
//! | `reports` | how many there are |
//! | `parts` | of each fold that went in, the first 16 bytes of the SHA-256 of its reports, each after its length (varint) |
//! | `totals` | [`Totals::encode`] |
//! | `sum` | the first 16 bytes of the SHA-256 of the line as it would be without it |
//!
//! This is version 1, which has no key `version`; every later one has it.
//!
//! Bytes are lower-case hexadecimal digits. A part that comes twice, as of work that was done
//! again, is noticed when they are added: its reports would be counted twice.

use std::collections::BTreeMap;
use std::fmt;

use data_encoding::HEXLOWER;
use hushbin::codec::append;
use hushbin::{Fingerprint, Report, Task};
use hushbin_analysis::estimate::{Totals, TotalsError};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::format_version::version_of;

/// Version of the format.
const VERSION: u64 = 1;

/// What a fold is known by.
type Part = [u8; 16];

/// Reports that are being folded.
pub(crate) struct Folding {
    totals: Totals,
    digest: Sha256,
    /// Of the last report, so that none is allocated for each.
    bytes: Vec<u8>,
    length: Vec<u8>,
}

/// What reports add up to, and which folds they were in.
pub(crate) struct Partial {
    pub(crate) totals: Totals,
    /// With the place that each was found at, to be named.
    parts: BTreeMap<Part, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    fingerprint: Fingerprint,
    reports: u64,
    parts: Vec<String>,
    totals: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
}

/// Why a line is not added to partial totals.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartialError {
    #[error(
        "{at}: expected partial totals, as hushbin estimate --format totals writes them: {source}"
    )]
    Syntax {
        at: String,
        source: serde_json::Error,
    },
    #[error("{at}: partial totals of version {found}, this hushbin knows version {known}")]
    Version { at: String, found: u64, known: u64 },
    #[error("{at}: {what} is damaged")]
    Damaged { at: String, what: &'static str },
    #[error("{at}: the task has the fingerprint {found}, expected {expected}")]
    OtherTask {
        at: String,
        expected: Fingerprint,
        found: Fingerprint,
    },
    #[error("{at}: {source}")]
    Totals { at: String, source: TotalsError },
    #[error("{at} and {other} hold the same reports, which would be counted twice")]
    Twice { at: String, other: String },
}

/// Keys that partial totals have, and rows of reports do not.
const KEYS: [&str; 3] = ["fingerprint", "parts", "totals"];

/// Returns whether a file with this beginning is to hold partial totals: whether its first line has
/// keys of theirs, also where that line is damaged or cut short.
pub(crate) fn is_partial(beginning: &[u8]) -> bool {
    let line = beginning.trim_ascii();
    if let Ok(keys) = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line) {
        return KEYS.iter().any(|&key| keys.contains_key(key));
    }
    let text = String::from_utf8_lossy(line);
    let is_cut = !text.is_empty() && "{\"fingerprint\":".starts_with(&*text);
    // A text inside of a row has a backslash before its quotes.
    let has = |key: &&str| text.contains(&format!("\"{key}\":"));
    is_cut || KEYS.iter().any(has)
}

impl Folding {
    pub(crate) fn new(task: &Task) -> Self {
        Self {
            totals: Totals::new(task),
            digest: Sha256::new(),
            bytes: Vec::new(),
            length: Vec::new(),
        }
    }

    /// Adds one report, which was decoded under the same task.
    pub(crate) fn fold(&mut self, report: &Report) {
        self.totals.fold(report);
        self.bytes.clear();
        report.encode(&mut self.bytes);
        self.length.clear();
        append(&mut self.length, self.bytes.len() as u64);
        self.digest.update(&self.length);
        self.digest.update(&self.bytes);
    }

    pub(crate) fn finish(self) -> Partial {
        let part = first(self.digest);
        // Of nothing there may be as many as there are empty parts.
        let parts = (self.totals.reports() > 0).then(|| (part, String::new()));
        Partial {
            totals: self.totals,
            parts: parts.into_iter().collect(),
        }
    }
}

impl Partial {
    /// Of no reports.
    pub(crate) fn new(task: &Task) -> Self {
        Folding::new(task).finish()
    }

    /// Adds what a line says, which was found at this place.
    ///
    /// # Errors
    /// When it says nothing of this task, is damaged, or was added before.
    pub(crate) fn add(
        &mut self,
        task: &Task,
        line: &[u8],
        at: &dyn fmt::Display,
    ) -> Result<(), PartialError> {
        let at = at.to_string();
        let damaged = |what| PartialError::Damaged {
            at: at.clone(),
            what,
        };
        let syntax = |source| PartialError::Syntax {
            at: at.clone(),
            source,
        };
        let found = version_of(line).map_err(syntax)?;
        if found != VERSION {
            return Err(PartialError::Version {
                at,
                found,
                known: VERSION,
            });
        }
        let mut line: Line = serde_json::from_slice(line).map_err(syntax)?;
        let sum = line.sum.take();
        if sum != Some(line.summed()) {
            return Err(damaged("it"));
        }
        let (expected, found) = (task.fingerprint(), line.fingerprint);
        if found != expected {
            return Err(PartialError::OtherTask {
                at,
                expected,
                found,
            });
        }
        let totals = HEXLOWER
            .decode(line.totals.as_bytes())
            .map_err(|_| damaged("totals"))?;
        let totals = Totals::decode(task, &totals);
        let totals = totals.map_err(|source| PartialError::Totals {
            at: at.clone(),
            source,
        })?;
        if totals.reports() != line.reports {
            return Err(damaged("reports"));
        }
        for part in &line.parts {
            let part: Option<Part> = HEXLOWER
                .decode(part.as_bytes())
                .ok()
                .and_then(|part| part.try_into().ok());
            let part = part.ok_or_else(|| damaged("parts"))?;
            if let Some(other) = self.parts.insert(part, at.clone()) {
                return Err(PartialError::Twice { at, other });
            }
        }
        self.totals.merge(&totals);
        Ok(())
    }

    /// The line, without its end.
    pub(crate) fn line(&self, task: &Task) -> String {
        let mut line = Line {
            fingerprint: task.fingerprint(),
            reports: self.totals.reports(),
            parts: self
                .parts
                .keys()
                .map(|part| HEXLOWER.encode(part))
                .collect(),
            totals: HEXLOWER.encode(&self.totals.encode()),
            sum: None,
        };
        line.sum = Some(line.summed());
        line.json()
    }
}

impl Line {
    fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be written as JSON")
    }

    /// The sum of a line that has none.
    fn summed(&self) -> String {
        HEXLOWER.encode(&first(Sha256::new_with_prefix(self.json())))
    }
}

fn first(digest: Sha256) -> Part {
    *digest
        .finalize()
        .first_chunk()
        .expect("a digest has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::is_partial;

    #[test]
    fn damaged_lines_are_told_from_rows_of_reports() {
        let line = r#"{"fingerprint":"0a","reports":1,"parts":["0b"],"totals":"0c","sum":"0d"}"#;
        for cut in 1..=line.len() {
            assert!(is_partial(&line.as_bytes()[..cut]), "{cut}");
            assert!(is_partial(format!("\r\n \n{}\n", &line[..cut]).as_bytes()));
        }
        for place in 0..line.len() {
            let mut damaged = line.as_bytes().to_owned();
            damaged[place] ^= 1;
            assert!(is_partial(&damaged), "{place}");
        }
        assert!(is_partial(format!("\u{feff}{line}").as_bytes()));
        assert!(is_partial(b"{ \"totals\" : \"\" }"));
        let row = r#"{"batch":1,"question":"\"totals\":","seed":"1","bucket":null,"report":"00"}"#;
        for cut in (0..=row.len()).filter(|cut| !(1..=2).contains(cut)) {
            assert!(!is_partial(&row.as_bytes()[..cut]), "{cut}");
        }
        for other in ["", "\n", "batch,question,seed,bucket,report\n", "PAR1"] {
            assert!(!is_partial(other.as_bytes()), "{other}");
        }
    }
}
