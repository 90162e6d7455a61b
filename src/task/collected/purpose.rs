//! Purpose of a number, which controls the choice of its cells.

use serde::{Deserialize, Serialize};

/// Quantity that is estimated from the reported numbers.
///
/// ```
/// use hushbin::task::Purpose;
///
/// assert_eq!(serde_json::from_str::<Purpose>(r#""quantiles""#).unwrap(), Purpose::Quantiles);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
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
/// use hushbin::task::Spacing;
///
/// let factors: Spacing = serde_json::from_str(r#""logarithmic""#).unwrap();
/// assert_eq!(factors, Spacing::Logarithmic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Equal differences between neighbouring edges.
    Even,
    /// Equal ratios of neighbouring edges, for positive numbers of different magnitudes.
    Logarithmic,
}
