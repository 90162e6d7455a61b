//! Likelihood of a pattern report under an input, from the definition of the mechanism.

use hushbin::domain::Domain;
use hushbin::mechanism::pattern::{Pattern, Randomizer, Report};

use super::contract::{ExactProbabilities, ObservableMechanism};
use super::hypothesis::Hypothesis;
use super::observation::{BucketRank, Observation, SeedPlacement};

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
        let favours = cells.map(|cell| self.favours(cell, report.bucket));
        let [first, second] = favours.map(|own| if own { epsilon } else { 0.0 });
        Observation {
            log_ratio: first - second,
            seed: report.seed,
            bucket: report.bucket.into(),
            first_entries: favours.map(|own| usize::from(!own)),
            places: favours.map(|own| {
                if own {
                    BucketRank::Only
                } else {
                    BucketRank::Elsewhere
                }
            }),
            falls: cells.map(|cell| SeedPlacement::new(std::iter::once((cell, false)))),
        }
    }

    fn exact_probabilities(&self, _: &Domain, epsilon: f64) -> Option<ExactProbabilities> {
        let core = Randomizer::new(self, epsilon);
        Some(ExactProbabilities {
            buckets: self.outputs(),
            completions: Box::new(|_| Some(1)),
            probabilities: Box::new(move |_, signed, _| {
                core.output_probabilities(signed.first().map_or(0, |own| own.item as u32))
            }),
        })
    }
}
