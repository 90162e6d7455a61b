//! Type-erased questions and counts: the mechanism may have any type.
//!
//! A question bundles a mechanism with a domain, a local ε and rates. Counts belong to one such
//! question. So code that does not know the mechanism cannot mix up questions.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use hushbin::domain::Domain;
use hushbin::{Question, Report};

use super::estimated_mechanism::{
    CountedReports, EstimatedMechanism, ShareSumEstimator, SquareStatistics,
};
use crate::estimate::counters::{TotalsError, TotalsReader};
use crate::estimate::distribution::{CellOrOutputCounts, ContributionDistribution};
use crate::estimate::point::{Estimand, ItemPointEstimates, SamplingModel};

/// A mechanism that can recognise its own reports.
pub(crate) trait ReportDowncast: EstimatedMechanism {
    /// Returns the report in the type of this mechanism. `None` if it is a report of another
    /// mechanism.
    fn as_own_report(report: &Report) -> Option<&Self::Report>;
}

/// A question whose mechanism may have any type, with all that can be computed before any report
/// exists.
pub(crate) trait PreparedQuestion: Debug + Send + Sync {
    /// Returns the quantities that are estimated for an item: see
    /// [`EstimatedMechanism::estimands`].
    fn estimands(&self) -> &'static [Estimand];

    /// Returns the number of counters, or words of counters, that a report updates: see
    /// [`EstimatedMechanism::counter_updates_per_report`].
    fn counter_updates_per_report(&self) -> Option<u64>;

    /// Returns the number of possible outcomes, if each report names a uniformly distributed
    /// outcome: see [`EstimatedMechanism::uniform_outcome_count`].
    fn uniform_outcome_count(&self) -> u32;

    /// Returns the rates that determine the variance of an estimated sum of shares: see
    /// [`EstimatedMechanism::share_sum_estimator`].
    fn share_sum_estimator(&self) -> Option<ShareSumEstimator<'_>>;

    /// Returns the minimum and maximum contribution of one report to an estimand: see
    /// [`EstimatedMechanism::contribution_range`].
    fn contribution_range(&self, estimand: Estimand) -> [f64; 2];

    /// Returns the variances of one report's contribution, for people [with, without] the item: see
    /// [`EstimatedMechanism::variances_with_and_without`]. `None` if the mechanism does not estimate
    /// `estimand`.
    fn variances_with_and_without(&self, estimand: Estimand) -> Option<[f64; 2]>;

    /// Creates empty counts: see [`EstimatedMechanism::empty_counts`].
    fn empty_counts(self: Arc<Self>, items: &[u64]) -> Box<dyn ErasedCounts>;
}

/// Counts of reports, whose mechanism may have any type.
pub(crate) trait ErasedCounts: Debug + Send + Sync + Any {
    /// Clones the counts.
    fn clone_boxed(&self) -> Box<dyn ErasedCounts>;

    /// Adds one report. Returns the outcome that the report names: see
    /// [`EstimatedMechanism::uniform_outcome`].
    ///
    /// # Panics
    /// If the report belongs to another mechanism.
    fn add_report(&mut self, report: &Report) -> Option<u32>;

    /// Adds counts of the same question.
    ///
    /// # Panics
    /// If the counts belong to another mechanism.
    fn merge(&mut self, others: &dyn ErasedCounts);

    /// Appends the counts to the encoding of totals: see [`EstimatedMechanism::encode`].
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Decodes counts of `reports` reports into empty counts: see [`EstimatedMechanism::decode`].
    fn decode(&mut self, reports: u64, bytes: &mut TotalsReader<'_>) -> Result<(), TotalsError>;

    /// Computes point estimates of `items`, in the same order: see
    /// [`EstimatedMechanism::point_estimates`].
    fn point_estimates(
        &self,
        whose: SamplingModel,
        reports: u64,
        items: &[u64],
    ) -> Vec<ItemPointEstimates>;

    /// Returns the distribution of the reports' contributions to an item's estimates: see
    /// [`EstimatedMechanism::contribution_distribution`].
    fn contribution_distribution(
        &self,
        whose: SamplingModel,
        reports: u64,
        item: u64,
        points: &ItemPointEstimates,
    ) -> ContributionDistribution;

    /// Returns the counts of all answers, if every person gives exactly one answer: see
    /// [`EstimatedMechanism::cell_or_output_counts`].
    fn cell_or_output_counts(
        &self,
        whose: SamplingModel,
        reports: u64,
    ) -> Option<CellOrOutputCounts>;

    /// Returns the mean square of reported numbers and its upper bound: see
    /// [`EstimatedMechanism::square_statistics`].
    fn square_statistics(&self, whose: SamplingModel, reports: u64) -> Option<SquareStatistics>;
}

impl Clone for Box<dyn ErasedCounts> {
    fn clone(&self) -> Self {
        (**self).clone_boxed()
    }
}

/// A mechanism with the domain and local ε of a question.
#[derive(Debug)]
pub(super) struct TypedQuestion<M: EstimatedMechanism> {
    mechanism: M,
    domain: Domain,
    epsilon: f64,
    /// Rates of the mechanism. They are computed on first use, because folding does not need them.
    cached_estimation_parameters: OnceLock<M::EstimationParameters>,
}

impl<M: EstimatedMechanism> TypedQuestion<M> {
    pub(super) fn new(mechanism: &M, question: &Question) -> Self {
        Self {
            mechanism: mechanism.clone(),
            domain: question.domain(),
            epsilon: question.epsilon(),
            cached_estimation_parameters: OnceLock::new(),
        }
    }

    fn rates(&self) -> &M::EstimationParameters {
        let rates = || {
            self.mechanism
                .estimation_parameters(&self.domain, self.epsilon)
        };
        self.cached_estimation_parameters.get_or_init(rates)
    }
}

impl<M: ReportDowncast> PreparedQuestion for TypedQuestion<M> {
    fn estimands(&self) -> &'static [Estimand] {
        self.mechanism.estimands(&self.domain)
    }

    fn counter_updates_per_report(&self) -> Option<u64> {
        self.mechanism
            .counter_updates_per_report(&self.domain, self.epsilon)
    }

    fn uniform_outcome_count(&self) -> u32 {
        self.mechanism
            .uniform_outcome_count(&self.domain, self.epsilon)
    }

    fn share_sum_estimator(&self) -> Option<ShareSumEstimator<'_>> {
        M::share_sum_estimator(self.rates())
    }

    fn contribution_range(&self, estimand: Estimand) -> [f64; 2] {
        let own = &self.mechanism;
        own.contribution_range(self.rates(), &self.domain, self.epsilon, estimand)
    }

    fn variances_with_and_without(&self, estimand: Estimand) -> Option<[f64; 2]> {
        let variances =
            || M::variances_with_and_without(self.rates(), self.domain.sparsity(), estimand);
        self.estimands().contains(&estimand).then(variances)
    }

    fn empty_counts(self: Arc<Self>, items: &[u64]) -> Box<dyn ErasedCounts> {
        let counts = self
            .mechanism
            .empty_counts(&self.domain, self.epsilon, items);
        Box::new(TypedCounts {
            question: self,
            counts,
        })
    }
}

/// Counts of reports, with the question that the reports answer.
#[derive(Debug)]
struct TypedCounts<M: EstimatedMechanism> {
    question: Arc<TypedQuestion<M>>,
    counts: M::Counts,
}

impl<M: EstimatedMechanism> TypedCounts<M> {
    fn counted_reports(&self, whose: SamplingModel, reports: u64) -> CountedReports<'_, M> {
        CountedReports {
            estimation_parameters: self.question.rates(),
            counts: &self.counts,
            sampling_model: whose,
            sparsity: self.question.domain.sparsity(),
            reports,
        }
    }
}

impl<M: ReportDowncast> ErasedCounts for TypedCounts<M> {
    fn clone_boxed(&self) -> Box<dyn ErasedCounts> {
        Box::new(Self {
            question: Arc::clone(&self.question),
            counts: self.counts.clone(),
        })
    }

    fn add_report(&mut self, report: &Report) -> Option<u32> {
        let report =
            M::as_own_report(report).expect("reports are decoded under the question of the totals");
        M::add_report(&mut self.counts, report);
        M::uniform_outcome(report)
    }

    fn merge(&mut self, others: &dyn ErasedCounts) {
        let others: &dyn Any = others;
        let others: &Self = others
            .downcast_ref()
            .expect("totals of one question are of one mechanism");
        M::merge(&mut self.counts, &others.counts);
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        M::encode(&self.counts, bytes);
    }

    fn decode(&mut self, reports: u64, bytes: &mut TotalsReader<'_>) -> Result<(), TotalsError> {
        M::decode(&mut self.counts, reports, bytes)
    }

    fn point_estimates(
        &self,
        whose: SamplingModel,
        reports: u64,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        self.question
            .mechanism
            .point_estimates(&self.counted_reports(whose, reports), items)
    }

    fn contribution_distribution(
        &self,
        whose: SamplingModel,
        reports: u64,
        item: u64,
        points: &ItemPointEstimates,
    ) -> ContributionDistribution {
        let seen = self.counted_reports(whose, reports);
        self.question
            .mechanism
            .contribution_distribution(&seen, item, points)
    }

    fn cell_or_output_counts(
        &self,
        whose: SamplingModel,
        reports: u64,
    ) -> Option<CellOrOutputCounts> {
        self.question
            .mechanism
            .cell_or_output_counts(&self.counted_reports(whose, reports))
    }

    fn square_statistics(&self, whose: SamplingModel, reports: u64) -> Option<SquareStatistics> {
        self.question
            .mechanism
            .square_statistics(&self.counted_reports(whose, reports))
    }
}
