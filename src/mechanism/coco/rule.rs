//! Parameters of CoCo, and the rules that choose the favoured sides.

use crate::error::Error;
use crate::mechanism::subset::{self, HashedSubsetSelection};

/// Parameters of CoCo.
pub type Coco = HashedSubsetSelection<FavouredSideRule>;
/// Sampler of CoCo's reports.
pub type Randomizer = subset::Randomizer<FavouredSideRule>;

/// Rule that chooses the favoured sides from the pushes of an input's entries.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::coco::{Coco, FavouredSideRule};
///
/// assert!(Coco::new(FavouredSideRule::Strongest { favoured: 2 }, HashFamily::Balanced, 12).is_ok());
/// // Buckets form pairs.
/// assert!(Coco::new(FavouredSideRule::RandomEntryDecides, HashFamily::Balanced, 13).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FavouredSideRule {
    /// Rule of Wang et al.: in each pushed pair, one of the entries is chosen uniformly at random,
    /// and the side that it pushes to is favoured. Requires at least 2s + 2 buckets at sparsity s.
    /// Reports under this rule also yield the frequency of an item with one sign, and with either
    /// sign.
    RandomEntryDecides,
    /// Favours the `favoured` sides with the strongest net push. Ties are broken uniformly at
    /// random.
    Strongest {
        /// Number c of favoured sides, from 1 to R·T, for R hash functions of T pairs each.
        favoured: u32,
    },
}

impl subset::BucketFavouringRule for FavouredSideRule {
    const MECHANISM_NAME: &'static str = "coco";
    const SIDES_PER_CELL: u32 = 2;
    const TOO_FEW_CELLS_REASON: &'static str =
        "rule \"overwrite\" needs \"buckets\" of at least 2 × \"sparsity\" + 2";
    const MULTIPLE_HASHES_REASON: &'static str =
        "rule \"overwrite\" needs \"hashes\" 1: only rule \"strongest\" takes more";

    fn favoured_count(&self) -> Option<u32> {
        match self {
            Self::RandomEntryDecides => None,
            Self::Strongest { favoured } => Some(*favoured),
        }
    }

    fn paper_rule() -> Result<Self, Error> {
        Ok(Self::RandomEntryDecides)
    }

    fn strongest_rule(favoured: u32) -> Self {
        Self::Strongest { favoured }
    }
}
