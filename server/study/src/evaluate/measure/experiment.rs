//! Trait of an experiment, which defines its units of work, measurements and figures.

use rand_chacha::ChaCha8Rng;

use super::table::MeasurementTable;

pub(crate) use super::error::StudyError;
pub(crate) use super::measurement::{Measurement, MeasurementPoint};
pub(crate) use crate::figure::{Figure, Panel};

/// Unit of work of an experiment. It is independent of all other units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkUnit {
    /// Name of the unit, unique within the experiment. The unit's random numbers derive from this
    /// name, the experiment's name and the study's seed.
    pub(crate) name: String,
    /// Index of the unit's parameters within the experiment.
    pub(crate) index: usize,
    /// Number of earlier repeats with the same parameters. Each repeat has its own random numbers.
    pub(crate) repeat_index: u64,
    /// Estimated running time in microseconds on one core. The estimate is used to order the units
    /// and to display the progress. Only its ratios within an experiment need to be right.
    pub(crate) estimated_microseconds: f64,
}

impl WorkUnit {
    /// Returns `repeats` units with the same parameters. `name` returns the name of a unit, given
    /// the number of earlier repeats.
    pub(crate) fn repeated_units(
        repeats: u64,
        index: usize,
        work: f64,
        name: impl Fn(u64) -> String,
    ) -> impl Iterator<Item = Self> {
        (0..repeats).map(move |repeat| Self {
            name: name(repeat),
            index,
            repeat_index: repeat,
            estimated_microseconds: work,
        })
    }

    /// Creates a unit that only evaluates formulas, without simulated people, and so takes little
    /// time.
    pub(crate) fn formula_unit(name: &str, index: usize) -> Self {
        Self {
            name: name.to_owned(),
            index,
            repeat_index: 0,
            estimated_microseconds: 1e4,
        }
    }
}

/// One experiment of the papers.
pub(crate) trait Experiment: Sync {
    /// Name of the experiment in file names, in lower case with hyphens.
    fn name(&self) -> &str;

    /// Title of the experiment, in one line.
    fn title(&self) -> &str;

    /// Lists the units of work of the experiment.
    fn work_units(&self) -> Vec<WorkUnit>;

    /// Runs one unit of work with the unit's own random number generator.
    ///
    /// # Errors
    /// [`StudyError`] if a mechanism refuses its parameters.
    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError>;

    /// Creates the figures from the table of measurements.
    fn figures(&self, table: &MeasurementTable) -> Vec<Figure>;

    /// Remarks that the page shows before the figures.
    fn remarks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Lists the metrics in which hushbin is compared with the best competitor.
    fn compared_metrics(&self) -> Vec<MetricComparison> {
        Vec::new()
    }
}

/// Comparison of hushbin with the competitors in one estimand and one error metric. Lower values
/// are better.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetricComparison {
    /// Name of the estimand in tables.
    pub(crate) estimand: &'static str,
    /// Name of the metric in tables.
    pub(crate) metric: &'static str,
    /// Names of hushbin's mechanisms that take part. The best of them is compared with the best
    /// competitor.
    pub(crate) hushbin_mechanisms: &'static [&'static str],
    /// True if the metric is the logarithm of an error.
    pub(crate) is_logarithmic: bool,
}

/// Converts words to a file name in lower case, with hyphens instead of other characters.
pub(crate) fn words_to_file_name(words: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    words.chars().map(plain).collect()
}
