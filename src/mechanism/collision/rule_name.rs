//! Names of Collision's rules.

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::mechanism::subset::NamedRule;

/// Name of a [`Rule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::collision::RuleName;
///
/// assert_eq!(serde_json::to_string(&RuleName::Heaviest).unwrap(), r#""heaviest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// Name of [`Rule::Occupied`].
    Occupied,
    /// Name of [`Rule::Heaviest`].
    Heaviest,
}

impl NamedRule for Rule {
    type Name = RuleName;

    const NO_FAVOURED: &'static str =
        "rule \"occupied\" takes no \"favoured\": it favours every bucket that contains an element";
    const NEEDS_FAVOURED: &'static str =
        "rule \"heaviest\" needs \"favoured\", the number of favoured buckets";

    fn name(&self) -> RuleName {
        match self {
            Self::Occupied => RuleName::Occupied,
            Self::Heaviest { .. } => RuleName::Heaviest,
        }
    }
}
