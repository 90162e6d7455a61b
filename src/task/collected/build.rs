//! Construction of tasks from parts, canonical bytes of tasks, and effective ε.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::canonical;
use super::ratings_task_fields::RatingsTaskFields;
use crate::domain::ValueKind;
use crate::error::{Error, error};
use crate::mechanism::Mechanism;
use crate::task::items::{Items, item_name_hash};
use crate::task::local::kind::QuestionKind;
use crate::task::local::question::{Question, QuestionFields};
use crate::task::local::task_definition::Task;
use crate::task::report_budget::ReportBudget;

impl Task {
    /// Creates a task with a single question of kind `ratings`, which has no name.
    ///
    /// # Errors
    /// [`Error::InvalidTaskId`], [`Error::OutOfRange`], [`Error::InvalidItemName`], [`Error::DuplicateName`], or
    /// [`Error::InvalidCombination`] for parameters that cannot be combined.
    pub fn new(parts: RatingsTaskFields) -> Result<Self, Error> {
        let (id, question) = parts.into_id_and_fields();
        Self::from_checked_questions(id, alloc::vec![Question::new(question)?])
    }

    /// Creates a task whose questions have names.
    ///
    /// A report answers one of the questions and spends the whole ε on it. The report's seed
    /// selects the question, with probabilities proportional to the weights and independently of
    /// the answers.
    ///
    /// # Errors
    /// As [`Task::new`]; [`Error::InvalidCombination`] for questions with different ε; [`Error::InvalidItemName`]
    /// for a question without a name. With several questions, [`Error::InvalidCombination`] for a
    /// mechanism that protects less than whole inputs.
    pub fn from_questions(id: String, questions: Vec<Question>) -> Result<Self, Error> {
        Self::check_named_questions(&questions)?;
        let epsilon = |question: &&Question| question.epsilon() != questions[0].epsilon();
        if let Some(question) = questions.iter().find(epsilon) {
            return Err(question.add_question_to_error(error!(InvalidCombination {
                reason: "all questions of a task must have the task's \"epsilon\"",
            })));
        }
        Self::from_checked_questions(id, questions)
    }

    /// Creates a task with the default budget from checked questions.
    pub(super) fn from_checked_questions(
        id: String,
        questions: Vec<Question>,
    ) -> Result<Self, Error> {
        let budget = ReportBudget::default();
        let bytes = canonical::canonical_task_bytes(&id, &questions, budget);
        Self::build_checked_task(id, questions, budget, &bytes)
    }

    /// Replaces the budget, which changes the fingerprint.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] or [`Error::OutOfRange`] if the budget has a memo and the task's
    /// question or mechanism does not allow one.
    ///
    /// ```
    /// use hushbin::{Task, TaskDraft, task::ReportBudget};
    ///
    /// # let draft: TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// # ).unwrap();
    /// let task: Task = draft.resolve_task().unwrap();
    /// let weekly = task.clone().with_report_budget(ReportBudget::new(7, 1, None)?)?;
    /// assert_ne!(weekly.fingerprint(), task.fingerprint());
    /// assert_eq!(weekly.with_report_budget(ReportBudget::default())?, task);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    pub fn with_report_budget(self, budget: ReportBudget) -> Result<Self, Error> {
        let bytes = canonical::canonical_task_bytes(&self.id, &self.questions, budget);
        let questions = Arc::unwrap_or_clone(self.questions);
        Self::build_checked_task(self.id, questions, budget, &bytes)
    }

    /// Returns all parameters that a report depends on, and the [budget](Task::report_budget), as
    /// canonical bytes. Numbers take eight bytes, little endian. Each text is preceded by its
    /// length. The [fingerprint](Task::fingerprint) is the hash of these bytes.
    ///
    /// ```
    /// use hushbin::{Task, TaskDraft};
    ///
    /// let draft: TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// ).unwrap();
    /// let task = draft.resolve_task().unwrap();
    /// let bytes = task.canonical_bytes();
    /// assert_eq!(Task::from_canonical_bytes(&bytes), Ok(task));
    /// ```
    #[must_use]
    pub fn canonical_bytes(&self) -> Vec<u8> {
        canonical::canonical_task_bytes(&self.id, &self.questions, self.report_budget)
    }

    /// Returns the effective local ε of one report: the maximum over the questions. It is never
    /// above [`Task::epsilon`].
    #[must_use]
    pub fn achieved_report_epsilon(&self) -> f64 {
        let of_each = self.questions.iter().map(Question::achieved_report_epsilon);
        of_each.fold(0.0, f64::max)
    }

    /// Returns the task's id, a slug.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the question if the task has exactly one, else `None`.
    #[must_use]
    pub fn only_question(&self) -> Option<&Question> {
        match &self.questions[..] {
            [question] => Some(question),
            _ => None,
        }
    }

    /// Returns the budget of one person.
    #[must_use]
    pub const fn report_budget(&self) -> ReportBudget {
        self.report_budget
    }

    /// Returns the position of the question called `name`, or `None` if there is no such question.
    #[must_use]
    pub fn question_position(&self, name: &str) -> Option<usize> {
        let mut questions = self.questions.iter();
        questions.position(|question| question.name() == name)
    }

    /// Returns whether the task's only question has no name. Answers are then given without a name.
    #[must_use]
    pub fn has_unnamed_question(&self) -> bool {
        self.questions[0].name().is_empty()
    }

    /// Returns the share of reports that answer a question, in (0, 1].
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn question_report_share(&self, question: usize) -> f64 {
        f64::from(self.questions[question].weight())
            / f64::from(self.question_selector.total_weight())
    }

    /// Returns the requested local budget ε of one report.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.questions[0].epsilon()
    }
}

impl Items {
    /// Returns the index (closed task) or 64-bit key (open task) of the item called `name`, or
    /// `None` if there is no such item. An item of a list without names is identified by its
    /// decimal index. The time is linear in the length of the list.
    #[must_use]
    pub fn find_item(&self, name: &str) -> Option<u64> {
        match self {
            Self::Named(names) => names.iter().position(|n| n == name).map(|i| i as u64),
            Self::Count(count) => {
                let index: u32 = name.parse().ok()?;
                // `parse` accepts "007" and "+7", but an index has one spelling.
                let plain = !name.starts_with('+') && (name == "0" || !name.starts_with('0'));
                (plain && index < *count).then_some(u64::from(index))
            }
            Self::Open(_) => Some(item_name_hash(name)),
        }
    }
}

impl Question {
    /// Creates a question and checks its fields.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::InvalidItemName`], [`Error::DuplicateName`], or
    /// [`Error::InvalidCombination`] for fields that cannot be combined.
    pub fn new(parts: QuestionFields) -> Result<Self, Error> {
        let own = parts.kind.implied_items();
        let reason = if own.is_some_and(|own| own != parts.items) {
            "a \"flag\", \"number\", \"cross\", \"text\" or \"together\" needs exactly the items \
             of its kind"
        } else if parts.kind == QuestionKind::Ratings(ValueKind::Presence) {
            "\"ratings\" need \"value\" \"sign\" or \"real\": use a \"set\" for items that a \
             person has or not"
        } else if matches!(&parts.kind, QuestionKind::Number(scale) if scale.edges().is_none()) {
            "\"levels\" are only for a \"cross\": the mean of a single \"number\" needs only \
             \"min\" and \"max\""
        } else {
            let question = Self::from_consistent_fields(parts)?;
            if mechanism_suits_kind(&question) {
                return Ok(question);
            }
            return Err(question.add_question_to_error(error!(InvalidCombination {
                reason: "\"pattern\" is only for a \"number\" that is not \"optional\", and its \
                         outputs must distinguish all bins",
            })));
        };
        Err(error!(InvalidCombination { reason }).with_question_if_named(&parts.name))
    }

    /// Returns the items that the question asks about. The items of a number are the cells of its
    /// scale. The items of a `cross` or `together` are its cells.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.0.items
    }

    /// Returns the sparsity s: the number of entries of an answer that one report covers.
    #[must_use]
    pub const fn max_entries_per_report(&self) -> u32 {
        self.0.max_entries_per_report
    }

    /// Returns the effective local ε of one report: the maximum log-ratio of output probabilities.
    /// It is computed from the sampled thresholds and rounded up, and is never above
    /// [`Question::epsilon`].
    #[must_use]
    pub fn achieved_report_epsilon(&self) -> f64 {
        self.0
            .mechanism
            .effective_epsilon(&self.domain(), self.0.epsilon)
    }
}

impl TryFrom<Task> for RatingsTaskFields {
    type Error = Task;

    /// Returns the fields of a task whose only question has no name. They do not include the task's
    /// [budget](Task::report_budget).
    ///
    /// # Errors
    /// The task itself if its questions have names.
    fn try_from(task: Task) -> Result<Self, Task> {
        match task.only_question() {
            Some(sole) if task.has_unnamed_question() => Ok(Self {
                id: task.id().to_owned(),
                items: sole.items().clone(),
                sparsity: sole.max_entries_per_report(),
                epsilon: sole.epsilon(),
                value: sole.coded_value_kind(),
                mechanism: sole.mechanism().clone(),
            }),
            _ => Err(task),
        }
    }
}

/// Returns whether the mechanism suits the kind of question. A pattern requires a number that every
/// person has, and its outputs must distinguish the number's bins.
fn mechanism_suits_kind(question: &Question) -> bool {
    match (question.mechanism(), question.kind()) {
        (Mechanism::Pattern(own), QuestionKind::Number(scale)) => {
            !scale.is_optional() && own.is_identifiable(scale.cell_count(), question.epsilon())
        }
        (Mechanism::Pattern(_), _) => false,
        _ => true,
    }
}
