//! Calculations of the demo's story page, compiled to WebAssembly.
//!
//! [`explain`] explains a single report. [`local_vs_shuffle`] simulates people who answer the same numbers in
//! two ways: under local differential privacy, and through a shuffler.
//!
//! The bindings include the planner. All pages load this one module, so the Rust code is compiled
//! and linked once.

pub mod explain;
pub mod local_vs_shuffle;

#[cfg(target_arch = "wasm32")]
pub mod bindings;
