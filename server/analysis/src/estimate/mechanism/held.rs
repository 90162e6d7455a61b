//! Type-erased questions and counts: the mechanism may have any type.
//!
//! A question bundles a mechanism with a domain, a local ε and rates. Counts belong to one such
//! question. So code that does not know the mechanism cannot mix up questions.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use hushbin::domain::Domain;
use hushbin::{Question, Report};

use super::contract::{CountedReports, Estimated, Squares, SumRates};
use crate::estimate::fold::{Reader, TotalsError};
use crate::estimate::law::{Cells, Law};
use crate::estimate::point::{Estimand, ItemPoints, SamplingModel};

/// A mechanism that can recognise its own reports.
pub(crate) trait Registered: Estimated {
    /// Returns the report in the type of this mechanism. `None` if it is a report of another
    /// mechanism.
    fn own(report: &Report) -> Option<&Self::Report>;
}

/// A question whose mechanism may have any type, with all that can be computed before any report
/// exists.
pub(crate) trait Prepared: Debug + Send + Sync {
    /// Returns the quantities that are estimated for an item: see [`Estimated::estimands`].
    fn estimands(&self) -> &'static [Estimand];

    /// Returns the number of counters, or words of counters, that a report updates: see
    /// [`Estimated::steps`].
    fn steps(&self) -> Option<u64>;

    /// Returns the number of outcomes of which each report names one, uniformly distributed: see
    /// [`Estimated::uniform_outcomes`].
    fn places(&self) -> u32;

    /// Returns the rates that determine the variance of an estimated sum of shares: see
    /// [`Estimated::sums`].
    fn sums(&self) -> Option<SumRates<'_>>;

    /// Returns the minimum and maximum contribution of one report to an estimand: see
    /// [`Estimated::contribution_range`].
    fn reach(&self, estimand: Estimand) -> [f64; 2];

    /// Returns the variances of one report's contribution, for people [with, without] the item: see
    /// [`Estimated::variances`]. `None` if the mechanism does not estimate `estimand`.
    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]>;

    /// Creates empty counts: see [`Estimated::counts`].
    fn counts(self: Arc<Self>, items: &[u64]) -> Box<dyn Counts>;
}

/// Counts of reports, whose mechanism may have any type.
pub(crate) trait Counts: Debug + Send + Sync + Any {
    /// Clones the counts.
    fn boxed(&self) -> Box<dyn Counts>;

    /// Adds one report. Returns the outcome that the report names: see
    /// [`Estimated::uniform_outcome`].
    ///
    /// # Panics
    /// If the report belongs to another mechanism.
    fn fold(&mut self, report: &Report) -> Option<u32>;

    /// Adds counts of the same question.
    ///
    /// # Panics
    /// If the counts belong to another mechanism.
    fn merge(&mut self, others: &dyn Counts);

    /// Appends the counts to the encoding of totals: see [`Estimated::encode`].
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Decodes counts of `reports` reports into empty counts: see [`Estimated::decode`].
    fn decode(&mut self, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError>;

    /// Computes point estimates of `items`, in the same order: see [`Estimated::points`].
    fn points(&self, whose: SamplingModel, reports: u64, items: &[u64]) -> Vec<ItemPoints>;

    /// Returns the distribution of the reports' contributions to an item's estimates: see
    /// [`Estimated::law`].
    fn law(&self, whose: SamplingModel, reports: u64, item: u64, points: &ItemPoints) -> Law;

    /// Returns the counts of all answers, if every person gives exactly one answer: see
    /// [`Estimated::cells`].
    fn cells(&self, whose: SamplingModel, reports: u64) -> Option<Cells>;

    /// Returns the mean square of reported numbers and its upper bound: see [`Estimated::squares`].
    fn squares(&self, whose: SamplingModel, reports: u64) -> Option<Squares>;
}

impl Clone for Box<dyn Counts> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// A mechanism with the domain and local ε of a question.
#[derive(Debug)]
pub(super) struct TypedQuestion<M: Estimated> {
    mechanism: M,
    domain: Domain,
    epsilon: f64,
    /// Rates of the mechanism. They are computed on first use, because folding does not need them.
    rates: OnceLock<M::Rates>,
}

impl<M: Estimated> TypedQuestion<M> {
    pub(super) fn new(mechanism: &M, question: &Question) -> Self {
        Self {
            mechanism: mechanism.clone(),
            domain: question.domain(),
            epsilon: question.epsilon(),
            rates: OnceLock::new(),
        }
    }

    fn rates(&self) -> &M::Rates {
        let rates = || self.mechanism.rates(&self.domain, self.epsilon);
        self.rates.get_or_init(rates)
    }
}

impl<M: Registered> Prepared for TypedQuestion<M> {
    fn estimands(&self) -> &'static [Estimand] {
        self.mechanism.estimands(&self.domain)
    }

    fn steps(&self) -> Option<u64> {
        self.mechanism.steps(&self.domain, self.epsilon)
    }

    fn places(&self) -> u32 {
        self.mechanism.uniform_outcomes(&self.domain, self.epsilon)
    }

    fn sums(&self) -> Option<SumRates<'_>> {
        M::sums(self.rates())
    }

    fn reach(&self, estimand: Estimand) -> [f64; 2] {
        let own = &self.mechanism;
        own.contribution_range(self.rates(), &self.domain, self.epsilon, estimand)
    }

    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]> {
        let variances = || M::variances(self.rates(), self.domain.sparsity(), estimand);
        self.estimands().contains(&estimand).then(variances)
    }

    fn counts(self: Arc<Self>, items: &[u64]) -> Box<dyn Counts> {
        let counts = self.mechanism.counts(&self.domain, self.epsilon, items);
        Box::new(TypedCounts { own: self, counts })
    }
}

/// Counts of reports, with the question that the reports answer.
#[derive(Debug)]
struct TypedCounts<M: Estimated> {
    own: Arc<TypedQuestion<M>>,
    counts: M::Counts,
}

impl<M: Estimated> TypedCounts<M> {
    fn seen(&self, whose: SamplingModel, reports: u64) -> CountedReports<'_, M> {
        CountedReports {
            rates: self.own.rates(),
            counts: &self.counts,
            whose,
            sparsity: self.own.domain.sparsity(),
            reports,
        }
    }
}

impl<M: Registered> Counts for TypedCounts<M> {
    fn boxed(&self) -> Box<dyn Counts> {
        Box::new(Self {
            own: Arc::clone(&self.own),
            counts: self.counts.clone(),
        })
    }

    fn fold(&mut self, report: &Report) -> Option<u32> {
        let report = M::own(report).expect("reports are decoded under the question of the totals");
        M::fold(&mut self.counts, report);
        M::uniform_outcome(report)
    }

    fn merge(&mut self, others: &dyn Counts) {
        let others: &dyn Any = others;
        let others: &Self = others
            .downcast_ref()
            .expect("totals of one question are of one mechanism");
        M::merge(&mut self.counts, &others.counts);
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        M::encode(&self.counts, bytes);
    }

    fn decode(&mut self, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError> {
        M::decode(&mut self.counts, reports, bytes)
    }

    fn points(&self, whose: SamplingModel, reports: u64, items: &[u64]) -> Vec<ItemPoints> {
        self.own.mechanism.points(&self.seen(whose, reports), items)
    }

    fn law(&self, whose: SamplingModel, reports: u64, item: u64, points: &ItemPoints) -> Law {
        let seen = self.seen(whose, reports);
        self.own.mechanism.law(&seen, item, points)
    }

    fn cells(&self, whose: SamplingModel, reports: u64) -> Option<Cells> {
        self.own.mechanism.cells(&self.seen(whose, reports))
    }

    fn squares(&self, whose: SamplingModel, reports: u64) -> Option<Squares> {
        self.own.mechanism.squares(&self.seen(whose, reports))
    }
}
