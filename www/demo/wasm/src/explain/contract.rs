//! What explaining needs of every mechanism.

use std::ops::Range;

use hushbin::domain::{Domain, Signed};
use serde::Serialize;

use super::placement::Placement;

/// The randomised part of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reported {
    /// Collision's.
    Bucket {
        /// From 0.
        bucket: u32,
    },
    /// CoCo's.
    Side {
        /// From 0.
        pair: u32,
        /// Whether it is the plus side.
        plus: bool,
    },
    /// The window's.
    Atoms {
        /// The atom's value over the greatest, from −1 to 1, by attribute, in the order in
        /// which the seed draws them.
        values: Vec<f64>,
    },
    /// Hash-bin's, of one clipped sum.
    Sign {
        /// Whether it is plus.
        plus: bool,
    },
    /// Hash-bin's, with noise.
    Bins {
        /// In units of a value of 1.
        values: Vec<f64>,
    },
}

/// What every mechanism is asked, of a task's domain and ε.
pub(super) trait Explained {
    type Report;

    /// The randomised part of a report.
    fn reported(&self, report: &Self::Report) -> Reported;

    /// Where answers fall under the seed of a report, and what each outcome's
    /// chance is.
    fn place(&self, setting: &Setting, answers: &[Signed], report: &Self::Report) -> Placement;

    /// ln P(response | seed, answers).
    fn log_likelihood(&self, setting: &Setting, answers: &[Signed], report: &Self::Report) -> f64;

    /// How much more a report looks like the first input than the second, by
    /// what it supports.
    fn score(&self, setting: &Setting, inputs: &[Vec<Signed>; 2], report: &Self::Report) -> f64;

    /// The scale of the noise on numbers that are reported, in units of a value
    /// of 1.
    fn noise_scale(&self, _: &Setting) -> Option<f64> {
        None
    }
}

/// The domain and ε of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) domain: Domain,
    pub(super) epsilon: f64,
}

impl Setting {
    /// The paddings that make answers as many as a report holds.
    pub(super) fn paddings(&self, answers: &[Signed]) -> Range<u32> {
        0..self.domain.sparsity().saturating_sub(answers.len() as u32)
    }

    /// The chances of every outcome, where of more answers than a report holds a
    /// uniformly random selection is kept.
    pub(super) fn kept(
        &self,
        answers: &[Signed],
        chances: &mut dyn FnMut(&[Signed]) -> Vec<f64>,
    ) -> Vec<f64> {
        if answers.len() <= self.domain.sparsity() as usize {
            return chances(answers);
        }
        // A uniformly random one goes, until as many are left as are kept.
        let without = |index| [&answers[..index], &answers[index + 1..]].concat();
        mean((0..answers.len()).map(|index| self.kept(&without(index), chances)))
    }
}

/// The mean of distributions, of which there is one at least.
pub(super) fn mean(distributions: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let mut sums = Vec::new();
    let mut count = 0.0;
    for distribution in distributions {
        sums.resize(distribution.len(), 0.0);
        for (sum, chance) in sums.iter_mut().zip(distribution) {
            *sum += chance;
        }
        count += 1.0;
    }
    sums.into_iter().map(|sum: f64| sum / count).collect()
}
