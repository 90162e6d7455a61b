//! Methods by which the central ε of a batch is computed.

use std::fmt;

use serde::Serialize;

/// Method by which the central ε of a batch, or of several batches, was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum AccountingMethod {
    /// Exact sum over all values of three counts. These are the numbers of reports that point to
    /// the first input, to the second input, and to neither.
    ExactSum,
    /// Sum in which the number of uninformative reports is grouped into fewer values than in
    /// `ExactSum`. Grouping increases the result a little, and never decreases it.
    BoundedSum,
    /// Group privacy for several reports from one person in a batch.
    GroupPrivacy,
    /// Composition of batches by the privacy loss distributions on a grid.
    LossDistribution,
    /// Basic composition of batches.
    BasicComposition,
    /// Advanced composition of batches.
    AdvancedComposition,
}

impl fmt::Display for AccountingMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ExactSum => "exact sum",
            Self::BoundedSum => "exact sum, a small rest grouped and rounded up",
            Self::GroupPrivacy => "group privacy",
            Self::LossDistribution => "privacy-loss distribution",
            Self::BasicComposition => "basic composition",
            Self::AdvancedComposition => "advanced composition",
        })
    }
}
