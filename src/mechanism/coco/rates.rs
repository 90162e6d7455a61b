//! Probabilities that CoCo's reports hit items, the divisor of estimated means (gap), and the
//! variances of estimates.
//!
//! A report "hits" a pair if it is one of the pair's two sides. T is the number of pairs, s the
//! number of elements of an input, and N the number of slots, m in each pair. Elements are hashed
//! to slots.

use super::rule::{Coco, FavouredSideRule};
use crate::domain::Domain;
use crate::mechanism::occupancy::{StrengthMeasure, StrongestCellSums};
use crate::mechanism::subset::compute_favoured_threshold;
use crate::sample::ExpLowerBound;

/// Probabilities that a report hits an item, averaged over seeds. They are exact for the realised
/// thresholds, except as stated at the fields.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::coco::{Coco, FavouredSideRule};
///
/// let rule = FavouredSideRule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, HashFamily::Balanced, 12).unwrap();
/// let rates = coco.hit_probabilities(&Domain::of_rated_items(Some(40), 3), 1.0);
/// assert_eq!(rates.mean_pair_hit_probability, 1.0 / 6.0);
/// // This rule does not estimate the non-missing frequency.
/// assert!(rates.side_hit_probability_gap > 0.0 && rates.exact_pair_probabilities.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CocoHitProbabilities {
    /// Divisor of estimated means: P(hit on the side that an entry pushes to) − P(hit on the
    /// opposite side), for an entry of the input.
    pub side_hit_probability_gap: f64,
    /// Probability that a report hits a slot's pair, averaged over all slots: 1/T for T pairs.
    pub mean_pair_hit_probability: f64,
    /// Probabilities of a hit on an item's pair, for predictions. They are approximate under the
    /// rule `strongest`, see [`StrongestCellSums::element_load`].
    pub predicted_pair_probabilities: PairHitProbabilities,
    /// Exact probabilities of a hit on an item's pair. `None` if the rule does not estimate
    /// non-missing frequencies: the share of people who have an item, with either sign.
    pub exact_pair_probabilities: Option<PairHitProbabilities>,
    /// Number d of items, if inputs with fewer entries than the sparsity are filled up with items.
    /// `None` if they are filled up with paddings.
    pub(crate) filler_item_pool_size: Option<u32>,
}

/// Probabilities that a report hits the pair of an item, for items in the person's input and for
/// items outside it.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::coco::{Coco, FavouredSideRule};
///
/// let coco = Coco::new(FavouredSideRule::RandomEntryDecides, HashFamily::Balanced, 12).unwrap();
/// let presence = coco.hit_probabilities(&Domain::of_rated_items(Some(40), 3), 1.0).exact_pair_probabilities.unwrap();
/// assert!(presence.pair_hit_if_present > presence.pair_hit_if_absent);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairHitProbabilities {
    /// Probability of a hit on the pair of an item in the input.
    pub pair_hit_if_present: f64,
    /// Probability of a hit on the pair of an item outside the input.
    pub pair_hit_if_absent: f64,
}

impl Coco {
    /// Computes the rates over `domain` at local ε.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. Those of a [`Task`](crate::Task) do.
    #[must_use]
    pub fn hit_probabilities(&self, domain: &Domain, epsilon: f64) -> CocoHitProbabilities {
        match self.favouring_rule() {
            FavouredSideRule::RandomEntryDecides => {
                self.hit_probabilities_overwrite(domain, epsilon)
            }
            FavouredSideRule::Strongest { favoured } => {
                let top = self.cell_occupancy_model(domain).strongest_cell_sums(
                    StrengthMeasure::SignedSum,
                    self.hash_count(),
                    favoured,
                );
                self.hit_probabilities_strongest(
                    domain,
                    &ExpLowerBound::new(epsilon),
                    favoured,
                    &top.sums_over_strongest_cells(favoured),
                )
            }
        }
    }

    /// Computes the rates under the rule `strongest` with c = `favoured`. `top` contains the
    /// expected sums of strengths and of elements over the c strongest sides.
    pub(crate) fn hit_probabilities_strongest(
        &self,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &StrongestCellSums,
    ) -> CocoHitProbabilities {
        let inside = compute_favoured_threshold(bound, favoured, self.total_buckets() - favoured);
        let s = f64::from(domain.sparsity());
        let others = f64::from(self.total_buckets() - favoured);
        let outside = inside.false_probability() / others;
        let difference = inside.probability() / f64::from(favoured) - outside;
        // An entry has two sides under each function; `top.load / s` of them are favoured on
        // average.
        let sides = 2.0 * f64::from(self.hash_count());
        let p_pair = sides * outside + difference * top.element_load / s;
        CocoHitProbabilities {
            // `top.strength` is G(c). G(c)/s is the probability that the side an entry pushes to is
            // favoured, minus the probability for the opposite side.
            side_hit_probability_gap: difference * top.strength_sum / s,
            mean_pair_hit_probability: 1.0 / f64::from(self.pairs_per_function()),
            predicted_pair_probabilities: self.pair_hit_probabilities(domain, p_pair),
            exact_pair_probabilities: None,
            filler_item_pool_size: self.filler_item_pool_size(domain),
        }
    }

    fn hit_probabilities_overwrite(&self, domain: &Domain, epsilon: f64) -> CocoHitProbabilities {
        let pairs = f64::from(self.pairs_per_function());
        let thresholds = self.thresholds(domain.sparsity(), epsilon);
        let p_pair = thresholds.favoured_threshold(1).probability();
        let decided = thresholds
            .side_given_pair_threshold
            .expect("rule overwrite decides");
        let presence = self.pair_hit_probabilities(domain, p_pair);
        let kappa = self.deciding_probability(domain);
        CocoHitProbabilities {
            side_hit_probability_gap: kappa
                * p_pair
                * (decided.probability() - decided.false_probability()),
            mean_pair_hit_probability: 1.0 / pairs,
            predicted_pair_probabilities: presence,
            exact_pair_probabilities: Some(presence),
            filler_item_pool_size: None,
        }
    }

    /// Computes q_pair, the probability of a hit on the pair of an item outside the input, from
    /// `p_pair`, the probability for an item in the input. Under the independent hash, q_pair is
    /// 1/T for T pairs. Under the balanced hash there are N slots, m in each pair, so exactly m
    /// slots are hit. For s elements, s·`p_pair` of these belong to the input on average. The rest
    /// is spread over the N − s other slots.
    fn pair_hit_probabilities(&self, domain: &Domain, p_pair: f64) -> PairHitProbabilities {
        let s = f64::from(domain.sparsity());
        let pairs = f64::from(self.pairs_per_function());
        let q_pair = match self.cell_occupancy_model(domain).slots_per_cell {
            None => 1.0 / pairs,
            Some(m) => {
                let m = f64::from(m);
                let others = m * pairs - s;
                // If all slots belong to the input, the value is never used.
                if others > 0.0 {
                    (m - s * p_pair) / others
                } else {
                    p_pair
                }
            }
        };
        PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        }
    }

    /// Computes κ = E\[1/(r + 1)\], the probability that an entry decides the side of its pair
    /// under the rule `overwrite`. Here r is the number of other entries in the pair. It is
    /// binomial under the independent hash and hypergeometric under the balanced one. Wang et al.
    /// write P_ow for 1 − κ (Eq. 7).
    ///
    /// Exactly one of the s entries decides in each pushed pair. So s·κ is the expected number of
    /// pushed pairs. With T pairs, this number is T·(1 − P(a pair is not pushed)).
    #[must_use]
    pub fn deciding_probability(&self, domain: &Domain) -> f64 {
        let s = f64::from(domain.sparsity());
        let pairs = f64::from(self.pairs_per_function());
        let log_empty = match self.cell_occupancy_model(domain).slots_per_cell {
            None => s * libm::log1p(-1.0 / pairs),
            // P(a pair is not pushed) = C(N − m, s)/C(N, s) is symmetric in s and m, so the shorter
            // product is computed. It is 0 if the other pairs have fewer than s slots.
            Some(m) => {
                let slots = f64::from(m) * pairs;
                let (fewer, more) = (domain.sparsity().min(m), domain.sparsity().max(m));
                (0..fewer)
                    .map(|i| libm::log1p(-(f64::from(more) / (slots - f64::from(i))).min(1.0)))
                    .sum()
            }
        };
        -pairs / s * libm::expm1(log_empty)
    }
}

impl CocoHitProbabilities {
    /// Probability that a person's report hits the pair of a given item. `present` states whether
    /// the person has the item.
    #[must_use]
    fn pair_hit_probability(&self, present: bool) -> f64 {
        if present {
            self.predicted_pair_probabilities.pair_hit_if_present
        } else {
            self.predicted_pair_probabilities.pair_hit_if_absent
        }
    }

    /// Second moment of one report's estimate of an item's signed value. The estimate is ±1/gap if
    /// the report hits the item's pair, else 0. `present` states whether the person has the item.
    #[must_use]
    pub fn estimate_second_moment(&self, present: bool) -> f64 {
        self.pair_hit_probability(present)
            / (self.side_hit_probability_gap * self.side_hit_probability_gap)
    }

    /// Second moment of one report's estimate of an item's signed value, if the item is outside the
    /// input. The input has `entries` entries, at most s = `sparsity`. If it is filled up with
    /// items, the item may be one of the s − `entries` added items.
    #[must_use]
    pub fn absent_item_second_moment(&self, sparsity: u32, entries: f64) -> f64 {
        let [with, without] = [true, false].map(|present| self.estimate_second_moment(present));
        let missing = f64::from(sparsity) - entries;
        match self.filler_item_pool_size {
            Some(items) if missing > 0.0 => {
                without + (with - without) * missing / (f64::from(items) - entries)
            }
            _ => without,
        }
    }

    /// Variance of one report's estimate of an item's presence: 1 for a person who has the item, 0
    /// for a person who does not. `present` is the true presence. `None` if the rule does not
    /// estimate presence.
    #[must_use]
    pub fn presence_estimate_variance(&self, present: bool) -> Option<f64> {
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = self.exact_pair_probabilities?;
        let p = if present { p_pair } else { q_pair };
        let gap = p_pair - q_pair;
        Some(p * (1.0 - p) / (gap * gap))
    }

    /// Expected product of one report's two estimates for an item: the item's mean and the item's
    /// presence. It is (1 − q_pair)/(p_pair − q_pair) for a person who has the item with a positive
    /// sign. For a negative sign, the product is the negative of this value. For a person without
    /// the item, it is 0. `None` if the rule does not estimate presence.
    #[must_use]
    pub fn mean_presence_cross_moment(&self) -> Option<f64> {
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = self.exact_pair_probabilities?;
        // A report hits at most one side of a pair.
        Some((1.0 - q_pair) / (p_pair - q_pair))
    }

    /// Variances of one report's estimate of the frequency of an item with one sign. The estimate
    /// is (presence + mean)/2 for the positive sign and (presence − mean)/2 for the negative sign.
    /// The three variances are for a person who has the item with that sign, with the other sign,
    /// and not at all. `None` if the rule does not estimate this frequency.
    #[must_use]
    pub fn frequency_variance_by_sign(&self) -> Option<[f64; 3]> {
        // For a negative sign, presence and mean have the negated covariance.
        let covariance = self.mean_presence_cross_moment()? - 1.0;
        let own =
            self.estimate_second_moment(true) - 1.0 + self.presence_estimate_variance(true)?;
        let none = self.estimate_second_moment(false) + self.presence_estimate_variance(false)?;
        let twice = 2.0 * covariance;
        Some([own + twice, own - twice, none].map(|sum| 0.25 * sum))
    }

    /// Weight of a hit on the opposite side, in the estimated frequency of an item with one sign. A
    /// hit on the side of that sign has weight 1. In the estimated presence, hits on both sides
    /// have the weight a = 1/(p_pair − q_pair). In the estimated mean, a hit on the side of that
    /// sign has the weight g = 1/gap, and a hit on the opposite side has the weight −g. So the
    /// result is (a − g)/(a + g). `None` if the rule does not estimate this frequency.
    ///
    /// The weight is from 0 to 1, for the following reason. Let e = exp(ε), and let Ω = s(e + 1) +
    /// t − 2s be the total weight of all t sides, for s elements. N is the number of slots, m in
    /// each pair; it is infinite under the independent hash. Then (p_pair − q_pair)·Ω/(e − 1) is 1
    /// − s(m − 1)/(N − s). And κ = gap·Ω/(e − 1) is at least as great: entries that share a pair
    /// reduce κ from 1 by at most (s − 1)(m − 1)/(2(N − 1)).
    #[must_use]
    pub fn opposite_side_weight(&self) -> Option<f64> {
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = self.exact_pair_probabilities?;
        let difference = p_pair - q_pair;
        // With m = 1 the two are equal, and rounding alone can make the weight negative.
        Some(
            ((self.side_hit_probability_gap - difference)
                / (self.side_hit_probability_gap + difference))
                .max(0.0),
        )
    }

    /// Sum of the variances of one report's estimates of all d means, for an input of s entries of
    /// ±1. In an open domain, the variance for one item outside the input.
    #[must_use]
    pub fn total_variance(&self, domain: &Domain) -> f64 {
        let none = self.estimate_second_moment(false);
        match domain.item_count() {
            None => none,
            Some(items) => {
                let s = f64::from(domain.sparsity());
                s * (self.estimate_second_moment(true) - 1.0) + (f64::from(items) - s) * none
            }
        }
    }
}
