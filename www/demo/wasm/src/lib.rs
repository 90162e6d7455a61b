//! Calculations of the demo's story page, compiled to WebAssembly.
//!
//! [`explain`] takes a single report apart. [`both`] simulates people who answer the same
//! numbers in two ways: under local differential privacy, and through a shuffler.
//!
//! The bindings carry the planner too. All pages load this one module, so their Rust is
//! compiled and linked once.

pub mod both;
pub mod explain;

#[cfg(target_arch = "wasm32")]
pub mod bindings;
