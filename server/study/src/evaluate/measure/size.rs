//! Size of a study.

use clap::ValueEnum;

/// Size of a study: the numbers of points and repeats with which the papers' experiments are rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StudySize {
    /// Few points and repeats, which take some minutes.
    Quick,
    /// The papers' own grids of points, which take one or two hours.
    Full,
}

impl StudySize {
    /// Returns `quick` for a quick study, and `full` for a full study.
    pub(crate) fn quick_or_full<T>(self, quick: T, full: T) -> T {
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
