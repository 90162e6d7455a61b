//! What a number is wanted for, as its cells are chosen by it.

use serde::{Deserialize, Serialize};

/// What a number is wanted for.
///
/// ```
/// use hushbin::task::Want;
///
/// assert_eq!(serde_json::from_str::<Want>(r#""quantiles""#).unwrap(), Want::Quantiles);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// Its mean: levels.
    Mean,
    /// How many people are in each bin.
    Histogram,
    /// Its distribution function and quantiles.
    Quantiles,
}

/// How the edges of bins follow each other.
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
    /// By differences.
    Even,
    /// By factors: for numbers above 0 of different magnitudes.
    Logarithmic,
}
