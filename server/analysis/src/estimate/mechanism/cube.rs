//! The cube's estimates: by how much more often an attribute's sign is plus than minus.
//!
//! (d/k)·B times the sign where the attribute is drawn, and 0 elsewhere, is unbiased for
//! its value v and has the variance (d/k)·B² − v². Seeds draw an attribute with
//! probability k/d, so that sums are divided by all reports, not by those that drew it.

use hushbin::Entry;
use hushbin::domain::Domain;
use hushbin::mechanism::cube::{Cube, Rates, Report, Support};

use super::contract::{Asked, Estimated};
use super::contribution::{Contribution, sampled};
use crate::estimate::fold::{Hits, Reader, Slots, TotalsError};
use crate::estimate::law::{HitLaw, Law, Outcomes};
use crate::estimate::point::{Estimand, ItemPoints, People, Point};

impl Estimated for Cube {
    type Report = Report;
    type Rates = Rates;
    type Counts = Counts;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Mean]
    }

    fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        self.rates(domain, epsilon)
    }

    fn counts(&self, domain: &Domain, _: f64, _: &[u64]) -> Counts {
        Counts {
            support: self.support(domain),
            signs: Slots::new(2 * domain.items().unwrap_or(0) as usize),
        }
    }

    fn fold(counts: &mut Counts, report: &Report) {
        counts.fold(report);
    }

    fn steps(&self, _: &Domain, _: f64) -> Option<u64> {
        Some(self.drawn().into())
    }

    fn merge(counts: &mut Counts, others: &Counts) {
        counts.signs.merge(&others.signs);
    }

    fn encode(counts: &Counts, bytes: &mut Vec<u8>) {
        counts.signs.encode(counts.signs.all(), bytes);
    }

    fn decode(
        counts: &mut Counts,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        // Of an attribute a report has one sign.
        counts.signs.decode(counts.signs.all(), 2, reports, bytes)
    }

    fn points(
        &self,
        rates: &Rates,
        counts: &Counts,
        _: People,
        reports: u64,
        items: &[u64],
    ) -> Vec<ItemPoints> {
        let point = |&item| points(rates, counts.signs.pair(item), reports);
        items.iter().map(point).collect()
    }

    fn law(&self, rates: &Rates, _: &Counts, _: &Asked, points: &ItemPoints) -> Law {
        Law::Hits(law(rates, points))
    }

    fn reach(&self, rates: &Rates, _: &Domain, _: f64, _: Estimand) -> [f64; 2] {
        [-rates.scale(), rates.scale()]
    }

    fn contribution(
        rates: &Rates,
        sparsity: u32,
        estimand: Estimand,
        entries: &[Entry],
    ) -> Contribution {
        sampled(sparsity, estimand, entries, |value| {
            rates.mean_square() - value * value
        })
    }
}

fn points(rates: &Rates, [plus, minus]: Hits, reports: u64) -> ItemPoints {
    let reports = reports as f64;
    let mean = (plus as f64 - minus as f64) / reports * rates.scale();
    let variance = rates.mean_square() - (mean * mean).min(1.0);
    ItemPoints {
        mean: Some(Point::new(mean, variance, reports)),
        ..ItemPoints::default()
    }
}

/// Everybody has the attribute, at some value.
fn law(rates: &Rates, points: &ItemPoints) -> HitLaw {
    let mean = points.mean.map_or(0.0, |mean| mean.estimate);
    HitLaw::new(people(rates), false, mean, 1.0)
}

/// What people at −1, 0 and 1 report.
fn people(rates: &Rates) -> [Outcomes; 3] {
    [-1.0, 0.0, 1.0].map(|value| outcomes(rates, value))
}

/// Probabilities of a minus, of not being drawn, and of a plus: it is one with probability
/// (1 + v/B)/2, given that the attribute is drawn.
fn outcomes(rates: &Rates, value: f64) -> Outcomes {
    let side = |value: f64| 0.5 * rates.share * (1.0 + value * rates.gap);
    [side(-value), 1.0 - rates.share, side(value), 0.0]
}

/// Signs by attribute.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    support: Support,
    /// By attribute, pluses, then minuses.
    signs: Slots,
}

impl Counts {
    #[inline]
    fn fold(&mut self, report: &Report) {
        self.support.for_each_sign(report, |attribute, plus| {
            self.signs
                .count(2 * attribute as usize + usize::from(!plus));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::mechanism::exact_coverage::{Item, check};

    /// Over all numbers of pluses and minuses, of people at −1, 0 and 1.
    #[test]
    fn intervals_miss_no_more_often_than_they_say() {
        for (attributes, drawn, agreements, epsilon) in [
            (1, 1, 1, 1.0),
            (2, 2, 2, 2.0),
            (4, 1, 1, 0.5),
            (16, 4, 4, 4.0),
            (40, 3, 2, 1.5),
            (16, 15, 12, 6.0),
        ] {
            let cube = Cube::new(drawn, agreements).unwrap();
            let rates = cube.rates(&Domain::dense(attributes), epsilon);
            let item = Item {
                people: people(&rates),
                estimands: &[Estimand::Mean],
                of: &|hits, reports| {
                    let points = points(&rates, hits, reports);
                    (points, law(&rates, &points))
                },
            };
            check(
                &format!("{cube:?}, {rates:?}"),
                &item,
                f64::from(attributes),
            );
        }
    }
}
