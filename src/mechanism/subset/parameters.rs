//! Parameters of mechanisms that draw one bucket.

use core::fmt::Debug;
use core::hash::Hash as Hashable;

use super::cell_strengths::CellStrengths;
use crate::bounds;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::{ElementHash, HashFamily, MAX_WINDOWED_HASH_BUCKETS};

/// Parameters of a mechanism that draws one bucket: its rule, its hash family, the number R of hash
/// functions, and the number t of buckets of each hash function.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule, FavouredBucketRuleName};
///
/// let heaviest = Collision::new(FavouredBucketRule::Heaviest { favoured: 4 }, HashFamily::Balanced, 17)?;
/// assert_eq!(heaviest.rule_name(), FavouredBucketRuleName::Heaviest);
/// assert_eq!((heaviest.favoured_count(), heaviest.buckets_per_hash()), (Some(4), 17));
///
/// // At most all buckets but one can be favoured.
/// assert!(Collision::new(FavouredBucketRule::Heaviest { favoured: 17 }, HashFamily::Balanced, 17).is_err());
/// // Four functions have 68 buckets.
/// let more = Collision::new_with_hash_count(FavouredBucketRule::Heaviest { favoured: 17 }, HashFamily::Balanced, 17, 4)?;
/// assert_eq!((more.hash_count(), more.total_buckets()), (4, 68));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HashedSubsetSelection<R> {
    pub(super) favouring_rule: R,
    pub(super) hash_family: HashFamily,
    /// Number t of buckets of each hash function. In CoCo, two buckets form a pair.
    pub(super) buckets_per_hash: u32,
    pub(super) hash_count: u32,
}

/// Rule that chooses the favoured buckets. Each mechanism has two rules. The rule from the
/// mechanism's paper favours a number of buckets that depends on the input. The other rule favours
/// a number of buckets that the task states. Implemented by
/// [`collision::FavouredBucketRule`](crate::mechanism::collision::FavouredBucketRule) and
/// [`coco::FavouredSideRule`](crate::mechanism::coco::FavouredSideRule).
///
/// ```
/// use hushbin::mechanism::{BucketFavouringRule as _, coco, collision};
///
/// assert_eq!(collision::FavouredBucketRule::paper_rule()?.favoured_count(), None);
/// assert_eq!(coco::FavouredSideRule::strongest_rule(3).favoured_count(), Some(3));
/// # Ok::<(), hushbin::Error>(())
/// ```
pub trait BucketFavouringRule: Copy + Eq + Hashable + Debug {
    /// Name of the mechanism, as in task files.
    const MECHANISM_NAME: &'static str;
    /// Number of buckets in a cell: 1, or 2 if cells are pairs of sides. Elements are hashed to
    /// cells.
    const SIDES_PER_CELL: u32;
    /// Reason in the error if the paper's rule has s cells or fewer, where s is the sparsity.
    const TOO_FEW_CELLS_REASON: &'static str;
    /// Reason in the error if the paper's rule is given several hash functions.
    const MULTIPLE_HASHES_REASON: &'static str;

    /// Number c of favoured buckets; `None` under the paper's rule.
    fn favoured_count(&self) -> Option<u32>;

    /// Returns the paper's rule, whose number of favoured buckets depends on the input.
    ///
    /// # Errors
    /// [`Error::UnknownMechanism`] in builds that are not complete.
    fn paper_rule() -> Result<Self, Error>;

    /// Returns the rule that favours the `favoured` strongest buckets.
    fn strongest_rule(favoured: u32) -> Self;

    /// Maximum number c of favoured buckets, if there are `buckets` buckets. The maximum is all but
    /// one or, if cells are pairs of sides, half of the buckets.
    fn max_favoured(buckets: u32) -> u32 {
        if Self::SIDES_PER_CELL == 1 {
            buckets - 1
        } else {
            buckets / Self::SIDES_PER_CELL
        }
    }

    /// Returns true if the rule allows the hash family [`HashFamily::BalancedItems`]. Under this
    /// family, short inputs are filled up with items instead of paddings.
    fn allows_balanced_items_hash(&self) -> bool {
        Self::SIDES_PER_CELL > 1 && self.favoured_count().is_some()
    }
}

impl<R: BucketFavouringRule> HashedSubsetSelection<R> {
    /// Checks the ranges and creates the parameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] in these cases:
    ///
    /// - `buckets` is outside [`bounds::BUCKET_COUNT_RANGE`], or above 255 under windows;
    /// - `hashes` is outside [`bounds::HASH_FUNCTION_COUNT_RANGE`], or gives more than [`bounds::BUCKET_COUNT_RANGE`] buckets
    ///   in all;
    /// - the rule's number of favoured buckets is not from 1 to R·t − 1 (Collision) or R·t/2
    ///   (CoCo), for R hash functions of t buckets each.
    ///
    /// [`Error::InvalidCombination`] in these cases:
    ///
    /// - CoCo's `buckets` are odd;
    /// - there are several functions under the paper's rule;
    /// - the hash family is [`HashFamily::BalancedItems`], and the rule is not CoCo's `strongest`.
    ///
    /// [`Task::new`](crate::Task::new) checks that the parameters suit a domain.
    pub fn new_with_hash_count(
        rule: R,
        hashing: HashFamily,
        buckets: u32,
        hashes: u32,
    ) -> Result<Self, Error> {
        let windows = hashing == HashFamily::BalancedWindows;
        let all = bounds::BUCKET_COUNT_RANGE.max as u32;
        let most = if windows {
            MAX_WINDOWED_HASH_BUCKETS
        } else {
            all
        };
        let bound = bounds::BUCKET_COUNT_RANGE.with_max(f64::from(most));
        bound.check_in_range(f64::from(buckets))?;
        if !buckets.is_multiple_of(R::SIDES_PER_CELL) {
            return Err(error!(InvalidCombination {
                reason: "coco needs an even number of \"buckets\": they form pairs",
            }));
        }
        if !rule.allows_balanced_items_hash() {
            hashing.check_uses_paddings()?;
        }
        let most = if windows { 1 } else { all / buckets };
        bounds::HASH_FUNCTION_COUNT_RANGE
            .with_max(f64::from(most))
            .check_in_range(f64::from(hashes))?;
        match rule.favoured_count() {
            Some(favoured) => bounds::FAVOURED_BUCKET_COUNT_RANGE
                .with_max(f64::from(R::max_favoured(hashes * buckets)))
                .check_in_range(f64::from(favoured))?,
            None if hashes > 1 => {
                return Err(error!(InvalidCombination {
                    reason: R::MULTIPLE_HASHES_REASON,
                }));
            }
            None => {}
        }
        Ok(Self {
            favouring_rule: rule,
            hash_family: hashing,
            buckets_per_hash: buckets,
            hash_count: hashes,
        })
    }

    /// Rule that chooses the favoured buckets.
    #[must_use]
    pub const fn favouring_rule(&self) -> R {
        self.favouring_rule
    }

    /// Number c of favoured buckets; `None` under the paper's rule.
    #[must_use]
    pub fn favoured_count(&self) -> Option<u32> {
        self.favouring_rule.favoured_count()
    }

    /// Family of the hash functions.
    #[must_use]
    pub const fn hash_family(&self) -> HashFamily {
        self.hash_family
    }

    /// Number R of hash functions.
    #[must_use]
    pub const fn hash_count(&self) -> u32 {
        self.hash_count
    }

    /// Total number of buckets, R·t. A report has one of them. The buckets of the first hash
    /// function come first, then those of the second, and so on.
    #[must_use]
    pub const fn total_buckets(&self) -> u32 {
        self.hash_count * self.buckets_per_hash
    }

    /// Number of buckets that contain each element. Under [`HashFamily::BalancedWindows`] it is the
    /// number of favoured buckets, and these buckets are consecutive in cyclic order. Otherwise it
    /// is 1.
    #[must_use]
    pub fn buckets_per_element(&self) -> u32 {
        match self.hash_family {
            HashFamily::BalancedWindows => self.favoured_count().unwrap_or(1),
            _ => 1,
        }
    }

    /// Number of cells of each hash function: t buckets in Collision, t/2 pairs in CoCo.
    pub(crate) const fn cells_per_hash(&self) -> u32 {
        self.buckets_per_hash / R::SIDES_PER_CELL
    }

    /// Number of elements of the domain, paddings included if there are any. `None` in an open
    /// domain.
    #[must_use]
    pub fn domain_element_count(&self, domain: &Domain) -> Option<u32> {
        Self::element_count_under_family(self.hash_family, domain)
    }

    pub(crate) fn element_count_under_family(hashing: HashFamily, domain: &Domain) -> Option<u32> {
        match hashing {
            HashFamily::BalancedItems => domain.item_count(),
            _ if R::SIDES_PER_CELL > 1 => domain.without_signs().element_count(),
            _ => domain.element_count(),
        }
    }

    /// Returns the hash that maps elements to cells.
    pub(crate) fn element_to_cell_hash(&self, domain: &Domain) -> ElementHash {
        ElementHash::new(
            self.hash_family,
            self.domain_element_count(domain),
            self.cells_per_hash(),
        )
    }

    /// Number d of items, if inputs with fewer entries than the sparsity are filled up with items.
    /// `None` if they are filled up with paddings.
    pub(in crate::mechanism) fn filler_item_pool_size(&self, domain: &Domain) -> Option<u32> {
        let items = domain.item_count();
        items.filter(|_| self.hash_family == HashFamily::BalancedItems)
    }

    /// Creates counts of 0 for the cells of all hash functions, for inputs over `domain`.
    pub(super) fn empty_cell_strengths(&self, domain: &Domain) -> CellStrengths {
        CellStrengths::new(
            self.cells_per_hash(),
            self.hash_count,
            domain.sparsity() * self.buckets_per_element(),
        )
    }
}

/// Returns the range of the number R of hash functions at sparsity s. It is [`bounds::HASH_FUNCTION_COUNT_RANGE`] with
/// a maximum that depends on s. The product R·s is bounded, because the client computes R·s hashes
/// for each report.
pub(crate) fn hash_count_range(sparsity: u32) -> bounds::ParameterRange {
    bounds::HASH_FUNCTION_COUNT_RANGE.with_max(f64::from(bounds::MAX_HASHES_PER_REPORT / sparsity))
}
