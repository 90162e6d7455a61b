//! Mechanisms: algorithms that randomise inputs into reports. Each mechanism is a folder with
//! parameters, a randomizer and a decoder of reports. With the feature `analysis`, the folder also
//! has `Rates`: probabilities of reports, and variances of estimates.
//!
//! Code that exists once for each mechanism, here and in the crates that depend on this one, is
//! generated from the list [`mechanisms!`](crate::mechanisms). So a new mechanism needs its own
//! folders and one line in that list. All differences between mechanisms are behind traits. Code
//! that works for any mechanism is written once, with `each!`.

#[cfg(feature = "collector")]
mod collected_mechanism;
pub(crate) mod contract;
mod mechanism_dispatch;
pub(crate) mod mechanism_list;
mod memo;
#[cfg(feature = "analysis")]
pub mod occupancy;
#[cfg(feature = "collector")]
mod report;
mod subset;

pub use contract::NeighbouringInputs;
pub use mechanism_dispatch::Mechanism;
pub(crate) use mechanism_dispatch::PreparedRandomizer;
pub use memo::MemoAndReportThresholds;
#[cfg(feature = "analysis")]
pub(crate) use subset::parameters::hash_count_range;
pub use subset::{BucketFavouringRule, BucketReport, HashedSubsetSelection};
#[cfg(feature = "collector")]
pub use {report::Report, subset::NamedRule};

macro_rules! declare_modules {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $($(#[$feature])? pub mod $module;)+
    };
}

crate::mechanisms!([declare_modules]);
