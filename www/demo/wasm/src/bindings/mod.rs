//! JavaScript bindings of the demo's pages.
//!
//! Values pass between Rust and JavaScript as plain objects. The TypeScript types are generated
//! together with the bindings. Invalid input throws a `Refusal` and never traps.

pub mod both;
pub mod explain;
pub mod plan;
pub mod sums;
mod values;

pub use values::Refusal;
