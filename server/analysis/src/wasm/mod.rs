//! Bindings of the planner for web pages.
//!
//! A module of its own, apart from the one that randomises: whoever plans a
//! task downloads it, whoever reports does not. Values cross as plain objects of
//! the types that are generated beside the bindings; what cannot be answered is
//! thrown as a [`Refusal`], and never traps.

pub mod plan;
pub mod sums;
mod values;

pub use values::{Refusal, given, taken};
