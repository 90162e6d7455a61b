//! CoCo: means from signed buckets.
//!
//! t buckets form T = t/2 pairs, each with a plus side and a minus side. A
//! report's seed hashes every item to a pair, and gives it a fair sign; an
//! entry pushes its pair towards the side of its own sign times the item's. A
//! rule favours sides that were pushed to, and a report is one side drawn. For
//! every item, the excess of hits on its own plus side over its minus side
//! estimates its mean: whatever else pushed the pair cancels in expectation,
//! because the items' signs are fair and independent.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in
//! the Local and Shuffle Model", Algorithm 1 (rule `overwrite`, independent
//! hash). The rule `strongest` and the balanced hash are hushbin's own.

mod choose;
mod randomize;
mod rates;

pub use crate::report::BucketReport as Report;
pub use randomize::Randomizer;
pub use rates::{Presence, Rates};

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::{Hash, Hashing, Keys, closed_sign, independent_bucket};
use crate::mechanism::element_sign;
use crate::mechanism::favoured::threshold;
use crate::sample::{ExpLowerBound, Factors, Threshold, realised_epsilon};
use crate::task::Canonical;

/// Which sides are favoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// In each pushed pair one of its entries, uniformly at random, decides for
    /// a side (P1). Takes t ≥ 2s + 2; also estimates non-missing frequencies.
    Overwrite,
    /// The `favoured` sides pushed to most strongly, on balance, ties broken
    /// uniformly at random.
    Strongest {
        /// c, from 1 to T.
        favoured: u32,
    },
}

/// The name of a [`Rule`], as in a task file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// [`Rule::Overwrite`].
    Overwrite,
    /// [`Rule::Strongest`].
    Strongest,
}

/// The parameters of CoCo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CocoParts", into = "CocoParts")]
pub struct Coco {
    rule: Rule,
    hashing: Hashing,
    pairs: u32,
}

/// [`Coco`] as it stands in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CocoParts {
    rule: RuleName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    favoured: Option<u32>,
    hashing: Hashing,
    buckets: u32,
}

/// The error of a rule that favours no fixed number of sides.
const NO_FAVOURED: Error = Error::Combination {
    reason: "rule \"overwrite\" takes no \"favoured\": it favours a side of every pair that is pushed",
};

impl TryFrom<CocoParts> for Coco {
    type Error = Error;

    fn try_from(parts: CocoParts) -> Result<Self, Error> {
        let rule = match (parts.rule, parts.favoured) {
            (RuleName::Overwrite, None) => Rule::Overwrite,
            (RuleName::Strongest, Some(favoured)) => Rule::Strongest { favoured },
            (RuleName::Overwrite, Some(_)) => return Err(NO_FAVOURED),
            (RuleName::Strongest, None) => {
                return Err(Error::Combination {
                    reason: "rule \"strongest\" needs \"favoured\", the number of sides it favours",
                });
            }
        };
        Self::new(rule, parts.hashing, parts.buckets)
    }
}

impl From<Coco> for CocoParts {
    fn from(coco: Coco) -> Self {
        Self {
            rule: coco.rule_name(),
            favoured: coco.favoured(),
            hashing: coco.hashing,
            buckets: coco.buckets(),
        }
    }
}

impl Coco {
    /// # Errors
    /// [`Error::OutOfRange`] when `buckets` is outside [`bounds::BUCKETS`] or
    /// the favoured are not 1 to T; [`Error::Combination`] when `buckets` is
    /// odd. Whether the parameters suit a domain is checked by
    /// [`Task::new`](crate::Task::new).
    pub fn new(rule: Rule, hashing: Hashing, buckets: u32) -> Result<Self, Error> {
        bounds::BUCKETS.check(f64::from(buckets))?;
        if !buckets.is_multiple_of(2) {
            return Err(Error::Combination {
                reason: "coco needs an even number of \"buckets\": they form pairs",
            });
        }
        let pairs = buckets / 2;
        if let Rule::Strongest { favoured } = rule {
            bounds::FAVOURED
                .at_most(f64::from(pairs))
                .check(f64::from(favoured))?;
        }
        Ok(Self {
            rule,
            hashing,
            pairs,
        })
    }

    /// The rule that picks the favoured sides.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// The rule's name.
    #[must_use]
    pub const fn rule_name(&self) -> RuleName {
        match self.rule {
            Rule::Overwrite => RuleName::Overwrite,
            Rule::Strongest { .. } => RuleName::Strongest,
        }
    }

    /// c, where the rule has it.
    #[must_use]
    pub const fn favoured(&self) -> Option<u32> {
        match self.rule {
            Rule::Overwrite => None,
            Rule::Strongest { favoured } => Some(favoured),
        }
    }

    /// How items are hashed to pairs.
    #[must_use]
    pub const fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// T, the number of pairs.
    #[must_use]
    pub const fn pairs(&self) -> u32 {
        self.pairs
    }

    /// t = 2T, the number of buckets: bucket 2k is the plus side of pair k, and
    /// 2k + 1 its minus side.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        2 * self.pairs
    }

    pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
        self.hashing.check(domain)?;
        if self.rule == Rule::Overwrite && self.pairs <= domain.sparsity() {
            return Err(Error::Combination {
                reason: "rule \"overwrite\" needs \"buckets\" of at least twice \"sparsity\" plus 2",
            });
        }
        Ok(())
    }

    pub(crate) fn canonical(&self, canonical: &mut Canonical) {
        canonical.number(match self.rule {
            Rule::Overwrite => 0,
            Rule::Strongest { favoured } => u64::from(favoured),
        });
        canonical.number(self.hashing.canonical());
        canonical.number(u64::from(self.pairs));
    }

    fn hash(&self, domain: &Domain) -> Hash {
        Hash::new(self.hashing, domain.elements(), self.pairs)
    }

    /// The thresholds sampled at sparsity s and local budget ε.
    ///
    /// # Panics
    /// If rule `overwrite` has no more pairs than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let bound = ExpLowerBound::new(epsilon);
        let t = self.buckets();
        let kind = match self.rule {
            Rule::Overwrite => {
                assert!(
                    self.pairs > sparsity,
                    "rule overwrite takes more pairs than s"
                );
                Kind::Overwrite {
                    // floor(2⁶⁴·(e + 1)/Ω), Ω = s(e + 1) + t − 2s, of which a
                    // pushed pair has one share: every input's pairs weigh the
                    // same to the last bit.
                    pair: bound.pair_share(sparsity, t - 2 * sparsity),
                    // floor(2⁶⁴·e/(e + 1)), rounded towards 1/2.
                    decided: Threshold(bound.share(1, 1, 1)),
                    sparsity,
                }
            }
            Rule::Strongest { favoured } => Kind::Strongest {
                inside: threshold(&bound, favoured, t),
                favoured,
            },
        };
        Thresholds {
            kind,
            pairs: self.pairs,
            epsilon,
        }
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

/// The integer probabilities that reports are drawn with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    kind: Kind,
    pairs: u32,
    epsilon: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Overwrite {
        /// Of one pushed pair, in units of 2⁻⁶⁴.
        pair: u64,
        /// Of the decided side, given the pair.
        decided: Threshold,
        sparsity: u32,
    },
    Strongest {
        /// Of the favoured sides together.
        inside: Threshold,
        favoured: u32,
    },
}

impl Thresholds {
    /// The realised local ε: ln of the greatest probability of any bucket over
    /// the least, both over all inputs; rounded up, never above the requested.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        const ONE: u128 = 1 << 64;
        let t = 2 * self.pairs;
        match self.kind {
            Kind::Strongest { inside, favoured } => {
                let inside = u128::from(inside.0);
                let sides = [
                    Factors(inside, favoured),
                    Factors(ONE - inside, t - favoured),
                ];
                realised_epsilon(sides.into_iter(), self.epsilon)
            }
            // In units of 2⁻¹²⁸. With k pushed pairs: the decided side, the
            // other side, and each of the t − 2k buckets elsewhere.
            Kind::Overwrite {
                pair,
                decided,
                sparsity,
            } => {
                let (pair, decided) = (u128::from(pair), u128::from(decided.0));
                let sides = [
                    Factors(pair * decided, 1),
                    Factors(pair * (ONE - decided), 1),
                ];
                let elsewhere =
                    (1..=sparsity).map(|k| Factors((ONE - u128::from(k) * pair) << 64, t - 2 * k));
                realised_epsilon(sides.into_iter().chain(elsewhere), self.epsilon)
            }
        }
    }
}

/// Which items a report hits.
#[derive(Debug, Clone, Copy)]
pub struct Support {
    hash: Hash,
    domain: Domain,
}

impl Support {
    /// Number of slots that [`Support::for_each_hit`] may visit; the first d
    /// are the items, the rest paddings and empty slots. 0 for open domains,
    /// whose items cannot be listed.
    #[must_use]
    pub fn slots(&self) -> usize {
        match (&self.hash, self.domain.items()) {
            (Hash::Balanced(balanced), _) => balanced.slots() as usize,
            (Hash::Independent { .. }, Some(items)) => items as usize,
            (Hash::Independent { .. }, None) => 0,
        }
    }

    /// Calls `visit` with every slot whose pair the report hits, and whether it
    /// is hit on its own plus side: O(m) steps under the balanced hash, O(d)
    /// under the independent one. Open domains have none to list; ask
    /// [`Support::hit`].
    #[inline]
    pub fn for_each_hit(&self, report: &Report, mut visit: impl FnMut(u32, bool)) {
        let keys = Keys::new(report.seed);
        let (pair, minus) = (report.bucket / 2, report.bucket % 2 == 1);
        let own_plus = |slot: u32| (closed_sign(&keys, slot) < 0) == minus;
        match self.hash {
            Hash::Balanced(balanced) => {
                balanced.for_each_slot(&keys, pair, |slot| visit(slot, own_plus(slot)));
            }
            Hash::Independent { buckets } => {
                for item in 0..self.domain.items().unwrap_or(0) {
                    if independent_bucket(&keys, u64::from(item), buckets) == pair {
                        visit(item, own_plus(item));
                    }
                }
            }
        }
    }

    /// Whether the report hits the item's pair, and then whether on the item's
    /// own plus side.
    #[inline]
    #[must_use]
    pub fn hit(&self, report: &Report, item: u64) -> Option<bool> {
        let keys = Keys::new(report.seed);
        let minus = report.bucket % 2 == 1;
        (self.hash.bucket(&keys, item) == report.bucket / 2)
            .then(|| (element_sign(&self.domain, &keys, item) < 0) == minus)
    }
}
