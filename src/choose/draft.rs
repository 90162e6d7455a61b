//! A task file as people write it: what is left out is chosen.

use alloc::string::String;
use alloc::vec::Vec;

use super::differs::same;
use super::population::Population;
use super::question::{Choice, QuestionDraft};
use crate::error::Error;
use crate::task::items::check_id;
use crate::task::{Budget, Kind, Question, Task};

/// A [`Task`] whose mechanisms may lack parameters, or be missing altogether, and
/// whose sparsity may be left to hushbin.
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
/// let task = draft.resolve().unwrap();
/// assert!(draft.agrees_with(&task).is_ok());
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
/// let task = draft.resolve().unwrap();
/// let ratings = task.sole().unwrap();
/// assert_eq!((ratings.mechanism().name(), ratings.sparsity()), ("hash-bin", 2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDraft {
    /// As in [`TaskParts`](crate::TaskParts).
    pub id: String,
    /// As in [`TaskParts`](crate::TaskParts).
    pub epsilon: f64,
    /// How many people will report, about; by default as many as `entries` count, or else 10,000.
    pub people: Option<u64>,
    /// What is asked: one question without a name, or questions with names.
    pub questions: Vec<QuestionDraft>,
    /// How much one person reports.
    pub budget: Budget,
}

impl TaskDraft {
    /// Checks all that is said, without choosing the rest: whatever it accepts
    /// may still prove impossible together.
    ///
    /// # Errors
    /// As [`Task::new`] and [`Task::of_questions`].
    pub fn validate(&self) -> Result<(), Error> {
        for question in &self.questions {
            question.validate(self.epsilon, self.people)?;
        }
        check_id(&self.id)
    }

    /// Chooses what is left open, by predicted variance, and validates.
    ///
    /// Weights of questions that say none are chosen so that the variance of one
    /// estimate, averaged over the estimates of each question, is least in sum: in
    /// proportion to the roots of the variances.
    ///
    /// # Errors
    /// As [`Task::new`] and [`Task::of_questions`].
    pub fn resolve(&self) -> Result<Task, Error> {
        check_id(&self.id)?;
        let complete = |question: &QuestionDraft| question.resolve(self.epsilon, self.people);
        let questions: Result<Vec<Question>, Error> = self.questions.iter().map(complete).collect();
        self.weigh(questions?)
    }

    /// What each question of [`TaskDraft::resolve`] comes to, weights aside, and what
    /// else there is for it.
    ///
    /// # Errors
    /// As [`TaskDraft::resolve`].
    pub fn choose(&self) -> Result<Vec<Choice>, Error> {
        let choose = |question: &QuestionDraft| {
            let choice = question.choose_hiding(self.epsilon, self.people, f64::INFINITY)?;
            Ok(choice.expect("without a limit every mechanism may be taken"))
        };
        self.questions.iter().map(choose).collect()
    }

    /// The task of what was [chosen](TaskDraft::choose), with weights.
    ///
    /// # Errors
    /// As [`TaskDraft::resolve`].
    pub fn task_of(&self, choices: &[Choice]) -> Result<Task, Error> {
        let questions = choices.iter().map(|choice| choice.question.clone());
        self.weigh(questions.collect())
    }

    /// The task of these questions, once each is complete.
    fn weigh(&self, questions: Vec<Question>) -> Result<Task, Error> {
        let weighed = self.weighed(questions)?;
        Ok(weighed.with_budget(self.budget))
    }

    fn weighed(&self, mut questions: Vec<Question>) -> Result<Task, Error> {
        if let [sole] = &questions[..]
            && sole.name().is_empty()
        {
            return Task::of_question(self.id.clone(), questions.remove(0));
        }
        if self
            .questions
            .iter()
            .all(|question| question.weight.is_none())
            && questions.len() > 1
        {
            let roots: Vec<f64> = questions.iter().map(root_variance).collect();
            let most = roots.iter().copied().fold(0.0, f64::max);
            for (question, root) in questions.iter_mut().zip(&roots) {
                let weight = libm::round(PARTS * root / most).max(1.0);
                *question = question.clone().with_weight(weight as u32)?;
            }
        }
        Task::of_questions(self.id.clone(), questions)
    }

    /// Whether all that this draft says holds of `task`; what it leaves open may be anything.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub fn agrees_with(&self, task: &Task) -> Result<(), Error> {
        same("id", &self.id.as_str(), &task.id())?;
        same("epsilon", &self.epsilon, &task.epsilon())?;
        let [drafts, questions] = [self.questions.len(), task.questions().len()];
        same("number of questions", &drafts, &questions)?;
        for (draft, question) in self.questions.iter().zip(task.questions()) {
            draft.agrees_with(question, self.people)?;
        }
        let (given, in_use) = (self.budget, task.budget());
        same("budget's days", &given.days(), &in_use.days())?;
        same("budget's reports", &given.reports(), &in_use.reports())?;
        same("budget's answers", &given.answers(), &in_use.answers())
    }
}

/// The greatest weight that is chosen.
const PARTS: f64 = 100.0;

/// Root of the average variance of one report's estimates of a question.
fn root_variance(question: &Question) -> f64 {
    let domain = question.domain();
    let people = Population::even(1.0, question.sparsity());
    let mechanism = question.mechanism();
    let predicted = mechanism.predict(&domain, question.epsilon(), &people);
    let error = predicted.mean.or(predicted.frequency);
    let parts = match question.kind() {
        Kind::Text(prefixes) => prefixes.lengths().len(),
        _ => 1,
    };
    error.map_or(1.0, |error| libm::sqrt(error.variance * parts as f64))
}
