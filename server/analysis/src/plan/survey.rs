//! Input of the planner: the questions, the known quantities and the wanted accuracy.

use std::collections::BTreeMap;

use hushbin::bounds::{EPSILON_RANGE, PEOPLE_COUNT_RANGE, ParameterRange};
use hushbin::choose::{KindDraft, MechanismDraft, ObjectiveDraft, QuestionDraft};
use hushbin::domain::Domain;
use hushbin::task::{QuestionFields, QuestionKind, ReportBudget};
use hushbin::{Error, Items, Mechanism, Question, RatingsTaskFields, Task, ValueKind};
use serde::Deserialize;

use super::error::PlanError;
use crate::accounting::{self, DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};

/// Survey to plan: one or several questions, and two of people, privacy and accuracy. Each report
/// answers one of the questions.
///
/// Give two of people, privacy (`epsilon`, `central_epsilon` or both) and accuracy (`wanted` of at
/// least one question). The planner finds the third.
///
/// ```
/// use hushbin_analysis::plan::{Survey, plan_survey};
///
/// let survey: Survey = serde_json::from_str(r#"{
///     "questions": [
///         { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
///         { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" }
///     ],
///     "wanted": { "theme": { "within": 0.01 }, "load": { "within": 0.3 } },
///     "epsilon": 1.0
/// }"#).unwrap();
/// let plan_survey = plan_survey(&survey).unwrap();
/// assert!(plan_survey.questions.iter().all(|own| own.half_width <= own.wanted_half_width.unwrap()));
/// ```
///
/// If the only question asks for ratings with the mechanism `auto`, every mechanism is tried, and
/// errors are averages over all items. If that question has an empty name, the task has a single
/// unnamed question.
///
/// ```
/// # use hushbin_analysis::plan::{Survey, plan_survey};
/// let survey: Survey = serde_json::from_str(r#"{
///     "questions": [{ "name": "", "kind": "ratings", "items": 40, "sparsity": 3,
///                     "value": "sign", "mechanism": "auto" }],
///     "wanted": { "": { "standard_error": 0.01 } }, "epsilon": 1.0
/// }"#).unwrap();
/// assert!(plan_survey(&survey).unwrap().people > 100_000);
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// Id of the planned task.
    #[serde(default = "default_id")]
    pub id: String,
    /// Questions, as in a task file. `entries` may be given only for ratings with the mechanism
    /// `auto`.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "({ name: string; kind: string } & Record<string, unknown>)[]")
    )]
    pub questions: Vec<QuestionDraft>,
    /// Limits on the reports of one person, as in a task file. The plan assumes that each person
    /// reports once.
    #[serde(default)]
    #[cfg_attr(
        feature = "wasm",
        tsify(
            type = "{ days?: number; reports?: number; answers?: string }",
            optional
        )
    )]
    pub budget: ReportBudget,
    /// Wanted accuracy, by the name of the question.
    #[serde(default)]
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "Record<string, AccuracyGoal>", optional)
    )]
    pub wanted: BTreeMap<String, AccuracyGoal>,
    /// Number of people, who send one report each.
    #[serde(default)]
    pub people: Option<u64>,
    /// Number of people who report per day.
    #[serde(default)]
    pub people_per_day: Option<f64>,
    /// Maximum local ε. If only `central_epsilon` is given, it is [`DEFAULT_MAX_LOCAL_EPSILON`].
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// Maximum central ε of the shuffled reports. `None` if it is not limited.
    #[serde(default)]
    pub central_epsilon: Option<f64>,
    /// δ of the batch of shuffled reports.
    #[serde(default = "default_delta")]
    pub delta: f64,
    /// Fraction of the reports that is assumed to be honest.
    #[serde(default = "default_honest_fraction")]
    pub honest_fraction: f64,
}

/// Wanted accuracy of one question.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(deny_unknown_fields)]
pub struct AccuracyGoal {
    /// Maximum half-width of a 95% confidence interval. The estimate depends on the question:
    ///
    /// - a share, from 0 to 1;
    /// - a mean, in its unit, also for each of several numbers;
    /// - a mean of ratings, from −1 to 1;
    /// - for a cross-tabulation with a number, the mean within rows of equal size;
    /// - for a quantile, the share of people below it, or the quantile itself if `spread` is given.
    #[serde(default)]
    pub within: Option<f64>,
    /// Name of the number to which `within` applies, if the question asks for several numbers.
    #[serde(default)]
    pub number_name: Option<String>,
    /// Fraction of people below the wanted quantile, in (0, 1), for a number with bins. If it is
    /// not given, `within` applies to the shares of bins, or to the median if `spread` is given.
    #[serde(default)]
    pub quantile: Option<f64>,
    /// Standard deviation of people's numbers, in the number's unit, if known. With it, `within`
    /// applies to the quantile itself instead of the share below it. Numbers are assumed to be
    /// normally distributed around the middle bin.
    #[serde(default)]
    pub spread: Option<f64>,
    /// Maximum root mean squared error over all items. It may be given only if the survey's only
    /// question asks for ratings with the mechanism `auto`.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// Smallest frequency at which an item should be detected. An item is detected if its interval
    /// is above 0. Intervals are simultaneous for all items at 95% confidence, and detection should
    /// have probability [`DETECTION_POWER`]. It may be given only if the survey's only question asks for
    /// ratings with the mechanism `auto`.
    #[serde(default)]
    pub smallest_frequency: Option<f64>,
}

/// Default id of a planned task.
pub const DEFAULT_PLANNED_TASK_ID: &str = "planned";

fn default_id() -> String {
    DEFAULT_PLANNED_TASK_ID.to_owned()
}

const fn default_delta() -> f64 {
    DEFAULT_DELTA
}

const fn default_honest_fraction() -> f64 {
    DEFAULT_HONEST_FRACTION
}

/// Maximum local ε if only a central ε is given. Without this limit, people would be protected only
/// as long as no attacker can link reports to senders.
pub const DEFAULT_MAX_LOCAL_EPSILON: f64 = 4.0;
/// Probability that an item of the smallest wanted frequency is detected.
pub const DETECTION_POWER: f64 = 0.8;
/// Permitted number of people who report per day.
pub(super) const PEOPLE_PER_DAY_RANGE: ParameterRange = ParameterRange {
    name: "people_per_day",
    min: 1e-3,
    max: PEOPLE_COUNT_RANGE.max,
};
/// Permitted central ε of the shuffled reports. Below the minimum, a plan would need more people
/// than there are in the world.
pub(super) const CENTRAL_EPSILON_RANGE: ParameterRange = ParameterRange {
    min: 1e-3,
    ..accounting::CENTRAL_EPSILON_RANGE
};
/// Permitted maximum error.
pub(super) const STANDARD_ERROR_RANGE: ParameterRange = ParameterRange {
    name: "standard_error",
    min: 1e-6,
    max: 1.0,
};
/// Permitted smallest frequency to detect.
pub(super) const SMALLEST_FREQUENCY_RANGE: ParameterRange = ParameterRange {
    name: "smallest_frequency",
    min: 1e-6,
    max: 1.0,
};
/// Permitted fraction of people below a quantile.
pub(super) const QUANTILE_FRACTION_RANGE: ParameterRange = ParameterRange {
    name: "quantile",
    min: 0.001,
    max: 0.999,
};

impl Survey {
    /// Checks all parts of the survey that do not depend on ε.
    pub(super) fn validate_survey(&self) -> Result<(), PlanError> {
        for (bound, value) in [
            (PEOPLE_COUNT_RANGE, self.people.map(|people| people as f64)),
            (PEOPLE_PER_DAY_RANGE, self.people_per_day),
            (EPSILON_RANGE, self.epsilon),
            (CENTRAL_EPSILON_RANGE, self.central_epsilon),
            (accounting::DELTA_RANGE, Some(self.delta)),
            (
                accounting::HONEST_FRACTION_RANGE,
                Some(self.honest_fraction),
            ),
        ] {
            value.map_or(Ok(()), |value| bound.check_in_range(value))?;
        }
        let named = |name: &String| self.questions.iter().any(|own| own.name == *name);
        if let Some(name) = self.wanted.keys().find(|name| !named(name)) {
            return Err(PlanError::unusable_accuracy(name, "is not asked"));
        }
        if let Some(open) = self.sole_auto_ratings_question() {
            // Invalid parameters are invalid at every ε, so checking at one is enough. Names are
            // checked with the task.
            return Ok(open
                .question_draft
                .validate(EPSILON_RANGE.min, self.people)?);
        }
        for question in &self.questions {
            let wanted = self.wanted_accuracy(&question.name);
            if wanted.standard_error.is_some() || wanted.smallest_frequency.is_some() {
                let reason = "is planned for \"within\": an error over all items is for ratings \
                              asked alone with the mechanism \"auto\"";
                return Err(PlanError::unusable_accuracy(&question.name, reason));
            }
            if question.people_count_by_entry_count.is_some() {
                let reason = "is planned for a \"sparsity\", not \"entries\"";
                return Err(PlanError::unusable_accuracy(&question.name, reason));
            }
        }
        Ok(())
    }

    /// Returns the wanted accuracy of a question. If none is given, all fields of the result are
    /// empty.
    pub(super) fn wanted_accuracy(&self, name: &str) -> AccuracyGoal {
        self.wanted.get(name).cloned().unwrap_or_default()
    }

    /// Returns true if the accuracy of at least one question is given.
    pub(super) fn wants_accuracy(&self) -> bool {
        self.wanted.values().any(|own| {
            own.within.is_some() || own.standard_error.is_some() || own.smallest_frequency.is_some()
        })
    }

    /// Returns the privacy limits of the survey. `None` if neither a local nor a central ε is
    /// given.
    pub(super) fn privacy_limits(&self) -> Option<PrivacyLimits> {
        if self.epsilon.is_none() && self.central_epsilon.is_none() {
            return None;
        }
        Some(PrivacyLimits {
            max_local_epsilon: self.epsilon.unwrap_or(DEFAULT_MAX_LOCAL_EPSILON),
            max_central_epsilon: self.central_epsilon,
        })
    }

    /// Returns the only question, if it asks for ratings with the mechanism `auto`.
    pub(super) fn sole_auto_ratings_question(&self) -> Option<AutoRatingsQuestion<'_>> {
        let [draft] = &self.questions[..] else {
            return None;
        };
        let (KindDraft::Ratings(items, value), MechanismDraft::Auto(auto)) =
            (&draft.kind, &draft.mechanism)
        else {
            return None;
        };
        Some(AutoRatingsQuestion {
            question_draft: draft,
            items_to_rate: items,
            value_kind: *value,
            objective: auto.objective,
        })
    }

    /// Creates the task that asks these questions. If there is a single question with an empty
    /// name, the task has a single unnamed question.
    pub(super) fn create_task(&self, mut questions: Vec<Question>) -> Result<Task, Error> {
        let task = match &questions[..] {
            [sole] if sole.name().is_empty() => {
                let sole = questions.remove(0);
                Task::new(RatingsTaskFields {
                    id: self.id.clone(),
                    items: sole.items().clone(),
                    sparsity: sole.max_entries_per_report(),
                    epsilon: sole.epsilon(),
                    value: sole.coded_value_kind(),
                    mechanism: sole.mechanism().clone(),
                })?
            }
            _ => Task::from_questions(self.id.clone(), questions)?,
        };
        task.with_report_budget(self.budget)
    }
}

/// Limits on the local and the central ε of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivacyLimits {
    /// Maximum local ε.
    pub(super) max_local_epsilon: f64,
    /// Maximum central ε of the shuffled reports. `None` if it is not limited.
    pub(super) max_central_epsilon: Option<f64>,
}

impl PrivacyLimits {
    /// Creates limits that restrict only the local ε.
    pub(super) const fn local_epsilon_only(epsilon: f64) -> Self {
        Self {
            max_local_epsilon: epsilon,
            max_central_epsilon: None,
        }
    }
}

/// Only question of a survey, which asks for ratings with the mechanism `auto`. Every mechanism is
/// tried for it.
pub(super) struct AutoRatingsQuestion<'a> {
    pub(super) question_draft: &'a QuestionDraft,
    pub(super) items_to_rate: &'a Items,
    pub(super) value_kind: ValueKind,
    pub(super) objective: ObjectiveDraft,
}

impl AutoRatingsQuestion<'_> {
    /// Returns the domain of inputs that have at most `sparsity` entries of these items.
    pub(super) fn input_domain(&self, sparsity: u32) -> Domain {
        Domain::of_rated_items(self.items_to_rate.item_count(), sparsity)
    }

    /// Creates the complete question with this mechanism.
    pub(super) fn question_using_mechanism(
        &self,
        mechanism: &Mechanism,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<Question, Error> {
        Question::new(QuestionFields {
            name: self.question_draft.name.clone(),
            kind: QuestionKind::Ratings(self.value_kind),
            items: self.items_to_rate.clone(),
            max_entries_per_report: sparsity,
            weight: self.question_draft.sampling_weight.unwrap_or(1),
            epsilon,
            mechanism: mechanism.clone(),
        })
    }

    /// Returns the average number of entries of a person.
    pub(super) fn average_entries_per_person(&self) -> f64 {
        let Some(entries) = &self.question_draft.people_count_by_entry_count else {
            return f64::from(self.question_draft.sparsity.unwrap_or(0));
        };
        let people: f64 = entries.iter().map(|&count| count as f64).sum();
        let each = (0..).zip(entries);
        let sum: f64 = each.map(|(i, &n)| f64::from(i) * n as f64).sum();
        sum / people
    }
}
