//! Methods by which a batch is accounted for.

use std::fmt;

use serde::Serialize;

/// Method by which a batch was accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Exact sum over the numbers of reports that reveal the one input, the other input, or
    /// nothing.
    ExactSum,
    /// Exact sum whose number of uninformative reports is grouped to fewer, more distant values.
    /// Grouping adds little, and the addition is never negative.
    BoundedSum,
    /// Group privacy: reports are exchanged one after the other.
    GroupPrivacy,
    /// Privacy loss distributions of the batches, added on a grid.
    LossDistribution,
    /// Basic composition of batches.
    BasicComposition,
    /// Advanced composition of batches.
    AdvancedComposition,
}

impl fmt::Display for Method {
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
