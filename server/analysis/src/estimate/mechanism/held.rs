//! Type-erased questions and the counts.
//!
//! A question bundles a mechanism with its domain, ε and rates, and counts belong to one such
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
    /// Returns the mechanism's own report. `None` if the report is one of another mechanism.
    fn own(report: &Report) -> Option<&Self::Report>;
}

/// A question with a mechanism of any type, and everything that is known before any report exists.
pub(crate) trait Prepared: Debug + Send + Sync {
    /// Forwards to [`Estimated::estimands`].
    fn estimands(&self) -> &'static [Estimand];

    /// Forwards to [`Estimated::steps`].
    fn steps(&self) -> Option<u64>;

    /// Forwards to [`Estimated::uniform_outcomes`].
    fn places(&self) -> u32;

    /// Forwards to [`Estimated::sums`].
    fn sums(&self) -> Option<SumRates<'_>>;

    /// Forwards to [`Estimated::contribution_range`].
    fn reach(&self, estimand: Estimand) -> [f64; 2];

    /// Forwards to [`Estimated::variances`]. `None` if the mechanism does not estimate `estimand`.
    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]>;

    /// Forwards to [`Estimated::counts`].
    fn counts(self: Arc<Self>, items: &[u64]) -> Box<dyn Counts>;
}

/// Interface of the counts of reports, which is the same for all mechanisms.
pub(crate) trait Counts: Debug + Send + Sync + Any {
    /// Clones the counts.
    fn boxed(&self) -> Box<dyn Counts>;

    /// Adds one report. Returns the outcome that it names, as in [`Estimated::uniform_outcome`].
    ///
    /// # Panics
    /// If the report is one of another mechanism.
    fn fold(&mut self, report: &Report) -> Option<u32>;

    /// Adds counts of the same question.
    ///
    /// # Panics
    /// If the counts are those of another mechanism.
    fn merge(&mut self, others: &dyn Counts);

    /// Forwards to [`Estimated::encode`].
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Forwards to [`Estimated::decode`].
    fn decode(&mut self, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError>;

    /// Forwards to [`Estimated::points`].
    fn points(&self, whose: SamplingModel, reports: u64, items: &[u64]) -> Vec<ItemPoints>;

    /// Forwards to [`Estimated::law`].
    fn law(&self, whose: SamplingModel, reports: u64, item: u64, points: &ItemPoints) -> Law;

    /// Forwards to [`Estimated::cells`].
    fn cells(&self, whose: SamplingModel, reports: u64) -> Option<Cells>;

    /// Forwards to [`Estimated::squares`].
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

/// Counts, with the question to which they belong.
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
