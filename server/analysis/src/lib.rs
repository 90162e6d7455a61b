//! Statistical analysis of hushbin's reports: pure functions, without clock or I/O.
//!
//! [`estimate`] folds reports into totals, and turns totals into estimates with error bars.
//! [`accounting`] computes the central privacy of a shuffled batch. [`bound`] compares a mechanism
//! with the best possible one. [`plan`] weighs people, privacy and accuracy against each other.
//! [`heavy_hitters`] finds texts that are not listed in advance. [`likelihood`] distinguishes
//! inputs by reports, for audits. [`promise`] states in words what ε protects. [`sums`] estimates
//! and plans sums of vectors through a shuffler. [`numeric`] contains the numerical methods. The
//! collector and its commands run this code natively. The demo's pages run it compiled to
//! WebAssembly.

pub mod accounting;
pub mod bound;
#[doc = include_str!("docs/errata.md")]
pub mod errata {}
pub mod estimate;
pub mod heavy_hitters;
pub mod likelihood;
pub mod numeric;
pub mod plan;
pub mod promise;
pub mod sums;
