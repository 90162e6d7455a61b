//! Mechanisms, and the list of them. Each is a folder with its parameters, its randomizer and the
//! support of its reports. With the feature `analysis` it also has its rates.
//!
//! All code that exists once for each mechanism, here and in the crates above, is generated from
//! the list. So a new mechanism needs its own folders and a line in
//! [`mechanisms!`](crate::mechanisms). The traits contain all differences between mechanisms. Code
//! for any of them is written once, with `each!`.

#[cfg(feature = "collector")]
mod any;
#[cfg(feature = "collector")]
mod collected;
pub(crate) mod contract;
pub(crate) mod list;
#[cfg(feature = "analysis")]
pub mod occupancy;
mod prepared;
mod subset;

pub use contract::Neighbours;
pub use prepared::Mechanism;
pub(crate) use prepared::PreparedRandomizer;
#[cfg(feature = "analysis")]
pub(crate) use subset::parameters::most_hashes;
pub use subset::{BucketReport, Rule, Subset};
#[cfg(feature = "collector")]
pub use {any::Report, subset::NamedRule};

macro_rules! register {
    ($($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $($(#[$feature])? pub mod $module;)+
    };
}

crate::mechanisms!([register]);
