//! Parameters of Collision, and the rules that choose the favoured buckets.

use crate::error::Error;
use crate::mechanism::subset::{self, Subset};

/// Parameters of Collision.
pub type Collision = Subset<Rule>;
/// Sampler of Collision's reports.
pub type Randomizer = subset::Randomizer<Rule>;

/// Rule that chooses the favoured buckets from the elements that each bucket holds.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, Rule};
///
/// let collision = Collision::new(Rule::Heaviest { favoured: 2 }, HashFamily::Balanced, 12)?;
/// assert_eq!(collision.favoured_count(), Some(2));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
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

impl subset::FavouringRule for Rule {
    const MECHANISM: &'static str = "collision";
    const SIDES: u32 = 1;
    const NEEDS_CELLS: &'static str = "rule \"occupied\" needs more \"buckets\" than \"sparsity\"";
    const ONE_HASH: &'static str =
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
        Err(crate::mechanism::contract::left_out_of_build_error(
            "a rule of a paper",
        ))
    }

    fn strongest_rule(favoured: u32) -> Self {
        Self::Heaviest { favoured }
    }
}
