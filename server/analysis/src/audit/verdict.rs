//! Verdict of an audit.

use serde::Serialize;

/// Verdict on whether a task keeps its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// Budget kept: no loss above the requested ε was found.
    WithinBudget,
    /// Budget exceeded: a loss above the requested ε was enumerated or measured.
    ExceedsBudget,
}
