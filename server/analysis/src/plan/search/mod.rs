//! Search for the best task within limits on the local and the central ε, and its errors.
//!
//! If the central ε is limited, the local ε is found in one of two ways:
//!
//! - If the only question asks for ratings with the mechanism `auto`, every mechanism is tried at
//!   many values of the local ε ([`candidates`]).
//! - For any other task, the core chooses the mechanisms at a given local ε, and the largest
//!   permitted ε is found by bisection. If every person gives one answer, the number of buckets is
//!   the one for which the worst-case error of shares is smallest.

mod candidates;
mod quantile_width;

pub(super) use candidates::MechanismChoice;

use hushbin::bounds::{EPSILON_RANGE, PEOPLE_COUNT_RANGE, ParameterRange, QUESTION_WEIGHT_RANGE};
use hushbin::choose::{MechanismDraft, QuestionDraft, TaskDraft, compare_separate_with_together};
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::task::{QuestionFields, QuestionKind};
use hushbin::{Error, Mechanism, Question, Task};

use super::error::PlanError;
use super::goal::QuestionGoal;
use super::interval_z_scores::IntervalZScores;
use super::survey::{AutoRatingsQuestion, PrivacyLimits, Survey};
use crate::accounting::{ReportMixture, meets_central_epsilon};
use crate::estimate::{ErrorPredictor, PredictedQuantity};
use crate::numeric::digits::round_down_to_four_digits;
use crate::numeric::roots::{find_root_by_secant, geometric_midpoint_function, try_bisect};
use candidates::find_best_mechanism_choices;
use quantile_width::QuantileWidth;

/// Task that was found for a survey, with its predicted errors.
#[derive(Debug, Clone)]
pub(super) struct PlannedTask {
    pub(super) task: Task,
    /// Predicted errors of each question of the task.
    pub(super) predicted_errors: Vec<PredictedQuestionError>,
    /// Best choices of the other mechanisms, in ascending order of errors. Empty unless the
    /// only question has the mechanism `auto`.
    pub(super) other_mechanism_choices: Vec<MechanismChoice>,
    /// Variance if each report answers all questions, divided by the variance if each report
    /// answers one question, drawn at random. `None` if the questions cannot be asked together.
    pub(super) together_to_drawn_variance_ratio: Option<f64>,
}

/// Goal of a question, and the predicted error of one report that answers it.
#[derive(Debug, Clone)]
pub(super) struct PredictedQuestionError {
    pub(super) goal: QuestionGoal,
    /// Variance of one report, in the unit of the goal's `aim`. Infinite if the goal cannot be
    /// reached.
    pub(super) single_report_variance: f64,
    /// Squared bias, which does not decrease with the number of reports. `None` if it is not known.
    pub(super) squared_bias: Option<f64>,
    /// Simulated width of a quantile's interval. `None` unless the mechanism is a pattern and the
    /// goal is a quantile.
    simulated_quantile_width: Option<QuantileWidth>,
    /// Mechanism with the smallest error on average over answers. `None` if it is also the
    /// mechanism with the smallest worst-case error.
    pub(super) best_mechanism_on_average: Option<Mechanism>,
}

/// Search for the best task of a survey.
pub(super) struct TaskSearch<'a> {
    survey: &'a Survey,
    /// The only question and its goal, if it asks for ratings with the mechanism `auto`.
    auto_ratings_question: Option<(AutoRatingsQuestion<'a>, QuestionGoal)>,
}

impl<'a> TaskSearch<'a> {
    /// Creates the search for a survey.
    ///
    /// # Errors The errors of [`QuestionGoal::goal_for_auto_ratings`].
    pub(super) fn new(survey: &'a Survey) -> Result<Self, PlanError> {
        let goal = |open: AutoRatingsQuestion<'a>| {
            let goal = QuestionGoal::goal_for_auto_ratings(
                &open,
                &survey.wanted_accuracy(&open.question_draft.name),
            )?;
            Ok::<_, PlanError>((open, goal))
        };
        let open = survey.sole_auto_ratings_question().map(goal).transpose()?;
        Ok(Self {
            survey,
            auto_ratings_question: open,
        })
    }

    /// Returns true if the only question asks for ratings with the mechanism `auto`. The best
    /// mechanism then depends on the number of people.
    pub(super) const fn asks_auto_ratings(&self) -> bool {
        self.auto_ratings_question.is_some()
    }

    /// Finds the best task within these privacy limits. Returns `None` if there is none.
    ///
    /// # Errors
    /// Errors in the questions, in the wanted accuracy, or of accounting.
    pub(super) fn best_task(
        &self,
        people: u64,
        privacy: PrivacyLimits,
    ) -> Result<Option<PlannedTask>, PlanError> {
        let survey = self.survey;
        if let Some((open, goal)) = &self.auto_ratings_question {
            let all = find_best_mechanism_choices(survey, open, people, privacy)?;
            return best_auto_ratings_task(survey, open, goal, all, people);
        }
        let most = PlannedTask::choose_task_at_epsilon(survey, privacy.max_local_epsilon)?;
        let Some(central) = privacy.max_central_epsilon else {
            return Ok(Some(most));
        };
        task_with_largest_epsilon(survey, most, people, central)
    }

    /// Returns the squared error of the best task, divided by the wanted squared error. The result
    /// is the maximum over questions, and infinite if there is no task within these privacy limits.
    ///
    /// # Errors The errors of [`TaskSearch::best_task`].
    pub(super) fn squared_error_to_goal_ratio(
        &self,
        people: f64,
        privacy: PrivacyLimits,
    ) -> Result<f64, PlanError> {
        let whole = people as u64;
        let Some((open, goal)) = &self.auto_ratings_question else {
            let planned = self.best_task(whole, privacy)?;
            return Ok(planned.map_or(f64::INFINITY, |own| own.squared_error_to_goal_ratio(people)));
        };
        // Do not build the task here, because its names would be checked each time.
        let all = find_best_mechanism_choices(self.survey, open, whole, privacy)?;
        let times = |best: &MechanismChoice| {
            let error = PredictedQuestionError::from_mechanism_choice(goal.clone(), best, whole);
            error.squared_error_to_goal_ratio(whole as f64)
        };
        Ok(all.first().map_or(f64::INFINITY, times))
    }
}

impl PredictedQuestionError {
    /// Creates the error from the prediction for a choice with `people` reports.
    fn from_mechanism_choice(goal: QuestionGoal, choice: &MechanismChoice, people: u64) -> Self {
        let possible = choice.squared_error().is_finite();
        let predicted = choice.predicted_error.filter(|_| possible);
        Self {
            goal,
            single_report_variance: predicted
                .map_or(f64::INFINITY, |own| own.variance * people as f64),
            squared_bias: predicted.map(|own| own.worst_case_squared_bias),
            simulated_quantile_width: None,
            best_mechanism_on_average: None,
        }
    }

    /// Returns the squared error at `reports` reports, divided by the wanted squared error.
    fn squared_error_to_goal_ratio(&self, reports: f64) -> f64 {
        if let Some((width, within)) = self
            .simulated_quantile_width
            .as_ref()
            .zip(self.goal.max_half_width)
        {
            return (width.half_width(reports) / within).powi(2);
        }
        let bias = self.squared_bias.unwrap_or(0.0);
        self.goal
            .squared_error_to_goal_ratio(self.single_report_variance, bias, reports)
    }

    /// Returns the standard error at `reports` reports, in the unit of the answer.
    pub(super) fn standard_error(&self, reports: f64) -> f64 {
        self.goal.error_scale_factor * (self.single_report_variance / reports).sqrt()
    }

    /// Returns the half-width of an interval at 95% confidence, at `reports` reports.
    pub(super) fn half_width(&self, reports: f64) -> f64 {
        match &self.simulated_quantile_width {
            Some(width) => width.half_width(reports),
            None => self.standard_error(reports) * IntervalZScores::new(1).single_z_score,
        }
    }

    /// Returns the number of reports at which the error equals the wanted error.
    ///
    /// # Errors
    /// [`PlanError::UnattainableGoal`] if no number of reports is enough.
    fn reports_needed(&self) -> Result<f64, PlanError> {
        if self.simulated_quantile_width.is_none() {
            return Ok(self.squared_error_to_goal_ratio(1.0));
        }
        sufficient_sample_size(&|reports| Ok(self.squared_error_to_goal_ratio(reports).ln()))
    }

    /// Returns the root of variance plus squared bias, at `reports` reports.
    pub(super) fn root_mean_squared_error(&self, reports: f64) -> f64 {
        self.standard_error(reports)
            .hypot(self.squared_bias.unwrap_or(0.0).sqrt())
    }
}

/// Creates the task with the best mechanism for ratings. `all` are the choices of all mechanisms,
/// the best one first.
fn best_auto_ratings_task(
    survey: &Survey,
    open: &AutoRatingsQuestion<'_>,
    goal: &QuestionGoal,
    mut all: Vec<MechanismChoice>,
    people: u64,
) -> Result<Option<PlannedTask>, PlanError> {
    if all.is_empty() {
        return Ok(None);
    }
    let best = all.remove(0);
    if !best.squared_error().is_finite() {
        return Err(PlanError::UnattainableGoal(
            "every mechanism for this has a bias, which was not accepted".to_owned(),
        ));
    }
    let candidate = &best.candidate;
    let question =
        open.question_using_mechanism(&candidate.mechanism, candidate.sparsity, best.epsilon)?;
    Ok(Some(PlannedTask {
        task: survey.create_task(vec![question])?,
        predicted_errors: vec![PredictedQuestionError::from_mechanism_choice(
            goal.clone(),
            &best,
            people,
        )],
        other_mechanism_choices: all,
        together_to_drawn_variance_ratio: None,
    }))
}

/// Finds the task with the largest local ε that meets the limit `central` on the central ε. `most`
/// is the task at the maximum local ε. Returns `None` if there is no such task.
fn task_with_largest_epsilon(
    survey: &Survey,
    most: PlannedTask,
    people: u64,
    central: f64,
) -> Result<Option<PlannedTask>, PlanError> {
    let hides = |planned: &PlannedTask| -> Result<bool, PlanError> {
        let mixture = ReportMixture::for_task(&planned.task)?;
        let (honest, delta) = (survey.honest_fraction, survey.delta);
        Ok(meets_central_epsilon(
            &mixture, people, honest, delta, central,
        )?)
    };
    if hides(&most)? {
        return Ok(Some(most));
    }
    if !hides(&PlannedTask::choose_task_at_epsilon(
        survey,
        EPSILON_RANGE.min,
    )?)? {
        return Ok(None);
    }
    let at = |epsilon: f64| hides(&PlannedTask::choose_task_at_epsilon(survey, epsilon)?);
    // The lower end of the bracket always meets the limit, so the result meets it, too.
    let (found, _) = try_bisect(
        EPSILON_RANGE.min,
        most.task.epsilon(),
        geometric_midpoint_function(1e-4),
        at,
    )?;
    // Round ε to fewer digits, if the task at the rounded ε meets the limit, too.
    let rounded = PlannedTask::choose_task_at_epsilon(
        survey,
        round_down_to_four_digits(found).max(EPSILON_RANGE.min),
    )?;
    if hides(&rounded)? {
        return Ok(Some(rounded));
    }
    PlannedTask::choose_task_at_epsilon(survey, found).map(Some)
}

impl PlannedTask {
    /// Chooses the task for a survey at this local ε. The choice does not depend on the number of
    /// people.
    ///
    /// # Errors
    /// Errors in the questions or in the wanted accuracy.
    fn choose_task_at_epsilon(survey: &Survey, epsilon: f64) -> Result<Self, PlanError> {
        Self::choose_task_for_questions(survey, survey.questions.clone(), epsilon)
    }

    /// Chooses the task that asks these questions at this local ε.
    fn choose_task_for_questions(
        survey: &Survey,
        questions: Vec<QuestionDraft>,
        epsilon: f64,
    ) -> Result<Self, PlanError> {
        let draft = TaskDraft {
            id: survey.id.clone(),
            epsilon,
            people_count: None,
            questions,
            budget_per_person: survey.budget,
        };
        let resolved = draft.resolve_task()?;
        let several = draft.questions.len() > 1;
        let (mut questions, mut errors) = (Vec::new(), Vec::new());
        for (draft, question) in draft.questions.iter().zip(resolved.questions()) {
            let wanted = survey.wanted_accuracy(question.name());
            let goal = QuestionGoal::new(draft, question, &wanted);
            let goal =
                goal.map_err(|error| error.with_question_name(several.then(|| question.name())))?;
            let quantity = goal.predicted_quantity;
            let variance =
                ErrorPredictor::for_question(question).max_contribution_variance(quantity, several);
            let variance =
                variance.ok_or_else(|| unestimated_quantity_error(question, quantity))?;
            // With a memo, reports can be made only with some of the buckets.
            let best = match survey.budget.memo() {
                None => with_minimax_bucket_count(draft, question, quantity, several)?,
                Some(_) => None,
            };
            let average = question;
            let (question, variance) = best.unwrap_or_else(|| (average.clone(), variance));
            let other = question.mechanism() != average.mechanism();
            let width = QuantileWidth::new(&question, &goal, wanted.spread);
            if let Some((width, within)) = width.as_ref().zip(goal.max_half_width) {
                // Intervals end at edges of bins, so there is a minimum width for any number of
                // people.
                let min = width.half_width(PEOPLE_COUNT_RANGE.max);
                let (name, max) = ("within", goal.answer_range_width);
                ParameterRange { name, min, max }.check_in_range(within)?;
            }
            errors.push(PredictedQuestionError {
                simulated_quantile_width: width,
                goal,
                single_report_variance: variance,
                squared_bias: None,
                best_mechanism_on_average: other.then(|| average.mechanism().clone()),
            });
            questions.push(question);
        }
        let weighed = draft.questions.iter().any(|q| q.sampling_weight.is_some());
        let all_wanted = errors.iter().all(|own| own.goal.max_half_width.is_some());
        if several && !weighed && all_wanted {
            questions = set_weights_by_reports_needed(&questions, &errors)?;
        }
        Ok(Self {
            task: survey.create_task(questions)?,
            predicted_errors: errors,
            other_mechanism_choices: Vec::new(),
            together_to_drawn_variance_ratio: compare_separate_with_together(&resolved)
                .map(|both| both.together_variance / both.separate_variance),
        })
    }

    /// Returns true if some error is simulated. A simulated error is not inversely proportional to
    /// the square root of the number of people.
    pub(super) fn has_simulated_error(&self) -> bool {
        self.predicted_errors
            .iter()
            .any(|own| own.simulated_quantile_width.is_some())
    }

    /// Returns the squared error with this number of people, divided by the wanted squared error.
    /// The result is the maximum over questions.
    ///
    /// For one person, the result is also the number of people at which every error is at most the
    /// wanted one, unless there is bias or an error is simulated.
    pub(super) fn squared_error_to_goal_ratio(&self, people: f64) -> f64 {
        let each = self.predicted_errors.iter().enumerate();
        let times = each.map(|(index, own)| {
            own.squared_error_to_goal_ratio(people * self.task.question_report_share(index))
        });
        times.fold(0.0, f64::max)
    }
}

/// Relative precision with which numbers of people and values of ε are found, before they are
/// rounded up to three digits.
pub(super) const SEARCH_RELATIVE_PRECISION: f64 = 1e-3;

/// Finds the smallest number of people or reports at which the squared error is at most the wanted
/// squared error. `excess` returns the logarithm of the ratio of these two squared errors.
///
/// # Errors
/// [`PlanError::UnattainableGoal`] if no number is enough.
pub(super) fn sufficient_sample_size(
    excess: &impl Fn(f64) -> Result<f64, PlanError>,
) -> Result<f64, PlanError> {
    let found = find_root_by_secant(
        excess,
        [1.0, PEOPLE_COUNT_RANGE.max],
        10_000.0,
        SEARCH_RELATIVE_PRECISION,
    )?;
    found.ok_or_else(unreachable_accuracy_error)
}

/// Creates the error which states that no number of people is enough.
pub(super) fn unreachable_accuracy_error() -> PlanError {
    PlanError::UnattainableGoal(format!(
        "no number of people up to {:e} reaches the wanted accuracy",
        PEOPLE_COUNT_RANGE.max
    ))
}

fn unestimated_quantity_error(question: &Question, aim: PredictedQuantity) -> PlanError {
    let what = match aim {
        PredictedQuantity::Mean | PredictedQuantity::MeanWithinRow(_) => "means",
        PredictedQuantity::Share | PredictedQuantity::DistributionFunction(_) => "shares",
    };
    PlanError::UnattainableGoal(format!(
        "{} does not estimate {what}, which question {:?} is for",
        question.mechanism().name(),
        question.name()
    ))
}

/// Chooses the number of buckets for which the worst-case variance of a share is smallest. Returns
/// the question with these buckets, and that variance.
///
/// Returns `None` unless every person gives one of several answers and the draft leaves the
/// mechanism unset or `auto`. The number of buckets that is best on average over answers would need
/// up to three times as many people at ε = 3.
fn with_minimax_bucket_count(
    draft: &QuestionDraft,
    question: &Question,
    aim: PredictedQuantity,
    several: bool,
) -> Result<Option<(Question, f64)>, Error> {
    let single = matches!(question.kind(), QuestionKind::Choice | QuestionKind::Flag)
        || matches!(question.mechanism(), Mechanism::Collision(_))
            && matches!(question.kind(), QuestionKind::Number(_));
    let answers = question.items().item_count().filter(|_| single);
    let open = matches!(draft.mechanism, MechanismDraft::Auto(_))
        || draft.mechanism == MechanismDraft::default();
    let (PredictedQuantity::Share, true, Some(answers)) = (aim, open, answers) else {
        return Ok(None);
    };
    let mut best: Option<(Question, f64)> = None;
    let next = |buckets: &u32| Some(buckets + 1 + buckets / BUCKET_SEARCH_GRANULARITY);
    let numbers = std::iter::successors(Some(2), next).take_while(|t| *t <= answers);
    let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    let alone = numbers.map(|buckets| Collision::new(rule, HashFamily::Balanced, buckets));
    // Favoured fractions of the buckets, from the one that is best on average to the one that is
    // best if half of all people give the answer.
    let parts = [1.0, 0.5].map(|power| 1.0 / ((power * question.epsilon()).exp() + 1.0));
    let windows = Collision::list_balanced_window_parameters(
        answers,
        3..=MAX_COLLISION_WINDOW_BUCKETS,
        parts,
    );
    for mechanism in alone.chain(windows.into_iter().map(Ok)) {
        let mechanism = mechanism?;
        let question = question_with_mechanism(question, question.weight(), mechanism.into())?;
        let variance =
            ErrorPredictor::for_question(&question).max_contribution_variance(aim, several);
        // Collision always estimates shares.
        let variance = variance.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(_, least)| variance < *least) {
            best = Some((question, variance));
        }
    }
    Ok(best)
}

/// Granularity of the search: the number of buckets t increases in steps of 1 + t/24.
const BUCKET_SEARCH_GRANULARITY: u32 = 24;
/// Maximum number of buckets for mechanisms that favour several consecutive buckets. More buckets
/// would hardly refine the possible fractions of favoured buckets.
const MAX_COLLISION_WINDOW_BUCKETS: u32 = 32;

fn question_with_mechanism(
    question: &Question,
    weight: u32,
    mechanism: Mechanism,
) -> Result<Question, Error> {
    Question::new(QuestionFields {
        name: question.name().to_owned(),
        kind: question.kind().clone(),
        items: question.items().clone(),
        max_entries_per_report: question.max_entries_per_report(),
        weight,
        epsilon: question.epsilon(),
        mechanism,
    })
}

/// Largest weight that is assigned to a question.
const MAX_QUESTION_WEIGHT: f64 = 10_000.0;

/// Sets the weights of questions in proportion to the number of reports that each needs. This
/// minimises the number of people, because all questions then have enough reports at the same time.
fn set_weights_by_reports_needed(
    questions: &[Question],
    errors: &[PredictedQuestionError],
) -> Result<Vec<Question>, PlanError> {
    let needs: Result<Vec<f64>, _> = errors
        .iter()
        .map(PredictedQuestionError::reports_needed)
        .collect();
    let needs = needs?;
    let most = needs.iter().copied().fold(0.0, f64::max);
    let weighed = |(question, need): (&Question, &f64)| {
        let weight = (MAX_QUESTION_WEIGHT * need / most)
            .round()
            .clamp(1.0, QUESTION_WEIGHT_RANGE.max) as u32;
        Ok(question_with_mechanism(
            question,
            weight,
            question.mechanism().clone(),
        )?)
    };
    questions.iter().zip(&needs).map(weighed).collect()
}
