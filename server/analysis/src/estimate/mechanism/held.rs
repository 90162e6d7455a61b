//! One value per question: its mechanism, domain and ε with the rates and counts that follow
//! from them, so that none of these can be of another question.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use hushbin::domain::Domain;
use hushbin::{Question, Report};

use super::contract::{Estimated, Seen, Squares, SumRates};
use crate::estimate::fold::{Reader, TotalsError};
use crate::estimate::law::{Cells, Law};
use crate::estimate::point::{Estimand, ItemPoints, People};

/// Mechanism with the type of its reports.
pub(crate) trait Registered: Estimated {
    /// The report, if this mechanism made it.
    fn own(report: &Report) -> Option<&Self::Report>;
}

/// Question of any mechanism: what is known of its estimates before there are reports.
pub(crate) trait Prepared: Debug + Send + Sync {
    /// As [`Estimated::estimands`].
    fn estimands(&self) -> &'static [Estimand];

    /// As [`Estimated::steps`].
    fn steps(&self) -> Option<u64>;

    /// As [`Estimated::places`].
    fn places(&self) -> u32;

    /// As [`Estimated::sums`].
    fn sums(&self) -> Option<SumRates<'_>>;

    /// As [`Estimated::reach`].
    fn reach(&self, estimand: Estimand) -> [f64; 2];

    /// As [`Estimated::variances`]; `None` where the mechanism does not estimate this.
    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]>;

    /// As [`Estimated::counts`].
    fn counts(self: Arc<Self>, items: &[u64]) -> Box<dyn Counts>;
}

/// Counts of the reports of any mechanism.
pub(crate) trait Counts: Debug + Send + Sync + Any {
    /// The same again.
    fn boxed(&self) -> Box<dyn Counts>;

    /// Adds one report, and returns which of several places it names, as
    /// [`Estimated::place`].
    ///
    /// # Panics
    /// If the report is of another mechanism.
    fn fold(&mut self, report: &Report) -> Option<u32>;

    /// Adds counts of the same question.
    ///
    /// # Panics
    /// If they are of another mechanism.
    fn merge(&mut self, others: &dyn Counts);

    /// As [`Estimated::encode`].
    fn encode(&self, bytes: &mut Vec<u8>);

    /// As [`Estimated::decode`].
    fn decode(&mut self, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError>;

    /// As [`Estimated::points`].
    fn points(&self, whose: People, reports: u64, items: &[u64]) -> Vec<ItemPoints>;

    /// As [`Estimated::law`].
    fn law(&self, whose: People, reports: u64, item: u64, points: &ItemPoints) -> Law;

    /// As [`Estimated::cells`].
    fn cells(&self, whose: People, reports: u64) -> Option<Cells>;

    /// As [`Estimated::squares`].
    fn squares(&self, whose: People, reports: u64) -> Option<Squares>;
}

impl Clone for Box<dyn Counts> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// Mechanism over a question's domain at its ε.
#[derive(Debug)]
pub(super) struct Own<M: Estimated> {
    mechanism: M,
    domain: Domain,
    epsilon: f64,
    /// Computed when they are first needed, which folding does not.
    rates: OnceLock<M::Rates>,
}

impl<M: Estimated> Own<M> {
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

impl<M: Registered> Prepared for Own<M> {
    fn estimands(&self) -> &'static [Estimand] {
        self.mechanism.estimands(&self.domain)
    }

    fn steps(&self) -> Option<u64> {
        self.mechanism.steps(&self.domain, self.epsilon)
    }

    fn places(&self) -> u32 {
        self.mechanism.places(&self.domain, self.epsilon)
    }

    fn sums(&self) -> Option<SumRates<'_>> {
        M::sums(self.rates())
    }

    fn reach(&self, estimand: Estimand) -> [f64; 2] {
        let own = &self.mechanism;
        own.reach(self.rates(), &self.domain, self.epsilon, estimand)
    }

    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]> {
        let variances = || M::variances(self.rates(), self.domain.sparsity(), estimand);
        self.estimands().contains(&estimand).then(variances)
    }

    fn counts(self: Arc<Self>, items: &[u64]) -> Box<dyn Counts> {
        let counts = self.mechanism.counts(&self.domain, self.epsilon, items);
        Box::new(Held { own: self, counts })
    }
}

/// Counts with the mechanism that they are of.
#[derive(Debug)]
struct Held<M: Estimated> {
    own: Arc<Own<M>>,
    counts: M::Counts,
}

impl<M: Estimated> Held<M> {
    fn seen(&self, whose: People, reports: u64) -> Seen<'_, M> {
        Seen {
            rates: self.own.rates(),
            counts: &self.counts,
            whose,
            sparsity: self.own.domain.sparsity(),
            reports,
        }
    }
}

impl<M: Registered> Counts for Held<M> {
    fn boxed(&self) -> Box<dyn Counts> {
        Box::new(Self {
            own: Arc::clone(&self.own),
            counts: self.counts.clone(),
        })
    }

    fn fold(&mut self, report: &Report) -> Option<u32> {
        let report = M::own(report).expect("reports are decoded under the question of the totals");
        M::fold(&mut self.counts, report);
        M::place(report)
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

    fn points(&self, whose: People, reports: u64, items: &[u64]) -> Vec<ItemPoints> {
        self.own.mechanism.points(&self.seen(whose, reports), items)
    }

    fn law(&self, whose: People, reports: u64, item: u64, points: &ItemPoints) -> Law {
        let seen = self.seen(whose, reports);
        self.own.mechanism.law(&seen, item, points)
    }

    fn cells(&self, whose: People, reports: u64) -> Option<Cells> {
        self.own.mechanism.cells(&self.seen(whose, reports))
    }

    fn squares(&self, whose: People, reports: u64) -> Option<Squares> {
        self.own.mechanism.squares(&self.seen(whose, reports))
    }
}
