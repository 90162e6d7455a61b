//! CoCo: means from signed buckets.
//!
//! t buckets form T = t/2 pairs, each with a plus side and a minus side. A report's seed hashes
//! every item to a pair and gives it a fair sign. An entry pushes its pair towards the side of its
//! own sign times the item's. A rule favours sides that were pushed to, and a report is one side
//! drawn at random.
//!
//! The mean of an item is estimated by the excess of hits on its own plus side over its minus side.
//! Other pushes on the pair cancel in expectation, because the items' signs are fair and
//! independent.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle
//! Model", Algorithm 1 (rule `overwrite`, independent hash). The rule `strongest` and the balanced
//! hash are hushbin's own.

#[cfg(feature = "analysis")]
mod exact;
#[cfg(feature = "collector")]
mod names;
#[cfg(feature = "analysis")]
mod rates;
mod rule;
#[cfg(feature = "collector")]
mod support;

pub use super::subset::{BucketReport as Report, Thresholds};
#[cfg(feature = "analysis")]
pub use rates::{Presence, Rates};
pub use rule::{Coco, Randomizer, Rule};
#[cfg(feature = "collector")]
pub use {names::RuleName, support::Support};
