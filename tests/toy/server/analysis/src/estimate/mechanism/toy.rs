//! Estimates of the toy: how much more often an item's sign is reported than its opposite.

use hushbin::domain::Domain;
use hushbin::hash::HashKeys;
use hushbin::mechanism::toy::{Report, Toy};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism};
use crate::estimate::counters::{ItemSignAgreementCounter, TotalsError, TotalsReader};
use crate::estimate::point::{Estimand, ItemPointEstimates, PointEstimate};

impl EstimatedMechanism for Toy {
    type Report = Report;
    /// P(an item's own sign is reported) − P(the opposite is reported), for a person with the item.
    type EstimationParameters = f64;
    type Counts = ItemSignAgreementCounter;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Mean]
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> f64 {
        self.lean(epsilon) / f64::from(domain.sparsity())
    }

    fn empty_counts(&self, domain: &Domain, _: f64, _: &[u64]) -> ItemSignAgreementCounter {
        ItemSignAgreementCounter::new(domain.item_count().unwrap_or(0) as usize)
    }

    fn add_report(counts: &mut ItemSignAgreementCounter, report: &Report) {
        counts.add_report(HashKeys::new(report.seed), !report.plus);
    }

    fn counter_updates_per_report(&self, domain: &Domain, _: f64) -> Option<u64> {
        Some(ItemSignAgreementCounter::words_per_report(
            domain.item_count()? as usize,
        ))
    }

    fn merge(counts: &mut ItemSignAgreementCounter, others: &ItemSignAgreementCounter) {
        counts.merge(others);
    }

    fn encode(counts: &ItemSignAgreementCounter, bytes: &mut Vec<u8>) {
        counts.encode(bytes);
    }

    fn decode(
        counts: &mut ItemSignAgreementCounter,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        counts.decode(reports, bytes)
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let (gap, reports) = (seen.estimation_parameters, seen.reports as f64);
        let point = |&item| {
            let [agree, differ] = seen.counts.agreements_and_disagreements(item);
            let mean = (agree as f64 - differ as f64) / reports / gap;
            let variance = 1.0 / (gap * gap) - mean.clamp(-1.0, 1.0).powi(2);
            ItemPointEstimates {
                mean: Some(PointEstimate::new(mean, variance, reports)),
                ..ItemPointEstimates::default()
            }
        };
        items.iter().map(point).collect()
    }

    fn contribution_range(&self, gap: &f64, _: &Domain, _: f64, _: Estimand) -> [f64; 2] {
        [-1.0 / gap, 1.0 / gap]
    }

    fn variances_with_and_without(gap: &f64, _: u32, _: Estimand) -> [f64; 2] {
        let square = 1.0 / (gap * gap);
        [square - 1.0, square]
    }
}
