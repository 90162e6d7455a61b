//! Choice of Collision's parameters under the hash family `balanced-windows`, for one answer from a
//! list. The report then favours c of t buckets, and c/t can be any share.

use alloc::vec::Vec;

use super::buckets_draft::{BucketsDraft, ParametersWithVariance};
use super::budget::PreparedBudget;
use crate::domain::Domain;
use crate::hash::{HashFamily, MAX_WINDOWED_HASH_BUCKETS};
use crate::mechanism::collision::{
    Collision, CollisionHitProbabilities, FavouredBucketRule, FavouredBucketRuleName,
};

/// Acceptable ratio of a variance to the minimum variance, in exchange for less decoding work.
const MAX_RATIO_FOR_FAST_DECODING: f64 = 1.001;
/// Cost of one shuffle step. The unit is the cost of one hash round for one slot. Rounds are cheap
/// because sixteen slots are computed together.
const SHUFFLE_STEP_COST: u32 = 10;

impl Collision {
    /// Lists Collision's parameters with balanced windows, for a list of `answers` answers. The
    /// share c/t of favoured buckets lies between the two `parts`. The nearest possible shares
    /// outside this range are listed too.
    ///
    /// ```
    /// use hushbin::mechanism::collision::Collision;
    ///
    /// let windows = Collision::list_balanced_window_parameters(10, 3..=8, [0.3, 0.3]);
    /// let shapes: Vec<_> = windows.iter().map(|own| (own.buckets_per_hash(), own.buckets_per_element())).collect();
    /// assert_eq!(shapes, [(4, 2), (5, 2), (6, 2), (7, 2), (7, 3), (8, 2), (8, 3)]);
    /// ```
    #[must_use]
    pub fn list_balanced_window_parameters(
        answers: u32,
        buckets: core::ops::RangeInclusive<u32>,
        parts: [f64; 2],
    ) -> Vec<Self> {
        let [least, most] = parts;
        let near = |t: u32| {
            let [least, most] = [least, most].map(|part| (f64::from(t) * part) as u32);
            // c runs from `least` rounded down to `most` rounded up. A window has at least 2
            // buckets, but not all of them.
            (least.max(2)..=(most + 1).min(t - 1)).map(move |c| [t, c])
        };
        let buckets = (*buckets.start()).max(3)
            ..=(*buckets.end()).min(answers).min(MAX_WINDOWED_HASH_BUCKETS);
        let windows = buckets.flat_map(near);
        windows
            .map(|[t, c]| Self::with_balanced_windows(t, c))
            .collect()
    }

    fn with_balanced_windows(buckets: u32, favoured: u32) -> Self {
        let rule = FavouredBucketRule::Heaviest { favoured };
        Self::new(rule, HashFamily::BalancedWindows, buckets)
            .expect("2 favoured or more of 3 to 255 buckets")
    }

    /// Returns the cost of listing the answers that a report hits. The unit is the cost of one hash
    /// round for one slot.
    fn decoding_cost(&self, domain: &Domain) -> u32 {
        let hash = self.element_to_cell_hash(domain);
        match hash.round_count() {
            0 => SHUFFLE_STEP_COST * self.buckets_per_hash(),
            rounds => {
                hash.slots_per_bucket().unwrap_or(1)
                    * self.buckets_per_element()
                    * (1 + rounds as u32)
            }
        }
    }
}

/// Returns the best parameters with balanced windows that a draft allows. Returns `other` if these
/// parameters are as good and their reports take less work to decode. Windows exist only for one
/// answer from a list.
pub(super) fn best_balanced_windows(
    domain: &Domain,
    limit: &PreparedBudget,
    draft: &BucketsDraft<FavouredBucketRuleName>,
    variance: impl Fn(&CollisionHitProbabilities) -> f64,
    other: Option<ParametersWithVariance<FavouredBucketRule>>,
) -> Option<ParametersWithVariance<FavouredBucketRule>> {
    let answers = domain.item_count().filter(|_| domain.is_choice_from_list());
    // The variance is least near this share of favoured buckets (Ye and Barg 2018).
    let part = 1.0 / (limit.exp_epsilon + 1.0);
    let mut windows = match (answers, draft.buckets, draft.favoured) {
        (None, ..) | (_, _, Some(1)) => Vec::new(),
        _ if draft.hashes.is_some_and(|hashes| hashes != 1) => Vec::new(),
        (Some(answers), said, None) => {
            let buckets = said.map_or(3..=MAX_WINDOWED_HASH_BUCKETS, |t| t..=t);
            Collision::list_balanced_window_parameters(answers, buckets, [part, part])
        }
        (Some(answers), None, Some(c)) => (c + 1..=answers.min(MAX_WINDOWED_HASH_BUCKETS))
            .map(|t| Collision::with_balanced_windows(t, c))
            .collect(),
        (Some(_), Some(t), Some(c)) => alloc::vec![Collision::with_balanced_windows(t, c)],
    };
    // `other` needs no check: its variance is infinite if it exceeds the budget.
    windows.retain(|own| {
        limit.allows_favoured_bucket_count(own.buckets_per_element(), own.buckets_per_hash())
    });
    let rated = windows.into_iter().map(|own| {
        let rates = own.window_hash_probabilities(domain, &limit.exp_epsilon_lower_bound);
        (variance(&rates), own)
    });
    let rated: Vec<ParametersWithVariance<FavouredBucketRule>> = rated.chain(other).collect();
    let least = rated.iter().map(|own| own.0).fold(f64::INFINITY, f64::min);
    let good = rated
        .into_iter()
        .filter(|own| own.0 <= MAX_RATIO_FOR_FAST_DECODING * least);
    good.min_by_key(|(_, own)| own.decoding_cost(domain))
}
