//! Probabilities of hits in Collision's reports, and variances of the estimates.

use alloc::vec::Vec;

use super::rule::{Collision, Rule};
use crate::domain::Domain;
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::mechanism::subset::threshold;
use crate::sample::ExpLowerBound;

/// Probabilities that reports hit elements, exact for the realised thresholds.
///
/// They are averages over the seed. A "member" is an element of the input, paddings included. Every
/// input has s members.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Rule};
///
/// let rule = Rule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, Hashing::Balanced, 12).unwrap();
/// let rates = collision.rates(&Domain::rated(Some(40), 3), 1.0);
/// assert!(rates.p_true > rates.p_false);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// P(hit) for a member.
    pub p_true: f64,
    /// P(hit) for a non-member.
    pub p_false: f64,
    /// P(both are hit) for a member and a non-member.
    pub both_member: f64,
    /// P(both are hit) for two non-members.
    pub both_none: f64,
}

impl Collision {
    /// Computes the rates over `domain` at local ε.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. Those of a [`Task`](crate::Task) do.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let s = domain.sparsity();
        let thresholds = self.thresholds(s, epsilon);
        match self.rule() {
            Rule::Heaviest { .. } if self.width() > 1 => {
                self.windowed_rates(domain, &ExpLowerBound::new(epsilon))
            }
            // Every bucket that holds an element is favoured, so all s members are in favoured
            // buckets.
            Rule::Occupied => {
                let inside = thresholds.inside(s).probability() / f64::from(s);
                let squares = self.occupancy(domain).mean_square_sum();
                self.rates_from(domain, inside, inside * squares)
            }
            Rule::Heaviest { favoured } => {
                let occupancy = self.occupancy(domain);
                let top = occupancy.top_sums(Strength::Count, self.hashes(), favoured);
                self.heaviest_rates(
                    domain,
                    &ExpLowerBound::new(epsilon),
                    favoured,
                    &top.at(favoured),
                )
            }
        }
    }

    /// Computes the distribution of M, the number of members in the reported bucket: P(M = k) for k
    /// from 0 to s, exact up to rounding.
    ///
    /// Given M = k, the k members are a uniformly random choice. Under the balanced hash the m − M
    /// other elements are one too, among all that are not in the input.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    /// use hushbin::hash::Hashing;
    /// use hushbin::mechanism::collision::{Collision, Rule};
    ///
    /// let rule = Rule::Heaviest { favoured: 1 };
    /// let collision = Collision::new(rule, Hashing::Balanced, 2)?;
    /// let domain = Domain::exact(4, 2);
    /// let law = collision.member_count_distribution(&domain, 1.0);
    /// let mean: f64 = law.iter().zip(0..).map(|(p, k)| p * f64::from(k)).sum();
    /// assert!((mean - 2.0 * collision.rates(&domain, 1.0).p_true).abs() < 1e-12);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Panics
    /// As for [`Collision::rates`].
    #[must_use]
    pub fn member_count_distribution(&self, domain: &Domain, epsilon: f64) -> Vec<f64> {
        let s = domain.sparsity();
        if self.width() > 1 {
            let given = self.thresholds(s, epsilon).inside(s);
            return alloc::vec![given.complement(), given.probability()];
        }
        let (occupancy, buckets) = (self.occupancy(domain), f64::from(self.outcomes()));
        let thresholds = self.thresholds(s, epsilon);
        let mut law: Vec<f64> = occupancy.counts().iter().map(|p| buckets * p).collect();
        // `reaching` is the expected number of favoured buckets that hold v or more members, for
        // v = 1, 2, ….
        let (favoured, reaching) = match self.rule() {
            // All buckets that hold a member are favoured.
            Rule::Occupied => {
                let tail = |v: usize| law[v..].iter().sum();
                (s, (1..law.len()).map(tail).collect())
            }
            Rule::Heaviest { favoured } => {
                let reaching = occupancy.expected_favoured_reaching(self.hashes(), favoured);
                (favoured, reaching)
            }
        };
        // Probability of one bucket, favoured or not.
        let inside = thresholds.inside(s).probability() / f64::from(favoured);
        let outside = thresholds.inside(s).complement() / (buckets - f64::from(favoured));
        let at_least = |v: usize| reaching.get(v - 1).copied().unwrap_or(0.0);
        for (k, count) in law.iter_mut().enumerate().skip(1) {
            // Clamped, because rounding can make the difference negative.
            let own = (at_least(k) - at_least(k + 1)).clamp(0.0, *count);
            *count = inside * own + outside * (*count - own);
        }
        law[0] = (1.0 - law[1..].iter().sum::<f64>()).max(0.0);
        law
    }

    /// Computes the rates of windows: exactly the buckets of the one answer are favoured.
    pub(crate) fn windowed_rates(&self, domain: &Domain, bound: &ExpLowerBound) -> Rates {
        let inside = threshold(bound, self.width(), self.buckets() - self.width());
        self.rates_from(domain, inside.probability(), inside.probability())
    }

    /// Computes the rates under rule `heaviest` with this c, from the sums over the c heaviest
    /// buckets.
    pub(crate) fn heaviest_rates(
        &self,
        domain: &Domain,
        bound: &ExpLowerBound,
        favoured: u32,
        top: &TopSum,
    ) -> Rates {
        let s = domain.sparsity();
        let threshold = threshold(bound, favoured, self.outcomes() - favoured);
        let inside = threshold.probability() / f64::from(favoured);
        let outside = threshold.complement() / f64::from(self.outcomes() - favoured);
        // Mean from a sum over the favoured buckets and a sum over all buckets of one function.
        let functions = f64::from(self.hashes());
        let mean = |top: f64, all: f64| inside * top + outside * (functions * all - top);
        let hit_members = mean(top.strength, f64::from(s));
        let squares = mean(top.squares, self.occupancy(domain).mean_square_sum());
        self.rates_from(domain, hit_members / f64::from(s), squares)
    }

    /// Computes all rates from `p_true` and from `squares`, the expected square of M, the number of
    /// members that a report hits.
    fn rates_from(&self, domain: &Domain, p_true: f64, squares: f64) -> Rates {
        let s = f64::from(domain.sparsity());
        let t = f64::from(self.buckets());
        let support = self.support(domain);
        match support.hit_slots() {
            // A non-member's bucket is independent of the report.
            None => Rates {
                p_true,
                p_false: 1.0 / t,
                both_member: p_true / t,
                both_none: 1.0 / (t * t),
            },
            // Exactly m of N slots are hit. M of them are members, s·p_true on average. By symmetry
            // the m − M other ones are spread over the N − s other slots.
            Some(m) => {
                let m = f64::from(m);
                let others = support.slots() as f64 - s;
                let members = s * p_true;
                let hit_others = m - members;
                // E[M(m − M)] and E[(m − M)(m − M − 1)].
                let mixed = m * members - squares;
                let pairs = m * m - 2.0 * m * members + squares - hit_others;
                // With a single other slot there is no pair of non-members.
                let couples = others * (others - 1.0);
                Rates {
                    p_true,
                    p_false: hit_others / others,
                    both_member: mixed / (s * others),
                    both_none: if couples > 0.0 { pairs / couples } else { 0.0 },
                }
            }
        }
    }
}

impl Rates {
    /// Divisor of an estimate, p_true − p_false.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.p_true - self.p_false
    }

    /// Variance of one report's estimate of [element ∈ input], (hit − p_false)/gap, for a member or
    /// a non-member: p(1 − p)/gap².
    #[must_use]
    pub fn frequency_variance(&self, member: bool) -> f64 {
        let p = if member { self.p_true } else { self.p_false };
        p * (1.0 - p) / (self.gap() * self.gap())
    }

    /// Second moment of a report's score, the sum of the weights of the elements it hits. `own` is
    /// the weight of the person's one answer. At most one of the elements with a weight may be in
    /// the input. `sum` and `squares` are the sums of all weights and of their squares.
    ///
    /// The answer is hit with probability p_true, each other element with p_false. The answer and
    /// another element are both hit with probability [`both_member`](Self::both_member), two other
    /// elements with [`both_none`](Self::both_none). The mean of the score is own·gap +
    /// p_false·sum.
    #[must_use]
    pub fn score_square(&self, own: f64, sum: f64, squares: f64) -> f64 {
        let (others, their_squares) = (sum - own, squares - own * own);
        own * own * self.p_true
            + their_squares * self.p_false
            + 2.0 * own * others * self.both_member
            + (others * others - their_squares) * self.both_none
    }

    /// Variance of one report's estimate of [the answer is one of these], the sum of the estimates
    /// of `answers` elements. For a person whose answer is among them or not. Requires that exactly
    /// one answer is given (s = 1, no paddings).
    #[must_use]
    pub fn sum_variance(&self, answers: u32, among: bool) -> f64 {
        let (own, sum) = (f64::from(u32::from(among)), f64::from(answers));
        let mean = own * self.gap() + sum * self.p_false;
        (self.score_square(own, sum, sum) - mean * mean) / (self.gap() * self.gap())
    }

    /// Maximum number of options for which the known sum of the shares improves estimates. With
    /// more options each would gain less than 3 per cent.
    pub const MAX_OPTIONS_WITH_SUM: u32 = 32;

    /// Variance of one report's estimate of [the answer is this option], if exactly one of
    /// `options` options is given. The domain may have further elements.
    ///
    /// Up to [`Rates::MAX_OPTIONS_WITH_SUM`] options, the estimate uses that all of them sum to 1.
    /// It is (hit − H/c)/gap + 1/c, where H is the number of hits among the c options. With more
    /// options it is that of [`Rates::frequency_variance`].
    #[must_use]
    pub fn option_variance(&self, options: u32, given: bool) -> f64 {
        if options > Self::MAX_OPTIONS_WITH_SUM {
            return self.frequency_variance(given);
        }
        let part = 1.0 / f64::from(options);
        let own = f64::from(u32::from(given)) - part;
        let mean = own * self.gap();
        (self.score_square(own, 0.0, 1.0 - part) - mean * mean) / (self.gap() * self.gap())
    }

    /// Sum of the variances of one report's estimates of `options` options, if exactly one is
    /// given, each as in [`Rates::option_variance`].
    #[must_use]
    pub(crate) fn options_variance(&self, options: u32) -> f64 {
        self.option_variance(options, true)
            + f64::from(options - 1) * self.option_variance(options, false)
    }

    /// Second moment of one report's estimate of an item's signed value, (hit₊ − hit₋)/gap, for a
    /// person with the item or without.
    #[must_use]
    pub fn mean_square(&self, present: bool) -> f64 {
        let square = if present {
            self.p_true + self.p_false - 2.0 * self.both_member
        } else {
            2.0 * (self.p_false - self.both_none)
        };
        square / (self.gap() * self.gap())
    }

    /// Variance of one report's estimate of an item's presence, (hit₊ + hit₋ − 2·p_false)/gap, for
    /// a person with the item or without.
    #[must_use]
    pub fn nonmissing_variance(&self, present: bool) -> f64 {
        let (mean, both) = if present {
            (self.p_true + self.p_false, self.both_member)
        } else {
            (2.0 * self.p_false, self.both_none)
        };
        (mean + 2.0 * both - mean * mean) / (self.gap() * self.gap())
    }

    /// E[mean · presence] of one report's estimates of both, for a person with the item and a
    /// positive sign: (1 − 2·p_false)/gap. It is negated for a negative sign, and 0 without the
    /// item.
    #[must_use]
    pub fn mean_times_presence(&self) -> f64 {
        // Squares of hits are hits, so (hit₊ − hit₋)(hit₊ + hit₋) = hit₊ − hit₋, even if both are
        // hit.
        (1.0 - 2.0 * self.p_false) / self.gap()
    }

    /// Sum of the variances of one report's estimates of all elements of items, 2d with signs or d
    /// without. The input has s entries: s elements are members, all other ones not. For an open
    /// domain, the variance of one non-member.
    #[must_use]
    pub fn total_variance(&self, domain: &Domain) -> f64 {
        let none = self.frequency_variance(false);
        match domain.items() {
            None => none,
            Some(items) => {
                let s = f64::from(domain.sparsity());
                let elements = f64::from(domain.elements_per_item() * items);
                s * self.frequency_variance(true) + (elements - s) * none
            }
        }
    }
}
