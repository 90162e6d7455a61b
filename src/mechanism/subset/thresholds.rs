//! Integer probabilities for drawing reports of one output.

use alloc::vec::Vec;

use super::parameters::{Rule, Subset};
use crate::sample::{ExpLowerBound, Threshold};

/// Integer probabilities for drawing one of t outputs, some of them favoured by the input. The
/// sampler, the estimates and the privacy accounting all use them.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Rule};
///
/// let rule = Rule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, Hashing::Balanced, 12).unwrap();
/// let thresholds = collision.thresholds(3, 1.0);
/// assert_eq!(thresholds.favoured(1), 2);
/// assert!(thresholds.inside(1).probability() > 2.0 / 12.0);
/// assert!(thresholds.effective_epsilon() <= 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// Probability of drawing a favoured output. Under a paper's rule there is one for each number
    /// of occupied cells, from 1 on; else there is one in all.
    pub(super) inside: Vec<Threshold>,
    /// Number c of favoured outputs if it is the same for every input, else `None`.
    favoured: Option<u32>,
    pub(in crate::mechanism) outcomes: u32,
    /// Probability of the deciding entry's side in a pushed pair, under CoCo's rule of a paper.
    pub(in crate::mechanism) decided: Option<Threshold>,
    pub(super) epsilon: f64,
}

impl Thresholds {
    /// Creates the thresholds for sets of c = `favoured` of all outputs.
    pub(in crate::mechanism) fn for_fixed_size(epsilon: f64, favoured: u32, outcomes: u32) -> Self {
        let bound = ExpLowerBound::new(epsilon);
        Self {
            inside: alloc::vec![threshold(&bound, favoured, outcomes - favoured)],
            favoured: Some(favoured),
            outcomes,
            decided: None,
            epsilon,
        }
    }

    /// Probability of drawing a favoured output if `cells` cells hold an element, at least 1.
    #[inline]
    #[must_use]
    pub fn inside(&self, cells: u32) -> Threshold {
        let varies = cfg!(feature = "complete") && self.favoured.is_none();
        self.inside[if varies { cells as usize - 1 } else { 0 }]
    }

    /// Number of favoured outputs if `cells` cells hold an element.
    #[inline]
    #[must_use]
    pub fn favoured(&self, cells: u32) -> u32 {
        self.favoured.unwrap_or(cells)
    }
}

/// Computes the probability of drawing one of c = `favoured` outputs of weight e, if all other
/// outputs weigh 1. It is floor(2⁶⁴·c·e/(c·e + t − c)), with e rounded down.
pub(in crate::mechanism) fn threshold(
    bound: &ExpLowerBound,
    favoured: u32,
    others: u32,
) -> Threshold {
    Threshold(bound.favoured_probability(favoured.into(), favoured.into(), others.into()))
}

impl<R: Rule> Subset<R> {
    /// Computes the thresholds at sparsity s and local ε.
    ///
    /// # Panics
    /// If a paper's rule has no more cells than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let outcomes = self.outcomes();
        if let Some(favoured) = self.favoured() {
            return Thresholds::for_fixed_size(epsilon, favoured, outcomes);
        }
        assert!(self.cells() > sparsity, "a rule takes more cells than s");
        let bound = ExpLowerBound::new(epsilon);
        let others = outcomes - R::SIDES * sparsity;
        // A pushed pair has one share e + 1 of Ω = s(e + 1) + t − 2s. So every input's pairs weigh
        // the same to the last bit, and s of them weigh less than 2⁶⁴ together.
        let pair = (R::SIDES == 2).then(|| bound.pair_probability(sparsity, others));
        let inside = |k: u32| match pair {
            Some(pair) => u64::from(k) * pair,
            // floor(2⁶⁴·k·e/Ω), Ω = s·e + t − s.
            None => bound.favoured_probability(k.into(), sparsity.into(), others.into()),
        };
        Thresholds {
            inside: (1..=sparsity).map(|k| Threshold(inside(k))).collect(),
            favoured: None,
            outcomes,
            // floor(2⁶⁴·e/(e + 1)), rounded towards 1/2.
            decided: pair.map(|_| threshold(&bound, 1, 1)),
            epsilon,
        }
    }
}
