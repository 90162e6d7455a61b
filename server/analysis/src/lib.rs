//! What hushbin concludes from reports: pure functions, without clock or I/O.
//!
//! [`estimate`] folds reports into totals and turns totals into estimates with error bars;
//! [`accounting`] says what a shuffled batch gives away; [`bound`] how far a mechanism is from the
//! best that any could be; [`plan`] weighs people, privacy and accuracy against each other;
//! [`heavy_hitters`] finds texts that nobody listed; [`likelihood`] tells inputs apart by their
//! reports, for audits; [`promise`] words what ε protects; [`numeric`] is the ground that they
//! stand on. The collector and its commands run this code natively, the demo's pages run it
//! compiled to WebAssembly.

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
