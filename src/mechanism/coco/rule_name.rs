//! Names of CoCo's rules.

use serde::{Deserialize, Serialize};

use super::rule::{Coco, FavouredSideRule};
use crate::mechanism::subset::NamedRule;

/// Name of a [`FavouredSideRule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::coco::FavouredSideRuleName;
///
/// assert_eq!(serde_json::to_string(&FavouredSideRuleName::Strongest).unwrap(), r#""strongest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FavouredSideRuleName {
    /// Name of [`FavouredSideRule::RandomEntryDecides`].
    Overwrite,
    /// Name of [`FavouredSideRule::Strongest`].
    Strongest,
}

impl NamedRule for FavouredSideRule {
    type Name = FavouredSideRuleName;

    const UNEXPECTED_FAVOURED_COUNT_REASON: &'static str =
        "rule \"overwrite\" takes no \"favoured\": it favours one side of every pair with an entry";
    const MISSING_FAVOURED_COUNT_REASON: &'static str =
        "rule \"strongest\" needs \"favoured\", the number of favoured sides";

    fn rule_name(&self) -> FavouredSideRuleName {
        match self {
            Self::RandomEntryDecides => FavouredSideRuleName::Overwrite,
            Self::Strongest { .. } => FavouredSideRuleName::Strongest,
        }
    }
}

impl Coco {
    /// Number of pairs of each hash function, T = t/2.
    #[must_use]
    pub const fn pairs_per_function(&self) -> u32 {
        self.cells_per_hash()
    }
}
