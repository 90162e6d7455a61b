//! Question for which mechanisms are compared.

use serde::Serialize;

/// Question that every person answers, and for which mechanisms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ComparedQuestion {
    /// Choice of exactly one of k options.
    Choice {
        /// Number of options, k.
        options: u32,
    },
    /// One number from −1 to 1 for each of d attributes.
    Numbers {
        /// Number of attributes, d.
        attributes: u32,
    },
    /// Single number from −1 to 1.
    Number,
}
