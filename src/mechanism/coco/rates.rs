//! Probabilities of hits in CoCo's reports, the gap that means are divided by, and variances.

use super::rule::{Coco, Rule};
use crate::domain::Domain;
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::mechanism::subset::threshold;
use crate::sample::ExpLowerBound;

/// Probabilities that reports hit items. They are exact for the realised thresholds, and averages
/// over the seed.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Rule};
///
/// let rule = Rule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, Hashing::Balanced, 12).unwrap();
/// let rates = coco.rates(&Domain::rated(Some(40), 3), 1.0);
/// assert_eq!(rates.pair, 1.0 / 6.0);
/// // This rule does not estimate the non-missing frequency.
/// assert!(rates.gap > 0.0 && rates.presence.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Divisor of a mean: P(hit on the side of the entry's sign) − P(hit on the other side), for an
    /// entry of the input.
    pub gap: f64,
    /// P(hit on the pair), averaged over slots: 1/T.
    pub pair: f64,
    /// P(hit on the pair) of an element of the input and of another item. It is approximate under
    /// rule `strongest`, see [`TopSum::load`]. For predictions.
    pub predicted: Presence,
    /// Exact probabilities, or `None` if the rule does not estimate non-missing frequencies.
    pub presence: Option<Presence>,
    /// Number of items d if items are added for missing entries, else `None`.
    pub(crate) filling_items: Option<u32>,
}

/// Probabilities of a hit on the pair of an entry, and of another item.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Rule};
///
/// let coco = Coco::new(Rule::Overwrite, Hashing::Balanced, 12).unwrap();
/// let presence = coco.rates(&Domain::rated(Some(40), 3), 1.0).presence.unwrap();
/// assert!(presence.p_pair > presence.q_pair);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presence {
    /// P(hit on the pair) of an entry.
    pub p_pair: f64,
    /// P(hit on the pair) of another item.
    pub q_pair: f64,
}

impl Coco {
    /// Computes the rates over `domain` at local ε.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. Those of a [`Task`](crate::Task) do.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        match self.rule() {
            Rule::Overwrite => self.overwrite_rates(domain, epsilon),
            Rule::Strongest { favoured } => {
                let top =
                    self.occupancy(domain)
                        .top_sums(Strength::SignedSum, self.hashes(), favoured);
                self.strongest_rates(
                    domain,
                    &ExpLowerBound::new(epsilon),
                    favoured,
                    &top.at(favoured),
                )
            }
        }
    }

    /// Computes the rates under rule `strongest` with this c, from the sums over the c strongest
    /// sides.
    pub(crate) fn strongest_rates(
        &self,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
    ) -> Rates {
        let inside = threshold(bound, favoured, self.outcomes() - favoured);
        let s = f64::from(domain.sparsity());
        let others = f64::from(self.outcomes() - favoured);
        let outside = inside.complement() / others;
        let difference = inside.probability() / f64::from(favoured) - outside;
        // An entry has two sides under each function; `top.load / s` of them are favoured on
        // average.
        let sides = 2.0 * f64::from(self.hashes());
        let p_pair = sides * outside + difference * top.load / s;
        Rates {
            // D = G(c)/s is the probability that an entry's own side is favoured, less that of the
            // opposite side.
            gap: difference * top.strength / s,
            pair: 1.0 / f64::from(self.pairs()),
            predicted: self.presence(domain, p_pair),
            presence: None,
            filling_items: self.filling_items(domain),
        }
    }

    fn overwrite_rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let pairs = f64::from(self.pairs());
        let thresholds = self.thresholds(domain.sparsity(), epsilon);
        let p_pair = thresholds.inside(1).probability();
        let decided = thresholds.decided.expect("rule overwrite decides");
        let presence = self.presence(domain, p_pair);
        let kappa = self.deciding(domain);
        Rates {
            gap: kappa * p_pair * (decided.probability() - decided.complement()),
            pair: 1.0 / pairs,
            predicted: presence,
            presence: Some(presence),
            filling_items: None,
        }
    }

    /// Adds the rate of other items to the rate `p_pair` of entries. Under the independent hash
    /// other items are hit with probability 1/T. Under the balanced hash 1/T of all slots are hit,
    /// so they get the rest.
    fn presence(&self, domain: &Domain, p_pair: f64) -> Presence {
        let s = f64::from(domain.sparsity());
        let pairs = f64::from(self.pairs());
        let q_pair = match self.occupancy(domain).per_cell {
            None => 1.0 / pairs,
            Some(m) => {
                let m = f64::from(m);
                let others = m * pairs - s;
                // No other item exists, so this value is never used.
                if others > 0.0 {
                    (m - s * p_pair) / others
                } else {
                    p_pair
                }
            }
        };
        Presence { p_pair, q_pair }
    }

    /// Computes κ = E[1/(r + 1)], the probability that an entry decides in its pair. Here r is the
    /// number of other entries in the pair. It is binomial under the independent hash and
    /// hypergeometric under the balanced one. Then 1 − κ is P1's P_ow, Eq. 7.
    ///
    /// One entry decides in each pushed pair. So s·κ is the expected number of pushed pairs, T·(1 −
    /// P(a pair is not pushed)).
    #[must_use]
    pub fn deciding(&self, domain: &Domain) -> f64 {
        let s = f64::from(domain.sparsity());
        let pairs = f64::from(self.pairs());
        let log_empty = match self.occupancy(domain).per_cell {
            None => s * libm::log1p(-1.0 / pairs),
            // C(N − m, s)/C(N, s) is symmetric in s and m, so the product of fewer factors is
            // taken. It is 0 if s elements do not fit elsewhere.
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

impl Rates {
    /// P(hit on the pair), for a person with the item or without.
    #[must_use]
    fn pair_hit(&self, present: bool) -> f64 {
        if present {
            self.predicted.p_pair
        } else {
            self.predicted.q_pair
        }
    }

    /// Second moment of one report's estimate of an item's signed value, ±1/gap on a hit of the
    /// pair. For a person with the item or without.
    #[must_use]
    pub fn mean_square(&self, present: bool) -> f64 {
        self.pair_hit(present) / (self.gap * self.gap)
    }

    /// Returns [`Rates::mean_square`] without the item, for a person of `entries` entries, at most
    /// s. If items are added for missing entries, the item may be one of s − `entries` added ones.
    #[must_use]
    pub fn mean_square_among(&self, sparsity: u32, entries: f64) -> f64 {
        let [with, without] = [true, false].map(|present| self.mean_square(present));
        let missing = f64::from(sparsity) - entries;
        match self.filling_items {
            Some(items) if missing > 0.0 => {
                without + (with - without) * missing / (f64::from(items) - entries)
            }
            _ => without,
        }
    }

    /// Variance of one report's estimate of an item's presence, for a person with the item or
    /// without. `None` if the rule does not estimate presence.
    #[must_use]
    pub fn nonmissing_variance(&self, present: bool) -> Option<f64> {
        let Presence { p_pair, q_pair } = self.presence?;
        let p = if present { p_pair } else { q_pair };
        let gap = p_pair - q_pair;
        Some(p * (1.0 - p) / (gap * gap))
    }

    /// E[mean · presence] of one report's estimates of both, for a person with the item and a
    /// positive sign: (1 − q_pair)/(p_pair − q_pair). It is negated for a negative sign, and 0
    /// without the item. `None` if the rule does not estimate presence.
    #[must_use]
    pub fn mean_times_presence(&self) -> Option<f64> {
        let Presence { p_pair, q_pair } = self.presence?;
        // A report hits at most one side of a pair.
        Some((1.0 - q_pair) / (p_pair - q_pair))
    }

    /// Variances of one report's estimate of the frequency of an item with one sign. The estimate
    /// is half of presence plus mean, or for the negative sign half of presence minus mean. The
    /// three variances are for a person who has the item with that sign, with the other sign, and
    /// not at all. `None` if the rule does not estimate it.
    #[must_use]
    pub fn frequency_variances(&self) -> Option<[f64; 3]> {
        // For a negative sign, presence and mean have the negated covariance.
        let covariance = self.mean_times_presence()? - 1.0;
        let own = self.mean_square(true) - 1.0 + self.nonmissing_variance(true)?;
        let none = self.mean_square(false) + self.nonmissing_variance(false)?;
        let twice = 2.0 * covariance;
        Some([own + twice, own - twice, none].map(|sum| 0.25 * sum))
    }

    /// Weight of a hit on the other side in the frequency of one sign, if a hit on the own side
    /// weighs 1. The presence weighs a hit of the pair by a = 1/(p_pair − q_pair), and the mean by
    /// ±g = ±1/gap. So the weight is (a − g)/(a + g). `None` if the rule does not estimate this
    /// frequency.
    ///
    /// The weight is from 0 to 1. Let N be the number of slots of pairs, infinite under the
    /// independent hash. Then (p_pair − q_pair)·Ω/(e − 1) is 1 − s(m − 1)/(N − s). And κ =
    /// gap·Ω/(e − 1) is no less. It loses at most (s − 1)(m − 1)/(2(N − 1)), by entries that share
    /// a pair.
    #[must_use]
    pub fn other_side_weight(&self) -> Option<f64> {
        let Presence { p_pair, q_pair } = self.presence?;
        let difference = p_pair - q_pair;
        // If no pair is shared, rounding alone can make it negative.
        Some(((self.gap - difference) / (self.gap + difference)).max(0.0))
    }

    /// Sum of the variances of one report's estimates of all d means, for an input of s entries of
    /// ±1. For an open domain, the variance of one item outside the input.
    #[must_use]
    pub fn total_variance(&self, domain: &Domain) -> f64 {
        let none = self.mean_square(false);
        match domain.items() {
            None => none,
            Some(items) => {
                let s = f64::from(domain.sparsity());
                s * (self.mean_square(true) - 1.0) + (f64::from(items) - s) * none
            }
        }
    }
}
