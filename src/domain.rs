//! Items, signs and paddings, numbered as elements; and the way from one
//! person's entries to exactly s elements.

use alloc::vec::Vec;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::sample;
use crate::sort::sort;

/// One entry of a person's input: the value of one item.
///
/// ```
/// use hushbin::{Entry, ValueKind};
///
/// let likes = Entry { item: 3, value: 1.0 };
/// assert!(ValueKind::Sign.accepts(likes.value));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Index of the item in a closed task, or the 64-bit key of its name in an
    /// open one (see [`Items::resolve`](crate::Items::resolve)).
    pub item: u64,
    /// In [-1, 1] for real values; -1 or 1 for signs. 0 is as if absent.
    pub value: f64,
}

/// An item with a sign: what is left of an entry after ternarisation.
///
/// ```
/// use hushbin::domain::Signed;
///
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// let dislikes = Signed { item: 3, negative: true };
/// assert_eq!(task.domain().signed_element(dislikes), 7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// Index or key, as in [`Entry`].
    pub item: u64,
    /// Whether the value's sign is negative.
    pub negative: bool,
}

/// The values that the entries of an input take: −1 and 1, or [−1, 1].
///
/// ```
/// use hushbin::ValueKind;
///
/// assert!(ValueKind::Real.accepts(0.5) && !ValueKind::Sign.accepts(0.5));
/// assert!(!ValueKind::Real.accepts(f64::NAN));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// -1 or 1; 0 is as if absent.
    Sign,
    /// Any real number in [-1, 1]; 0 is as if absent.
    Real,
}

impl ValueKind {
    /// Whether `value` is one of this kind; NaN never is.
    #[must_use]
    pub fn accepts(self, value: f64) -> bool {
        match self {
            Self::Sign => value == 1.0 || value == -1.0 || value == 0.0,
            Self::Real => (-1.0..=1.0).contains(&value),
        }
    }

    /// The values taken, in words.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Sign => "-1, 0 or 1",
            Self::Real => "a number in [-1, 1]",
        }
    }
}

/// The set that inputs are drawn from: how many items, how many entries each.
///
/// ```
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// let domain = task.domain();
/// assert_eq!((domain.items(), domain.sparsity()), (Some(40), 3));
/// // Each item with either sign, and s paddings.
/// assert_eq!(domain.signed_elements(), Some(83));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    items: Option<u32>,
    sparsity: u32,
}

/// Keys of paddings in open domains. A string's key meets one of these with
/// probability s·2⁻⁶⁴.
const PADDING_KEY: u64 = 0x9d5c_7f2e_41b3_8a60;
/// Added to the key of an item with a negative sign in open domains.
const NEGATIVE_KEY: u64 = 0xc2b2_ae3d_27d4_eb4f;

impl Domain {
    /// `items` is `None` for an open domain. Ranges are checked by
    /// [`Task`](crate::Task).
    pub(crate) const fn new(items: Option<u32>, sparsity: u32) -> Self {
        Self { items, sparsity }
    }

    /// Number of items d, or `None` where any string is an item.
    #[must_use]
    pub const fn items(&self) -> Option<u32> {
        self.items
    }

    /// s, the number of elements that every input has after padding.
    #[must_use]
    pub const fn sparsity(&self) -> u32 {
        self.sparsity
    }

    /// Number of signed elements, 2d + s with the paddings; `None` where open.
    #[must_use]
    pub const fn signed_elements(&self) -> Option<u32> {
        match self.items {
            Some(items) => Some(2 * items + self.sparsity),
            None => None,
        }
    }

    /// Number of elements without signs, d + s with the paddings; `None` where
    /// open.
    #[must_use]
    pub const fn elements(&self) -> Option<u32> {
        match self.items {
            Some(items) => Some(items + self.sparsity),
            None => None,
        }
    }

    /// The element of the `index`-th padding, where elements have no sign: the
    /// items are elements themselves.
    #[must_use]
    pub const fn padding(&self, index: u32) -> u64 {
        match self.items {
            Some(items) => items as u64 + index as u64,
            None => PADDING_KEY.wrapping_add(index as u64),
        }
    }

    /// The element that stands for an item with a sign: 2j or 2j + 1 in a
    /// closed domain, a 64-bit key in an open one.
    #[must_use]
    pub const fn signed_element(&self, signed: Signed) -> u64 {
        match self.items {
            Some(_) => 2 * signed.item + signed.negative as u64,
            None => signed
                .item
                .wrapping_add(if signed.negative { NEGATIVE_KEY } else { 0 }),
        }
    }

    /// The element of the `index`-th padding, for signed elements.
    #[must_use]
    pub const fn signed_padding(&self, index: u32) -> u64 {
        match self.items {
            Some(items) => 2 * items as u64 + index as u64,
            None => PADDING_KEY.wrapping_add(index as u64),
        }
    }

    /// Ternarises and samples down: turns entries into at most s signed items.
    ///
    /// A value v becomes its sign with probability |v| and nothing otherwise,
    /// independently for each entry, which leaves the expectation at v. Of more
    /// than s signed items a uniformly random s are kept. Returns whether any
    /// had to go: that is the bias of clipping, which the estimates do not
    /// undo.
    ///
    /// # Errors
    /// [`Error::UnknownItem`], [`Error::ValueRange`] or
    /// [`Error::DuplicateItem`]; nothing is drawn from `rng` then, and `signed`
    /// is empty.
    pub fn sparsify<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        kind: ValueKind,
        rng: &mut R,
        signed: &mut Vec<Signed>,
    ) -> Result<bool, Error> {
        signed.clear();
        self.check(entries, kind, &mut Vec::new())?;
        Ok(self.draw_signed(entries, rng, signed))
    }

    /// The same for entries that are checked.
    pub(crate) fn draw_signed<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        rng: &mut R,
        signed: &mut Vec<Signed>,
    ) -> bool {
        signed.clear();
        for entry in entries {
            if sample::with_probability(rng, entry.value) {
                signed.push(Signed {
                    item: entry.item,
                    negative: entry.value < 0.0,
                });
            }
        }
        let keep = self.sparsity as usize;
        let sampled_down = signed.len() > keep;
        if sampled_down {
            sample::choose_front(rng, signed, keep);
            signed.truncate(keep);
        }
        sampled_down
    }

    /// Checks entries against the domain; `keys` is memory for those that come
    /// unsorted.
    ///
    /// # Errors
    /// As [`Domain::sparsify`].
    pub(crate) fn check(
        &self,
        entries: &[Entry],
        kind: ValueKind,
        keys: &mut Vec<u64>,
    ) -> Result<(), Error> {
        for &Entry { item, value } in entries {
            if let Some(items) = self.items
                && item >= u64::from(items)
            {
                return Err(Error::UnknownItem { item, items });
            }
            if !kind.accepts(value) {
                return Err(Error::ValueRange {
                    item,
                    value,
                    expected: kind.expected(),
                });
            }
        }
        // Inputs mostly come sorted; otherwise sort their keys.
        if entries.is_sorted_by(|a, b| a.item < b.item) {
            return Ok(());
        }
        keys.clear();
        keys.extend(entries.iter().map(|entry| entry.item));
        sort(keys);
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::DuplicateItem { item: pair[0] }),
            None => Ok(()),
        }
    }
}
