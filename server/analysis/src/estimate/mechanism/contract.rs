//! Interface between estimation and the mechanisms.

use std::fmt::Debug;

use hushbin::domain::Domain;
use hushbin::mechanism::{collision, pattern};

use crate::estimate::fold::{Reader, TotalsError};
use crate::estimate::law::{Cells, Law};
use crate::estimate::point::{Estimand, ItemPoints, SamplingModel};

/// Counted reports of a question.
#[derive(Debug)]
pub(crate) struct CountedReports<'a, M: Estimated> {
    pub(super) rates: &'a M::Rates,
    pub(super) counts: &'a M::Counts,
    /// Sampling model of the people.
    pub(super) whose: SamplingModel,
    /// Sparsity s of the question.
    pub(super) sparsity: u32,
    /// Number of reports n.
    pub(super) reports: u64,
}

/// Squares of reported numbers with Laplace noise, summed over reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Squares {
    /// Observed mean square.
    pub(crate) mean: f64,
    /// Upper bound on the expected square for honest reports.
    pub(crate) most: f64,
    /// Number of squared numbers.
    pub(crate) numbers: f64,
}

/// Rates that determine the variances of sums of shares.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SumRates<'a> {
    /// Rates of hits on single elements.
    Hits(&'a collision::Rates),
    /// Rates of a pattern's outputs.
    Outputs(&'a pattern::Rates),
}

/// A mechanism with folding, estimation and prediction.
pub(crate) trait Estimated: Debug + Clone + Send + Sync + 'static {
    /// Report of the mechanism.
    type Report;
    /// Probabilities that reports support an element, over a domain at local ε.
    type Rates: Debug + Send + Sync;
    /// Counts of reports. They merge by addition.
    type Counts: Debug + Clone + Send + Sync;

    /// Returns the quantities estimated for an item, in the order of [`Estimand::ALL`]. This is the
    /// only definition.
    fn estimands(&self, domain: &Domain) -> &'static [Estimand];

    /// Computes the rates of a task with these parameters.
    fn rates(&self, domain: &Domain, epsilon: f64) -> Self::Rates;

    /// Creates empty counts for these items (keys) of an open domain. A closed domain always counts
    /// all items.
    fn counts(&self, domain: &Domain, epsilon: f64, items: &[u64]) -> Self::Counts;

    /// Adds one report of the same task.
    fn fold(counts: &mut Self::Counts, report: &Self::Report);

    /// Returns the number of counts, or words of counts, that a report updates. `None` for an open
    /// domain: its reports are tested against every queried item.
    fn steps(&self, domain: &Domain, epsilon: f64) -> Option<u64>;

    /// Adds counts of the same task and, for an open domain, of the same items.
    fn merge(counts: &mut Self::Counts, others: &Self::Counts);

    /// Appends the counts to the encoding of totals. Equal counts have equal bytes, regardless of
    /// the order of folding and merging.
    ///
    /// # Panics
    /// If an open domain has queried items.
    fn encode(counts: &Self::Counts, bytes: &mut Vec<u8>);

    /// Decodes the output of [`Estimated::encode`] for n = `reports` reports into empty counts of
    /// the same task.
    ///
    /// # Errors
    /// If the bytes are not counts, or no reports have such counts.
    fn decode(
        counts: &mut Self::Counts,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError>;

    /// Computes point estimates of `items`, in the same order.
    fn points(&self, seen: &CountedReports<'_, Self>, items: &[u64]) -> Vec<ItemPoints>;

    /// Returns the distribution of the reports' contributions to the estimates of an item (an index
    /// or key), given its points. Normal by default.
    fn law(&self, _seen: &CountedReports<'_, Self>, _item: u64, _points: &ItemPoints) -> Law {
        Law::Normal
    }

    /// Returns the counts of all answers, if every person gives exactly one and sums of shares are
    /// known. `None` by default.
    fn cells(&self, _seen: &CountedReports<'_, Self>) -> Option<Cells> {
        None
    }

    /// Returns the rates that determine the variances of sums of shares. `None` if there are none.
    fn sums(_rates: &Self::Rates) -> Option<SumRates<'_>> {
        None
    }

    /// Returns the minimum and maximum contribution of one report to an estimand in
    /// [`Estimated::estimands`], over all items and all reports.
    fn contribution_range(
        &self,
        rates: &Self::Rates,
        domain: &Domain,
        epsilon: f64,
        estimand: Estimand,
    ) -> [f64; 2];

    /// Returns the number of places among which every report names a uniformly distributed one, for
    /// all answers. This is so because each report draws its hash functions. Returns 0 if reports
    /// name no place.
    fn uniform_outcomes(&self, _domain: &Domain, _epsilon: f64) -> u32 {
        0
    }

    /// Returns the place that a report names.
    fn uniform_outcome(_report: &Self::Report) -> Option<u32> {
        None
    }

    /// Returns the observed mean square of reported numbers, with its maximum expectation for
    /// honest people. `None` if squares carry no information.
    fn squares(&self, _seen: &CountedReports<'_, Self>) -> Option<Squares> {
        None
    }

    /// Returns the variances of one report's estimate of an item, for people [with, without] it.
    /// People have s full entries. `estimand` is in [`Estimated::estimands`].
    fn variances(rates: &Self::Rates, sparsity: u32, estimand: Estimand) -> [f64; 2];
}

/// Estimator from the hits of n reports, with the rates of a mechanism.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimator<Rates> {
    pub(crate) rates: Rates,
    pub(crate) whose: SamplingModel,
    pub(crate) reports: f64,
}

impl<Rates> Estimator<Rates> {
    pub(crate) fn new(rates: Rates, whose: SamplingModel, reports: u64) -> Self {
        Self {
            rates,
            whose,
            reports: reports as f64,
        }
    }
}
