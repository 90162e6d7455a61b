//! Estimates from reports of a pattern. An estimate assigns a weight to each output, and averages
//! the weights of the reports' outputs.

use std::sync::Arc;

use hushbin::domain::Domain;
use hushbin::mechanism::pattern::{Pattern, Report};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism, ShareSumEstimator};
use crate::estimate::counters::{SlotCounters, TotalsError, TotalsReader};
use crate::estimate::distribution::{
    CellOrOutputCounts, PatternOutputShares, pattern_output_shares::PatternEdgeWeights,
};
use crate::estimate::point::{Estimand, ItemPointEstimates};

impl EstimatedMechanism for Pattern {
    type Report = Report;
    type EstimationParameters = Arc<PatternEdgeWeights>;
    type Counts = SlotCounters;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Share]
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> Arc<PatternEdgeWeights> {
        let cells = domain.item_count().unwrap_or(0);
        Arc::new(PatternEdgeWeights::new(
            self.share_estimator(cells, epsilon),
        ))
    }

    fn empty_counts(&self, _: &Domain, _: f64, _: &[u64]) -> SlotCounters {
        SlotCounters::new(self.output_count() as usize)
    }

    fn add_report(counts: &mut SlotCounters, report: &Report) {
        counts.increment(report.bucket as usize);
    }

    fn counter_updates_per_report(&self, _: &Domain, _: f64) -> Option<u64> {
        Some(1)
    }

    fn merge(counts: &mut SlotCounters, others: &SlotCounters) {
        counts.merge(others);
    }

    fn encode(counts: &SlotCounters, bytes: &mut Vec<u8>) {
        counts.encode(counts.slot_range(), bytes);
    }

    fn decode(
        counts: &mut SlotCounters,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        // A report has exactly one output.
        let all = counts.slot_range();
        counts.decode(all.clone(), all.len(), reports, bytes)
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let Some(patterned) = pattern_output_shares(seen) else {
            return Vec::new();
        };
        let point = |&item: &u64| ItemPointEstimates {
            estimated_answer_share: Some(
                patterned
                    .share_and_score_distribution(item as usize..item as usize + 1)
                    .0,
            ),
            ..ItemPointEstimates::default()
        };
        items.iter().map(point).collect()
    }

    fn cell_or_output_counts(&self, seen: &CountedReports<'_, Self>) -> Option<CellOrOutputCounts> {
        pattern_output_shares(seen).map(CellOrOutputCounts::PatternOutputs)
    }

    fn share_sum_estimator(rates: &Arc<PatternEdgeWeights>) -> Option<ShareSumEstimator<'_>> {
        Some(ShareSumEstimator::Outputs(&rates.pattern_probabilities))
    }

    fn contribution_range(
        &self,
        edges: &Arc<PatternEdgeWeights>,
        _: &Domain,
        _: f64,
        _: Estimand,
    ) -> [f64; 2] {
        let rates = &edges.pattern_probabilities;
        let worth =
            |cell| rates.output_weights_of_sum(&rates.range_indicator_weights(cell..cell + 1));
        let all = (0..rates.cell_count()).flat_map(worth);
        all.fold([0.0, 0.0], |[least, most]: [f64; 2], own| {
            [least.min(own), most.max(own)]
        })
    }

    /// Returns the maximum variances of one report's contribution to a bin's share, for people [in,
    /// outside] the bin. The maxima are over all bins and over all people.
    fn variances_with_and_without(
        rates: &Arc<PatternEdgeWeights>,
        _: u32,
        _: Estimand,
    ) -> [f64; 2] {
        let rates = &rates.pattern_probabilities;
        let mut most = [0.0_f64; 2];
        for cell in 0..rates.cell_count() {
            let weights = rates.range_indicator_weights(cell..cell + 1);
            let own = rates.variances_by_cell(&rates.output_weights_of_sum(&weights), &weights);
            for (at, variance) in own.into_iter().enumerate() {
                let whose = usize::from(at != cell);
                most[whose] = most[whose].max(variance);
            }
        }
        most
    }
}

fn pattern_output_shares(seen: &CountedReports<'_, Pattern>) -> Option<PatternOutputShares> {
    let counts = seen
        .counts
        .slot_range()
        .map(|output| seen.counts.get(output));
    let counts: Vec<u64> = counts.collect();
    PatternOutputShares::new(
        Arc::clone(seen.estimation_parameters),
        seen.sampling_model,
        &counts,
    )
}
