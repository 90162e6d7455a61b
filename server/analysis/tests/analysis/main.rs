//! Tests of estimates, accounting, planning and audits, through the library's public interface.

#![allow(clippy::unwrap_used)]

mod accounting;
mod audit;
mod bound;
mod errata;
mod estimate;
mod heavy_hitters;
mod plan;
mod sums;
mod support;
mod survey;
mod window;
