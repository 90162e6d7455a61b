//! The toy's likelihoods, by its definition.

use hushbin::Entry;
use hushbin::domain::Domain;
use hushbin::hash::{Keys, closed_sign};
use hushbin::mechanism::toy::{Report, Toy};

use super::contract::Observed;
use super::observation::{Observation, Place};

impl Observed for Toy {
    type Report = Report;

    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&[Entry]; 2],
        report: &Report,
    ) -> Observation {
        let keys = Keys::new(report.seed);
        let likelihood = |input: &[Entry]| {
            let push =
                |entry: &Entry| entry.value * f64::from(closed_sign(&keys, entry.item as u32));
            let push = input.iter().map(push).sum::<f64>() / f64::from(domain.sparsity());
            let plus = 0.5 + 0.5 * push * (0.5 * epsilon).tanh();
            if report.plus { plus } else { 1.0 - plus }
        };
        let [first, second] = inputs.map(likelihood);
        Observation {
            log_ratio: (first / second).ln(),
            seed: report.seed,
            bucket: u64::from(report.plus),
            first_entries: [0; 2],
            places: [Place::Elsewhere; 2],
        }
    }
}
