//! The best parameters: least total variance of the means.

use alloc::vec::Vec;

use super::buckets::{BucketsDraft, ChooseBuckets};
use super::budget::{Budget, HIDES_TOO_LITTLE, Limit};
use super::grid::{self, Grid};
use super::population::Population;
use super::predict::{self, Predict, Predicted};
use super::search::{Candidate, Search};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::coco::{Coco, Rule, RuleName};
use crate::mechanism::occupancy::Strength;
use crate::mechanism::{Parameters, Rule as _};

/// [`Coco`] with parameters left open.
pub type Draft = BucketsDraft<RuleName>;

/// From this many items on, CoCo's single pair is preferred where it costs at
/// most [`SINGLE_PAIR_COST`]: its reports are decoded 64 items to a word.
const MANY_ITEMS: u32 = 1024;
/// See [`MANY_ITEMS`].
const SINGLE_PAIR_COST: f64 = 1.02;

impl Predict for Coco {
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        let rates = self.rates(domain, epsilon);
        let items = predict::items(domain, population);
        let means = [rates.mean_square(true) - 1.0, rates.mean_square(false)];
        Predicted {
            mean: Some(predict::sampled(domain, population, items, means)),
            frequency: None,
        }
    }
}

impl ChooseBuckets for Rule {
    fn choose(domain: &Domain, budget: Budget, draft: &Draft) -> Result<Coco, Error> {
        let rule = draft.rule_or_default::<Self>();
        let hashing = draft.hashing_over(domain);
        Coco::choose(domain, budget, rule, draft.favoured, hashing, draft.buckets)
    }

    fn offer(search: &Search<'_>) -> Result<Candidate, Error> {
        search.best(preferred)
    }
}

/// The best parameters, or a single pair where that is nearly as good.
fn preferred(domain: &Domain, budget: Budget) -> Result<Coco, Error> {
    let (rule, hashing) = (RuleName::Strongest, Hashing::default_for(None, domain));
    let choose = |buckets| Coco::choose(domain, budget, rule, None, hashing, buckets);
    let best = choose(None)?;
    let few = domain.items().is_none_or(|items| items < MANY_ITEMS);
    if few || !budget.limit().allows(1, 2) {
        return Ok(best);
    }
    let single = choose(Some(2))?;
    let variance = |coco: &Coco| coco.rates(domain, budget.epsilon).total_variance(domain);
    let preferred = variance(&single) <= SINGLE_PAIR_COST * variance(&best);
    Ok(if preferred { single } else { best })
}

impl Coco {
    /// The parameters of least
    /// [total variance](crate::mechanism::coco::Rates::total_variance)
    /// that keep to the budget and agree with what is given; what is `None` is
    /// chosen.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree
    /// with what is given, or none of them keep to the budget.
    pub fn choose(
        domain: &Domain,
        budget: impl Into<Budget>,
        rule: RuleName,
        favoured: Option<u32>,
        hashing: Hashing,
        buckets: Option<u32>,
    ) -> Result<Self, Error> {
        let budget = budget.into();
        let (epsilon, limit) = (budget.epsilon, budget.limit());
        let chosen = match (rule, favoured, buckets) {
            (RuleName::Overwrite, Some(_), _) => {
                return Err(Error::Combination {
                    reason: Rule::NO_FAVOURED,
                });
            }
            (RuleName::Overwrite, None, Some(t)) => Self::new(Rule::Overwrite, hashing, t)?,
            (RuleName::Strongest, Some(favoured), Some(t)) => {
                Self::new(Rule::Strongest { favoured }, hashing, t)?
            }
            (RuleName::Strongest, None, Some(t)) => {
                let any = Self::new(Rule::Strongest { favoured: 1 }, hashing, t)?;
                any.strongest(domain, &limit, None, true).0
            }
            (RuleName::Overwrite, None, None) => {
                let first = domain.sparsity() + 1;
                let last = most_pairs(domain, &limit, hashing).max(first);
                let hiding = limit
                    .least_buckets(domain.sparsity())
                    .div_ceil(2)
                    .max(first);
                let candidates = (first..=last)
                    .filter(|pairs| limit.allows(domain.sparsity(), 2 * pairs))
                    .chain(core::iter::once(hiding))
                    .map(|pairs| with_pairs(Rule::Overwrite, hashing, pairs));
                grid::minimum(candidates, |coco| {
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
                let steps = limit.steps(favoured, domain.sparsity());
                let steps: Vec<u32> = steps.into_iter().map(|t| t.div_ceil(2)).collect();
                let most = most_pairs(domain, &limit, hashing).max(least);
                let grid = Grid {
                    least,
                    most: steps.iter().fold(most, |most, step| most.max(*step)),
                    elements: (hashing == Hashing::Balanced)
                        .then(|| domain.elements())
                        .flatten(),
                    sparsity: domain.sparsity(),
                    steps,
                };
                grid::best(&grid, |pairs, exact| {
                    let any = with_pairs(Rule::Strongest { favoured: 1 }, hashing, pairs);
                    any.strongest(domain, &limit, favoured, exact)
                })
            }
        };
        Parameters::check(&chosen, domain)?;
        let favoured = chosen.favoured().unwrap_or(domain.sparsity());
        if limit.allows(favoured, chosen.buckets()) {
            Ok(chosen)
        } else {
            Err(HIDES_TOO_LITTLE)
        }
    }

    /// The best c at this T, and its total variance; infinite where no c keeps to
    /// the budget.
    fn strongest(
        &self,
        domain: &Domain,
        limit: &Limit,
        favoured: Option<u32>,
        exact: bool,
    ) -> (Self, f64) {
        let most = domain.sparsity().min(self.pairs());
        let range = favoured.map_or(1..=most, |c| c..=c);
        let occupancy = self.occupancy(domain);
        let top = if exact {
            occupancy.top_sums(Strength::SignedSum, *range.end())
        } else {
            occupancy.top_sums_approximate(Strength::SignedSum, *range.end())
        };
        let candidates = range.map(|favoured| {
            let rule = Rule::Strongest { favoured };
            let variance = if limit.allows(favoured, self.buckets()) {
                let rates = self.strongest_rates(domain, &limit.bound, favoured, &top);
                rates.total_variance(domain)
            } else {
                f64::INFINITY
            };
            (with_pairs(rule, self.hashing(), self.pairs()), variance)
        });
        candidates
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there is a c from 1 to T")
    }
}

/// A search stays within the bounds.
fn with_pairs(rule: Rule, hashing: Hashing, pairs: u32) -> Coco {
    Coco::new(rule, hashing, 2 * pairs).expect("within the bounds of buckets and favoured")
}

/// Beyond this T no variance falls: P1's optimum lies below s·e + 2s buckets,
/// and more pairs than elements add nothing to a permutation.
fn most_pairs(domain: &Domain, limit: &Limit, hashing: Hashing) -> u32 {
    let s = f64::from(domain.sparsity());
    let wide = 2.0 * s * (limit.e + 2.0);
    let wide = match (hashing, domain.elements()) {
        (Hashing::Balanced, Some(elements)) => wide.min(f64::from(elements)),
        _ => wide,
    };
    wide.clamp(1.0, bounds::BUCKETS.max / 2.0) as u32
}
