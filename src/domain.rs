//! Items, signs and paddings, numbered as elements, and the reduction of one person's entries to s
//! elements.

use alloc::vec::Vec;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, error};
use crate::sample;
use crate::sort::sort_keys;

/// Entry of a person's input: the value of one item.
///
/// ```
/// use hushbin::{Entry, ValueKind};
///
/// let likes = Entry { item: 3, value: 1.0 };
/// assert!(ValueKind::Sign.accepts_value(likes.value));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Index of the item in a closed task, or the 64-bit key of its name in an open one (see
    /// [`Items::find_item`](crate::Items::find_item)).
    pub item: u64,
    /// Value, in [-1, 1]. Signs are -1 or 1. An entry of value 0 counts as absent.
    pub value: f64,
}

/// Item with a sign. [`Domain::round_and_sample_entries`] draws it from an entry.
///
/// ```
/// use hushbin::domain::SignedItem;
///
/// use hushbin::domain::Domain;
///
/// let dislikes = SignedItem { item: 3, is_negative: true };
/// assert_eq!(Domain::of_rated_items(Some(40), 3).element_of_signed_item(dislikes), 7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedItem {
    /// Index or key of the item, as in [`Entry`].
    pub item: u64,
    /// True for a negative sign.
    pub is_negative: bool,
}

/// Range of the values that entries may have: {−1, 1}, [−1, 1], or {1}.
///
/// ```
/// use hushbin::ValueKind;
///
/// assert!(ValueKind::Real.accepts_value(0.5) && !ValueKind::Sign.accepts_value(0.5));
/// assert!(!ValueKind::Real.accepts_value(f64::NAN));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// -1 or 1. The value 0 counts as absent.
    Sign,
    /// Any real number in [-1, 1]. The value 0 counts as absent.
    Real,
    /// 1, for questions that are answered by naming items. The value 0 counts as absent.
    Presence,
}

impl ValueKind {
    /// Returns whether entries of this kind may have the value `value`. NaN is never accepted.
    #[must_use]
    pub fn accepts_value(self, value: f64) -> bool {
        match self {
            Self::Sign => value == 1.0 || value == -1.0 || value == 0.0,
            Self::Real => (-1.0..=1.0).contains(&value),
            Self::Presence => value == 1.0 || value == 0.0,
        }
    }

    /// Returns the accepted values, in words.
    pub(crate) const fn accepted_values_text(self) -> &'static str {
        match self {
            Self::Sign => "-1, 0 or 1",
            Self::Real => "a number in [-1, 1]",
            Self::Presence => "0 or 1",
        }
    }
}

/// Domain of inputs: the number of items, the number of entries of an input, and the numbering of
/// elements.
///
/// A [rated](Domain::of_rated_items) item has two elements, one for each sign. A [named](Domain::of_unrated_items)
/// item has one element. Inputs of fewer than s entries are filled up with paddings, which are
/// additional elements. Domains of [exactly s](Domain::with_exact_entry_count) items and
/// [dense](Domain::of_dense_inputs) domains have no paddings.
///
/// ```
/// use hushbin::domain::Domain;
///
/// let rated = Domain::of_rated_items(Some(40), 3);
/// assert_eq!((rated.item_count(), rated.sparsity()), (Some(40), 3));
/// // Each item with either sign, and s paddings.
/// assert_eq!(rated.element_count(), Some(83));
/// assert_eq!(Domain::of_unrated_items(Some(40), 3).element_count(), Some(43));
/// assert_eq!(Domain::with_exact_entry_count(40, 1).element_count(), Some(40));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    item_count: Option<u32>,
    sparsity: u32,
    is_rated: bool,
    is_padded: bool,
}

/// Key of the first padding in open domains. The key is a random constant. So a string has the key
/// of one of the s paddings with probability s·2⁻⁶⁴.
const FIRST_PADDING_KEY: u64 = 0x9d5c_7f2e_41b3_8a60;
/// Offset added to the key of an item with a negative sign, in open domains.
const NEGATIVE_SIGN_KEY_OFFSET: u64 = 0xc2b2_ae3d_27d4_eb4f;

impl Domain {
    /// Creates the domain of inputs that have up to `sparsity` of the `items` items, each with a
    /// sign or a value. If `items` is `None`, any string is an item. [`Task`](crate::Task) checks
    /// the ranges.
    #[must_use]
    pub const fn of_rated_items(items: Option<u32>, sparsity: u32) -> Self {
        Self {
            item_count: items,
            sparsity,
            is_rated: true,
            is_padded: true,
        }
    }

    /// Creates the domain of inputs that have up to `sparsity` of the `items` items, without signs.
    /// If `items` is `None`, any string is an item.
    #[must_use]
    pub const fn of_unrated_items(items: Option<u32>, sparsity: u32) -> Self {
        Self {
            is_rated: false,
            ..Self::of_rated_items(items, sparsity)
        }
    }

    /// Creates the domain of inputs that have exactly `sparsity` of the `items` items, without
    /// signs.
    #[must_use]
    pub const fn with_exact_entry_count(items: u32, sparsity: u32) -> Self {
        Self {
            is_padded: false,
            ..Self::of_unrated_items(Some(items), sparsity)
        }
    }

    /// Creates the domain of inputs with exactly one item. Any string is an item.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    ///
    /// let texts = Domain::of_one_open_item();
    /// assert_eq!((texts.item_count(), texts.sparsity()), (None, 1));
    /// assert!(!texts.is_padded() && !texts.is_rated());
    /// ```
    #[must_use]
    pub const fn of_one_open_item() -> Self {
        Self {
            is_padded: false,
            ..Self::of_unrated_items(None, 1)
        }
    }

    /// Creates the domain of inputs that have all `items` items, each with a value. The value 0
    /// does not count as absent.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    ///
    /// let dense = Domain::of_dense_inputs(7);
    /// assert_eq!((dense.item_count(), dense.sparsity()), (Some(7), 7));
    /// assert!(!dense.is_padded() && Domain::of_rated_items(Some(7), 7).is_padded());
    /// ```
    #[must_use]
    pub const fn of_dense_inputs(items: u32) -> Self {
        Self {
            is_padded: false,
            ..Self::of_rated_items(Some(items), items)
        }
    }

    /// Returns this domain with another sparsity s.
    #[cfg(feature = "analysis")]
    pub(crate) const fn with_sparsity(self, sparsity: u32) -> Self {
        Self { sparsity, ..self }
    }

    /// Returns the number of items d, or `None` if any string is an item.
    #[must_use]
    pub const fn item_count(&self) -> Option<u32> {
        self.item_count
    }

    /// Returns the sparsity s, the number of elements of every input after padding.
    #[must_use]
    pub const fn sparsity(&self) -> u32 {
        self.sparsity
    }

    /// Returns whether each item has a sign or a value.
    #[must_use]
    pub const fn is_rated(&self) -> bool {
        self.is_rated
    }

    /// Returns whether inputs may have fewer entries than the sparsity s. Such inputs are padded.
    #[must_use]
    pub const fn is_padded(&self) -> bool {
        self.is_padded
    }

    /// Returns whether every input consists of exactly one item of a list.
    pub(crate) const fn is_choice_from_list(&self) -> bool {
        self.item_count.is_some() && self.sparsity == 1 && !self.is_rated && !self.is_padded
    }

    /// Returns whether every input has a value for every item.
    #[must_use]
    pub(crate) const fn is_dense(&self) -> bool {
        self.is_rated && !self.is_padded
    }

    /// Checks that the domain is dense and has at least `drawn` items. Mechanisms that draw some of
    /// the items need such a domain.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] with `reason` if the domain is not dense; [`Error::OutOfRange`] if it
    /// has fewer items than `drawn`.
    #[cfg(feature = "complete")]
    pub(crate) fn check_dense_with_min_items(
        &self,
        drawn: u32,
        reason: &'static str,
    ) -> Result<(), Error> {
        let (true, Some(items)) = (self.is_dense(), self.item_count) else {
            return Err(error!(InvalidCombination { reason }));
        };
        let most = crate::bounds::DRAWN_ATTRIBUTE_COUNT_RANGE.with_max(f64::from(items));
        most.check_in_range(f64::from(drawn))
    }

    /// Checks that the domain is not dense. Mechanisms that take any s of the items need such a
    /// domain.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for a dense domain.
    pub(crate) fn check_is_not_dense(&self) -> Result<(), Error> {
        if self.is_dense() {
            return Err(error!(InvalidCombination {
                reason: "\"numbers\" need a \"window\"",
            }));
        }
        Ok(())
    }

    /// Checks that the domain is rated and not dense. Mechanisms for signs and values need such a
    /// domain.
    ///
    /// # Errors
    /// As [`Domain::check_is_not_dense`], and [`Error::InvalidCombination`] for a domain without signs.
    pub(crate) fn check_rated_and_not_dense(&self) -> Result<(), Error> {
        if self.is_rated {
            return self.check_is_not_dense();
        }
        Err(error!(InvalidCombination {
            reason: "this mechanism is only for \"ratings\": use \"collision\"",
        }))
    }

    /// Returns the number of elements of one item: 2 if the item has a sign, else 1.
    #[must_use]
    pub const fn elements_per_item(&self) -> u32 {
        1 + self.is_rated as u32
    }

    /// Returns the number of elements including paddings, or `None` for an open domain. With d
    /// items and sparsity s, the number is 2d + s, d + s, 2d or d.
    #[must_use]
    pub const fn element_count(&self) -> Option<u32> {
        match self.item_count {
            Some(items) => {
                let paddings = if self.is_padded { self.sparsity } else { 0 };
                Some(self.elements_per_item() * items + paddings)
            }
            None => None,
        }
    }

    /// Returns the element of an item with a sign. If j is a rated item, the element is 2j or 2j +
    /// 1 in a closed domain, and a 64-bit key in an open domain. If the item is not rated, the
    /// element has the item's index or key.
    #[inline]
    #[must_use]
    pub const fn element_of_signed_item(&self, signed: SignedItem) -> u64 {
        match (self.is_rated, self.item_count) {
            (false, _) => signed.item,
            (true, Some(_)) => 2 * signed.item + signed.is_negative as u64,
            (true, None) => signed.item.wrapping_add(if signed.is_negative {
                NEGATIVE_SIGN_KEY_OFFSET
            } else {
                0
            }),
        }
    }

    /// Returns the element of the `index`-th padding.
    #[must_use]
    pub const fn padding_element(&self, index: u32) -> u64 {
        match self.item_count {
            Some(items) => self.elements_per_item() as u64 * items as u64 + index as u64,
            None => FIRST_PADDING_KEY.wrapping_add(index as u64),
        }
    }

    /// Returns this domain without signs: one element for each item. The caller then handles the
    /// signs separately.
    #[must_use]
    pub const fn without_signs(&self) -> Self {
        Self {
            is_rated: false,
            ..*self
        }
    }

    /// Reduces checked entries to at most s signed items.
    ///
    /// A value v becomes its sign with probability |v| and is dropped otherwise, independently for
    /// each entry. This keeps the expectation at v. If more than s signed items are left, s of them
    /// are drawn uniformly and kept.
    ///
    /// Returns true if items were discarded because more than s were left. Discarding causes the
    /// bias of clipping, which estimates do not correct.
    pub fn round_and_sample_entries<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        rng: &mut R,
        signed: &mut Vec<SignedItem>,
    ) -> bool {
        signed.clear();
        for entry in entries {
            if sample::draw_with_probability(rng, entry.value) {
                signed.push(SignedItem {
                    item: entry.item,
                    is_negative: entry.value < 0.0,
                });
            }
        }
        let keep = self.sparsity as usize;
        let sampled_down = signed.len() > keep;
        if sampled_down {
            // A uniformly random subset moves to the front, and the rest is cut off.
            sample::move_random_subset_to_front(rng, signed, keep);
            signed.truncate(keep);
        }
        sampled_down
    }
}

/// Checks that each entry names a known item and has an accepted value. Items must be below
/// `items`, unless that is `None`.
///
/// # Errors
/// [`Error::UnknownItem`] and [`Error::ValueOutOfRange`].
pub(crate) fn check_entry_values(
    entries: &[Entry],
    items: Option<u32>,
    accepts: &dyn Fn(u64, f64) -> bool,
    expected: &'static str,
) -> Result<(), Error> {
    for &Entry { item, value } in entries {
        if let Some(items) = items
            && item >= u64::from(items)
        {
            return Err(error!(UnknownItem { item, items }));
        }
        if !accepts(item, value) {
            return Err(error!(ValueOutOfRange {
                item,
                value,
                expected,
            }));
        }
    }
    Ok(())
}

/// Checks that no item occurs twice. `keys` is a buffer in which the items are sorted.
///
/// # Errors
/// [`Error::DuplicateItem`].
pub(crate) fn check_distinct_items(entries: &[Entry], keys: &mut Vec<u64>) -> Result<(), Error> {
    // Inputs are nearly always sorted already. Otherwise the items are copied and sorted.
    if entries.is_sorted_by(|a, b| a.item < b.item) {
        return Ok(());
    }
    keys.clear();
    keys.extend(entries.iter().map(|entry| entry.item));
    sort_keys(keys);
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(error!(DuplicateItem { item: pair[0] })),
        None => Ok(()),
    }
}
