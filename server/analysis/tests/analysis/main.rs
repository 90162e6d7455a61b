//! Tests of estimates, accounting and planning, through the library's public interface.

#![allow(clippy::unwrap_used)]

mod accounting;
mod bound;
mod errata;
mod estimate;
mod heavy_hitters;
mod plan;
mod sums;
mod support;
mod survey;
mod window;
