//! What an experiment is: units, what each measures, and figures of all.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::table::Table;

/// Where in an experiment: what a crowd is like and what is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub(crate) struct Point {
    /// n.
    pub(crate) people: u64,
    /// d, or the number of options.
    pub(crate) items: u32,
    /// s, or how many entries a person has; 1 of one answer.
    pub(crate) sparsity: u32,
    /// ε of one report.
    pub(crate) epsilon: f64,
    /// δ of one report, or of a batch; 0 where there is none.
    pub(crate) delta: f64,
    /// What else an experiment varies, such as t, if anything.
    pub(crate) parameter: f64,
}

/// A number that a unit measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Where.
    #[serde(flatten)]
    pub(crate) point: Point,
    /// Of which mechanism, as figures name it.
    pub(crate) mechanism: String,
    /// What is estimated, and what was done to the estimates, such as `mean` or
    /// `frequency, simplex`.
    pub(crate) estimand: String,
    /// What the number is, such as `ln TVE` or `MSE`.
    pub(crate) metric: String,
    /// The number.
    pub(crate) value: f64,
}

/// A piece of work that depends on no other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    /// Its name, once in an experiment; its random numbers are drawn by it, by the
    /// experiment's name and by the study's seed.
    pub(crate) name: String,
    /// Where it finds its parameters among the experiment's.
    pub(crate) index: usize,
    /// How often its parameters are measured before it, each with other random numbers.
    pub(crate) repeat: u64,
    /// About how long it takes, in units of its own experiment's choice but about
    /// microseconds on one core; for the time left only.
    pub(crate) work: f64,
}

/// Why a study ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudyError {
    /// Parameters that a mechanism refuses.
    #[error(transparent)]
    Refused(#[from] hushbin::Error),
    /// A draft of a task that cannot be.
    #[error("{mechanism}: {reason}")]
    Draft {
        /// Of which mechanism.
        mechanism: String,
        /// What is wrong.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file of runs that is not of this study.
    #[error("{path}: {reason}")]
    Runs {
        /// Which.
        path: String,
        /// What it is instead.
        reason: String,
    },
    /// A figure that cannot be drawn.
    #[error("figure {name}: {reason}")]
    Figure {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl StudyError {
    /// Of a file.
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }
}

/// One of the papers' experiments.
pub(crate) trait Experiment: Sync {
    /// Its name, as in names of files: lower case, with hyphens.
    fn name(&self) -> &str;

    /// What it shows, in a line.
    fn title(&self) -> &str;

    /// Its pieces.
    fn units(&self) -> Vec<Unit>;

    /// What one of them measures. The generator is the unit's own.
    ///
    /// # Errors
    /// [`StudyError`] where a mechanism refuses its parameters.
    fn run(&self, unit: &Unit, rng: &ChaCha8Rng) -> Result<Vec<Measured>, StudyError>;

    /// Its figures, drawn of what was measured.
    fn figures(&self, table: &Table) -> Vec<Figure>;

    /// What is to know before figures are read.
    fn remarks(&self) -> &'static [&'static str] {
        &[]
    }

    /// What ours is compared by with the best of all others, if it is.
    fn contests(&self) -> Vec<Contest> {
        Vec::new()
    }
}

/// An error, the less the better, and which of ours are asked for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contest {
    /// As in tables.
    pub(crate) estimand: &'static str,
    /// As in tables.
    pub(crate) metric: &'static str,
    /// Whichever of these is best; all others are others.
    pub(crate) ours: &'static [&'static str],
    /// Whether the metric is a logarithm.
    pub(crate) logarithm: bool,
}

/// A figure: panels side by side over one legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// As in names of files, once in a study.
    pub(crate) name: String,
    /// What it shows, in a line: its alternative text, too.
    pub(crate) title: String,
    /// What is to the right, such as `ε`.
    pub(crate) x: &'static str,
    /// What is up, such as `mean of ln TVE`.
    pub(crate) y: &'static str,
    /// Whether ratios are distances, to the right and up.
    pub(crate) logarithmic: [bool; 2],
    /// At least one.
    pub(crate) panels: Vec<Panel>,
}

/// A part of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// What is alike in it, such as `s = 4`.
    pub(crate) title: String,
    /// A mechanism each.
    pub(crate) curves: Vec<Curve>,
}

/// A curve of a panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// As in the legend; curves of one label look alike in all panels.
    pub(crate) label: String,
    /// From left to right: where, the mean and its standard error, 0 where it is computed.
    pub(crate) points: Vec<[f64; 3]>,
}
