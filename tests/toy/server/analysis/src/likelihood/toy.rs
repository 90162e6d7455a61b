//! The toy's likelihoods, by its definition.

use hushbin::Entry;
use hushbin::domain::Domain;
use hushbin::hash::{HashKeys, hashed_closed_element_sign};
use hushbin::mechanism::toy::{Report, Toy};

use super::contract::ObservableMechanism;
use super::hypothesis::{Hypothesis, HypothesisMixturePart};
use super::observation::Observation;

impl ObservableMechanism for Toy {
    type Report = Report;

    fn observe_report(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let keys = HashKeys::new(report.seed);
        let likelihood = |input: &Hypothesis| {
            let push = |entry: &Entry| {
                entry.value.signum()
                    * f64::from(hashed_closed_element_sign(&keys, entry.item as u32))
            };
            let of_part = |part: &HypothesisMixturePart| {
                let kept = part
                    .kept_entry_indices
                    .iter()
                    .map(|&index| push(&input.entries()[index]));
                part.probability * kept.sum::<f64>() / f64::from(domain.sparsity())
            };
            let push: f64 = input.mixture_parts().iter().map(of_part).sum();
            let plus = 0.5 + 0.5 * push * (0.5 * epsilon).tanh();
            if report.plus { plus } else { 1.0 - plus }
        };
        let [first, second] = inputs.map(likelihood);
        Observation {
            log_likelihood_ratio: (first / second).ln(),
            seed: report.seed,
            reported_bucket: u64::from(report.plus),
            ..Observation::default()
        }
    }
}
