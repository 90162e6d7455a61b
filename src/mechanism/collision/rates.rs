//! What a report's hits say: probabilities, and variances of the estimates.

use alloc::vec::Vec;

use super::rule::{Collision, Rule};
use crate::domain::Domain;
use crate::mechanism::occupancy::{Strength, TopSum};
use crate::mechanism::subset::threshold;
use crate::sample::ExpLowerBound;

/// Probabilities with which reports hit elements, exact, of the realised thresholds.
///
/// Averages over the seed. "Member" is an element of the input, paddings
/// included; every input has s.
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
    /// P(hit) of a member.
    pub p_true: f64,
    /// P(hit) of an element that is not a member.
    pub p_false: f64,
    /// P(both are hit) of a member and a non-member.
    pub both_member: f64,
    /// P(both are hit) of two non-members.
    pub both_none: f64,
}

impl Collision {
    /// The rates over `domain` at local budget ε.
    ///
    /// # Panics
    /// If the parameters do not suit the domain; those of a
    /// [`Task`](crate::Task) do.
    #[must_use]
    pub fn rates(&self, domain: &Domain, epsilon: f64) -> Rates {
        let s = domain.sparsity();
        let thresholds = self.thresholds(s, epsilon);
        match self.rule() {
            Rule::Heaviest { .. } if self.width() > 1 => {
                self.windowed_rates(domain, &ExpLowerBound::new(epsilon))
            }
            // Every bucket that holds an element is favoured: all s members.
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

    /// The law of M, the number of members in the reported bucket: P(M = k) for k from 0
    /// to s, exactly up to rounding.
    ///
    /// Which k of the s members these are is uniform, and so, under the balanced hash, are
    /// the m − M others among all that are not in the input.
    ///
    /// ```
    /// use hushbin::domain::Domain;
    /// use hushbin::hash::Hashing;
    /// use hushbin::mechanism::collision::{Collision, Rule};
    ///
    /// let rule = Rule::Heaviest { favoured: 1 };
    /// let collision = Collision::new(rule, Hashing::Balanced, 2)?;
    /// let domain = Domain::exact(4, 2);
    /// let law = collision.members(&domain, 1.0);
    /// let mean: f64 = law.iter().zip(0..).map(|(p, k)| p * f64::from(k)).sum();
    /// assert!((mean - 2.0 * collision.rates(&domain, 1.0).p_true).abs() < 1e-12);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`Collision::rates`].
    #[must_use]
    pub fn members(&self, domain: &Domain, epsilon: f64) -> Vec<f64> {
        let s = domain.sparsity();
        if self.width() > 1 {
            let given = self.thresholds(s, epsilon).inside(s);
            return alloc::vec![given.complement(), given.probability()];
        }
        let (occupancy, buckets) = (self.occupancy(domain), f64::from(self.outcomes()));
        let thresholds = self.thresholds(s, epsilon);
        let mut law: Vec<f64> = occupancy.counts().iter().map(|p| buckets * p).collect();
        // Probabilities of one bucket, favoured or not, and how many favoured ones hold v or
        // more.
        let (favoured, reaching) = match self.rule() {
            // All that hold any.
            Rule::Occupied => {
                let tail = |v: usize| law[v..].iter().sum();
                (s, (1..law.len()).map(tail).collect())
            }
            Rule::Heaviest { favoured } => {
                let reaching = occupancy.favoured_reaching(self.hashes(), favoured);
                (favoured, reaching)
            }
        };
        let inside = thresholds.inside(s).probability() / f64::from(favoured);
        let outside = thresholds.inside(s).complement() / (buckets - f64::from(favoured));
        let at_least = |v: usize| reaching.get(v - 1).copied().unwrap_or(0.0);
        for (k, count) in law.iter_mut().enumerate().skip(1) {
            // Rounding may leave less than nothing.
            let own = (at_least(k) - at_least(k + 1)).clamp(0.0, *count);
            *count = inside * own + outside * (*count - own);
        }
        law[0] = (1.0 - law[1..].iter().sum::<f64>()).max(0.0);
        law
    }

    /// Returns the rates where the one answer's buckets, and no others, are favoured.
    pub(crate) fn windowed_rates(&self, domain: &Domain, bound: &ExpLowerBound) -> Rates {
        let inside = threshold(bound, self.width(), self.buckets() - self.width());
        self.rates_from(domain, inside.probability(), inside.probability())
    }

    /// The rates under rule `heaviest` with this c, from the sums over the c heaviest buckets.
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
        // Over the favoured, and over all of every function.
        let functions = f64::from(self.hashes());
        let mean = |top: f64, all: f64| inside * top + outside * (functions * all - top);
        let hit_members = mean(top.strength, f64::from(s));
        let squares = mean(top.squares, self.occupancy(domain).mean_square_sum());
        self.rates_from(domain, hit_members / f64::from(s), squares)
    }

    /// The rest follows from `p_true` and from `squares`, the expected square
    /// of M, the number of members that a report hits.
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
            // Exactly m of N slots are hit, M of them members, s·p_true on average;
            // by symmetry the m − M others are spread over the N − s.
            Some(m) => {
                let m = f64::from(m);
                let others = support.slots() as f64 - s;
                let members = s * p_true;
                let hit_others = m - members;
                // E[M(m − M)] and E[(m − M)(m − M − 1)].
                let mixed = m * members - squares;
                let pairs = m * m - 2.0 * m * members + squares - hit_others;
                // Of two slots there is but one other.
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
    /// p_true − p_false: what an estimate divides by.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.p_true - self.p_false
    }

    /// Variance of one report's estimate of [element ∈ input],
    /// (hit − p_false)/gap, for a member or not: p(1 − p)/gap².
    #[must_use]
    pub fn frequency_variance(&self, member: bool) -> f64 {
        let p = if member { self.p_true } else { self.p_false };
        p * (1.0 - p) / (self.gap() * self.gap())
    }

    /// Second moment of a report's score, the sum of the weights of the elements it
    /// hits, for a person whose one answer weighs `own`, where of those that weigh anything
    /// exactly one is given; of all weights the sum and the sum of squares.
    ///
    /// The answer is hit by p, each other element by q; pairs of the answer and another,
    /// and of two others, by [`both_member`](Self::both_member) and
    /// [`both_none`](Self::both_none). The mean is own·gap + q·sum.
    #[must_use]
    pub fn score_square(&self, own: f64, sum: f64, squares: f64) -> f64 {
        let (others, their_squares) = (sum - own, squares - own * own);
        own * own * self.p_true
            + their_squares * self.p_false
            + 2.0 * own * others * self.both_member
            + (others * others - their_squares) * self.both_none
    }

    /// Variance of one report's estimate of [the answer is one of these], the sum of
    /// the estimates of `answers` elements, for a person whose answer is among them or
    /// not, where exactly one is given (s = 1, no paddings).
    #[must_use]
    pub fn sum_variance(&self, answers: u32, among: bool) -> f64 {
        let (own, sum) = (f64::from(u32::from(among)), f64::from(answers));
        let mean = own * self.gap() + sum * self.p_false;
        (self.score_square(own, sum, sum) - mean * mean) / (self.gap() * self.gap())
    }

    /// The greatest number of options of which one is given that are estimated by their
    /// known sum: of more each would gain less than 3 per cent.
    pub const FEW: u32 = 32;

    /// Variance of one report's estimate of [the answer is this one of so many options],
    /// of which exactly one is given, others beside them or not.
    ///
    /// Up to [`Rates::FEW`] options each estimate is less a part of what all of them sum to
    /// beyond 1: (hit − H/c)/gap + 1/c, H being how many of the c options are hit. Of more
    /// it is that of [`Rates::frequency_variance`].
    #[must_use]
    pub fn option_variance(&self, options: u32, given: bool) -> f64 {
        if options > Self::FEW {
            return self.frequency_variance(given);
        }
        let part = 1.0 / f64::from(options);
        let own = f64::from(u32::from(given)) - part;
        let mean = own * self.gap();
        (self.score_square(own, 0.0, 1.0 - part) - mean * mean) / (self.gap() * self.gap())
    }

    /// Sum of the variances of one report's estimates of so many options, of which exactly
    /// one is given, each as in [`Rates::option_variance`].
    #[must_use]
    pub(crate) fn options_variance(&self, options: u32) -> f64 {
        self.option_variance(options, true)
            + f64::from(options - 1) * self.option_variance(options, false)
    }

    /// Second moment of one report's estimate of an item's signed value,
    /// (hit₊ − hit₋)/gap, for a person with the item or without.
    #[must_use]
    pub fn mean_square(&self, present: bool) -> f64 {
        let square = if present {
            self.p_true + self.p_false - 2.0 * self.both_member
        } else {
            2.0 * (self.p_false - self.both_none)
        };
        square / (self.gap() * self.gap())
    }

    /// Variance of one report's estimate of an item's presence,
    /// (hit₊ + hit₋ − 2·p_false)/gap, for a person with the item or without.
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
    /// positive sign; with a negative one it is negated, without the item 0. Squares of hits are
    /// hits, so the product of hit₊ − hit₋ with hit₊ + hit₋ is hit₊ − hit₋, even where both are
    /// hit: it is (1 − 2·p_false)/gap.
    #[must_use]
    pub fn mean_times_presence(&self) -> f64 {
        (1.0 - 2.0 * self.p_false) / self.gap()
    }

    /// Sum of the variances of one report's estimates of all elements of items, 2d
    /// with signs or d without, for an input of s entries: s members, the others not.
    /// For an open domain, the variance of one non-member.
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
