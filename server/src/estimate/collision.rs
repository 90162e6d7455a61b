//! Collision's estimates: how often reports hit an element, against how often
//! they would hit a member and a non-member.
//!
//! P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the
//! Local and Shuffle Model"), §5: (hit − p_false)/(p_true − p_false), averaged
//! over reports, is unbiased for [element ∈ input].

use hushbin::ValueKind;
use hushbin::domain::{Domain, Signed};
use hushbin::mechanism::collision::{Collision, Rates, Report, Support};

use super::{ItemPoints, Point};

/// Hits by element.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    support: Support,
    domain: Domain,
    counted: Counted,
}

#[derive(Debug, Clone)]
enum Counted {
    /// Of a closed domain, every slot.
    Slots(Vec<u64>),
    /// Of an open domain, the items asked about, ascending, with either sign.
    Items(Vec<(u64, [u64; 2])>),
}

/// Hits of one item with a positive and with a negative sign.
pub(super) type Hits = [u64; 2];

impl Counts {
    pub(super) fn new(collision: &Collision, domain: &Domain, items: &[u64]) -> Self {
        let support = collision.support(domain);
        let counted = match domain.items() {
            Some(_) => Counted::Slots(vec![0; support.slots()]),
            None => {
                let mut counted: Vec<_> = items.iter().map(|&item| (item, [0; 2])).collect();
                counted.sort_unstable();
                Counted::Items(counted)
            }
        };
        Self {
            support,
            domain: *domain,
            counted,
        }
    }

    #[inline]
    pub(super) fn fold(&mut self, report: &Report) {
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

    pub(super) fn merge(&mut self, other: &Self) {
        match (&mut self.counted, &other.counted) {
            (Counted::Slots(slots), Counted::Slots(others)) => {
                assert_eq!(slots.len(), others.len(), "totals of one task");
                slots.iter_mut().zip(others).for_each(|(a, b)| *a += b);
            }
            (Counted::Items(items), Counted::Items(others)) => {
                assert_eq!(items.len(), others.len(), "totals of the same items");
                for ((item, hits), (other, more)) in items.iter_mut().zip(others) {
                    assert_eq!(item, other, "totals of the same items");
                    hits.iter_mut().zip(more).for_each(|(a, b)| *a += b);
                }
            }
            _ => panic!("totals of one task are of one shape"),
        }
    }

    pub(super) fn hits(&self, item: u64) -> Hits {
        match &self.counted {
            Counted::Slots(slots) => {
                let first = 2 * item as usize;
                [slots[first], slots[first + 1]]
            }
            Counted::Items(items) => {
                let index = items
                    .binary_search_by_key(&item, |(counted, _)| *counted)
                    .expect("only items that are counted are asked for");
                items[index].1
            }
        }
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
        let plus = self.frequency(plus);
        let minus = self.frequency(minus);
        let mean = plus.estimate - minus.estimate;
        let nonmissing = plus.estimate + minus.estimate;
        ItemPoints {
            mean: self.point(mean, self.mean_variance(mean, nonmissing)),
            plus,
            minus,
            nonmissing: self.point(nonmissing, self.nonmissing_variance(nonmissing)),
        }
    }

    fn point(&self, estimate: f64, variance: f64) -> Point {
        Point {
            estimate,
            standard_error: (variance / self.reports).sqrt(),
        }
    }

    fn frequency(&self, hits: u64) -> Point {
        let rate = hits as f64 / self.reports;
        let estimate = (rate - self.rates.p_false) / self.rates.gap();
        self.point(estimate, self.frequency_variance(estimate))
    }

    /// Mean variance of one report's contribution, the people being given: with
    /// signs, a share f of members and 1 − f of others. A real value makes its
    /// bearer a member sometimes; the variance at a common rate bounds that
    /// from above.
    fn frequency_variance(&self, frequency: f64) -> f64 {
        let f = frequency.clamp(0.0, 1.0);
        let rates = &self.rates;
        match self.kind {
            ValueKind::Sign => {
                f * rates.frequency_variance(true) + (1.0 - f) * rates.frequency_variance(false)
            }
            ValueKind::Real => {
                let rate = rates.p_false + f * rates.gap();
                rate * (1.0 - rate) / (rates.gap() * rates.gap())
            }
        }
    }

    /// As above, for hit₊ − hit₋: the second moment is linear in the share of
    /// people with the item; the squared means to subtract are known with signs
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

    /// As above, for hit₊ + hit₋.
    fn nonmissing_variance(&self, nonmissing: f64) -> f64 {
        let present = nonmissing.clamp(0.0, 1.0);
        let rates = &self.rates;
        let mixed = present * rates.nonmissing_variance(true)
            + (1.0 - present) * rates.nonmissing_variance(false);
        match self.kind {
            ValueKind::Sign => mixed,
            ValueKind::Real => mixed + present * (1.0 - present),
        }
    }
}
