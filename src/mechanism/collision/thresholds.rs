//! The integer probabilities of Collision.

use alloc::vec::Vec;

use super::rule::{Collision, Rule};
use crate::mechanism::subset::threshold;
use crate::sample::{ExpLowerBound, Threshold};

impl Collision {
    /// The thresholds sampled at sparsity s and local budget ε.
    ///
    /// # Panics
    /// If rule `occupied` has no more buckets than `sparsity`.
    #[must_use]
    #[cfg_attr(not(feature = "complete"), allow(unused_variables))]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let bound = ExpLowerBound::new(epsilon);
        let t = self.outcomes();
        let inside = match self.rule() {
            // T_k = floor(2⁶⁴·k·e/Ω), Ω = s·e + t − s.
            #[cfg(feature = "complete")]
            Rule::Occupied => {
                assert!(t > sparsity, "rule occupied takes more buckets than s");
                (1..=sparsity)
                    .map(|k| bound.share(k.into(), sparsity.into(), (t - sparsity).into()))
                    .map(Threshold)
                    .collect()
            }
            Rule::Heaviest { favoured } => alloc::vec![threshold(&bound, favoured, t - favoured)],
        };
        Thresholds {
            rule: self.rule(),
            buckets: t,
            epsilon,
            inside,
        }
    }
}

/// The integer probabilities that reports are drawn with: what is sampled, what
/// the estimator divides by and what privacy is accounted for.
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
    rule: Rule,
    pub(super) buckets: u32,
    pub(super) epsilon: f64,
    /// Of reporting inside C: for `occupied` by |C| − 1, for `heaviest` one.
    pub(super) inside: Vec<Threshold>,
}

impl Thresholds {
    /// The probability of reporting a bucket inside C, when `occupied` buckets
    /// hold an element.
    #[inline]
    #[must_use]
    #[cfg_attr(not(feature = "complete"), allow(unused_variables))]
    pub fn inside(&self, occupied: u32) -> Threshold {
        match self.rule {
            #[cfg(feature = "complete")]
            Rule::Occupied => self.inside[occupied as usize - 1],
            Rule::Heaviest { .. } => self.inside[0],
        }
    }

    /// |C| when `occupied` buckets hold an element.
    #[inline]
    #[must_use]
    #[cfg_attr(not(feature = "complete"), allow(unused_variables))]
    pub const fn favoured(&self, occupied: u32) -> u32 {
        match self.rule {
            #[cfg(feature = "complete")]
            Rule::Occupied => occupied,
            Rule::Heaviest { favoured } => favoured,
        }
    }
}
