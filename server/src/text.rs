//! Text files, in which some editors put a byte order mark first.

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

/// Returns a line without the byte order mark with which a file begins.
pub(crate) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(MARK.as_bytes()).unwrap_or(line)
}
