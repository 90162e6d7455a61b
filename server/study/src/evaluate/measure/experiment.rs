//! The trait of an experiment: its units, measurements and figures.

use rand_chacha::ChaCha8Rng;

use super::table::Table;

pub(crate) use super::error::StudyError;
pub(crate) use super::measured::{Measured, Point};
pub(crate) use crate::figure::{Figure, Panel};

/// A piece of work that is independent of all other units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    /// Unique name within the experiment. The unit's random numbers derive from it, the
    /// experiment's name and the study's seed.
    pub(crate) name: String,
    /// Index of the unit's parameters within the experiment.
    pub(crate) index: usize,
    /// Number of earlier repeats with the same parameters; each has its own random numbers.
    pub(crate) repeat: u64,
    /// Estimated running time, only for the remaining time: about microseconds on one core. Only
    /// ratios within an experiment matter.
    pub(crate) work: f64,
}

impl Unit {
    /// Returns `repeats` units with the same parameters, each with its name.
    pub(crate) fn repeats(
        repeats: u64,
        index: usize,
        work: f64,
        name: impl Fn(u64) -> String,
    ) -> impl Iterator<Item = Self> {
        (0..repeats).map(move |repeat| Self {
            name: name(repeat),
            index,
            repeat,
            work,
        })
    }

    /// Creates a unit that is computed without people, in hardly any time.
    pub(crate) fn computed(name: &str, index: usize) -> Self {
        Self {
            name: name.to_owned(),
            index,
            repeat: 0,
            work: 1e4,
        }
    }
}

/// One experiment of the papers.
pub(crate) trait Experiment: Sync {
    /// Name in file names: lower case, with hyphens.
    fn name(&self) -> &str;

    /// Title in one line.
    fn title(&self) -> &str;

    /// Lists the units.
    fn units(&self) -> Vec<Unit>;

    /// Runs one unit with its own generator.
    ///
    /// # Errors
    /// [`StudyError`] if a mechanism refuses its parameters.
    fn run(&self, unit: &Unit, rng: &ChaCha8Rng) -> Result<Vec<Measured>, StudyError>;

    /// Draws the figures from the table of measurements.
    fn figures(&self, table: &Table) -> Vec<Figure>;

    /// Remarks to read before the figures.
    fn remarks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Comparisons of hushbin with the best competitor, if there are any.
    fn contests(&self) -> Vec<Contest> {
        Vec::new()
    }
}

/// An error metric (lower is better), and hushbin's mechanisms that compete in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contest {
    /// Estimand in tables.
    pub(crate) estimand: &'static str,
    /// Metric in tables.
    pub(crate) metric: &'static str,
    /// hushbin's mechanisms; the best of them counts. All further mechanisms are competitors.
    pub(crate) ours: &'static [&'static str],
    /// True if the metric is a logarithm.
    pub(crate) logarithm: bool,
}

/// Converts words to a file name: lower case, with hyphens.
pub(crate) fn file_name(words: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    words.chars().map(plain).collect()
}
