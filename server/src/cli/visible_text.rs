//! Text for terminals and logs, in which the control characters of names are visible.

use std::borrow::Cow;
use std::io::{self, Write};
use std::mem;

use hushbin_analysis::typescript::is_hidden_control;

/// Returns a text with each hidden control character as its number, such as `U+202E`.
pub(super) fn visible_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(2 * text.len());
    for own in text.chars() {
        match is_hidden_control(own) {
            true => shown.push_str(&format!("U+{:04X}", u32::from(own))),
            false => shown.push(own),
        }
    }
    Cow::Owned(shown)
}

/// Writer of UTF-8 text that makes hidden control characters visible.
pub(super) struct VisibleTextWriter<W> {
    inner: W,
    /// Start of a character whose other bytes have not been written yet.
    incomplete: Vec<u8>,
}

impl<W: Write> VisibleTextWriter<W> {
    pub(super) fn new(inner: W) -> Self {
        Self {
            inner,
            incomplete: Vec::new(),
        }
    }
}

impl<W: Write> Write for VisibleTextWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = mem::take(&mut self.incomplete);
        text.extend_from_slice(bytes);
        if let Err(error) = str::from_utf8(&text)
            && error.error_len().is_none()
        {
            self.incomplete = text.split_off(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&text);
        self.inner.write_all(visible_text(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_controls_become_visible() {
        let text = "a\u{202e}b\u{2066}c\u{200f}\u{61c}\u{1b}[2J\r\u{9b}\u{7f}\0\u{2028}";
        assert_eq!(
            visible_text(text),
            "aU+202EbU+2066cU+200FU+061CU+001B[2JU+000DU+009BU+007FU+0000U+2028"
        );
        // Letters that are written from right to left are no controls.
        for text in ["dark-mode", "שלום", "日本 🎉", "a\tb\n", ""] {
            assert!(matches!(visible_text(text), Cow::Borrowed(own) if own == text));
        }
    }

    #[test]
    fn characters_may_be_split_between_writes() {
        let written = |pieces: &[&[u8]]| {
            let mut bytes = Vec::new();
            let mut writer = VisibleTextWriter::new(&mut bytes);
            for piece in pieces {
                writer.write_all(piece).unwrap();
            }
            String::from_utf8(bytes).unwrap()
        };
        let text = "é\u{202e}€🎉\n".as_bytes();
        for at in 0..text.len() {
            let (before, after) = text.split_at(at);
            assert_eq!(written(&[before, after]), "éU+202E€🎉\n");
        }
        assert_eq!(written(&[b"a\xff\xe2\x82b"]), "a\u{fffd}\u{fffd}b");
    }
}
