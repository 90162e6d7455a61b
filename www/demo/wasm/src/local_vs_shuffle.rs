//! Simulation of people who answer the same question in two ways: in reports under local
//! differential privacy, and in messages through a shuffler.

use hushbin::sums::{
    CountedKind, Message, MessageParameters, NoiseLottery, SumRandomizer, SumTask, SummedQuantity,
    UnitStepParameters,
};
use hushbin::{Entry, Error, Items, Randomizer, Upload, UploadId};
use hushbin_analysis::estimate::{Estimate, EstimateOptions, EstimateQuery, Estimator, Totals};
use hushbin_analysis::promise::{ReportPrivacy, SumPrivacy};
use hushbin_analysis::sums::{
    SumEstimates, SumQuery, SumTotals, local_choice_task, local_numbers_task,
};
use rand_core::CryptoRng;
use serde::Serialize;

use crate::explain::{Meaning, NamedQuestionExplainer};

/// Simulated people who answer the same question in two ways: in local reports, and in messages
/// through a shuffler. Knows all true answers, and estimates in both ways: the means of numbers, or
/// the shares of the options of a choice, in per cent.
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
/// let found = both.estimates(0.95);
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
    items: Vec<AskedItem>,
    /// True if people choose one of the items, and false if they report a number for each.
    is_choice: bool,
    /// Sum of all answers about each item, after clipping each answer to the range.
    true_sums: Vec<f64>,
    people: u64,
}

/// One of the numbers that people report, or of the options from which they choose.
#[derive(Debug, Clone)]
struct AskedItem {
    name: String,
    unit: Option<String>,
    /// Minimum and maximum of the estimate: of the number, or of a share in per cent.
    range: [f64; 2],
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
    /// Maximum number of messages from one person.
    pub messages: u32,
}

/// Estimated means of all numbers, or shares of all options, from local reports and from messages through a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothEstimates {
    /// Number of people who were asked.
    pub people: u64,
    /// True if there are enough people for a batch, so that the shuffler does not hold it back.
    pub enough: bool,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Truth and estimates of each number or option.
    pub items: Vec<BothEstimate>,
}

/// True mean of a number, or share of an option in per cent, and its estimates in both ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BothEstimate {
    /// Name of the number or option.
    pub item: String,
    /// Unit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(target_arch = "wasm32", tsify(optional))]
    pub unit: Option<String>,
    /// Minimum and maximum of the number or share.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "[number, number]"))]
    pub range: [f64; 2],
    /// True mean or share of these people.
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
    /// Meaning of the report for each number or option.
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
    /// Name of the number or option; `None` for a blank message.
    pub item: Option<String>,
    /// True for a message that counts up, as all messages about options do. False for a message that counts down, and for a blank
    /// one.
    pub up: bool,
}

/// One person's answer about a number or an option, estimated from this person's messages alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct PersonEstimate {
    /// Name of the number or option.
    pub item: String,
    /// True answer. For an option, 100 per cent or 0.
    pub answered: f64,
    /// Number of messages that count up, and number of messages that count down.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "[number, number]"))]
    pub counts: [u64; 2],
    /// Unbiased estimate of the answer.
    pub read: f64,
    /// Standard deviation of `read`, due to noise and worst-case rounding.
    pub give: f64,
}

impl BothWaysSimulation {
    /// Creates a simulation without people. The ε of local reports is the central ε of the task.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for a task that collects neither numbers nor a choice.
    pub fn new(task: &SumTask) -> Result<Self, Error> {
        let (items, is_choice) = items_of_task(task)?;
        let local = if is_choice {
            let options: Vec<_> = items.iter().map(|own| own.name.clone()).collect();
            local_choice_task(&options, task.central_epsilon())?
        } else {
            let ranges = items.iter().map(|own| (own.name.clone(), own.range));
            local_numbers_task(ranges, task.central_epsilon())?
        };
        Ok(Self {
            message_totals: SumTotals::new(task),
            randomizer: SumRandomizer::new(task),
            message_buffer: Vec::new(),
            local_totals: Totals::new(&local),
            local_randomizer: Randomizer::new(&local),
            local_estimator: Estimator::for_task(local),
            entry_buffer: Vec::new(),
            true_sums: vec![0.0; items.len()],
            items,
            is_choice,
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

    /// Adds people. `answers` lists the answers of one person after those of another: a value for
    /// every number of the task, or the index of the chosen option.
    ///
    /// # Errors
    /// Errors of [`SumRandomizer::randomize`], and [`Error::WrongAnswerCount`] for an incomplete answer.
    /// All people before the first invalid answer are added.
    pub fn add_people<R: CryptoRng>(&mut self, answers: &[f64], rng: &mut R) -> Result<(), Error> {
        let values_per_person = if self.is_choice { 1 } else { self.items.len() };
        for answer in answers.chunks(values_per_person) {
            self.randomizer
                .randomize(answer, rng, &mut self.message_buffer)?;
            self.entry_buffer.clear();
            self.entry_buffer.extend(self.entries(answer));
            for entry in &self.entry_buffer {
                let in_unit = if self.is_choice { 100.0 } else { 1.0 };
                self.true_sums[entry.item as usize] += in_unit * entry.value;
            }
            let made = self.local_randomizer.randomize(&self.entry_buffer, rng)?;
            self.local_totals.add_report(&made.report);
            self.message_buffer
                .iter()
                .for_each(|own| self.message_totals.add_message(*own));
            self.message_totals.add_people(1);
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
            Message::Blank => SentMessage {
                item: None,
                up: false,
            },
            Message::Cell(option) => SentMessage {
                item: Some(self.items[option as usize].name.clone()),
                up: true,
            },
            Message::SignedUnitStep {
                coordinate,
                negative,
            } => SentMessage {
                item: Some(self.items[coordinate as usize].name.clone()),
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
        match self.task.message_parameters() {
            MessageParameters::UnitSteps(own) => self.number_estimates(answer, &totals, own),
            MessageParameters::Lottery(own) => self.option_estimates(answer, &totals, own),
        }
    }

    /// Estimates the numbers of one person. Noise messages count up and down with the same
    /// probability.
    fn number_estimates(
        &self,
        answer: &[f64],
        totals: &SumTotals,
        own: &UnitStepParameters,
    ) -> Vec<PersonEstimate> {
        // A person reports k of D numbers, so each reported one counts D/k times.
        let lift = self.items.len() as f64 / f64::from(own.drawn_coordinate_count());
        let q = own.noise_threshold().probability();
        let noise = 2.0
            * f64::from(own.noise_trial_count())
            * q
            * own.noise_threshold().false_probability();
        let reading = |((item, number), &answered): ((usize, &AskedItem), &f64)| {
            let counts = totals.counts_by_sign(item);
            let [min, max] = number.range;
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
        let items = self.items.iter().enumerate();
        items.zip(answer).map(reading).collect()
    }

    /// Estimates for each option whether one person has chosen it, in per cent.
    fn option_estimates(
        &self,
        answer: &[f64],
        totals: &SumTotals,
        own: &NoiseLottery,
    ) -> Vec<PersonEstimate> {
        let q = own.probability() / self.items.len() as f64;
        let noise = f64::from(own.draws()) * q;
        let items = self.items.iter().zip(totals.cell_counts()).zip(0..);
        let reading = |((option, &count), index): ((&AskedItem, &u64), u32)| PersonEstimate {
            item: option.name.clone(),
            answered: if answer == [f64::from(index)] {
                100.0
            } else {
                0.0
            },
            counts: [count, 0],
            read: 100.0 * (count as f64 - noise),
            give: 100.0 * (noise * (1.0 - q)).sqrt(),
        };
        items.map(reading).collect()
    }

    /// Returns one person's answer as entries. Numbers are clipped to the ranges of the task.
    fn entries(&self, answer: &[f64]) -> Vec<Entry> {
        if self.is_choice {
            let chosen = answer.iter().map(|own| Entry {
                item: *own as u64,
                value: 1.0,
            });
            return chosen.collect();
        }
        let numbers = (0..).zip(self.items.iter().zip(answer));
        let clipped = numbers.map(|(item, (number, own))| Entry {
            item,
            value: own.clamp(number.range[0], number.range[1]),
        });
        clipped.collect()
    }

    /// Makes and explains a local report of one person.
    fn local_report<R: CryptoRng>(
        &self,
        answer: &[f64],
        rng: &mut R,
    ) -> Result<LocalReport, Error> {
        let entries = self.entries(answer);
        let made = self.local_randomizer.clone().randomize(&entries, rng)?;
        let task = self.local_estimator.task();
        let upload = Upload {
            id: UploadId([0; 16]),
            reports: vec![made.report],
        };
        let bytes = upload.encode(&task.fingerprint());
        let explanation = NamedQuestionExplainer::new(task)
            .and_then(|explainer| explainer.explain(&bytes, &[&entries]))
            .expect("reports of numbers and choices are explained");
        let mut report = Vec::new();
        upload.reports[0].encode(&mut report);
        Ok(LocalReport {
            report,
            meanings_by_number: explanation.meanings,
            max_likelihood_ratio: explanation.ratios[1],
        })
    }

    /// Estimates the means or shares from the reports and from the messages. Each way's intervals
    /// hold simultaneously for all items.
    ///
    /// # Panics
    /// If the confidence is out of range.
    #[must_use]
    pub fn estimates(&self, confidence: f64) -> BothEstimates {
        let options = EstimateOptions {
            confidence,
            ..EstimateOptions::default()
        };
        let wanted = "a confidence between 0 and 1";
        let query = SumQuery::new(&self.task, &options).expect(wanted);
        let shuffled = SumEstimates::new(&self.task, &self.message_totals, &query);
        let shuffled = shuffled.expect("complete uploads have estimates");
        let query = EstimateQuery::new(self.local_estimator.task(), &options).expect(wanted);
        let local = self
            .local_estimator
            .estimates(&self.local_totals, &query)
            .estimates;
        let items = self.items.iter().zip(&self.true_sums);
        let estimated = local.iter().zip(&shuffled.estimates);
        let items = items
            .zip(estimated)
            .map(|((item, sum), (local, shuffled))| {
                let (_, local) = local.estimates().next().expect("each item is estimated");
                let in_unit = |own: Estimate| match self.is_choice {
                    true => own.rescale_to_range(item.range),
                    false => own,
                };
                BothEstimate {
                    item: item.name.clone(),
                    unit: item.unit.clone(),
                    range: item.range,
                    truth: sum / self.people as f64,
                    local: in_unit(*local),
                    shuffled: in_unit(shuffled.mean),
                }
            });
        BothEstimates {
            people: self.people,
            enough: self.people >= self.task.min_people(),
            confidence,
            items: items.collect(),
        }
    }
}

/// Local report, with its meaning for each number.
struct LocalReport {
    report: Vec<u8>,
    meanings_by_number: Vec<Meaning>,
    max_likelihood_ratio: f64,
}

/// Returns the numbers or options that a task asks for, and whether they are options.
fn items_of_task(task: &SumTask) -> Result<(Vec<AskedItem>, bool), Error> {
    match task.summed_quantity() {
        SummedQuantity::NumbersWithLimits(Items::Named(names), limits) => {
            let numbers = names.iter().zip(limits).map(|(name, limits)| AskedItem {
                name: name.clone(),
                unit: limits.unit().map(str::to_owned),
                range: limits.range(),
            });
            Ok((numbers.collect(), false))
        }
        SummedQuantity::CountedQuestions(asked) => match (asked.kind(), asked.items()) {
            (CountedKind::Choice { .. }, Items::Named(names)) => {
                let options = names.iter().map(|name| AskedItem {
                    name: name.clone(),
                    unit: Some("%".to_owned()),
                    range: [0.0, 100.0],
                });
                Ok((options.collect(), true))
            }
            _ => Err(NOT_IN_BOTH_WAYS),
        },
        _ => Err(NOT_IN_BOTH_WAYS),
    }
}

const NOT_IN_BOTH_WAYS: Error = Error::InvalidCombination {
    reason: "only numbers or a choice can be asked both ways",
};
