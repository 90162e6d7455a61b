//! Reading of text files without the byte order mark that some editors put at the start.

use std::path::Path;
use std::{fs, io};

/// Byte order mark in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads a text file, and removes the byte order mark at its start if there is one.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub(crate) fn read_text_file(path: &Path) -> io::Result<String> {
    let mut text = fs::read_to_string(path)?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

/// Removes the byte order mark at the start of a line if there is one.
pub(crate) fn without_byte_order_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK.as_bytes())
        .unwrap_or(line)
}
