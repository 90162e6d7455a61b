//! Names of rules, and the ε that a report of CoCo really spends.

use serde::{Deserialize, Serialize};

use super::rule::{Coco, Rule};
use super::thresholds::{Kind, Thresholds};
use crate::domain::Domain;
use crate::mechanism::subset::NamedRule;
use crate::mechanism::subset::collected::CollectedRule;
use crate::sample::{Factors, realised_epsilon};

/// The name of a [`Rule`], as in a task file.
///
/// ```
/// use hushbin::mechanism::coco::RuleName;
///
/// assert_eq!(serde_json::to_string(&RuleName::Strongest).unwrap(), r#""strongest""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// [`Rule::Overwrite`].
    Overwrite,
    /// [`Rule::Strongest`].
    Strongest,
}

impl NamedRule for Rule {
    type Name = RuleName;

    const NO_FAVOURED: &'static str =
        "rule \"overwrite\" takes no \"favoured\": it favours a side of every pair that is pushed";
    const NEEDS_FAVOURED: &'static str =
        "rule \"strongest\" needs \"favoured\", the number of sides it favours";

    fn name(&self) -> RuleName {
        match self {
            Self::Overwrite => RuleName::Overwrite,
            Self::Strongest { .. } => RuleName::Strongest,
        }
    }
}

impl CollectedRule for Rule {
    fn effective_epsilon(subset: &Coco, domain: &Domain, epsilon: f64) -> f64 {
        let thresholds = subset.thresholds(domain.sparsity(), epsilon);
        thresholds.effective_epsilon()
    }
}

impl Thresholds {
    /// The realised local ε: ln of the greatest probability of any bucket over
    /// the least, both over all inputs; rounded up, never above the requested.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        const ONE: u128 = 1 << 64;
        let t = 2 * self.pairs;
        match self.kind {
            Kind::Strongest { inside, favoured } => {
                let inside = u128::from(inside.0);
                let sides = [
                    Factors(inside, favoured.into()),
                    Factors(ONE - inside, (t - favoured).into()),
                ];
                realised_epsilon(sides.into_iter(), self.epsilon)
            }
            // In units of 2⁻¹²⁸. With k pushed pairs: the decided side, the
            // other side, and each of the t − 2k buckets elsewhere.
            Kind::Overwrite {
                pair,
                decided,
                sparsity,
            } => {
                let (pair, decided) = (u128::from(pair), u128::from(decided.0));
                let sides = [
                    Factors(pair * decided, 1),
                    Factors(pair * (ONE - decided), 1),
                ];
                let elsewhere = (1..=sparsity)
                    .map(|k| Factors((ONE - u128::from(k) * pair) << 64, (t - 2 * k).into()));
                realised_epsilon(sides.into_iter().chain(elsewhere), self.epsilon)
            }
        }
    }
}
