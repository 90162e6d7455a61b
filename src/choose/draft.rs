//! Draft of a task, as people write it. hushbin chooses missing parameters.

use alloc::string::String;
use alloc::vec::Vec;

use super::draft_agreement::check_equal;
use super::population::Population;
use super::question::{ChosenQuestion, QuestionDraft};
use crate::error::Error;
use crate::task::items::check_task_id;
use crate::task::{Question, QuestionKind, ReportBudget, Task};

/// [`Task`] whose mechanisms may lack parameters or be missing, and whose sparsity may be left to
/// hushbin.
///
/// ```
/// use hushbin::TaskDraft;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "settings",
///     "items": ["dark-mode", "autoplay", "captions"],
///     "sparsity": 2,
///     "epsilon": 2.0,
///     "value": "sign"
/// }"#).unwrap();
/// let task = draft.resolve_task().unwrap();
/// assert!(draft.check_agrees_with(&task).is_ok());
///
/// // Of 10,000 people 6,000 have one entry and 1,000 have three.
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "ratings",
///     "items": 1000,
///     "entries": [2000, 6000, 1000, 1000],
///     "epsilon": 1.0,
///     "value": "real",
///     "mechanism": "auto"
/// }"#).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let ratings = task.only_question().unwrap();
/// assert_eq!((ratings.mechanism().name(), ratings.max_entries_per_report()), ("hash-bin", 2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDraft {
    /// Id, as in [`RatingsTaskFields`](crate::RatingsTaskFields).
    pub id: String,
    /// Local budget ε of one report, as in [`RatingsTaskFields`](crate::RatingsTaskFields).
    pub epsilon: f64,
    /// Approximate number of people who will report (default the sum of `entries`, or else 10,000).
    pub people_count: Option<u64>,
    /// One question without a name, or several questions with names.
    pub questions: Vec<QuestionDraft>,
    /// Budget of one person.
    pub budget_per_person: ReportBudget,
}

impl TaskDraft {
    /// Checks the stated parameters without choosing the unset ones. A draft that passes this check
    /// may still have no valid completion.
    ///
    /// # Errors
    /// As [`Task::new`] and [`Task::from_questions`].
    pub fn validate(&self) -> Result<(), Error> {
        for question in &self.questions {
            question.validate(self.epsilon, self.people_count)?;
        }
        check_task_id(&self.id)
    }

    /// Chooses the unset parameters by predicted variance, and validates the task.
    ///
    /// If no question states a weight, weights are chosen in proportion to the square roots of the
    /// questions' average variances. This minimises the sum, over all questions, of the average
    /// variance of an estimate.
    ///
    /// # Errors
    /// As [`Task::new`] and [`Task::from_questions`].
    pub fn resolve_task(&self) -> Result<Task, Error> {
        check_task_id(&self.id)?;
        let complete = |question: &QuestionDraft| {
            question.resolve_question(self.epsilon, self.people_count, self.budget_per_person.memo)
        };
        let questions: Result<Vec<Question>, Error> = self.questions.iter().map(complete).collect();
        self.task_with_weights_and_budget(questions?)
    }

    /// Returns the choice that [`TaskDraft::resolve_task`] makes for each question, with the
    /// alternatives. Weights are not chosen.
    ///
    /// # Errors
    /// As [`TaskDraft::resolve_task`].
    pub fn choices_per_question(&self) -> Result<Vec<ChosenQuestion>, Error> {
        let choose = |question: &QuestionDraft| {
            let choice = question.choose_within_alpha(
                self.epsilon,
                self.people_count,
                f64::INFINITY,
                self.budget_per_person.memo,
            )?;
            Ok(choice.expect("without a limit every mechanism may be taken"))
        };
        self.questions.iter().map(choose).collect()
    }

    /// Creates the task from [chosen](TaskDraft::choices_per_question) questions. Chooses the
    /// questions' weights if none is stated.
    ///
    /// # Errors
    /// As [`TaskDraft::resolve_task`].
    pub fn task_from_choices(&self, choices: &[ChosenQuestion]) -> Result<Task, Error> {
        let questions = choices.iter().map(|choice| choice.question.clone());
        self.task_with_weights_and_budget(questions.collect())
    }

    /// Creates the task from these complete questions. Adds the weights and the draft's budget.
    fn task_with_weights_and_budget(&self, questions: Vec<Question>) -> Result<Task, Error> {
        let weighed = self.task_with_weights(questions)?;
        weighed.with_report_budget(self.budget_per_person)
    }

    fn task_with_weights(&self, mut questions: Vec<Question>) -> Result<Task, Error> {
        if let [sole] = &questions[..]
            && sole.name().is_empty()
        {
            return Task::from_question(self.id.clone(), questions.remove(0));
        }
        if self
            .questions
            .iter()
            .all(|question| question.sampling_weight.is_none())
            && questions.len() > 1
        {
            // Minimises Σ V/w for a given Σ w (Cauchy–Schwarz).
            let roots: Vec<f64> = questions.iter().map(root_average_variance).collect();
            let most = roots.iter().copied().fold(0.0, f64::max);
            for (question, root) in questions.iter_mut().zip(&roots) {
                let weight = libm::round(MAX_CHOSEN_WEIGHT * root / most).max(1.0);
                *question = question.clone().with_weight(weight as u32)?;
            }
        }
        Task::from_questions(self.id.clone(), questions)
    }

    /// Checks that `task` agrees with everything that this draft states. Unset parameters may have
    /// any value.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub fn check_agrees_with(&self, task: &Task) -> Result<(), Error> {
        check_equal("id", &self.id.as_str(), &task.id())?;
        check_equal("epsilon", &self.epsilon, &task.epsilon())?;
        let [drafts, questions] = [self.questions.len(), task.questions().len()];
        // `zip` below would ignore surplus questions.
        check_equal("number of questions", &drafts, &questions)?;
        for (draft, question) in self.questions.iter().zip(task.questions()) {
            draft.check_agrees_with(question, self.people_count)?;
        }
        let (given, in_use) = (self.budget_per_person, task.report_budget());
        check_equal("budget's days", &given.window_days(), &in_use.window_days())?;
        check_equal(
            "budget's reports",
            &given.max_reports(),
            &in_use.max_reports(),
        )?;
        let memo = |budget: ReportBudget| budget.memo().map(|memo| (memo.epsilon, memo.days));
        check_equal("budget's memo (ε, days)", &memo(given), &memo(in_use))?;
        let minutes = |budget: ReportBudget| budget.cover().map(|cover| cover.minutes);
        check_equal(
            "budget's cover (minutes)",
            &minutes(given),
            &minutes(in_use),
        )
    }
}

/// Maximum weight that is chosen. Weights are integers, so the maximum also sets the precision.
const MAX_CHOSEN_WEIGHT: f64 = 100.0;

/// Returns the square root of the average variance of one report's estimates.
fn root_average_variance(question: &Question) -> f64 {
    let domain = question.domain();
    let people = Population::with_equal_entries(1.0, question.max_entries_per_report());
    let mechanism = question.mechanism();
    let predicted = mechanism.predict_errors(&domain, question.epsilon(), &people);
    let error = predicted.mean_error.or(predicted.frequency_error);
    let parts = match question.kind() {
        // A report covers one prefix of a text, so each prefix is estimated from only a part of the
        // reports.
        QuestionKind::Text(prefixes) => prefixes.lengths().len(),
        _ => 1,
    };
    error.map_or(1.0, |error| libm::sqrt(error.variance * parts as f64))
}
