//! What is asked, of which items, at which budget.

mod budget;
mod canonical;
mod draw;
#[cfg(feature = "complete")]
pub(crate) mod file;
mod items;
mod kind;
#[cfg(feature = "complete")]
mod limits;
#[cfg(feature = "complete")]
pub(crate) mod part_file;
mod parts;
mod prefixes;
mod question;
mod scale;
#[cfg(not(feature = "complete"))]
mod slim;
#[cfg(feature = "complete")]
mod tree;
mod want;

pub use budget::{Answers, Budget};
pub use draw::Draw;
pub use items::{Items, Open, item_key};
#[cfg(feature = "complete")]
pub use kind::Part;
pub use kind::{Cross, Kind, Numbers, Together};
#[cfg(feature = "complete")]
pub use limits::Limits;
pub use parts::TaskParts;
pub use prefixes::Prefixes;
pub use question::{Question, QuestionParts};
pub use scale::Scale;
#[cfg(not(feature = "complete"))]
use slim::tree;
pub use tree::Tree;
pub use want::{Spacing, Want};

#[cfg(feature = "analysis")]
pub(crate) use question::check_asked;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use canonical::Read;

use crate::bounds;
use crate::codec::Cursor;
use crate::error::{Error, error};
use crate::fingerprint::Fingerprint;
use crate::mechanism::{Neighbours, Report};

/// A description of what is collected, under which parameters: complete and valid
/// by construction, also when it comes out of serde.
///
/// A task says everything that a report depends on. Its [`Fingerprint`] travels
/// in every upload, and a collector refuses reports made under another.
/// [`TaskDraft`](crate::TaskDraft) leaves the choice of parameters to hushbin.
///
/// ```
/// use hushbin::Task;
///
/// let task: Task = serde_json::from_str(r#"{
///     "id": "settings",
///     "items": ["dark-mode", "autoplay", "captions"],
///     "sparsity": 2,
///     "epsilon": 2.0,
///     "value": "sign",
///     "mechanism": {
///         "name": "collision", "rule": "heaviest", "favoured": 1,
///         "hashing": "balanced", "buckets": 8
///     }
/// }"#).unwrap();
/// assert!(task.effective_epsilon() <= 2.0);
///
/// let fingerprint = task.fingerprint().to_string();
/// assert_eq!(fingerprint.len(), 32);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    id: String,
    /// Shared with those who answer them.
    questions: Arc<Vec<Question>>,
    draw: Draw,
    budget: Budget,
    fingerprint: Fingerprint,
}

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

    fn check_named(questions: &[Question]) -> Result<(), Error> {
        bounds::QUESTIONS.check(questions.len() as f64)?;
        for (index, question) in questions.iter().enumerate() {
            items::check_name(index, question.name())?;
            let same = |other: &Question| other.name() == question.name();
            if questions[..index].iter().any(same) {
                return Err(error!(DuplicateName {
                    name: String::from(question.name()),
                }));
            }
            let mechanism = question.mechanism();
            let whole = mechanism.neighbours() == Neighbours::Any && mechanism.delta() == 0.0;
            if questions.len() > 1 && !whole {
                return Err(question.blame(error!(Combination {
                    reason: "one of several questions is to be answered under pure ε at user level",
                })));
            }
        }
        Ok(())
    }

    /// A task that asks one question that needs no name, for ratings.
    #[cfg(feature = "analysis")]
    pub(crate) fn of_question(id: String, question: Question) -> Result<Self, Error> {
        Self::written(id, alloc::vec![question])
    }

    fn written(id: String, questions: Vec<Question>) -> Result<Self, Error> {
        let budget = Budget::default();
        let bytes = canonical::write(&id, &questions, budget);
        Self::build(id, questions, budget, &bytes)
    }

    /// Of questions that go together, and of what [`canonical::write`] makes of them.
    fn build(
        id: String,
        questions: Vec<Question>,
        budget: Budget,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        Self::check_id(&id)?;
        let fingerprint = Fingerprint::from_canonical(bytes);
        Ok(Self {
            id,
            draw: Draw::new(questions.iter().map(Question::weight)),
            questions: Arc::new(questions),
            budget,
            fingerprint,
        })
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
        let bytes = canonical::write(&self.id, &self.questions, budget);
        Self {
            budget,
            fingerprint: Fingerprint::from_canonical(&bytes),
            ..self
        }
    }

    /// The task of the bytes that [`Task::canonical_bytes`] gives.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other bytes, and those of [`Task::new`] and
    /// [`Task::of_questions`].
    pub fn from_canonical_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Read {
            id,
            questions,
            named,
            budget,
        } = canonical::read(bytes)?;
        if named {
            Self::check_named(&questions)?;
        }
        Self::build(id, questions, budget, bytes)
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
        canonical::write(&self.id, &self.questions, self.budget)
    }

    /// The slug that the task goes by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is asked, in the order of the task file; at least one question.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The position of the question called `name`, where there is one.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut questions = self.questions.iter();
        questions.position(|question| question.name() == name)
    }

    /// The only question, where there is one.
    #[must_use]
    pub fn sole(&self) -> Option<&Question> {
        match &self.questions[..] {
            [question] => Some(question),
            _ => None,
        }
    }

    /// Whether the only question has no name: answers are given without one.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.questions[0].name().is_empty()
    }

    /// Which of the questions a report answers.
    #[must_use]
    pub const fn draw(&self) -> &Draw {
        &self.draw
    }

    /// The part of all reports that answer a question.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn share(&self, question: usize) -> f64 {
        f64::from(self.questions[question].weight()) / f64::from(self.draw.total())
    }

    /// The one report that these bytes are, as [`Report::encode`] writes it.
    ///
    /// ```
    /// # use hushbin::{Report, Task, TaskDraft, mechanism::collision};
    /// # let draft: TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// # ).unwrap();
    /// # let task: Task = draft.resolve().unwrap();
    /// let report = Report::Collision(collision::Report { seed: 7, bucket: 1 });
    /// let mut bytes = Vec::new();
    /// report.encode(&mut bytes);
    /// assert_eq!(task.decode_report(&bytes), Ok(report));
    /// assert!(task.decode_report(&bytes[..8]).is_err());
    /// ```
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything that [`Report::encode`] would not have written for
    /// this task.
    #[cfg(feature = "analysis")]
    pub fn decode_report(&self, bytes: &[u8]) -> Result<Report, Error> {
        match self.take_report(bytes)? {
            (report, read) if read == bytes.len() => Ok(report),
            (_, offset) => Err(error!(Malformed {
                what: "report",
                offset,
                reason: "expected the end after the report",
            })),
        }
    }

    /// The report that bytes begin with, and how many of them it is.
    ///
    /// # Errors
    /// As [`Task::decode_report`], whatever follows.
    #[cfg(feature = "analysis")]
    pub fn take_report(&self, bytes: &[u8]) -> Result<(Report, usize), Error> {
        let mut cursor = Cursor::new("report", bytes);
        let mut taken = None;
        self.decode_reports(&mut cursor, 1, &mut |report, end| {
            taken = Some((report, end));
        })?;
        Ok(taken.expect("one report was decoded"))
    }

    /// Decodes `count` reports, and calls `visit` with each report and the offset of its end.
    pub(crate) fn decode_reports(
        &self,
        cursor: &mut Cursor<'_>,
        count: u32,
        visit: &mut dyn FnMut(Report, usize),
    ) -> Result<(), Error> {
        let mut decode = |question: &Question, cursor: &mut Cursor<'_>, count| {
            let (domain, epsilon) = (question.domain(), question.epsilon());
            let mechanism = question.mechanism();
            mechanism.decode_reports(&domain, epsilon, cursor, count, visit)
        };
        if let Some(sole) = self.sole() {
            return decode(sole, cursor, count);
        }
        for _ in 0..count {
            // Each report begins with its seed, which decides the question.
            let seed = u64::from_le_bytes(cursor.peek("expected a seed of 8 bytes")?);
            decode(&self.questions[self.draw.question(seed)], cursor, 1)?;
        }
        Ok(())
    }

    /// How much one person reports.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// The local budget ε asked for.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.questions[0].epsilon()
    }

    /// Identity of all parameters that a report depends on, of the id and of the budget.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The local ε that one report really spends, whichever question it answers: the
    /// greatest of theirs. Never above [`Task::epsilon`].
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let of_each = self.questions.iter().map(Question::effective_epsilon);
        of_each.fold(0.0, f64::max)
    }

    /// The check that an id is a slug: 1 to 64 of a-z, 0-9 and '-', first a letter or
    /// digit.
    ///
    /// # Errors
    /// [`Error::TaskId`].
    pub fn check_id(id: &str) -> Result<(), Error> {
        let slug = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = id.as_bytes();
        let valid = (1..=64).contains(&bytes.len())
            && slug(bytes[0])
            && bytes.iter().all(|&byte| slug(byte) || byte == b'-');
        if valid {
            return Ok(());
        }
        Err(error!(TaskId {
            id: String::from(id)
        }))
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
