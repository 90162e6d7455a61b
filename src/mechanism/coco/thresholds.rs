//! The integer probabilities of CoCo.

use super::rule::{Coco, Rule};
use crate::mechanism::subset::threshold;
use crate::sample::{ExpLowerBound, Threshold};

impl Coco {
    /// The thresholds sampled at sparsity s and local budget ε.
    ///
    /// # Panics
    /// If rule `overwrite` has no more pairs than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let bound = ExpLowerBound::new(epsilon);
        let t = self.outcomes();
        let kind = match self.rule() {
            Rule::Overwrite => {
                assert!(
                    self.pairs() > sparsity,
                    "rule overwrite takes more pairs than s"
                );
                Kind::Overwrite {
                    // floor(2⁶⁴·(e + 1)/Ω), Ω = s(e + 1) + t − 2s, of which a
                    // pushed pair has one share: every input's pairs weigh the
                    // same to the last bit.
                    pair: bound.pair_share(sparsity, t - 2 * sparsity),
                    // floor(2⁶⁴·e/(e + 1)), rounded towards 1/2.
                    decided: Threshold(bound.share(1, 1, 1)),
                    sparsity,
                }
            }
            Rule::Strongest { favoured } => Kind::Strongest {
                inside: threshold(&bound, favoured, t - favoured),
                favoured,
            },
        };
        Thresholds {
            kind,
            pairs: t / 2,
            epsilon,
        }
    }
}

/// The integer probabilities that reports are drawn with.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Rule};
///
/// let rule = Rule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, Hashing::Balanced, 12).unwrap();
/// assert!(coco.thresholds(3, 1.0).effective_epsilon() <= 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    pub(super) kind: Kind,
    /// R·T, of all hash functions.
    pub(super) pairs: u32,
    pub(super) epsilon: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Overwrite {
        /// Of one pushed pair, in units of 2⁻⁶⁴.
        pair: u64,
        /// Of the decided side, given the pair.
        decided: Threshold,
        sparsity: u32,
    },
    Strongest {
        /// Of the favoured sides together.
        inside: Threshold,
        favoured: u32,
    },
}
