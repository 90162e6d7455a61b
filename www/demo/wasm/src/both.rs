//! The same people, asked the same numbers twice: by reports that are private by themselves, and
//! by messages that a shuffler hides.

use hushbin::sums::{Measure, Message, SumRandomizer, SumTask};
use hushbin::{Entry, Error, Randomizer, Task, Upload, UploadId};
use rand_core::CryptoRng;
use serde::Serialize;

use super::estimate::lift;
use super::plan::local_draft;
use super::{SumEstimates, SumQuery, SumTotals, label, scale};
use crate::estimate::{Estimate, Estimator, Label, Options, Query, Totals};
use crate::explain::{AnswerExplainer, Meaning};
use crate::promise::{Privacy, SumPrivacy};

/// People of whom both is simulated, with what they answered.
///
/// ```
/// use hushbin::sums::SumTask;
/// use hushbin_analysis::sums::BothWays;
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// # let task: SumTask = serde_json::from_str(r#"{
/// #     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
/// #     "numbers": [{ "name": "load", "min": 0, "max": 10 }],
/// #     "messages": { "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904",
/// #         "noise": 2 }
/// # }"#).unwrap();
/// let mut both = BothWays::new(&task)?;
/// // A test's generator; a page's is seeded by the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// both.add(&[10.0, 0.0, 5.0], &mut rng)?;
/// let found = both.estimates(0.95);
/// assert_eq!((found.people, found.items[0].truth), (3, 5.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug)]
pub struct BothWays {
    task: SumTask,
    sums: SumTotals,
    randomizer: SumRandomizer,
    messages: Vec<Message>,
    estimator: Estimator,
    totals: Totals,
    locally: Randomizer,
    entries: Vec<Entry>,
    /// Of people's numbers, as they count.
    truths: Vec<f64>,
    people: u64,
}

/// What is promised by either.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct BothPromises {
    /// Of one report, whoever sees it.
    pub local_epsilon: f64,
    /// What that means.
    pub local_statement: String,
    /// Of a batch.
    pub shuffled: SumPrivacy,
    /// Messages of one person.
    pub messages: u32,
}

/// The means of people's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct BothEstimates {
    /// How many were asked.
    pub people: u64,
    /// Whether they are as many as a batch through the shuffler has at least.
    pub enough: bool,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// By number.
    pub items: Vec<BothEstimate>,
}

/// The mean of a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct BothEstimate {
    /// What it is called.
    #[cfg_attr(feature = "wasm", tsify(type = "string"))]
    pub item: Label,
    /// The unit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// The least and the greatest that it may be.
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub range: [f64; 2],
    /// What it is, of these people.
    pub truth: f64,
    /// By reports that are private by themselves.
    pub local: Estimate,
    /// Through the shuffler.
    pub shuffled: Estimate,
}

/// What one person sends for the same answer either way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct BothSent {
    /// The bytes of the report.
    pub report: Vec<u8>,
    /// What these tell of each number.
    pub told: Vec<Meaning>,
    /// The greatest likelihood ratio of any report: exp(ε).
    pub most: f64,
    /// The messages, in the order in which they are sent.
    pub messages: Vec<SentMessage>,
    /// What whoever links them reads.
    pub read: Vec<Reading>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct SentMessage {
    /// Which number it is about; none of a blank one.
    #[cfg_attr(feature = "wasm", tsify(type = "string | null"))]
    pub item: Option<Label>,
    /// Whether it says up.
    pub up: bool,
}

/// A number, and what the messages of the person say of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Reading {
    /// What it is called.
    #[cfg_attr(feature = "wasm", tsify(type = "string"))]
    pub item: Label,
    /// The answer.
    pub answered: f64,
    /// Messages up, and down.
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub counts: [u64; 2],
    /// The answer that is likeliest by these, noise being as likely up as down.
    pub read: f64,
    /// By so much noise and rounding move it: a standard deviation, of rounding at worst.
    pub give: f64,
}

impl BothWays {
    /// Nobody yet; reports have the task's ε.
    ///
    /// # Errors
    /// [`Error::Combination`] of a task for a vector.
    pub fn new(task: &SumTask) -> Result<Self, Error> {
        let local = local_task(task)?;
        Ok(Self {
            sums: SumTotals::new(task),
            randomizer: SumRandomizer::new(task),
            messages: Vec::new(),
            totals: Totals::new(&local),
            locally: Randomizer::new(&local),
            estimator: Estimator::for_task(local),
            entries: Vec::new(),
            truths: vec![0.0; task.measure().coordinates() as usize],
            people: 0,
            task: task.clone(),
        })
    }

    /// What is promised by either.
    #[must_use]
    pub fn promises(&self) -> BothPromises {
        let local = Privacy::for_task(self.estimator.task());
        BothPromises {
            local_epsilon: local.effective_epsilon,
            local_statement: local.statement,
            shuffled: SumPrivacy::for_task(&self.task),
            messages: self.task.messages().count(),
        }
    }

    /// Asks people whose answers lie back to back, a number for each item.
    ///
    /// # Errors
    /// Those of [`SumRandomizer::randomize`], and [`Error::AnswerCount`] for answers that are not
    /// whole; those before the first that is wrong have been asked.
    pub fn add<R: CryptoRng>(&mut self, answers: &[f64], rng: &mut R) -> Result<(), Error> {
        for answer in answers.chunks(self.truths.len()) {
            self.randomizer.randomize(answer, rng, &mut self.messages)?;
            self.entries.clear();
            for ((item, own), truth) in answer.iter().enumerate().zip(&mut self.truths) {
                let value = clipped(&self.task, item, *own);
                let item = item as u64;
                self.entries.push(Entry { item, value });
                *truth += value;
            }
            let made = self.locally.randomize(&self.entries, rng)?;
            self.totals.fold(&made.report);
            self.messages.iter().for_each(|own| self.sums.fold(*own));
            self.people += 1;
        }
        Ok(())
    }

    /// What one person would send, who is not counted.
    ///
    /// # Errors
    /// As [`BothWays::add`].
    pub fn sent<R: CryptoRng>(&self, answer: &[f64], rng: &mut R) -> Result<BothSent, Error> {
        let mut messages = Vec::new();
        self.randomizer
            .clone()
            .randomize(answer, rng, &mut messages)?;
        let mut totals = SumTotals::new(&self.task);
        messages.iter().for_each(|own| totals.fold(*own));
        let own = self.task.messages();
        let (lift, levels) = (lift(&self.task), f64::from(own.levels()));
        let q = own.threshold().probability();
        let noise = 2.0 * f64::from(own.trials()) * q * own.threshold().complement();
        let items = self.task.measure().items();
        let reading = |(item, &answered): (usize, &f64)| {
            let (counts, scale) = (totals.counts(item), scale(&self.task, item));
            let level = scale.half * lift / levels;
            let up = counts[0] as f64 - counts[1] as f64;
            Reading {
                item: label(items, item),
                answered,
                counts,
                read: scale.middle + level * up,
                give: level * (noise + 0.25).sqrt(),
            }
        };
        let message = |message: &Message| match *message {
            Message::Blank => SentMessage {
                item: None,
                up: false,
            },
            Message::Unit {
                coordinate,
                negative,
            } => SentMessage {
                item: Some(label(items, coordinate as usize)),
                up: !negative,
            },
        };
        let value = |(item, own): (usize, &f64)| Entry {
            item: item as u64,
            value: clipped(&self.task, item, *own),
        };
        let entries: Vec<Entry> = answer.iter().enumerate().map(value).collect();
        let made = self.locally.clone().randomize(&entries, rng)?;
        let task = self.estimator.task();
        let upload = Upload {
            id: UploadId([0; 16]),
            reports: vec![made.report],
        };
        let bytes = upload.encode(&task.fingerprint());
        let told = AnswerExplainer::new(task)
            .and_then(|explainer| explainer.told(&bytes, &[&entries]))
            .expect("reports of numbers are explained");
        let mut report = Vec::new();
        upload.reports[0].encode(&mut report);
        Ok(BothSent {
            report,
            told: told.meanings,
            most: told.ratios[1],
            messages: messages.iter().map(message).collect(),
            read: answer.iter().enumerate().map(reading).collect(),
        })
    }

    /// The means by either, in intervals that hold together by each.
    ///
    /// # Panics
    /// Where there is no such confidence.
    #[must_use]
    pub fn estimates(&self, confidence: f64) -> BothEstimates {
        let options = Options {
            confidence,
            ..Options::default()
        };
        let wanted = "a confidence between 0 and 1";
        let query = SumQuery::new(&self.task, &options).expect(wanted);
        let shuffled = SumEstimates::new(&self.task, &self.sums, &query).estimates;
        let query = Query::new(self.estimator.task(), &options).expect(wanted);
        let local = self.estimator.estimates(&self.totals, &query).estimates;
        let both = shuffled.into_iter().zip(local).zip(&self.truths);
        let of = |(item, ((shuffled, local), sum)): (usize, ((_, _), &f64))| {
            let (shuffled, local): (super::SumEstimate, crate::estimate::ItemEstimates) =
                (shuffled, local);
            let scale = scale(&self.task, item);
            BothEstimate {
                item: shuffled.item,
                unit: shuffled.unit,
                range: [scale.middle - scale.half, scale.middle + scale.half],
                truth: sum / self.people as f64,
                local: local.by_estimand[0].expect("numbers have means"),
                shuffled: shuffled.mean,
            }
        };
        BothEstimates {
            people: self.people,
            enough: self.people >= self.task.people(),
            confidence,
            items: both.enumerate().map(of).collect(),
        }
    }
}

/// A number within its limits.
fn clipped(task: &SumTask, item: usize, own: f64) -> f64 {
    match task.measure() {
        Measure::Box(_, limits) => {
            let [min, max] = limits[item].range();
            own.clamp(min, max)
        }
        Measure::Ball(_) => own,
    }
}

/// The task of reports that are (ε, 0)-private by themselves, for the same numbers.
fn local_task(task: &SumTask) -> Result<Task, Error> {
    let Measure::Box(items, limits) = task.measure() else {
        return Err(Error::Combination {
            reason: "numbers are asked both ways, vectors are not",
        });
    };
    let of = limits.iter().enumerate().map(|(index, own)| {
        let [min, max] = own.range();
        (label(items, index).to_string(), [min, max])
    });
    local_draft(of, task.central_epsilon()).resolve()
}
