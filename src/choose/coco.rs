//! Choice of CoCo's parameters. They minimise the total variance of the means, or of the estimates
//! to which an objective gives weight.

use super::buckets_draft::{BucketsDraft, SearchableRule};
use super::budget::PrivacyBudget;
use super::contract::ChooseParameters;
use super::objective::{Objective, ParameterSearchGoal};
use super::population::Population;
use super::predict::{self, PredictErrors, PredictedErrors};
use super::sparsity_search::{Candidate, ParameterSearch};
use super::subset;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::coco::{Coco, CocoHitProbabilities, FavouredSideRule, FavouredSideRuleName};
use crate::mechanism::occupancy::{StrengthMeasure, StrongestCellSums};
use crate::sample::ExpLowerBound;

/// [`Coco`] whose parameters may be unset.
pub type ParametersDraft = BucketsDraft<FavouredSideRuleName>;

/// Minimum number of items for which CoCo prefers a single pair of sides. A single pair is used if
/// its variance is at most [`MAX_SINGLE_PAIR_RATIO`] times the minimum. Its reports are decoded faster:
/// 64 items fit into a word.
const MIN_ITEMS_FOR_SINGLE_PAIR: u32 = 1024;
/// Acceptable ratio of a single pair's variance to the minimum variance, see [`MIN_ITEMS_FOR_SINGLE_PAIR`].
const MAX_SINGLE_PAIR_RATIO: f64 = 1.02;

impl PredictErrors for Coco {
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
    rates: &CocoHitProbabilities,
    domain: &Domain,
    population: &Population,
) -> PredictedErrors {
    let items = predict::item_count_for_averaging(domain, population);
    let with = rates.estimate_second_moment(true) - 1.0;
    let without = |kept| rates.absent_item_second_moment(domain.sparsity(), f64::from(kept));
    let mean = predict::error_with_entry_limit(domain, population, items, with, without);
    // An entry affects the frequencies of both signs. `error_with_sampling`
    // counts the other sign as absent, so `none` is subtracted here.
    let frequency = rates
        .frequency_variance_by_sign()
        .map(|[own, other, none]| {
            let with = own + other - none;
            predict::error_with_entry_limit(domain, population, 2.0 * items, with, |_| none)
        });
    let [with, without] = [true, false].map(|present| rates.presence_estimate_variance(present));
    let nonmissing = with.zip(without).map(|(with, without)| {
        predict::error_with_entry_limit(domain, population, items, with, |_| without)
    });
    PredictedErrors {
        mean_error: Some(mean),
        frequency_error: frequency,
        nonmissing_error: nonmissing,
    }
}

/// Returns the total variance of the means. If the objective gives weight to non-missing
/// frequencies, returns [`Objective::variance_to_minimise`] instead.
fn variance_for_goal(
    rates: &CocoHitProbabilities,
    domain: &Domain,
    goal: &ParameterSearchGoal<'_>,
) -> f64 {
    goal.objective
        .variance_to_minimise(domain, |people| predicted_errors(rates, domain, people))
        .unwrap_or_else(|| rates.total_variance(domain))
}

impl SearchableRule for FavouredSideRule {
    const STRENGTH_MEASURE: StrengthMeasure = StrengthMeasure::SignedSum;

    fn strongest_rule_variance(
        coco: &Coco,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &StrongestCellSums,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64 {
        let rates = coco.hit_probabilities_strongest(domain, bound, favoured, top);
        variance_for_goal(&rates, domain, goal)
    }

    fn paper_rule_variance(
        coco: &Coco,
        domain: &Domain,
        epsilon: f64,
        goal: &ParameterSearchGoal<'_>,
    ) -> f64 {
        variance_for_goal(&coco.hit_probabilities(domain, epsilon), domain, goal)
    }

    /// Returns the best parameters. An objective with non-missing frequencies requires rule
    /// `overwrite`, the only one that estimates them.
    fn best_for_empty_draft(search: &ParameterSearch<'_>) -> Result<Candidate, Error> {
        if search.objective.nonmissing_weight > 0.0 {
            let rule = Some(FavouredSideRuleName::Overwrite);
            return Coco::best_candidate(
                search,
                &ParametersDraft {
                    rule,
                    ..ParametersDraft::default()
                },
            );
        }
        search.best_over_sparsities(best_parameters_or_single_pair)
    }
}

/// Returns the best parameters. If a single pair of sides has nearly as low a variance, returns the
/// parameters with a single pair instead.
fn best_parameters_or_single_pair(domain: &Domain, budget: PrivacyBudget) -> Result<Coco, Error> {
    let choose = |buckets| {
        let draft = ParametersDraft {
            buckets,
            ..ParametersDraft::default()
        };
        Coco::choose_parameters(domain, budget, &draft)
    };
    let best = choose(None)?;
    let few = domain
        .item_count()
        .is_none_or(|items| items < MIN_ITEMS_FOR_SINGLE_PAIR);
    // A single pair is one favoured side of two.
    if few
        || !budget
            .with_precomputed_exp()
            .allows_favoured_bucket_count(1, 2)
    {
        return Ok(best);
    }
    let single = choose(Some(2))?;
    let variance = |coco: &Coco| {
        coco.hit_probabilities(domain, budget.epsilon)
            .total_variance(domain)
    };
    let preferred = variance(&single) <= MAX_SINGLE_PAIR_RATIO * variance(&best);
    Ok(if preferred { single } else { best })
}

impl Coco {
    /// Returns the parameters of minimum [total
    /// variance](crate::mechanism::coco::CocoHitProbabilities::total_variance). Only parameters that the draft
    /// allows and that stay within the budget are considered.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if the draft allows no parameters, or none
    /// within the budget.
    pub fn choose_parameters(
        domain: &Domain,
        budget: impl Into<PrivacyBudget>,
        draft: &ParametersDraft,
    ) -> Result<Self, Error> {
        subset::choose_bucket_parameters(domain, budget.into(), draft, &Objective::MEAN_ONLY.into())
    }
}
