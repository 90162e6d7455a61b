//! Comparison of two designs. In one, each report answers one of several questions. In the other,
//! each report answers all questions together.

use alloc::vec::Vec;

use super::collision::ParametersDraft;
use super::objective::{Objective, ParameterSearchGoal};
use super::predict::PredictedSquaredError;
use super::sparsity_search::Candidate;
use super::subset;
use crate::bounds;
use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::collision::{Collision, CollisionHitProbabilities};
use crate::task::{Question, QuestionKind, QuestionPart, Task, Together};

/// Comparison of the variances of separate questions and of one question of kind `together`.
///
/// Each variance is a sum over all answers to all questions. A term is the variance of one report's
/// estimate of the share of people with that answer. People are spread evenly over the answers to a
/// question. A question that is drawn with probability w receives a share w of the reports, so a
/// variance V becomes V/w. The draw of the people adds f(1 − f)·(1/w − 1) for an answer with share
/// f.
///
/// ```
/// use hushbin::choose::compare_separate_with_together;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{
///     "id": "settings", "epsilon": 4.0, "questions": [
///         { "name": "dark", "kind": "flag" },
///         { "name": "beta", "kind": "flag" }
///     ]
/// }"#).unwrap();
/// let compared = compare_separate_with_together(&draft.resolve_task().unwrap()).unwrap();
/// assert!(compared.together_variance < 0.5 * compared.separate_variance);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeparateVsTogetherVariances {
    /// Variance if each report answers one question, as in the task.
    pub separate_variance: f64,
    /// Variance if each report answers all questions, with the best parameters.
    pub together_variance: f64,
}

/// Compares separate questions with one question of kind `together`. Returns `None` unless the task
/// has several questions that can be asked together. All of them must be choices or flags with
/// Collision.
#[must_use]
pub fn compare_separate_with_together(task: &Task) -> Option<SeparateVsTogetherVariances> {
    let questions = task.questions();
    let mut separate = 0.0;
    let mut parts = Vec::new();
    for (index, question) in questions.iter().enumerate() {
        let part = question_as_part(question)?;
        let (options, share) = (part.cell_count(), task.question_report_share(index));
        let noise = separate_variance(&collision_hit_probabilities(question)?, options);
        // Σ f(1 − f) over options of equal share f.
        let spread = 1.0 - 1.0 / f64::from(options);
        separate += noise / share + spread * (1.0 / share - 1.0);
        parts.push(part);
    }
    let all = Together::new(parts);
    let (count, cells) = (all.parts().len() as u32, all.cell_count());
    if !bounds::QUESTION_PART_COUNT_RANGE.contains(f64::from(count))
        || !bounds::OPTION_COUNT_RANGE.contains(f64::from(cells))
    {
        return None;
    }
    let (domain, epsilon) = (Domain::with_exact_entry_count(cells, count), task.epsilon());
    let goal = ParameterSearchGoal {
        objective: Objective::FREQUENCY_ONLY,
        together_parts: all.parts(),
    };
    let budget = epsilon.into();
    let collision: Collision =
        subset::choose_bucket_parameters(&domain, budget, &ParametersDraft::default(), &goal)
            .ok()?;
    Some(SeparateVsTogetherVariances {
        separate_variance: separate,
        together_variance: together_variance(&all, &collision.hit_probabilities(&domain, epsilon)),
    })
}

/// Replaces a candidate's predicted error. The new error is that of the estimated shares of the
/// options. People are assumed to be spread evenly over the options of each part.
pub(super) fn replace_predicted_error(
    all: &Together,
    epsilon: f64,
    people: f64,
    candidate: &mut Candidate,
) {
    let (count, cells) = (all.parts().len() as u32, all.cell_count());
    let Mechanism::Collision(collision) = &candidate.mechanism else {
        return;
    };
    let rates = collision.hit_probabilities(&Domain::with_exact_entry_count(cells, count), epsilon);
    let rare = |part: &QuestionPart| rates.option_variance(part.cell_count(), false);
    let error = PredictedSquaredError {
        variance: together_variance(all, &rates) / f64::from(cells) / people,
        rare_item_variance: all.parts().iter().map(rare).fold(0.0, f64::max) / people,
        ..PredictedSquaredError::default()
    };
    candidate.predicted_errors.frequency_error = Some(error);
    candidate.objective_error = error.worst_case_total_error();
}

/// Returns the sum of the variances of one report's estimates. Each option of each part has an
/// estimate: the share of people who chose this option.
fn together_variance(all: &Together, rates: &CollisionHitProbabilities) -> f64 {
    let parts = all.parts().iter();
    parts
        .map(|part| rates.total_option_variance(part.cell_count()))
        .sum()
}

/// Returns the sum of the variances of one report's estimates for a separate question. Each of the
/// `options` options has an estimate: the share of people who chose this option.
fn separate_variance(rates: &CollisionHitProbabilities, options: u32) -> f64 {
    rates.frequency_variance(true) + f64::from(options - 1) * rates.frequency_variance(false)
}

/// Returns a question as a part of `together`, or `None` if its kind cannot be a part.
fn question_as_part(question: &Question) -> Option<QuestionPart> {
    match question.kind() {
        QuestionKind::Choice => Some(QuestionPart::new_choice(
            question.name(),
            question.items().clone(),
        )),
        QuestionKind::Flag => Some(QuestionPart::new_flag(question.name())),
        _ => None,
    }
}

fn collision_hit_probabilities(question: &Question) -> Option<CollisionHitProbabilities> {
    match question.mechanism() {
        Mechanism::Collision(own) => {
            Some(own.hit_probabilities(&question.domain(), question.epsilon()))
        }
        _ => None,
    }
}
