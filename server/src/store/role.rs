//! Roles of a process, which decide what kind of reports its store holds.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Role of a process and of the journal that it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Takes reports from pages and estimates from them
    #[default]
    Collector,
    /// Takes sealed reports from pages and sends them on in batches, in another order
    Shuffler,
    /// Takes batches from shufflers and estimates from them
    Analyser,
}

impl Role {
    /// Name in options, files and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collector => "collector",
            Self::Shuffler => "shuffler",
            Self::Analyser => "analyser",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
