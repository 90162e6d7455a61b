//! What a report may give away: ε to whoever links it to its sender, and α to
//! whoever sees it shuffled among others.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::Error;
use crate::sample::ExpLowerBound;

/// α of a report that lies in each of c favoured buckets, sides or corners with a weight of e =
/// exp(ε), in each of the others with a weight of 1: how much of it might be anybody's
/// (`accounting` of the collector). With c pairs of T there are 2T − c others.
///
/// ```
/// // Two answers, one of them favoured: 1/(e + 1), which nothing exceeds.
/// assert_eq!(hushbin::choose::alpha(1.0, 1.0, 3.0), 0.25);
/// assert!(hushbin::choose::alpha(1.0, 7.0, 3.0) < 0.25);
/// ```
#[must_use]
pub fn alpha(favoured: f64, others: f64, e: f64) -> f64 {
    favoured.min(others) / (favoured * e + others)
}

/// What a report may give away, as far as parameters are chosen by it: a local ε and a greatest α.
///
/// The shuffled ε grows with ε and with α, so that a bound on it and on ε is a bound on α.
///
/// ```
/// use hushbin::choose::Budget;
///
/// // Nothing is shuffled, or nobody counts on it.
/// assert_eq!(Budget::from(1.0), Budget { epsilon: 1.0, alpha: f64::INFINITY });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Local ε.
    pub epsilon: f64,
    /// The greatest α; infinite where nothing is shuffled.
    pub alpha: f64,
}

impl From<f64> for Budget {
    /// A local ε alone.
    fn from(epsilon: f64) -> Self {
        Self {
            epsilon,
            alpha: f64::INFINITY,
        }
    }
}

/// No parameters keep to the budget.
pub(super) const HIDES_TOO_LITTLE: Error = Error::Combination {
    reason: "these parameters tell too much of a report that is shuffled",
};

impl Budget {
    /// As searches ask for it, again and again.
    pub(super) fn limit(&self) -> Limit {
        let bound = ExpLowerBound::new(self.epsilon);
        Limit {
            e: bound.to_f64(),
            bound,
            alpha: self.alpha,
        }
    }
}

/// A [`Budget`] with exp(ε) at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) bound: ExpLowerBound,
    /// The lower bound of exp(ε): α comes out no smaller than it is.
    pub(super) e: f64,
    alpha: f64,
}

impl Limit {
    /// Whether so many favoured buckets keep to it. Where they are more than half,
    /// a report hides less than its α says, but as well as any.
    pub(super) fn allows(&self, favoured: u32, buckets: u32) -> bool {
        let (favoured, buckets) = (f64::from(favoured), f64::from(buckets));
        // More than there are may be asked about.
        self.allows_sets(favoured, buckets - favoured)
    }

    /// The same of so many favoured and others.
    pub(super) fn allows_sets(&self, favoured: f64, others: f64) -> bool {
        let alpha = if favoured > others {
            alpha(1.0, 1.0, self.e)
        } else {
            alpha(favoured, others, self.e)
        };
        alpha <= self.alpha
    }

    /// Whether any parameters of mechanisms with buckets do.
    pub(super) fn allows_buckets(&self) -> bool {
        self.allows(1, bounds::BUCKETS.max as u32)
    }

    /// The least number of buckets at which so many may be favoured, if no more
    /// than half are; 2 where α is no limit.
    pub(super) fn least_buckets(&self, favoured: u32) -> u32 {
        let least = f64::from(favoured) * (1.0 / self.alpha - self.e + 1.0);
        // A rounding may take the last bit: one more keeps to the budget.
        let least = libm::ceil(least.clamp(bounds::BUCKETS.min, bounds::BUCKETS.max)) as u32;
        if self.allows(favoured, least) {
            least
        } else {
            (least + 1).min(bounds::BUCKETS.max as u32)
        }
    }

    /// Numbers of buckets from which on one more may be favoured, of as many as given or else up to
    /// `most`: all of few, some of many. None where α is no limit.
    pub(super) fn steps(&self, favoured: Option<u32>, most: u32) -> Vec<u32> {
        if self.alpha.is_infinite() {
            return Vec::new();
        }
        let next = |c: &u32| Some(c + 1 + c / 16);
        let (first, last) = favoured.map_or((1, most), |c| (c, c));
        core::iter::successors(Some(first), next)
            .take_while(|c| *c <= last)
            .map(|c| self.least_buckets(c))
            .collect()
    }
}
