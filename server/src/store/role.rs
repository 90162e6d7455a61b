//! Roles of a process. The role decides which kind of reports the process stores.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Role of a process, and of the journal that the process writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessRole {
    /// Receives reports from pages, and serves estimates
    #[default]
    Collector,
    /// Receives sealed reports from pages, shuffles the reports of a batch, and sends the batch to
    /// an analyser
    Shuffler,
    /// Receives batches from shufflers, and serves estimates
    Analyser,
}

impl ProcessRole {
    /// Returns the role's name in options, files and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collector => "collector",
            Self::Shuffler => "shuffler",
            Self::Analyser => "analyser",
        }
    }
}

impl fmt::Display for ProcessRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
