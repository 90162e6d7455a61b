//! The mechanisms: each a folder with its parameters, its randomizer, the support of its reports
//! and, with the feature `analysis`, its rates; and the one list of them.
//!
//! Whatever there is one of for each mechanism, here and in the crates above,
//! is made from that list, so that a new mechanism is its own folders and a line
//! in [`mechanisms!`](crate::mechanisms). All that differs between mechanisms is in
//! their traits; what is done with any of them is written once, by `each!`.

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
pub(crate) use prepared::Prepared;
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
