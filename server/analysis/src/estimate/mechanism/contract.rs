//! What estimating needs of every mechanism.

use std::fmt::Debug;

use hushbin::domain::Domain;
use hushbin::mechanism::{collision, pattern};

use crate::estimate::fold::{Reader, TotalsError};
use crate::estimate::law::{Cells, Law};
use crate::estimate::point::{Estimand, ItemPoints, People};

/// Reports to a question, as they are counted.
#[derive(Debug)]
pub(crate) struct Seen<'a, M: Estimated> {
    pub(super) rates: &'a M::Rates,
    pub(super) counts: &'a M::Counts,
    /// People whose reports they are.
    pub(super) whose: People,
    /// Sparsity s of the question.
    pub(super) sparsity: u32,
    /// Number of reports, n.
    pub(super) reports: u64,
}

/// What reports with noise of the law of Laplace add up to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Squares {
    /// The mean of the squares.
    pub(crate) mean: f64,
    /// What it is on average, at most.
    pub(crate) most: f64,
    /// Of how many numbers.
    pub(crate) numbers: f64,
}

/// Rates that variances of sums of shares follow from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SumRates<'a> {
    /// Of hits of single elements.
    Hits(&'a collision::Rates),
    /// Of a pattern's outputs.
    Outputs(&'a pattern::Rates),
}

/// A mechanism whose reports can be folded, estimated from and predicted.
pub(crate) trait Estimated: Debug + Clone + Send + Sync + 'static {
    /// One randomised message.
    type Report;
    /// With which probabilities reports support what, over a domain at local ε.
    type Rates: Debug + Send + Sync;
    /// What is kept of reports; merges by addition.
    type Counts: Debug + Clone + Send + Sync;

    /// What is estimated of an item, in the order of [`Estimand::ALL`]: the one place that says so.
    fn estimands(&self, domain: &Domain) -> &'static [Estimand];

    /// The rates of a task that the parameters belong to.
    fn rates(&self, domain: &Domain, epsilon: f64) -> Self::Rates;

    /// No reports yet, for these items (keys) of an open domain; of a closed one
    /// all items are counted whatever is asked.
    fn counts(&self, domain: &Domain, epsilon: f64, items: &[u64]) -> Self::Counts;

    /// Adds one report of the same task.
    fn fold(counts: &mut Self::Counts, report: &Self::Report);

    /// How many counts, or words of counts, a report is added to; `None` of an open domain,
    /// where it is held against each item that is asked for.
    fn steps(&self, domain: &Domain, epsilon: f64) -> Option<u64>;

    /// Adds counts of the same task and, if it is open, of the same items.
    fn merge(counts: &mut Self::Counts, others: &Self::Counts);

    /// Appends the counts to the encoding of totals: the same bytes for the same counts,
    /// however reports were folded and merged.
    ///
    /// # Panics
    /// If they are of items of an open domain.
    fn encode(counts: &Self::Counts, bytes: &mut Vec<u8>);

    /// Takes what [`Estimated::encode`] wrote of n = `reports` reports into counts of the
    /// same task, which hold none yet.
    ///
    /// # Errors
    /// Where the bytes are not counts, or no reports have such counts.
    fn decode(
        counts: &mut Self::Counts,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError>;

    /// Point estimates of `items`, in their order.
    fn points(&self, seen: &Seen<'_, Self>, items: &[u64]) -> Vec<ItemPoints>;

    /// How reports contribute to the estimates of one item (an index or key), of these
    /// points; a normal law unless the mechanism says more.
    fn law(&self, _seen: &Seen<'_, Self>, _item: u64, _points: &ItemPoints) -> Law {
        Law::Normal
    }

    /// What reports say of all answers, where everybody gives exactly one and sums of shares
    /// are known; `None` unless the mechanism says so.
    fn cells(&self, _seen: &Seen<'_, Self>) -> Option<Cells> {
        None
    }

    /// The rates that variances of sums of shares follow from; `None` where they follow from none.
    fn sums(_rates: &Self::Rates) -> Option<SumRates<'_>> {
        None
    }

    /// The least and the most that one report can count for an estimand that is among
    /// [`Estimated::estimands`], of any item, whatever it says.
    fn reach(
        &self,
        rates: &Self::Rates,
        domain: &Domain,
        epsilon: f64,
        estimand: Estimand,
    ) -> [f64; 2];

    /// Among how many places reports name one that is as likely as any other, whatever
    /// people answer, as it is of hash functions drawn with each; 0 where they name none.
    fn places(&self, _domain: &Domain, _epsilon: f64) -> u32 {
        0
    }

    /// Which of these a report names.
    fn place(_report: &Self::Report) -> Option<u32> {
        None
    }

    /// The mean square of what reports say, and the most that it is on average of people who
    /// follow the mechanism, both over so many numbers; `None` where it is known anyway.
    fn squares(&self, _seen: &Seen<'_, Self>) -> Option<Squares> {
        None
    }

    /// Variances of one report's estimate of an item, of people with s full entries who have it,
    /// or do not, for an estimand that is among [`Estimated::estimands`].
    fn variances(rates: &Self::Rates, sparsity: u32, estimand: Estimand) -> [f64; 2];
}

/// Estimates of n reports from their hits, under one set of a mechanism's rates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimator<Rates> {
    pub(crate) rates: Rates,
    pub(crate) whose: People,
    pub(crate) reports: f64,
}

impl<Rates> Estimator<Rates> {
    pub(crate) fn new(rates: Rates, whose: People, reports: u64) -> Self {
        Self {
            rates,
            whose,
            reports: reports as f64,
        }
    }
}
