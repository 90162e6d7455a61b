//! Interface through which estimation uses the mechanisms.

use std::fmt::Debug;

use hushbin::domain::Domain;
use hushbin::mechanism::{collision, pattern};

use crate::estimate::counters::{TotalsError, TotalsReader};
use crate::estimate::distribution::{CellOrOutputCounts, ContributionDistribution};
use crate::estimate::point::{Estimand, ItemPointEstimates, SamplingModel};

/// Counts of a question's reports, with the other data from which the question's estimates are
/// computed.
#[derive(Debug)]
pub(crate) struct CountedReports<'a, M: EstimatedMechanism> {
    pub(super) estimation_parameters: &'a M::EstimationParameters,
    pub(super) counts: &'a M::Counts,
    /// Sampling model of the people who reported.
    pub(super) sampling_model: SamplingModel,
    /// Sparsity s of the question.
    pub(super) sparsity: u32,
    /// Number of reports n.
    pub(super) reports: u64,
}

/// Statistics of the squares of reported numbers that have Laplace noise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SquareStatistics {
    /// Observed mean square.
    pub(crate) mean: f64,
    /// Upper bound on the expected mean square of honest reports.
    pub(crate) max_expected_mean_square: f64,
    /// Number of values whose squares are averaged.
    pub(crate) square_count: f64,
}

/// Rates that determine the variance of an estimated sum of shares.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ShareSumEstimator<'a> {
    /// Rates of hits on single elements.
    Hits(&'a collision::CollisionHitProbabilities),
    /// Rates of a pattern's outputs.
    Outputs(&'a pattern::PatternEstimator),
}

/// A mechanism for which reports can be counted, quantities can be estimated, and errors can be
/// predicted.
pub(crate) trait EstimatedMechanism: Debug + Clone + Send + Sync + 'static {
    /// Report of the mechanism.
    type Report;
    /// Probabilities of reports given an input, for one domain and one local ε. Estimates are
    /// computed from these probabilities.
    type EstimationParameters: Debug + Send + Sync;
    /// Counts of reports. They merge by addition.
    type Counts: Debug + Clone + Send + Sync;

    /// Returns the quantities that are estimated for an item, in the order of [`Estimand::ALL`].
    /// All other code takes the list from this function.
    fn estimands(&self, domain: &Domain) -> &'static [Estimand];

    /// Computes the mechanism's rates for this domain and local ε.
    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> Self::EstimationParameters;

    /// Creates empty counts. For an open domain, `items` are the keys of the items to count. For a
    /// closed domain, all items are counted.
    fn empty_counts(&self, domain: &Domain, epsilon: f64, items: &[u64]) -> Self::Counts;

    /// Adds one report of the same task to the counts.
    fn add_report(counts: &mut Self::Counts, report: &Self::Report);

    /// Returns the number of counters, or words of counters, that a report updates. `None` for an
    /// open domain, whose reports are tested against every queried item.
    fn counter_updates_per_report(&self, domain: &Domain, epsilon: f64) -> Option<u64>;

    /// Adds counts of the same task and, for an open domain, of the same items.
    fn merge(counts: &mut Self::Counts, others: &Self::Counts);

    /// Appends the counts to the encoding of totals. Equal counts have equal bytes, regardless of
    /// the order of folding and merging.
    ///
    /// # Panics
    /// If the domain is open and has queried items.
    fn encode(counts: &Self::Counts, bytes: &mut Vec<u8>);

    /// Decodes the output of [`EstimatedMechanism::encode`] for n = `reports` reports into empty
    /// counts of the same task.
    ///
    /// # Errors
    /// If the bytes are not encoded counts, or if no set of `reports` reports has such counts.
    fn decode(
        counts: &mut Self::Counts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError>;

    /// Computes point estimates of `items`, in the same order.
    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates>;

    /// Returns the distribution of the reports' contributions to the estimates of an item. `_item`
    /// is the item's index or key, and `_points` are its point estimates. The default is the normal
    /// distribution.
    fn contribution_distribution(
        &self,
        _seen: &CountedReports<'_, Self>,
        _item: u64,
        _points: &ItemPointEstimates,
    ) -> ContributionDistribution {
        ContributionDistribution::Normal
    }

    /// Returns the counts of all answers, if every person gives exactly one answer and the
    /// variances of sums of shares are known. `None` by default.
    fn cell_or_output_counts(
        &self,
        _seen: &CountedReports<'_, Self>,
    ) -> Option<CellOrOutputCounts> {
        None
    }

    /// Returns the rates that determine the variance of an estimated sum of shares. `None` if the
    /// mechanism has no such rates.
    fn share_sum_estimator(_rates: &Self::EstimationParameters) -> Option<ShareSumEstimator<'_>> {
        None
    }

    /// Returns the minimum and maximum contribution of one report to an estimand in
    /// [`EstimatedMechanism::estimands`], over all items and all reports.
    fn contribution_range(
        &self,
        rates: &Self::EstimationParameters,
        domain: &Domain,
        epsilon: f64,
        estimand: Estimand,
    ) -> [f64; 2];

    /// Returns the number of possible outcomes, if each report names one outcome that is uniformly
    /// distributed for every answer. An outcome is a bucket, a side or a sign. It is uniform
    /// because each report draws its hash functions at random. Returns 0 if reports name no uniform
    /// outcome.
    fn uniform_outcome_count(&self, _domain: &Domain, _epsilon: f64) -> u32 {
        0
    }

    /// Returns the outcome that a report names, among those of
    /// [`EstimatedMechanism::uniform_outcome_count`].
    fn uniform_outcome(_report: &Self::Report) -> Option<u32> {
        None
    }

    /// Returns the observed mean square of reported numbers, and an upper bound on the expected
    /// mean square of honest reports. `None` if the squares of reported numbers carry no
    /// information.
    fn square_statistics(&self, _seen: &CountedReports<'_, Self>) -> Option<SquareStatistics> {
        None
    }

    /// Returns the variances of one report's contribution to an item's estimate, for people [with,
    /// without] the item. People are assumed to have s full entries. `estimand` must be in
    /// [`EstimatedMechanism::estimands`].
    fn variances_with_and_without(
        rates: &Self::EstimationParameters,
        sparsity: u32,
        estimand: Estimand,
    ) -> [f64; 2];
}

/// Estimator that uses the hits of n reports and the rates of a mechanism.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HitEstimator<Rates> {
    pub(crate) hit_probabilities: Rates,
    pub(crate) sampling_model: SamplingModel,
    pub(crate) reports: f64,
}

impl<Rates> HitEstimator<Rates> {
    pub(crate) fn new(rates: Rates, whose: SamplingModel, reports: u64) -> Self {
        Self {
            hit_probabilities: rates,
            sampling_model: whose,
            reports: reports as f64,
        }
    }
}
