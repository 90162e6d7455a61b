//! The hushbin collector as a library.
//!
//! It takes randomised uploads over HTTP, journals each one durably before
//! acknowledging it, and estimates totals with error bars from what it holds.
//! Arrows point inward: [`cli`] and [`http`] use [`store`] and [`estimate`],
//! which use the core crate `hushbin`. [`accounting`],
//! [`estimate`] and [`plan`] are pure: no clock, no I/O; without the feature
//! `collector` they are all there is.

pub mod accounting;
#[cfg(feature = "collector")]
pub mod audit;
#[cfg(feature = "collector")]
pub mod cli;
#[cfg(feature = "collector")]
pub mod config;
#[cfg(feature = "collector")]
pub mod data;
#[doc = include_str!("docs/errata.md")]
pub mod errata {}
pub mod estimate;
#[cfg(feature = "collector")]
pub mod http;
pub mod plan;
#[cfg(feature = "collector")]
pub mod simulate;
#[cfg(feature = "collector")]
pub mod store;
#[cfg(feature = "planner")]
pub mod wasm;
