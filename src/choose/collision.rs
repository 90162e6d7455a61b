//! The best parameters: least total variance.

use super::buckets::{BucketsDraft, ChooseBuckets};
use super::budget::Budget;
use super::population::Population;
use super::predict::{self, Predict, Predicted};
use super::subset;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collision::{Collision, Rule, RuleName};
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::sample::ExpLowerBound;

/// [`Collision`] with parameters left open.
pub type Draft = BucketsDraft<RuleName>;

impl Predict for Collision {
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        let rates = self.rates(domain, epsilon);
        let items = predict::items(domain, population);
        let sampled = |numbers, with, without| {
            Some(predict::sampled(domain, population, numbers, with, |_| {
                without
            }))
        };
        let mean = |present| rates.mean_square(present);
        let frequency = |member| rates.frequency_variance(member);
        let elements = f64::from(domain.elements_per_item()) * items;
        Predicted {
            mean: sampled(items, mean(true) - 1.0, mean(false)).filter(|_| domain.is_rated()),
            frequency: sampled(elements, frequency(true), frequency(false)),
        }
    }
}

impl ChooseBuckets for Rule {
    const STRENGTH: Strength = Strength::Count;

    fn variance(
        collision: &Collision,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
    ) -> f64 {
        let rates = collision.heaviest_rates(domain, bound, favoured, top);
        // Near sums may leave no gap where there is a small one.
        if rates.gap() > 0.0 {
            rates.total_variance(domain)
        } else {
            f64::INFINITY
        }
    }

    fn paper_variance(collision: &Collision, domain: &Domain, epsilon: f64) -> f64 {
        collision.rates(domain, epsilon).total_variance(domain)
    }
}

impl Collision {
    /// The parameters of least
    /// [total variance](crate::mechanism::collision::Rates::total_variance)
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
