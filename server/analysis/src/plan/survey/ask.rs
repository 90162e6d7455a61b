//! What a planner is asked about questions with names.

use std::collections::BTreeMap;

use hushbin::bounds::{Bound, EPSILON, PEOPLE};
use hushbin::choose::QuestionDraft;
use hushbin::task::Budget;
use serde::Deserialize;

use crate::accounting;
use crate::plan::question::{
    self, CENTRAL_EPSILON, PEOPLE_PER_DAY, PlanError, default_delta, default_honest_fraction,
    default_id,
};

/// Questions by name to the planner, of which each report answers one: what is asked, what
/// is known, what may be given away, and how exact answers are to be.
///
/// Of people, privacy (`epsilon`, `central_epsilon` or both) and accuracy (`within` of one
/// question at least) two are to be given; what is missing is answered.
///
/// ```
/// use hushbin_analysis::plan::{Survey, survey};
///
/// let asked: Survey = serde_json::from_str(r#"{
///     "questions": [
///         { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
///         { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" }
///     ],
///     "wanted": { "theme": { "within": 0.01 }, "load": { "within": 0.3 } },
///     "epsilon": 1.0
/// }"#).unwrap();
/// let answer = survey(&asked).unwrap();
/// assert!(answer.questions.iter().all(|own| own.interval <= own.wanted.unwrap()));
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// Id of the task that is made.
    #[serde(default = "default_id")]
    pub id: String,
    /// As in a task file, without `entries`.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "({ name: string; kind: string } & Record<string, unknown>)[]")
    )]
    pub questions: Vec<QuestionDraft>,
    /// How much one person reports; planned for are people who report once.
    #[serde(default)]
    #[cfg_attr(
        feature = "wasm",
        tsify(
            type = "{ days?: number; reports?: number; answers?: string }",
            optional
        )
    )]
    pub budget: Budget,
    /// By the name of a question.
    #[serde(default)]
    #[cfg_attr(feature = "wasm", tsify(type = "Record<string, Wanted>", optional))]
    pub wanted: BTreeMap<String, Wanted>,
    /// How many people report, once each.
    #[serde(default)]
    pub people: Option<u64>,
    /// How many of them a day brings.
    #[serde(default)]
    pub people_per_day: Option<f64>,
    /// The greatest local ε; where a central one is given alone,
    /// [`LOCAL_EPSILON`](crate::plan::LOCAL_EPSILON).
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
}

/// How exact the answers to one question are to be, and what for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Half-width of an interval at 95% confidence, in what is answered: a share from 0 to
    /// 1, a mean in its unit, of ratings from −1 to 1; of a cross by a number for its mean,
    /// the means within rows of as many people each; of a quantile its share, or its unit
    /// where a `spread` is known. Of several numbers the means of all, each in its unit.
    #[serde(default)]
    pub within: Option<f64>,
    /// Of which of several numbers alone that is said.
    #[serde(default)]
    pub of: Option<String>,
    /// The part of people below the quantile wanted, in (0, 1); of a number in bins, whose
    /// bins' shares are wanted else. Where only a spread is said, 1/2.
    #[serde(default)]
    pub quantile: Option<f64>,
    /// Standard deviation of a number, in its unit, as far as it is known: what a
    /// quantile's share says of the quantile, if people are spread normally.
    #[serde(default)]
    pub spread: Option<f64>,
}

/// The part of people below a quantile.
pub const QUANTILE: Bound = Bound {
    name: "quantile",
    min: 0.001,
    max: 0.999,
};

impl Survey {
    /// Checks all but what depends on ε.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        question::check_known(&[
            (PEOPLE, self.people.map(|people| people as f64)),
            (PEOPLE_PER_DAY, self.people_per_day),
            (EPSILON, self.epsilon),
            (CENTRAL_EPSILON, self.central_epsilon),
            (accounting::DELTA, Some(self.delta)),
            (accounting::HONEST_FRACTION, Some(self.honest_fraction)),
        ])?;
        let named = |name: &String| self.questions.iter().any(|own| own.name == *name);
        if let Some(name) = self.wanted.keys().find(|name| !named(name)) {
            return Err(refusal(name, "is not asked"));
        }
        for question in &self.questions {
            if question.entries.is_some() {
                let reason = "is planned for a \"sparsity\", not \"entries\"";
                return Err(refusal(&question.name, reason));
            }
        }
        Ok(())
    }

    /// What is wanted of a question; nothing, where nothing is said.
    pub(super) fn wanted(&self, name: &str) -> Wanted {
        self.wanted.get(name).cloned().unwrap_or_default()
    }
}

/// What is wrong with what is wanted of a question.
pub(super) fn refusal(question: &str, reason: &'static str) -> PlanError {
    PlanError::Wanted {
        question: question.to_owned(),
        reason,
    }
}
