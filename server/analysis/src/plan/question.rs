//! What a planner is asked, and why it may have no answer.

use hushbin::bounds::{Bound, EPSILON, PEOPLE};
use hushbin::choose::{Asked, AutoDraft, AutoLevel, MechanismDraft, ObjectiveDraft, QuestionDraft};
use hushbin::domain::Domain;
use hushbin::{Error, Items, Task, ValueKind};
use serde::Deserialize;

use crate::accounting::{self, AccountError, DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};

/// A question to the planner: what is known beforehand, what may be given away, and
/// what is wanted.
///
/// Of people, privacy (`epsilon`, `central_epsilon` or both) and accuracy
/// (`standard_error`, `smallest` or both) at least two are to be given; what is
/// missing is answered.
///
/// ```
/// use hushbin_analysis::plan::{Question, plan};
///
/// let question: Question = serde_json::from_str(
///     r#"{ "items": 40, "sparsity": 3, "epsilon": 1.0, "standard_error": 0.01 }"#,
/// ).unwrap();
/// assert!(plan(&question).unwrap().people > 100_000);
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Id of the task that is made.
    #[serde(default = "default_id")]
    pub id: String,
    /// As in a task.
    #[cfg_attr(feature = "wasm", tsify(type = "number | \"open\" | string[]"))]
    pub items: Items,
    /// As in a task; may be missing where `entries` are given.
    #[serde(default)]
    pub sparsity: Option<u32>,
    /// How many people have 0, 1, 2, … entries.
    #[serde(default)]
    pub entries: Option<Vec<u64>>,
    /// As in a task.
    #[serde(default = "default_value")]
    #[cfg_attr(feature = "wasm", tsify(type = "\"sign\" | \"real\""))]
    pub value: ValueKind,
    /// What estimates are wanted for.
    #[serde(default)]
    #[cfg_attr(
        feature = "wasm",
        tsify(
            type = "\"mean\" | \"frequency\" | \"nonmissing\" | { mean: number; frequency: number; nonmissing?: number }"
        )
    )]
    pub objective: ObjectiveDraft,
    /// What a report is to protect at least.
    #[serde(default)]
    #[cfg_attr(feature = "wasm", tsify(type = "\"user\" | \"event\""))]
    pub level: AutoLevel,
    /// How many people report, once each.
    #[serde(default)]
    pub people: Option<u64>,
    /// How many of them a day brings.
    #[serde(default)]
    pub people_per_day: Option<f64>,
    /// The greatest local ε. Where a central one is given alone, it is
    /// [`LOCAL_EPSILON`].
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The greatest ε of the shuffled reports.
    #[serde(default)]
    pub central_epsilon: Option<f64>,
    /// δ of the shuffled reports.
    #[serde(default = "default_delta")]
    pub delta: f64,
    /// Part of the reports that are assumed to be honest.
    #[serde(default = "default_honest_fraction")]
    pub honest_fraction: f64,
    /// The greatest error wanted: the root of the mean squared error over all
    /// items.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// The frequency of the rarest item worth seeing: one is seen if its interval
    /// lies above 0, simultaneously for all items at 95% confidence, with a
    /// probability of [`POWER`].
    #[serde(default)]
    pub smallest: Option<f64>,
}

/// Id of a task where nothing is said.
pub const DEFAULT_ID: &str = "planned";

pub(super) fn default_id() -> String {
    DEFAULT_ID.to_owned()
}

const fn default_value() -> ValueKind {
    ValueKind::Sign
}

pub(super) const fn default_delta() -> f64 {
    DEFAULT_DELTA
}

pub(super) const fn default_honest_fraction() -> f64 {
    DEFAULT_HONEST_FRACTION
}

/// The greatest local ε where nothing is said but a central one: nobody but a
/// shuffler would protect people from those who can link their reports if there
/// were no limit.
pub const LOCAL_EPSILON: f64 = 4.0;
/// The probability that an item of the smallest frequency is seen.
pub const POWER: f64 = 0.8;
/// How many people a day brings.
pub const PEOPLE_PER_DAY: Bound = Bound {
    name: "people_per_day",
    min: 1e-3,
    max: PEOPLE.max,
};
/// ε of the shuffled reports. For less it would take more people than there are,
/// or hardly any privacy would be left to spend.
pub const CENTRAL_EPSILON: Bound = Bound {
    min: 1e-3,
    ..accounting::CENTRAL_EPSILON
};
/// The error wanted.
pub const STANDARD_ERROR: Bound = Bound {
    name: "standard_error",
    min: 1e-6,
    max: 1.0,
};
/// The frequency worth seeing.
pub const SMALLEST: Bound = Bound {
    name: "smallest",
    min: 1e-6,
    max: 1.0,
};

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Something asked for is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// The batch cannot be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// Too little was said.
    #[error(
        "say two of three: how many people there are; how much privacy is to be kept (epsilon or \
         central_epsilon); how exact estimates are to be (standard_error or smallest, or within of \
         questions by name)"
    )]
    Underspecified,
    /// What is wanted of a question is not what it is answered with.
    #[error("question {question:?} {reason}")]
    Wanted {
        /// Its name.
        question: String,
        /// Why not.
        reason: &'static str,
    },
    /// No choice reaches what is wanted.
    #[error("{0}")]
    OutOfReach(String),
}

impl PlanError {
    /// Stable across releases.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parameter(_) => "parameter",
            Self::Account(_) => "account",
            Self::Underspecified => "underspecified",
            Self::Wanted { .. } => "wanted",
            Self::OutOfReach(_) => "out-of-reach",
        }
    }

    /// The field of the question that it is about, if it is about one.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Parameter(error) => field(error),
            _ => None,
        }
    }

    /// The name of the question that it is about, where it is about one.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        match self {
            Self::Parameter(Error::Question { name, .. }) => Some(name),
            Self::Wanted { question, .. } => Some(question),
            _ => None,
        }
    }
}

/// What is wrong with one of several questions, by its name.
pub(super) fn of_question(error: PlanError, name: &str) -> PlanError {
    match error {
        PlanError::Parameter(error @ Error::OutOfRange { .. }) => Error::Question {
            name: name.to_owned(),
            error: Box::new(error),
        }
        .into(),
        other => other,
    }
}

/// The field of what is out of range, in one of several questions or not.
fn field(error: &Error) -> Option<&'static str> {
    match error {
        Error::OutOfRange { name, .. } => Some(name),
        Error::Question { error, .. } => field(error),
        _ => None,
    }
}

/// Checks what is given.
pub(super) fn check_known(known: &[(Bound, Option<f64>)]) -> Result<(), Error> {
    let check = |(bound, value): &(Bound, Option<f64>)| value.map_or(Ok(()), |v| bound.check(v));
    known.iter().try_for_each(check)
}

impl Question {
    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_known(&[
            (PEOPLE, self.people.map(|people| people as f64)),
            (PEOPLE_PER_DAY, self.people_per_day),
            (EPSILON, self.epsilon),
            (CENTRAL_EPSILON, self.central_epsilon),
            (STANDARD_ERROR, self.standard_error),
            (SMALLEST, self.smallest),
            (accounting::DELTA, Some(self.delta)),
            (accounting::HONEST_FRACTION, Some(self.honest_fraction)),
        ])?;
        // Whatever else is wrong with what is asked: nothing has an α of 0.
        Task::check_id(&self.id)?;
        self.draft().choose_hiding(EPSILON.min, Some(1), 0.0)?;
        Ok(())
    }

    /// The inputs' domain at a sparsity.
    pub(super) fn domain(&self, sparsity: u32) -> Domain {
        Domain::rated(self.items.count(), sparsity)
    }

    /// The question to complete.
    pub(super) fn draft(&self) -> QuestionDraft {
        QuestionDraft {
            name: String::new(),
            asked: Asked::Ratings(self.items.clone(), self.value),
            sparsity: self.sparsity,
            entries: self.entries.clone(),
            weight: None,
            mechanism: MechanismDraft::Auto(AutoDraft {
                objective: self.objective,
                level: self.level,
            }),
        }
    }

    /// Entries of a person, on average.
    pub(super) fn average_entries(&self) -> f64 {
        match (&self.entries, self.sparsity) {
            (Some(entries), _) => {
                let people: f64 = entries.iter().map(|&count| count as f64).sum();
                let sum: f64 = (0..)
                    .zip(entries)
                    .map(|(i, &n)| f64::from(i) * n as f64)
                    .sum();
                sum / people
            }
            (None, sparsity) => f64::from(sparsity.unwrap_or(0)),
        }
    }
}
