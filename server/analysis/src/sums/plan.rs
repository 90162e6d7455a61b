//! Which messages a task takes, and what they cost and give.

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

/// Messages of one person at most, where they are chosen.
const MOST_MESSAGES: f64 = 512.0;

/// Messages of a batch, which its shuffler holds in memory to put them in another order.
pub const BATCH_MESSAGES: Bound = Bound {
    name: "messages of a batch",
    min: 2.0,
    max: 20_000_000.0,
};

/// Fewer messages are sent where they cost no more than this part of the least variance: an
/// eighth of the standard error.
const SPARED: f64 = 0.25;

/// The complete task of a draft: its messages are chosen, or checked where it has them.
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
/// Those of [`SumTask::new`]; [`Error::OutOfRange`] for messages with which a batch is not as
/// private as the draft says, for a batch of more than `BATCH_MESSAGES`, and where none are
/// private enough.
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

/// Bounds on ε of a batch at the task's δ.
///
/// # Errors
/// [`Error::OutOfRange`] for parameters that cannot be accounted for.
pub fn account_sums(task: &SumTask) -> Result<Bounds, Error> {
    senders(task).account(noise(task), task.delta())
}

/// Bounds on ε of a batch of so many people at this δ, whatever the task promises, where a part
/// `honest_fraction` of them is honest.
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

/// What is told of how many coordinates, in how many levels.
#[derive(Debug, Clone, Copy)]
struct Shape {
    drawn: u32,
    levels: u32,
    messages: f64,
    variance: f64,
}

/// The messages of least variance among those of 512 or fewer a person, or fewer that cost a
/// quarter of it at most.
///
/// Noise costs the same whatever L is, rounding falls with L², and of k of D coordinates both
/// grow, and drawing comes in: k < D only pays where messages run out.
fn choose(parts: &SumParts) -> Result<Messages, Error> {
    // What else the parts must be is checked with the least messages that there are.
    let least = Messages::new(1, 1, 1, Threshold(1), 0)?;
    let honest_people = SumTask::new(parts.clone(), least)?.honest_people();
    let most = MOST_MESSAGES.min(BATCH_MESSAGES.max / parts.people as f64);
    let mut shapes: Vec<Shape> = drawn(parts)
        .flat_map(|drawn| levels().map(move |levels| [drawn, levels]))
        .map(|[drawn, levels]| shape(parts, honest_people as f64, drawn, levels))
        .filter(|shape| shape.messages <= most)
        .collect();
    let least = shapes.iter().map(|shape| shape.variance);
    let least = least.fold(f64::INFINITY, f64::min);
    shapes.retain(|shape| shape.variance <= (1.0 + SPARED) * least);
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
            Ok(found) if f64::from(found.count()) <= most => return Ok(found),
            Ok(_) => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// All coordinates, and ever fewer of them.
fn drawn(parts: &SumParts) -> impl Iterator<Item = u32> {
    let all = parts.measure.coordinates();
    std::iter::successors(Some(all), |drawn| (*drawn > 1).then(|| drawn * 3 / 4))
}

/// 1, 2, 3, … and from 16 on in steps of an eighth.
fn levels() -> impl Iterator<Item = u32> {
    let most = bounds::SUM_LEVELS.max as u32;
    std::iter::successors(Some(1), move |levels| {
        let next = levels + (levels / 8).max(1);
        (next <= most).then_some(next)
    })
}

/// By the Gaussian limit.
fn shape(parts: &SumParts, honest: f64, drawn: u32, levels: u32) -> Shape {
    let (people, all) = (parts.people as f64, f64::from(parts.measure.coordinates()));
    let noise = gaussian_noise(drawn, levels, parts.epsilon, parts.delta);
    let sent = 2.0 * all * noise / honest;
    // A tail of 10⁻¹⁵ or so.
    let room = sent + 8.0 * sent.sqrt() + 10.0;
    let (lift, steps) = (all / f64::from(drawn), f64::from(levels));
    let of_noise = 2.0 * noise * people / honest * (lift / steps).powi(2);
    let rounding = lift * people / (4.0 * steps * steps);
    Shape {
        drawn,
        levels,
        messages: f64::from(drawn) * steps + room.min(2.0 * all * (4.0 * noise / honest).ceil()),
        variance: of_noise + rounding + (lift - 1.0) * people * square(&parts.measure),
    }
}

/// The square of a coordinate at most, on average over coordinates.
fn square(measure: &Measure) -> f64 {
    match measure {
        Measure::Box(..) => 1.0,
        // ‖v‖² ≤ 1 of an image twice as long at most, over D·A².
        Measure::Ball(ball) => (0.5 / ball.spread().powi(2)).min(1.0),
    }
}

/// The least noise that is enough.
fn messages(parts: &SumParts, honest_people: u64, shape: Shape) -> Result<Messages, Error> {
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

/// What a task costs those who answer and gives those who ask.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumPlan {
    /// The complete task.
    #[cfg_attr(feature = "wasm", tsify(type = "SumTaskFile"))]
    pub task: SumTask,
    /// What is promised, by whom.
    pub privacy: SumPrivacy,
    /// Bounds on ε of a batch at the task's δ.
    pub central_epsilon: Bounds,
    /// Messages that one person sends.
    pub messages: u32,
    /// Of these, messages of noise on average.
    pub noise_messages: f64,
    /// Bytes that one person sends, sealed.
    pub bytes: u64,
    /// Of the mean of each item, of a batch of the least people.
    pub errors: Vec<SumError>,
    /// How far dishonest people move sums.
    pub influence: Vec<SumInfluence>,
}

/// The standard error of a mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumError {
    /// What the item is called; `None` of a vector, whose items have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<crate::estimate::Label>,
    /// The unit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// Through the shuffler, at worst.
    pub standard_error: f64,
    /// Of reports that are (ε, 0)-private by themselves, with the same ε and as many people, at
    /// worst.
    pub local_standard_error: f64,
}

impl SumPlan {
    /// Of a complete task.
    ///
    /// # Errors
    /// As [`account_sums`].
    pub fn new(task: SumTask) -> Result<Self, Error> {
        let (messages, people) = (*task.messages(), task.people() as f64);
        let coordinates = f64::from(task.measure().coordinates());
        let sealed = (OVERHEAD + task.message_bytes()) as u64;
        let drawn = 2.0 * coordinates * f64::from(messages.trials());
        // A version, two identities and the number of messages, of at most 4096.
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

/// The variance of a sum of coordinates from −1 to 1 is the same of all; of the local model it is
/// that of as many numbers.
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

/// The task for numbers, each with its name and range, whose reports are (ε, 0)-private by
/// themselves.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::Combination`] where there is none.
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

/// The standard error of each of so many means from −1 to 1 under local ε.
fn local_deviation(numbers: u32, epsilon: f64, people: f64) -> Result<f64, Error> {
    let of = (0..numbers).map(|index| (index.to_string(), [-1.0, 1.0]));
    let task = local_task(of, epsilon)?;
    let variance = Predictor::for_question(&task.questions()[0]).worst_variance(Aim::Mean, false);
    Ok((variance.expect("numbers have means") / people).sqrt())
}
