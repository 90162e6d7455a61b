//! Answers: estimates with error bars, as JSON and CSV.

pub(crate) mod conditional;
pub(crate) mod csv_text;
pub(crate) mod parallel;
pub(crate) mod post_processing;
pub(crate) mod shrinkage;
pub(crate) mod stand_out;

pub(crate) use post_processing::PostProcessed;
pub(crate) use stand_out::SignificantItems;

use std::collections::BTreeMap;
use std::io;

use hushbin::Fingerprint;
use serde::{Serialize, Serializer};

use crate::estimate::point::Estimand;
use crate::estimate::query::{Estimate, ItemLabel};
use crate::estimate::question::{CrossEstimates, MarginalShare, NumberEstimates, RatioEstimate};
use crate::promise::ReportPrivacy;
use csv_text::csv_text_cell;
use post_processing::{ConditionalMean, ProjectedFrequencies};
use shrinkage::ShrinkageOutcome;

/// Estimates of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemEstimates {
    /// Label of the item.
    pub item: ItemLabel,
    /// Estimates in the order of [`Estimand::ALL`]. `None` if the mechanism does not estimate the
    /// quantity.
    pub by_estimand: [Option<Estimate>; 5],
    /// Unit of the mean, if the item is one of several numbers and has a unit.
    pub(crate) unit: Option<String>,
    /// Post-processed results.
    pub post_processed: PostProcessed,
}

impl ItemEstimates {
    /// Returns the estimates that the mechanism provides, each with the quantity that it estimates.
    pub fn estimates(&self) -> impl Iterator<Item = (Estimand, &Estimate)> {
        Estimand::ALL
            .into_iter()
            .zip(&self.by_estimand)
            .filter_map(|(estimand, estimate)| Some((estimand, estimate.as_ref()?)))
    }
}

impl Serialize for ItemEstimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("item", &self.item)?;
        if let Some(unit) = &self.unit {
            map.serialize_entry("unit", unit)?;
        }
        for (estimand, estimate) in self.estimates() {
            map.serialize_entry(estimand.as_str(), estimate)?;
        }
        if self.post_processed != PostProcessed::default() {
            map.serialize_entry("post_processed", &self.post_processed)?;
        }
        map.end()
    }
}

/// Estimates of items, either stored or computed one by one on demand.
pub trait ItemEstimateSource {
    /// Passes each item's estimates to `take`, in order.
    ///
    /// # Errors
    /// Errors of `take`. They end the iteration.
    fn try_for_each_item<E>(
        &self,
        take: impl FnMut(&ItemEstimates) -> Result<(), E>,
    ) -> Result<(), E>;
}

impl ItemEstimateSource for Vec<ItemEstimates> {
    fn try_for_each_item<E>(
        &self,
        take: impl FnMut(&ItemEstimates) -> Result<(), E>,
    ) -> Result<(), E> {
        self.iter().try_for_each(take)
    }
}

/// Estimates for one question of a task, from the reports so far.
///
/// `Items` contains the estimates of items. They are stored, or computed [one by
/// one](crate::estimate::LazyItemEstimates).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimates<Items = Vec<ItemEstimates>> {
    /// Id of the task.
    pub task_id: String,
    /// Name of the question, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Fingerprint of the task's parameters.
    pub(crate) fingerprint: Fingerprint,
    /// Number of reports n that answer the question.
    pub reports: u64,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Privacy guarantee of each report.
    pub privacy: ReportPrivacy,
    /// Statement about the bias that clipping causes. `None` if the estimates are unbiased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bias_statement: Option<String>,
    /// Warning that error bars are too narrow for estimates over several time windows. Present if
    /// reports are made from memos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memo_warning: Option<String>,
    /// Statement about each requested post-processing method and its bias. The keys are the fields
    /// of [`PostProcessed`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) post_processing: BTreeMap<&'static str, &'static str>,
    /// Outcome of shrinkage, if it was requested and there are reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrinkage: Option<ShrinkageOutcome>,
    /// Items that differ significantly from 0, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_out: Option<SignificantItems>,
    /// Estimates for a question that asks for a number. `None` for other kinds of question, or if
    /// there are no reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberEstimates>,
    /// Estimates for a cross-tabulation question. `None` for other kinds of question, or if there
    /// are no reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<CrossEstimates>,
    /// Estimates by item. Empty if there are no reports.
    pub estimates: Items,
}

impl<Items: ItemEstimateSource> Estimates<Items> {
    /// Writes CSV: a header, then one row for each item and estimand.
    ///
    /// Post-processed results have their own rows, in which the estimand column names the method.
    /// CSV fields are empty if a result was refused or has no error bars. Further rows follow:
    ///
    /// - For a number: the share of people below each edge, and the quantiles.
    /// - For a cross-tabulation: the shares of its rows and columns, and the conditional means and
    ///   shares within rows.
    /// - If shrinkage was refused: the reason.
    /// - For each item in [`SignificantItems`]: one row.
    ///
    /// Names are written by [`csv_text_cell`], so that no spreadsheet runs them as formulas.
    ///
    /// # Errors
    /// I/O errors of `writer`.
    pub fn write_csv(&self, writer: impl io::Write) -> io::Result<()> {
        let mut csv = start_csv_table(writer)?;
        self.estimates.try_for_each_item(|item| {
            for (estimand, estimate) in item.estimates() {
                csv.serialize((
                    item.item.csv_cell(),
                    estimand.as_str(),
                    csv_fields_of_estimate(estimate),
                ))?;
            }
            let mut lines = csv_rows_of_post_processed(&item.post_processed).into_iter();
            lines.try_for_each(|(name, cells)| csv.serialize((item.item.csv_cell(), name, cells)))
        })?;
        for line in self.number.iter().flat_map(csv_rows_of_number) {
            csv.serialize(line)?;
        }
        for (group, name, cells) in self.cross.iter().flat_map(csv_rows_of_cross) {
            csv.serialize((csv_text_cell(&group), name, cells))?;
        }
        if let Some(ShrinkageOutcome::Refused { refused }) = self.shrinkage {
            csv.serialize((refused.to_string(), "shrinkage-refused", EMPTY_CSV_FIELDS))?;
        }
        for label in self.stand_out.iter().flat_map(|found| &found.items) {
            csv.serialize((label.csv_cell(), "stands-out", EMPTY_CSV_FIELDS))?;
        }
        csv.flush()
    }
}

/// Starts a CSV table of estimates and writes its header.
///
/// # Errors
/// I/O errors of `writer`.
pub(crate) fn start_csv_table<W: io::Write>(writer: W) -> io::Result<csv::Writer<W>> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record([
        "item",
        "estimand",
        "estimate",
        "standard_error",
        "lower",
        "upper",
        "simultaneous_lower",
        "simultaneous_upper",
    ])?;
    Ok(csv)
}

/// CSV fields of one row: estimate, standard error, interval and simultaneous interval.
type CsvFields = (Option<f64>, Option<f64>, IntervalFields, IntervalFields);
type IntervalFields = [Option<f64>; 2];

const EMPTY_CSV_FIELDS: CsvFields = (None, None, [None; 2], [None; 2]);

pub(crate) fn csv_fields_of_estimate(own: &Estimate) -> CsvFields {
    let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
    let [interval, simultaneous] = intervals;
    (
        Some(own.estimate),
        Some(own.standard_error),
        interval,
        simultaneous,
    )
}

/// Returns the CSV rows for the distribution function and the quantiles of a number.
fn csv_rows_of_number(number: &NumberEstimates) -> Vec<(String, &'static str, CsvFields)> {
    let below = number.distribution.iter().map(|below| {
        (
            below.below.to_string(),
            "below",
            csv_fields_of_estimate(&below.share),
        )
    });
    let quantiles = number.quantiles.iter().map(|own| {
        let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
        let [interval, simultaneous] = intervals;
        let numbers = (Some(own.estimate), None, interval, simultaneous);
        (own.quantile.to_string(), "quantile", numbers)
    });
    below.chain(quantiles).collect()
}

/// Returns the CSV rows for the estimates of a cross-tabulation.
fn csv_rows_of_cross(cross: &CrossEstimates) -> Vec<(String, &'static str, CsvFields)> {
    let mut lines = Vec::new();
    for margin in [&cross.rows, &cross.columns] {
        for MarginalShare { item, share } in &margin.shares {
            lines.push((
                format!("{}: {item}", margin.name),
                "share",
                csv_fields_of_estimate(share),
            ));
        }
    }
    let [rows, columns] = [&cross.rows, &cross.columns].map(|margin| &margin.name);
    for own in &cross.conditional_means {
        let row = format!("{rows}: {}", own.row);
        lines.push((row, "conditional-mean", csv_fields_of_ratio(&own.mean)));
    }
    for own in &cross.conditional_shares {
        let cell = format!("{rows}: {}, {columns}: {}", own.row, own.column);
        lines.push((cell, "conditional-share", csv_fields_of_ratio(&own.share)));
    }
    lines
}

fn csv_fields_of_ratio(own: &RatioEstimate) -> CsvFields {
    let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
    let [interval, simultaneous] = intervals;
    (own.estimate, own.standard_error, interval, simultaneous)
}

/// Returns the CSV rows of an item's post-processed results.
fn csv_rows_of_post_processed(processed: &PostProcessed) -> Vec<(String, CsvFields)> {
    let mut lines = Vec::new();
    match &processed.conditional_mean {
        None => (),
        Some(ConditionalMean::Estimate(estimate)) => {
            lines.push((
                "conditional-mean".to_owned(),
                csv_fields_of_estimate(estimate),
            ));
        }
        Some(ConditionalMean::Refused { .. }) => {
            lines.push(("conditional-mean".to_owned(), EMPTY_CSV_FIELDS));
        }
    }
    let mut value = |name, value, deviation| {
        lines.push((name, (Some(value), deviation, [None; 2], [None; 2])));
    };
    for (how, projected) in [
        ("projected", processed.projected),
        ("fully-projected", processed.fully_projected),
    ] {
        let mut projected_to = |what, number| value(format!("{how}-{what}"), number, None);
        match projected {
            None => (),
            Some(ProjectedFrequencies::Rated { plus, minus, mean }) => {
                projected_to("mean", mean);
                projected_to("plus", plus);
                projected_to("minus", minus);
            }
            Some(ProjectedFrequencies::Answer { share }) => projected_to("share", share),
        }
    }
    if let Some(own) = processed.shrunken {
        value("shrunken".to_owned(), own.estimate, Some(own.deviation));
    }
    lines
}
