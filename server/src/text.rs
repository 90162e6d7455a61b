//! Text files, which some editors start with a byte order mark.

use std::path::Path;
use std::{fs, io};

/// Byte order mark in UTF-8.
pub(crate) const MARK: &str = "\u{feff}";

/// Reads a file of text without its byte order mark.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut text = fs::read_to_string(path)?;
    if text.starts_with(MARK) {
        text.drain(..MARK.len());
    }
    Ok(text)
}

/// Returns the first line of a file without its byte order mark.
pub(crate) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(MARK.as_bytes()).unwrap_or(line)
}
