//! Text in CSV that no spreadsheet runs as a formula.

use std::borrow::Cow;

use crate::estimate::query::ItemLabel;

/// First characters of a cell that some spreadsheets take for a formula. Full-width characters are
/// converted to plain ones before.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns a text as a CSV cell that no spreadsheet runs as a formula: with an apostrophe in front
/// if the text begins with `=`, `+`, `-`, `@`, a tab or a line break. Numbers stay as they are.
///
/// A text that begins with an apostrophe gets a second one. So a program gets the text back by
/// removing one apostrophe from each cell that begins with one.
///
/// ```
/// use hushbin_analysis::estimate::csv_text_cell;
///
/// assert_eq!(csv_text_cell("=1+1"), "'=1+1");
/// assert_eq!(csv_text_cell("'quoted'"), "''quoted'");
/// assert_eq!(csv_text_cell("-12.5"), "-12.5");
/// assert_eq!(csv_text_cell("dark-mode"), "dark-mode");
/// ```
#[must_use]
pub fn csv_text_cell(text: &str) -> Cow<'_, str> {
    let is_negative_number = || {
        let is_finite = text.parse::<f64>().is_ok_and(f64::is_finite);
        text.starts_with('-') && is_finite
    };
    if text.starts_with('\'') || text.starts_with(FORMULA_STARTS) && !is_negative_number() {
        return Cow::Owned(format!("'{text}"));
    }
    Cow::Borrowed(text)
}

impl ItemLabel {
    /// Returns the label as a CSV cell. Names are written by [`csv_text_cell`].
    pub(crate) fn csv_cell(&self) -> String {
        let text = self.to_string();
        match self {
            Self::Name(_) | Self::Cell(_) => csv_text_cell(&text).into_owned(),
            Self::Index(_) | Self::Bin { .. } | Self::Level(_) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_are_neutralised_and_can_be_read_back() {
        for text in [
            "=HYPERLINK(\"https://example.org\")",
            "+1",
            "-2+3",
            "-inf",
            "-1e999",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1",
            "'",
            "'=1",
        ] {
            let cell = csv_text_cell(text);
            assert_eq!(cell.strip_prefix('\''), Some(text));
        }
        for text in ["", "a=1", "a'b", "-5", "-0.25", "-1e-7", "12", "–5"] {
            assert_eq!(csv_text_cell(text), text);
        }
    }

    #[test]
    fn labels_made_of_numbers_are_left_alone() {
        let bin = ItemLabel::Bin {
            from: -5.0,
            to: 0.0,
        };
        assert_eq!(bin.csv_cell(), "-5 to 0");
        assert_eq!(ItemLabel::Level(-5.5).csv_cell(), "-5.5");
        let name = |text: &str| ItemLabel::Name(text.to_owned());
        assert_eq!(name("-5 to 0").csv_cell(), "'-5 to 0");
        let cell = ItemLabel::Cell(vec![("@row".to_owned(), name("a"))]);
        assert_eq!(cell.csv_cell(), "'@row: a");
    }
}
