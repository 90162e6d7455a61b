//! What an experiment is: units, what each measures, and figures of all.

use rand_chacha::ChaCha8Rng;

use super::table::Table;

pub(crate) use super::error::StudyError;
pub(crate) use super::measured::{Measured, Point};
pub(crate) use crate::figure::{Figure, Panel};

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

impl Unit {
    /// The same so many times, each with a name.
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

    /// What takes no time and no people.
    pub(crate) fn computed(name: &str, index: usize) -> Self {
        Self {
            name: name.to_owned(),
            index,
            repeat: 0,
            work: 1e4,
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

/// A name as in names of files: lower case, with hyphens.
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
