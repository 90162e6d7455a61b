//! The best task at a local ε, and how exact it is.

use hushbin::bounds::{EPSILON, WEIGHT};
use hushbin::choose::grid::Draft;
use hushbin::choose::{Asked, MechanismDraft, QuestionDraft, TaskDraft, together};
use hushbin::hash::Hashing;
use hushbin::mechanism::collision::{Collision, Rule};
use hushbin::task::{Kind, QuestionParts};
use hushbin::{Error, Mechanism, Question, Task};

use super::ask::Survey;
use super::goal::Goal;
use crate::accounting::{Mixture, meets_central_epsilon};
use crate::estimate::{Aim, Predictor};
use crate::numeric::roots::{geometric, try_bisect};
use crate::plan::answer::Reach;
use crate::plan::choose::{Budget, round_down};
use crate::plan::grid::{GridGoal, grid};
use crate::plan::question::{PlanError, of_question};

/// A task for a survey, with what it is to answer; none of it depends on how many people
/// there are.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) task: Task,
    /// [`together`] of the questions with weights by their noise alone, for which the
    /// variances it adds up are least; none where they cannot be asked so.
    pub(super) together_over_drawn: Option<f64>,
    pub(super) goals: Vec<Goal>,
    /// Of one report that answers the question, in the aim's unit.
    pub(super) variances: Vec<f64>,
}

/// The greatest weight that is chosen.
const PARTS: f64 = 10_000.0;

impl Planned {
    /// At a local ε.
    ///
    /// # Errors
    /// Those of what is asked, and of what is wanted of it.
    pub(super) fn at(survey: &Survey, epsilon: f64) -> Result<Self, PlanError> {
        Self::asking(survey, survey.questions.clone(), epsilon)
    }

    /// The same with these questions.
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
        let (mut questions, mut goals, mut variances) = (Vec::new(), Vec::new(), Vec::new());
        for (draft, question) in draft.questions.iter().zip(resolved.questions()) {
            let goal = Goal::new(draft, question, &survey.wanted(question.name()));
            let goal = if several {
                goal.map_err(|error| of_question(error, question.name()))?
            } else {
                goal?
            };
            let variance = Predictor::for_question(question).worst_variance(goal.aim, several);
            let variance = variance.ok_or_else(|| none_answers(question, goal.aim))?;
            let best = best_at_worst(draft, question, goal.aim, several)?;
            let (question, variance) = best.unwrap_or_else(|| (question.clone(), variance));
            questions.push(question);
            variances.push(variance);
            goals.push(goal);
        }
        let together_over_drawn = together(&resolved).map(|both| both.together / both.drawn);
        let weighed = draft.questions.iter().any(|own| own.weight.is_some());
        let needs: Option<Vec<f64>> = goals.iter().zip(&variances).map(reports_for).collect();
        if let Some(needs) = needs.filter(|_| several && !weighed) {
            questions = weigh(&questions, &needs)?;
        }
        let task = Task::of_questions(survey.id.clone(), questions)?.with_budget(survey.budget);
        Ok(Self {
            task,
            together_over_drawn,
            goals,
            variances,
        })
    }

    /// At the greatest local ε that keeps to the budget; `None` where none does.
    ///
    /// # Errors
    /// As [`Planned::at`], and those of accounting.
    pub(super) fn within(
        survey: &Survey,
        people: u64,
        budget: Budget,
    ) -> Result<Option<Self>, PlanError> {
        let most = Self::at(survey, budget.epsilon)?;
        let Some(central) = budget.central else {
            return Ok(Some(most));
        };
        if let Some(goal) = grid_goal(survey, people, budget.epsilon, central) {
            let Some(found) = grid(&goal)? else {
                return Ok(None);
            };
            let mut questions = survey.questions.clone();
            questions[0].mechanism = MechanismDraft::Grid(Draft {
                drawn: Some(found.grid.drawn()),
                steps: Some(found.grid.steps()),
            });
            return Self::asking(survey, questions, found.epsilon).map(Some);
        }
        let hides = |planned: &Self| -> Result<bool, PlanError> {
            let mixture = Mixture::for_task(&planned.task)?;
            let (honest, delta) = (survey.honest_fraction, survey.delta);
            Ok(meets_central_epsilon(
                &mixture, people, honest, delta, central,
            )?)
        };
        if hides(&most)? {
            return Ok(Some(most));
        }
        let least = Self::at(survey, EPSILON.min)?;
        if !hides(&least)? {
            return Ok(None);
        }
        let at = |epsilon: f64| hides(&Self::at(survey, epsilon)?);
        let (found, _) = try_bisect(EPSILON.min, budget.epsilon, geometric(1e-4), at)?;
        // Fewer digits, where what is chosen at them hides as well.
        let rounded = Self::at(survey, round_down(found).max(EPSILON.min))?;
        if hides(&rounded)? {
            return Ok(Some(rounded));
        }
        Self::at(survey, found).map(Some)
    }

    /// Standard error of a question's answer, of so many people in all.
    pub(super) fn standard_error(&self, index: usize, people: f64) -> f64 {
        let reports = people * self.task.share(index);
        self.goals[index].scale * (self.variances[index] / reports).sqrt()
    }

    /// How many people bring every error to what is wanted of it; 0 where nothing is.
    pub(super) fn people(&self) -> f64 {
        let needs = self.goals.iter().zip(&self.variances).map(reports_for);
        let people = |(index, need): (usize, Option<f64>)| need.map(|n| n / self.task.share(index));
        needs.enumerate().filter_map(people).fold(0.0, f64::max)
    }
}

/// What the grid is chosen by with its local ε, where it alone is asked for.
fn grid_goal(survey: &Survey, people: u64, most_epsilon: f64, central: f64) -> Option<GridGoal> {
    let [question] = &survey.questions[..] else {
        return None;
    };
    let (Asked::Numbers(items, _), MechanismDraft::Grid(draft)) =
        (&question.asked, &question.mechanism)
    else {
        return None;
    };
    Some(GridGoal {
        honest_fraction: survey.honest_fraction,
        most_epsilon,
        draft: *draft,
        ..GridGoal::new(items.count()?, people, central, survey.delta)
    })
}

/// How many reports bring the error of a question to what is wanted, where that is said.
fn reports_for((goal, variance): (&Goal, &f64)) -> Option<f64> {
    let wanted = goal.within? / (Reach::new(1).single * goal.scale);
    Some(variance / (wanted * wanted))
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

/// The question with as many buckets as make the variance of a share least at the worst,
/// where everybody gives one answer of several and its mechanism is open: what is chosen for
/// the average of all answers takes up to three times as many people at ε = 3. `None`
/// elsewhere.
fn best_at_worst(
    draft: &QuestionDraft,
    question: &Question,
    aim: Aim,
    several: bool,
) -> Result<Option<(Question, f64)>, Error> {
    let single = match question.kind() {
        Kind::Number(scale) => scale.tree().is_none(),
        kind => matches!(kind, Kind::Choice | Kind::Flag),
    };
    let answers = question.items().count().filter(|_| single);
    let open = matches!(draft.mechanism, MechanismDraft::Auto(_))
        || draft.mechanism == MechanismDraft::default();
    let (Aim::Share, true, Some(answers)) = (aim, open, answers) else {
        return Ok(None);
    };
    let mut best: Option<(Question, f64)> = None;
    let next = |buckets: &u32| Some(buckets + 1 + buckets / FINE);
    for buckets in std::iter::successors(Some(2), next).take_while(|t| *t <= answers) {
        let rule = Rule::Heaviest { favoured: 1 };
        let mechanism = Collision::new(rule, Hashing::Balanced, buckets)?;
        let question = changed(question, question.weight(), mechanism.into())?;
        let variance = Predictor::for_question(&question).worst_variance(aim, several);
        // All Collision estimates shares.
        let variance = variance.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(_, least)| variance < *least) {
            best = Some((question, variance));
        }
    }
    Ok(best)
}

/// Numbers of buckets that are closer than this part of themselves are not told apart.
const FINE: u32 = 24;

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

/// The same questions, drawn in proportion to the reports that they need: the fewest people
/// in all, as each need over its share is then the same.
fn weigh(questions: &[Question], needs: &[f64]) -> Result<Vec<Question>, Error> {
    let most = needs.iter().copied().fold(0.0, f64::max);
    let weighed = |(question, need): (&Question, &f64)| {
        let weight = (PARTS * need / most).round().clamp(1.0, WEIGHT.max) as u32;
        changed(question, weight, question.mechanism().clone())
    };
    questions.iter().zip(needs).map(weighed).collect()
}
