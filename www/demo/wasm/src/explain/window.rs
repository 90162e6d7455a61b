//! Explanation of Window's reports.

use hushbin::Entry;
use hushbin::domain::SignedItem;
use hushbin::mechanism::window::{Randomizer, Report, Window};

use super::answer_placement::{AnswerPlacement, AttributeAtoms, Outcome, SignedAnswer};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

impl ExplainMechanism for Window {
    type Report = Report;

    fn decode_randomised_part(&self, report: &Report) -> Reported {
        let values = cell_atoms(self, report.bucket).map(|atom| normalized_atom_value(self, atom));
        Reported::Atoms {
            values: values.collect(),
        }
    }

    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> AnswerPlacement {
        let chances = outcome_probabilities(self, setting, answers, report.seed);
        let of_atom = |index: usize, atom: u32| -> f64 {
            let cells = (0..).zip(&chances);
            let own = cells.filter(|(cell, _)| cell_atoms(self, *cell).nth(index) == Some(atom));
            own.map(|(_, chance)| chance).sum()
        };
        let mut drawn = Vec::new();
        let support = self.atom_decoder(&setting.domain);
        support.for_each_atom(report, |item, _| {
            let index = drawn.len();
            let outcome = |atom: u32| {
                // Yes is the highest level, no the lowest.
                let favours = |signed: &&SignedItem| {
                    let level = if signed.is_negative {
                        0
                    } else {
                        self.level_count() - 1
                    };
                    let window = level..level + self.favoured_atom_count();
                    signed.item == u64::from(item) && window.contains(&atom)
                };
                Outcome {
                    answers: answers
                        .iter()
                        .filter(favours)
                        .map(SignedAnswer::from)
                        .collect(),
                    paddings: 0,
                    chance: of_atom(index, atom),
                }
            };
            drawn.push(AttributeAtoms {
                item,
                atoms: (0..self.atoms_per_attribute()).map(outcome).collect(),
            });
        });
        AnswerPlacement::Atoms { drawn }
    }

    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> f64 {
        outcome_probabilities(self, setting, answers, report.seed)[report.bucket as usize].ln()
    }

    /// Returns the report's nearness to the first input's answers, minus its nearness to the
    /// second's. Each drawn, answered attribute has a distance d: from the answer to the reported
    /// atom, divided by the range of atoms. Nearness is the sum of 1 − d over these attributes.
    fn audit_score(
        &self,
        setting: &DomainAndEpsilon,
        [first, second]: &[Vec<SignedItem>; 2],
        report: &Report,
    ) -> f64 {
        let support = self.atom_decoder(&setting.domain);
        let nearness = |input: &[SignedItem]| {
            let mut nearness = 0.0;
            support.for_each_atom(report, |attribute, atom| {
                let own = |signed: &&SignedItem| signed.item == u64::from(attribute);
                let place = 0.5 + 0.5 * normalized_atom_value(self, atom);
                nearness += match input.iter().find(own) {
                    Some(signed) if signed.is_negative => 1.0 - place,
                    Some(_) => place,
                    None => 0.0,
                };
            });
            nearness
        };
        nearness(first) - nearness(second)
    }
}

/// Returns an atom's value divided by the maximum value. The result is from −1 to 1.
fn normalized_atom_value(window: &Window, atom: u32) -> f64 {
    f64::from(window.atom_value(atom))
        / f64::from(window.atom_value(window.atoms_per_attribute() - 1))
}

/// Returns the atoms that make up a cell, in the order in which attributes are drawn.
fn cell_atoms(window: &Window, cell: u32) -> impl Iterator<Item = u32> {
    let atoms = window.atoms_per_attribute();
    let places = (0..window.drawn_attribute_count())
        .rev()
        .map(move |place| atoms.pow(place));
    places.map(move |place| cell / place % atoms)
}

/// Returns the probability that each cell is reported under a seed. An attribute without an answer
/// counts as the middle of its range.
fn outcome_probabilities(
    window: &Window,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
    seed: u64,
) -> Vec<f64> {
    let core = Randomizer::new(window, &setting.domain, setting.epsilon);
    let entry = |signed: &SignedItem| Entry {
        item: signed.item,
        value: if signed.is_negative { -1.0 } else { 1.0 },
    };
    let entries: Vec<Entry> = answers.iter().map(entry).collect();
    core.cell_probabilities(seed, &entries)
}
