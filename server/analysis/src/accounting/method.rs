//! What a batch was accounted for by.

use std::fmt;

use serde::Serialize;

/// The way in which a batch was accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The sum over all batches, by the numbers of reports that tell the one
    /// input, the other, and nothing.
    ExactSum,
    /// The same, the last number grouped to fewer values that are further apart:
    /// what that adds is little, and never negative.
    BoundedSum,
    /// Group privacy: one report exchanged after the other.
    GroupPrivacy,
    /// The losses of batches, on a grid, added up.
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
