//! Tasks that are made of their parts, their canonical bytes, and the ε that they spend.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::parts::TaskParts;
use super::written;
use crate::domain::ValueKind;
use crate::error::{Error, error};
use crate::fingerprint::Fingerprint;
use crate::mechanism::Mechanism;
use crate::task::budget::Budget;
use crate::task::items::{Items, item_key};
use crate::task::local::kind::Kind;
use crate::task::local::question::{Question, QuestionParts};
use crate::task::local::task::Task;

impl Task {
    /// A task that asks one question, for ratings.
    ///
    /// # Errors
    /// [`Error::TaskId`], [`Error::OutOfRange`], [`Error::ItemName`],
    /// [`Error::DuplicateName`], or [`Error::Combination`] for parameters that
    /// do not go together.
    pub fn new(parts: TaskParts) -> Result<Self, Error> {
        let (id, question) = parts.into_question();
        Self::written(id, alloc::vec![Question::new(question)?])
    }

    /// A task that asks these questions, by their names.
    ///
    /// A report answers one of them, which its seed names: drawn by their weights and
    /// not by the answers, with the whole ε.
    ///
    /// # Errors
    /// As [`Task::new`]; [`Error::Combination`] for questions of different ε, without a
    /// name or, where there are several, with a mechanism that protects less than whole
    /// inputs.
    pub fn of_questions(id: String, questions: Vec<Question>) -> Result<Self, Error> {
        Self::check_named(&questions)?;
        let epsilon = |question: &&Question| question.epsilon() != questions[0].epsilon();
        if let Some(question) = questions.iter().find(epsilon) {
            return Err(question.blame(error!(Combination {
                reason: "all questions of a task have its \"epsilon\"",
            })));
        }
        Self::written(id, questions)
    }

    pub(super) fn written(id: String, questions: Vec<Question>) -> Result<Self, Error> {
        let budget = Budget::default();
        let bytes = written::write(&id, &questions, budget);
        Self::build(id, questions, budget, &bytes)
    }

    /// The same task with another budget, and so with another fingerprint.
    ///
    /// ```
    /// use hushbin::{Task, TaskDraft, task::{Answers, Budget}};
    ///
    /// # let draft: TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// # ).unwrap();
    /// let task: Task = draft.resolve().unwrap();
    /// let weekly = task.clone().with_budget(Budget::new(7, 1, Answers::Fresh).unwrap());
    /// assert_ne!(weekly.fingerprint(), task.fingerprint());
    /// assert_eq!(weekly.with_budget(Budget::default()), task);
    /// ```
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let bytes = written::write(&self.id, &self.questions, budget);
        Self {
            budget,
            fingerprint: Fingerprint::from_canonical(&bytes),
            ..self
        }
    }

    /// All parameters that a report depends on, and the [budget](Task::budget), as the
    /// bytes that the [fingerprint](Task::fingerprint) is the hash of: numbers of eight
    /// bytes, little endian, and texts preceded by their length.
    ///
    /// ```
    /// use hushbin::{Task, TaskDraft};
    ///
    /// let draft: TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// ).unwrap();
    /// let task = draft.resolve().unwrap();
    /// let bytes = task.canonical_bytes();
    /// assert_eq!(Task::from_canonical_bytes(&bytes), Ok(task));
    /// ```
    #[must_use]
    pub fn canonical_bytes(&self) -> Vec<u8> {
        written::write(&self.id, &self.questions, self.budget)
    }

    /// The local ε that one report really spends, whichever question it answers: the
    /// greatest of theirs. Never above [`Task::epsilon`].
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let of_each = self.questions.iter().map(Question::effective_epsilon);
        of_each.fold(0.0, f64::max)
    }

    /// The slug that the task goes by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The only question, where there is one.
    #[must_use]
    pub fn sole(&self) -> Option<&Question> {
        match &self.questions[..] {
            [question] => Some(question),
            _ => None,
        }
    }

    /// How much one person reports.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// The position of the question called `name`, where there is one.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut questions = self.questions.iter();
        questions.position(|question| question.name() == name)
    }

    /// Whether the only question has no name: answers are given without one.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.questions[0].name().is_empty()
    }

    /// The part of all reports that answer a question.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn share(&self, question: usize) -> f64 {
        f64::from(self.questions[question].weight()) / f64::from(self.draw.total())
    }

    /// The local budget ε asked for.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.questions[0].epsilon()
    }
}

impl Items {
    /// The index (closed) or 64-bit key (open) of the item called `name`, or
    /// `None` where there is no such item. Counted items are called by their
    /// decimal index. Takes time linear in the list.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<u64> {
        match self {
            Self::Named(names) => names.iter().position(|n| n == name).map(|i| i as u64),
            Self::Count(count) => {
                let index: u32 = name.parse().ok()?;
                // "007" and "+7" are not how an index is written.
                let plain = !name.starts_with('+') && (name == "0" || !name.starts_with('0'));
                (plain && index < *count).then_some(u64::from(index))
            }
            Self::Open(_) => Some(item_key(name)),
        }
    }
}

impl Question {
    /// A question of these fields, validated.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::ItemName`], [`Error::DuplicateName`], or
    /// [`Error::Combination`] for fields that do not go together.
    pub fn new(parts: QuestionParts) -> Result<Self, Error> {
        let own = parts.kind.own_items();
        let reason = if own.is_some_and(|own| own != parts.items) {
            "the items of a \"flag\", a \"number\", a \"cross\", a \"text\" or of what is asked \
             \"together\" are those of its kind"
        } else if parts.kind == Kind::Ratings(ValueKind::Presence) {
            "ratings are signs or real numbers: what is there or not is a \"set\""
        } else if matches!(&parts.kind, Kind::Number(scale) if scale.edges().is_none()) {
            "levels are of a \"cross\": the mean of a \"number\" is of its limits"
        } else {
            let question = Self::of_bytes(parts)?;
            if suits(&question) {
                return Ok(question);
            }
            return Err(question.blame(error!(Combination {
                reason: "\"pattern\" is for \"number\", with outputs that tell all bins apart",
            })));
        };
        Err(error!(Combination { reason }).of_question(&parts.name))
    }

    /// The items asked about; of a number the cells of its scale, of a cross or of what is
    /// asked together its cells.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.0.items
    }

    /// s, how many entries of an answer are reported on.
    #[must_use]
    pub const fn sparsity(&self) -> u32 {
        self.0.sparsity
    }

    /// The local ε that one report really spends: the largest log-ratio of output probabilities,
    /// from the thresholds that are sampled, rounded up. Never above [`Question::epsilon`].
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        self.0
            .mechanism
            .effective_epsilon(&self.domain(), self.0.epsilon)
    }
}

impl TryFrom<Task> for TaskParts {
    type Error = Task;

    /// The fields of a task that asks one question without a name, but its
    /// [budget](Task::budget).
    ///
    /// # Errors
    /// The task itself, where its questions have names.
    fn try_from(task: Task) -> Result<Self, Task> {
        match task.sole() {
            Some(sole) if task.is_unnamed() => Ok(Self {
                id: task.id().to_owned(),
                items: sole.items().clone(),
                sparsity: sole.sparsity(),
                epsilon: sole.epsilon(),
                value: sole.value(),
                mechanism: sole.mechanism().clone(),
            }),
            _ => Err(task),
        }
    }
}

/// Tells whether the outputs of a pattern, if it is asked by one, tell a number's bins apart.
fn suits(question: &Question) -> bool {
    match (question.mechanism(), question.kind()) {
        (Mechanism::Pattern(own), Kind::Number(scale)) => {
            own.tells_apart(scale.cells(), question.epsilon())
        }
        (Mechanism::Pattern(_), _) => false,
        _ => true,
    }
}
