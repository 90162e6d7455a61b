//! The rules of CoCo, and its parameters.

use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::subset::{self, Subset};

/// The parameters of CoCo.
pub type Coco = Subset<Rule>;

/// A choice of favoured sides, by the pushes of the input.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Rule};
///
/// assert!(Coco::new(Rule::Strongest { favoured: 2 }, Hashing::Balanced, 12).is_ok());
/// // Buckets form pairs.
/// assert!(Coco::new(Rule::Overwrite, Hashing::Balanced, 13).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// In each pushed pair one of its entries, uniformly at random, decides for
    /// a side (P1). Takes t ≥ 2s + 2; also estimates frequencies, of either sign and
    /// of both.
    Overwrite,
    /// The `favoured` sides pushed to most strongly, on balance, ties broken
    /// uniformly at random.
    Strongest {
        /// c, from 1 to R·T.
        favoured: u32,
    },
}

impl subset::Rule for Rule {
    const SIDES: u32 = 2;
    const NEEDS_CELLS: &'static str =
        "rule \"overwrite\" needs \"buckets\" of at least twice \"sparsity\" plus 2";
    const ONE_HASH: &'static str =
        "rule \"overwrite\" takes one of \"hashes\": several are for the other rule";

    fn favoured(&self) -> Option<u32> {
        match self {
            Self::Overwrite => None,
            Self::Strongest { favoured } => Some(*favoured),
        }
    }

    fn paper() -> Result<Self, Error> {
        Ok(Self::Overwrite)
    }

    fn strongest(favoured: u32) -> Self {
        Self::Strongest { favoured }
    }
}

impl Coco {
    /// T = t/2, the number of pairs of each hash function.
    #[must_use]
    pub const fn pairs(&self) -> u32 {
        self.cells()
    }

    /// d, where what an input lacks of s entries are items that it does not have.
    pub(super) fn filling(&self, domain: &Domain) -> Option<u32> {
        let items = domain.items();
        items.filter(|_| self.hashing() == Hashing::BalancedItems)
    }
}
