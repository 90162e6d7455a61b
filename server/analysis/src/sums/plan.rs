//! Choice of a task's messages, and the predicted cost and accuracy.

use hushbin::bounds::{self, Bound};
use hushbin::sample::Threshold;
use hushbin::sealed::OVERHEAD;
use hushbin::sums::{Measure, Messages, SumDraft, SumParts, SumTask};
use hushbin::{Error, Task, TaskDraft};
use serde::Serialize;

use super::estimate::variance;
use super::influence::SumInfluence;
use super::items::{self, scale};
use crate::accounting::HONEST_FRACTION;
use crate::accounting::sums::{
    Bounds, NoiseMessages, Senders, calibrate, gaussian_noise, least_repeats,
};
use crate::estimate::{Aim, Predictor};
use crate::promise::SumPrivacy;

/// Maximum number of messages of one person, if the messages are chosen here.
const MOST_MESSAGES: f64 = 512.0;

/// Number of messages of a batch, which its shuffler holds in memory to reorder them.
pub const BATCH_MESSAGES: Bound = Bound {
    name: "messages of a batch",
    min: 2.0,
    max: 20_000_000.0,
};

/// Relative increase of the variance that is accepted for fewer messages: an eighth of the standard
/// error.
const SPARED: f64 = 0.25;

/// Returns the complete task of a draft: its messages are chosen, or checked if given.
///
/// ```
/// use hushbin::sums::SumDraft;
/// use hushbin_analysis::sums::resolve;
///
/// let draft: SumDraft = serde_json::from_str(r#"{
///     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 10000,
///     "numbers": [{ "name": "load-time", "min": 0, "max": 10000, "unit": "ms" }]
/// }"#).unwrap();
/// let task = resolve(&draft)?;
/// assert_eq!(resolve(&task.clone().into()), Ok(task));
/// # Ok::<(), hushbin::Error>(())
/// ```
///
/// # Errors
/// Those of [`SumTask::new`]; [`Error::OutOfRange`] for messages that do not give a batch the
/// privacy of the draft, for a batch of more than `BATCH_MESSAGES`, and if no messages are private
/// enough.
pub fn resolve(draft: &SumDraft) -> Result<SumTask, Error> {
    let messages = match draft.messages {
        Some(messages) => messages,
        None => choose(&draft.parts)?,
    };
    let task = SumTask::new(draft.parts.clone(), messages)?;
    BATCH_MESSAGES.check(task.batch_messages() as f64)?;
    let promised = Bound {
        name: "ε of the messages",
        min: 0.0,
        max: task.central_epsilon(),
    };
    promised.check(account_sums(&task)?.upper)?;
    Ok(task)
}

/// Returns bounds on ε of a batch at the task's δ.
///
/// # Errors
/// [`Error::OutOfRange`] for parameters that cannot be accounted for.
pub fn account_sums(task: &SumTask) -> Result<Bounds, Error> {
    senders(task).account(noise(task), task.delta())
}

/// Returns bounds on ε of a batch of this number of people at this δ, a fraction `honest_fraction`
/// of them honest. The task's own promise does not matter.
///
/// # Errors
/// [`Error::OutOfRange`].
pub fn account_people(
    task: &SumTask,
    people: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Bounds, Error> {
    HONEST_FRACTION.check(honest_fraction)?;
    let senders = Senders {
        honest_people: (honest_fraction * people as f64) as u64,
        ..senders(task)
    };
    senders.account(noise(task), delta)
}

fn senders(task: &SumTask) -> Senders {
    Senders {
        coordinates: task.measure().coordinates(),
        used: task.messages().drawn(),
        levels: task.messages().levels(),
        honest_people: task.honest_people(),
        repeats: task.messages().trials(),
    }
}

fn noise(task: &SumTask) -> NoiseMessages {
    NoiseMessages {
        threshold: task.messages().threshold().0,
        most: task.messages().noise().into(),
    }
}

/// Number of coordinates and levels of the messages, with predicted cost.
#[derive(Debug, Clone, Copy)]
struct MessageShape {
    /// Number k of coordinates that a person reports on.
    drawn: u32,
    /// Number of levels L.
    levels: u32,
    /// Approximate number of messages of a person.
    messages: f64,
    /// Predicted variance of a sum.
    variance: f64,
}

/// Returns the messages of least variance with at most 512 messages a person, or fewer messages if
/// these cost at most a quarter more variance.
///
/// Noise costs the same for all L, and rounding falls with L². If only k < D coordinates are drawn,
/// both grow and drawing adds its own variance. So k < D only helps if messages run out.
fn choose(parts: &SumParts) -> Result<Messages, Error> {
    // The smallest possible messages are used to check the other parts.
    let least = Messages::new(1, 1, 1, Threshold(1), 0)?;
    let honest_people = SumTask::new(parts.clone(), least)?.honest_people();
    let most = MOST_MESSAGES.min(BATCH_MESSAGES.max / parts.people as f64);
    let mut shapes: Vec<MessageShape> = drawn(parts)
        .flat_map(|drawn| levels().map(move |levels| [drawn, levels]))
        .map(|[drawn, levels]| shape(parts, honest_people as f64, drawn, levels))
        .filter(|shape| shape.messages <= most)
        .collect();
    let least = shapes.iter().map(|shape| shape.variance);
    let least = least.fold(f64::INFINITY, f64::min);
    shapes.retain(|shape| shape.variance <= (1.0 + SPARED) * least);
    // The fewest messages come first.
    shapes.sort_by(|one, other| one.messages.total_cmp(&other.messages));
    let none = || Error::OutOfRange {
        name: "messages of one person",
        value: shape(parts, honest_people as f64, 1, 1).messages.ceil(),
        min: 1.0,
        max: most,
    };
    let mut last = none();
    for shape in shapes {
        match messages(parts, honest_people, shape) {
            // The exact noise may need more messages than the Gaussian limit predicted.
            Ok(found) if f64::from(found.count()) <= most => return Ok(found),
            Ok(_) => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns numbers of drawn coordinates: all, then three quarters of the previous number each.
fn drawn(parts: &SumParts) -> impl Iterator<Item = u32> {
    let all = parts.measure.coordinates();
    std::iter::successors(Some(all), |drawn| (*drawn > 1).then(|| drawn * 3 / 4))
}

/// Returns numbers of levels: 1, 2, 3, … and from 16 on in steps of an eighth.
fn levels() -> impl Iterator<Item = u32> {
    let most = bounds::SUM_LEVELS.max as u32;
    std::iter::successors(Some(1), move |levels| {
        let next = levels + (levels / 8).max(1);
        (next <= most).then_some(next)
    })
}

/// Predicts the cost of a shape by the Gaussian limit of the noise.
fn shape(parts: &SumParts, honest: f64, drawn: u32, levels: u32) -> MessageShape {
    let (people, all) = (parts.people as f64, f64::from(parts.measure.coordinates()));
    let noise = gaussian_noise(drawn, levels, parts.epsilon, parts.delta);
    let sent = 2.0 * all * noise / honest;
    // Eight standard deviations and 10 more leave a tail of about 10⁻¹⁵.
    let room = sent + 8.0 * sent.sqrt() + 10.0;
    let (lift, steps) = (all / f64::from(drawn), f64::from(levels));
    let of_noise = 2.0 * noise * people / honest * (lift / steps).powi(2);
    let rounding = lift * people / (4.0 * steps * steps);
    MessageShape {
        drawn,
        levels,
        messages: f64::from(drawn) * steps + room.min(2.0 * all * (4.0 * noise / honest).ceil()),
        variance: of_noise + rounding + (lift - 1.0) * people * square(&parts.measure),
    }
}

/// Returns the maximum square of a coordinate, on average over coordinates.
fn square(measure: &Measure) -> f64 {
    match measure {
        Measure::Box(..) => 1.0,
        // ‖v‖² ≤ 1 over D·A² = 2C²: the image of v has D = 2d coordinates.
        Measure::Ball(ball) => (0.5 / ball.spread().powi(2)).min(1.0),
    }
}

/// Returns the messages of a shape with the least noise that suffices.
fn messages(parts: &SumParts, honest_people: u64, shape: MessageShape) -> Result<Messages, Error> {
    let one = Senders {
        coordinates: parts.measure.coordinates(),
        used: shape.drawn,
        levels: shape.levels,
        honest_people,
        repeats: 1,
    };
    let senders = least_repeats(&one, parts.epsilon, parts.delta)?;
    let found = calibrate(&senders, parts.epsilon, parts.delta)?;
    let noise = u32::try_from(found.noise.most).unwrap_or(u32::MAX);
    Messages::new(
        shape.levels,
        shape.drawn,
        senders.repeats,
        Threshold(found.noise.threshold),
        noise,
    )
}

/// Cost of a task for the people who answer, and its accuracy for the analyst.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumPlan {
    /// Complete task.
    #[cfg_attr(feature = "wasm", tsify(type = "SumTaskFile"))]
    pub task: SumTask,
    /// Promise about privacy, and the parties that it relies on.
    pub privacy: SumPrivacy,
    /// Bounds on ε of a batch at the task's δ.
    pub central_epsilon: Bounds,
    /// Number of messages that one person sends.
    pub messages: u32,
    /// Mean number of noise messages among these.
    pub noise_messages: f64,
    /// Number of bytes that one person sends, sealed.
    pub bytes: u64,
    /// Errors of the mean of each item, for a batch of the minimum size.
    pub errors: Vec<SumError>,
    /// Influence of dishonest people on sums.
    pub influence: Vec<SumInfluence>,
}

/// Standard error of a mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumError {
    /// Label of the item; `None` for a vector, whose items all have the same error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<crate::estimate::Label>,
    /// Unit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// Standard error through the shuffler, in the worst case.
    pub standard_error: f64,
    /// Standard error of (ε, 0)-locally private reports with the same ε and number of people, in
    /// the worst case.
    pub local_standard_error: f64,
}

impl SumPlan {
    /// Returns the plan of a complete task.
    ///
    /// # Errors
    /// As [`account_sums`].
    pub fn new(task: SumTask) -> Result<Self, Error> {
        let (messages, people) = (*task.messages(), task.people() as f64);
        let coordinates = f64::from(task.measure().coordinates());
        let sealed = (OVERHEAD + task.message_bytes()) as u64;
        let drawn = 2.0 * coordinates * f64::from(messages.trials());
        // The header consists of a version, two identities and the number of messages, at most
        // 4096.
        let header = 33 + u64::from(1 + u32::from(messages.count() > 127));
        Ok(Self {
            privacy: SumPrivacy::for_task(&task),
            central_epsilon: account_sums(&task)?,
            messages: messages.count(),
            noise_messages: drawn * messages.threshold().probability(),
            bytes: header + sealed * u64::from(messages.count()),
            errors: errors(&task, people)?,
            influence: SumInfluence::of(&task, people),
            task,
        })
    }
}

/// Predicts the errors of all items.
///
/// The variance of a sum of coordinates from −1 to 1 is the same for all items. The local model is
/// compared with a task for the same number of numbers.
fn errors(task: &SumTask, people: f64) -> Result<Vec<SumError>, Error> {
    let measure = task.measure();
    let squares = people * square(measure);
    let deviation = variance(task, people, squares).sqrt() / people;
    let items = measure.items().count().unwrap_or(0);
    let local = local_deviation(items, task.central_epsilon(), people)?;
    let of = |item, unit, half: f64, coordinate: f64| SumError {
        item,
        unit,
        standard_error: half * coordinate * deviation,
        local_standard_error: half * local,
    };
    Ok(match measure {
        Measure::Box(items, limits) => {
            let number = |(index, own): (usize, &hushbin::task::Limits)| {
                let unit = own.unit().map(str::to_owned);
                let item = items::label(items, index);
                of(Some(item), unit, scale(task, index).half, 1.0)
            };
            limits.iter().enumerate().map(number).collect()
        }
        Measure::Ball(ball) => vec![of(None, None, ball.length(), ball.bound())],
    })
}

/// Returns the task for numbers with these names and ranges, whose reports are (ε, 0)-locally
/// private.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::Combination`] if there is none.
pub fn local_task(
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
    let draft = serde_json::json!({
        "id": "local",
        "epsilon": epsilon,
        "questions": [question],
    });
    let draft: TaskDraft = serde_json::from_value(draft).expect("a draft is written as it is read");
    draft.resolve()
}

/// Returns the standard error of each of `numbers` means from −1 to 1 under local ε.
fn local_deviation(numbers: u32, epsilon: f64, people: f64) -> Result<f64, Error> {
    let of = (0..numbers).map(|index| (index.to_string(), [-1.0, 1.0]));
    let task = local_task(of, epsilon)?;
    let variance = Predictor::for_question(&task.questions()[0]).worst_variance(Aim::Mean, false);
    Ok((variance.expect("numbers have means") / people).sqrt())
}
