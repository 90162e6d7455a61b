//! Choice of the message parameters of a sum task, and its predicted cost and accuracy.

use hushbin::bounds::{self, ParameterRange};
use hushbin::sample::Threshold;
use hushbin::sealed::SEALING_OVERHEAD_BYTES;
use hushbin::sums::{SumTask, SumTaskDraft, SumTaskFields, SummedQuantity, UnitStepParameters};
use hushbin::{Error, Task, TaskDraft};
use serde::Serialize;

use super::counted::{CountedTask, choose_lottery, lottery_batch};
use super::estimate::coordinate_sum_variance;
use super::influence::SumInfluence;
use super::items::{self, answer_scale, unit_steps};
use crate::accounting::checked_honest_report_count;
use crate::accounting::shuffled_sums::{
    NoiseParameters, ProvenBounds, SenderBatch, calibrate_noise, required_gaussian_variance,
    senders_with_fewest_noise_trials,
};
use crate::estimate::{ErrorPredictor, PredictedQuantity};
use crate::promise::SumPrivacy;

/// Maximum number of messages per person, if the message parameters are chosen here.
const MAX_MESSAGES_PER_PERSON: f64 = 512.0;

/// Permitted number of messages in a batch. The analyser keeps the id of each message in memory until
/// the batch is released, about 50 bytes.
pub const BATCH_MESSAGE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "messages of a batch",
    min: 2.0,
    max: 100_000_000.0,
};

/// Maximum number of messages in a batch, if the message parameters are chosen here. It limits what
/// pages send.
const MAX_CHOSEN_BATCH_MESSAGES: f64 = 20_000_000.0;

/// Relative increase of the variance that is accepted for fewer messages. It increases the standard
/// error by about an eighth.
const ACCEPTED_VARIANCE_INCREASE: f64 = 0.25;

/// Completes a draft of a sum task. Its message parameters are chosen, or checked if they are
/// given.
///
/// ```
/// use hushbin::sums::SumTaskDraft;
/// use hushbin_analysis::sums::resolve_sum_draft;
///
/// let draft: SumTaskDraft = serde_json::from_str(r#"{
///     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
///     "numbers": [{ "name": "load-time", "min": 0, "max": 10000, "unit": "ms" }]
/// }"#).unwrap();
/// let task = resolve_sum_draft(&draft)?;
/// assert_eq!(resolve_sum_draft(&task.clone().into()), Ok(task));
/// # Ok::<(), hushbin::Error>(())
/// ```
///
/// # Errors
/// The errors of [`SumTask::new`]. [`Error::OutOfRange`] if the given message parameters do not
/// provide the privacy of the draft, if a batch has more messages than
/// [`BATCH_MESSAGE_COUNT_RANGE`] permits, or if no parameters provide that privacy.
pub fn resolve_sum_draft(draft: &SumTaskDraft) -> Result<SumTask, Error> {
    let fields = &draft.task_fields;
    let messages = match (
        draft.message_parameters,
        fields.summed_quantity.counted_questions(),
    ) {
        (Some(messages), _) => messages,
        (None, Some(questions)) => choose_lottery(fields, questions)?.into(),
        (None, None) => choose_message_parameters(fields)?.into(),
    };
    let task = SumTask::new(draft.task_fields.clone(), messages)?;
    BATCH_MESSAGE_COUNT_RANGE.check_in_range(task.min_batch_messages() as f64)?;
    let promised = ParameterRange {
        name: "ε of the messages",
        min: 0.0,
        max: task.central_epsilon(),
    };
    promised.check_in_range(central_epsilon_bounds(&task)?.upper)?;
    Ok(task)
}

/// Returns bounds on the central ε of a batch at the task's δ.
///
/// # Errors
/// [`Error::OutOfRange`] if a parameter is outside the range of the accounting.
pub fn central_epsilon_bounds(task: &SumTask) -> Result<ProvenBounds, Error> {
    epsilon_bounds_for_honest_people(task, task.honest_people_count(), task.delta())
}

/// Returns bounds on the central ε of a batch of `people` people at `delta`. A fraction
/// `honest_fraction` of the people is honest. The arguments replace the task's number of people,
/// honest fraction and δ.
///
/// # Errors
/// [`Error::OutOfRange`] if a parameter is outside the range of the accounting.
pub fn epsilon_bounds_for_people(
    task: &SumTask,
    people: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<ProvenBounds, Error> {
    let honest_people = checked_honest_report_count(people, honest_fraction)?;
    epsilon_bounds_for_honest_people(task, honest_people, delta)
}

fn epsilon_bounds_for_honest_people(
    task: &SumTask,
    honest_people: u64,
    delta: f64,
) -> Result<ProvenBounds, Error> {
    if let Some(counted) = CountedTask::of_task(task) {
        let batch = lottery_batch(counted.questions, honest_people);
        return batch.epsilon_bounds(counted.noise(), delta);
    }
    let senders = SenderBatch {
        honest_people,
        ..sender_batch_of_task(task)
    };
    senders.epsilon_bounds(noise_parameters_of_task(task), delta)
}

fn sender_batch_of_task(task: &SumTask) -> SenderBatch {
    let messages = unit_steps(task);
    SenderBatch {
        coordinates: task.summed_quantity().coordinate_count(),
        used: messages.drawn_coordinate_count(),
        levels: messages.messages_per_unit(),
        honest_people: task.honest_people_count(),
        repeats: messages.noise_trial_count(),
    }
}

fn noise_parameters_of_task(task: &SumTask) -> NoiseParameters {
    NoiseParameters {
        threshold: unit_steps(task).noise_threshold().0,
        most: unit_steps(task).max_noise_messages().into(),
    }
}

/// Candidate for the message parameters: numbers of coordinates and levels, with predicted cost.
#[derive(Debug, Clone, Copy)]
struct MessageCandidate {
    /// Number k of coordinates that a person reports.
    drawn_coordinate_count: u32,
    /// Number of levels L.
    level_count: u32,
    /// Approximate number of messages per person.
    messages_per_person: f64,
    /// Predicted variance of the estimated sum of one coordinate.
    predicted_sum_variance: f64,
}

/// Chooses the message parameters. The variance is the smallest that is possible with at most 512
/// messages per person, or up to a quarter larger if that saves messages.
///
/// Let D be the number of coordinates, of which a person reports k, and L the number of levels. The
/// variance from noise messages is the same for all L. The variance from rounding decreases with
/// L². If k < D, both increase, and drawing adds variance. So k < D is useful only if all D
/// coordinates would need too many messages.
fn choose_message_parameters(parts: &SumTaskFields) -> Result<UnitStepParameters, Error> {
    // Check the other parts of the draft with the smallest possible messages.
    let least = UnitStepParameters::new(1, 1, 1, Threshold(1), 0)?;
    let honest_people = SumTask::new(parts.clone(), least)?.honest_people_count();
    let most = MAX_MESSAGES_PER_PERSON.min(MAX_CHOSEN_BATCH_MESSAGES / parts.min_people as f64);
    let mut shapes: Vec<MessageCandidate> = coordinate_counts_to_try(parts)
        .flat_map(|drawn| level_counts_to_try().map(move |levels| [drawn, levels]))
        .map(|[drawn, levels]| {
            predict_message_candidate(parts, honest_people as f64, drawn, levels)
        })
        .filter(|shape| shape.messages_per_person <= most)
        .collect();
    let least = shapes.iter().map(|shape| shape.predicted_sum_variance);
    let least = least.fold(f64::INFINITY, f64::min);
    shapes
        .retain(|shape| shape.predicted_sum_variance <= (1.0 + ACCEPTED_VARIANCE_INCREASE) * least);
    // Try the candidates with the fewest messages first.
    shapes.sort_by(|one, other| {
        one.messages_per_person
            .total_cmp(&other.messages_per_person)
    });
    let none = || Error::OutOfRange {
        name: "messages of one person",
        value: predict_message_candidate(parts, honest_people as f64, 1, 1)
            .messages_per_person
            .ceil(),
        min: 1.0,
        max: most,
    };
    let mut last = none();
    for shape in shapes {
        match min_noise_message_parameters(parts, honest_people, shape) {
            // The exact noise may need more messages than the Gaussian limit predicts.
            Ok(found) if f64::from(found.message_count()) <= most => return Ok(found),
            Ok(_) => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the numbers k of reported coordinates to try: all, then each three quarters of the
/// previous one.
fn coordinate_counts_to_try(parts: &SumTaskFields) -> impl Iterator<Item = u32> {
    let all = parts.summed_quantity.coordinate_count();
    std::iter::successors(Some(all), |drawn| (*drawn > 1).then(|| drawn * 3 / 4))
}

/// Returns the numbers of levels to try: 1, 2, 3, …, and from 16 on in steps of about an eighth of
/// the previous number.
fn level_counts_to_try() -> impl Iterator<Item = u32> {
    let most = bounds::SUM_LEVEL_COUNT_RANGE.max as u32;
    std::iter::successors(Some(1), move |levels| {
        let next = levels + (levels / 8).max(1);
        (next <= most).then_some(next)
    })
}

/// Returns the candidate in which a person reports `drawn` coordinates, each with `levels` levels.
/// Its cost is predicted from the Gaussian limit of the noise. `honest` is the number of honest
/// people.
fn predict_message_candidate(
    parts: &SumTaskFields,
    honest: f64,
    drawn: u32,
    levels: u32,
) -> MessageCandidate {
    let (people, all) = (
        parts.min_people as f64,
        f64::from(parts.summed_quantity.coordinate_count()),
    );
    let noise = required_gaussian_variance(drawn, levels, parts.central_epsilon, parts.delta);
    let sent = 2.0 * all * noise / honest;
    // A cap of eight standard deviations plus 10 above the mean is exceeded with a probability of
    // about 10⁻¹⁵.
    let room = sent + 8.0 * sent.sqrt() + 10.0;
    let (lift, steps) = (all / f64::from(drawn), f64::from(levels));
    let of_noise = 2.0 * noise * people / honest * (lift / steps).powi(2);
    let rounding = lift * people / (4.0 * steps * steps);
    MessageCandidate {
        drawn_coordinate_count: drawn,
        level_count: levels,
        messages_per_person: f64::from(drawn) * steps
            + room.min(2.0 * all * (4.0 * noise / honest).ceil()),
        predicted_sum_variance: of_noise
            + rounding
            + (lift - 1.0) * people * max_coordinate_mean_square(&parts.summed_quantity),
    }
}

/// Returns the maximum mean square of the coordinates of one person.
fn max_coordinate_mean_square(measure: &SummedQuantity) -> f64 {
    match measure {
        SummedQuantity::NumbersWithLimits(..) | SummedQuantity::CountedQuestions(_) => 1.0,
        // This is ‖v‖² ≤ 1 divided by D·A² = 2C², because the image of the vector v has D = 2d
        // coordinates.
        SummedQuantity::BoundedVector(ball) => {
            (0.5 / ball.coefficient_bound_factor().powi(2)).min(1.0)
        }
    }
}

/// Computes the message parameters of a candidate, with the smallest noise that suffices.
fn min_noise_message_parameters(
    parts: &SumTaskFields,
    honest_people: u64,
    shape: MessageCandidate,
) -> Result<UnitStepParameters, Error> {
    let one = SenderBatch {
        coordinates: parts.summed_quantity.coordinate_count(),
        used: shape.drawn_coordinate_count,
        levels: shape.level_count,
        honest_people,
        repeats: 1,
    };
    let senders = senders_with_fewest_noise_trials(&one, parts.central_epsilon, parts.delta)?;
    let found = calibrate_noise(&senders, parts.central_epsilon, parts.delta)?;
    let noise = u32::try_from(found.noise.most).unwrap_or(u32::MAX);
    UnitStepParameters::new(
        shape.level_count,
        shape.drawn_coordinate_count,
        senders.repeats,
        Threshold(found.noise.threshold),
        noise,
    )
}

/// Plan of a sum task: its cost for the people who answer, and its privacy and accuracy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumPlan {
    /// Complete task.
    #[cfg_attr(feature = "wasm", tsify(type = "SumTaskFile"))]
    pub task: SumTask,
    /// Privacy guarantee of the task, and the parties on which it relies.
    pub privacy: SumPrivacy,
    /// Bounds on the central ε of a batch at the task's δ.
    pub central_epsilon: ProvenBounds,
    /// Maximum number of messages that one person sends.
    pub messages: u32,
    /// Mean number of messages that one person sends. It differs from the maximum only for
    /// questions without blank messages.
    pub mean_messages: f64,
    /// Mean number of noise messages among the messages of one person.
    pub noise_messages: f64,
    /// Maximum number of bytes of one person's upload, in encrypted form.
    pub bytes: u64,
    /// True if the means are shares of people, because options are counted.
    pub are_shares: bool,
    /// Mean number of bytes of one person's upload.
    pub mean_bytes: f64,
    /// Standard errors of the mean of each item, for a batch of the minimum size.
    pub errors: Vec<PredictedMeanError>,
    /// Influence of dishonest people on sums.
    pub influence: Vec<SumInfluence>,
}

/// Standard error of the mean of one item, or of its share of people if it is counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct PredictedMeanError {
    /// Label of the item. `None` for a vector or counted questions, whose items all have the same
    /// error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<crate::estimate::ItemLabel>,
    /// Unit of the errors, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// Standard error if messages go through the shuffler, in the worst case over answers.
    pub standard_error: f64,
    /// Standard error that locally private reports would have with the same ε and number of people,
    /// in the worst case over answers.
    pub local_standard_error: f64,
}

impl SumPlan {
    /// Creates the plan of a complete task.
    ///
    /// # Errors
    /// The errors of [`central_epsilon_bounds`] and [`local_numbers_task`].
    pub fn new(task: SumTask) -> Result<Self, Error> {
        let people = task.min_people() as f64;
        let messages = *task.message_count_range().end();
        let sealed = (SEALING_OVERHEAD_BYTES + task.longest_message_bytes()) as u64;
        // The header consists of a version byte, two ids and the number of messages, at most 4096.
        let header = 33 + u64::from(1 + u32::from(messages > 127));
        let noise_messages = mean_noise_messages(&task);
        let fewest = *task.message_count_range().start();
        let mean_messages = match fewest == messages {
            true => f64::from(messages),
            // Own messages are the fewest that a person sends. Each draw adds at most one message.
            false => f64::from(fewest) + noise_messages,
        };
        Ok(Self {
            privacy: SumPrivacy::for_task(&task),
            central_epsilon: central_epsilon_bounds(&task)?,
            messages,
            mean_messages,
            noise_messages,
            bytes: header + sealed * u64::from(messages),
            are_shares: task.summed_quantity().counted_questions().is_some(),
            // Few uploads have more than 127 messages and others fewer, so the header is exact to
            // a byte.
            mean_bytes: header as f64 + sealed as f64 * mean_messages,
            errors: predict_mean_errors(&task, people)?,
            influence: SumInfluence::for_task(&task, people),
            task,
        })
    }
}

/// Returns the mean number of noise messages of one person.
fn mean_noise_messages(task: &SumTask) -> f64 {
    if let Some(counted) = CountedTask::of_task(task) {
        return f64::from(counted.lottery.draws()) * counted.lottery.probability();
    }
    let messages = unit_steps(task);
    let coordinates = f64::from(task.summed_quantity().coordinate_count());
    let trials = 2.0 * coordinates * f64::from(messages.noise_trial_count());
    trials * messages.noise_threshold().probability()
}

/// Predicts the errors of all items.
///
/// All options, flags or bins have the same error. On the scale from −1 to 1, the variance of a sum is the same for all items. The error under
/// local privacy is the error of a task that asks for as many numbers as there are items.
fn predict_mean_errors(task: &SumTask, people: f64) -> Result<Vec<PredictedMeanError>, Error> {
    if let Some(counted) = CountedTask::of_task(task) {
        return Ok(vec![PredictedMeanError {
            item: None,
            unit: None,
            standard_error: counted.share_error(people),
            local_standard_error: counted.local_share_error(task.central_epsilon(), people)?,
        }]);
    }
    let measure = task.summed_quantity();
    let squares = people * max_coordinate_mean_square(measure);
    let deviation = coordinate_sum_variance(task, people, squares).sqrt() / people;
    let items = measure.items().item_count().unwrap_or(0);
    let local = local_standard_error(items, task.central_epsilon(), people)?;
    let of = |item, unit, half: f64, coordinate: f64| PredictedMeanError {
        item,
        unit,
        standard_error: half * coordinate * deviation,
        local_standard_error: half * local,
    };
    Ok(match measure {
        SummedQuantity::NumbersWithLimits(items, limits) => {
            let number = |(index, own): (usize, &hushbin::task::NumberLimits)| {
                let unit = own.unit().map(str::to_owned);
                let item = items::item_label(items, index);
                of(Some(item), unit, answer_scale(task, index).half_range, 1.0)
            };
            limits.iter().enumerate().map(number).collect()
        }
        SummedQuantity::BoundedVector(ball) => {
            vec![of(None, None, ball.max_length(), ball.coefficient_bound())]
        }
        SummedQuantity::CountedQuestions(_) => Vec::new(),
    })
}

/// Creates a task for numbers with these names and ranges. Reports of the task are randomised at
/// local ε.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if there is no such task.
pub fn local_numbers_task(
    numbers: impl Iterator<Item = (String, [f64; 2])>,
    epsilon: f64,
) -> Result<Task, Error> {
    let of: Vec<_> = numbers
        .map(|(name, [min, max])| serde_json::json!({ "name": name, "min": min, "max": max }))
        .collect();
    let mut question = match &of[..] {
        [one] => serde_json::json!({ "kind": "number", "min": one["min"], "max": one["max"] }),
        _ => serde_json::json!({ "kind": "numbers", "of": of }),
    };
    question["name"] = "numbers".into();
    local_task(&question, epsilon)
}

/// Creates a task for the choice of one of these options. Reports of the task are randomised at
/// local ε.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if there is no such task.
pub fn local_choice_task(options: &[String], epsilon: f64) -> Result<Task, Error> {
    let question = serde_json::json!({ "name": "choice", "kind": "choice", "options": options });
    local_task(&question, epsilon)
}

/// Creates a task of one question, whose reports are randomised at local ε.
fn local_task(question: &serde_json::Value, epsilon: f64) -> Result<Task, Error> {
    let draft = serde_json::json!({ "id": "local", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(draft).expect("a draft is written as it is read");
    draft.resolve_task()
}

/// Returns the standard error of each mean if `numbers` numbers from −1 to 1 are reported at local
/// ε.
fn local_standard_error(numbers: u32, epsilon: f64, people: f64) -> Result<f64, Error> {
    let of = (0..numbers).map(|index| (index.to_string(), [-1.0, 1.0]));
    let task = local_numbers_task(of, epsilon)?;
    let variance = ErrorPredictor::for_question(&task.questions()[0])
        .max_contribution_variance(PredictedQuantity::Mean, false);
    Ok((variance.expect("numbers have means") / people).sqrt())
}
