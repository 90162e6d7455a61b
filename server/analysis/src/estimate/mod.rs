//! From reports to totals to estimates with error bars: pure functions of data,
//! without clock or I/O.
//!
//! [`Totals`] is the fold of reports: counts that merge by addition, so that
//! reports may be folded in any order, by any number of workers. Estimates are
//! a function of a task and its totals. They are raw and, but for what hash-bin
//! clips, unbiased: a frequency may come out below 0 or above 1, and says so much
//! about its noise. What is
//! made of them afterwards ([`PostProcessing`]) stands beside them.

mod answer;
mod coco;
mod collision;
mod conditional;
mod confidence;
mod counted;
mod error;
mod estimator;
mod expectation;
mod hash_bin;
mod interval;
mod post;
mod predict;
mod processing;
mod projection;
mod question;
mod rates;
mod signs;

use hushbin::{Mechanism, Report, Task, ValueKind};
use serde::Serialize;

pub use answer::{Estimates, ItemEstimates};
pub use confidence::{CONFIDENCE, DEFAULT_CONFIDENCE};
pub use error::EstimateError;
pub use estimator::{Estimator, estimates, points};
pub use expectation::Expectation;
pub use interval::{Estimate, Quantiles};
pub use post::{ConditionalMean, PostProcessed, Projected};
pub use predict::Predictor;
pub use processing::PostProcessing;
pub use question::{Label, Options, Question};

/// What is kept of the reports of one task.
#[derive(Debug, Clone)]
pub struct Totals {
    reports: u64,
    counts: Counts,
}

#[derive(Debug, Clone)]
enum Counts {
    Collision(collision::Counts),
    Coco(coco::Counts),
    HashBin(hash_bin::Counts),
}

impl Totals {
    /// No reports yet. Of an open task only their number is counted, as its
    /// items cannot be listed: see [`Totals::of_items`].
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::of_items(task, &[])
    }

    /// No reports yet, for these items (indices or keys) of an open task; of a
    /// closed one all items are counted whatever is asked.
    #[must_use]
    pub fn of_items(task: &Task, items: &[u64]) -> Self {
        let counts = match task.mechanism() {
            Mechanism::Collision(collision) => {
                Counts::Collision(collision::Counts::new(collision, &task.domain(), items))
            }
            Mechanism::Coco(coco) => Counts::Coco(coco::Counts::new(coco, &task.domain(), items)),
            Mechanism::HashBin(hash_bin) => {
                let (domain, epsilon) = (task.domain(), task.epsilon());
                Counts::HashBin(hash_bin::Counts::new(hash_bin, &domain, epsilon, items))
            }
        };
        Self { reports: 0, counts }
    }

    /// Adds one report, which was decoded under the same task.
    ///
    /// # Panics
    /// If it was not.
    pub fn fold(&mut self, report: &Report) {
        self.reports += 1;
        match (&mut self.counts, report) {
            (Counts::Collision(counts), Report::Collision(report)) => counts.fold(report),
            (Counts::Coco(counts), Report::Coco(report)) => counts.fold(report),
            (Counts::HashBin(counts), Report::HashBin(report)) => counts.fold(report),
            _ => panic!("reports are decoded under the task of the totals"),
        }
    }

    /// Adds totals of the same task (and, if open, of the same items).
    ///
    /// # Panics
    /// If the totals are of another shape.
    pub fn merge(&mut self, other: &Self) {
        self.reports += other.reports;
        match (&mut self.counts, &other.counts) {
            (Counts::Collision(counts), Counts::Collision(others)) => counts.merge(others),
            (Counts::Coco(counts), Counts::Coco(others)) => counts.merge(others),
            (Counts::HashBin(counts), Counts::HashBin(others)) => counts.merge(others),
            _ => panic!("totals of one task are of one mechanism"),
        }
    }

    /// Number of reports folded, n.
    #[must_use]
    pub const fn reports(&self) -> u64 {
        self.reports
    }
}

/// What is estimated of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Estimand {
    /// Average value, a missing entry counting as 0; in [-1, 1].
    Mean,
    /// Frequency of the item with a positive value; in [0, 1].
    Plus,
    /// Frequency of the item with a negative value; in [0, 1].
    Minus,
    /// Non-missing frequency: of the item with any value, each weighing its
    /// magnitude; in [0, 1].
    Nonmissing,
}

impl Estimand {
    /// All of them, in the order of output.
    pub const ALL: [Self; 4] = [Self::Mean, Self::Plus, Self::Minus, Self::Nonmissing];

    /// The word used in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Nonmissing => "nonmissing",
        }
    }
}

/// An unbiased estimate and the standard deviation of its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Point {
    /// From the variance of one report's contribution.
    fn new(estimate: f64, variance: f64, reports: f64) -> Self {
        Self {
            estimate,
            standard_error: (variance / reports).sqrt(),
        }
    }
}

/// Variance of one report's contribution, averaged over people of whom a
/// `share`, clamped to [0, 1], has what is counted: `with` is the variance for
/// those, `without` for the others, of contributions that are 1 and 0 on average.
///
/// With signs that is all, the people being given. A real value makes its bearer
/// count sometimes, which can add up to the variance of who counts.
fn variance_over_people(kind: ValueKind, share: f64, with: f64, without: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    let mixed = share * with + (1.0 - share) * without;
    match kind {
        ValueKind::Sign => mixed,
        ValueKind::Real => mixed + share * (1.0 - share),
    }
}

/// Covariance of one report's contributions to mean and non-missing frequency,
/// averaged over people, from the expected `product` for those who have a
/// positive value.
///
/// As with [`variance_over_people`]: with signs the people are given, so that
/// the product of their means is to subtract; real values are as random as if
/// the people were drawn too.
fn covariance_over_people(kind: ValueKind, mean: f64, nonmissing: f64, product: f64) -> f64 {
    let share = nonmissing.clamp(0.0, 1.0);
    let mean = mean.clamp(-share, share);
    match kind {
        ValueKind::Sign => mean * (product - 1.0),
        ValueKind::Real => mean * (product - share),
    }
}

/// Point estimates of one item; `None` what the mechanism does not estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemPoints {
    /// [`Estimand::Mean`].
    pub mean: Option<Point>,
    /// [`Estimand::Plus`].
    pub plus: Option<Point>,
    /// [`Estimand::Minus`].
    pub minus: Option<Point>,
    /// [`Estimand::Nonmissing`].
    pub nonmissing: Option<Point>,
    /// Covariance of the noise of mean and non-missing frequency, where both
    /// are estimated.
    pub covariance: Option<f64>,
}

impl ItemPoints {
    /// The point estimate of one estimand, where there is one.
    #[must_use]
    pub const fn get(&self, estimand: Estimand) -> Option<Point> {
        match estimand {
            Estimand::Mean => self.mean,
            Estimand::Plus => self.plus,
            Estimand::Minus => self.minus,
            Estimand::Nonmissing => self.nonmissing,
        }
    }
}
