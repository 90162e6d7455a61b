//! Mechanisms that draw one bucket (Collision and CoCo): the form in task files and uploads.

use core::fmt::Debug;

use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::parameters::{BucketFavouringRule, HashedSubsetSelection};
use super::report::BucketReport;
use super::thresholds::Thresholds;
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::HashFamily;
use crate::mechanism::collected_mechanism::CollectedMechanism;
use crate::sample::{WeightAndCount, realised_epsilon};

/// Form of a [`HashedSubsetSelection`] in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedSubset<Name> {
    rule: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    favoured: Option<u32>,
    hashing: HashFamily,
    buckets: u32,
    #[serde(
        default = "default_hash_count",
        skip_serializing_if = "is_default_hash_count"
    )]
    hashes: u32,
}

const fn default_hash_count() -> u32 {
    1
}

// By reference, because serde requires it.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_default_hash_count(hashes: &u32) -> bool {
    *hashes == 1
}

impl<R: NamedRule> Serialize for HashedSubsetSelection<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = SerializedSubset {
            rule: self.rule_name(),
            favoured: self.favoured_count(),
            hashing: self.hash_family(),
            buckets: self.buckets_per_hash(),
            hashes: self.hash_count(),
        };
        parts.serialize(serializer)
    }
}

impl<'de, R: NamedRule> Deserialize<'de> for HashedSubsetSelection<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = SerializedSubset::<R::Name>::deserialize(deserializer)?;
        let rule = Self::rule_from_name(parts.rule, parts.favoured).map_err(de::Error::custom)?;
        if parts.hashing == HashFamily::BalancedWindows && parts.favoured.unwrap_or(1) < 2 {
            return Err(de::Error::custom(
                "\"hashing\": \"balanced-windows\" needs \"favoured\" of at least 2",
            ));
        }
        Self::new_with_hash_count(rule, parts.hashing, parts.buckets, parts.hashes)
            .map_err(de::Error::custom)
    }
}

impl<R: BucketFavouringRule> HashedSubsetSelection<R> {
    /// Checks the ranges and creates the parameters of a mechanism with one hash function.
    ///
    /// # Errors
    /// As for [`HashedSubsetSelection::new_with_hash_count`].
    pub fn new(rule: R, hashing: HashFamily, buckets: u32) -> Result<Self, Error> {
        Self::new_with_hash_count(rule, hashing, buckets, 1)
    }

    /// Number t of buckets of each hash function. In CoCo, bucket 2k is the plus side of pair k,
    /// and 2k + 1 its minus side.
    #[must_use]
    pub const fn buckets_per_hash(&self) -> u32 {
        self.buckets_per_hash
    }
}

impl<R: NamedRule> HashedSubsetSelection<R> {
    /// Name of the rule.
    #[must_use]
    pub fn rule_name(&self) -> R::Name {
        self.favouring_rule().rule_name()
    }

    /// Returns the rule with the given name. `favoured` is the rule's number c of favoured buckets,
    /// if it has one.
    pub(crate) fn rule_from_name(name: R::Name, favoured: Option<u32>) -> Result<R, Error> {
        let paper = R::paper_rule()?;
        if name == paper.rule_name() {
            return match favoured {
                None => Ok(paper),
                Some(_) => Err(error!(InvalidCombination {
                    reason: R::UNEXPECTED_FAVOURED_COUNT_REASON
                })),
            };
        }
        favoured
            .map(R::strongest_rule)
            .ok_or(error!(InvalidCombination {
                reason: R::MISSING_FAVOURED_COUNT_REASON
            }))
    }
}

impl<R: BucketFavouringRule> WriteCanonical for HashedSubsetSelection<R> {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_u64(u64::from(self.favoured_count().unwrap_or(0)));
        // With one hash function, this number is the code of the hash family alone.
        let further = u64::from(self.hash_count() - 1);
        canonical
            .write_u64(self.hash_family().to_canonical_code() + further * HashFamily::FAMILY_COUNT);
        canonical.write_u64(u64::from(self.cells_per_hash()));
    }
}

impl Thresholds {
    /// Probability of each favoured output, and probability of each other output. Requires that all
    /// inputs favour the same number of outputs.
    #[must_use]
    pub fn favoured_and_other_probabilities(&self) -> [f64; 2] {
        let (inside, favoured) = (self.favoured_threshold(1), self.favoured_count(1));
        [
            inside.probability() / f64::from(favoured),
            inside.false_probability() / f64::from(self.outcome_count - favoured),
        ]
    }

    /// Realised local ε: the logarithm of the ratio of the greatest to the least probability of an
    /// output. The greatest and the least are over all outputs and all inputs. The result is
    /// rounded up, and never above the requested ε.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        const TWO_POW_64: u128 = 1 << 64;
        let t = self.outcome_count;
        let sets = (1..).zip(
            self.favoured_thresholds
                .iter()
                .map(|inside| u128::from(inside.0)),
        );
        let Some(decided) = self.side_given_pair_threshold else {
            let outputs = sets.flat_map(|(cells, inside)| {
                let favoured = self.favoured_count(cells);
                [
                    WeightAndCount(inside, favoured.into()),
                    WeightAndCount(TWO_POW_64 - inside, (t - favoured).into()),
                ]
            });
            return realised_epsilon(outputs, self.epsilon);
        };
        // CoCo's rule `overwrite`, in units of 2⁻¹²⁸. With k pushed pairs the outputs are: the side
        // of the deciding entry, the opposite side, and each of the t − 2k sides of other pairs.
        let (pair, decided) = (
            u128::from(self.favoured_threshold(1).0),
            u128::from(decided.0),
        );
        let sides = [
            WeightAndCount(pair * decided, 1),
            WeightAndCount(pair * (TWO_POW_64 - decided), 1),
        ];
        let elsewhere =
            sets.map(|(k, inside)| WeightAndCount((TWO_POW_64 - inside) << 64, (t - 2 * k).into()));
        realised_epsilon(sides.into_iter().chain(elsewhere), self.epsilon)
    }
}

impl<R: BucketFavouringRule> CollectedMechanism for HashedSubsetSelection<R> {
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        self.thresholds(domain.sparsity(), epsilon)
            .effective_epsilon()
    }

    fn report_decoder(
        &self,
        _: &Domain,
        _: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<BucketReport, Error> {
        let outcomes = self.total_buckets();
        move |cursor| BucketReport::decode(cursor, outcomes)
    }
}

impl BucketReport {
    /// Returns the report with the longest encoding, if there are `buckets` buckets.
    pub(crate) const fn with_longest_encoding(buckets: u32) -> Self {
        let (seed, bucket) = (u64::MAX, buckets - 1);
        Self { seed, bucket }
    }

    /// Reads the next report, with a bucket below `buckets`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bucket is not below `buckets`.
    pub(crate) fn decode(cursor: &mut Cursor<'_>, buckets: u32) -> Result<Self, Error> {
        let (seed, bucket): ([u8; 8], u32) = cursor.read_value("expected a seed and a bucket")?;
        let report = Self {
            seed: u64::from_le_bytes(seed),
            bucket,
        };
        if report.bucket < buckets {
            Ok(report)
        } else {
            Err(cursor.malformed_error("expected a bucket below the task's number of buckets"))
        }
    }
}

/// Rule that has a name in task files.
///
/// ```
/// use hushbin::mechanism::collision::{FavouredBucketRule, FavouredBucketRuleName};
/// use hushbin::mechanism::NamedRule;
///
/// assert_eq!(FavouredBucketRule::Heaviest { favoured: 3 }.rule_name(), FavouredBucketRuleName::Heaviest);
/// ```
pub trait NamedRule: BucketFavouringRule {
    /// Type of the rules' names. A name identifies the rule without the rule's parameter.
    type Name: Copy + Eq + Debug + Serialize + DeserializeOwned;

    /// Reason in the error if the paper's rule is given a number c of favoured buckets.
    const UNEXPECTED_FAVOURED_COUNT_REASON: &'static str;
    /// Reason in the error if the other rule is given no number c of favoured buckets.
    const MISSING_FAVOURED_COUNT_REASON: &'static str;

    /// Name of the rule.
    fn rule_name(&self) -> Self::Name;
}
