//! ε that a report of Collision really spends.

use super::rule::{Collision, Rule};
use super::thresholds::Thresholds;
use crate::domain::Domain;
use crate::mechanism::subset::CollectedRule;
use crate::sample::{Factors, Threshold, realised_epsilon};

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
