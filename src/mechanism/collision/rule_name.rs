//! Names of Collision's rules.

use serde::{Deserialize, Serialize};

use super::rule::FavouredBucketRule;
use crate::mechanism::subset::NamedRule;

/// Name of a [`FavouredBucketRule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::collision::FavouredBucketRuleName;
///
/// assert_eq!(serde_json::to_string(&FavouredBucketRuleName::Heaviest).unwrap(), r#""heaviest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FavouredBucketRuleName {
    /// Name of [`FavouredBucketRule::Occupied`].
    Occupied,
    /// Name of [`FavouredBucketRule::Heaviest`].
    Heaviest,
}

impl NamedRule for FavouredBucketRule {
    type Name = FavouredBucketRuleName;

    const UNEXPECTED_FAVOURED_COUNT_REASON: &'static str =
        "rule \"occupied\" takes no \"favoured\": it favours every bucket that contains an element";
    const MISSING_FAVOURED_COUNT_REASON: &'static str =
        "rule \"heaviest\" needs \"favoured\", the number of favoured buckets";

    fn rule_name(&self) -> FavouredBucketRuleName {
        match self {
            Self::Occupied => FavouredBucketRuleName::Occupied,
            Self::Heaviest { .. } => FavouredBucketRuleName::Heaviest,
        }
    }
}
