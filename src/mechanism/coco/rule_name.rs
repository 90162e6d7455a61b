//! Names of CoCo's rules.

use serde::{Deserialize, Serialize};

use super::rule::{Coco, Rule};
use crate::mechanism::subset::NamedRule;

/// Name of a [`Rule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::coco::RuleName;
///
/// assert_eq!(serde_json::to_string(&RuleName::Strongest).unwrap(), r#""strongest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// Name of [`Rule::Overwrite`].
    Overwrite,
    /// Name of [`Rule::Strongest`].
    Strongest,
}

impl NamedRule for Rule {
    type Name = RuleName;

    const NO_FAVOURED: &'static str =
        "rule \"overwrite\" takes no \"favoured\": it favours one side of every pair with an entry";
    const NEEDS_FAVOURED: &'static str =
        "rule \"strongest\" needs \"favoured\", the number of favoured sides";

    fn name(&self) -> RuleName {
        match self {
            Self::Overwrite => RuleName::Overwrite,
            Self::Strongest { .. } => RuleName::Strongest,
        }
    }
}

impl Coco {
    /// Number of pairs of each hash function, T = t/2.
    #[must_use]
    pub const fn pairs_per_function(&self) -> u32 {
        self.cells()
    }
}
