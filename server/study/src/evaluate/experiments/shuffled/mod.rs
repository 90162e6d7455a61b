//! Comparison of protocols through a shuffler at the same central (ε, δ): histograms and means.
//!
//! Every row has a predicted standard error and a measured one. The prediction is a formula. The
//! measurement repeats the protocol for a fixed crowd, so only the noise varies. hushbin's rows of
//! 1,000 people run its real randomiser and estimator. For larger crowds, the noise messages of all
//! people are drawn at once, from their exact distribution.

mod histograms;
mod means;
mod measured_error;
mod one_by_one;
mod protocol_row;

use rand_chacha::ChaCha8Rng;

use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use histograms::HistogramCell;
use means::MeansCell;
use protocol_row::{STANDARD_ERROR_METRIC, TrialCounts};

/// Experiment that compares protocols through a shuffler.
pub(crate) struct ShuffledProtocolsExperiment {
    cells: Vec<ComparedCell>,
    trials: TrialCounts,
}

/// Question for which all protocols are compared.
enum ComparedCell {
    Histogram(HistogramCell),
    Means(MeansCell),
}

/// Central ε of all protocols.
const EPSILONS: [f64; 3] = [0.5, 1.0, 2.0];
/// Numbers of options. A flag has one.
const OPTIONS: [u32; 3] = [1, 16, 1_000];
/// Numbers of numbers of a person.
const NUMBERS: [u32; 3] = [1, 4, 16];

impl ShuffledProtocolsExperiment {
    /// Creates the experiment for a study of the given size. A full study has more trials.
    pub(crate) fn new(size: StudySize) -> Self {
        let mut cells = Vec::new();
        for epsilon in EPSILONS {
            let histogram = |options| HistogramCell { options, epsilon };
            cells.extend(OPTIONS.map(|options| ComparedCell::Histogram(histogram(options))));
            let means = |numbers| MeansCell { numbers, epsilon };
            cells.extend(NUMBERS.map(|numbers| ComparedCell::Means(means(numbers))));
        }
        Self {
            cells,
            trials: TrialCounts {
                at_once: size.quick_or_full(4_000, 40_000),
                one_by_one: size.quick_or_full(200, 2_000),
            },
        }
    }
}

impl Experiment for ShuffledProtocolsExperiment {
    fn name(&self) -> &'static str {
        "shuffled"
    }

    fn title(&self) -> &'static str {
        "Protocols through a shuffler at the same central ε: histograms and means"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let unit = |(index, cell): (usize, &ComparedCell)| {
            let (kind, items, epsilon) = match cell {
                ComparedCell::Histogram(own) => ("options", own.options, own.epsilon),
                ComparedCell::Means(own) => ("numbers", own.numbers, own.epsilon),
            };
            WorkUnit {
                name: format!("{kind}={items} epsilon={epsilon}"),
                index,
                repeat_index: 0,
                estimated_microseconds: 1e6 * (1.0 + f64::from(items) / 100.0),
            }
        };
        self.cells.iter().enumerate().map(unit).collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        match &self.cells[unit.index] {
            ComparedCell::Histogram(own) => own.measurements(self.trials, rng),
            ComparedCell::Means(own) => own.measurements(self.trials, rng),
        }
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let figure = |name: &str, title: &str, panels| Figure {
            name: format!("shuffled-{name}"),
            title: title.to_owned(),
            x_label: "people",
            y_label: STANDARD_ERROR_METRIC,
            are_x_and_y_logarithmic: [true, true],
            panels,
        };
        let curves = |estimand, items, share: f64| {
            table.mechanism_curves(
                estimand,
                STANDARD_ERROR_METRIC,
                |point| point.epsilon == 1.0 && (point.items, point.parameter) == (items, share),
                |point| point.people as f64,
            )
        };
        let shares = OPTIONS.iter().flat_map(|&options| {
            [0.0, 0.1].map(|share| Panel {
                title: format!("{}, share {share}", histograms::options_in_words(options)),
                curves: curves(histograms::ESTIMAND, options, share),
            })
        });
        let means = NUMBERS.map(|numbers| Panel {
            title: format!("d = {numbers}"),
            curves: curves(means::ESTIMAND, numbers, 0.0),
        });
        vec![
            figure(
                "histograms",
                "Standard error of a share at central ε = 1, δ = 10⁻⁶",
                shares.collect(),
            ),
            figure(
                "means",
                "Standard error of each of d means in [−1, 1] at central ε = 1, δ = 10⁻⁶",
                means.into(),
            ),
        ]
    }

    fn remarks(&self) -> &'static [&'static str] {
        &[
            "ε and δ = 10⁻⁶ are central in all rows, except for local reports, whose local ε is the \
             same number. Nine tenths of the people are assumed to be honest. The standard error is \
             predicted by a formula. The table also has the measured error divided by it, and the \
             standard error of that ratio.",
            "Central noise and dummies are added by a party that people trust with their answers or \
             with the noise. All other protocols only trust the shuffler to forget senders, and \
             local reports trust nobody.",
        ]
    }
}
