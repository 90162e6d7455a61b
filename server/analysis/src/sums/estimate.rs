//! Estimates of sums and means with error bars, from the message counts of a sum task.

use std::io;

use hushbin::Fingerprint;
use hushbin::sums::{SumTask, SummedQuantity};
use serde::Serialize;

use super::counted::CountedTask;
use super::error::SumQueryError;
use super::items::{answer_scale, item_label, unit_steps};
use super::totals::SumTotals;
use crate::estimate::{
    ConfidenceLevel, Estimate, EstimateError, EstimateOptions, ItemLabel, NumberEstimates,
    PointEstimate, csv_fields_of_estimate, start_csv_table,
};
use crate::promise::SumPrivacy;

/// A validated query for the sums and means of some items.
#[derive(Debug, Clone, PartialEq)]
pub struct SumQuery {
    /// Indices of the requested items in the task.
    item_indices: Vec<usize>,
    confidence_level: ConfidenceLevel,
    /// Requested quantiles of a number that is counted in bins. Empty for other tasks.
    quantiles: Vec<f64>,
}

impl SumQuery {
    /// Validates the options for the task and creates a query.
    ///
    /// # Errors
    /// [`SumQueryError`] if an item is unknown or named twice, if the confidence is invalid, or if
    /// an option is set that sums do not have.
    pub fn new(task: &SumTask, options: &EstimateOptions) -> Result<Self, SumQueryError> {
        let none = [
            ("question", options.question_name.is_none()),
            (
                "post-processing",
                options.post_processing_methods.is_empty(),
            ),
            (
                "false_discovery_rate",
                options.false_discovery_rate.is_none(),
            ),
        ];
        if let Some((what, _)) = none.into_iter().find(|(_, none)| !none) {
            return Err(SumQueryError::OptionNotForSums { what });
        }
        let has_bins = (task.summed_quantity().counted_questions())
            .is_some_and(|questions| questions.bin_edges().is_some());
        let quantiles = match &options.quantiles {
            Some(_) if !has_bins => {
                return Err(SumQueryError::OptionNotForSums { what: "quantiles" });
            }
            Some(asked) => asked.clone(),
            None if has_bins => EstimateOptions::DEFAULT_QUANTILES.to_vec(),
            None => Vec::new(),
        };
        if let Some(&quantile) = quantiles.iter().find(|&&part| !(0.0 < part && part < 1.0)) {
            return Err(EstimateError::QuantileOutOfRange { quantile }.into());
        }
        let items = task.summed_quantity().items();
        let count = items.item_count().unwrap_or(0) as usize;
        let mut asked = Vec::new();
        match &options.item_names {
            None => asked.extend(0..count),
            Some(names) => {
                for name in names {
                    let item = || name.clone();
                    let found = items.find_item(name);
                    let found = found.ok_or_else(|| EstimateError::UnknownItem { item: item() })?;
                    if asked.contains(&(found as usize)) {
                        return Err(EstimateError::DuplicateItem { item: item() }.into());
                    }
                    asked.push(found as usize);
                }
            }
        }
        Ok(Self {
            confidence_level: ConfidenceLevel::new(options.confidence, asked.len())?,
            item_indices: asked,
            quantiles,
        })
    }
}

/// Estimated sum and mean of one item.
///
/// For counted questions, the item is an option, a flag or a bin. The sum is the number of people
/// behind the option or in the bin, or who say yes. The mean is their share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SumEstimate {
    /// Label of the item.
    pub item: ItemLabel,
    /// Unit of mean and sum, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Estimated mean of all people's numbers, unbiased.
    pub mean: Estimate,
    /// Estimated sum of all people's numbers: the mean times the number of people.
    pub sum: Estimate,
}

/// Estimates for a sum task, from all messages so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SumEstimates {
    /// Id of the task.
    pub task_id: String,
    /// Fingerprint of the task's parameters.
    pub(crate) fingerprint: Fingerprint,
    /// Number n of people.
    pub people: u64,
    /// Number of messages, including blank ones.
    pub messages: u64,
    /// Number of messages that are missing, at least: those that were left out, blank ones where
    /// people send none, and those that the counts of a question or level lack. The intervals of
    /// counted questions allow for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing_messages: u64,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Privacy guarantee of the task, and the parties on which it relies.
    pub privacy: SumPrivacy,
    /// Estimates by item. Empty if there are no people.
    pub estimates: Vec<SumEstimate>,
    /// Distribution function and quantiles of a number that is counted in bins. `None` for other
    /// tasks, and without people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberEstimates>,
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl SumEstimates {
    /// Computes the estimates from totals of the task.
    ///
    /// ```
    /// use hushbin::sums::SumTask;
    /// use hushbin_analysis::estimate::EstimateOptions;
    /// use hushbin_analysis::sums::{SumEstimates, SumQuery, SumTotals};
    ///
    /// # let task: SumTask = serde_json::from_str(r#"{
    /// #     "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
    /// #     "numbers": [{ "name": "load", "min": 0, "max": 10 }],
    /// #     "messages": { "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904",
    /// #         "noise": 2 }
    /// # }"#).unwrap();
    /// let query = SumQuery::new(&task, &EstimateOptions::default())?;
    /// assert!(SumEstimates::new(&task, &SumTotals::new(&task), &query)?.estimates.is_empty());
    /// # Ok::<(), hushbin_analysis::sums::SumQueryError>(())
    /// ```
    ///
    /// # Errors
    /// [`SumQueryError::ImpossibleCounts`] if counted questions have more messages than totals can
    /// have.
    ///
    /// # Panics
    /// If the totals belong to another task.
    pub fn new(
        task: &SumTask,
        totals: &SumTotals,
        query: &SumQuery,
    ) -> Result<Self, SumQueryError> {
        let people = totals.people_count();
        let counted = CountedTask::of_task(task);
        let missing_messages = counted.map_or(totals.left_out_message_count(), |counted| {
            counted.missing_messages(totals).known
        });
        let (estimates, number) = match (people, counted) {
            (0, _) => (Vec::new(), None),
            (_, Some(counted)) => count_people(task, counted, totals, query)?,
            (_, None) => (estimate_sums(task, totals, query), None),
        };
        Ok(Self {
            task_id: task.id().to_owned(),
            fingerprint: task.fingerprint(),
            people,
            messages: totals.message_count(),
            missing_messages,
            confidence: query.confidence_level.confidence(),
            privacy: SumPrivacy::for_task(task),
            estimates,
            number,
        })
    }

    /// Writes CSV: a header, then one row for the mean and one for the sum of each item.
    ///
    /// # Errors
    /// I/O errors of `writer`.
    pub fn write_csv(&self, writer: impl io::Write) -> io::Result<()> {
        let mut csv = start_csv_table(writer)?;
        for own in &self.estimates {
            for (name, of) in [("mean", &own.mean), ("sum", &own.sum)] {
                csv.serialize((own.item.csv_cell(), name, csv_fields_of_estimate(of)))?;
            }
        }
        csv.flush()
    }
}

/// Returns the standard deviation that the noise messages of `people` people add to the sum of one
/// coordinate. A person reports k of D coordinates, each with L levels. For each coordinate and
/// sign, a person makes w trials. Each trial sends a noise message with probability q. For one
/// coordinate and sign, the trials of all people send μ noise messages on average. The standard
/// deviation is √(2·μ·(1 − q))·D/(k·L).
pub(super) fn noise_standard_deviation(task: &SumTask, people: f64) -> f64 {
    let messages = unit_steps(task);
    let (q, rest) = (
        messages.noise_threshold().probability(),
        messages.noise_threshold().false_probability(),
    );
    let variance = 2.0 * people * f64::from(messages.noise_trial_count()) * q * rest;
    variance.sqrt() / f64::from(messages.messages_per_unit()) * coordinate_sampling_factor(task)
}

/// Returns the factor D/k by which sums are multiplied if each person reports k of D coordinates.
fn coordinate_sampling_factor(task: &SumTask) -> f64 {
    f64::from(task.summed_quantity().coordinate_count())
        / f64::from(unit_steps(task).drawn_coordinate_count())
}

/// Returns the variance of the estimated sum of a coordinate from −1 to 1. `squares` is the sum of
/// the squares of people's values.
///
/// It has three parts: noise messages, rounding (at most 1/4 of a squared level step per person),
/// and drawing k of D coordinates.
pub(super) fn coordinate_sum_variance(task: &SumTask, people: f64, squares: f64) -> f64 {
    let lift = coordinate_sampling_factor(task);
    let levels = f64::from(unit_steps(task).messages_per_unit());
    let rounding = lift * people / (4.0 * levels * levels);
    noise_standard_deviation(task, people).powi(2) + rounding + (lift - 1.0) * squares
}

/// Number of standard deviations that are added to the estimated sum of squares of people's values.
const SUM_OF_SQUARES_SAFETY_DEVIATIONS: f64 = 4.0;

/// Returns the unit of a number, or `None` if it has no unit.
fn item_unit(task: &SumTask, item: usize) -> Option<String> {
    match task.summed_quantity() {
        SummedQuantity::NumbersWithLimits(_, limits) => limits[item].unit().map(str::to_owned),
        SummedQuantity::BoundedVector(_) | SummedQuantity::CountedQuestions(_) => None,
    }
}

/// Returns the estimates of counted questions, by item and for a number.
fn count_people(
    task: &SumTask,
    counted: CountedTask<'_>,
    totals: &SumTotals,
    query: &SumQuery,
) -> Result<(Vec<SumEstimate>, Option<NumberEstimates>), SumQueryError> {
    let people = totals.people_count();
    let level = &query.confidence_level;
    let found = counted.estimate_items(totals, people, level)?;
    let items = task.summed_quantity().items();
    let of = |&item: &usize| SumEstimate {
        item: item_label(items, item),
        unit: None,
        mean: found[item].rescale_to_range([0.0, 1.0 / people as f64]),
        sum: found[item],
    };
    let number = counted.estimate_number(totals, people, &query.quantiles, level)?;
    Ok((query.item_indices.iter().map(of).collect(), number))
}

fn estimate_sums(task: &SumTask, totals: &SumTotals, query: &SumQuery) -> Vec<SumEstimate> {
    let people = totals.people_count() as f64;
    let lift = coordinate_sampling_factor(task);
    let levels = f64::from(unit_steps(task).messages_per_unit());
    // In expectation, noise messages cancel, because both signs have the same probability q.
    let up = |[up, down]: &[u64; 2]| (*up as f64 - *down as f64) * lift / levels;
    let counts = totals.signed_counts_by_coordinate();
    let coordinates: Vec<f64> = counts.iter().map(up).collect();
    // The square of a value is at most its absolute value. The messages of both signs together
    // reveal the sum of absolute values.
    let messages = unit_steps(task);
    let trials = f64::from(messages.noise_trial_count());
    let noise = 2.0 * people * trials * messages.noise_threshold().probability();
    let variance = |[up, down]: &[u64; 2]| {
        // Squares matter only if people report some of the coordinates.
        if lift == 1.0 {
            return coordinate_sum_variance(task, people, 0.0);
        }
        let sent = *up as f64 + *down as f64;
        let told = (sent - noise + SUM_OF_SQUARES_SAFETY_DEVIATIONS * sent.sqrt()) * lift / levels;
        coordinate_sum_variance(task, people, told.clamp(0.0, people))
    };
    let variances: Vec<f64> = counts.iter().map(variance).collect();
    let (sums, variances) = match task.summed_quantity() {
        SummedQuantity::NumbersWithLimits(..) | SummedQuantity::CountedQuestions(_) => {
            (coordinates, variances)
        }
        SummedQuantity::BoundedVector(ball) => {
            let bound = ball.coefficient_bound();
            let scaled: Vec<f64> = coordinates.iter().map(|own| own * bound).collect();
            // All entries of the frame U are equal up to signs, and Uᵀ·U is the identity. So all
            // entries of the vector have the same variance.
            let mean = variances.iter().sum::<f64>() / variances.len() as f64;
            let vector = ball.frame().coefficients_to_vector(&scaled);
            let variances = vec![bound * bound * mean; vector.len()];
            (vector, variances)
        }
    };
    let items = task.summed_quantity().items();
    let of = |&item: &usize| {
        let scale = answer_scale(task, item);
        let deviation = scale.half_range * variances[item].sqrt();
        let sum = people * scale.midpoint_answer + scale.half_range * sums[item];
        let around = |by: f64| {
            let point = PointEstimate {
                estimate: sum * by,
                standard_error: deviation * by,
            };
            // The sum has thousands of independent terms, and each of them is small, so a normal
            // interval is valid.
            let level = query.confidence_level;
            level.estimate_with_intervals(point, |failure, side| {
                point.estimate + side.sign() * failure.normal_quantile() * point.standard_error
            })
        };
        SumEstimate {
            item: item_label(items, item),
            unit: item_unit(task, item),
            mean: around(1.0 / people),
            sum: around(1.0),
        }
    };
    query.item_indices.iter().map(of).collect()
}
