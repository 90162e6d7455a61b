//! Estimates from reports of CoCo. An item's mean is estimated from the number of hits on its plus
//! side, minus the number of hits on its minus side.
//!
//! Source: P1 (Wang et al., "Differentially Private Numerical Vector Analyses in the Local and
//! Shuffle Model"), §5 and Algorithm 1. Let D be the hit rate on the plus side minus the hit rate
//! on the minus side. D/`gap` is an unbiased estimate of the mean, because the hashed signs of
//! items are fair. Under the rule `overwrite`, (h − q)/(p − q) is an unbiased estimate of the
//! non-missing frequency. Here h is the rate of hits on the item's pair. Its expectation is p for
//! people who have the item (`p_pair`), and q for people who do not (`q_pair`). The frequencies of
//! the two signs are half the sum and half the difference of these two estimates.

use hushbin::domain::Domain;
use hushbin::hash::{HashFamily, HashKeys};
use hushbin::mechanism::coco::{
    Coco, CocoHitProbabilities, FavouredSideRuleName, HitDecoder, PairHitProbabilities, Report,
};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism, HitEstimator};
use crate::estimate::counters::{
    HitCounters, HitsBySign, ItemSignAgreementCounter, TotalsError, TotalsReader, WideVectors,
};
use crate::estimate::distribution::{
    ContributionDistribution, HitDistribution, SideHitProbabilities,
};
use crate::estimate::point::{
    Estimand, ItemPointEstimates, PointEstimate, SamplingModel, mean_presence_covariance,
    share_variance_per_report, sign_variance_per_report,
};

impl EstimatedMechanism for Coco {
    type Report = Report;
    type EstimationParameters = CocoHitProbabilities;
    type Counts = CocoHitCounts;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        match self.rule_name() {
            FavouredSideRuleName::Overwrite => &Estimand::RATING_ESTIMANDS,
            FavouredSideRuleName::Strongest => &[Estimand::Mean],
        }
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> CocoHitProbabilities {
        self.hit_probabilities(domain, epsilon)
    }

    fn empty_counts(&self, domain: &Domain, _: f64, items: &[u64]) -> CocoHitCounts {
        let support = self.hit_decoder(domain);
        let slots = support.visitable_slot_count() as u32 / self.pairs_per_function();
        let slots_per_report = self.hash_family().is_balanced().then_some(slots);
        let wide_vectors = WideVectors::detect(slots_per_report);
        match domain.item_count() {
            Some(items) if self.pairs_per_function() == 1 => {
                CocoHitCounts::SignAgreements(ItemSignAgreementCounter::new(items as usize))
            }
            Some(_) => CocoHitCounts::SideHits {
                hit_counters: HitCounters::for_closed_domain(2 * support.visitable_slot_count()),
                hit_decoder: support,
                wide_vectors,
            },
            None => CocoHitCounts::SideHits {
                hit_counters: HitCounters::for_queried_items(items),
                hit_decoder: support,
                wide_vectors,
            },
        }
    }

    #[inline]
    fn add_report(counts: &mut CocoHitCounts, report: &Report) {
        match counts {
            CocoHitCounts::SignAgreements(signs) => {
                let keys = HashKeys::for_hash_function(report.seed, report.bucket / 2);
                // Odd buckets are minus sides.
                signs.add_report(keys, report.bucket % 2 == 1);
            }
            CocoHitCounts::SideHits {
                hit_decoder: support,
                wide_vectors,
                hit_counters: counted,
            } => match counted {
                HitCounters::ClosedDomain(slots) => {
                    wide_vectors.run(
                        #[inline(always)]
                        || {
                            support.for_each_hit_slot(report, |slot, plus| {
                                slots.increment(2 * slot as usize + usize::from(!plus));
                            });
                        },
                    );
                }
                HitCounters::OpenDomain(items) => {
                    let hit = support.make_hit_side_lookup(report);
                    for (item, hits) in items {
                        if let Some(plus) = hit(*item) {
                            hits[usize::from(!plus)] += 1;
                        }
                    }
                }
            },
        }
    }

    fn counter_updates_per_report(&self, domain: &Domain, _: f64) -> Option<u64> {
        let items = domain.item_count()? as usize;
        let slots = self.hit_decoder(domain).visitable_slot_count() as u64;
        Some(match self.hash_family() {
            _ if self.pairs_per_function() == 1 => {
                ItemSignAgreementCounter::words_per_report(items)
            }
            HashFamily::Independent => slots,
            _ => slots / u64::from(self.pairs_per_function()),
        })
    }

    fn merge(counts: &mut CocoHitCounts, others: &CocoHitCounts) {
        match (counts, others) {
            (CocoHitCounts::SignAgreements(signs), CocoHitCounts::SignAgreements(others)) => {
                signs.merge(others);
            }
            (
                CocoHitCounts::SideHits {
                    hit_counters: counted,
                    ..
                },
                CocoHitCounts::SideHits {
                    hit_counters: others,
                    ..
                },
            ) => {
                counted.merge(others);
            }
            _ => panic!("totals of one task are of one shape"),
        }
    }

    fn encode(counts: &CocoHitCounts, bytes: &mut Vec<u8>) {
        match counts {
            CocoHitCounts::SignAgreements(signs) => signs.encode(bytes),
            CocoHitCounts::SideHits {
                hit_counters: counted,
                ..
            } => counted.encode(bytes),
        }
    }

    fn decode(
        counts: &mut CocoHitCounts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        match counts {
            CocoHitCounts::SignAgreements(signs) => signs.decode(reports, bytes),
            // A report hits at most one of an item's two sides.
            CocoHitCounts::SideHits {
                hit_counters: counted,
                ..
            } => counted.decode(2, reports, bytes),
        }
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let estimator = HitEstimator::new(
            *seen.estimation_parameters,
            seen.sampling_model,
            seen.reports,
        );
        let point = |&item| estimator.estimate_item(seen.counts.hits(item));
        items.iter().map(point).collect()
    }

    fn contribution_distribution(
        &self,
        seen: &CountedReports<'_, Self>,
        item: u64,
        points: &ItemPointEstimates,
    ) -> ContributionDistribution {
        let [plus, minus] = seen.counts.hits(item);
        let pair = (plus + minus) as f64 / seen.reports as f64;
        let mean = points.mean.map_or(0.0, |mean| mean.estimate);
        ContributionDistribution::Hits(hit_distribution(
            seen.estimation_parameters,
            seen.sampling_model,
            pair,
            mean,
        ))
    }

    fn contribution_range(
        &self,
        rates: &CocoHitProbabilities,
        _: &Domain,
        _: f64,
        estimand: Estimand,
    ) -> [f64; 2] {
        let mean = 1.0 / rates.side_hit_probability_gap;
        let Some(PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        }) = rates.exact_pair_probabilities
        else {
            return [-mean, mean];
        };
        let nonmissing = |hit: f64| (hit - q_pair) / (p_pair - q_pair);
        let [none, pair] = [0.0, 1.0].map(nonmissing);
        match estimand {
            Estimand::Mean => [-mean, mean],
            // A report hits the pair on the side of the opposite sign, not at all, or on the side
            // of this sign.
            Estimand::Plus | Estimand::Minus => [
                (0.5 * (pair - mean)).min(0.5 * none),
                (0.5 * (pair + mean)).max(0.5 * none),
            ],
            Estimand::Nonmissing | Estimand::Share => [none, pair],
        }
    }

    fn uniform_outcome_count(&self, _: &Domain, _: f64) -> u32 {
        self.total_buckets()
    }

    fn uniform_outcome(report: &Report) -> Option<u32> {
        Some(report.bucket)
    }

    fn variances_with_and_without(
        rates: &CocoHitProbabilities,
        sparsity: u32,
        estimand: Estimand,
    ) -> [f64; 2] {
        let estimated = "asked for where the rule estimates it";
        match estimand {
            Estimand::Mean => {
                let without = rates.absent_item_second_moment(sparsity, f64::from(sparsity));
                [rates.estimate_second_moment(true) - 1.0, without]
            }
            Estimand::Plus | Estimand::Minus => {
                let [own, _, none] = rates.frequency_variance_by_sign().expect(estimated);
                [own, none]
            }
            Estimand::Nonmissing | Estimand::Share => [true, false]
                .map(|present| rates.presence_estimate_variance(present).expect(estimated)),
        }
    }
}

/// Number of hits on the plus side and on the minus side of each item.
#[derive(Debug, Clone)]
pub(crate) enum CocoHitCounts {
    /// A closed domain with one pair. Every report hits every item, on the side that the item's
    /// hashed sign determines.
    SignAgreements(ItemSignAgreementCounter),
    /// A closed domain with several pairs, or an open domain.
    SideHits {
        hit_decoder: HitDecoder,
        wide_vectors: WideVectors,
        hit_counters: HitCounters,
    },
}

impl CocoHitCounts {
    fn hits(&self, item: u64) -> HitsBySign {
        match self {
            Self::SignAgreements(signs) => signs.agreements_and_disagreements(item),
            Self::SideHits {
                hit_counters: counted,
                ..
            } => counted.hits_by_sign(item),
        }
    }
}

/// Returns the distribution of the hits on an item. `pair` is the observed rate of hits on the
/// item's pair, and `mean` the item's estimated mean.
///
/// Under the rule `strongest`, the hit rates of pairs are only approximate. Then people are treated
/// as drawn at random. If more reports hit the pair than the rates can explain, the hit rate for
/// people with the item is raised to the observed rate.
fn hit_distribution(
    rates: &CocoHitProbabilities,
    whose: SamplingModel,
    pair: f64,
    mean: f64,
) -> HitDistribution {
    let given = whose == SamplingModel::FixedPopulation && rates.exact_pair_probabilities.is_some();
    let presence = rates.exact_pair_probabilities.unwrap_or_else(|| {
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = rates.predicted_pair_probabilities;
        let p_pair = p_pair.max(pair).max(rates.side_hit_probability_gap);
        PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        }
    });
    let PairHitProbabilities {
        pair_hit_if_present: p_pair,
        pair_hit_if_absent: q_pair,
    } = presence;
    let more = p_pair - q_pair;
    let frequency = if more > 0.0 {
        (pair - q_pair) / more
    } else {
        0.0
    };
    let law = HitDistribution::new(
        outcome_probabilities(presence, rates.side_hit_probability_gap),
        given,
        mean,
        frequency,
    );
    match rates.opposite_side_weight() {
        Some(other_side) => law.with_opposite_side_weight(other_side),
        None => law,
    }
}

/// Returns the probabilities of a report's outcomes for people who have an item at −1, who do not
/// have it, and who have it at 1.
fn outcome_probabilities(
    PairHitProbabilities {
        pair_hit_if_present: p_pair,
        pair_hit_if_absent: q_pair,
    }: PairHitProbabilities,
    gap: f64,
) -> [SideHitProbabilities; 3] {
    let outcomes = |pair: f64, lean: f64| {
        let (plus, minus) = (0.5 * (pair + lean), 0.5 * (pair - lean));
        [minus, (1.0 - pair).max(0.0), plus, 0.0]
    };
    [
        outcomes(p_pair, -gap),
        outcomes(q_pair, 0.0),
        outcomes(p_pair, gap),
    ]
}

impl HitEstimator<CocoHitProbabilities> {
    fn estimate_item(&self, [plus, minus]: HitsBySign) -> ItemPointEstimates {
        let pair = (plus + minus) as f64 / self.reports;
        let nonmissing = self.estimate_nonmissing_frequency(pair);
        let mean = self.estimate_mean(plus as f64 - minus as f64, pair, nonmissing);
        let [plus, minus] = match nonmissing {
            Some(nonmissing) => self.estimate_sign_frequencies(mean.estimate, nonmissing.estimate),
            None => [None; 2],
        };
        ItemPointEstimates {
            mean: Some(mean),
            positive_frequency: plus,
            negative_frequency: minus,
            nonmissing_frequency: nonmissing,
            mean_nonmissing_covariance: nonmissing
                .and_then(|nonmissing| self.covariance(mean, nonmissing)),
            estimated_answer_share: None,
        }
    }

    /// Estimates the mean from `difference`, the number of hits on the plus side minus the number
    /// on the minus side. `pair` is the share of reports that hit one of the two sides.
    fn estimate_mean(
        &self,
        difference: f64,
        pair: f64,
        nonmissing: Option<PointEstimate>,
    ) -> PointEstimate {
        let gap = self.hit_probabilities.side_hit_probability_gap;
        let pair = pair.max(
            self.hit_probabilities
                .predicted_pair_probabilities
                .pair_hit_if_absent,
        );
        // The pair is hit least often if no person has the item.
        let estimate = difference / self.reports / gap;
        let certain = match (self.sampling_model, nonmissing) {
            (SamplingModel::FixedPopulation, Some(share)) => share.estimate.clamp(0.0, 1.0),
            _ => (estimate * estimate).min(1.0),
        };
        // The second moment of one report's contribution is the rate of pair hits divided by gap².
        // Subtract the mean square of people's expected contributions. For signs of a fixed
        // population it is the non-missing frequency, otherwise at least the squared mean.
        PointEstimate::new(estimate, pair / (gap * gap) - certain, self.reports)
    }

    /// Estimates the frequencies of both signs from the estimated mean and non-missing frequency.
    /// `None` if CoCo's rule does not provide these estimates.
    fn estimate_sign_frequencies(&self, mean: f64, nonmissing: f64) -> [Option<PointEstimate>; 2] {
        let plus = 0.5 * (nonmissing + mean);
        let minus = 0.5 * (nonmissing - mean);
        [[plus, minus], [minus, plus]].map(|shares| {
            let variances = self.hit_probabilities.frequency_variance_by_sign()?;
            let variance = sign_variance_per_report(self.sampling_model, shares, variances);
            Some(PointEstimate::new(shares[0], variance, self.reports))
        })
    }

    /// Returns the covariance of the estimated mean and the estimated non-missing frequency. `None`
    /// if CoCo's rule does not provide both.
    fn covariance(&self, mean: PointEstimate, nonmissing: PointEstimate) -> Option<f64> {
        let product = self.hit_probabilities.mean_presence_cross_moment()?;
        let (mean, nonmissing) = (mean.estimate, nonmissing.estimate);
        Some(
            mean_presence_covariance(self.sampling_model, mean, nonmissing, product) / self.reports,
        )
    }

    /// Estimates the non-missing frequency from `pair`, the share of reports that hit one of the
    /// item's two sides. `None` if CoCo's rule does not provide this estimate.
    fn estimate_nonmissing_frequency(&self, pair: f64) -> Option<PointEstimate> {
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = self.hit_probabilities.exact_pair_probabilities?;
        let estimate = (pair - q_pair) / (p_pair - q_pair);
        let variance = share_variance_per_report(
            self.sampling_model,
            estimate,
            self.hit_probabilities.presence_estimate_variance(true)?,
            self.hit_probabilities.presence_estimate_variance(false)?,
        );
        Some(PointEstimate::new(estimate, variance, self.reports))
    }
}

#[cfg(test)]
mod tests {
    use hushbin::mechanism::coco::FavouredSideRule;
    use hushbin::{Mechanism, Task, TaskDraft};

    use super::*;
    use crate::estimate::mechanism::exact_coverage::{Item, check};

    /// Checks the counter for one pair, which adds 64 items at once, against a test of each report
    /// for each item.
    #[test]
    fn one_pair_is_counted_as_several_are() {
        for hashing in [HashFamily::Balanced, HashFamily::Independent] {
            let draft: TaskDraft = serde_json::from_value(serde_json::json!({
                "id": "t", "items": 150, "sparsity": 3, "epsilon": 1.0, "value": "sign",
                "mechanism": { "name": "coco", "hashing": hashing, "buckets": 2, "favoured": 1 },
            }))
            .unwrap();
            let task: Task = draft.resolve_task().unwrap();
            let Mechanism::Coco(coco) = task.questions()[0].mechanism() else {
                unreachable!()
            };
            assert_eq!(
                coco.favouring_rule(),
                FavouredSideRule::Strongest { favoured: 1 }
            );
            let support = coco.hit_decoder(&task.questions()[0].domain());
            let mut counts = coco.empty_counts(&task.questions()[0].domain(), 1.0, &[]);
            let mut expected = vec![[0; 2]; 150];
            for seed in 0..100 {
                let bucket = u32::from(seed % 3 == 0);
                let report = Report { seed, bucket };
                Coco::add_report(&mut counts, &report);
                for (item, hits) in (0..).zip(&mut expected) {
                    let plus = support
                        .hit_side_is_plus(&report, item)
                        .expect("there is one pair");
                    hits[usize::from(!plus)] += 1;
                }
            }
            assert!(matches!(counts, CocoHitCounts::SignAgreements(_)));
            let counted: Vec<HitsBySign> = (0..150).map(|item| counts.hits(item)).collect();
            assert_eq!(counted, expected);
        }
    }

    #[test]
    fn intervals_miss_no_more_often_than_they_say() {
        for (items, sparsity, epsilon, buckets, rule) in [
            (1000, 20, 3.0, 408, "strongest"),
            (200, 8, 4.0, 100, "strongest"),
            (40, 3, 1.0, 8, "strongest"),
            (40, 3, 1.0, 2, "strongest"),
            (100, 4, 6.0, 64, "overwrite"),
            (40, 3, 1.0, 12, "overwrite"),
            // With few pairs, reports of people with the opposite sign hit the item often.
            (40, 6, 3.0, 14, "overwrite"),
            (60, 10, 5.0, 22, "overwrite"),
            (1000, 20, 3.0, 400, "overwrite"),
        ] {
            let draft: TaskDraft = serde_json::from_value(serde_json::json!({
                "id": "t", "items": items, "sparsity": sparsity, "epsilon": epsilon,
                "value": "sign",
                "mechanism": { "name": "coco", "buckets": buckets, "rule": rule },
            }))
            .unwrap();
            let task: Task = draft.resolve_task().unwrap();
            let Mechanism::Coco(coco) = task.questions()[0].mechanism() else {
                unreachable!()
            };
            let rates = coco.hit_probabilities(&task.questions()[0].domain(), epsilon);
            for whose in [SamplingModel::FixedPopulation, SamplingModel::RandomSample] {
                let item = Item {
                    probabilities_by_true_sign: outcome_probabilities(
                        rates.predicted_pair_probabilities,
                        rates.side_hit_probability_gap,
                    ),
                    estimands: coco.estimands(&task.questions()[0].domain()),
                    estimate_from_hits: &|hits, reports| {
                        let points = HitEstimator::new(rates, whose, reports).estimate_item(hits);
                        let pair = (hits[0] + hits[1]) as f64 / reports as f64;
                        let mean = points.mean.expect("means are estimated").estimate;
                        (points, hit_distribution(&rates, whose, pair, mean))
                    },
                };
                check(&format!("{whose:?}, {rates:?}"), &item, f64::from(items));
            }
        }
    }
}
