//! CoCo's estimates: how much more often reports hit an item's own plus side
//! than its minus side.
//!
//! P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the
//! Local and Shuffle Model"), §5 and Algorithm 1: the difference of the two
//! rates, divided by the gap, is unbiased for the mean, because items' signs
//! are fair; with rule `overwrite` (pair hits − q)/(p − q) is unbiased for the
//! non-missing frequency.

use hushbin::ValueKind;
use hushbin::domain::Domain;
use hushbin::mechanism::coco::{Coco, Presence, Rates, Report, Support};

use super::counted::{Counted, Hits};
use super::{ItemPoints, Point, variance_over_people};

/// Hits by item, on its own plus side and on its minus side.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    support: Support,
    counted: Counted,
}

impl Counts {
    pub(super) fn new(coco: &Coco, domain: &Domain, items: &[u64]) -> Self {
        let support = coco.support(domain);
        Self {
            support,
            counted: match domain.items() {
                Some(_) => Counted::slots(2 * support.slots()),
                None => Counted::items(items),
            },
        }
    }

    #[inline]
    pub(super) fn fold(&mut self, report: &Report) {
        match &mut self.counted {
            Counted::Slots(slots) => self.support.for_each_hit(report, |slot, plus| {
                slots[2 * slot as usize + usize::from(!plus)] += 1;
            }),
            Counted::Items(items) => {
                for (item, hits) in items {
                    if let Some(plus) = self.support.hit(report, *item) {
                        hits[usize::from(!plus)] += 1;
                    }
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counted.merge(&other.counted);
    }

    pub(super) fn hits(&self, item: u64) -> Hits {
        self.counted.hits(item)
    }
}

/// Estimates of n reports under one set of rates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimator {
    rates: Rates,
    kind: ValueKind,
    reports: f64,
}

impl Estimator {
    pub(super) fn new(rates: Rates, kind: ValueKind, reports: u64) -> Self {
        Self {
            rates,
            kind,
            reports: reports as f64,
        }
    }

    pub(super) fn item(&self, [plus, minus]: Hits) -> ItemPoints {
        let pair = (plus + minus) as f64 / self.reports;
        ItemPoints {
            mean: Some(self.mean(plus as f64 - minus as f64, pair)),
            plus: None,
            minus: None,
            nonmissing: self.nonmissing(pair),
        }
    }

    /// One report's second moment is the rate of pair hits over the gap
    /// squared; the squared means of people to subtract are at least the square
    /// of the mean.
    fn mean(&self, difference: f64, pair: f64) -> Point {
        let gap = self.rates.gap;
        let estimate = difference / self.reports / gap;
        let certain = (estimate * estimate).min(1.0);
        Point::new(estimate, pair / (gap * gap) - certain, self.reports)
    }

    /// `None` where the rule does not estimate it.
    fn nonmissing(&self, pair: f64) -> Option<Point> {
        let Presence { p_pair, q_pair } = self.rates.presence?;
        let estimate = (pair - q_pair) / (p_pair - q_pair);
        let variance = variance_over_people(
            self.kind,
            estimate,
            self.rates.nonmissing_variance(true)?,
            self.rates.nonmissing_variance(false)?,
        );
        Some(Point::new(estimate, variance, self.reports))
    }
}
