//! What this build has left out.

/// Refusal of what needs a Cargo feature that this hushbin was compiled without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not in this hushbin, expected one compiled with the feature {feature}")]
pub struct LeftOut {
    /// Part that was left out.
    pub what: &'static str,
    /// Cargo feature that brings it.
    pub feature: &'static str,
}
