//! How sure intervals and discoveries are.

use hushbin::bounds::Bound;

/// Confidence of intervals and of bounds that are measured.
pub const CONFIDENCE: Bound = Bound {
    name: "confidence",
    min: 0.5,
    max: 0.999_999_999,
};
/// Confidence of intervals where nothing is said.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;

/// Part of what stands out that is expected not to be true.
pub const FALSE_DISCOVERY_RATE: Bound = Bound {
    name: "false_discovery_rate",
    min: 1e-9,
    max: 0.5,
};
