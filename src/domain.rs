//! Items, signs and paddings, numbered as elements; and the way from one
//! person's entries to exactly s elements.

use alloc::vec::Vec;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, error};
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
/// use hushbin::domain::Domain;
///
/// let dislikes = Signed { item: 3, negative: true };
/// assert_eq!(Domain::rated(Some(40), 3).element(dislikes), 7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// Index or key, as in [`Entry`].
    pub item: u64,
    /// Whether the value's sign is negative.
    pub negative: bool,
}

/// The values that the entries of an input take: −1 and 1, [−1, 1], or 1 alone.
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
    /// 1; 0 is as if absent. Of questions that are answered by naming items.
    Presence,
}

impl ValueKind {
    /// Whether `value` is one of this kind; NaN never is.
    #[must_use]
    pub fn accepts(self, value: f64) -> bool {
        match self {
            Self::Sign => value == 1.0 || value == -1.0 || value == 0.0,
            Self::Real => (-1.0..=1.0).contains(&value),
            Self::Presence => value == 1.0 || value == 0.0,
        }
    }

    /// The values taken, in words.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Sign => "-1, 0 or 1",
            Self::Real => "a number in [-1, 1]",
            Self::Presence => "0 or 1",
        }
    }
}

/// The set that inputs are drawn from: how many items, how many entries each, and
/// which elements stand for them.
///
/// Where items are [rated](Domain::rated), each is two elements, one for either sign. Where they
/// are [named](Domain::named), each is one. Inputs of fewer than s entries are filled up with
/// paddings, which are elements of their own; where [exactly s](Domain::exact) are named there are
/// none, nor where [all](Domain::dense) have a value.
///
/// ```
/// use hushbin::domain::Domain;
///
/// let rated = Domain::rated(Some(40), 3);
/// assert_eq!((rated.items(), rated.sparsity()), (Some(40), 3));
/// // Each item with either sign, and s paddings.
/// assert_eq!(rated.elements(), Some(83));
/// assert_eq!(Domain::named(Some(40), 3).elements(), Some(43));
/// assert_eq!(Domain::exact(40, 1).elements(), Some(40));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domain {
    items: Option<u32>,
    sparsity: u32,
    is_rated: bool,
    is_padded: bool,
}

/// Keys of paddings in open domains. A string's key meets one of these with probability s·2⁻⁶⁴.
const PADDING_KEY: u64 = 0x9d5c_7f2e_41b3_8a60;
/// Added to the key of an item with a negative sign in open domains.
const NEGATIVE_KEY: u64 = 0xc2b2_ae3d_27d4_eb4f;

impl Domain {
    /// Up to `sparsity` of so many items, or of any strings, each with a sign or a
    /// value. Ranges are checked by [`Task`](crate::Task).
    #[must_use]
    pub const fn rated(items: Option<u32>, sparsity: u32) -> Self {
        Self {
            items,
            sparsity,
            is_rated: true,
            is_padded: true,
        }
    }

    /// Up to `sparsity` of so many items, or of any strings, that are there.
    #[must_use]
    pub const fn named(items: Option<u32>, sparsity: u32) -> Self {
        Self {
            is_rated: false,
            ..Self::rated(items, sparsity)
        }
    }

    /// Exactly `sparsity` of so many items.
    #[must_use]
    pub const fn exact(items: u32, sparsity: u32) -> Self {
        Self {
            is_padded: false,
            ..Self::named(Some(items), sparsity)
        }
    }

    /// Exactly one of any items, there or not.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    ///
    /// let texts = Domain::one_of_any();
    /// assert_eq!((texts.items(), texts.sparsity()), (None, 1));
    /// assert!(!texts.is_padded() && !texts.is_rated());
    /// ```
    #[must_use]
    pub const fn one_of_any() -> Self {
        Self {
            is_padded: false,
            ..Self::named(None, 1)
        }
    }

    /// All of so many items, each with a value that may be 0 like any other.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    ///
    /// let dense = Domain::dense(7);
    /// assert_eq!((dense.items(), dense.sparsity()), (Some(7), 7));
    /// assert!(!dense.is_padded() && Domain::rated(Some(7), 7).is_padded());
    /// ```
    #[must_use]
    pub const fn dense(items: u32) -> Self {
        Self {
            is_padded: false,
            ..Self::rated(Some(items), items)
        }
    }

    /// The same with another s.
    #[cfg(feature = "analysis")]
    pub(crate) const fn with_sparsity(self, sparsity: u32) -> Self {
        Self { sparsity, ..self }
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

    /// Whether each item has a sign or a value.
    #[must_use]
    pub const fn is_rated(&self) -> bool {
        self.is_rated
    }

    /// Whether inputs may have fewer than s entries, and are padded then.
    #[must_use]
    pub const fn is_padded(&self) -> bool {
        self.is_padded
    }

    /// Returns true for exactly one item of a list.
    pub(crate) const fn is_one_of_list(&self) -> bool {
        self.items.is_some() && self.sparsity == 1 && !self.is_rated && !self.is_padded
    }

    /// Whether every item has a value.
    #[must_use]
    pub(crate) const fn is_dense(&self) -> bool {
        self.is_rated && !self.is_padded
    }

    /// The check of mechanisms that draw so many of the items, all of which have a value.
    ///
    /// # Errors
    /// [`Error::Combination`] for this reason where not all have one; [`Error::OutOfRange`]
    /// where fewer are there.
    #[cfg(feature = "complete")]
    pub(crate) fn check_drawn(&self, drawn: u32, reason: &'static str) -> Result<(), Error> {
        let (true, Some(items)) = (self.is_dense(), self.items) else {
            return Err(error!(Combination { reason }));
        };
        let most = crate::bounds::DRAWN.at_most(f64::from(items));
        most.check(f64::from(drawn))
    }

    /// The check of mechanisms that take any s of the items.
    ///
    /// # Errors
    /// [`Error::Combination`] where all have a value.
    pub(crate) fn check_sparse(&self) -> Result<(), Error> {
        if self.is_dense() {
            return Err(error!(Combination {
                reason: "only \"window\" answers \"numbers\"",
            }));
        }
        Ok(())
    }

    /// The check of those of them that are about signs and values.
    ///
    /// # Errors
    /// As [`Domain::check_sparse`], and [`Error::Combination`] where items are there or
    /// not.
    pub(crate) fn check_rated(&self) -> Result<(), Error> {
        if self.is_rated {
            return self.check_sparse();
        }
        Err(error!(Combination {
            reason: "only \"collision\" answers a \"set\", a \"choice\", a \"flag\", a \"number\" or a \"cross\"",
        }))
    }

    /// How many elements stand for an item: one for either sign, or one.
    #[must_use]
    pub const fn elements_per_item(&self) -> u32 {
        1 + self.is_rated as u32
    }

    /// Number of elements with the paddings: 2d + s, d + s or d; `None` where open.
    #[must_use]
    pub const fn elements(&self) -> Option<u32> {
        match self.items {
            Some(items) => {
                let paddings = if self.is_padded { self.sparsity } else { 0 };
                Some(self.elements_per_item() * items + paddings)
            }
            None => None,
        }
    }

    /// The element that stands for an item with a sign. Where items are rated 2j or
    /// 2j + 1 in a closed domain, a 64-bit key in an open one; else the item.
    #[inline]
    #[must_use]
    pub const fn element(&self, signed: Signed) -> u64 {
        match (self.is_rated, self.items) {
            (false, _) => signed.item,
            (true, Some(_)) => 2 * signed.item + signed.negative as u64,
            (true, None) => {
                signed
                    .item
                    .wrapping_add(if signed.negative { NEGATIVE_KEY } else { 0 })
            }
        }
    }

    /// The element of the `index`-th padding.
    #[must_use]
    pub const fn padding(&self, index: u32) -> u64 {
        match self.items {
            Some(items) => self.elements_per_item() as u64 * items as u64 + index as u64,
            None => PADDING_KEY.wrapping_add(index as u64),
        }
    }

    /// The same domain where items are elements themselves, whose signs are kept beside them.
    #[must_use]
    pub const fn unsigned(&self) -> Self {
        Self {
            is_rated: false,
            ..*self
        }
    }

    /// Turns entries that were checked into at most s signed items.
    ///
    /// A value v becomes its sign with probability |v| and nothing otherwise, independently for
    /// each entry, which leaves the expectation at v. Of more than s signed items a uniformly
    /// random s are kept. Returns whether any had to go: that is the bias of clipping, which the
    /// estimates do not undo.
    pub fn draw_signed<R: Rng + ?Sized>(
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
}

/// The check that items are among so many, or any, and their values accepted.
///
/// # Errors
/// [`Error::UnknownItem`] and [`Error::ValueRange`].
pub(crate) fn check_values(
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
            return Err(error!(ValueRange {
                item,
                value,
                expected,
            }));
        }
    }
    Ok(())
}

/// The check that no item occurs twice; `keys` is memory for those that come unsorted.
///
/// # Errors
/// [`Error::DuplicateItem`].
pub(crate) fn check_distinct(entries: &[Entry], keys: &mut Vec<u64>) -> Result<(), Error> {
    // Inputs mostly come sorted; otherwise sort their keys.
    if entries.is_sorted_by(|a, b| a.item < b.item) {
        return Ok(());
    }
    keys.clear();
    keys.extend(entries.iter().map(|entry| entry.item));
    sort(keys);
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(error!(DuplicateItem { item: pair[0] })),
        None => Ok(()),
    }
}
