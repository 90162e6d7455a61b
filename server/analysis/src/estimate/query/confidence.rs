//! Permitted ranges of confidence levels and false discovery rates.

use hushbin::bounds::ParameterRange;

/// Permitted range of confidence levels, for intervals and for measured privacy bounds.
pub const CONFIDENCE_RANGE: ParameterRange = ParameterRange {
    name: "confidence",
    min: 0.5,
    max: 0.999_999_999,
};
/// Default confidence level of intervals.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;

/// Permitted range of the false discovery rate, which is the expected share of false discoveries.
pub const FALSE_DISCOVERY_RATE_RANGE: ParameterRange = ParameterRange {
    name: "false_discovery_rate",
    min: 1e-9,
    max: 0.5,
};
