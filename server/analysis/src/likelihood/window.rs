//! Likelihood of a report of the window mechanism under an input, from the definition of the
//! mechanism.

use hushbin::domain::{Domain, SignedItem};
use hushbin::mechanism::window::{Randomizer, Report, Window};
use hushbin::{Entry, Question};

use super::contract::{ExactProbabilities, ObservableMechanism};
use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, several_numbers_input_pairs};
use super::observation::{BucketRank, EntryCellSummary, Observation};

impl ObservableMechanism for Window {
    type Report = Report;

    fn observe_report(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let mut atoms = Vec::new();
        self.atom_decoder(domain)
            .for_each_atom(report, |attribute, atom| atoms.push((attribute, atom)));
        let of = inputs.map(|input| atom_favoured_probabilities(self, input.entries(), &atoms));
        let [first, second] = of.each_ref().map(|chances| {
            // Likelihood of the report, times the normalising constant kᵐ·e + tᵐ − kᵐ.
            1.0 + epsilon.exp_m1() * chances.iter().product::<f64>()
        });
        let may_be = |chance: &f64| *chance > 0.0;
        Observation {
            log_likelihood_ratio: (first / second).ln(),
            seed: report.seed,
            reported_bucket: report.bucket.into(),
            bucket_first_entry_indices: of.each_ref().map(|chances| {
                let found = chances.iter().position(may_be);
                found.unwrap_or(chances.len())
            }),
            bucket_ranks_by_input: of.each_ref().map(|chances| {
                if chances.iter().all(may_be) {
                    BucketRank::ContainsAllEntries
                } else {
                    BucketRank::ContainsNoEntry
                }
            }),
            cell_summaries_by_input: inputs.map(|input| {
                let drawn = atoms.iter().map(|&(attribute, _)| attribute);
                EntryCellSummary::new(
                    drawn.map(|own| (own, attribute_value(input.entries(), own) > 0.0)),
                )
            }),
        }
    }

    fn exact_probabilities(&self, domain: &Domain, epsilon: f64) -> Option<ExactProbabilities> {
        let core = Randomizer::new(self, domain, epsilon);
        Some(ExactProbabilities {
            bucket_count: self.atom_combination_count(),
            count_padding_choices: Box::new(|_| Some(1)),
            bucket_probability_function: Box::new(move |seed, signed, _| {
                let entries: Vec<Entry> = signed.iter().map(end_of_range_entry).collect();
                core.cell_probabilities(seed, &entries)
            }),
        })
    }

    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        several_numbers_input_pairs(question)
    }
}

/// Returns an entry whose number is −1 or 1: the end of the range with the sign of `signed`.
fn end_of_range_entry(signed: &SignedItem) -> Entry {
    Entry {
        item: signed.item,
        value: if signed.is_negative { -1.0 } else { 1.0 },
    }
}

fn attribute_value(entries: &[Entry], attribute: u32) -> f64 {
    let own = |entry: &&Entry| entry.item == u64::from(attribute);
    entries.iter().find(own).map_or(0.0, |entry| entry.value)
}

/// Returns, for each drawn attribute, the probability that its level favours the reported atom.
fn atom_favoured_probabilities(
    window: &Window,
    entries: &[Entry],
    atoms: &[(u32, u32)],
) -> Vec<f64> {
    let chance = |&(attribute, atom): &(u32, u32)| {
        window.atom_favoured_probability(attribute_value(entries, attribute), atom)
    };
    atoms.iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If several levels coincide, the last of them counts, as in the core.
    #[test]
    fn numbers_where_levels_coincide_have_a_likelihood() {
        let window = Window::new(1, 4, 1, [5, 5]).unwrap();
        let entries = [Entry {
            item: 0,
            value: 1.0,
        }];
        let chances =
            (0..4).map(|atom| atom_favoured_probabilities(&window, &entries, &[(0, atom)])[0]);
        assert!(chances.eq([0.0, 0.0, 0.0, 1.0]));
    }
}
