//! What is proven from both sides.

use serde::Serialize;

/// Bounds on a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Bounds {
    /// It is proven not to be below.
    pub lower: f64,
    /// It is proven not to be above.
    pub upper: f64,
}
