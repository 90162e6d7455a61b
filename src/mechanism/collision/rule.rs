//! Parameters of Collision, and the rules that choose the favoured buckets.

use crate::error::Error;
use crate::mechanism::subset::{self, HashedSubsetSelection};

/// Parameters of Collision.
pub type Collision = HashedSubsetSelection<FavouredBucketRule>;
/// Sampler of Collision's reports.
pub type Randomizer = subset::Randomizer<FavouredBucketRule>;

/// Rule that chooses the favoured buckets from the elements that each bucket holds.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
///
/// let collision = Collision::new(FavouredBucketRule::Heaviest { favoured: 2 }, HashFamily::Balanced, 12)?;
/// assert_eq!(collision.favoured_count(), Some(2));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FavouredBucketRule {
    /// Rule of Wang et al.: favours every bucket that holds an element, at most s buckets in all at
    /// sparsity s. Requires more than s buckets.
    #[cfg(feature = "complete")]
    Occupied,
    /// Favours the `favoured` buckets that hold the most elements. Ties are broken uniformly at
    /// random, also among empty buckets.
    Heaviest {
        /// Number c of favoured buckets, from 1 to R·t − 1, for R hash functions of t buckets each.
        favoured: u32,
    },
}

impl subset::BucketFavouringRule for FavouredBucketRule {
    const MECHANISM_NAME: &'static str = "collision";
    const SIDES_PER_CELL: u32 = 1;
    const TOO_FEW_CELLS_REASON: &'static str =
        "rule \"occupied\" needs more \"buckets\" than \"sparsity\"";
    const MULTIPLE_HASHES_REASON: &'static str =
        "rule \"occupied\" needs \"hashes\" 1: only rule \"heaviest\" takes more";

    fn favoured_count(&self) -> Option<u32> {
        match self {
            #[cfg(feature = "complete")]
            Self::Occupied => None,
            Self::Heaviest { favoured } => Some(*favoured),
        }
    }

    #[cfg(feature = "complete")]
    fn paper_rule() -> Result<Self, Error> {
        Ok(Self::Occupied)
    }

    #[cfg(not(feature = "complete"))]
    fn paper_rule() -> Result<Self, Error> {
        Err(crate::mechanism::contract::unknown_mechanism_error(
            "a rule of a paper",
        ))
    }

    fn strongest_rule(favoured: u32) -> Self {
        Self::Heaviest { favoured }
    }
}
