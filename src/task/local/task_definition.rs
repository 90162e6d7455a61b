//! Task that reports answer.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::question::Question;
use super::question_draw::QuestionSelector;
use crate::bounds;
use crate::error::{Error, error};
use crate::fingerprint::Fingerprint;
use crate::mechanism::MemoAndReportThresholds;
use crate::mechanism::NeighbouringInputs;
use crate::task::items::{check_printable_name, check_task_id};
use crate::task::local::kind::QuestionKind;
use crate::task::report_budget::{MemoParameters, ReportBudget};

/// Description of the collected data and of all parameters. A task is complete and valid by
/// construction, also after deserialization.
///
/// A task determines everything that a report depends on. Every upload carries the task's
/// [`Fingerprint`], and a collector rejects reports made under another task.
/// [`TaskDraft`](crate::TaskDraft) lets hushbin choose parameters.
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
/// assert!(task.achieved_report_epsilon() <= 2.0);
///
/// let fingerprint = task.fingerprint().to_string();
/// assert_eq!(fingerprint.len(), 32);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub(in crate::task) id: String,
    /// Questions, shared with randomizers.
    pub(in crate::task) questions: Arc<Vec<Question>>,
    pub(in crate::task) question_selector: QuestionSelector,
    pub(in crate::task) report_budget: ReportBudget,
    /// Thresholds of the memo and of the reports made from it. `None` if the budget has no memo.
    pub(in crate::task) memo_thresholds: Option<MemoAndReportThresholds>,
    pub(in crate::task) fingerprint: Fingerprint,
}

/// Maximum number of options of a question whose answers are memoised. With more options, reports
/// from a memo are much less exact than fresh reports.
const MAX_MEMO_OPTIONS: f64 = 64.0;

impl Task {
    /// Checks that the questions have distinct names. If there are several questions, each must
    /// protect whole inputs under pure ε.
    pub(in crate::task) fn check_named_questions(questions: &[Question]) -> Result<(), Error> {
        bounds::QUESTION_COUNT_RANGE.check_in_range(questions.len() as f64)?;
        for (index, question) in questions.iter().enumerate() {
            check_printable_name(index, question.name())?;
            let same = |other: &Question| other.name() == question.name();
            if questions[..index].iter().any(same) {
                return Err(error!(DuplicateName {
                    name: String::from(question.name()),
                }));
            }
            let mechanism = question.mechanism();
            let whole = mechanism.neighbours() == NeighbouringInputs::AnyTwoInputs
                && mechanism.delta() == 0.0;
            if questions.len() > 1 && !whole {
                return Err(question.add_question_to_error(error!(InvalidCombination {
                    reason: "each of several questions needs pure ε (no δ) for whole inputs",
                })));
            }
        }
        Ok(())
    }

    /// Creates a task from questions that have been checked together. `bytes` are its canonical
    /// bytes.
    pub(in crate::task) fn build_checked_task(
        id: String,
        questions: Vec<Question>,
        budget: ReportBudget,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        check_task_id(&id)?;
        let memo_stages = match budget.memo {
            None => None,
            Some(memo) => Some(compute_memo_thresholds(&questions, memo)?),
        };
        if budget.cover.is_some() {
            check_answers_are_optional(&questions)?;
        }
        let fingerprint = Fingerprint::hash_canonical_bytes(bytes);
        Ok(Self {
            id,
            question_selector: QuestionSelector::new(questions.iter().map(Question::weight)),
            questions: Arc::new(questions),
            report_budget: budget,
            memo_thresholds: memo_stages,
            fingerprint,
        })
    }

    /// Returns the questions in the order of the task file. There is at least one.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Returns the assignment of seeds to questions, which draws the question that a report
    /// answers.
    #[must_use]
    pub const fn question_selector(&self) -> &QuestionSelector {
        &self.question_selector
    }

    /// Returns the thresholds of the memo and of the reports that are made from it, or `None` if the
    /// budget has no [memo](crate::task::MemoParameters).
    #[must_use]
    pub const fn memo_thresholds(&self) -> Option<&MemoAndReportThresholds> {
        self.memo_thresholds.as_ref()
    }

    /// Returns the fingerprint, which identifies the id, the budget, and all parameters that a
    /// report depends on.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// Checks that every question has a "no answer", from which cover reports are made.
///
/// # Errors
/// [`Error::InvalidCombination`] if a question is not a flag, a choice, a set or ratings, or if its
/// ε hides only a part of the answer. Then the report itself shows whether there was an answer.
fn check_answers_are_optional(questions: &[Question]) -> Result<(), Error> {
    let has_none = |question: &Question| {
        matches!(
            question.kind(),
            QuestionKind::Flag
                | QuestionKind::Choice
                | QuestionKind::Set
                | QuestionKind::Ratings(_)
        )
    };
    let hides_answer =
        |question: &Question| question.mechanism().neighbours() == NeighbouringInputs::AnyTwoInputs;
    for question in questions {
        let reason = match (has_none(question), hides_answer(question)) {
            (true, true) => continue,
            (false, _) => {
                "\"cover\" is for flags, choices, sets and ratings: only they have a \"no answer\""
            }
            (true, false) => "\"cover\" needs a mechanism with the level \"user\"",
        };
        return Err(question.add_question_to_error(error!(InvalidCombination { reason })));
    }
    Ok(())
}

/// Computes the thresholds of a task's memo.
///
/// # Errors
/// [`Error::InvalidCombination`] if there are several questions, if the only one is not a flag or a choice,
/// or as for [`MemoAndReportThresholds::new`]. [`Error::OutOfRange`] if the question has too many options.
fn compute_memo_thresholds(
    questions: &[Question],
    memo: MemoParameters,
) -> Result<MemoAndReportThresholds, Error> {
    let [question] = questions else {
        return Err(error!(InvalidCombination {
            reason: "a \"memo\" is for one question: make a task for each question",
        }));
    };
    if !matches!(question.kind(), QuestionKind::Flag | QuestionKind::Choice) {
        return Err(error!(InvalidCombination {
            reason: "a \"memo\" is for a flag or a choice",
        }));
    }
    let (domain, mechanism) = (question.domain(), question.mechanism());
    let options = domain.item_count().map_or(f64::INFINITY, f64::from);
    bounds::OPTION_COUNT_RANGE
        .with_max(MAX_MEMO_OPTIONS)
        .check_in_range(options)?;
    MemoAndReportThresholds::new(mechanism, &domain, question.epsilon(), memo.epsilon)
}
