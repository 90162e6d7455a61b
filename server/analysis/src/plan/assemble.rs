//! Construction of a plan from the task that the search found.

use hushbin::choose::Objective;
use hushbin::task::{NumberScale, QuestionKind};
use hushbin::{Items, Question, Task};

use super::comparison_with_ratings;
use super::error::PlanError;
use super::goal::{PlannedEstimateKind, QuestionGoal};
use super::interval_z_scores::IntervalZScores;
use super::plan_result::{
    AlternativeMechanism, NumberError, Plan, PlanVerdict, QuestionPlan, SolvedQuantity,
};
use super::search::{MechanismChoice, PlannedTask, PredictedQuestionError};
use super::survey::{AutoRatingsQuestion, DETECTION_POWER, Survey};
use super::words;
use crate::accounting::{BatchPrivacy, ReportMixture, compute_batch_privacy};
use crate::estimate::{DEFAULT_CONFIDENCE, ErrorPredictor, Estimand, PredictedQuantity};
use crate::heavy_hitters::{DEFAULT_ALPHABET, DetectableShare};
use crate::mechanism_optimality;
use crate::promise::{bias_statement, protected_input_text};

impl Plan {
    /// Creates the plan. `missed` returns a phrase that says how to reach the wanted accuracy.
    pub(super) fn new(
        survey: &Survey,
        planned: &PlannedTask,
        solved_for: SolvedQuantity,
        people: u64,
        missed: impl FnOnce() -> String,
    ) -> Result<Self, PlanError> {
        let task = &planned.task;
        let questions: Result<Vec<QuestionPlan>, PlanError> = (0..task.questions().len())
            .map(|index| QuestionPlan::new(survey, planned, index, people))
            .collect();
        let questions = questions?;
        let others = match survey.sole_auto_ratings_question() {
            Some(open) => {
                let error = questions[0].error;
                let other =
                    |choice| AlternativeMechanism::new(survey, &open, choice, people, error);
                planned
                    .other_mechanism_choices
                    .iter()
                    .map(other)
                    .collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        let neighbours = task.questions()[0].mechanism().neighbours();
        let (central, central_reason) = match shuffled_batch_privacy(survey, task, people) {
            Ok(account) => (Some(account), None),
            Err(reason) => (None, Some(reason)),
        };
        Ok(Self {
            solved_for,
            people,
            days: survey.people_per_day.map(|day| people as f64 / day),
            epsilon: task.epsilon(),
            effective_epsilon: task.achieved_report_epsilon(),
            protects: protected_input_text(neighbours),
            central,
            central_reason,
            together_over_drawn: planned.together_to_drawn_variance_ratio,
            verdict: PlanVerdict::new(&questions, missed),
            assumes: words::assumptions_text(&questions, neighbours, survey.honest_fraction),
            questions,
            others,
            task: task.clone(),
        })
    }
}

/// Computes the central privacy of the shuffled reports, or returns the reason why this is not
/// possible.
fn shuffled_batch_privacy(
    survey: &Survey,
    task: &Task,
    people: u64,
) -> Result<BatchPrivacy, String> {
    let mixture = ReportMixture::for_task(task).map_err(|error| error.to_string())?;
    compute_batch_privacy(&mixture, people, survey.honest_fraction, survey.delta)
        .map_err(|error| error.to_string())
}

impl QuestionPlan {
    fn new(
        survey: &Survey,
        planned: &PlannedTask,
        index: usize,
        people: u64,
    ) -> Result<Self, PlanError> {
        let (task, error) = (&planned.task, &planned.predicted_errors[index]);
        let (question, goal) = (&task.questions()[index], &error.goal);
        let several = task.questions().len() > 1;
        let reports = people as f64 * task.question_report_share(index);
        let reach = IntervalZScores::new(goal.estimate_count);
        let standard_error = error.standard_error(reports);
        // This may be a simulated width, which is not proportional to the standard error.
        let half_width = error.half_width(reports);
        let objective = comparison_objective(survey, goal)?;
        let answers = question.items().item_count();
        Ok(Self {
            name: question.name().to_owned(),
            kind: question.kind().name().to_owned(),
            mechanism: question.mechanism().clone(),
            on_average: error.best_mechanism_on_average.clone(),
            sparsity: question.max_entries_per_report(),
            answers,
            cells: scale_cell_count(question),
            share: task.question_report_share(index),
            reports,
            errors_of: goal.estimate_kind,
            number_name: goal.number_name.clone(),
            unit: goal.unit.clone(),
            standard_error,
            bias: error.squared_bias.map(f64::sqrt),
            error: error.root_mean_squared_error(reports),
            half_width,
            simultaneous_half_width: half_width * reach.simultaneous_z_score / reach.single_z_score,
            wanted_half_width: goal.max_half_width,
            wanted_error: goal.max_root_mean_squared_error,
            range: goal.answer_range_width,
            smallest_frequency: smallest_detected_share(question, error, reach, reports),
            share_if_equally_common: goal.share_if_equally_common(question),
            numbers: errors_of_each_number(
                question,
                standard_error / goal.error_scale_factor,
                reach,
            ),
            distance: mechanism_optimality::question_distance_from_best(question, &objective),
            as_ratings: comparison_with_ratings::ratings_to_actual_variance_ratio(
                question,
                goal.predicted_quantity,
                several,
            ),
            bias_note: bias_statement(question),
        })
    }
}

/// Returns the objective by which a question is compared with the best possible mechanism.
fn comparison_objective(survey: &Survey, goal: &QuestionGoal) -> Result<Objective, PlanError> {
    Ok(
        match (survey.sole_auto_ratings_question(), goal.predicted_quantity) {
            (Some(open), _) => open.objective.objective()?,
            (None, PredictedQuantity::Mean | PredictedQuantity::MeanWithinRow(_)) => {
                Objective::MEAN_ONLY
            }
            (None, PredictedQuantity::Share | PredictedQuantity::DistributionFunction(_)) => {
                Objective::FREQUENCY_ONLY
            }
        },
    )
}

/// Returns the number of levels or bins of a question's scale, or `None` if it has no scale.
fn scale_cell_count(question: &Question) -> Option<u32> {
    match question.kind() {
        QuestionKind::Number(scale) => Some(scale.level_or_bin_count()),
        QuestionKind::CrossTabulation(cross) => cross
            .column_part()
            .scale()
            .map(NumberScale::level_or_bin_count),
        _ => None,
    }
}

impl AlternativeMechanism {
    fn new(
        survey: &Survey,
        open: &AutoRatingsQuestion<'_>,
        choice: &MechanismChoice,
        people: u64,
        error: f64,
    ) -> Result<Self, PlanError> {
        let candidate = &choice.candidate;
        let (mechanism, sparsity) = (&candidate.mechanism, candidate.sparsity);
        let task = survey.create_task(vec![open.question_using_mechanism(
            mechanism,
            sparsity,
            choice.epsilon,
        )?])?;
        let predicted = choice.predicted_error;
        let enough = predicted.and_then(|own| {
            let room = error * error - own.worst_case_squared_bias;
            // The factor keeps an integer unchanged if it is exceeded by a rounding error.
            let needed = || (own.variance * people as f64 / room * (1.0 - 1e-12)).ceil();
            (room > 0.0).then(needed)
        });
        Ok(Self {
            mechanism: mechanism.clone(),
            sparsity,
            epsilon: task.epsilon(),
            effective_epsilon: task.achieved_report_epsilon(),
            protects: protected_input_text(mechanism.neighbours()),
            standard_error: predicted.map(|own| own.variance.sqrt()),
            bias: predicted.map(|own| own.worst_case_squared_bias.sqrt()),
            error: predicted.map(|own| own.worst_case_total_error().sqrt()),
            people: enough,
            central: shuffled_batch_privacy(survey, &task, people).ok(),
        })
    }
}

/// Returns the smallest share of people for which an answer or item is detected, if shares or items
/// are estimated. For a text, the search is assumed to use the default alphabet.
fn smallest_detected_share(
    question: &Question,
    error: &PredictedQuestionError,
    reach: IntervalZScores,
    reports: f64,
) -> Option<f64> {
    match error.goal.estimate_kind {
        PlannedEstimateKind::Share => {}
        PlannedEstimateKind::Items => {
            let rarest = error.standard_error(reports) * reach.detection_z_score;
            return Some(rarest).filter(|share| *share <= 1.0);
        }
        _ => return None,
    }
    if let QuestionKind::Text(_) = question.kind() {
        let letters = DEFAULT_ALPHABET.chars().count();
        let found = DetectableShare::new(
            question,
            reports as u64,
            letters,
            DEFAULT_CONFIDENCE,
            DETECTION_POWER,
        )?;
        return Some(found.share).filter(|share| *share <= 1.0);
    }
    let rare = ErrorPredictor::for_question(question)
        .rare_item_standard_error(Estimand::Share, reports)?;
    Some(rare * reach.detection_z_score).filter(|share| *share <= 1.0)
}

/// Returns the errors of each number, if the question asks for several. The standard error of a
/// number is `part` times half of its range.
fn errors_of_each_number(
    question: &Question,
    part: f64,
    reach: IntervalZScores,
) -> Vec<NumberError> {
    let (QuestionKind::Numbers(limits), Items::Named(names)) = (question.kind(), question.items())
    else {
        return Vec::new();
    };
    let number = |(name, limits): (&String, &hushbin::task::NumberLimits)| {
        let [min, max] = limits.range();
        let standard_error = part * 0.5 * (max - min);
        NumberError {
            name: name.clone(),
            unit: limits.unit().map(str::to_owned),
            standard_error,
            half_width: standard_error * reach.single_z_score,
        }
    };
    names.iter().zip(limits.iter()).map(number).collect()
}
