//! Choice of Collision's parameters. They minimise the total variance of the frequencies, or of the
//! estimates to which an objective gives weight.

use super::balanced_windows;
use super::buckets_draft::{BucketsDraft, ChoosableRule, SubsetWithVariance};
use super::budget::{PreparedBudget, PrivacyBudget};
use super::objective::{Goal, Objective};
use super::population::Population;
use super::predict::{self, PredictErrors, PredictedErrors, SquaredError};
use super::subset;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collision::{Collision, Rates, Rule, RuleName};
use crate::mechanism::occupancy::{StrengthMeasure, TopSum};
use crate::sample::ExpLowerBound;
use crate::task::Part;

/// [`Collision`] whose parameters may be unset.
pub type Draft = BucketsDraft<RuleName>;

impl PredictErrors for Collision {
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        predicted_errors(&self.rates(domain, epsilon), domain, population)
    }
}

fn predicted_errors(rates: &Rates, domain: &Domain, population: &Population) -> PredictedErrors {
    let items = predict::averaged_item_count(domain, population);
    let sampled = |numbers, with, without| {
        Some(predict::error_with_sampling(
            domain,
            population,
            numbers,
            with,
            |_| without,
        ))
    };
    let mean = |present| rates.estimate_second_moment(present);
    let frequency = |member| rates.frequency_variance(member);
    let nonmissing = |present| rates.presence_variance(present);
    let elements = f64::from(domain.elements_per_item()) * items;
    let rated = |_: &SquaredError| domain.is_rated();
    PredictedErrors {
        mean: sampled(items, mean(true) - 1.0, mean(false)).filter(rated),
        frequency: sampled(elements, frequency(true), frequency(false)),
        nonmissing: sampled(items, nonmissing(true), nonmissing(false)).filter(rated),
    }
}

/// Returns the total variance of the frequencies. If the goal has parts, the frequencies are the
/// shares of people who chose each option. If the objective gives weight to non-missing
/// frequencies, returns [`Objective::variance_to_minimise`] instead.
fn total_variance(rates: &Rates, domain: &Domain, goal: &Goal<'_>) -> f64 {
    if !goal.parts.is_empty() {
        let options = goal.parts.iter().map(Part::cell_count);
        return options.map(|own| rates.total_option_variance(own)).sum();
    }
    goal.objective
        .variance_to_minimise(domain, |people| predicted_errors(rates, domain, people))
        .unwrap_or_else(|| rates.total_variance(domain))
}

impl ChoosableRule for Rule {
    const STRENGTH: StrengthMeasure = StrengthMeasure::Count;

    fn strongest_rule_variance(
        collision: &Collision,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
        goal: &Goal<'_>,
    ) -> f64 {
        let rates = collision.rates_under_heaviest(domain, bound, favoured, top);
        // Approximate sums can turn a small gap into 0 or less.
        if rates.hit_probability_gap() > 0.0 {
            total_variance(&rates, domain, goal)
        } else {
            f64::INFINITY
        }
    }

    fn paper_rule_variance(
        collision: &Collision,
        domain: &Domain,
        epsilon: f64,
        goal: &Goal<'_>,
    ) -> f64 {
        total_variance(&collision.rates(domain, epsilon), domain, goal)
    }

    fn best_with_windows(
        domain: &Domain,
        limit: &PreparedBudget,
        draft: &Draft,
        goal: &Goal<'_>,
        other: Option<SubsetWithVariance<Self>>,
    ) -> Option<SubsetWithVariance<Self>> {
        let variance = |rates: &Rates| total_variance(rates, domain, goal);
        balanced_windows::best_windows(domain, limit, draft, variance, other)
    }
}

impl Collision {
    /// Returns the parameters of minimum [total
    /// variance](crate::mechanism::collision::Rates::total_variance). Only parameters that the
    /// draft allows and that stay within the budget are considered.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] if the draft allows no parameters, or none
    /// within the budget.
    pub fn choose(
        domain: &Domain,
        budget: impl Into<PrivacyBudget>,
        draft: &Draft,
    ) -> Result<Self, Error> {
        subset::choose_bucket_parameters(domain, budget.into(), draft, &Objective::FREQUENCY.into())
    }
}
