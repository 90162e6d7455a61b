//! Tasks whose sums are protected only by a shuffler.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::messages::{
    Message, MessageParameters, NoiseLottery, UnitStepParameters, message_bytes,
};
use super::summed_quantity::SummedQuantity;
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::fingerprint::Fingerprint;
use crate::task::ReportBudget;
use crate::task::items::check_task_id;

/// Fields of a [`SumTask`] except the parameters of its messages; not yet validated.
///
/// ```
/// use hushbin::sums::{SumTaskDraft, SumTaskFields};
///
/// let draft: SumTaskDraft = serde_json::from_str(r#"{
///     "id": "mood", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
///     "vector": { "items": ["calm", "glad"], "length": 1.0 }
/// }"#)?;
/// let SumTaskFields { min_people, honest_fraction, .. } = draft.task_fields;
/// assert_eq!((min_people, honest_fraction), (1000, 0.9));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SumTaskFields {
    /// Name of the task, a slug: 1 to 64 characters from a-z, 0-9 and '-'. The first one is a
    /// letter or digit.
    pub id: String,
    /// Quantity that is summed.
    pub summed_quantity: SummedQuantity,
    /// Central ε that protects one report, within [`bounds::EPSILON_RANGE`].
    pub central_epsilon: f64,
    /// Central δ, within [`bounds::DELTA_RANGE`].
    pub delta: f64,
    /// Minimum number of people in a batch, within [`bounds::PEOPLE_COUNT_RANGE`].
    pub min_people: u64,
    /// Assumed share of honest people in a batch of `people` people, above 0 and at most 1. The
    /// guarantee relies only on the noise of honest people.
    pub honest_fraction: f64,
    /// Budget of a person: one report in a window.
    pub report_budget: ReportBudget,
}

/// Task whose sums are protected only by a shuffler. The messages of one person reveal the answer
/// to anyone who can link the messages to that person. There is no local ε, and no method that
/// returns one.
///
/// A shuffled batch of `people` people is (ε, δ)-differentially private if the stated share of them
/// is honest. `hushbin_analysis` chooses the parameters of the messages accordingly, and can also
/// check them. This crate does not check them.
///
/// ```
/// use hushbin::sample::Threshold;
/// use hushbin::sums::{SummedQuantity, UnitStepParameters, SumTaskFields, SumTask};
/// use hushbin::task::{ReportBudget, NumberLimits};
///
/// let measure = SummedQuantity::from_numbers(
///     vec!["load-time".into()],
///     vec![NumberLimits::new(0.0, 10_000.0, Some("ms".into()))?],
/// )?;
/// let parts = SumTaskFields {
///     id: "timings".into(),
///     summed_quantity: measure,
///     central_epsilon: 1.0,
///     delta: 1e-6,
///     min_people: 10_000,
///     honest_fraction: 0.9,
///     report_budget: ReportBudget::default(),
/// };
/// let messages = UnitStepParameters::new(8, 1, 1, Threshold(1 << 57), 2)?;
/// let task = SumTask::new(parts, messages)?;
/// assert_eq!((task.honest_people_count(), task.message_count_range()), (9_000, 10..=10));
/// assert_eq!(SumTask::from_canonical_bytes(&task.canonical_bytes()), Ok(task));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SumTask {
    pub(super) task_fields: SumTaskFields,
    pub(super) message_parameters: MessageParameters,
    fingerprint: Fingerprint,
}

/// Name of the format, at the start of the canonical bytes. If the bytes contain a budget, it comes
/// before the name.
pub(super) const SUM_TASK_FORMAT_NAME: &str = "hushbin sum 1";

impl SumTask {
    /// Reads the task from the bytes that [`SumTask::canonical_bytes`] returns.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other bytes, and the errors of [`SumTask::new`].
    pub fn from_canonical_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let reader = &mut CanonicalReader::new(bytes);
        let read = read_fields_and_messages(reader)
            .and_then(|(parts, messages)| Self::build_validated_task(parts, messages, bytes));
        reader.finish_reading(read)
    }

    /// Validates the fields and builds the task. `bytes` are its canonical bytes.
    pub(super) fn build_validated_task(
        parts: SumTaskFields,
        messages: MessageParameters,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let combination = |reason| Err(error!(InvalidCombination { reason }));
        check_task_id(&parts.id)?;
        bounds::EPSILON_RANGE.check_in_range(parts.central_epsilon)?;
        bounds::DELTA_RANGE.check_in_range(parts.delta)?;
        bounds::PEOPLE_COUNT_RANGE.check_in_range(parts.min_people as f64)?;
        if !(parts.honest_fraction > 0.0 && parts.honest_fraction <= 1.0) {
            return combination("\"honest_fraction\" must be above 0, at most 1");
        }
        if parts.report_budget.max_reports != 1
            || parts.report_budget.memo.is_some()
            || parts.report_budget.cover.is_some()
        {
            return combination(
                "a budget of sums needs \"reports\" 1, no \"memo\" and no \"cover\"",
            );
        }
        match (&parts.summed_quantity, &messages) {
            (SummedQuantity::CountedQuestions(_), MessageParameters::Lottery(_)) => {}
            (SummedQuantity::CountedQuestions(_), _) | (_, MessageParameters::Lottery(_)) => {
                return combination(
                    "\"questions\" need \"messages\" with \"draws\", and \"numbers\" or a \
                     \"vector\" need \"levels\"",
                );
            }
            (measure, MessageParameters::UnitSteps(steps)) => {
                if steps.drawn_coordinate_count > measure.coordinate_count() {
                    return combination("\"drawn\" exceeds the number of coordinates");
                }
            }
        }
        if count_honest_people(&parts) < 2 {
            return combination("at least 2 of the \"people\" must be honest");
        }
        Ok(Self {
            task_fields: parts,
            message_parameters: messages,
            fingerprint: Fingerprint::hash_canonical_bytes(bytes),
        })
    }

    /// Fingerprint of all fields.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Quantity that is summed.
    #[must_use]
    pub const fn summed_quantity(&self) -> &SummedQuantity {
        &self.task_fields.summed_quantity
    }

    /// Parameters of the messages of one person.
    #[must_use]
    pub const fn message_parameters(&self) -> &MessageParameters {
        &self.message_parameters
    }

    /// Appends the encoded messages one after another. Each message is padded with zeros to the
    /// length of the task's longest message. All messages then have the same length, so the length
    /// of a sealed message reveals nothing.
    pub fn encode_padded(&self, messages: &[Message], bytes: &mut Vec<u8>) {
        let length = message_bytes(self.summed_quantity().largest_message_code());
        bytes.reserve(length * messages.len());
        for message in messages {
            let end = bytes.len() + length;
            message.encode(bytes);
            bytes.resize(end, 0);
        }
    }
}

/// Number of honest people n_h, rounded down.
pub(super) fn count_honest_people(parts: &SumTaskFields) -> u64 {
    // Rounded down: counting on less noise is the safe side.
    (parts.honest_fraction * parts.min_people as f64) as u64
}

fn read_fields_and_messages(
    reader: &mut CanonicalReader<'_>,
) -> Result<(SumTaskFields, MessageParameters), Error> {
    let mut form = reader.read_text();
    let budget = ReportBudget::read_canonical(&mut form, reader)?;
    reader.unwrap_or_mark_malformed((form == SUM_TASK_FORMAT_NAME).then_some(()))?;
    let id = reader.read_text().to_owned();
    let (epsilon, delta) = (reader.read_float(), reader.read_float());
    let (people, honest_fraction) = (reader.read_u64(), reader.read_float());
    let measure = SummedQuantity::read_canonical(reader)?;
    let messages = match measure {
        SummedQuantity::CountedQuestions(_) => {
            MessageParameters::Lottery(NoiseLottery::read_canonical(reader)?)
        }
        _ => MessageParameters::UnitSteps(UnitStepParameters::read_canonical(reader)?),
    };
    let parts = SumTaskFields {
        id,
        summed_quantity: measure,
        central_epsilon: epsilon,
        delta,
        min_people: people,
        honest_fraction,
        report_budget: budget,
    };
    Ok((parts, messages))
}
