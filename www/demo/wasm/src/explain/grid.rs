//! The grid's reports, explained.

use hushbin::Entry;
use hushbin::domain::Signed;
use hushbin::mechanism::grid::{Grid, Randomizer, Report};

use super::contract::{Explained, Reported, Setting};
use super::placement::{Answered, AttributeLevels, Outcome, Placement};

impl Explained for Grid {
    type Report = Report;

    fn reported(&self, report: &Report) -> Reported {
        let values = digits(self, report.bucket).map(|level| self.value(level));
        Reported::Levels {
            values: values.collect(),
        }
    }

    fn place(&self, setting: &Setting, answers: &[Signed], report: &Report) -> Placement {
        let chances = chances(self, setting, answers, report.seed);
        let of_level = |index: usize, level: u32| -> f64 {
            let cells = (0..).zip(&chances);
            let own = cells.filter(|(cell, _)| digits(self, *cell).nth(index) == Some(level));
            own.map(|(_, chance)| chance).sum()
        };
        let mut drawn = Vec::new();
        let support = self.support(&setting.domain);
        support.for_each_attribute(report.seed, |item| {
            let index = drawn.len();
            let outcome = |level: u32| {
                // Answers are at the ends.
                let pushes = |signed: &&Signed| {
                    let end = if signed.negative { 0 } else { self.steps() };
                    signed.item == u64::from(item) && end == level
                };
                Outcome {
                    answers: answers.iter().filter(pushes).map(Answered::from).collect(),
                    paddings: 0,
                    chance: of_level(index, level),
                }
            };
            drawn.push(AttributeLevels {
                item,
                levels: (0..self.levels()).map(outcome).collect(),
            });
        });
        Placement::Levels { drawn }
    }

    fn log_likelihood(&self, setting: &Setting, answers: &[Signed], report: &Report) -> f64 {
        chances(self, setting, answers, report.seed)[report.bucket as usize].ln()
    }

    /// How near it is to the first input's answers, less how near to those of the second, in
    /// ranges.
    fn score(&self, setting: &Setting, [first, second]: &[Vec<Signed>; 2], report: &Report) -> f64 {
        let support = self.support(&setting.domain);
        let nearness = |input: &[Signed]| {
            let mut nearness = 0.0;
            support.for_each_level(report, |attribute, level| {
                let own = |signed: &&Signed| signed.item == u64::from(attribute);
                let place = 0.5 + 0.5 * self.value(level);
                nearness += match input.iter().find(own) {
                    Some(signed) if signed.negative => 1.0 - place,
                    Some(_) => place,
                    None => 0.0,
                };
            });
            nearness
        };
        nearness(first) - nearness(second)
    }
}

/// A cell's levels, in the order in which attributes are drawn.
fn digits(grid: &Grid, cell: u32) -> impl Iterator<Item = u32> {
    let levels = grid.levels();
    let next = move |cell: &u32| Some(cell / levels);
    let cells = std::iter::successors(Some(cell), next);
    cells
        .map(move |cell| cell % levels)
        .take(grid.drawn() as usize)
}

/// The chance of every cell under a seed. What is not answered is in the middle of its
/// range.
fn chances(grid: &Grid, setting: &Setting, answers: &[Signed], seed: u64) -> Vec<f64> {
    let core = Randomizer::new(grid, &setting.domain, setting.epsilon);
    let entry = |signed: &Signed| Entry {
        item: signed.item,
        value: if signed.negative { -1.0 } else { 1.0 },
    };
    let entries: Vec<Entry> = answers.iter().map(entry).collect();
    core.probabilities(seed, &entries)
}
