//! k-subset selection over buckets: what Collision and CoCo have in common.
//!
//! A report is a seed and one of the t buckets of each of R hash functions, R·t in
//! all. The seed hashes the elements of an input to buckets, by each function; a
//! rule favours c of all of them, each of which is drawn with a weight of
//! e = exp(ε), each other one with a weight of 1. Where R is large, about as many
//! buckets are strong whatever the seed, so that the c favoured are all of those
//! and no others: the variance falls towards what is possible at all. It costs
//! only whoever reports, who hashes R·s elements. With one element to a bucket
//! this is the k-subset mechanism, k = c (Wang et al., "Mutual
//! Information Optimally Local Private Discrete Distribution Estimation", 2016;
//! Ye and Barg, "Optimal Schemes for Discrete Distribution Estimation Under
//! Locally Differential Privacy", 2018).

mod cells;
#[cfg(feature = "collector")]
mod collected;
#[cfg(feature = "analysis")]
mod exact;
mod favoured;
pub(super) mod parameters;
mod report;
mod thresholds;

pub(super) use cells::Cells;
#[cfg(feature = "collector")]
pub use collected::NamedRule;
pub(super) use favoured::{Drawn, Favoured};
pub(crate) use parameters::Selection;
pub use parameters::{Rule, Subset};
pub use report::BucketReport;
pub use thresholds::Thresholds;
#[cfg(feature = "analysis")]
pub(super) use thresholds::threshold;
