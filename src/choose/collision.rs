//! The best parameters: least total variance.

use super::buckets::{BucketsDraft, ChooseBuckets};
use super::budget::{Budget, HIDES_TOO_LITTLE, Limit};
use super::grid::{self, Grid};
use super::population::Population;
use super::predict::{self, Predict, Predicted};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::collision::{Collision, Rule, RuleName};
use crate::mechanism::occupancy::Strength;
use crate::mechanism::{Parameters, Rule as _};

/// [`Collision`] with parameters left open.
pub type Draft = BucketsDraft<RuleName>;

impl Predict for Collision {
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        let rates = self.rates(domain, epsilon);
        let items = predict::items(domain, population);
        let means = [rates.mean_square(true) - 1.0, rates.mean_square(false)];
        let frequencies = [true, false].map(|member| rates.frequency_variance(member));
        Predicted {
            mean: Some(predict::sampled(domain, population, items, means)),
            frequency: Some(predict::sampled(
                domain,
                population,
                2.0 * items,
                frequencies,
            )),
        }
    }
}

impl ChooseBuckets for Rule {
    fn choose(domain: &Domain, budget: Budget, draft: &Draft) -> Result<Collision, Error> {
        let rule = draft.rule_or_default::<Self>();
        let hashing = draft.hashing_over(domain);
        Collision::choose(domain, budget, rule, draft.favoured, hashing, draft.buckets)
    }
}

impl Collision {
    /// The parameters of least
    /// [total variance](crate::mechanism::collision::Rates::total_variance)
    /// that keep to the budget and agree with what is given; what is `None` is
    /// chosen.
    ///
    /// Under rule `occupied` every t is tried. Under `heaviest` a grid of t is
    /// ranked, then the best and their neighbours are compared with exact sums;
    /// the ranking uses approximate ones where s is large and these are good.
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
        let search = Buckets {
            domain,
            epsilon: budget.epsilon,
            limit: budget.limit(),
            hashing,
            favoured,
        };
        let chosen = match (rule, favoured, buckets) {
            (RuleName::Occupied, Some(_), _) => {
                return Err(Error::Combination {
                    reason: Rule::NO_FAVOURED,
                });
            }
            (RuleName::Occupied, None, Some(t)) => Self::new(Rule::Occupied, hashing, t)?,
            (RuleName::Occupied, None, None) => search.occupied(),
            (RuleName::Heaviest, Some(favoured), Some(t)) => {
                Self::new(Rule::Heaviest { favoured }, hashing, t)?
            }
            (RuleName::Heaviest, _, Some(t)) => {
                bounds::BUCKETS.check(f64::from(t))?;
                search.heaviest_at(t, true).0
            }
            (RuleName::Heaviest, _, None) => {
                if let Some(c) = favoured {
                    bounds::FAVOURED
                        .at_most(bounds::BUCKETS.max - 1.0)
                        .check(f64::from(c))?;
                }
                search.heaviest()
            }
        };
        Parameters::check(&chosen, domain)?;
        let favoured = chosen.favoured().unwrap_or(domain.sparsity());
        if search.limit.allows(favoured, chosen.buckets()) {
            Ok(chosen)
        } else {
            Err(HIDES_TOO_LITTLE)
        }
    }
}

struct Buckets<'a> {
    domain: &'a Domain,
    epsilon: f64,
    limit: Limit,
    hashing: Hashing,
    favoured: Option<u32>,
}

impl Buckets<'_> {
    /// Beyond this t no variance falls: P1's optimum is below s·e + 2s, and
    /// more buckets than elements add nothing to a permutation. What is said of
    /// hiding among others comes on top (`Budget::steps`).
    fn most_buckets(&self) -> u32 {
        let s = f64::from(self.domain.sparsity());
        let wide = 2.0 * s * (self.limit.e + 2.0);
        let wide = match (self.hashing, self.domain.signed_elements()) {
            (Hashing::Balanced, Some(elements)) => wide.min(f64::from(elements)),
            _ => wide,
        };
        wide.clamp(s + 1.0, bounds::BUCKETS.max) as u32
    }

    /// A search stays within the bounds.
    fn with(&self, rule: Rule, buckets: u32) -> Collision {
        Collision::new(rule, self.hashing, buckets)
            .expect("within the bounds of buckets and favoured")
    }

    fn occupied(&self) -> Collision {
        let first = (self.domain.sparsity() + 1).max(bounds::BUCKETS.min as u32);
        let s = self.domain.sparsity();
        let hiding = self.limit.least_buckets(s).max(first);
        let candidates = (first..=self.most_buckets().max(first))
            .filter(|t| self.limit.allows(s, *t))
            .chain(core::iter::once(hiding))
            .map(|t| self.with(Rule::Occupied, t));
        grid::minimum(candidates, |collision| {
            collision
                .rates(self.domain, self.epsilon)
                .total_variance(self.domain)
        })
    }

    /// The best c at this t, and its total variance; infinite where no c keeps to
    /// the budget.
    fn heaviest_at(&self, t: u32, exact: bool) -> (Collision, f64) {
        let base = self.with(Rule::Heaviest { favoured: 1 }, t);
        // With c = s every element is favoured already.
        let most = self.domain.sparsity().min(t - 1);
        let range = match self.favoured {
            Some(c) => c..=c,
            None => 1..=most,
        };
        let occupancy = base.occupancy(self.domain);
        let top = if exact {
            occupancy.top_sums(Strength::Count, *range.end())
        } else {
            occupancy.top_sums_approximate(Strength::Count, *range.end())
        };
        let mut best = (base, f64::INFINITY);
        for favoured in range.filter(|c| self.limit.allows(*c, t)) {
            let rates = base.heaviest_rates(self.domain, &self.limit.bound, favoured, &top);
            // Approximate sums may leave no gap where there is a small one.
            let variance = if rates.gap() > 0.0 {
                rates.total_variance(self.domain)
            } else {
                f64::INFINITY
            };
            if variance < best.1 || best.1.is_infinite() {
                best = (self.with(Rule::Heaviest { favoured }, t), variance);
            }
        }
        best
    }

    fn heaviest(&self) -> Collision {
        let least = self.favoured.map_or(2, |c| c + 1);
        let steps = self.limit.steps(self.favoured, self.domain.sparsity());
        let grid = Grid {
            least,
            most: steps
                .iter()
                .fold(self.most_buckets().max(least), |most, step| most.max(*step)),
            elements: (self.hashing == Hashing::Balanced)
                .then(|| self.domain.signed_elements())
                .flatten(),
            sparsity: self.domain.sparsity(),
            steps,
        };
        grid::best(&grid, |t, exact| self.heaviest_at(t, exact))
    }
}
