//! Purpose of a number, which controls the choice of its cells.

use serde::{Deserialize, Serialize};

/// Quantity that is estimated from the reported numbers.
///
/// ```
/// use hushbin::task::NumberPurpose;
///
/// assert_eq!(serde_json::from_str::<NumberPurpose>(r#""quantiles""#).unwrap(), NumberPurpose::Quantiles);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberPurpose {
    /// Mean of the numbers.
    Mean,
    /// Number of people in each bin.
    Histogram,
    /// Distribution function and quantiles.
    Quantiles,
}

/// Spacing of the edges of bins.
///
/// ```
/// use hushbin::task::BinSpacing;
///
/// let factors: BinSpacing = serde_json::from_str(r#""logarithmic""#).unwrap();
/// assert_eq!(factors, BinSpacing::Logarithmic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinSpacing {
    /// Equal differences between neighbouring edges.
    Even,
    /// Equal ratios of neighbouring edges, for positive numbers of different magnitudes.
    Logarithmic,
}
