//! The integer probabilities of CoCo.

use super::rule::{Coco, Rule};
use crate::mechanism::subset::threshold;
use crate::sample::{ExpLowerBound, Factors, Threshold, realised_epsilon};

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
    epsilon: f64,
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

impl Thresholds {
    /// The realised local ε: ln of the greatest probability of any bucket over
    /// the least, both over all inputs; rounded up, never above the requested.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        const ONE: u128 = 1 << 64;
        let t = 2 * self.pairs;
        match self.kind {
            Kind::Strongest { inside, favoured } => {
                let inside = u128::from(inside.0);
                let sides = [
                    Factors(inside, favoured.into()),
                    Factors(ONE - inside, (t - favoured).into()),
                ];
                realised_epsilon(sides.into_iter(), self.epsilon)
            }
            // In units of 2⁻¹²⁸. With k pushed pairs: the decided side, the
            // other side, and each of the t − 2k buckets elsewhere.
            Kind::Overwrite {
                pair,
                decided,
                sparsity,
            } => {
                let (pair, decided) = (u128::from(pair), u128::from(decided.0));
                let sides = [
                    Factors(pair * decided, 1),
                    Factors(pair * (ONE - decided), 1),
                ];
                let elsewhere = (1..=sparsity)
                    .map(|k| Factors((ONE - u128::from(k) * pair) << 64, (t - 2 * k).into()));
                realised_epsilon(sides.into_iter().chain(elsewhere), self.epsilon)
            }
        }
    }
}
