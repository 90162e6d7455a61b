//! The grid's reports, by its definition.

use hushbin::domain::{Domain, Signed};
use hushbin::mechanism::grid::{Grid, Randomizer, Report};
use hushbin::{Entry, Question};

use super::contract::{Enumerable, Observed};
use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_numbers};
use super::observation::{Fall, Observation, Place};

impl Observed for Grid {
    type Report = Report;

    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let mut levels = Vec::new();
        self.support(domain)
            .for_each_level(report, |attribute, level| levels.push((attribute, level)));
        let of = inputs.map(|input| rounded(self, input.entries(), &levels));
        let [first, second] = of.each_ref().map(|chances| {
            // Times e + M − 1.
            1.0 + epsilon.exp_m1() * chances.iter().product::<f64>()
        });
        let may_be = |chance: &f64| *chance > 0.0;
        Observation {
            log_ratio: (first / second).ln(),
            seed: report.seed,
            bucket: report.bucket.into(),
            first_entries: of.each_ref().map(|chances| {
                let found = chances.iter().position(may_be);
                found.unwrap_or(chances.len())
            }),
            places: of.each_ref().map(|chances| {
                if chances.iter().all(may_be) {
                    Place::Only
                } else {
                    Place::Elsewhere
                }
            }),
            falls: inputs.map(|input| {
                let drawn = levels.iter().map(|&(attribute, _)| attribute);
                Fall::new(drawn.map(|own| (own, value_of(input.entries(), own) > 0.0)))
            }),
        }
    }

    fn enumerable(&self, domain: &Domain, epsilon: f64) -> Option<Enumerable> {
        let core = Randomizer::new(self, domain, epsilon);
        Some(Enumerable {
            buckets: self.cells(),
            completions: Box::new(|_| Some(1)),
            probabilities: Box::new(move |seed, signed, _| {
                let entries: Vec<Entry> = signed.iter().map(entry).collect();
                core.probabilities(seed, &entries)
            }),
        })
    }

    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        pairs_of_numbers(question)
    }
}

/// A number at an end of its range.
fn entry(signed: &Signed) -> Entry {
    Entry {
        item: signed.item,
        value: if signed.negative { -1.0 } else { 1.0 },
    }
}

fn value_of(entries: &[Entry], attribute: u32) -> f64 {
    let own = |entry: &&Entry| entry.item == u64::from(attribute);
    entries.iter().find(own).map_or(0.0, |entry| entry.value)
}

/// By attribute drawn, with which probability its value becomes the level reported: 1 less
/// the distance in steps, if that is below 1.
fn rounded(grid: &Grid, entries: &[Entry], levels: &[(u32, u32)]) -> Vec<f64> {
    let chance = |&(attribute, level): &(u32, u32)| {
        let place = 0.5 * f64::from(grid.steps()) * (1.0 + value_of(entries, attribute));
        (1.0 - (place - f64::from(level)).abs()).max(0.0)
    };
    levels.iter().map(chance).collect()
}
