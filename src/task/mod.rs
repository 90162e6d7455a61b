//! What is asked, of which items, at which budget.

mod budget;
#[cfg(feature = "collector")]
mod budget_file;
#[cfg(feature = "collector")]
mod build;
mod canonical;
#[cfg(feature = "collector")]
mod cells;
#[cfg(feature = "analysis")]
mod chosen;
#[cfg(feature = "collector")]
mod decode;
mod draw;
#[cfg(feature = "collector")]
pub(crate) mod file;
mod items;
mod kind;
#[cfg(feature = "complete")]
mod limits;
#[cfg(feature = "collector")]
pub(crate) mod part_file;
#[cfg(feature = "collector")]
mod parts;
#[cfg(feature = "collector")]
mod prefix_keys;
mod prefixes;
mod question;
mod scale;
#[cfg(not(feature = "complete"))]
mod slim;
#[cfg(feature = "complete")]
mod tree;
#[cfg(feature = "collector")]
mod want;
#[cfg(feature = "collector")]
mod written;

pub use budget::{Answers, Budget};
pub use draw::Draw;
pub use items::{Items, Open, item_key};
#[cfg(feature = "complete")]
pub use kind::Part;
pub use kind::{Cross, Kind, Numbers, Together};
#[cfg(feature = "complete")]
pub use limits::Limits;
#[cfg(feature = "collector")]
pub use parts::TaskParts;
pub use prefixes::Prefixes;
pub use question::{Question, QuestionParts};
pub use scale::Scale;
#[cfg(not(feature = "complete"))]
use slim::tree;
pub use tree::Tree;
#[cfg(feature = "collector")]
pub use want::{Spacing, Want};

#[cfg(feature = "analysis")]
pub(crate) use question::check_asked;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use canonical::Read;

use crate::bounds;
use crate::error::{Error, error};
use crate::fingerprint::Fingerprint;
use crate::mechanism::Neighbours;

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

    /// The only question, where there is one.
    #[must_use]
    pub fn sole(&self) -> Option<&Question> {
        match &self.questions[..] {
            [question] => Some(question),
            _ => None,
        }
    }

    /// Which of the questions a report answers.
    #[must_use]
    pub const fn draw(&self) -> &Draw {
        &self.draw
    }

    /// How much one person reports.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// Identity of all parameters that a report depends on, of the id and of the budget.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
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
