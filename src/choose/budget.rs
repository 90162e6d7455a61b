//! Limits on what a report reveals: ε if the report can be linked to its sender, α if it is
//! shuffled among other reports.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::Error;
use crate::sample::ExpLowerBound;

/// Returns the mixture parameter α of a report: the weight with which the report distinguishes the
/// two worst inputs. The accounting of a shuffled batch uses α.
///
/// The report names each of `favoured` buckets, sides or cells with weight e = exp(ε), and each of
/// `others` with weight 1. If CoCo favours c sides of T pairs, `others` is 2T − c.
///
/// ```
/// // Two answers, one of them favoured: 1/(e + 1), the maximum of α.
/// assert_eq!(hushbin::choose::mixture_alpha(1.0, 1.0, 3.0), 0.25);
/// assert!(hushbin::choose::mixture_alpha(1.0, 7.0, 3.0) < 0.25);
/// ```
#[must_use]
pub fn mixture_alpha(favoured: f64, others: f64, e: f64) -> f64 {
    favoured.min(others) / (favoured * e + others)
}

/// Limits on the chosen parameters: a local ε and a maximum α.
///
/// The central ε of a shuffled batch grows with the local ε and with α. For a fixed local ε, a
/// limit on the central ε is therefore a limit on α.
///
/// ```
/// use hushbin::choose::PrivacyBudget;
///
/// // Without shuffling, α is not limited.
/// let local = PrivacyBudget { epsilon: 1.0, max_alpha: f64::INFINITY };
/// assert_eq!(PrivacyBudget::from(1.0), local);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyBudget {
    /// Local ε.
    pub epsilon: f64,
    /// Maximum α, infinite if nothing is shuffled.
    pub max_alpha: f64,
}

impl From<f64> for PrivacyBudget {
    /// Creates a budget that limits only the local ε.
    fn from(epsilon: f64) -> Self {
        Self {
            epsilon,
            max_alpha: f64::INFINITY,
        }
    }
}

/// Error of a search in which no parameters stay within the budget.
pub(super) const BUDGET_EXCEEDED_ERROR: Error = Error::InvalidCombination {
    reason: "these parameters reveal more of a shuffled report than the central ε allows",
};

impl PrivacyBudget {
    /// Returns the budget with a precomputed exp(ε), for the repeated checks of a search.
    pub(super) fn with_precomputed_exp(&self) -> PreparedBudget {
        let bound = ExpLowerBound::new(self.epsilon);
        PreparedBudget {
            exp_epsilon: bound.to_f64(),
            exp_epsilon_lower_bound: bound,
            max_alpha: self.max_alpha,
        }
    }
}

/// [`PrivacyBudget`] with a precomputed exp(ε).
#[derive(Debug, Clone, Copy)]
pub(super) struct PreparedBudget {
    pub(super) exp_epsilon_lower_bound: ExpLowerBound,
    /// Lower bound of exp(ε), so that α is never underestimated.
    pub(super) exp_epsilon: f64,
    max_alpha: f64,
}

impl PreparedBudget {
    /// Returns whether a mechanism that favours `favoured` of `buckets` buckets stays within the
    /// budget.
    pub(super) fn allows_favoured_bucket_count(&self, favoured: u32, buckets: u32) -> bool {
        let (favoured, buckets) = (f64::from(favoured), f64::from(buckets));
        // Searches may try more favoured buckets than there are.
        self.allows_favoured_other_counts(favoured, buckets - favoured)
    }

    /// Returns whether a mechanism with `favoured` favoured buckets and `others` other buckets
    /// stays within the budget.
    pub(super) fn allows_favoured_other_counts(&self, favoured: f64, others: f64) -> bool {
        // If more than half are favoured, `mixture_alpha` understates what a report reveals. The
        // maximum of α, 1/(e + 1), is valid for any randomizer.
        let alpha = if favoured > others {
            mixture_alpha(1.0, 1.0, self.exp_epsilon)
        } else {
            mixture_alpha(favoured, others, self.exp_epsilon)
        };
        alpha <= self.max_alpha
    }

    /// Returns whether any mechanism with buckets can stay within the budget.
    pub(super) fn allows_bucket_mechanisms(&self) -> bool {
        self.allows_favoured_bucket_count(1, bounds::BUCKET_COUNT_RANGE.max as u32)
    }

    /// Returns the minimum number of buckets with which `favoured` favoured buckets stay within the
    /// budget, if at most half of the buckets are favoured. Returns 2 if α is not limited.
    pub(super) fn min_buckets(&self, favoured: u32) -> u32 {
        let least = f64::from(favoured) * (1.0 / self.max_alpha - self.exp_epsilon + 1.0);
        // Solves c/(c·e + t − c) ≤ α for the number of buckets t, where c is `favoured`. Rounding
        // may lose the last bit, in which case one more bucket suffices.
        let least = libm::ceil(least.clamp(
            bounds::BUCKET_COUNT_RANGE.min,
            bounds::BUCKET_COUNT_RANGE.max,
        )) as u32;
        if self.allows_favoured_bucket_count(favoured, least) {
            least
        } else {
            (least + 1).min(bounds::BUCKET_COUNT_RANGE.max as u32)
        }
    }

    /// Returns the minimum numbers of buckets with which c favoured buckets stay within the budget,
    /// for several c. If `favoured` is given, it is the only c. Otherwise c goes up to `most`:
    /// every c to 16, then steps of 6 per cent. The list is empty if α is not limited.
    pub(super) fn min_buckets_by_favoured(&self, favoured: Option<u32>, most: u32) -> Vec<u32> {
        if self.max_alpha.is_infinite() {
            return Vec::new();
        }
        let next = |c: &u32| Some(c + 1 + c / 16);
        let (first, last) = favoured.map_or((1, most), |c| (c, c));
        core::iter::successors(Some(first), next)
            .take_while(|c| *c <= last)
            .map(|c| self.min_buckets(c))
            .collect()
    }
}
