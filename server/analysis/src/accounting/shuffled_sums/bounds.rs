//! Proven lower and upper bound on a quantity.

use serde::Serialize;

/// Lower and upper bound on a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct ProvenBounds {
    /// Proven lower bound.
    pub lower: f64,
    /// Proven upper bound.
    pub upper: f64,
}
