//! Statistical analysis of hushbin's reports: pure functions, without clock or I/O.
//!
//! [`estimate`] folds reports into totals, and turns totals into estimates with error bars.
//! [`accounting`] computes the central privacy of a shuffled batch. [`mechanism_optimality`]
//! compares a mechanism with the best possible one. [`plan`] weighs the number of people, privacy
//! and accuracy against each other. [`heavy_hitters`] finds frequent texts that no list names in
//! advance. [`likelihood`] computes the probability of a report under a given input, for audits.
//! [`audit`] measures how much reports reveal. [`promise`] states in words what ε protects.
//! [`sums`] estimates and plans sums of vectors that a shuffler collects. [`typescript`] writes a
//! task as a module for pages. [`numeric`] contains the numerical methods. The collector and its
//! commands run this code natively. The demo's pages and the npm package's command run it compiled
//! to WebAssembly.

pub mod accounting;
pub mod audit;
pub mod mechanism_optimality;
#[doc = include_str!("docs/errata.md")]
pub mod paper_errata {}
pub mod estimate;
pub mod heavy_hitters;
pub mod likelihood;
pub mod numeric;
pub mod plan;
pub mod promise;
pub mod sums;
pub mod typescript;
