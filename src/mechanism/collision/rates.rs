//! Probabilities that Collision's reports hit elements, and variances of the estimates.

use alloc::vec::Vec;

use super::rule::{Collision, FavouredBucketRule};
use crate::domain::Domain;
use crate::mechanism::occupancy::{StrengthMeasure, StrongestCellSums};
use crate::mechanism::subset::compute_favoured_threshold;
use crate::sample::ExpLowerBound;

/// Probabilities that reports hit elements, exact for the realised thresholds.
///
/// They are averages over the seed. A "member" is an element of the input, paddings included. Every
/// input has s members.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
///
/// let rule = FavouredBucketRule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, HashFamily::Balanced, 12).unwrap();
/// let rates = collision.hit_probabilities(&Domain::of_rated_items(Some(40), 3), 1.0);
/// assert!(rates.p_true > rates.p_false);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionHitProbabilities {
    /// Probability that a report hits a given member.
    pub p_true: f64,
    /// Probability that a report hits a given non-member.
    pub p_false: f64,
    /// Probability that a report hits both a given member and a given non-member.
    pub member_and_nonmember_hit: f64,
    /// Probability that a report hits both of two given non-members.
    pub two_nonmembers_hit: f64,
}

impl Collision {
    /// Computes the rates over `domain` at local ε.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. Those of a [`Task`](crate::Task) do.
    #[must_use]
    pub fn hit_probabilities(&self, domain: &Domain, epsilon: f64) -> CollisionHitProbabilities {
        let s = domain.sparsity();
        let thresholds = self.thresholds(s, epsilon);
        match self.favouring_rule() {
            FavouredBucketRule::Heaviest { .. } if self.buckets_per_element() > 1 => {
                self.window_hash_probabilities(domain, &ExpLowerBound::new(epsilon))
            }
            // Every bucket that holds an element is favoured, so all s members are in favoured
            // buckets.
            FavouredBucketRule::Occupied => {
                let inside = thresholds.favoured_threshold(s).probability() / f64::from(s);
                let squares = self.cell_occupancy_model(domain).expected_sum_of_squares();
                self.hit_probabilities_from_moments(domain, inside, inside * squares)
            }
            FavouredBucketRule::Heaviest { favoured } => {
                let occupancy = self.cell_occupancy_model(domain);
                let top = occupancy.strongest_cell_sums(
                    StrengthMeasure::Count,
                    self.hash_count(),
                    favoured,
                );
                self.hit_probabilities_heaviest(
                    domain,
                    &ExpLowerBound::new(epsilon),
                    favoured,
                    &top.sums_over_strongest_cells(favoured),
                )
            }
        }
    }

    /// Computes the distribution of M, the number of members in the reported bucket: P(M = k) for k
    /// from 0 to s, exact up to rounding.
    ///
    /// Given M = k, all sets of k members are equally likely. Under the balanced hash, with m slots
    /// in each bucket, all sets of m − k elements outside the input are equally likely too.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    /// use hushbin::hash::HashFamily;
    /// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
    ///
    /// let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    /// let collision = Collision::new(rule, HashFamily::Balanced, 2)?;
    /// let domain = Domain::with_exact_entry_count(4, 2);
    /// let law = collision.hit_member_distribution(&domain, 1.0);
    /// let mean: f64 = law.iter().zip(0..).map(|(p, k)| p * f64::from(k)).sum();
    /// assert!((mean - 2.0 * collision.hit_probabilities(&domain, 1.0).p_true).abs() < 1e-12);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Panics
    /// As for [`Collision::hit_probabilities`].
    #[must_use]
    pub fn hit_member_distribution(&self, domain: &Domain, epsilon: f64) -> Vec<f64> {
        let s = domain.sparsity();
        if self.buckets_per_element() > 1 {
            let given = self.thresholds(s, epsilon).favoured_threshold(s);
            return alloc::vec![given.false_probability(), given.probability()];
        }
        let (occupancy, buckets) = (
            self.cell_occupancy_model(domain),
            f64::from(self.total_buckets()),
        );
        let thresholds = self.thresholds(s, epsilon);
        // Expected number of buckets with k members, for each k. The loop below turns it into P(M =
        // k).
        let mut law: Vec<f64> = occupancy
            .cell_occupancy_distribution()
            .iter()
            .map(|p| buckets * p)
            .collect();
        // `reaching` is the expected number of favoured buckets that hold v or more members, for
        // v = 1, 2, ….
        let (favoured, reaching) = match self.favouring_rule() {
            // All buckets that hold a member are favoured.
            FavouredBucketRule::Occupied => {
                let tail = |v: usize| law[v..].iter().sum();
                (s, (1..law.len()).map(tail).collect())
            }
            FavouredBucketRule::Heaviest { favoured } => {
                let reaching = occupancy.heaviest_by_min_count(self.hash_count(), favoured);
                (favoured, reaching)
            }
        };
        // Probability that one given bucket is reported: a favoured one, and another one.
        let inside = thresholds.favoured_threshold(s).probability() / f64::from(favoured);
        let outside =
            thresholds.favoured_threshold(s).false_probability() / (buckets - f64::from(favoured));
        let at_least = |v: usize| reaching.get(v - 1).copied().unwrap_or(0.0);
        for (k, count) in law.iter_mut().enumerate().skip(1) {
            // Expected number of favoured buckets with exactly k members. It is clamped, because
            // rounding can make the difference negative.
            let own = (at_least(k) - at_least(k + 1)).clamp(0.0, *count);
            *count = inside * own + outside * (*count - own);
        }
        law[0] = (1.0 - law[1..].iter().sum::<f64>()).max(0.0);
        law
    }

    /// Computes the rates under the hash family `balanced-windows`. The favoured buckets
    /// are exactly those that contain the person's one answer.
    pub(crate) fn window_hash_probabilities(
        &self,
        domain: &Domain,
        bound: &ExpLowerBound,
    ) -> CollisionHitProbabilities {
        let inside = compute_favoured_threshold(
            bound,
            self.buckets_per_element(),
            self.buckets_per_hash() - self.buckets_per_element(),
        );
        self.hit_probabilities_from_moments(domain, inside.probability(), inside.probability())
    }

    /// Computes the rates under the rule `heaviest` with c = `favoured`. `top` contains the
    /// expected sums of counts and squared counts over the c heaviest buckets.
    pub(crate) fn hit_probabilities_heaviest(
        &self,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &StrongestCellSums,
    ) -> CollisionHitProbabilities {
        let s = domain.sparsity();
        let threshold =
            compute_favoured_threshold(bound, favoured, self.total_buckets() - favoured);
        let inside = threshold.probability() / f64::from(favoured);
        let outside = threshold.false_probability() / f64::from(self.total_buckets() - favoured);
        // Expected value at the reported bucket, from the sum of the values over the favoured
        // buckets and the sum over all buckets of one function.
        let functions = f64::from(self.hash_count());
        let mean = |top: f64, all: f64| inside * top + outside * (functions * all - top);
        let hit_members = mean(top.strength_sum, f64::from(s));
        let squares = mean(
            top.squared_strength_sum,
            self.cell_occupancy_model(domain).expected_sum_of_squares(),
        );
        self.hit_probabilities_from_moments(domain, hit_members / f64::from(s), squares)
    }

    /// Computes all rates from `p_true` and `squares` = E\[M²\], where M is the number of members
    /// that a report hits.
    fn hit_probabilities_from_moments(
        &self,
        domain: &Domain,
        p_true: f64,
        squares: f64,
    ) -> CollisionHitProbabilities {
        let s = f64::from(domain.sparsity());
        let t = f64::from(self.buckets_per_hash());
        let support = self.hit_decoder(domain);
        match support.slots_hit_per_report() {
            // A non-member's bucket is independent of the report.
            None => CollisionHitProbabilities {
                p_true,
                p_false: 1.0 / t,
                member_and_nonmember_hit: p_true / t,
                two_nonmembers_hit: 1.0 / (t * t),
            },
            // Exactly m of N slots are hit. M of them are members, s·p_true on average. By
            // symmetry, all sets of m − M of the N − s other slots are equally likely.
            Some(m) => {
                let m = f64::from(m);
                let others = support.visitable_slot_count() as f64 - s;
                let members = s * p_true;
                let hit_others = m - members;
                // E[M(m − M)] and E[(m − M)(m − M − 1)].
                let mixed = m * members - squares;
                let pairs = m * m - 2.0 * m * members + squares - hit_others;
                // With a single other slot there is no pair of non-members.
                let couples = others * (others - 1.0);
                CollisionHitProbabilities {
                    p_true,
                    p_false: hit_others / others,
                    member_and_nonmember_hit: mixed / (s * others),
                    two_nonmembers_hit: if couples > 0.0 { pairs / couples } else { 0.0 },
                }
            }
        }
    }
}

impl CollisionHitProbabilities {
    /// Difference p_true − p_false, which divides every estimate.
    #[must_use]
    pub fn hit_probability_gap(&self) -> f64 {
        self.p_true - self.p_false
    }

    /// Variance of one report's estimate of whether an element is in the input, (hit −
    /// p_false)/gap, where hit is 1 or 0. It is p(1 − p)/gap², with p = p_true for a member and p =
    /// p_false for a non-member.
    #[must_use]
    pub fn frequency_variance(&self, member: bool) -> f64 {
        let p = if member { self.p_true } else { self.p_false };
        p * (1.0 - p) / (self.hit_probability_gap() * self.hit_probability_gap())
    }

    /// Second moment of a report's score: the sum of the weights of all elements that the report
    /// hits. At most one element with a weight may be in the input, namely the person's one answer,
    /// and `own` is its weight. `sum` is the sum of all weights, and `squares` the sum of the
    /// squared weights.
    ///
    /// The answer is hit with probability p_true, each other element with p_false. The answer and
    /// another element are both hit with probability [`member_and_nonmember_hit`](Self::member_and_nonmember_hit), two other
    /// elements with [`two_nonmembers_hit`](Self::two_nonmembers_hit). The mean of the score is own·gap +
    /// p_false·sum.
    #[must_use]
    pub fn score_second_moment(&self, own: f64, sum: f64, squares: f64) -> f64 {
        let (others, their_squares) = (sum - own, squares - own * own);
        own * own * self.p_true
            + their_squares * self.p_false
            + 2.0 * own * others * self.member_and_nonmember_hit
            + (others * others - their_squares) * self.two_nonmembers_hit
    }

    /// Variance of one report's estimate of whether the person's answer is in a set of `answers`
    /// elements. That estimate is the sum of the estimates of these elements. `among` states
    /// whether the answer is in the set. Requires that every person gives exactly one answer (s =
    /// 1, no paddings).
    #[must_use]
    pub fn answer_set_variance(&self, answers: u32, among: bool) -> f64 {
        let (own, sum) = (f64::from(u32::from(among)), f64::from(answers));
        let mean = own * self.hit_probability_gap() + sum * self.p_false;
        (self.score_second_moment(own, sum, sum) - mean * mean)
            / (self.hit_probability_gap() * self.hit_probability_gap())
    }

    /// Maximum number of options for which estimates use that the shares of all options sum to 1.
    /// With more options, each estimate would gain less than 3 per cent from this.
    pub const MAX_OPTIONS_FOR_SUM_CONSTRAINT: u32 = 32;

    /// Variance of one report's estimate of whether the person's answer is a given option, if every
    /// answer is exactly one of `options` options. `given` states whether the answer is that
    /// option. The domain may have further elements.
    ///
    /// Up to [`CollisionHitProbabilities::MAX_OPTIONS_FOR_SUM_CONSTRAINT`] options, the estimate uses that the shares of all
    /// options sum to 1. It is (hit − H/c)/gap + 1/c, where c = `options` and H is the number of
    /// options that the report hits. With more options, the estimate is the one of
    /// [`CollisionHitProbabilities::frequency_variance`].
    #[must_use]
    pub fn option_variance(&self, options: u32, given: bool) -> f64 {
        if options > Self::MAX_OPTIONS_FOR_SUM_CONSTRAINT {
            return self.frequency_variance(given);
        }
        let part = 1.0 / f64::from(options);
        let own = f64::from(u32::from(given)) - part;
        let mean = own * self.hit_probability_gap();
        (self.score_second_moment(own, 0.0, 1.0 - part) - mean * mean)
            / (self.hit_probability_gap() * self.hit_probability_gap())
    }

    /// Sum of [`CollisionHitProbabilities::option_variance`] over all `options` options, exactly one of which
    /// is the person's answer.
    #[must_use]
    pub(crate) fn total_option_variance(&self, options: u32) -> f64 {
        self.option_variance(options, true)
            + f64::from(options - 1) * self.option_variance(options, false)
    }

    /// Second moment of one report's estimate of an item's signed value, (hit₊ − hit₋)/gap. Here
    /// hit₊ and hit₋ are 1 if the report hits the item's positive or negative element, else 0.
    /// `present` states whether the person has the item.
    #[must_use]
    pub fn estimate_second_moment(&self, present: bool) -> f64 {
        let square = if present {
            self.p_true + self.p_false - 2.0 * self.member_and_nonmember_hit
        } else {
            2.0 * (self.p_false - self.two_nonmembers_hit)
        };
        square / (self.hit_probability_gap() * self.hit_probability_gap())
    }

    /// Variance of one report's estimate of an item's presence, (hit₊ + hit₋ − 2·p_false)/gap, with
    /// hit₊ and hit₋ as in [`CollisionHitProbabilities::estimate_second_moment`]. `present` states whether the person
    /// has the item.
    #[must_use]
    pub fn presence_estimate_variance(&self, present: bool) -> f64 {
        let (mean, both) = if present {
            (self.p_true + self.p_false, self.member_and_nonmember_hit)
        } else {
            (2.0 * self.p_false, self.two_nonmembers_hit)
        };
        (mean + 2.0 * both - mean * mean)
            / (self.hit_probability_gap() * self.hit_probability_gap())
    }

    /// Expected product of one report's two estimates for an item: the item's mean and the item's
    /// presence. It is (1 − 2·p_false)/gap for a person who has the item with a positive sign. For
    /// a negative sign, the product is the negative of this value. For a person without the item,
    /// it is 0.
    #[must_use]
    pub fn mean_presence_cross_moment(&self) -> f64 {
        // Squares of hits are hits, so (hit₊ − hit₋)(hit₊ + hit₋) = hit₊ − hit₋, even if both are
        // hit.
        (1.0 - 2.0 * self.p_false) / self.hit_probability_gap()
    }

    /// Sum of the variances of one report's estimates of all elements that stand for items: 2d
    /// elements with signs, d without. The input has s entries, so s of these elements are members.
    /// In an open domain, the variance for one non-member.
    #[must_use]
    pub fn total_variance(&self, domain: &Domain) -> f64 {
        let none = self.frequency_variance(false);
        match domain.item_count() {
            None => none,
            Some(items) => {
                let s = f64::from(domain.sparsity());
                let elements = f64::from(domain.elements_per_item() * items);
                s * self.frequency_variance(true) + (elements - s) * none
            }
        }
    }
}
