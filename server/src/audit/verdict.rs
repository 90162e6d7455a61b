//! Answers whether a task keeps its budget.

use serde::Serialize;

/// The answer whether a task keeps its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was found above the requested ε.
    WithinBudget,
    /// A loss above the requested ε was enumerated or measured.
    ExceedsBudget,
}
