//! The parameters of mechanisms that draw one bucket.

use core::fmt::Debug;
use core::hash::Hash as Hashable;

use super::cells::Cells;
use crate::bounds;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::{Hash, Hashing, MOST_WINDOWED};

/// The parameters of a mechanism that draws one bucket: its rule, how elements
/// are hashed, by how many functions, and t, the number of buckets of each.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Rule, RuleName};
///
/// let heaviest = Collision::new(Rule::Heaviest { favoured: 4 }, Hashing::Balanced, 17)?;
/// assert_eq!(heaviest.rule_name(), RuleName::Heaviest);
/// assert_eq!((heaviest.favoured(), heaviest.buckets()), (Some(4), 17));
///
/// // Not all of them can be favoured.
/// assert!(Collision::new(Rule::Heaviest { favoured: 17 }, Hashing::Balanced, 17).is_err());
/// // Of four functions there are 68.
/// let more = Collision::with_hashes(Rule::Heaviest { favoured: 17 }, Hashing::Balanced, 17, 4)?;
/// assert_eq!((more.hashes(), more.outcomes()), (4, 68));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subset<R> {
    pub(super) rule: R,
    pub(super) hashing: Hashing,
    /// Of which a pair has two sides.
    pub(super) buckets: u32,
    pub(super) hashes: u32,
}

/// A choice of favoured buckets: those that a paper's rule picks, by how the input falls, or as
/// many as the task says. Implemented by [`collision::Rule`](crate::mechanism::collision::Rule) and
/// [`coco::Rule`](crate::mechanism::coco::Rule).
///
/// ```
/// use hushbin::mechanism::{Rule as _, coco, collision};
///
/// assert_eq!(collision::Rule::paper()?.favoured(), None);
/// assert_eq!(coco::Rule::strongest(3).favoured(), Some(3));
/// # Ok::<(), hushbin::Error>(())
/// ```
pub trait Rule: Copy + Eq + Hashable + Debug {
    /// Name of the mechanism, as in task files.
    const MECHANISM: &'static str;
    /// How many buckets make a cell that elements are hashed to: 1, or 2 where
    /// cells are pairs of sides.
    const SIDES: u32;
    /// Why the paper's rule needs more cells than s.
    const NEEDS_CELLS: &'static str;
    /// Why the paper's rule takes one hash function.
    const ONE_HASH: &'static str;

    /// c, the number of favoured buckets; `None` under the paper's rule.
    fn favoured(&self) -> Option<u32>;

    /// The paper's rule, which favours as many buckets as the input makes it.
    ///
    /// # Errors
    /// [`Error::UnknownMechanism`] in builds that are not complete.
    fn paper() -> Result<Self, Error>;

    /// The rule that favours the `favoured` strongest buckets.
    fn strongest(favoured: u32) -> Self;

    /// The greatest c of `buckets` buckets: all but one, or a side of each pair.
    fn most_favoured(buckets: u32) -> u32 {
        if Self::SIDES == 1 {
            buckets - 1
        } else {
            buckets / Self::SIDES
        }
    }

    /// Returns whether items that an input does not have may stand for paddings.
    fn fills(&self) -> bool {
        Self::SIDES > 1 && self.favoured().is_some()
    }
}

impl<R: Rule> Subset<R> {
    /// Parameters within their ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `buckets` is outside [`bounds::BUCKETS`],
    /// `hashes` outside [`bounds::HASHES`] or such that there are more than
    /// [`bounds::BUCKETS`] in all, or c is not from 1 to what the rule allows,
    /// R·t − 1 for Collision and R·t/2 for CoCo, or there are more
    /// than 255 `buckets` under windows; [`Error::Combination`] when CoCo's
    /// `buckets` are odd, there are several functions under the paper's rule, or the
    /// hashing is not for the rule.
    /// Whether the parameters suit a domain is checked by
    /// [`Task::new`](crate::Task::new).
    pub fn with_hashes(
        rule: R,
        hashing: Hashing,
        buckets: u32,
        hashes: u32,
    ) -> Result<Self, Error> {
        let windows = hashing == Hashing::BalancedWindows;
        let all = bounds::BUCKETS.max as u32;
        let most = if windows { MOST_WINDOWED } else { all };
        let bound = bounds::BUCKETS.at_most(f64::from(most));
        bound.check(f64::from(buckets))?;
        if !buckets.is_multiple_of(R::SIDES) {
            return Err(error!(Combination {
                reason: "coco needs an even number of \"buckets\": they form pairs",
            }));
        }
        if !rule.fills() {
            hashing.check_paddings()?;
        }
        let most = if windows { 1 } else { all / buckets };
        bounds::HASHES
            .at_most(f64::from(most))
            .check(f64::from(hashes))?;
        match rule.favoured() {
            Some(favoured) => bounds::FAVOURED
                .at_most(f64::from(R::most_favoured(hashes * buckets)))
                .check(f64::from(favoured))?,
            None if hashes > 1 => {
                return Err(error!(Combination {
                    reason: R::ONE_HASH,
                }));
            }
            None => {}
        }
        Ok(Self {
            rule,
            hashing,
            buckets,
            hashes,
        })
    }

    /// The rule that picks the favoured buckets.
    #[must_use]
    pub const fn rule(&self) -> R {
        self.rule
    }

    /// c, the number of favoured buckets, where the rule has it.
    #[must_use]
    pub fn favoured(&self) -> Option<u32> {
        self.rule.favoured()
    }

    /// How elements are hashed.
    #[must_use]
    pub const fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// R, the number of hash functions.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// R·t, the number of buckets in all, of which a report names one: those of the
    /// first function, then those of the second, and so on.
    #[must_use]
    pub const fn outcomes(&self) -> u32 {
        self.hashes * self.buckets
    }

    /// Counts the buckets that an element is in, one behind the other and the first behind the last:
    /// c under [`Hashing::BalancedWindows`], else 1.
    #[must_use]
    pub fn width(&self) -> u32 {
        match self.hashing {
            Hashing::BalancedWindows => self.favoured().unwrap_or(1),
            _ => 1,
        }
    }

    /// The number of cells that a function hashes elements to: t, or t/2 pairs.
    pub(crate) const fn cells(&self) -> u32 {
        self.buckets / R::SIDES
    }

    /// How many elements are hashed, paddings among them if there are any; `None` in
    /// an open domain.
    #[must_use]
    pub fn elements(&self, domain: &Domain) -> Option<u32> {
        Self::elements_under(self.hashing, domain)
    }

    pub(crate) fn elements_under(hashing: Hashing, domain: &Domain) -> Option<u32> {
        match hashing {
            Hashing::BalancedItems => domain.items(),
            _ if R::SIDES > 1 => domain.unsigned().elements(),
            _ => domain.elements(),
        }
    }

    /// The hash to cells.
    pub(crate) fn hash(&self, domain: &Domain) -> Hash {
        Hash::new(self.hashing, self.elements(domain), self.cells())
    }

    /// d, where what an input lacks of s entries are items that it does not have.
    pub(in crate::mechanism) fn filling(&self, domain: &Domain) -> Option<u32> {
        let items = domain.items();
        items.filter(|_| self.hashing == Hashing::BalancedItems)
    }

    /// For the cells of all functions and inputs over `domain`.
    pub(super) fn tally(&self, domain: &Domain) -> Cells {
        Cells::new(self.cells(), self.hashes, domain.sparsity() * self.width())
    }
}

/// [`bounds::HASHES`] at a sparsity s.
pub(crate) fn most_hashes(sparsity: u32) -> bounds::Bound {
    bounds::HASHES.at_most(f64::from(bounds::HASHED / sparsity))
}
