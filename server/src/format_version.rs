//! Version of a JSON file, read before the rest of the file is parsed.

use serde::Deserialize;

#[derive(Deserialize)]
struct Versioned {
    /// Omitted by some formats in version 1.
    #[serde(default = "first")]
    version: u64,
}

const fn first() -> u64 {
    1
}

/// Returns the version of a JSON object, 1 if it has no key `version`.
///
/// # Errors
/// When `json` is not an object, or `version` is not an integer.
pub(crate) fn version_of(json: &[u8]) -> Result<u64, serde_json::Error> {
    serde_json::from_slice(json).map(|Versioned { version }| version)
}
