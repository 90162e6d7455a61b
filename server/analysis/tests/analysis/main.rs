//! Estimates, accounting and planning, through the library's public interface.

#![allow(clippy::unwrap_used)]

mod accounting;
mod errata;
mod estimate;
mod plan;
mod support;
