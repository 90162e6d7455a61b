//! The integer probabilities that reports of one output are drawn with.

use alloc::vec::Vec;

use super::parameters::{Rule, Subset};
use crate::sample::{ExpLowerBound, Threshold};

/// The integer probabilities that one of t outputs is drawn with, of which an input favours
/// some: the sampler, the estimates and the account of privacy all use them.
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
    /// Of drawing a favoured output: under a paper's rule by the number of cells that hold an
    /// element, less one; else one.
    pub(super) inside: Vec<Threshold>,
    /// c, where it is the same of every input.
    favoured: Option<u32>,
    pub(in crate::mechanism) outcomes: u32,
    /// Of the side that decides in a pushed pair, under CoCo's rule of a paper.
    pub(in crate::mechanism) decided: Option<Threshold>,
    pub(super) epsilon: f64,
}

impl Thresholds {
    /// Of sets of c = `favoured` of all outputs.
    pub(in crate::mechanism) fn of_sets(epsilon: f64, favoured: u32, outcomes: u32) -> Self {
        let bound = ExpLowerBound::new(epsilon);
        Self {
            inside: alloc::vec![threshold(&bound, favoured, outcomes - favoured)],
            favoured: Some(favoured),
            outcomes,
            decided: None,
            epsilon,
        }
    }

    /// The probability of drawing a favoured output, where `cells` hold an element, at least 1.
    #[inline]
    #[must_use]
    pub fn inside(&self, cells: u32) -> Threshold {
        let varies = cfg!(feature = "complete") && self.favoured.is_none();
        self.inside[if varies { cells as usize - 1 } else { 0 }]
    }

    /// Number of favoured outputs, where `cells` hold an element.
    #[inline]
    #[must_use]
    pub fn favoured(&self, cells: u32) -> u32 {
        self.favoured.unwrap_or(cells)
    }
}

/// Of drawing one of c = `favoured` outputs, which weigh e, where the `others` weigh 1:
/// floor(2⁶⁴·c·e/(c·e + t − c)), e rounded down.
pub(in crate::mechanism) fn threshold(
    bound: &ExpLowerBound,
    favoured: u32,
    others: u32,
) -> Threshold {
    Threshold(bound.share(favoured.into(), favoured.into(), others.into()))
}

impl<R: Rule> Subset<R> {
    /// The thresholds sampled at sparsity s and local budget ε.
    ///
    /// # Panics
    /// If a paper's rule has no more cells than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let outcomes = self.outcomes();
        if let Some(favoured) = self.favoured() {
            return Thresholds::of_sets(epsilon, favoured, outcomes);
        }
        assert!(self.cells() > sparsity, "a rule takes more cells than s");
        let bound = ExpLowerBound::new(epsilon);
        let others = outcomes - R::SIDES * sparsity;
        // Of Ω = s(e + 1) + t − 2s a pushed pair has one share, e + 1: every input's pairs
        // weigh the same to the last bit, and those of s together less than 2⁶⁴.
        let pair = (R::SIDES == 2).then(|| bound.pair_share(sparsity, others));
        let inside = |k: u32| match pair {
            Some(pair) => u64::from(k) * pair,
            // floor(2⁶⁴·k·e/Ω), Ω = s·e + t − s.
            None => bound.share(k.into(), sparsity.into(), others.into()),
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
