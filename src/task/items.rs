//! Items of a task.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::sort::sort_keys;

/// Items that a task asks about.
///
/// In a task file: a list of names, a number, or `"open"`.
///
/// ```
/// use hushbin::Items;
///
/// let items: Items = serde_json::from_str(r#"["dark-mode", "autoplay"]"#).unwrap();
/// assert_eq!((items.item_count(), items.find_item("autoplay")), (Some(2), Some(1)));
/// assert_eq!(Items::Count(40).find_item("7"), Some(7));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected items: a list of names, a number, or \"open\""
)]
pub enum Items {
    /// Fixed list of names, each 1 to 256 bytes without control characters.
    Named(Vec<String>),
    /// Number of items without names. An item is identified by its index.
    Count(u32),
    /// Arbitrary strings, hashed to 64 bits.
    Open(OpenKeyword),
}

/// Word `open` in a task file: any string is an item.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::OpenKeyword;
///
/// let items: Items = serde_json::from_str(r#""open""#).unwrap();
/// assert_eq!(items, Items::Open(OpenKeyword::Open));
/// assert_eq!(items.find_item("any"), Some(hushbin::item_name_hash("any")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenKeyword {
    /// Word `open`.
    Open,
}

impl Items {
    /// Returns the number of items, or `None` if any string is an item.
    #[must_use]
    pub fn item_count(&self) -> Option<u32> {
        match self {
            // A longer list saturates, and is then rejected as out of range.
            Self::Named(names) => Some(u32::try_from(names.len()).unwrap_or(u32::MAX)),
            Self::Count(count) => Some(*count),
            Self::Open(_) => None,
        }
    }

    pub(crate) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Self {
        match reader.read_u64() {
            0 => Self::Named(
                (0..reader.read_list_length())
                    .map(|_| reader.read_text().into())
                    .collect(),
            ),
            1 => Self::Count(reader.read_u32()),
            number => {
                if number != 2 {
                    reader.mark_malformed();
                }
                Self::Open(OpenKeyword::Open)
            }
        }
    }

    pub(crate) fn check_items(&self) -> Result<(), Error> {
        if let Some(count) = self.item_count() {
            bounds::ITEM_COUNT_RANGE.check_in_range(f64::from(count))?;
        }
        let Self::Named(names) = self else {
            return Ok(());
        };
        for (index, name) in names.iter().enumerate() {
            check_printable_name(index, name)?;
        }
        // Sorts keys instead of texts. Otherwise pages would download a second sort function for
        // texts.
        let mut keys: Vec<u64> = names.iter().map(|name| item_name_hash(name)).collect();
        sort_keys(&mut keys);
        // Different names with the same 64-bit key are practically impossible. If it happens, one
        // of the items has to be renamed.
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(error!(DuplicateName {
                name: names
                    .iter()
                    .find(|name| item_name_hash(name) == pair[0])
                    .cloned()
                    .unwrap_or_default(),
            })),
            None => Ok(()),
        }
    }
}

/// Checks that an id is a slug: 1 to 64 characters from a-z, 0-9 and '-'. The first one must be a
/// letter or digit. A colon and a [label](split_task_id) may follow.
///
/// ```
/// use hushbin::task::check_task_id;
///
/// assert!(check_task_id("settings:variant-b").is_ok());
/// assert!(check_task_id("settings:").is_err());
/// ```
///
/// # Errors
/// [`Error::InvalidTaskId`].
pub fn check_task_id(id: &str) -> Result<(), Error> {
    if cfg!(not(feature = "collector")) {
        // Pages download less: the package's own code has checked the id (`TASK_ID`).
        return Ok(());
    }
    let (mut in_label, mut length, mut valid) = (false, 0, true);
    for byte in id.bytes() {
        if byte == LABEL_SEPARATOR && !in_label && length > 0 {
            (in_label, length) = (true, 0);
            continue;
        }
        let begins = byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || in_label && byte.is_ascii_uppercase();
        let follows = byte == b'-' || in_label && (byte == b'.' || byte == b'_');
        valid &= begins || follows && length > 0;
        length += 1;
        valid &= length <= if in_label { 32 } else { 64 };
    }
    if valid && length > 0 {
        return Ok(());
    }
    Err(error!(InvalidTaskId {
        id: String::from(id)
    }))
}

/// Character between the name of a task and its label.
const LABEL_SEPARATOR: u8 = b':';

/// Splits the id of a task into the name and the label, if there is one.
///
/// A task file with `"labels"` describes one task for each label. These tasks differ only in their
/// ids. A label is public: it says to which group a report belongs, such as a variant of an
/// experiment. It has 1 to 32 characters from a-z, A-Z, 0-9, '-', '.' and '_'. The first one is a
/// letter or digit.
///
/// ```
/// use hushbin::task::split_task_id;
///
/// assert_eq!(split_task_id("settings:variant-b"), ("settings", Some("variant-b")));
/// assert_eq!(split_task_id("settings"), ("settings", None));
/// ```
#[must_use]
pub fn split_task_id(id: &str) -> (&str, Option<&str>) {
    match id.split_once(char::from(LABEL_SEPARATOR)) {
        Some((name, label)) => (name, Some(label)),
        None => (id, None),
    }
}

/// Checks the name of the item at position `index`.
///
/// # Errors
/// [`Error::InvalidItemName`] for a name that is empty or too long, or contains a control character.
pub(crate) fn check_printable_name(index: usize, name: &str) -> Result<(), Error> {
    // Control characters in UTF-8: bytes below the space, 0x7F (delete), and U+80 to U+9F, which
    // are encoded as 0xC2 and a byte below 0xA0.
    let mut lead = 0;
    let is_control = |byte: u8| {
        let before = core::mem::replace(&mut lead, byte);
        byte < b' ' || byte == 0x7f || (before == 0xc2 && byte < 0xa0)
    };
    if bounds::ITEM_NAME_BYTES_RANGE.contains(name.len() as f64) && !name.bytes().any(is_control) {
        return Ok(());
    }
    Err(error!(InvalidItemName {
        index,
        name: String::from(name),
    }))
}

/// Returns the 64-bit key of an item of an open task: the first eight bytes, little endian, of the
/// SHA-256 of the name's UTF-8 bytes.
///
/// ```
/// assert_eq!(hushbin::item_name_hash("dark-mode"), hushbin::item_name_hash("dark-mode"));
/// ```
#[must_use]
pub fn item_name_hash(name: &str) -> u64 {
    // Hashes bytes, as fingerprints do, so that pages download one instance of the function.
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
