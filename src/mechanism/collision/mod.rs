//! Collision: frequencies of items, with or without signs.
//!
//! A report is a seed and one of t buckets. The seed hashes the s elements of an input to buckets.
//! A rule picks a set C of buckets by the elements they hold. A bucket in C is reported with up to
//! exp(ε) times the probability of a bucket outside C. A report "hits" the elements in its bucket.
//! It hits each element of the input a little more often than any other element, and estimates use
//! this difference.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle
//! Model", Definition 5 (rule `occupied`, independent hash). The rule `heaviest` and the balanced
//! hash are hushbin's own.

#[cfg(feature = "analysis")]
mod exact_probabilities;
#[cfg(feature = "collector")]
mod hit_decoder;
#[cfg(feature = "analysis")]
mod rates;
mod rule;
#[cfg(feature = "collector")]
mod rule_name;

pub use super::subset::{BucketReport as Report, Thresholds};
#[cfg(feature = "analysis")]
pub use rates::CollisionHitProbabilities;
pub use rule::{Collision, FavouredBucketRule, Randomizer};
#[cfg(feature = "collector")]
pub use {hit_decoder::HitDecoder, rule_name::FavouredBucketRuleName};
