//! Estimates from reports of a pattern. An estimate assigns a weight to each output, and averages
//! the weights of the reports' outputs.

use std::sync::Arc;

use hushbin::domain::Domain;
use hushbin::mechanism::pattern::{Pattern, Report};

use super::contract::{CountedReports, Estimated, SumRates};
use crate::estimate::fold::{Reader, Slots, TotalsError};
use crate::estimate::law::{Cells, PatternEstimates, patterned::Edges};
use crate::estimate::point::{Estimand, ItemPoints};

impl Estimated for Pattern {
    type Report = Report;
    type Rates = Arc<Edges>;
    type Counts = Slots;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Share]
    }

    fn rates(&self, domain: &Domain, epsilon: f64) -> Arc<Edges> {
        let cells = domain.items().unwrap_or(0);
        Arc::new(Edges::new(self.rates(cells, epsilon)))
    }

    fn counts(&self, _: &Domain, _: f64, _: &[u64]) -> Slots {
        Slots::new(self.outputs() as usize)
    }

    fn fold(counts: &mut Slots, report: &Report) {
        counts.count(report.bucket as usize);
    }

    fn steps(&self, _: &Domain, _: f64) -> Option<u64> {
        Some(1)
    }

    fn merge(counts: &mut Slots, others: &Slots) {
        counts.merge(others);
    }

    fn encode(counts: &Slots, bytes: &mut Vec<u8>) {
        counts.encode(counts.all(), bytes);
    }

    fn decode(counts: &mut Slots, reports: u64, bytes: &mut Reader<'_>) -> Result<(), TotalsError> {
        // A report has exactly one output.
        let all = counts.all();
        counts.decode(all.clone(), all.len(), reports, bytes)
    }

    fn points(&self, seen: &CountedReports<'_, Self>, items: &[u64]) -> Vec<ItemPoints> {
        let Some(patterned) = patterned(seen) else {
            return Vec::new();
        };
        let point = |&item: &u64| ItemPoints {
            share: Some(patterned.among(item as usize..item as usize + 1).0),
            ..ItemPoints::default()
        };
        items.iter().map(point).collect()
    }

    fn cells(&self, seen: &CountedReports<'_, Self>) -> Option<Cells> {
        patterned(seen).map(Cells::Patterned)
    }

    fn sums(rates: &Arc<Edges>) -> Option<SumRates<'_>> {
        Some(SumRates::Outputs(&rates.rates))
    }

    fn contribution_range(&self, edges: &Arc<Edges>, _: &Domain, _: f64, _: Estimand) -> [f64; 2] {
        let rates = &edges.rates;
        let worth = |cell| rates.sum(&rates.weights(cell..cell + 1));
        let all = (0..rates.cells()).flat_map(worth);
        all.fold([0.0, 0.0], |[least, most]: [f64; 2], own| {
            [least.min(own), most.max(own)]
        })
    }

    /// Returns the maximum variances of one report's contribution to a bin's share, for people [in,
    /// outside] the bin. The maxima are over all bins and over all people.
    fn variances(rates: &Arc<Edges>, _: u32, _: Estimand) -> [f64; 2] {
        let rates = &rates.rates;
        let mut most = [0.0_f64; 2];
        for cell in 0..rates.cells() {
            let weights = rates.weights(cell..cell + 1);
            let own = rates.variances(&rates.sum(&weights), &weights);
            for (at, variance) in own.into_iter().enumerate() {
                let whose = usize::from(at != cell);
                most[whose] = most[whose].max(variance);
            }
        }
        most
    }
}

fn patterned(seen: &CountedReports<'_, Pattern>) -> Option<PatternEstimates> {
    let counts = seen.counts.all().map(|output| seen.counts.get(output));
    let counts: Vec<u64> = counts.collect();
    PatternEstimates::new(Arc::clone(seen.rates), seen.whose, &counts)
}
