//! Collision's estimates: how often reports hit an element, against how often
//! they would hit a member and a non-member.
//!
//! P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the
//! Local and Shuffle Model"), §5: (hit − p_false)/(p_true − p_false), averaged
//! over reports, is unbiased for [element ∈ input].

use hushbin::domain::{Domain, Signed};
use hushbin::mechanism::collision::{Collision, Rates, Report, Support};
use hushbin::{Entry, ValueKind};

use super::contract::Estimated;
use super::contribution::{Contribution, mean_variance, sampled, share_variance};
use super::counted::{Counted, Estimator, Hits};
use super::point::{Estimand, ItemPoints, Point, covariance_over_people, variance_over_people};

impl Estimated for Collision {
    type Report = Report;
    type Rates = Rates;
    type Counts = Counts;

    fn estimands(&self) -> &'static [Estimand] {
        &Estimand::ALL
    }

    fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        self.rates(domain, epsilon)
    }

    fn counts(&self, domain: &Domain, _: f64, items: &[u64]) -> Counts {
        Counts::new(self, domain, items)
    }

    fn fold(counts: &mut Counts, report: &Report) {
        counts.fold(report);
    }

    fn merge(counts: &mut Counts, others: &Counts) {
        counts.counted.merge(&others.counted);
    }

    fn points(
        &self,
        rates: &Rates,
        counts: &Counts,
        kind: ValueKind,
        reports: u64,
        items: &[u64],
    ) -> Vec<ItemPoints> {
        let estimator = Estimator::new(*rates, kind, reports);
        let point = |&item| estimator.item(counts.counted.hits(item));
        items.iter().map(point).collect()
    }

    fn contribution(
        rates: &Rates,
        sparsity: u32,
        estimand: Estimand,
        entries: &[Entry],
    ) -> Contribution {
        sampled(
            sparsity,
            estimand,
            entries,
            |value, present| match estimand {
                Estimand::Mean => {
                    let squares = [true, false].map(|present| rates.mean_square(present));
                    mean_variance(value, present, squares)
                }
                Estimand::Plus | Estimand::Minus => share_variance(
                    present,
                    [true, false].map(|member| rates.frequency_variance(member)),
                ),
                Estimand::Nonmissing => share_variance(
                    present,
                    [true, false].map(|present| rates.nonmissing_variance(present)),
                ),
            },
        )
    }
}

/// Hits by item, with a positive and with a negative sign.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    support: Support,
    domain: Domain,
    counted: Counted,
}

impl Counts {
    fn new(collision: &Collision, domain: &Domain, items: &[u64]) -> Self {
        let support = collision.support(domain);
        Self {
            support,
            domain: *domain,
            // Elements 2j and 2j + 1 are item j with either sign.
            counted: match domain.items() {
                Some(_) => Counted::slots(support.slots()),
                None => Counted::items(items),
            },
        }
    }

    #[inline]
    fn fold(&mut self, report: &Report) {
        match &mut self.counted {
            Counted::Slots(slots) => self
                .support
                .for_each_hit(report, |slot| slots[slot as usize] += 1),
            Counted::Items(items) => {
                for (item, hits) in items {
                    for (negative, hits) in [false, true].into_iter().zip(hits) {
                        let element = self.domain.signed_element(Signed {
                            item: *item,
                            negative,
                        });
                        *hits += u64::from(self.support.hits(report, element));
                    }
                }
            }
        }
    }
}

impl Estimator<Rates> {
    fn item(&self, [plus, minus]: Hits) -> ItemPoints {
        let (plus, minus) = (self.frequency(plus), self.frequency(minus));
        let mean = plus.estimate - minus.estimate;
        let nonmissing = plus.estimate + minus.estimate;
        ItemPoints {
            mean: Some(self.point(mean, self.mean_variance(mean, nonmissing))),
            plus: Some(plus),
            minus: Some(minus),
            nonmissing: Some(self.point(nonmissing, self.nonmissing_variance(nonmissing))),
            covariance: Some(self.covariance(mean, nonmissing) / self.reports),
        }
    }

    fn point(&self, estimate: f64, variance: f64) -> Point {
        Point::new(estimate, variance, self.reports)
    }

    fn frequency(&self, hits: u64) -> Point {
        let rate = hits as f64 / self.reports;
        let estimate = (rate - self.rates.p_false) / self.rates.gap();
        self.point(estimate, self.frequency_variance(estimate))
    }

    fn frequency_variance(&self, frequency: f64) -> f64 {
        let variance = |member| self.rates.frequency_variance(member);
        variance_over_people(self.kind, frequency, variance(true), variance(false))
    }

    /// Of hit₊ − hit₋: the second moment is linear in the share of people with
    /// the item; the squared means to subtract are known with signs
    /// and at least the square of the mean otherwise.
    fn mean_variance(&self, mean: f64, nonmissing: f64) -> f64 {
        let present = nonmissing.clamp(0.0, 1.0);
        let square = present * self.rates.mean_square(true)
            + (1.0 - present) * self.rates.mean_square(false);
        let mean = mean.clamp(-1.0, 1.0);
        square
            - match self.kind {
                ValueKind::Sign => present,
                ValueKind::Real => mean * mean,
            }
    }

    fn covariance(&self, mean: f64, nonmissing: f64) -> f64 {
        let product = self.rates.mean_times_presence();
        covariance_over_people(self.kind, mean, nonmissing, product)
    }

    fn nonmissing_variance(&self, nonmissing: f64) -> f64 {
        let variance = |present| self.rates.nonmissing_variance(present);
        variance_over_people(self.kind, nonmissing, variance(true), variance(false))
    }
}
