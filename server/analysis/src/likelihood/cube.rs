//! The cube's reports, by its definition.

use hushbin::domain::Domain;
use hushbin::mechanism::cube::{Cube, Randomizer, Report};
use hushbin::{Entry, Question};

use super::contract::{Enumerable, Observed};
use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_numbers};
use super::observation::{Fall, Observation, Place};

/// Most attributes whose corners are listed.
const MOST_LISTED: u32 = 16;

impl Observed for Cube {
    type Report = Report;

    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Report,
    ) -> Observation {
        let mut signs = Vec::new();
        self.support(domain)
            .for_each_sign(report, |attribute, plus| signs.push((attribute, plus)));
        let of = inputs.map(|input| told(input.entries(), &signs));
        let [first, second] = of.each_ref().map(|values| weight(self, epsilon, values));
        let agrees = |value: &f64| *value > 0.0;
        Observation {
            log_ratio: (first / second).ln(),
            seed: report.seed,
            bucket: report.signs,
            first_entries: of.each_ref().map(|values| {
                let found = values.iter().position(agrees);
                found.unwrap_or(values.len())
            }),
            places: of.each_ref().map(|values| {
                if values.iter().all(agrees) {
                    Place::Only
                } else {
                    Place::Elsewhere
                }
            }),
            falls: of.each_ref().map(|values| {
                let drawn = values.iter().zip(&signs);
                Fall::new(
                    drawn.map(|(value, &(attribute, plus))| (attribute, (*value > 0.0) == plus)),
                )
            }),
        }
    }

    fn enumerable(&self, domain: &Domain, epsilon: f64) -> Option<Enumerable> {
        if self.drawn() > MOST_LISTED {
            return None;
        }
        let core = Randomizer::new(self, domain, epsilon);
        Some(Enumerable {
            buckets: 1 << self.drawn(),
            completions: Box::new(|_| Some(1)),
            probabilities: Box::new(move |seed, signed, _| core.probabilities(seed, signed)),
        })
    }

    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        pairs_of_numbers(question)
    }
}

/// By attribute drawn, its value where a report says plus of it, else the negative of it.
fn told(entries: &[Entry], signs: &[(u32, bool)]) -> Vec<f64> {
    let told = |&(attribute, plus): &(u32, bool)| {
        let own = |entry: &&Entry| entry.item == u64::from(attribute);
        let value = entries.iter().find(own).map_or(0.0, |entry| entry.value);
        if plus { value } else { -value }
    };
    signs.iter().map(told).collect()
}

/// The probability of a corner of these [values](told), times Ω = e·N₊ + N₋: e with the
/// probability that κ of the rounded values agree, else 1. Each agrees with probability
/// (1 + v)/2, independently.
fn weight(cube: &Cube, epsilon: f64, values: &[f64]) -> f64 {
    // By the number that agree.
    let mut agree = vec![1.0];
    for value in values {
        let p = 0.5 * (1.0 + value);
        agree.push(0.0);
        for count in (0..agree.len()).rev() {
            let fewer = if count == 0 { 0.0 } else { agree[count - 1] };
            agree[count] = agree[count] * (1.0 - p) + fewer * p;
        }
    }
    let favoured: f64 = agree[cube.agreements() as usize..].iter().sum();
    1.0 + epsilon.exp_m1() * favoured
}
