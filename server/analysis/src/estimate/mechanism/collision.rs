//! Estimates from reports of Collision. The observed rate of hits on an element is compared with
//! two expected rates: `p_true` for people whose input contains the element, and `p_false` for
//! people whose input does not.
//!
//! Source: P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the Local and
//! Shuffle Model"), §5. The average of (hit − p_false)/(p_true − p_false) over reports is an
//! unbiased estimate of the share of people whose input contains the element.

use hushbin::domain::{Domain, Signed};
use hushbin::mechanism::collision::{Collision, Rates, Report, Support};

use super::contract::{CountedReports, Estimated, Estimator, SumRates};
use crate::estimate::fold::{BucketWords, Counted, Hits, Reader, TotalsError};
use crate::estimate::law::{Cells, HitDistribution, Law, Outcomes, SingleAnswerHits};
use crate::estimate::point::{
    Estimand, ItemPoints, Point, SamplingModel, covariance_over_people, variance_over_people,
};

impl Estimated for Collision {
    type Report = Report;
    type Rates = Rates;
    type Counts = Counts;

    fn estimands(&self, domain: &Domain) -> &'static [Estimand] {
        if domain.is_rated() {
            &Estimand::RATINGS
        } else {
            &[Estimand::Share]
        }
    }

    fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        self.rates(domain, epsilon)
    }

    fn counts(&self, domain: &Domain, _: f64, items: &[u64]) -> Counts {
        let support = self.support(domain);
        Counts {
            support,
            buckets: self.buckets(),
            domain: *domain,
            signs: domain.elements_per_item() as usize,
            // If items are rated, elements 2j and 2j + 1 are item j with either sign.
            counted: match domain.items() {
                Some(_) => Counted::slots(support.slots()),
                None => Counted::items(items),
            },
        }
    }

    #[inline]
    fn fold(counts: &mut Counts, report: &Report) {
        match &mut counts.counted {
            Counted::Slots(slots) => {
                let count = |slot: u32| slots.count(slot as usize);
                counts.support.for_each_hit(report, count);
            }
            Counted::Items(items) => {
                // Open domains always use the independent hash.
                let (words, domain) = (BucketWords::new(report, counts.buckets), counts.domain);
                let hit = |item, negative| {
                    let element = domain.element(Signed { item, negative });
                    u64::from(words.hits(element))
                };
                for (item, [plus, minus]) in items {
                    *plus += hit(*item, false);
                    if counts.signs == 2 {
                        *minus += hit(*item, true);
                    }
                }
            }
        }
    }

    fn steps(&self, domain: &Domain, _: f64) -> Option<u64> {
        domain.items()?;
        let support = self.support(domain);
        let all = support.slots() as u64;
        Some(support.hit_slots().map_or(all, u64::from))
    }

    fn merge(counts: &mut Counts, others: &Counts) {
        counts.counted.merge(&others.counted);
    }

    fn encode(counts: &Counts, bytes: &mut Vec<u8>) {
        counts.counted.encode(bytes);
    }

    fn decode(
        counts: &mut Counts,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        // A report may hit any number of elements.
        counts.counted.decode(1, reports, bytes)
    }

    fn points(&self, seen: &CountedReports<'_, Self>, items: &[u64]) -> Vec<ItemPoints> {
        let (estimator, counts) = (
            Estimator::new(*seen.rates, seen.whose, seen.reports),
            seen.counts,
        );
        let point = |&item: &u64| {
            if counts.domain.is_rated() {
                return estimator.item(counts.counted.hits(item));
            }
            ItemPoints {
                share: Some(estimator.frequency(counts.counted.hits_of_element(item))),
                ..ItemPoints::default()
            }
        };
        items.iter().map(point).collect()
    }

    fn law(&self, seen: &CountedReports<'_, Self>, _: u64, points: &ItemPoints) -> Law {
        Law::Hits(law(seen.rates, seen.whose, points))
    }

    fn cells(&self, seen: &CountedReports<'_, Self>) -> Option<Cells> {
        let (domain, counts) = (&seen.counts.domain, seen.counts);
        // Every person gives exactly one answer: no signs, no paddings, sparsity 1.
        let exact = !domain.is_rated() && !domain.is_padded() && domain.sparsity() == 1;
        let answers = domain.items().filter(|_| exact)?;
        let hits = |answer| counts.counted.hits_of_element(u64::from(answer));
        let slots = counts.support.slots() as u32;
        Some(Cells::Flat(SingleAnswerHits {
            rates: *seen.rates,
            whose: seen.whose,
            hits: (0..answers).map(hits).collect(),
            reports: seen.reports,
            slots: counts.support.hit_slots().map(|hit| [hit, slots]),
        }))
    }

    fn sums(rates: &Rates) -> Option<SumRates<'_>> {
        Some(SumRates::Hits(rates))
    }

    fn contribution_range(
        &self,
        rates: &Rates,
        _: &Domain,
        _: f64,
        estimand: Estimand,
    ) -> [f64; 2] {
        let hits = |elements: f64, hits: f64| (hits - elements * rates.p_false) / rates.gap();
        match estimand {
            Estimand::Mean => [-1.0, 1.0].map(|hits| hits / rates.gap()),
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                [0.0, 1.0].map(|own| hits(1.0, own))
            }
            // A report can hit both signs of an item if they can be in one bucket.
            Estimand::Nonmissing => {
                let both = if rates.both_none > 0.0 { 2.0 } else { 1.0 };
                [0.0, both].map(|own| hits(2.0, own))
            }
        }
    }

    fn uniform_outcomes(&self, _: &Domain, _: f64) -> u32 {
        self.outcomes()
    }

    fn uniform_outcome(report: &Report) -> Option<u32> {
        Some(report.bucket)
    }

    fn variances(rates: &Rates, _: u32, estimand: Estimand) -> [f64; 2] {
        match estimand {
            Estimand::Mean => [rates.mean_square(true) - 1.0, rates.mean_square(false)],
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                [true, false].map(|member| rates.frequency_variance(member))
            }
            Estimand::Nonmissing => [true, false].map(|present| rates.nonmissing_variance(present)),
        }
    }
}

/// Number of hits on each item with a positive sign, and with a negative sign.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    support: Support,
    /// Number of buckets of one hash function.
    buckets: u32,
    domain: Domain,
    /// Number of elements per item.
    signs: usize,
    counted: Counted,
}

fn law(rates: &Rates, whose: SamplingModel, points: &ItemPoints) -> HitDistribution {
    let of = |point: Option<Point>| point.or(points.share).map_or(0.0, |point| point.estimate);
    let [mean, frequency] = [points.mean, points.nonmissing].map(of);
    HitDistribution::new(
        people(rates),
        whose == SamplingModel::FixedPopulation,
        mean,
        frequency,
    )
}

/// Returns the probabilities of a report's outcomes for people who have an item at −1, who do not
/// have it, and who have it at 1.
fn people(rates: &Rates) -> [Outcomes; 3] {
    let outcomes = |minus: f64, plus: f64, both: f64| {
        [minus - both, 1.0 - minus - plus + both, plus - both, both]
    };
    let (member, other) = (rates.p_true, rates.p_false);
    [
        outcomes(member, other, rates.both_member),
        outcomes(other, other, rates.both_none),
        outcomes(other, member, rates.both_member),
    ]
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
            share: None,
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
        variance_over_people(self.whose, frequency, variance(true), variance(false))
    }

    /// Returns the variance of one report's contribution to the mean.
    fn mean_variance(&self, mean: f64, nonmissing: f64) -> f64 {
        let present = nonmissing.clamp(0.0, 1.0);
        let square = present * self.rates.mean_square(true)
            + (1.0 - present) * self.rates.mean_square(false);
        // The second moment of one report's contribution is linear in the share of people with the
        // item. Subtract the mean square of people's expected contributions. For signs of a fixed
        // population it is this share, otherwise at least the squared mean.
        let mean = mean.clamp(-1.0, 1.0);
        square
            - match self.whose {
                SamplingModel::FixedPopulation => present,
                SamplingModel::RoundedValues | SamplingModel::RandomSample => mean * mean,
            }
    }

    fn covariance(&self, mean: f64, nonmissing: f64) -> f64 {
        let product = self.rates.mean_times_presence();
        covariance_over_people(self.whose, mean, nonmissing, product)
    }

    fn nonmissing_variance(&self, nonmissing: f64) -> f64 {
        let variance = |present| self.rates.nonmissing_variance(present);
        variance_over_people(self.whose, nonmissing, variance(true), variance(false))
    }
}

#[cfg(test)]
mod tests {
    use hushbin::{Mechanism, Task, TaskDraft};

    use super::*;
    use crate::estimate::mechanism::exact_coverage::{Item, check};

    #[test]
    fn intervals_miss_no_more_often_than_they_say() {
        for (items, sparsity, epsilon, buckets) in [
            (1000, 20, 3.0, 400),
            (200, 8, 4.0, 200),
            (40, 3, 1.0, 8),
            (40, 3, 6.0, 200),
            (40, 3, 2.0, 3),
        ] {
            let draft: TaskDraft = serde_json::from_value(serde_json::json!({
                "id": "t", "items": items, "sparsity": sparsity, "epsilon": epsilon,
                "value": "sign", "mechanism": { "name": "collision", "buckets": buckets },
            }))
            .unwrap();
            let task: Task = draft.resolve().unwrap();
            let Mechanism::Collision(own) = task.questions()[0].mechanism() else {
                unreachable!()
            };
            let rates = own.rates(&task.questions()[0].domain(), epsilon);
            for whose in [SamplingModel::FixedPopulation, SamplingModel::RandomSample] {
                let item = Item {
                    people: people(&rates),
                    estimands: &Estimand::RATINGS,
                    of: &|hits, reports| {
                        let points = Estimator::new(rates, whose, reports).item(hits);
                        (points, law(&rates, whose, &points))
                    },
                };
                check(&format!("{whose:?}, {rates:?}"), &item, f64::from(items));
            }
        }
    }
}
