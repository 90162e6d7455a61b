//! Candidates: every mechanism at its best for a local and a central ε.

use std::cmp::Ordering;

use hushbin::bounds::{EPSILON, OVERLAP};
use hushbin::choose::{Candidate, KindDraft, Objective, QuestionDraft, SquaredError};
use hushbin::{Error, Items};

use crate::accounting::{
    CENTRAL_EPSILON, Mixture, largest_alpha, largest_epsilon, meets_central_epsilon,
};
use crate::numeric::digits::round_down;
use crate::numeric::roots::{geometric, try_bisect};
use crate::plan::error::PlanError;
use crate::plan::survey::{OpenRatings, Privacy, Survey};

/// Mechanism with a local ε, and the error to expect of it.
#[derive(Debug, Clone)]
pub(in crate::plan) struct Choice {
    pub(in crate::plan) epsilon: f64,
    pub(in crate::plan) candidate: Candidate,
    /// Error for the objective; `None` if the mechanism does not estimate it.
    pub(in crate::plan) predicted: Option<SquaredError>,
}

impl Choice {
    /// Returns the squared error by which choices are compared. It is infinite if the mechanism
    /// does not estimate the objective, or is biased and no bias is accepted.
    pub(in crate::plan) const fn squared_error(&self) -> f64 {
        self.candidate.objective_error
    }
}

/// Number of local ε tried, from the one at which any randomizer hides well enough to the maximum
/// allowed.
const STEPS: u32 = 6;
/// Number of rounds that refine the search on either side of the best ε, by halving. Of 300 random
/// questions with a central ε, 28 had an answer more than 1 per cent better without refinement. The
/// number was the same without stretching, and 2 with both.
const HALVINGS: u32 = 3;
/// Maximum squared error of choices to stretch, relative to the least. Such a choice may win at the
/// largest ε at which it still hides well enough.
const STRETCHED: f64 = 1.1;
/// Maximum number of choices to stretch.
const CONTENDERS: usize = 8;
/// Relative cost in squared error up to which a smaller local ε is preferred.
const INDIFFERENT: f64 = 0.003;

/// Finds every mechanism at its best, the best one first. The result is empty if none keeps to the
/// privacy.
///
/// Reports of a larger local ε that hide equally well reveal more: for one bucket of t, α ≈ 1/(e +
/// t − 1) may stay the same while e grows with t. So with a bound on the central ε, the local ε is
/// searched for too.
pub(super) fn candidates(
    survey: &Survey,
    open: &OpenRatings<'_>,
    people: u64,
    privacy: Privacy,
) -> Result<Vec<Choice>, PlanError> {
    let search = Search::new(survey, open, people, privacy.epsilon)?;
    let Some(central_epsilon) = privacy.central else {
        return search.choices(privacy.epsilon, f64::INFINITY);
    };
    let mut all = search.hiding(central_epsilon)?;
    search.stretch(&mut all, central_epsilon)?;
    all.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    Ok(best_of_each(all))
}

/// Search for the local ε of a question.
struct Search<'a> {
    survey: &'a Survey,
    open: &'a OpenRatings<'a>,
    people: u64,
    objective: Objective,
    draft: QuestionDraft,
    /// Maximum local ε.
    greatest: f64,
}

impl<'a> Search<'a> {
    fn new(
        survey: &'a Survey,
        open: &'a OpenRatings<'a>,
        people: u64,
        greatest: f64,
    ) -> Result<Self, PlanError> {
        // Names make no difference, and would be checked again for every ε.
        let items = open.items.count().map(Items::Count);
        let items = items.unwrap_or_else(|| open.items.clone());
        let wanted = survey.wanted(&open.draft.name);
        let wanted = wanted.standard_error.or(wanted.smallest);
        let draft = QuestionDraft {
            name: String::new(),
            kind: KindDraft::Ratings(items, open.value),
            sparsity: open.draft.sparsity,
            entries: open.draft.entries.clone(),
            // A wanted error is kept in the worst case.
            overlap: wanted
                .filter(|_| open.draft.entries.is_some())
                .map_or(open.draft.overlap, |_| Some(OVERLAP.max)),
            weight: None,
            mechanism: open.draft.mechanism.clone(),
        };
        Ok(Self {
            survey,
            open,
            people,
            objective: open.objective.objective()?,
            draft,
            greatest,
        })
    }

    /// Returns every mechanism at its best at this local ε, with at most this α.
    fn choices(&self, epsilon: f64, alpha: f64) -> Result<Vec<Choice>, PlanError> {
        let chosen = self
            .draft
            .choose_within_alpha(epsilon, Some(self.people), alpha)?;
        let Some(plan) = chosen else {
            return Ok(Vec::new());
        };
        let candidates = std::iter::once(plan.chosen).chain(plan.alternatives);
        let choice = |candidate: Candidate| Choice {
            epsilon,
            predicted: self.objective.weigh(&candidate.predicted),
            candidate,
        };
        Ok(candidates.map(choice).collect())
    }

    /// Returns choices that keep to a central ε, at many local ε.
    ///
    /// These range from the one at which any randomizer hides well enough to the maximum, and are
    /// refined near the best.
    fn hiding(&self, central_epsilon: f64) -> Result<Vec<Choice>, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        let any = self.epsilon_of_any_randomizer(central_epsilon)?;
        let first = any.map_or(EPSILON.min, |any| {
            round_down(any).clamp(EPSILON.min, self.greatest)
        });
        let mut all = match any {
            // At this ε any randomizer hides well enough, so α needs no bound.
            Some(_) => self.choices(first, EVERYBODY)?,
            None => Vec::new(),
        };
        let mut tried = vec![first];
        let mut next: Vec<f64> = (1..STEPS)
            .map(|step| between(first, self.greatest, f64::from(step) / f64::from(STEPS)))
            .chain([self.greatest])
            .collect();
        for _ in 0..=HALVINGS {
            next.retain(|epsilon| !tried.contains(epsilon));
            for &epsilon in &next {
                let alpha = largest_alpha(epsilon, self.people, honest, delta, central_epsilon)?;
                all.extend(self.choices(epsilon, alpha)?);
            }
            tried.append(&mut next);
            tried.sort_by(f64::total_cmp);
            let Some(best) = best_of(&all) else { break };
            let beside = |pair: &&[f64]| pair.contains(&best.epsilon);
            let middle = |pair: &[f64]| between(pair[0], pair[1], 0.5);
            next = tried.windows(2).filter(beside).map(middle).collect();
        }
        Ok(all)
    }

    /// Returns the local ε up to which any randomizer hides well enough; `None` if not even the
    /// least does.
    fn epsilon_of_any_randomizer(&self, central_epsilon: f64) -> Result<Option<f64>, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        match largest_epsilon(
            Mixture::generic,
            self.people,
            honest,
            delta,
            central_epsilon,
        ) {
            Ok(mixture) => Ok(Some(mixture.epsilon())),
            Err(Error::OutOfRange { name, .. }) if name == CENTRAL_EPSILON.name => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Raises the local ε of the best choices as far as they still hide well enough.
    fn stretch(&self, all: &mut [Choice], central_epsilon: f64) -> Result<(), PlanError> {
        let good = best_of(all).map_or(0.0, |best| best.squared_error() * STRETCHED);
        let population = self.draft.population(Some(self.people))?;
        all.sort_by(by_error);
        for choice in all.iter_mut().take(CONTENDERS) {
            // Refused choices stay refused.
            if choice.squared_error() <= good && good.is_finite() {
                let epsilon = self.stretched(choice, central_epsilon)?;
                let domain = self.open.domain(choice.candidate.sparsity);
                let predicted =
                    (choice.candidate.mechanism).predict_errors(&domain, epsilon, &population);
                choice.epsilon = epsilon;
                choice.candidate.predicted = predicted;
                choice.predicted = self.objective.weigh(&predicted);
                let likely = |error: SquaredError| error.likely_total();
                choice.candidate.objective_error = choice.predicted.map_or(f64::INFINITY, likely);
            }
        }
        Ok(())
    }

    /// Returns the largest ε, to four digits and at most a tenth more than the choice's, at which
    /// its mechanism hides well enough.
    ///
    /// The number of buckets is whole, so the mechanism's α is often below the allowed one.
    fn stretched(&self, choice: &Choice, central_epsilon: f64) -> Result<f64, PlanError> {
        let (honest, delta) = (self.survey.honest_fraction, self.survey.delta);
        let domain = self.open.domain(choice.candidate.sparsity);
        // Leaves room for roundings.
        let central_epsilon = central_epsilon * (1.0 - 1e-7);
        let hides = |epsilon: f64| -> Result<bool, PlanError> {
            let mixture = Mixture::for_mechanism(&choice.candidate.mechanism, &domain, epsilon)?;
            Ok(meets_central_epsilon(
                &mixture,
                self.people,
                honest,
                delta,
                central_epsilon,
            )?)
        };
        let most = (1.1 * choice.epsilon).min(self.greatest);
        if hides(most)? {
            return Ok(most);
        }
        let (found, _) = try_bisect(choice.epsilon, most, geometric(1e-4), hides)?;
        Ok(round_down(found).max(choice.epsilon))
    }
}

fn by_error(a: &Choice, b: &Choice) -> Ordering {
    a.squared_error().total_cmp(&b.squared_error())
}

fn best_of(choices: &[Choice]) -> Option<&Choice> {
    choices.iter().min_by(|a, b| by_error(a, b))
}

/// Returns the ε between `low` and `high`, at the fraction `part` of the way on a logarithmic
/// scale.
fn between(low: f64, high: f64, part: f64) -> f64 {
    round_down(low * (high / low).powf(part)).clamp(low, high)
}

/// Bound above every α, except for mechanisms that cannot be accounted for.
const EVERYBODY: f64 = 1.0;

/// Picks the best choice of every mechanism, by increasing error. `all` comes by increasing ε.
fn best_of_each(mut all: Vec<Choice>) -> Vec<Choice> {
    let mut best: Vec<Choice> = Vec::new();
    while let Some(first) = all.first() {
        let name = first.candidate.mechanism.name();
        let (same, others): (Vec<_>, Vec<_>) =
            (all.into_iter()).partition(|choice| choice.candidate.mechanism.name() == name);
        all = others;
        let least = same
            .iter()
            .map(Choice::squared_error)
            .fold(f64::INFINITY, f64::min);
        let enough = least * (1.0 + INDIFFERENT);
        // Choices come by increasing ε, so this is the smallest ε that is nearly best.
        best.extend(
            same.into_iter()
                .find(|choice| choice.squared_error() <= enough),
        );
    }
    best.sort_by(by_error);
    best
}
