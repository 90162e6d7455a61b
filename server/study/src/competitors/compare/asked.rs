//! The question that mechanisms are compared for.

use serde::Serialize;

/// What is asked of every person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Asked {
    /// Exactly one of k options.
    Choice {
        /// k.
        options: u32,
    },
    /// Dense numbers from −1 to 1.
    Numbers {
        /// d.
        attributes: u32,
    },
    /// One number from −1 to 1.
    Number,
}
