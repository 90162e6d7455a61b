//! Likelihood of a pattern report under an input, from the definition of the mechanism.

use hushbin::domain::Domain;
use hushbin::mechanism::pattern::{Pattern, Randomizer, Report};

use super::contract::{ExactProbabilities, ObservableMechanism};
use super::hypothesis::Hypothesis;
use super::observation::{BucketRank, EntryCellSummary, Observation};

impl ObservableMechanism for Pattern {
    type Report = Report;

    fn observe_report(
        &self,
        _: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let cells = inputs.map(|input| input.entries().first().map_or(0, |own| own.item as u32));
        let favours = cells.map(|cell| self.cell_favours_output(cell, report.bucket));
        let [first, second] = favours.map(|own| if own { epsilon } else { 0.0 });
        Observation {
            log_likelihood_ratio: first - second,
            seed: report.seed,
            reported_bucket: report.bucket.into(),
            bucket_first_entry_indices: favours.map(|own| usize::from(!own)),
            bucket_ranks_by_input: favours.map(|own| {
                if own {
                    BucketRank::ContainsAllEntries
                } else {
                    BucketRank::ContainsNoEntry
                }
            }),
            cell_summaries_by_input: cells
                .map(|cell| EntryCellSummary::new(std::iter::once((cell, false)))),
        }
    }

    fn exact_probabilities(&self, _: &Domain, epsilon: f64) -> Option<ExactProbabilities> {
        let core = Randomizer::new(self, epsilon);
        Some(ExactProbabilities {
            bucket_count: self.output_count(),
            count_padding_choices: Box::new(|_| Some(1)),
            bucket_probability_function: Box::new(move |_, signed, _| {
                core.output_probabilities(signed.first().map_or(0, |own| own.item as u32))
            }),
        })
    }
}
