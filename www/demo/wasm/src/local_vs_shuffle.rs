//! Simulation of people who answer the same numbers in two ways: in reports under local
//! differential privacy, and in messages through a shuffler.

use hushbin::sums::{Message, SumRandomizer, SumTask, SummedQuantity};
use hushbin::task::NumberLimits;
use hushbin::{Entry, Error, Items, Randomizer, Upload, UploadId};
use hushbin_analysis::estimate::{
    Estimate, EstimateOptions, EstimateQuery, Estimator, ItemEstimates, Totals,
};
use hushbin_analysis::promise::{ReportPrivacy, SumPrivacy};
use hushbin_analysis::sums::{SumEstimate, SumEstimates, SumQuery, SumTotals, local_numbers_task};
use rand_core::CryptoRng;
use serde::Serialize;

use crate::explain::{Meaning, NamedQuestionExplainer};

/// Simulated people who answer the same numbers in two ways: in local reports, and in messages
/// through a shuffler. Knows all true answers, and estimates the means in both ways.
///
/// ```
/// use hushbin::sums::SumTask;
/// use hushbin_demo::local_vs_shuffle::BothWaysSimulation;
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// # let task: SumTask = serde_json::from_str(r#"{
/// #     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
/// #     "numbers": [{ "name": "load", "min": 0, "max": 10 }],
/// #     "messages": { "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904",
/// #         "noise": 2 }
/// # }"#).unwrap();
/// let mut both = BothWaysSimulation::new(&task)?;
/// // A page seeds its generator from the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// both.add_people(&[10.0, 0.0, 5.0], &mut rng)?;
/// let found = both.estimate_means(0.95);
/// assert_eq!((found.people, found.items[0].truth), (3, 5.0));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug)]
pub struct BothWaysSimulation {
    task: SumTask,
    message_totals: SumTotals,
    randomizer: SumRandomizer,
    message_buffer: Vec<Message>,
    local_estimator: Estimator,
    local_totals: Totals,
    local_randomizer: Randomizer,
    entry_buffer: Vec<Entry>,
    numbers: Vec<NamedLimits>,
    /// Sum of all answers to each number, after clipping each answer to the limits.
    true_sums: Vec<f64>,
    people: u64,
}

/// One of the numbers that people report.
#[derive(Debug, Clone)]
struct NamedLimits {
    name: String,
    limits: NumberLimits,
}

impl NamedLimits {
    /// Clips an answer to the limits.
    fn clip(&self, answer: f64) -> f64 {
        let [min, max] = self.limits.range();
        answer.clamp(min, max)
    }
}

/// Privacy promises of local reports and of messages through a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothPromises {
    /// Local ε of one report, in nats.
    pub local_epsilon: f64,
    /// Meaning of the local ε, as a sentence for people.
    pub local_statement: String,
    /// Privacy of a shuffled batch.
    pub shuffled: SumPrivacy,
    /// Number of messages from one person.
    pub messages: u32,
}

/// Estimated means of all numbers, from local reports and from messages through a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothEstimates {
    /// Number of people who were asked.
    pub people: u64,
    /// True if there are enough people for a batch, so that the shuffler does not hold it back.
    pub enough: bool,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// True mean and estimated means of each number.
    pub items: Vec<BothEstimate>,
}

/// True mean of a number, and its estimates in both ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothEstimate {
    /// Name of the number.
    pub item: String,
    /// Unit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(target_arch = "wasm32", tsify(optional))]
    pub unit: Option<String>,
    /// Minimum and maximum of the number.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "[number, number]"))]
    pub range: [f64; 2],
    /// True mean of these people.
    pub truth: f64,
    /// Estimate from local reports.
    pub local: Estimate,
    /// Estimate from messages through the shuffler.
    pub shuffled: Estimate,
}

/// Local report of one person, and messages of the same person for the same answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothSent {
    /// Bytes of the report.
    pub report: Vec<u8>,
    /// Meaning of the report for each number.
    pub told: Vec<Meaning>,
    /// Maximum likelihood ratio that any report can have: exp(ε), for the local ε.
    pub most: f64,
    /// Messages, in the order in which they are sent.
    pub messages: Vec<SentMessage>,
    /// Answers as estimated by an observer who knows which messages this person sent.
    pub read: Vec<PersonEstimate>,
}

/// Message that one person sends through the shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct SentMessage {
    /// Name of the number; `None` for a blank message.
    pub item: Option<String>,
    /// True for a message that counts up. False for a message that counts down, and for a blank
    /// one.
    pub up: bool,
}

/// One person's answer to a number, estimated from this person's messages alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct PersonEstimate {
    /// Name of the number.
    pub item: String,
    /// True answer.
    pub answered: f64,
    /// Number of messages that count up, and number of messages that count down.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "[number, number]"))]
    pub counts: [u64; 2],
    /// Unbiased estimate of the answer. Noise messages count up and down with the same probability.
    pub read: f64,
    /// Standard deviation of `read`, due to noise and worst-case rounding.
    pub give: f64,
}

impl BothWaysSimulation {
    /// Creates a simulation without people. The ε of local reports is the central ε of the task.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for a task that collects vectors instead of numbers.
    pub fn new(task: &SumTask) -> Result<Self, Error> {
        let numbers = numbers_of_task(task)?;
        let ranges = numbers
            .iter()
            .map(|own| (own.name.clone(), own.limits.range()));
        let local = local_numbers_task(ranges, task.central_epsilon())?;
        Ok(Self {
            message_totals: SumTotals::new(task),
            randomizer: SumRandomizer::new(task),
            message_buffer: Vec::new(),
            local_totals: Totals::new(&local),
            local_randomizer: Randomizer::new(&local),
            local_estimator: Estimator::for_task(local),
            entry_buffer: Vec::new(),
            true_sums: vec![0.0; numbers.len()],
            numbers,
            people: 0,
            task: task.clone(),
        })
    }

    /// Returns the privacy promises of local reports and of messages through a shuffler.
    #[must_use]
    pub fn privacy_promises(&self) -> BothPromises {
        let local = ReportPrivacy::for_task(self.local_estimator.task());
        BothPromises {
            local_epsilon: local.effective_epsilon,
            local_statement: local.statement,
            shuffled: SumPrivacy::for_task(&self.task),
            messages: *self.task.message_count_range().end(),
        }
    }

    /// Adds people. `answers` lists the answers of one person after those of another, each with one
    /// value for every number of the task.
    ///
    /// # Errors
    /// Errors of [`SumRandomizer::randomize`], and [`Error::WrongAnswerCount`] for an incomplete answer.
    /// All people before the first invalid answer are added.
    pub fn add_people<R: CryptoRng>(&mut self, answers: &[f64], rng: &mut R) -> Result<(), Error> {
        for answer in answers.chunks(self.true_sums.len()) {
            self.randomizer
                .randomize(answer, rng, &mut self.message_buffer)?;
            self.entry_buffer.clear();
            self.entry_buffer
                .extend(clipped_entries(&self.numbers, answer));
            for (entry, truth) in self.entry_buffer.iter().zip(&mut self.true_sums) {
                *truth += entry.value;
            }
            let made = self.local_randomizer.randomize(&self.entry_buffer, rng)?;
            self.local_totals.add_report(&made.report);
            self.message_buffer
                .iter()
                .for_each(|own| self.message_totals.add_message(*own));
            self.people += 1;
        }
        Ok(())
    }

    /// Returns the messages and the report of one person, without adding the person.
    ///
    /// # Errors
    /// Errors of [`BothWaysSimulation::add_people`].
    pub fn randomize_person<R: CryptoRng>(
        &self,
        answer: &[f64],
        rng: &mut R,
    ) -> Result<BothSent, Error> {
        let mut messages = Vec::new();
        self.randomizer
            .clone()
            .randomize(answer, rng, &mut messages)?;
        let local = self.local_report(answer, rng)?;
        let sent = |message: &Message| match *message {
            // Numbers have no cells.
            Message::Blank | Message::Cell(_) => SentMessage {
                item: None,
                up: false,
            },
            Message::SignedUnitStep {
                coordinate,
                negative,
            } => SentMessage {
                item: Some(self.numbers[coordinate as usize].name.clone()),
                up: !negative,
            },
        };
        Ok(BothSent {
            report: local.report,
            told: local.meanings_by_number,
            most: local.max_likelihood_ratio,
            messages: messages.iter().map(sent).collect(),
            read: self.person_estimates(answer, &messages),
        })
    }

    /// Estimates the answers of one person from the messages alone. `answer` has the true answers.
    fn person_estimates(&self, answer: &[f64], messages: &[Message]) -> Vec<PersonEstimate> {
        let mut totals = SumTotals::new(&self.task);
        messages.iter().for_each(|own| totals.add_message(*own));
        let own = self.task.message_parameters().unit_steps();
        let own = own.expect("a task of numbers has unit steps");
        // A person reports k of D numbers, so each reported one counts D/k times.
        let lift = self.numbers.len() as f64 / f64::from(own.drawn_coordinate_count());
        let q = own.noise_threshold().probability();
        let noise = 2.0
            * f64::from(own.noise_trial_count())
            * q
            * own.noise_threshold().false_probability();
        let reading = |((item, number), &answered): ((usize, &NamedLimits), &f64)| {
            let counts = totals.counts_by_sign(item);
            let [min, max] = number.limits.range();
            let level = (max / 2.0 - min / 2.0) * lift / f64::from(own.messages_per_unit());
            let up = counts[0] as f64 - counts[1] as f64;
            PersonEstimate {
                item: number.name.clone(),
                answered,
                counts,
                read: min / 2.0 + max / 2.0 + level * up,
                give: level * (noise + 0.25).sqrt(),
            }
        };
        self.numbers
            .iter()
            .enumerate()
            .zip(answer)
            .map(reading)
            .collect()
    }

    /// Makes and explains a local report of one person.
    fn local_report<R: CryptoRng>(
        &self,
        answer: &[f64],
        rng: &mut R,
    ) -> Result<LocalReport, Error> {
        let entries: Vec<Entry> = clipped_entries(&self.numbers, answer).collect();
        let made = self.local_randomizer.clone().randomize(&entries, rng)?;
        let task = self.local_estimator.task();
        let upload = Upload {
            id: UploadId([0; 16]),
            reports: vec![made.report],
        };
        let bytes = upload.encode(&task.fingerprint());
        let explanation = NamedQuestionExplainer::new(task)
            .and_then(|explainer| explainer.explain(&bytes, &[&entries]))
            .expect("reports of numbers are explained");
        let mut report = Vec::new();
        upload.reports[0].encode(&mut report);
        Ok(LocalReport {
            report,
            meanings_by_number: explanation.meanings,
            max_likelihood_ratio: explanation.ratios[1],
        })
    }

    /// Estimates the means from the reports and from the messages. Each way's intervals hold
    /// simultaneously for all numbers.
    ///
    /// # Panics
    /// If the confidence is out of range.
    #[must_use]
    pub fn estimate_means(&self, confidence: f64) -> BothEstimates {
        let options = EstimateOptions {
            confidence,
            ..EstimateOptions::default()
        };
        let wanted = "a confidence between 0 and 1";
        let query = SumQuery::new(&self.task, &options).expect(wanted);
        let shuffled = SumEstimates::new(&self.task, &self.message_totals, &query);
        let shuffled = shuffled.expect("sums of numbers have estimates").estimates;
        let query = EstimateQuery::new(self.local_estimator.task(), &options).expect(wanted);
        let local = self
            .local_estimator
            .estimates(&self.local_totals, &query)
            .estimates;
        let items = self.numbers.iter().zip(&self.true_sums);
        let items = items.zip(local.iter().zip(shuffled));
        let of =
            |((number, sum), (local, shuffled)): ((&NamedLimits, &f64), (&ItemEstimates, _))| {
                let shuffled: SumEstimate = shuffled;
                BothEstimate {
                    item: number.name.clone(),
                    unit: number.limits.unit().map(str::to_owned),
                    range: number.limits.range(),
                    truth: sum / self.people as f64,
                    local: local.by_estimand[0].expect("numbers have means"),
                    shuffled: shuffled.mean,
                }
            };
        BothEstimates {
            people: self.people,
            enough: self.people >= self.task.min_people(),
            confidence,
            items: items.map(of).collect(),
        }
    }
}

/// Local report, with its meaning for each number.
struct LocalReport {
    report: Vec<u8>,
    meanings_by_number: Vec<Meaning>,
    max_likelihood_ratio: f64,
}

/// Returns one person's answers as entries, clipped to the limits of the numbers.
fn clipped_entries(numbers: &[NamedLimits], answer: &[f64]) -> impl Iterator<Item = Entry> {
    (0..)
        .zip(numbers.iter().zip(answer))
        .map(|(item, (number, own))| Entry {
            item,
            value: number.clip(*own),
        })
}

/// Returns the numbers that a task asks for.
fn numbers_of_task(task: &SumTask) -> Result<Vec<NamedLimits>, Error> {
    let SummedQuantity::NumbersWithLimits(Items::Named(names), limits) = task.summed_quantity()
    else {
        return Err(Error::InvalidCombination {
            reason: "only numbers can be asked both ways, not a vector or questions",
        });
    };
    let number = |(name, limits): (&String, &NumberLimits)| NamedLimits {
        name: name.clone(),
        limits: limits.clone(),
    };
    Ok(names.iter().zip(limits).map(number).collect())
}
