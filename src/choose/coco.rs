//! The best parameters: least total variance of the means.

use super::buckets::{BucketsDraft, ChooseBuckets};
use super::budget::Budget;
use super::population::Population;
use super::predict::{self, Predict, Predicted};
use super::search::{Candidate, Search};
use super::subset;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::coco::{Coco, Rule, RuleName};
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::sample::ExpLowerBound;

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
        let with = rates.mean_square(true) - 1.0;
        let without = |kept| rates.mean_square_among(domain.sparsity(), f64::from(kept));
        Predicted {
            mean: Some(predict::sampled(domain, population, items, with, without)),
            frequency: None,
        }
    }
}

impl ChooseBuckets for Rule {
    const STRENGTH: Strength = Strength::SignedSum;

    fn variance(
        coco: &Coco,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
    ) -> f64 {
        let rates = coco.strongest_rates(domain, bound, favoured, top);
        rates.total_variance(domain)
    }

    fn paper_variance(coco: &Coco, domain: &Domain, epsilon: f64) -> f64 {
        coco.rates(domain, epsilon).total_variance(domain)
    }

    fn offer(search: &Search<'_>) -> Result<Candidate, Error> {
        search.best(preferred)
    }
}

/// The best parameters, or a single pair where that is nearly as good.
fn preferred(domain: &Domain, budget: Budget) -> Result<Coco, Error> {
    let choose = |buckets| {
        let draft = Draft {
            buckets,
            ..Draft::default()
        };
        Coco::choose(domain, budget, &draft)
    };
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
    /// that keep to the budget and agree with a draft.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree
    /// with what is said, or none of them keep to the budget.
    pub fn choose(
        domain: &Domain,
        budget: impl Into<Budget>,
        draft: &Draft,
    ) -> Result<Self, Error> {
        subset::choose(domain, budget.into(), draft)
    }
}
