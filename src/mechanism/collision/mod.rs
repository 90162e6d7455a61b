//! Collision: frequencies of items with signs.
//!
//! A report is a seed and one of t buckets. The seed hashes the s elements of
//! an input to buckets; a rule picks a set C of them; a bucket in C is reported
//! with up to exp(ε) times the probability of one outside. Each report
//! therefore "hits" the elements that its bucket holds, those of the input a
//! little more often than others.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in
//! the Local and Shuffle Model", Definition 5 (rule `occupied`, independent
//! hash). The rule `heaviest` and the balanced hash are hushbin's own.

mod choose;
mod randomize;
mod rates;

pub use randomize::Randomizer;
pub use rates::Rates;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::{Hash, Hashing, Keys, independent_bucket};
use crate::mechanism::favoured::threshold;
use crate::sample::{ExpLowerBound, Factors, Threshold, realised_epsilon};
use crate::task::Canonical;

/// Which buckets are favoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The buckets that hold an element: up to s of them (P1). Takes t > s.
    Occupied,
    /// The `favoured` buckets that hold most elements, ties, empty buckets
    /// included, broken uniformly at random.
    Heaviest {
        /// c, at least 1 and less than t.
        favoured: u32,
    },
}

/// The name of a [`Rule`], as in a task file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// [`Rule::Occupied`].
    Occupied,
    /// [`Rule::Heaviest`].
    Heaviest,
}

/// The parameters of Collision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CollisionParts", into = "CollisionParts")]
pub struct Collision {
    rule: Rule,
    hashing: Hashing,
    buckets: u32,
}

/// [`Collision`] as it stands in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CollisionParts {
    rule: RuleName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    favoured: Option<u32>,
    hashing: Hashing,
    buckets: u32,
}

/// The error of a rule that favours no fixed number of buckets.
const NO_FAVOURED: Error = Error::Combination {
    reason: "rule \"occupied\" takes no \"favoured\": it favours every bucket that holds an element",
};

impl TryFrom<CollisionParts> for Collision {
    type Error = Error;

    fn try_from(parts: CollisionParts) -> Result<Self, Error> {
        let rule = match (parts.rule, parts.favoured) {
            (RuleName::Occupied, None) => Rule::Occupied,
            (RuleName::Heaviest, Some(favoured)) => Rule::Heaviest { favoured },
            (RuleName::Occupied, Some(_)) => return Err(NO_FAVOURED),
            (RuleName::Heaviest, None) => {
                return Err(Error::Combination {
                    reason: "rule \"heaviest\" needs \"favoured\", the number of buckets it favours",
                });
            }
        };
        Self::new(rule, parts.hashing, parts.buckets)
    }
}

impl From<Collision> for CollisionParts {
    fn from(collision: Collision) -> Self {
        Self {
            rule: collision.rule_name(),
            favoured: collision.favoured(),
            hashing: collision.hashing,
            buckets: collision.buckets,
        }
    }
}

impl Collision {
    /// # Errors
    /// [`Error::OutOfRange`] when `buckets` is outside [`bounds::BUCKETS`] or
    /// the favoured are not 1 to t − 1. Whether the parameters suit a domain is
    /// checked by [`Task::new`](crate::Task::new).
    pub fn new(rule: Rule, hashing: Hashing, buckets: u32) -> Result<Self, Error> {
        bounds::BUCKETS.check(f64::from(buckets))?;
        if let Rule::Heaviest { favoured } = rule {
            bounds::FAVOURED
                .at_most(f64::from(buckets - 1))
                .check(f64::from(favoured))?;
        }
        Ok(Self {
            rule,
            hashing,
            buckets,
        })
    }

    /// The rule that picks the favoured buckets.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// The rule's name.
    #[must_use]
    pub const fn rule_name(&self) -> RuleName {
        match self.rule {
            Rule::Occupied => RuleName::Occupied,
            Rule::Heaviest { .. } => RuleName::Heaviest,
        }
    }

    /// c, where the rule has it.
    #[must_use]
    pub const fn favoured(&self) -> Option<u32> {
        match self.rule {
            Rule::Occupied => None,
            Rule::Heaviest { favoured } => Some(favoured),
        }
    }

    /// How elements are hashed.
    #[must_use]
    pub const fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// t, the number of buckets.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
        self.hashing.check(domain)?;
        if self.rule == Rule::Occupied && self.buckets <= domain.sparsity() {
            return Err(Error::Combination {
                reason: "rule \"occupied\" needs more \"buckets\" than \"sparsity\"",
            });
        }
        Ok(())
    }

    pub(crate) fn canonical(&self, canonical: &mut Canonical) {
        canonical.number(match self.rule {
            Rule::Occupied => 0,
            Rule::Heaviest { favoured } => u64::from(favoured),
        });
        canonical.number(self.hashing.canonical());
        canonical.number(u64::from(self.buckets));
    }

    /// The thresholds sampled at sparsity s and local budget ε.
    ///
    /// # Panics
    /// If rule `occupied` has no more buckets than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let bound = ExpLowerBound::new(epsilon);
        let t = self.buckets;
        let inside = match self.rule {
            // T_k = floor(2⁶⁴·k·e/Ω), Ω = s·e + t − s.
            Rule::Occupied => {
                assert!(t > sparsity, "rule occupied takes more buckets than s");
                (1..=sparsity)
                    .map(|k| Threshold(bound.share(k, sparsity, t - sparsity)))
                    .collect()
            }
            Rule::Heaviest { favoured } => alloc::vec![threshold(&bound, favoured, t)],
        };
        Thresholds {
            rule: self.rule,
            buckets: t,
            epsilon,
            inside,
        }
    }

    fn hash(&self, domain: &Domain) -> Hash {
        Hash::new(self.hashing, domain.signed_elements(), self.buckets)
    }

    /// Prepares the decoding of reports over `domain`.
    #[must_use]
    pub fn support(&self, domain: &Domain) -> Support {
        Support {
            hash: self.hash(domain),
            domain: *domain,
        }
    }
}

/// The integer probabilities that reports are drawn with: what is sampled, what
/// the estimator divides by and what privacy is accounted for.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    rule: Rule,
    buckets: u32,
    epsilon: f64,
    /// Of reporting inside C: for `occupied` by |C| − 1, for `heaviest` one.
    inside: Vec<Threshold>,
}

impl Thresholds {
    /// The probability of reporting a bucket inside C, when `occupied` buckets
    /// hold an element.
    #[inline]
    #[must_use]
    pub fn inside(&self, occupied: u32) -> Threshold {
        match self.rule {
            Rule::Occupied => self.inside[occupied as usize - 1],
            Rule::Heaviest { .. } => self.inside[0],
        }
    }

    /// |C| when `occupied` buckets hold an element.
    #[inline]
    #[must_use]
    pub const fn favoured(&self, occupied: u32) -> u32 {
        match self.rule {
            Rule::Occupied => occupied,
            Rule::Heaviest { favoured } => favoured,
        }
    }

    /// t, the number of buckets.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Every |C| that an input can have, with its threshold.
    fn cases(&self) -> impl Iterator<Item = (u32, Threshold)> {
        self.inside.iter().enumerate().map(|(index, &threshold)| {
            let occupied = index as u32 + 1;
            (self.favoured(occupied), threshold)
        })
    }

    /// The realised local ε: ln of the greatest probability of any bucket over
    /// the least, both over all inputs; rounded up, never above the requested.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let t = self.buckets;
        let probabilities = self.cases().flat_map(|(k, inside)| {
            [
                Factors(u128::from(inside.0), k),
                Factors((1 << 64) - u128::from(inside.0), t - k),
            ]
        });
        realised_epsilon(probabilities, self.epsilon)
    }
}

pub use crate::report::BucketReport as Report;

/// Which elements a report hits.
#[derive(Debug, Clone, Copy)]
pub struct Support {
    hash: Hash,
    domain: Domain,
}

impl Support {
    /// Number of slots that [`Support::for_each_hit`] may visit; the first 2d
    /// are the signed elements of items, the rest paddings and empty slots.
    /// 0 for open domains, whose elements cannot be listed.
    #[must_use]
    pub fn slots(&self) -> usize {
        match (&self.hash, self.domain.items()) {
            (Hash::Balanced(balanced), _) => balanced.slots() as usize,
            (Hash::Independent { .. }, Some(items)) => 2 * items as usize,
            (Hash::Independent { .. }, None) => 0,
        }
    }

    /// Calls `visit` with every slot that the report hits: O(m) steps under the
    /// balanced hash, O(d) under the independent one. Open domains have none to
    /// list; ask [`Support::hits`].
    #[inline]
    pub fn for_each_hit(&self, report: &Report, mut visit: impl FnMut(u32)) {
        let keys = Keys::new(report.seed);
        match self.hash {
            Hash::Balanced(balanced) => balanced.for_each_slot(&keys, report.bucket, visit),
            Hash::Independent { buckets } => {
                for element in 0..2 * self.domain.items().unwrap_or(0) {
                    if independent_bucket(&keys, u64::from(element), buckets) == report.bucket {
                        visit(element);
                    }
                }
            }
        }
    }

    /// Whether the report hits `element` (see
    /// [`Domain::signed_element`](crate::domain::Domain::signed_element)).
    #[inline]
    #[must_use]
    pub fn hits(&self, report: &Report, element: u64) -> bool {
        self.hash.bucket(&Keys::new(report.seed), element) == report.bucket
    }
}
