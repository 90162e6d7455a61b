//! Candidates for ratings with the mechanism `auto`: every mechanism with its best parameters and
//! local ε, within limits on the local and the central ε.
//!
//! A mechanism *hides well enough* if the batch meets the limit on the central ε. For this, its
//! mixture parameter α must not be too large.

use std::cmp::Ordering;

use hushbin::bounds::{EPSILON_RANGE, MEAN_ITEM_OVERLAP_RANGE};
use hushbin::choose::{Candidate, KindDraft, Objective, PredictedSquaredError, QuestionDraft};
use hushbin::{Error, Items};

use crate::accounting::{
    CENTRAL_EPSILON_RANGE, ReportMixture, largest_alpha, meets_central_epsilon,
    mixture_at_largest_epsilon,
};
use crate::numeric::digits::round_down_to_four_digits;
use crate::numeric::roots::{geometric_midpoint_function, try_bisect};
use crate::plan::error::PlanError;
use crate::plan::survey::{AutoRatingsQuestion, PrivacyLimits, Survey};

/// A mechanism with all parameters and a local ε, and its predicted error.
#[derive(Debug, Clone)]
pub(in crate::plan) struct MechanismChoice {
    pub(in crate::plan) epsilon: f64,
    pub(in crate::plan) candidate: Candidate,
    /// Predicted error, weighted by the objective. `None` if the mechanism does not estimate the
    /// objective.
    pub(in crate::plan) predicted_error: Option<PredictedSquaredError>,
}

impl MechanismChoice {
    /// Returns the squared error by which choices are compared. It is infinite if the mechanism
    /// does not estimate the objective, or if it is biased and the survey accepts no bias.
    pub(in crate::plan) const fn squared_error(&self) -> f64 {
        self.candidate.objective_error
    }
}

/// Number of steps of the search for the local ε. The search starts at the ε at which every
/// randomizer meets the limit on the central ε, and ends at the maximum local ε.
const EPSILON_SEARCH_STEPS: u32 = 6;
/// Number of rounds that refine the search around the best local ε, by halving the distances. Out
/// of 300 random questions with a limit on the central ε, the search missed a solution that was
/// more than 1 per cent better in 28 cases without these rounds. Without
/// [`EpsilonSearch::increase_epsilons`], it did so in 28 cases, too. With both, it did so in 2.
const EPSILON_REFINEMENT_ROUNDS: u32 = 3;
/// Maximum squared error, relative to the smallest one, of the choices whose ε is increased by
/// [`EpsilonSearch::increase_epsilons`]. Such a choice may become the best.
const MAX_CONTENDER_ERROR_RATIO: f64 = 1.1;
/// Maximum number of choices whose ε is increased.
const MAX_CONTENDER_COUNT: usize = 8;
/// Relative increase of the squared error that is accepted for a smaller local ε.
const SMALLER_EPSILON_ERROR_SLACK: f64 = 0.003;

/// Finds the best choice of each mechanism, in ascending order of errors. The result is empty
/// if no mechanism stays within the privacy limits.
///
/// If the central ε is limited, the best local ε is searched for, too. At the same central ε,
/// reports with a larger local ε can be more informative. For example, if one of t buckets is
/// favoured, α ≈ 1/(e + t − 1), where e = exp(ε). With more buckets, e can be larger at the same α.
pub(super) fn find_best_mechanism_choices(
    survey: &Survey,
    open: &AutoRatingsQuestion<'_>,
    people: u64,
    privacy: PrivacyLimits,
) -> Result<Vec<MechanismChoice>, PlanError> {
    let search = EpsilonSearch::new(survey, open, people, privacy.max_local_epsilon)?;
    let Some(central_epsilon) = privacy.max_central_epsilon else {
        return search.choices_at_epsilon(privacy.max_local_epsilon, f64::INFINITY);
    };
    let mut all = search.choices_within_central_limit(central_epsilon)?;
    search.increase_epsilons(&mut all, central_epsilon)?;
    all.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    Ok(best_choice_of_each_mechanism(all))
}

/// Search for the best local ε, and for the best mechanisms of a question at that ε.
struct EpsilonSearch<'a> {
    survey: &'a Survey,
    auto_ratings_question: &'a AutoRatingsQuestion<'a>,
    people: u64,
    objective: Objective,
    question_draft: QuestionDraft,
    /// Maximum local ε.
    max_local_epsilon: f64,
}

impl<'a> EpsilonSearch<'a> {
    fn new(
        survey: &'a Survey,
        open: &'a AutoRatingsQuestion<'a>,
        people: u64,
        greatest: f64,
    ) -> Result<Self, PlanError> {
        // Use numbered items. The names of items do not matter here, and would be checked again for
        // every ε.
        let items = open.items_to_rate.item_count().map(Items::Count);
        let items = items.unwrap_or_else(|| open.items_to_rate.clone());
        let wanted = survey.wanted_accuracy(&open.question_draft.name);
        let wanted = wanted.standard_error.or(wanted.smallest_frequency);
        let draft = QuestionDraft {
            name: String::new(),
            kind: KindDraft::Ratings(items, open.value_kind),
            sparsity: open.question_draft.sparsity,
            people_count_by_entry_count: open.question_draft.people_count_by_entry_count.clone(),
            // A wanted error must be met in the worst case, which is the maximum overlap.
            mean_item_overlap: wanted
                .filter(|_| open.question_draft.people_count_by_entry_count.is_some())
                .map_or(open.question_draft.mean_item_overlap, |_| {
                    Some(MEAN_ITEM_OVERLAP_RANGE.max)
                }),
            sampling_weight: None,
            mechanism: open.question_draft.mechanism.clone(),
        };
        Ok(Self {
            survey,
            auto_ratings_question: open,
            people,
            objective: open.objective.objective()?,
            question_draft: draft,
            max_local_epsilon: greatest,
        })
    }

    /// Returns, for each mechanism, the best choice at this local ε whose mixture parameter α is at
    /// most `alpha`.
    fn choices_at_epsilon(
        &self,
        epsilon: f64,
        alpha: f64,
    ) -> Result<Vec<MechanismChoice>, PlanError> {
        let chosen =
            self.question_draft
                .choose_within_alpha(epsilon, Some(self.people), alpha, None)?;
        let Some(plan) = chosen else {
            return Ok(Vec::new());
        };
        let candidates = std::iter::once(plan.chosen).chain(plan.alternatives);
        let choice = |candidate: Candidate| MechanismChoice {
            epsilon,
            predicted_error: self
                .objective
                .weighted_average_error(&candidate.predicted_errors),
            candidate,
        };
        Ok(candidates.map(choice).collect())
    }

    /// Returns choices at many values of the local ε, all of which meet the limit on the central ε.
    ///
    /// The values range from the local ε at which every randomizer meets the limit to the maximum
    /// local ε. Further values are tried near the best one.
    fn choices_within_central_limit(
        &self,
        central_epsilon: f64,
    ) -> Result<Vec<MechanismChoice>, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        let any = self.epsilon_safe_for_any_randomizer(central_epsilon)?;
        let first = any.map_or(EPSILON_RANGE.min, |any| {
            round_down_to_four_digits(any).clamp(EPSILON_RANGE.min, self.max_local_epsilon)
        });
        let mut all = match any {
            // At this ε every randomizer hides well enough, so α needs no limit.
            Some(_) => self.choices_at_epsilon(first, UNLIMITED_MIXTURE_ALPHA)?,
            None => Vec::new(),
        };
        let mut tried = vec![first];
        let mut next: Vec<f64> = (1..EPSILON_SEARCH_STEPS)
            .map(|step| {
                geometric_interpolation(
                    first,
                    self.max_local_epsilon,
                    f64::from(step) / f64::from(EPSILON_SEARCH_STEPS),
                )
            })
            .chain([self.max_local_epsilon])
            .collect();
        for _ in 0..=EPSILON_REFINEMENT_ROUNDS {
            next.retain(|epsilon| !tried.contains(epsilon));
            for &epsilon in &next {
                let alpha = largest_alpha(epsilon, self.people, honest, delta, central_epsilon)?;
                all.extend(self.choices_at_epsilon(epsilon, alpha)?);
            }
            tried.append(&mut next);
            tried.sort_by(f64::total_cmp);
            let Some(best) = best_choice(&all) else { break };
            let beside = |pair: &&[f64]| pair.contains(&best.epsilon);
            let middle = |pair: &[f64]| geometric_interpolation(pair[0], pair[1], 0.5);
            next = tried.windows(2).filter(beside).map(middle).collect();
        }
        Ok(all)
    }

    /// Returns the largest local ε at which every randomizer meets the limit on the central ε.
    /// `None` if not even the smallest permitted local ε meets it.
    fn epsilon_safe_for_any_randomizer(
        &self,
        central_epsilon: f64,
    ) -> Result<Option<f64>, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        match mixture_at_largest_epsilon(
            ReportMixture::for_any_randomizer,
            self.people,
            honest,
            delta,
            central_epsilon,
        ) {
            Ok(mixture) => Ok(Some(mixture.epsilon())),
            Err(Error::OutOfRange { name, .. }) if name == CENTRAL_EPSILON_RANGE.name => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Increases the local ε of each of the best choices as far as the batch still meets the limit
    /// on the central ε.
    fn increase_epsilons(
        &self,
        all: &mut [MechanismChoice],
        central_epsilon: f64,
    ) -> Result<(), PlanError> {
        let good =
            best_choice(all).map_or(0.0, |best| best.squared_error() * MAX_CONTENDER_ERROR_RATIO);
        let population = self.question_draft.population(Some(self.people))?;
        all.sort_by(compare_by_error);
        for choice in all.iter_mut().take(MAX_CONTENDER_COUNT) {
            // Choices with an infinite error are left as they are.
            if choice.squared_error() <= good && good.is_finite() {
                let epsilon = self.largest_epsilon_within_limit(choice, central_epsilon)?;
                let domain = self
                    .auto_ratings_question
                    .input_domain(choice.candidate.sparsity);
                let predicted =
                    (choice.candidate.mechanism).predict_errors(&domain, epsilon, &population);
                choice.epsilon = epsilon;
                choice.candidate.predicted_errors = predicted;
                choice.predicted_error = self.objective.weighted_average_error(&predicted);
                let likely = |error: PredictedSquaredError| error.likely_total_error();
                choice.candidate.objective_error =
                    choice.predicted_error.map_or(f64::INFINITY, likely);
            }
        }
        Ok(())
    }

    /// Returns the largest local ε at which the mechanism of this choice meets the limit on the
    /// central ε, rounded down to four digits. The result exceeds the choice's own ε by at most a
    /// tenth.
    ///
    /// The result is often larger than the choice's own ε. The number of buckets is an integer, so
    /// the mixture parameter α of the mechanism is below its limit.
    fn largest_epsilon_within_limit(
        &self,
        choice: &MechanismChoice,
        central_epsilon: f64,
    ) -> Result<f64, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        let domain = self
            .auto_ratings_question
            .input_domain(choice.candidate.sparsity);
        // Leave room for rounding errors.
        let central_epsilon = central_epsilon * (1.0 - 1e-7);
        let hides = |epsilon: f64| -> Result<bool, PlanError> {
            let mixture =
                ReportMixture::for_mechanism(&choice.candidate.mechanism, &domain, epsilon)?;
            Ok(meets_central_epsilon(
                &mixture,
                self.people,
                honest,
                delta,
                central_epsilon,
            )?)
        };
        let most = (1.1 * choice.epsilon).min(self.max_local_epsilon);
        if hides(most)? {
            return Ok(most);
        }
        let (found, _) = try_bisect(
            choice.epsilon,
            most,
            geometric_midpoint_function(1e-4),
            hides,
        )?;
        Ok(round_down_to_four_digits(found).max(choice.epsilon))
    }
}

fn compare_by_error(a: &MechanismChoice, b: &MechanismChoice) -> Ordering {
    a.squared_error().total_cmp(&b.squared_error())
}

fn best_choice(choices: &[MechanismChoice]) -> Option<&MechanismChoice> {
    choices.iter().min_by(|a, b| compare_by_error(a, b))
}

/// Returns the ε that is a fraction `part` of the way from `low` to `high` on a logarithmic scale,
/// rounded down.
fn geometric_interpolation(low: f64, high: f64, part: f64) -> f64 {
    round_down_to_four_digits(low * (high / low).powf(part)).clamp(low, high)
}

/// Limit on the mixture parameter α that every mechanism meets, except mechanisms whose central ε
/// cannot be computed.
const UNLIMITED_MIXTURE_ALPHA: f64 = 1.0;

/// Returns the best choice of each mechanism, in ascending order of errors. `all` must be in
/// ascending order of ε.
fn best_choice_of_each_mechanism(mut all: Vec<MechanismChoice>) -> Vec<MechanismChoice> {
    let mut best: Vec<MechanismChoice> = Vec::new();
    while let Some(first) = all.first() {
        let name = first.candidate.mechanism.name();
        let (same, others): (Vec<_>, Vec<_>) =
            (all.into_iter()).partition(|choice| choice.candidate.mechanism.name() == name);
        all = others;
        let least = same
            .iter()
            .map(MechanismChoice::squared_error)
            .fold(f64::INFINITY, f64::min);
        let enough = least * (1.0 + SMALLER_EPSILON_ERROR_SLACK);
        // Choices are in ascending order of ε, so this finds the smallest ε whose error is nearly
        // the smallest.
        best.extend(
            same.into_iter()
                .find(|choice| choice.squared_error() <= enough),
        );
    }
    best.sort_by(compare_by_error);
    best
}
