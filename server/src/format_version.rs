//! Format version of a JSON file, which is read before the rest of the file is parsed.

use serde::Deserialize;

#[derive(Deserialize)]
struct VersionField {
    /// Format version. Files in version 1 of some formats omit it.
    #[serde(default = "first_version")]
    version: u64,
}

const fn first_version() -> u64 {
    1
}

/// Returns the value of the key `version` in a JSON object, or 1 if there is no such key.
///
/// # Errors
/// When `json` is not an object, or `version` is not an integer.
pub(crate) fn json_format_version(json: &[u8]) -> Result<u64, serde_json::Error> {
    serde_json::from_slice(json).map(|VersionField { version }| version)
}
