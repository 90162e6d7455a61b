//! Rules of CoCo, and its parameters.

use crate::error::Error;
use crate::mechanism::subset::{self, Subset};

/// Parameters of CoCo.
pub type Coco = Subset<Rule>;
/// Sampler of CoCo's reports.
pub type Randomizer = subset::Randomizer<Rule>;

/// Choice of favoured sides, by the pushes of the input.
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
    /// Rule of P1: in each pushed pair one of its entries, chosen uniformly at random, decides for
    /// a side. Requires t ≥ 2s + 2. It also estimates frequencies, of either sign and of both.
    Overwrite,
    /// Favours the `favoured` sides with the strongest net push. Ties are broken uniformly at
    /// random.
    Strongest {
        /// Number c of favoured sides, from 1 to R·T.
        favoured: u32,
    },
}

impl subset::Rule for Rule {
    const MECHANISM: &'static str = "coco";
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

    fn paper_rule() -> Result<Self, Error> {
        Ok(Self::Overwrite)
    }

    fn strongest(favoured: u32) -> Self {
        Self::Strongest { favoured }
    }
}
