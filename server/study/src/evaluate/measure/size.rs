//! Size of a study.

use clap::ValueEnum;

/// Size of a study: the numbers of points and repeats with which the papers' experiments are rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Size {
    /// Few points and repeats, which take some minutes.
    Quick,
    /// The papers' own grids of points, which take one or two hours.
    Full,
}

impl Size {
    /// Returns `quick` for a quick study, and `full` for a full study.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }

    /// Name of the size, as given on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}
