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
mod width;

pub(super) use candidates::Choice;

use hushbin::bounds::{Bound, EPSILON, PEOPLE, WEIGHT};
use hushbin::choose::{MechanismDraft, QuestionDraft, TaskDraft, compare_together};
use hushbin::hash::Hashing;
use hushbin::mechanism::collision::{Collision, Rule};
use hushbin::task::{Kind, QuestionParts};
use hushbin::{Error, Mechanism, Question, Task};

use super::error::PlanError;
use super::goal::Goal;
use super::half_widths::HalfWidths;
use super::survey::{OpenRatings, Privacy, Survey};
use crate::accounting::{Mixture, meets_central_epsilon};
use crate::estimate::{Aim, Predictor};
use crate::numeric::digits::round_down;
use crate::numeric::roots::{geometric, secant_falling, try_bisect};
use candidates::candidates;
use width::QuantileWidth;

/// Task that was found for a survey, with its predicted errors.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) task: Task,
    /// Predicted errors of each question of the task.
    pub(super) errors: Vec<QuestionError>,
    /// Best choices of the other mechanisms, in ascending order of errors. Empty unless the
    /// only question has the mechanism `auto`.
    pub(super) others: Vec<Choice>,
    /// Variance if each report answers all questions, divided by the variance if each report
    /// answers one question, drawn at random. `None` if the questions cannot be asked together.
    pub(super) together_over_drawn: Option<f64>,
}

/// Goal of a question, and the predicted error of one report that answers it.
#[derive(Debug, Clone)]
pub(super) struct QuestionError {
    pub(super) goal: Goal,
    /// Variance of one report, in the unit of the goal's `aim`. Infinite if the goal cannot be
    /// reached.
    pub(super) variance: f64,
    /// Squared bias, which does not decrease with the number of reports. `None` if it is not known.
    pub(super) squared_bias: Option<f64>,
    /// Simulated width of a quantile's interval. `None` unless the mechanism is a pattern and the
    /// goal is a quantile.
    width: Option<QuantileWidth>,
    /// Mechanism with the smallest error on average over answers. `None` if it is also the
    /// mechanism with the smallest worst-case error.
    pub(super) on_average: Option<Mechanism>,
}

/// Search for the best task of a survey.
pub(super) struct Search<'a> {
    survey: &'a Survey,
    /// The only question and its goal, if it asks for ratings with the mechanism `auto`.
    open: Option<(OpenRatings<'a>, Goal)>,
}

impl<'a> Search<'a> {
    /// Creates the search for a survey.
    ///
    /// # Errors
    /// The errors of [`Goal::of_open`].
    pub(super) fn new(survey: &'a Survey) -> Result<Self, PlanError> {
        let goal = |open: OpenRatings<'a>| {
            let goal = Goal::of_open(&open, &survey.wanted(&open.draft.name))?;
            Ok::<_, PlanError>((open, goal))
        };
        let open = survey.open().map(goal).transpose()?;
        Ok(Self { survey, open })
    }

    /// Returns true if the only question asks for ratings with the mechanism `auto`. The best
    /// mechanism then depends on the number of people.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Finds the best task within these privacy limits. Returns `None` if there is none.
    ///
    /// # Errors
    /// Errors in the questions, in the wanted accuracy, or of accounting.
    pub(super) fn best(&self, people: u64, privacy: Privacy) -> Result<Option<Planned>, PlanError> {
        let survey = self.survey;
        if let Some((open, goal)) = &self.open {
            let all = candidates(survey, open, people, privacy)?;
            return best_of_all(survey, open, goal, all, people);
        }
        let most = Planned::at(survey, privacy.epsilon)?;
        let Some(central) = privacy.central else {
            return Ok(Some(most));
        };
        most_private(survey, most, people, central)
    }

    /// Returns the squared error of the best task, divided by the wanted squared error. The result
    /// is the maximum over questions, and infinite if there is no task within these privacy limits.
    ///
    /// # Errors
    /// The errors of [`Search::best`].
    pub(super) fn times_wanted(&self, people: f64, privacy: Privacy) -> Result<f64, PlanError> {
        let whole = people as u64;
        let Some((open, goal)) = &self.open else {
            let planned = self.best(whole, privacy)?;
            return Ok(planned.map_or(f64::INFINITY, |own| own.times_wanted(people)));
        };
        // Do not build the task here, because its names would be checked each time.
        let all = candidates(self.survey, open, whole, privacy)?;
        let times = |best: &Choice| {
            let error = QuestionError::of_choice(goal.clone(), best, whole);
            error.times_wanted(whole as f64)
        };
        Ok(all.first().map_or(f64::INFINITY, times))
    }
}

impl QuestionError {
    /// Creates the error from the prediction for a choice with `people` reports.
    fn of_choice(goal: Goal, choice: &Choice, people: u64) -> Self {
        let possible = choice.squared_error().is_finite();
        let predicted = choice.predicted.filter(|_| possible);
        Self {
            goal,
            variance: predicted.map_or(f64::INFINITY, |own| own.variance * people as f64),
            squared_bias: predicted.map(|own| own.squared_bias),
            width: None,
            on_average: None,
        }
    }

    /// Returns the squared error at `reports` reports, divided by the wanted squared error.
    fn times_wanted(&self, reports: f64) -> f64 {
        if let Some((width, within)) = self.width.as_ref().zip(self.goal.within) {
            return (width.half(reports) / within).powi(2);
        }
        let bias = self.squared_bias.unwrap_or(0.0);
        self.goal.times_wanted(self.variance, bias, reports)
    }

    /// Returns the standard error at `reports` reports, in the unit of the answer.
    pub(super) fn standard_error(&self, reports: f64) -> f64 {
        self.goal.scale * (self.variance / reports).sqrt()
    }

    /// Returns the half-width of an interval at 95% confidence, at `reports` reports.
    pub(super) fn interval(&self, reports: f64) -> f64 {
        match &self.width {
            Some(width) => width.half(reports),
            None => self.standard_error(reports) * HalfWidths::new(1).single,
        }
    }

    /// Returns the number of reports at which the error equals the wanted error.
    ///
    /// # Errors
    /// [`PlanError::OutOfReach`] if no number of reports is enough.
    fn reports_wanted(&self) -> Result<f64, PlanError> {
        if self.width.is_none() {
            return Ok(self.times_wanted(1.0));
        }
        fewest_of(&|reports| Ok(self.times_wanted(reports).ln()))
    }

    /// Returns the root of variance plus squared bias, at `reports` reports.
    pub(super) fn root(&self, reports: f64) -> f64 {
        self.standard_error(reports)
            .hypot(self.squared_bias.unwrap_or(0.0).sqrt())
    }
}

/// Creates the task with the best mechanism for ratings. `all` are the choices of all mechanisms,
/// the best one first.
fn best_of_all(
    survey: &Survey,
    open: &OpenRatings<'_>,
    goal: &Goal,
    mut all: Vec<Choice>,
    people: u64,
) -> Result<Option<Planned>, PlanError> {
    if all.is_empty() {
        return Ok(None);
    }
    let best = all.remove(0);
    if !best.squared_error().is_finite() {
        return Err(PlanError::OutOfReach(
            "every mechanism for this has a bias, which was not accepted".to_owned(),
        ));
    }
    let candidate = &best.candidate;
    let question = open.question(&candidate.mechanism, candidate.sparsity, best.epsilon)?;
    Ok(Some(Planned {
        task: survey.task(vec![question])?,
        errors: vec![QuestionError::of_choice(goal.clone(), &best, people)],
        others: all,
        together_over_drawn: None,
    }))
}

/// Finds the task with the largest local ε that meets the limit `central` on the central ε. `most`
/// is the task at the maximum local ε. Returns `None` if there is no such task.
fn most_private(
    survey: &Survey,
    most: Planned,
    people: u64,
    central: f64,
) -> Result<Option<Planned>, PlanError> {
    let hides = |planned: &Planned| -> Result<bool, PlanError> {
        let mixture = Mixture::for_task(&planned.task)?;
        let (honest, delta) = (survey.honest_fraction, survey.delta);
        Ok(meets_central_epsilon(
            &mixture, people, honest, delta, central,
        )?)
    };
    if hides(&most)? {
        return Ok(Some(most));
    }
    if !hides(&Planned::at(survey, EPSILON.min)?)? {
        return Ok(None);
    }
    let at = |epsilon: f64| hides(&Planned::at(survey, epsilon)?);
    // The lower end of the bracket always meets the limit, so the result meets it, too.
    let (found, _) = try_bisect(EPSILON.min, most.task.epsilon(), geometric(1e-4), at)?;
    // Round ε to fewer digits, if the task at the rounded ε meets the limit, too.
    let rounded = Planned::at(survey, round_down(found).max(EPSILON.min))?;
    if hides(&rounded)? {
        return Ok(Some(rounded));
    }
    Planned::at(survey, found).map(Some)
}

impl Planned {
    /// Chooses the task for a survey at this local ε. The choice does not depend on the number of
    /// people.
    ///
    /// # Errors
    /// Errors in the questions or in the wanted accuracy.
    fn at(survey: &Survey, epsilon: f64) -> Result<Self, PlanError> {
        Self::asking(survey, survey.questions.clone(), epsilon)
    }

    /// Chooses the task that asks these questions at this local ε.
    fn asking(
        survey: &Survey,
        questions: Vec<QuestionDraft>,
        epsilon: f64,
    ) -> Result<Self, PlanError> {
        let draft = TaskDraft {
            id: survey.id.clone(),
            epsilon,
            people: None,
            questions,
            budget: survey.budget,
        };
        let resolved = draft.resolve()?;
        let several = draft.questions.len() > 1;
        let (mut questions, mut errors) = (Vec::new(), Vec::new());
        for (draft, question) in draft.questions.iter().zip(resolved.questions()) {
            let wanted = survey.wanted(question.name());
            let goal = Goal::new(draft, question, &wanted);
            let goal = if several {
                goal.map_err(|error| error.of_question(question.name()))?
            } else {
                goal?
            };
            let variance = Predictor::for_question(question).worst_variance(goal.aim, several);
            let variance = variance.ok_or_else(|| none_answers(question, goal.aim))?;
            let best = best_at_worst(draft, question, goal.aim, several)?;
            let average = question;
            let (question, variance) = best.unwrap_or_else(|| (average.clone(), variance));
            let other = question.mechanism() != average.mechanism();
            let width = QuantileWidth::new(&question, &goal, wanted.spread);
            if let Some((width, within)) = width.as_ref().zip(goal.within) {
                // Intervals end at edges of bins, so there is a minimum width for any number of
                // people.
                let (name, min, max) = ("within", width.half(PEOPLE.max), goal.range);
                Bound { name, min, max }.check(within)?;
            }
            errors.push(QuestionError {
                width,
                goal,
                variance,
                squared_bias: None,
                on_average: other.then(|| average.mechanism().clone()),
            });
            questions.push(question);
        }
        let weighed = draft.questions.iter().any(|own| own.weight.is_some());
        let all_wanted = errors.iter().all(|own| own.goal.within.is_some());
        if several && !weighed && all_wanted {
            questions = weigh(&questions, &errors)?;
        }
        Ok(Self {
            task: survey.task(questions)?,
            errors,
            others: Vec::new(),
            together_over_drawn: compare_together(&resolved)
                .map(|both| both.together / both.separate),
        })
    }

    /// Returns true if some error is simulated. A simulated error is not inversely proportional to
    /// the square root of the number of people.
    pub(super) fn is_simulated(&self) -> bool {
        self.errors.iter().any(|own| own.width.is_some())
    }

    /// Returns the squared error with this number of people, divided by the wanted squared error.
    /// The result is the maximum over questions.
    ///
    /// For one person, the result is also the number of people at which every error is at most the
    /// wanted one, unless there is bias or an error is simulated.
    pub(super) fn times_wanted(&self, people: f64) -> f64 {
        let each = self.errors.iter().enumerate();
        let times = each.map(|(index, own)| own.times_wanted(people * self.task.share(index)));
        times.fold(0.0, f64::max)
    }
}

/// Relative precision with which numbers of people and values of ε are found, before they are
/// rounded up to three digits.
pub(super) const PRECISION: f64 = 1e-3;

/// Finds the smallest number of people or reports at which the squared error is at most the wanted
/// squared error. `excess` returns the logarithm of the ratio of the two.
///
/// # Errors
/// [`PlanError::OutOfReach`] if no number is enough.
pub(super) fn fewest_of(excess: &impl Fn(f64) -> Result<f64, PlanError>) -> Result<f64, PlanError> {
    let found = secant_falling(excess, [1.0, PEOPLE.max], 10_000.0, PRECISION)?;
    found.ok_or_else(none_are_enough)
}

/// Creates the error which states that no number of people is enough.
pub(super) fn none_are_enough() -> PlanError {
    PlanError::OutOfReach(format!(
        "no number of people up to {:e} reaches the wanted accuracy",
        PEOPLE.max
    ))
}

fn none_answers(question: &Question, aim: Aim) -> PlanError {
    let what = match aim {
        Aim::Mean | Aim::MeanWithin(_) => "means",
        Aim::Share | Aim::Distribution(_) => "shares",
    };
    PlanError::OutOfReach(format!(
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
fn best_at_worst(
    draft: &QuestionDraft,
    question: &Question,
    aim: Aim,
    several: bool,
) -> Result<Option<(Question, f64)>, Error> {
    let single = matches!(question.kind(), Kind::Choice | Kind::Flag)
        || matches!(question.mechanism(), Mechanism::Collision(_))
            && matches!(question.kind(), Kind::Number(_));
    let answers = question.items().count().filter(|_| single);
    let open = matches!(draft.mechanism, MechanismDraft::Auto(_))
        || draft.mechanism == MechanismDraft::default();
    let (Aim::Share, true, Some(answers)) = (aim, open, answers) else {
        return Ok(None);
    };
    let mut best: Option<(Question, f64)> = None;
    let next = |buckets: &u32| Some(buckets + 1 + buckets / FINE);
    let numbers = std::iter::successors(Some(2), next).take_while(|t| *t <= answers);
    let rule = Rule::Heaviest { favoured: 1 };
    let alone = numbers.map(|buckets| Collision::new(rule, Hashing::Balanced, buckets));
    // Favoured fractions of the buckets, from the one that is best on average to the one that is
    // best if half of all people give the answer.
    let parts = [1.0, 0.5].map(|power| 1.0 / ((power * question.epsilon()).exp() + 1.0));
    let windows = Collision::windows(answers, 3..=WINDOWED, parts);
    for mechanism in alone.chain(windows.into_iter().map(Ok)) {
        let mechanism = mechanism?;
        let question = changed(question, question.weight(), mechanism.into())?;
        let variance = Predictor::for_question(&question).worst_variance(aim, several);
        // Collision always estimates shares.
        let variance = variance.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(_, least)| variance < *least) {
            best = Some((question, variance));
        }
    }
    Ok(best)
}

/// Granularity of the search: the number of buckets t increases in steps of 1 + t/24.
const FINE: u32 = 24;
/// Maximum number of buckets for mechanisms that favour several consecutive buckets. With more
/// buckets, the possible fractions are hardly any finer.
const WINDOWED: u32 = 32;

fn changed(question: &Question, weight: u32, mechanism: Mechanism) -> Result<Question, Error> {
    Question::new(QuestionParts {
        name: question.name().to_owned(),
        kind: question.kind().clone(),
        items: question.items().clone(),
        sparsity: question.sparsity(),
        weight,
        epsilon: question.epsilon(),
        mechanism,
    })
}

/// Largest weight that is assigned to a question.
const PARTS: f64 = 10_000.0;

/// Sets the weights of questions in proportion to the number of reports that each needs. This
/// minimises the number of people, because all questions then have enough reports at the same time.
fn weigh(questions: &[Question], errors: &[QuestionError]) -> Result<Vec<Question>, PlanError> {
    let needs: Result<Vec<f64>, _> = errors.iter().map(QuestionError::reports_wanted).collect();
    let needs = needs?;
    let most = needs.iter().copied().fold(0.0, f64::max);
    let weighed = |(question, need): (&Question, &f64)| {
        let weight = (PARTS * need / most).round().clamp(1.0, WEIGHT.max) as u32;
        Ok(changed(question, weight, question.mechanism().clone())?)
    };
    questions.iter().zip(&needs).map(weighed).collect()
}
