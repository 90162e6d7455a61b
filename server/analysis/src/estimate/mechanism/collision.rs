//! Estimates from reports of Collision. The observed rate of hits on an element is compared with
//! two expected rates: `p_true` for people whose input contains the element, and `p_false` for
//! people whose input does not.
//!
//! Source: P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the Local and
//! Shuffle Model"), §5. The average of (hit − p_false)/(p_true − p_false) over reports is an
//! unbiased estimate of the share of people whose input contains the element.

use hushbin::domain::{Domain, SignedItem};
use hushbin::mechanism::collision::{Collision, CollisionHitProbabilities, HitDecoder, Report};

use super::estimated_mechanism::{
    CountedReports, EstimatedMechanism, HitEstimator, ShareSumEstimator,
};
use crate::estimate::counters::{
    BucketHashRange, HitCounters, HitsBySign, TotalsError, TotalsReader, WideVectors,
};
use crate::estimate::distribution::{
    CellOrOutputCounts, ContributionDistribution, HitDistribution, SideHitProbabilities,
    SingleAnswerHits,
};
use crate::estimate::point::{
    Estimand, ItemPointEstimates, PointEstimate, SamplingModel, mean_presence_covariance,
    share_variance_per_report,
};

impl EstimatedMechanism for Collision {
    type Report = Report;
    type EstimationParameters = CollisionHitProbabilities;
    type Counts = CollisionHitCounts;

    fn estimands(&self, domain: &Domain) -> &'static [Estimand] {
        if domain.is_rated() {
            &Estimand::RATING_ESTIMANDS
        } else {
            &[Estimand::Share]
        }
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> CollisionHitProbabilities {
        self.hit_probabilities(domain, epsilon)
    }

    fn empty_counts(&self, domain: &Domain, _: f64, items: &[u64]) -> CollisionHitCounts {
        let support = self.hit_decoder(domain);
        CollisionHitCounts {
            hit_decoder: support,
            wide_vectors: WideVectors::detect(support.slots_hit_per_report()),
            buckets: self.buckets_per_hash(),
            item_domain: *domain,
            elements_per_item: domain.elements_per_item() as usize,
            // If items are rated, elements 2j and 2j + 1 are item j with either sign.
            element_hit_counters: match domain.item_count() {
                Some(_) => HitCounters::for_closed_domain(support.visitable_slot_count()),
                None => HitCounters::for_queried_items(items),
            },
        }
    }

    #[inline]
    fn add_report(counts: &mut CollisionHitCounts, report: &Report) {
        match &mut counts.element_hit_counters {
            HitCounters::ClosedDomain(slots) => {
                let decoder = &counts.hit_decoder;
                counts.wide_vectors.run(
                    #[inline(always)]
                    || decoder.for_each_hit(report, |slot| slots.increment(slot as usize)),
                );
            }
            HitCounters::OpenDomain(items) => {
                // Open domains always use the independent hash.
                let (words, domain) = (
                    BucketHashRange::new(report, counts.buckets),
                    counts.item_domain,
                );
                let hit = |item, negative| {
                    let element = domain.element_of_signed_item(SignedItem {
                        item,
                        is_negative: negative,
                    });
                    u64::from(words.contains_hash_of(element))
                };
                for (item, [plus, minus]) in items {
                    *plus += hit(*item, false);
                    if counts.elements_per_item == 2 {
                        *minus += hit(*item, true);
                    }
                }
            }
        }
    }

    fn counter_updates_per_report(&self, domain: &Domain, _: f64) -> Option<u64> {
        domain.item_count()?;
        let support = self.hit_decoder(domain);
        let all = support.visitable_slot_count() as u64;
        Some(support.slots_hit_per_report().map_or(all, u64::from))
    }

    fn merge(counts: &mut CollisionHitCounts, others: &CollisionHitCounts) {
        counts
            .element_hit_counters
            .merge(&others.element_hit_counters);
    }

    fn encode(counts: &CollisionHitCounts, bytes: &mut Vec<u8>) {
        counts.element_hit_counters.encode(bytes);
    }

    fn decode(
        counts: &mut CollisionHitCounts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        // A report may hit any number of elements.
        counts.element_hit_counters.decode(1, reports, bytes)
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let (estimator, counts) = (
            HitEstimator::new(
                *seen.estimation_parameters,
                seen.sampling_model,
                seen.reports,
            ),
            seen.counts,
        );
        let point =
            |&item: &u64| {
                if counts.item_domain.is_rated() {
                    return estimator.estimate_item(counts.element_hit_counters.hits_by_sign(item));
                }
                ItemPointEstimates {
                    estimated_answer_share: Some(estimator.estimate_frequency(
                        counts.element_hit_counters.hits_of_unsigned_item(item),
                    )),
                    ..ItemPointEstimates::default()
                }
            };
        items.iter().map(point).collect()
    }

    fn contribution_distribution(
        &self,
        seen: &CountedReports<'_, Self>,
        _: u64,
        points: &ItemPointEstimates,
    ) -> ContributionDistribution {
        ContributionDistribution::Hits(hit_distribution(
            seen.estimation_parameters,
            seen.sampling_model,
            points,
        ))
    }

    fn cell_or_output_counts(&self, seen: &CountedReports<'_, Self>) -> Option<CellOrOutputCounts> {
        let (domain, counts) = (&seen.counts.item_domain, seen.counts);
        // Every person gives exactly one answer: no signs, no paddings, sparsity 1.
        let exact = !domain.is_rated() && !domain.is_padded() && domain.sparsity() == 1;
        let answers = domain.item_count().filter(|_| exact)?;
        let hits = |answer| {
            counts
                .element_hit_counters
                .hits_of_unsigned_item(u64::from(answer))
        };
        let slots = counts.hit_decoder.visitable_slot_count() as u32;
        Some(CellOrOutputCounts::CellHits(SingleAnswerHits {
            hit_probabilities: *seen.estimation_parameters,
            sampling_model: seen.sampling_model,
            hits_by_answer: (0..answers).map(hits).collect(),
            reports: seen.reports,
            hit_and_total_slots: counts
                .hit_decoder
                .slots_hit_per_report()
                .map(|hit| [hit, slots]),
        }))
    }

    fn share_sum_estimator(rates: &CollisionHitProbabilities) -> Option<ShareSumEstimator<'_>> {
        Some(ShareSumEstimator::Hits(rates))
    }

    fn contribution_range(
        &self,
        rates: &CollisionHitProbabilities,
        _: &Domain,
        _: f64,
        estimand: Estimand,
    ) -> [f64; 2] {
        let hits = |elements: f64, hits: f64| {
            (hits - elements * rates.p_false) / rates.hit_probability_gap()
        };
        match estimand {
            Estimand::Mean => [-1.0, 1.0].map(|hits| hits / rates.hit_probability_gap()),
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                [0.0, 1.0].map(|own| hits(1.0, own))
            }
            // A report can hit both signs of an item if they can be in one bucket.
            Estimand::Nonmissing => {
                let both = if rates.two_nonmembers_hit > 0.0 {
                    2.0
                } else {
                    1.0
                };
                [0.0, both].map(|own| hits(2.0, own))
            }
        }
    }

    fn uniform_outcome_count(&self, _: &Domain, _: f64) -> u32 {
        self.total_buckets()
    }

    fn uniform_outcome(report: &Report) -> Option<u32> {
        Some(report.bucket)
    }

    fn variances_with_and_without(
        rates: &CollisionHitProbabilities,
        _: u32,
        estimand: Estimand,
    ) -> [f64; 2] {
        match estimand {
            Estimand::Mean => [
                rates.estimate_second_moment(true) - 1.0,
                rates.estimate_second_moment(false),
            ],
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                [true, false].map(|member| rates.frequency_variance(member))
            }
            Estimand::Nonmissing => {
                [true, false].map(|present| rates.presence_estimate_variance(present))
            }
        }
    }
}

/// Number of hits on each item with a positive sign, and with a negative sign.
#[derive(Debug, Clone)]
pub(crate) struct CollisionHitCounts {
    hit_decoder: HitDecoder,
    wide_vectors: WideVectors,
    /// Number of buckets of one hash function.
    buckets: u32,
    item_domain: Domain,
    /// Number of elements per item.
    elements_per_item: usize,
    element_hit_counters: HitCounters,
}

fn hit_distribution(
    rates: &CollisionHitProbabilities,
    whose: SamplingModel,
    points: &ItemPointEstimates,
) -> HitDistribution {
    let of = |point: Option<PointEstimate>| {
        point
            .or(points.estimated_answer_share)
            .map_or(0.0, |point| point.estimate)
    };
    let [mean, frequency] = [points.mean, points.nonmissing_frequency].map(of);
    HitDistribution::new(
        outcome_probabilities(rates),
        whose == SamplingModel::FixedPopulation,
        mean,
        frequency,
    )
}

/// Returns the probabilities of a report's outcomes for people who have an item at −1, who do not
/// have it, and who have it at 1.
fn outcome_probabilities(rates: &CollisionHitProbabilities) -> [SideHitProbabilities; 3] {
    let outcomes = |minus: f64, plus: f64, both: f64| {
        [minus - both, 1.0 - minus - plus + both, plus - both, both]
    };
    let (member, other) = (rates.p_true, rates.p_false);
    [
        outcomes(member, other, rates.member_and_nonmember_hit),
        outcomes(other, other, rates.two_nonmembers_hit),
        outcomes(other, member, rates.member_and_nonmember_hit),
    ]
}

impl HitEstimator<CollisionHitProbabilities> {
    fn estimate_item(&self, [plus, minus]: HitsBySign) -> ItemPointEstimates {
        let (plus, minus) = (
            self.estimate_frequency(plus),
            self.estimate_frequency(minus),
        );
        let mean = plus.estimate - minus.estimate;
        let nonmissing = plus.estimate + minus.estimate;
        ItemPointEstimates {
            mean: Some(
                self.point_from_report_variance(
                    mean,
                    self.mean_variance_per_report(mean, nonmissing),
                ),
            ),
            positive_frequency: Some(plus),
            negative_frequency: Some(minus),
            nonmissing_frequency: Some(self.point_from_report_variance(
                nonmissing,
                self.presence_variance_per_report(nonmissing),
            )),
            mean_nonmissing_covariance: Some(
                self.covariance_per_report(mean, nonmissing) / self.reports,
            ),
            estimated_answer_share: None,
        }
    }

    fn point_from_report_variance(&self, estimate: f64, variance: f64) -> PointEstimate {
        PointEstimate::new(estimate, variance, self.reports)
    }

    fn estimate_frequency(&self, hits: u64) -> PointEstimate {
        let rate = hits as f64 / self.reports;
        let estimate =
            (rate - self.hit_probabilities.p_false) / self.hit_probabilities.hit_probability_gap();
        self.point_from_report_variance(estimate, self.share_variance_per_report(estimate))
    }

    fn share_variance_per_report(&self, frequency: f64) -> f64 {
        let variance = |member| self.hit_probabilities.frequency_variance(member);
        share_variance_per_report(
            self.sampling_model,
            frequency,
            variance(true),
            variance(false),
        )
    }

    /// Returns the variance of one report's contribution to the mean.
    fn mean_variance_per_report(&self, mean: f64, nonmissing: f64) -> f64 {
        let present = nonmissing.clamp(0.0, 1.0);
        let square = present * self.hit_probabilities.estimate_second_moment(true)
            + (1.0 - present) * self.hit_probabilities.estimate_second_moment(false);
        // The second moment of one report's contribution is linear in the share of people with the
        // item. Subtract the mean square of people's expected contributions. For signs of a fixed
        // population it is this share, otherwise at least the squared mean.
        let mean = mean.clamp(-1.0, 1.0);
        square
            - match self.sampling_model {
                SamplingModel::FixedPopulation => present,
                SamplingModel::RoundedValues | SamplingModel::RandomSample => mean * mean,
            }
    }

    fn covariance_per_report(&self, mean: f64, nonmissing: f64) -> f64 {
        let product = self.hit_probabilities.mean_presence_cross_moment();
        mean_presence_covariance(self.sampling_model, mean, nonmissing, product)
    }

    fn presence_variance_per_report(&self, nonmissing: f64) -> f64 {
        let variance = |present| self.hit_probabilities.presence_estimate_variance(present);
        share_variance_per_report(
            self.sampling_model,
            nonmissing,
            variance(true),
            variance(false),
        )
    }
}

#[cfg(test)]
mod tests {
    use hushbin::hash::HashFamily;
    use hushbin::mechanism::collision::FavouredBucketRule;
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
            let task: Task = draft.resolve_task().unwrap();
            let Mechanism::Collision(own) = task.questions()[0].mechanism() else {
                unreachable!()
            };
            let rates = own.hit_probabilities(&task.questions()[0].domain(), epsilon);
            for whose in [SamplingModel::FixedPopulation, SamplingModel::RandomSample] {
                let item = Item {
                    probabilities_by_true_sign: outcome_probabilities(&rates),
                    estimands: &Estimand::RATING_ESTIMANDS,
                    estimate_from_hits: &|hits, reports| {
                        let points = HitEstimator::new(rates, whose, reports).estimate_item(hits);
                        (points, hit_distribution(&rates, whose, &points))
                    },
                };
                check(&format!("{whose:?}, {rates:?}"), &item, f64::from(items));
            }
        }
    }

    #[test]
    fn counts_are_those_of_each_element_with_and_without_wide_vectors() {
        let rule = FavouredBucketRule::Heaviest { favoured: 1 };
        // 1 to 200 slots in each bucket.
        for elements in [4, 68, 130, 260, 400, 800] {
            let collision = Collision::new(rule, HashFamily::Balanced, 4).unwrap();
            let domain = Domain::of_unrated_items(Some(elements), 1);
            let mut counts = collision.empty_counts(&domain, 1.0, &[]);
            let decoder = collision.hit_decoder(&domain);
            let reports: Vec<_> = (0..300)
                .map(|seed| Report {
                    seed,
                    bucket: seed as u32 % 4,
                })
                .collect();
            for report in &reports {
                Collision::add_report(&mut counts, report);
            }
            for element in 0..u64::from(elements) {
                let hits = reports
                    .iter()
                    .filter(|report| decoder.is_hit(report, element));
                let counted = counts.element_hit_counters.hits_of_unsigned_item(element);
                assert_eq!(counted, hits.count() as u64, "{element} of {elements}");
            }
        }
    }
}
