//! Sizes of the study.

use clap::ValueEnum;

/// Size of the rerun of the papers' experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Size {
    /// Few points and repeats: some minutes.
    Quick,
    /// The papers' own grids: one or two hours.
    Full,
}

impl Size {
    /// Returns one of two values, by the size.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }

    /// Name of the size as an option value.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}
