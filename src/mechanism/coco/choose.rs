//! The best parameters: least total variance of the means.

use super::{Coco, NO_FAVOURED, Rule, RuleName};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::occupancy::Strength;
use crate::mechanism::search::{self, Grid};
use crate::sample::ExpLowerBound;

impl Coco {
    /// The parameters of least [total variance](super::Rates::total_variance)
    /// that agree with what is given; what is `None` is chosen.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree
    /// with what is given.
    pub fn choose(
        domain: &Domain,
        epsilon: f64,
        rule: RuleName,
        favoured: Option<u32>,
        hashing: Hashing,
        buckets: Option<u32>,
    ) -> Result<Self, Error> {
        let chosen = match (rule, favoured, buckets) {
            (RuleName::Overwrite, Some(_), _) => return Err(NO_FAVOURED),
            (RuleName::Overwrite, None, Some(t)) => Self::new(Rule::Overwrite, hashing, t)?,
            (RuleName::Strongest, Some(favoured), Some(t)) => {
                Self::new(Rule::Strongest { favoured }, hashing, t)?
            }
            (RuleName::Strongest, None, Some(t)) => {
                let any = Self::new(Rule::Strongest { favoured: 1 }, hashing, t)?;
                any.strongest(domain, epsilon, None, true).0
            }
            (RuleName::Overwrite, None, None) => {
                let first = domain.sparsity() + 1;
                let last = most_pairs(domain, epsilon, hashing).max(first);
                let candidates = (first..=last).map(|pairs| Self {
                    rule: Rule::Overwrite,
                    hashing,
                    pairs,
                });
                search::least(candidates, |coco| {
                    coco.rates(domain, epsilon).total_variance(domain)
                })
            }
            (RuleName::Strongest, favoured, None) => {
                if let Some(c) = favoured {
                    bounds::FAVOURED
                        .at_most(bounds::BUCKETS.max / 2.0)
                        .check(f64::from(c))?;
                }
                let least = favoured.unwrap_or(1);
                let grid = Grid {
                    least,
                    most: most_pairs(domain, epsilon, hashing).max(least),
                    elements: (hashing == Hashing::Balanced)
                        .then(|| domain.elements())
                        .flatten(),
                    sparsity: domain.sparsity(),
                };
                search::best(&grid, |pairs, exact| {
                    let any = Self {
                        rule: Rule::Strongest { favoured: 1 },
                        hashing,
                        pairs,
                    };
                    any.strongest(domain, epsilon, favoured, exact)
                })
            }
        };
        chosen.check(domain)?;
        Ok(chosen)
    }

    /// The best c at this T, and its total variance.
    fn strongest(
        &self,
        domain: &Domain,
        epsilon: f64,
        favoured: Option<u32>,
        exact: bool,
    ) -> (Self, f64) {
        let most = domain.sparsity().min(self.pairs);
        let range = favoured.map_or(1..=most, |c| c..=c);
        let occupancy = self.occupancy(domain);
        let top = if exact {
            occupancy.top_sums(Strength::SignedSum, *range.end())
        } else {
            occupancy.top_sums_approximate(Strength::SignedSum, *range.end())
        };
        let candidates = range.map(|favoured| {
            let rates = self.strongest_rates(domain, epsilon, favoured, &top);
            let rule = Rule::Strongest { favoured };
            (Self { rule, ..*self }, rates.total_variance(domain))
        });
        candidates
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there is a c from 1 to T")
    }
}

/// Beyond this T no variance falls: P1's optimum lies below s·e + 2s buckets,
/// and more pairs than elements add nothing to a permutation.
fn most_pairs(domain: &Domain, epsilon: f64, hashing: Hashing) -> u32 {
    let s = f64::from(domain.sparsity());
    let wide = 2.0 * s * (ExpLowerBound::new(epsilon).to_f64() + 2.0);
    let wide = match (hashing, domain.elements()) {
        (Hashing::Balanced, Some(elements)) => wide.min(f64::from(elements)),
        _ => wide,
    };
    wide.clamp(1.0, bounds::BUCKETS.max / 2.0) as u32
}
