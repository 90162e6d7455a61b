//! CoCo: means from signed buckets.
//!
//! The t buckets form T = t/2 pairs. A pair has a plus side and a minus side. A report's seed
//! hashes every item to a pair and gives the item a fair sign. An entry pushes its pair towards one
//! side: plus if the entry and its item have equal signs, else minus. A rule chooses the favoured
//! sides by these pushes. A report is one side, drawn at random with a higher probability for
//! favoured sides.
//!
//! A report "hits" an item if it is a side of the item's pair. The item's own plus side is the side
//! that a positive entry pushes to. The mean of the item is estimated from the hits on its own plus
//! side, minus the hits on the opposite side. Pushes of other items on the pair cancel in
//! expectation, because the signs of items are fair and independent.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle
//! Model", Algorithm 1 (rule `overwrite`, independent hash). The rule `strongest` and the balanced
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
pub use rates::{CocoHitProbabilities, PairHitProbabilities};
pub use rule::{Coco, FavouredSideRule, Randomizer};
#[cfg(feature = "collector")]
pub use {hit_decoder::HitDecoder, rule_name::FavouredSideRuleName};
