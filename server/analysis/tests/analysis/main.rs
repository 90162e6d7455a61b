//! Estimates, accounting, planning and explaining, through the library's public interface.

#![allow(clippy::unwrap_used)]

mod accounting;
mod cube;
mod errata;
mod estimate;
mod explain;
mod explain_answers;
mod grid;
mod heavy_hitters;
mod plan;
mod sums;
mod support;
mod survey;
