//! Choice of Collision's parameters. They minimise the total variance of the frequencies, or of the
//! estimates to which an objective gives weight.

use super::balanced_windows;
use super::buckets_draft::{BucketsDraft, ParametersWithVariance, SearchableRule};
use super::budget::{PreparedBudget, PrivacyBudget};
use super::objective::{Objective, ParameterSearchGoal};
use super::population::Population;
use super::predict::{self, PredictErrors, PredictedErrors, PredictedSquaredError};
use super::subset;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collision::{
    Collision, CollisionHitProbabilities, FavouredBucketRule, FavouredBucketRuleName,
};
use crate::mechanism::occupancy::{StrengthMeasure, StrongestCellSums};
use crate::sample::ExpLowerBound;
use crate::task::QuestionPart;

/// [`Collision`] whose parameters may be unset.
pub type ParametersDraft = BucketsDraft<FavouredBucketRuleName>;

impl PredictErrors for Collision {
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        predicted_errors(&self.hit_probabilities(domain, epsilon), domain, population)
    }
}

fn predicted_errors(
    rates: &CollisionHitProbabilities,
    domain: &Domain,
    population: &Population,
) -> PredictedErrors {
    let items = predict::item_count_for_averaging(domain, population);
    let sampled = |numbers, with, without| {
        Some(predict::error_with_entry_limit(
            domain,
            population,
            numbers,
            with,
            |_| without,
        ))
    };
    let mean = |present| rates.estimate_second_moment(present);
    let frequency = |member| rates.frequency_variance(member);
    let nonmissing = |present| rates.presence_estimate_variance(present);
    let elements = f64::from(domain.elements_per_item()) * items;
    let rated = |_: &PredictedSquaredError| domain.is_rated();
    PredictedErrors {
        mean_error: sampled(items, mean(true) - 1.0, mean(false)).filter(rated),
        frequency_error: sampled(elements, frequency(true), frequency(false)),
        nonmissing_error: sampled(items, nonmissing(true), nonmissing(false)).filter(rated),
    }
}

/// Returns the total variance of the frequencies. If the goal has parts, the frequencies are the
/// shares of people who chose each option. If the objective gives weight to non-missing
/// frequencies, returns [`Objective::variance_to_minimise`] instead.
fn variance_for_goal(
    rates: &CollisionHitProbabilities,
    domain: &Domain,
    goal: &ParameterSearchGoal<'_>,
) -> f64 {
    if !goal.together_parts.is_empty() {
        let options = goal.together_parts.iter().map(QuestionPart::cell_count);
        return options.map(|own| rates.total_option_variance(own)).sum();
    }
    goal.objective
        .variance_to_minimise(domain, |people| predicted_errors(rates, domain, people))
        .unwrap_or_else(|| rates.total_variance(domain))
}

impl SearchableRule for FavouredBucketRule {
    const STRENGTH_MEASURE: StrengthMeasure = StrengthMeasure::Count;

    fn strongest_rule_variance(
        collision: &Collision,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &StrongestCellSums,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64 {
        let rates = collision.hit_probabilities_heaviest(domain, bound, favoured, top);
        // Approximate sums can turn a small gap into 0 or less.
        if rates.hit_probability_gap() > 0.0 {
            variance_for_goal(&rates, domain, goal)
        } else {
            f64::INFINITY
        }
    }

    fn paper_rule_variance(
        collision: &Collision,
        domain: &Domain,
        epsilon: f64,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64 {
        variance_for_goal(&collision.hit_probabilities(domain, epsilon), domain, goal)
    }

    fn best_with_balanced_windows(
        domain: &Domain,
        limit: &PreparedBudget,
        draft: &ParametersDraft,
        goal: &ParameterSearchGoal<'_>,
        other: Option<ParametersWithVariance<Self>>,
    ) -> Option<ParametersWithVariance<Self>> {
        let variance = |rates: &CollisionHitProbabilities| variance_for_goal(rates, domain, goal);
        balanced_windows::best_balanced_windows(domain, limit, draft, variance, other)
    }
}

impl Collision {
    /// Returns the parameters of minimum [total
    /// variance](crate::mechanism::collision::CollisionHitProbabilities::total_variance). Only parameters that the
    /// draft allows and that stay within the budget are considered.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if the draft allows no parameters, or none
    /// within the budget.
    pub fn choose_parameters(
        domain: &Domain,
        budget: impl Into<PrivacyBudget>,
        draft: &ParametersDraft,
    ) -> Result<Self, Error> {
        subset::choose_bucket_parameters(
            domain,
            budget.into(),
            draft,
            &Objective::FREQUENCY_ONLY.into(),
        )
    }
}
