//! File format of sum tasks.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::question_file::{SerializedCountedQuestion, questions_from_file, questions_to_file};
use crate::error::{Error, error};
use crate::sample::Threshold;
use crate::sums::messages::{MessageParameters, NoiseLottery, UnitStepParameters};
use crate::sums::summed_quantity::{BoundedVector, SummedQuantity};
use crate::sums::task::{SumTask, SumTaskFields};
use crate::task::{Items, NumberLimits, ReportBudget};

/// Party that people have to trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TrustedParty {
    Shuffler,
}

/// One of the summed numbers in a task file, with the number's limits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedSummedNumber {
    name: String,
    min: f64,
    max: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
}

/// Summed vector in a task file, with the parameters of its frame.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedSummedVector {
    items: Items,
    length: f64,
    #[serde(default, with = "digits")]
    seed: u64,
    #[serde(default = "default_spread", skip_serializing_if = "is_default_spread")]
    spread: f64,
}

const fn default_spread() -> f64 {
    BoundedVector::DEFAULT_BOUND_FACTOR
}

fn is_default_spread(spread: &f64) -> bool {
    *spread == BoundedVector::DEFAULT_BOUND_FACTOR
}

/// Serialisation of whole numbers as decimal digits, because JavaScript's numbers have 53 bits.
mod digits {
    use core::str::FromStr;

    use super::{Deserialize, Deserializer, Serializer, String, ToString, de};

    pub(super) fn serialize<S: Serializer>(
        number: &impl ToString,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub(super) fn deserialize<'de, D, T>(of: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr + ToString,
    {
        let text = String::deserialize(of)?;
        let number: Option<T> = text.parse().ok();
        // Accept only the canonical spelling, without a sign or leading zeros.
        number
            .filter(|number| number.to_string() == text)
            .ok_or_else(|| de::Error::custom("expected a whole number as decimal digits"))
    }
}

/// Parameters of messages in a task file: those of unit messages, or those of a lottery.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedMessageParameters {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trials: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draws: Option<u32>,
    #[serde(with = "digits")]
    threshold: u128,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    equal: Option<bool>,
}

impl From<&MessageParameters> for SerializedMessageParameters {
    fn from(own: &MessageParameters) -> Self {
        match own {
            MessageParameters::UnitSteps(own) => Self {
                levels: Some(own.messages_per_unit()),
                drawn: Some(own.drawn_coordinate_count()),
                trials: Some(own.noise_trial_count()),
                threshold: own.noise_threshold().0.into(),
                noise: Some(own.max_noise_messages()),
                ..Self::default()
            },
            MessageParameters::Lottery(own) => Self {
                draws: Some(own.draws()),
                threshold: own.threshold(),
                // False is the default, and is not written.
                equal: Some(own.pads_to_equal_counts()).filter(|equal| *equal),
                ..Self::default()
            },
        }
    }
}

impl TryFrom<SerializedMessageParameters> for MessageParameters {
    type Error = Error;

    fn try_from(file: SerializedMessageParameters) -> Result<Self, Error> {
        let steps = (file.levels, file.drawn, file.trials, file.noise);
        match (steps, file.draws, file.equal) {
            ((Some(levels), Some(drawn), Some(trials), Some(noise)), None, None) => {
                // A threshold that does not fit is out of range anyway.
                let threshold = Threshold(u64::try_from(file.threshold).unwrap_or(u64::MAX));
                UnitStepParameters::new(levels, drawn, trials, threshold, noise).map(Self::from)
            }
            ((None, None, None, None), Some(draws), equal) => {
                NoiseLottery::new(draws, file.threshold, equal == Some(true)).map(Self::from)
            }
            _ => Err(error!(InvalidCombination {
                reason: "\"messages\" of \"numbers\" or a \"vector\" need \"levels\", \"drawn\", \
                         \"trials\", \"threshold\" and \"noise\"; those of \"questions\" need \
                         \"draws\" and \"threshold\", and may have \"equal\"",
            })),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedSumTask {
    id: String,
    trust: TrustedParty,
    epsilon: f64,
    delta: f64,
    people: u64,
    #[serde(default = "default_honest_fraction")]
    honest_fraction: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<SerializedSummedNumber>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vector: Option<SerializedSummedVector>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    questions: Option<Vec<SerializedCountedQuestion>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messages: Option<SerializedMessageParameters>,
    #[serde(default, skip_serializing_if = "ReportBudget::is_default")]
    budget: ReportBudget,
}

const fn default_honest_fraction() -> f64 {
    SumTaskDraft::DEFAULT_HONEST_FRACTION
}

/// [`SumTask`] whose message parameters may be unset. `hushbin_analysis` chooses unset parameters.
///
/// In a file:
///
/// ```
/// use hushbin::sums::SumTaskDraft;
///
/// let draft: SumTaskDraft = serde_json::from_str(r#"{
///     "id": "timings",
///     "trust": "shuffler",
///     "epsilon": 1.0,
///     "delta": 1e-6,
///     "people": 10000,
///     "numbers": [{ "name": "load-time", "min": 0, "max": 10000, "unit": "ms" }]
/// }"#)?;
/// assert_eq!((draft.message_parameters, draft.task_fields.honest_fraction), (None, 0.9));
/// // Trust in a shuffler is never a default.
/// let silent = r#"{ "id": "t", "epsilon": 1.0, "delta": 1e-6, "people": 100, "numbers": [] }"#;
/// assert!(serde_json::from_str::<SumTaskDraft>(silent).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SumTaskDraft {
    /// Fields of the task except its messages.
    pub task_fields: SumTaskFields,
    /// Parameters of the messages of one person, or `None` if they are not chosen yet.
    pub message_parameters: Option<MessageParameters>,
}

impl SumTaskDraft {
    /// Default share of people who are assumed to be honest.
    pub(crate) const DEFAULT_HONEST_FRACTION: f64 = 0.9;

    /// Checks that the draft describes this task.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] for the first field that differs.
    pub fn check_matches_task(&self, task: &SumTask) -> Result<(), Error> {
        let (own, used) = (&self.task_fields, task.task_fields());
        let differs = |field, given: String, in_use: String| {
            Err(error!(TaskDiffers {
                field,
                given,
                in_use
            }))
        };
        if own.id != used.id {
            return differs("id", own.id.clone(), used.id.clone());
        }
        if own.summed_quantity != used.summed_quantity {
            let of = |measure: &SummedQuantity| format!("{measure:?}");
            return differs(
                "numbers, vector or questions",
                of(&own.summed_quantity),
                of(&used.summed_quantity),
            );
        }
        let numbers = |parts: &SumTaskFields| {
            let people = parts.min_people as f64;
            [
                parts.central_epsilon,
                parts.delta,
                people,
                parts.honest_fraction,
            ]
        };
        let names = ["epsilon", "delta", "people", "honest_fraction"];
        for ((name, given), in_use) in names.into_iter().zip(numbers(own)).zip(numbers(used)) {
            if given != in_use {
                return differs(name, given.to_string(), in_use.to_string());
            }
        }
        if own.report_budget != used.report_budget {
            let of = |budget: ReportBudget| format!("{budget:?}");
            return differs("budget", of(own.report_budget), of(used.report_budget));
        }
        match self.message_parameters {
            Some(messages) if messages != *task.message_parameters() => {
                let of = |messages: &MessageParameters| format!("{messages:?}");
                differs("messages", of(&messages), of(task.message_parameters()))
            }
            _ => Ok(()),
        }
    }
}

impl From<SumTask> for SumTaskDraft {
    fn from(task: SumTask) -> Self {
        Self {
            task_fields: task.task_fields().clone(),
            message_parameters: Some(*task.message_parameters()),
        }
    }
}

impl TryFrom<SerializedSumTask> for SumTaskDraft {
    type Error = Error;

    fn try_from(file: SerializedSumTask) -> Result<Self, Error> {
        let TrustedParty::Shuffler = file.trust;
        let measure = match (file.numbers, file.vector, file.questions) {
            (Some(numbers), None, None) => {
                let names = numbers.iter().map(|own| own.name.clone()).collect();
                let limits = numbers.into_iter();
                let limits = limits.map(|own| NumberLimits::new(own.min, own.max, own.unit));
                SummedQuantity::from_numbers(names, limits.collect::<Result<_, _>>()?)?
            }
            (None, Some(own), None) => SummedQuantity::BoundedVector(BoundedVector::new(
                own.items, own.length, own.seed, own.spread,
            )?),
            (None, None, Some(own)) => SummedQuantity::CountedQuestions(questions_from_file(own)?),
            _ => {
                return Err(error!(InvalidCombination {
                    reason: "a task through a shuffler needs exactly one of \"numbers\", a \
                             \"vector\" and \"questions\"",
                }));
            }
        };
        let messages = file.messages.map(MessageParameters::try_from);
        Ok(Self {
            task_fields: SumTaskFields {
                id: file.id,
                summed_quantity: measure,
                central_epsilon: file.epsilon,
                delta: file.delta,
                min_people: file.people,
                honest_fraction: file.honest_fraction,
                report_budget: file.budget,
            },
            message_parameters: messages.transpose()?,
        })
    }
}

impl SerializedSumTask {
    fn from_fields_and_messages(
        parts: &SumTaskFields,
        messages: Option<&MessageParameters>,
    ) -> Self {
        let number = |(name, limits): (&String, &NumberLimits)| {
            let [min, max] = limits.range();
            SerializedSummedNumber {
                name: name.clone(),
                min,
                max,
                unit: limits.unit().map(ToOwned::to_owned),
            }
        };
        let (mut numbers, mut vector, mut questions) = (None, None, None);
        match &parts.summed_quantity {
            SummedQuantity::NumbersWithLimits(Items::Named(names), limits) => {
                numbers = Some(names.iter().zip(limits).map(number).collect());
            }
            SummedQuantity::NumbersWithLimits(..) => unreachable!("numbers have names"),
            SummedQuantity::BoundedVector(ball) => {
                vector = Some(SerializedSummedVector {
                    items: ball.items().clone(),
                    length: ball.max_length(),
                    seed: ball.frame_seed(),
                    spread: ball.coefficient_bound_factor(),
                });
            }
            SummedQuantity::CountedQuestions(own) => questions = Some(questions_to_file(own)),
        }
        Self {
            id: parts.id.clone(),
            trust: TrustedParty::Shuffler,
            epsilon: parts.central_epsilon,
            delta: parts.delta,
            people: parts.min_people,
            honest_fraction: parts.honest_fraction,
            numbers,
            vector,
            questions,
            messages: messages.map(SerializedMessageParameters::from),
            budget: parts.report_budget,
        }
    }
}

impl<'de> Deserialize<'de> for SumTaskDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = SerializedSumTask::deserialize(deserializer)?;
        Self::try_from(file).map_err(de::Error::custom)
    }
}

impl Serialize for SumTaskDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedSumTask::from_fields_and_messages(
            &self.task_fields,
            self.message_parameters.as_ref(),
        )
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SumTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let draft = SumTaskDraft::deserialize(deserializer)?;
        let missing = <D::Error as de::Error>::missing_field;
        let messages = draft
            .message_parameters
            .ok_or_else(|| missing("messages"))?;
        Self::new(draft.task_fields, messages).map_err(de::Error::custom)
    }
}

impl Serialize for SumTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedSumTask::from_fields_and_messages(
            self.task_fields(),
            Some(self.message_parameters()),
        )
        .serialize(serializer)
    }
}
