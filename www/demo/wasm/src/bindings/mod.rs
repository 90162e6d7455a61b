//! JavaScript bindings of the demo's pages.
//!
//! Values cross as plain objects. The TypeScript types are generated together with the bindings.
//! A question without an answer is thrown as a `Refusal` and never traps.

pub mod both;
pub mod explain;
pub mod plan;
pub mod sums;
mod values;

pub use values::Refusal;
