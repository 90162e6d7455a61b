//! JSON that says its version, which is read before anything else is: another version may say
//! other things.

use serde::Deserialize;

#[derive(Deserialize)]
struct Said {
    /// The first version does not say it everywhere.
    #[serde(default = "first")]
    version: u64,
}

const fn first() -> u64 {
    1
}

/// The version that an object says it has; 1 where it says none.
///
/// # Errors
/// When it is no object, or says it otherwise.
pub(crate) fn version_of(json: &[u8]) -> Result<u64, serde_json::Error> {
    serde_json::from_slice(json).map(|Said { version }| version)
}
