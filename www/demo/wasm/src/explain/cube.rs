//! The cube's reports, explained.

use hushbin::domain::Signed;
use hushbin::mechanism::cube::{Cube, Randomizer, Report};

use super::contract::{Explained, Reported, Setting, mean};
use super::placement::{Answered, Attribute, Outcome, Placement};

impl Explained for Cube {
    type Report = Report;

    fn reported(&self, report: &Report) -> Reported {
        let plus = |index: u32| report.signs >> index & 1 == 1;
        Reported::Corner {
            pluses: (0..self.drawn()).map(plus).collect(),
        }
    }

    fn place(&self, setting: &Setting, answers: &[Signed], report: &Report) -> Placement {
        let chances = chances(self, setting, answers, report.seed);
        let of_side = |index: usize, plus: bool| {
            let corners = (0_u64..).zip(&chances);
            let own = corners.filter(|(signs, _)| (signs >> index & 1 == 1) == plus);
            own.map(|(_, chance)| chance).sum::<f64>()
        };
        let attribute = |(index, item): (usize, &u32)| {
            let side = |plus: bool| {
                let pushes =
                    |signed: &&Signed| signed.item == u64::from(*item) && signed.negative != plus;
                Outcome {
                    answers: answers.iter().filter(pushes).map(Answered::from).collect(),
                    paddings: 0,
                    chance: of_side(index, plus),
                }
            };
            Attribute {
                item: *item,
                plus: side(true),
                minus: side(false),
            }
        };
        let drawn = drawn(self, setting, report.seed);
        Placement::Attributes {
            drawn: drawn.iter().enumerate().map(attribute).collect(),
        }
    }

    fn log_likelihood(&self, setting: &Setting, answers: &[Signed], report: &Report) -> f64 {
        chances(self, setting, answers, report.seed)[report.signs as usize].ln()
    }

    /// With how many of the first input's answers it agrees, less those of the second.
    fn score(&self, setting: &Setting, [first, second]: &[Vec<Signed>; 2], report: &Report) -> f64 {
        let support = self.support(&setting.domain);
        let agreements = |input: &[Signed]| {
            let mut agreements = 0.0;
            support.for_each_sign(report, |attribute, plus| {
                let own = |signed: &&Signed| signed.item == u64::from(attribute);
                if let Some(signed) = input.iter().find(own) {
                    agreements += f64::from(u8::from(signed.negative != plus));
                }
            });
            agreements
        };
        agreements(first) - agreements(second)
    }
}

/// The attributes that a seed draws, in their order.
fn drawn(cube: &Cube, setting: &Setting, seed: u64) -> Vec<u32> {
    let mut drawn = Vec::new();
    let support = cube.support(&setting.domain);
    support.for_each_attribute(seed, |attribute| drawn.push(attribute));
    drawn
}

/// The chance of every corner under a seed. What is not answered is in the middle of its
/// range, so that either sign is as likely.
fn chances(cube: &Cube, setting: &Setting, answers: &[Signed], seed: u64) -> Vec<f64> {
    let missing = drawn(cube, setting, seed).into_iter().find(|attribute| {
        let own = |signed: &Signed| signed.item == u64::from(*attribute);
        !answers.iter().any(own)
    });
    let Some(attribute) = missing else {
        let core = Randomizer::new(cube, &setting.domain, setting.epsilon);
        return core.probabilities(seed, answers);
    };
    mean([false, true].into_iter().map(|negative| {
        let item = u64::from(attribute);
        let completed = [answers, &[Signed { item, negative }]].concat();
        chances(cube, setting, &completed, seed)
    }))
}
