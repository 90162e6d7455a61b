//! Lengths of prefixes, and keys of prefixes.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bounds;
use crate::error::Error;
use crate::task::items::item_name_hash;
use crate::task::local::prefix_lengths::PrefixLengths;

/// Mark that follows a prefix of a longer text: a code point to which Unicode assigns no character.
const CONTINUATION_MARK: char = '\u{FFFF}';

impl PrefixLengths {
    /// Creates the prefix lengths 2, 4, 6 and so on below `length`, followed by `length`. A
    /// `length` above 2 is listed twice.
    ///
    /// The longest prefixes need more people, because their estimates separate existing texts from
    /// all other texts. Estimates of shorter prefixes only decide which prefixes are extended.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `length` is outside [`bounds::MAX_TEXT_LENGTH_RANGE`].
    ///
    /// ```
    /// use hushbin::task::PrefixLengths;
    ///
    /// assert_eq!(PrefixLengths::even_lengths_up_to(7).unwrap().lengths(), [2, 4, 6, 7, 7]);
    /// assert_eq!(PrefixLengths::even_lengths_up_to(2).unwrap().lengths(), [2]);
    /// assert_eq!(PrefixLengths::even_lengths_up_to(126).unwrap().lengths().len(), 64);
    /// assert!([0, 127].into_iter().all(|length| PrefixLengths::even_lengths_up_to(length).is_err()));
    /// ```
    pub fn even_lengths_up_to(length: u32) -> Result<Self, Error> {
        bounds::MAX_TEXT_LENGTH_RANGE.check_in_range(f64::from(length))?;
        let mut lengths: Vec<u32> = (2..length).step_by(2).collect();
        let last = if lengths.is_empty() { 1 } else { 2 };
        lengths.extend(core::iter::repeat_n(length, last));
        Self::new(lengths)
    }

    /// Returns the distinct lengths in ascending order, and the number of times that each length is
    /// listed.
    ///
    /// ```
    /// use hushbin::task::PrefixLengths;
    ///
    /// let prefixes = PrefixLengths::new(vec![2, 4, 4]).unwrap();
    /// assert!(prefixes.lengths_with_repeat_counts().eq([(2, 1), (4, 2)]));
    /// ```
    pub fn lengths_with_repeat_counts(&self) -> impl Iterator<Item = (u32, usize)> {
        let alike = self.lengths().chunk_by(|one, next| one == next);
        alike.map(|alike| (alike[0], alike.len()))
    }

    /// Returns the share of reports that cover a prefix of the maximum length, in (0, 1].
    ///
    /// ```
    /// use hushbin::task::PrefixLengths;
    ///
    /// assert_eq!(PrefixLengths::new(vec![2, 4, 4, 4]).unwrap().longest_prefix_share(), 0.75);
    /// ```
    #[must_use]
    pub fn longest_prefix_share(&self) -> f64 {
        let greatest = self
            .lengths_with_repeat_counts()
            .last()
            .map_or(0, |(_, prefixes)| prefixes);
        greatest as f64 / self.lengths().len() as f64
    }

    /// Returns the key of the prefix of `text` with `length` characters. If the text has at most
    /// `length` characters, returns the key of the whole text.
    ///
    /// ```
    /// use hushbin::task::PrefixLengths;
    ///
    /// assert_eq!(PrefixLengths::prefix_hash("caf\u{e9}", 4), hushbin::item_name_hash("caf\u{e9}"));
    /// assert_eq!(PrefixLengths::prefix_hash("cafeteria", 4), PrefixLengths::text_or_prefix_hash("cafe", true));
    /// ```
    #[must_use]
    pub fn prefix_hash(text: &str, length: u32) -> u64 {
        match text.char_indices().nth(length as usize) {
            Some((end, _)) => Self::text_or_prefix_hash(&text[..end], true),
            None => Self::text_or_prefix_hash(text, false),
        }
    }

    /// Returns the key of a whole text. If `is_prefix` is true, returns the key of `text` as a prefix
    /// of longer texts.
    #[must_use]
    pub fn text_or_prefix_hash(text: &str, is_prefix: bool) -> u64 {
        let mut marked = String::from(text);
        marked.extend(is_prefix.then_some(CONTINUATION_MARK));
        item_name_hash(&marked)
    }

    /// Returns the keys of all prefixes of a text. Entries with these keys are the answer for that
    /// text.
    #[must_use]
    pub fn prefix_hashes(&self, text: &str) -> Vec<u64> {
        let key = |&length: &u32| Self::prefix_hash(text, length);
        self.lengths().iter().map(key).collect()
    }
}
