//! Names of rules, and the ε that a report of Collision really spends.

use serde::{Deserialize, Serialize};

use super::rule::{Collision, Rule};
use super::thresholds::Thresholds;
use crate::domain::Domain;
use crate::mechanism::subset::NamedRule;
use crate::mechanism::subset::collected::CollectedRule;
use crate::sample::{Factors, Threshold, realised_epsilon};

/// The name of a [`Rule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::collision::RuleName;
///
/// assert_eq!(serde_json::to_string(&RuleName::Heaviest).unwrap(), r#""heaviest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// [`Rule::Occupied`].
    Occupied,
    /// [`Rule::Heaviest`].
    Heaviest,
}

impl NamedRule for Rule {
    type Name = RuleName;

    const NO_FAVOURED: &'static str =
        "rule \"occupied\" takes no \"favoured\": it favours every bucket that holds an element";
    const NEEDS_FAVOURED: &'static str =
        "rule \"heaviest\" needs \"favoured\", the number of buckets it favours";

    fn name(&self) -> RuleName {
        match self {
            Self::Occupied => RuleName::Occupied,
            Self::Heaviest { .. } => RuleName::Heaviest,
        }
    }
}

impl CollectedRule for Rule {
    fn effective_epsilon(subset: &Collision, domain: &Domain, epsilon: f64) -> f64 {
        let thresholds = subset.thresholds(domain.sparsity(), epsilon);
        thresholds.effective_epsilon()
    }
}

impl Thresholds {
    /// Every |C| that an input can have, with its threshold.
    fn cases(&self) -> impl Iterator<Item = (u32, Threshold)> {
        self.inside.iter().enumerate().map(|(index, &threshold)| {
            let occupied = index as u32 + 1;
            (self.favoured(occupied), threshold)
        })
    }

    /// The realised local ε: ln of the greatest probability of any bucket over
    /// the least, both over all inputs; rounded up, never above the requested.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let t = self.buckets;
        let probabilities = self.cases().flat_map(|(k, inside)| {
            [
                Factors(inside.0.into(), k.into()),
                Factors((1 << 64) - u128::from(inside.0), (t - k).into()),
            ]
        });
        realised_epsilon(probabilities, self.epsilon)
    }
}
