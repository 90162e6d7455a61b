//! What is answered: estimates with error bars, as JSON and CSV.

pub(crate) mod conditional;
pub(crate) mod parallel;
pub(crate) mod post;
pub(crate) mod shrinkage;
pub(crate) mod stand_out;

pub(crate) use post::PostProcessed;
pub(crate) use stand_out::{StandOut, Tested};

use std::collections::BTreeMap;
use std::io;

use hushbin::Fingerprint;
use serde::{Serialize, Serializer};

use crate::estimate::point::Estimand;
use crate::estimate::query::{Estimate, Label};
use crate::estimate::question::{CrossEstimates, MarginalShare, NumberEstimates, RatioEstimate};
use crate::promise::Privacy;
use post::{ConditionalMean, Projected};
use shrinkage::Shrinkage;

/// The estimates of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemEstimates {
    /// What the item is called.
    pub item: Label,
    /// By [`Estimand::ALL`]; `None` what the mechanism does not estimate.
    pub by_estimand: [Option<Estimate>; 5],
    /// The unit of the mean, of one of several numbers that has one.
    pub(crate) unit: Option<String>,
    /// What was made of them.
    pub post_processed: PostProcessed,
}

impl ItemEstimates {
    /// The estimates that there are.
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

/// Estimates of items one after the other, held or made when it is their turn.
pub trait ByItem {
    /// Gives each of them.
    ///
    /// # Errors
    /// Those of `take`, after which no more are given.
    fn each<E>(&self, take: impl FnMut(&ItemEstimates) -> Result<(), E>) -> Result<(), E>;
}

impl ByItem for Vec<ItemEstimates> {
    fn each<E>(&self, take: impl FnMut(&ItemEstimates) -> Result<(), E>) -> Result<(), E> {
        self.iter().try_for_each(take)
    }
}

/// Estimates of a task from the reports so far: those of items are held, or made
/// [in turn](crate::estimate::InTurn).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimates<Items = Vec<ItemEstimates>> {
    /// The task's id.
    pub task: String,
    /// The question's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Identity of its parameters.
    pub(crate) fingerprint: Fingerprint,
    /// n, the number of reports that answer the question.
    pub reports: u64,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// What was spent.
    pub privacy: Privacy,
    /// The bias of what is clipped, in words, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bias: Option<String>,
    /// What error bars over several windows leave out, in words, where answers are permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// What was made of estimates, in a sentence for each member of
    /// [`PostProcessed`] that was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) post_processing: BTreeMap<&'static str, &'static str>,
    /// What shrinking comes to, where it was asked for and there are reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shrinkage: Option<Shrinkage>,
    /// What stands out, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_out: Option<StandOut>,
    /// Of a question about a number, once there are reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberEstimates>,
    /// Of a cross, once there are reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<CrossEstimates>,
    /// By item; empty while there are no reports.
    pub estimates: Items,
}

impl<Items: ByItem> Estimates<Items> {
    /// Writes one line for each item and estimand, after a header. What was made
    /// of estimates comes in lines of its own, with other names: cells are empty
    /// where something was refused, and where there are no error bars. Of a number the
    /// mean, the share of people below each edge and the quantiles follow, of a cross the
    /// margins and what there is within rows, of shrinkage that is refused the reason, and of what
    /// stands out a line each.
    ///
    /// # Errors
    /// Those of `writer`.
    pub fn write_csv(&self, writer: impl io::Write) -> io::Result<()> {
        let mut csv = table(writer)?;
        self.estimates.each(|item| {
            for (estimand, estimate) in item.estimates() {
                csv.serialize((item.item.to_string(), estimand.as_str(), cells(estimate)))?;
            }
            let mut lines = processed_cells(&item.post_processed).into_iter();
            lines.try_for_each(|(name, cells)| csv.serialize((item.item.to_string(), name, cells)))
        })?;
        for line in self.number.iter().flat_map(number_lines) {
            csv.serialize(line)?;
        }
        for line in self.cross.iter().flat_map(cross_lines) {
            csv.serialize(line)?;
        }
        if let Some(Shrinkage::Refused { refused }) = self.shrinkage {
            csv.serialize((refused.to_string(), "shrinkage-refused", REFUSED))?;
        }
        for label in self.stand_out.iter().flat_map(|found| &found.items) {
            csv.serialize((label.to_string(), "stands-out", REFUSED))?;
        }
        csv.flush()
    }
}

/// Begins a table of estimates with its header.
///
/// # Errors
/// Those of `writer`.
pub(crate) fn table<W: io::Write>(writer: W) -> io::Result<csv::Writer<W>> {
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

/// Estimate, standard error, interval and simultaneous interval in a line of CSV.
type Cells = (Option<f64>, Option<f64>, Interval, Interval);
type Interval = [Option<f64>; 2];

const REFUSED: Cells = (None, None, [None; 2], [None; 2]);

pub(crate) fn cells(own: &Estimate) -> Cells {
    let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
    let [interval, simultaneous] = intervals;
    (
        Some(own.estimate),
        Some(own.standard_error),
        interval,
        simultaneous,
    )
}

/// The lines of what a question about a number is answered with.
fn number_lines(number: &NumberEstimates) -> Vec<(String, &'static str, Cells)> {
    let below = number
        .distribution
        .iter()
        .map(|below| (below.below.to_string(), "below", cells(&below.share)));
    let quantiles = number.quantiles.iter().map(|own| {
        let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
        let [interval, simultaneous] = intervals;
        let numbers = (Some(own.estimate), None, interval, simultaneous);
        (own.quantile.to_string(), "quantile", numbers)
    });
    below.chain(quantiles).collect()
}

/// The lines of what a cross is answered with.
fn cross_lines(cross: &CrossEstimates) -> Vec<(String, &'static str, Cells)> {
    let mut lines = Vec::new();
    for margin in [&cross.rows, &cross.columns] {
        for MarginalShare { item, share } in &margin.shares {
            lines.push((format!("{}: {item}", margin.name), "share", cells(share)));
        }
    }
    let [rows, columns] = [&cross.rows, &cross.columns].map(|margin| &margin.name);
    for own in &cross.conditional_means {
        let row = format!("{rows}: {}", own.row);
        lines.push((row, "conditional-mean", ratio_cells(&own.mean)));
    }
    for own in &cross.conditional_shares {
        let cell = format!("{rows}: {}, {columns}: {}", own.row, own.column);
        lines.push((cell, "conditional-share", ratio_cells(&own.share)));
    }
    lines
}

fn ratio_cells(own: &RatioEstimate) -> Cells {
    let intervals = [own.interval, own.simultaneous_interval].map(|own| own.map(Some));
    let [interval, simultaneous] = intervals;
    (own.estimate, own.standard_error, interval, simultaneous)
}

/// The lines of what was made of an item's estimates.
fn processed_cells(processed: &PostProcessed) -> Vec<(String, Cells)> {
    let mut lines = Vec::new();
    match &processed.conditional_mean {
        None => (),
        Some(ConditionalMean::Estimate(estimate)) => {
            lines.push(("conditional-mean".to_owned(), cells(estimate)));
        }
        Some(ConditionalMean::Refused { .. }) => {
            lines.push(("conditional-mean".to_owned(), REFUSED));
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
            Some(Projected::Rated { plus, minus, mean }) => {
                projected_to("mean", mean);
                projected_to("plus", plus);
                projected_to("minus", minus);
            }
            Some(Projected::Answer { share }) => projected_to("share", share),
        }
    }
    if let Some(own) = processed.shrunken {
        value("shrunken".to_owned(), own.estimate, Some(own.deviation));
    }
    lines
}
