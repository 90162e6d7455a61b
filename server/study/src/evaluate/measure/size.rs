//! How much is measured.

use clap::ValueEnum;

/// How much of the papers' experiments is rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Size {
    /// Few points and repeats of each: some minutes.
    Quick,
    /// The papers' own grids: an hour or two.
    Full,
}

impl Size {
    /// One of two, by the size.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }

    /// As an option names it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}
