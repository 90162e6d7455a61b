//! P3's experiments: each person has k entries with real values, and some items are popular.
//! Mechanisms are compared at user level and at event level.

use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::ratings::{HUSHBIN_CLIPPED_INPUTS, hash_bin_draft_as_coded};
use crate::competitors::ratings::drafts_as_printed;
use crate::evaluate::crowd::entry_distribution::{EntryDistribution, ZIPF_EXPONENT};
use crate::evaluate::crowd::random::ZipfItemDistribution;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, MetricComparison, Panel, StudyError,
    WorkUnit,
};
use crate::evaluate::measure::measurement::{MSE, REPORT_BYTES_METRIC};
use crate::evaluate::measure::score::ErrorSummary;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, QuestionSetting, ReportAccumulator,
};
use crate::evaluate::mechanism::shared_values::SharedValues;
use crate::evaluate::mechanism::simulate::{
    entries_of_first_items, question_point, simulate_reports_and_truth,
};

/// Parameters of one point of the experiment's grid: the figure to which the point belongs, and a
/// question.
#[derive(Debug, Clone, Copy)]
struct GridPoint {
    figure_index: usize,
    item_count: u32,
    entries_per_person: u32,
    epsilon: f64,
}

/// Experiment on P3's grid, with crowds either as printed or as in the paper's code.
pub(crate) struct PopularItemsExperiment {
    name: &'static str,
    title: &'static str,
    people_count: u64,
    grid_points: Vec<GridPoint>,
    repeat_count_at: fn(&GridPoint) -> u64,
    /// True if crowds follow the paper's code instead of its text.
    uses_coded_crowds: bool,
    /// Mechanisms at each point of the grid, each with the estimand of its privacy level.
    rating_mechanisms: SharedValues<Vec<(&'static str, ComparedRatingMechanism)>>,
}

/// Parameter on the horizontal axis of a figure. `foremost` is true if the figure's errors cover
/// only the foremost items.
struct FigureAxis {
    name: &'static str,
    x_label: &'static str,
    x_value: fn(&MeasurementPoint) -> f64,
    covers_only_top_items: bool,
}

const FIGURE_AXES: [FigureAxis; 3] = [
    FigureAxis {
        name: "entries",
        x_label: "k, entries of a person",
        x_value: |point| f64::from(point.sparsity),
        covers_only_top_items: false,
    },
    FigureAxis {
        name: "epsilon",
        x_label: "ε",
        x_value: |point| point.epsilon,
        covers_only_top_items: true,
    },
    FigureAxis {
        name: "items",
        x_label: "d, items",
        x_value: |point| f64::from(point.items),
        covers_only_top_items: true,
    },
];

/// Number of foremost items, which are the items with the greatest means. Two figures cover only
/// the errors of these items.
const TOP_ITEM_COUNT: usize = 100;
/// δ of Gaussian noise in P3.
pub(crate) const GAUSSIAN_DELTA: f64 = 1e-5;

/// Name of the estimand in tables and the published mechanisms that take part, for user level and
/// then for event level.
pub(crate) const PUBLISHED_BY_PRIVACY_LEVEL: [(&str, &[&str]); 2] = [
    (
        "mean, user level",
        &[
            "naive bits, user",
            "Gaussian, user",
            "sampling, one bit",
            "sampling, OLH",
            "Harmony",
        ],
    ),
    (
        "mean, event level",
        &[
            "naive bits, event",
            "Gaussian, event",
            "k-fold, one bit",
            "k-fold, OLH",
        ],
    ),
];

/// Returns the JSON drafts of those mechanisms that run as tasks at a level. They are hushbin's
/// choice, P3's mechanism as printed, and at user level also P3's mechanism as in its code.
fn drafts_at_privacy_level(level: usize, setting: &QuestionSetting) -> Vec<(&'static str, Value)> {
    match level {
        0 => vec![
            (HUSHBIN_NAME, json!({ "name": "auto", "objective": "mean" })),
            (HUSHBIN_CLIPPED_INPUTS, json!({ "name": "hash-bin" })),
            (
                "SUCCINCT",
                drafts_as_printed::hash_bin_draft_at_user_level(
                    setting.sparsity,
                    setting.people_count,
                ),
            ),
            ("SUCCINCT, as coded", hash_bin_draft_as_coded(setting)),
        ],
        _ => vec![
            (
                "hushbin",
                json!({ "name": "auto", "objective": "mean", "level": "event" }),
            ),
            (
                "SUCCINCT",
                drafts_as_printed::hash_bin_draft_at_event_level(setting.sparsity, setting.epsilon),
            ),
        ],
    }
}

/// Builds all mechanisms for user level (`level` 0) or for event level (1), the index in
/// [`PUBLISHED_BY_PRIVACY_LEVEL`].
pub(crate) fn mechanisms_at_privacy_level(
    level: usize,
    setting: &QuestionSetting,
) -> Result<Vec<ComparedRatingMechanism>, StudyError> {
    let mut all = Vec::new();
    for (name, mechanism) in drafts_at_privacy_level(level, setting) {
        all.push(ComparedRatingMechanism::from_task_draft(
            name, setting, &mechanism,
        )?);
    }
    for name in PUBLISHED_BY_PRIVACY_LEVEL[level].1 {
        all.push(ComparedRatingMechanism::from_oracle_name(name, setting)?);
    }
    Ok(all)
}

impl PopularItemsExperiment {
    /// Creates the experiment with crowds as printed.
    pub(crate) fn with_printed_crowds(size: StudySize) -> Self {
        Self {
            name: "p3-sparse",
            title: "P3, section 5: k entries of popular items",
            uses_coded_crowds: false,
            ..Self::new(size)
        }
    }

    /// Creates the experiment with crowds as in P3's code: for k = 64, people have about 26
    /// entries, all −1 or 1.
    pub(crate) fn with_coded_crowds(size: StudySize) -> Self {
        Self {
            name: "p3-sparse-coded",
            title: "P3, section 5, with crowds as in its code",
            uses_coded_crowds: true,
            ..Self::new(size)
        }
    }

    fn new(size: StudySize) -> Self {
        let powers = |last: u32| (0..=last).map(|exponent| 1 << exponent);
        let grid_point = |figure, items, entries, epsilon| GridPoint {
            figure_index: figure,
            item_count: items,
            entries_per_person: entries,
            epsilon,
        };
        let by_entries: Vec<u32> = size.quick_or_full(vec![4, 64], powers(10).collect());
        let by_items = size.quick_or_full(vec![256], vec![64, 256, 1024, 4096, 16_384, 100_000]);
        let by_epsilon =
            size.quick_or_full(vec![], (1..=7).map(|half| 0.5 * f64::from(half)).collect());
        let items = size.quick_or_full(1024, 4096);
        let mut grid: Vec<GridPoint> = by_entries
            .iter()
            .map(|&k| grid_point(0, items, k, 1.0))
            .collect();
        grid.extend(
            by_epsilon
                .iter()
                .map(|&epsilon| grid_point(1, 100_000, 64, epsilon)),
        );
        grid.extend(
            by_items
                .iter()
                .map(|&d| grid_point(2, d, size.quick_or_full(16, 64), 1.0)),
        );
        Self {
            name: "",
            title: "",
            people_count: size.quick_or_full(10_000, 100_000),
            grid_points: grid,
            // The slowest crowds have half of the paper's repeats.
            repeat_count_at: size.quick_or_full(
                |_| 3,
                |grid_point| match (grid_point.item_count, grid_point.entries_per_person) {
                    (50_000.., _) | (_, 256..) => 5,
                    _ => 10,
                },
            ),
            uses_coded_crowds: false,
            rating_mechanisms: SharedValues::default(),
        }
    }

    fn setting(&self, grid_point: GridPoint) -> QuestionSetting {
        QuestionSetting {
            people_count: self.people_count,
            item_count: grid_point.item_count,
            sparsity: grid_point.entries_per_person,
            epsilon: grid_point.epsilon,
            delta: GAUSSIAN_DELTA,
            protected_distance: 0.0,
            has_sign_values: false,
        }
    }
}

impl Experiment for PopularItemsExperiment {
    fn name(&self) -> &str {
        self.name
    }

    fn title(&self) -> &str {
        self.title
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let mut units = Vec::new();
        for (index, own) in self.grid_points.iter().enumerate() {
            let GridPoint {
                figure_index: figure,
                item_count: items,
                entries_per_person: entries,
                epsilon,
            } = *own;
            // In crowds as coded, people draw some items repeatedly, so they have fewer entries.
            let of_entries = if self.uses_coded_crowds { 0.25 } else { 0.6 };
            let each = 2.0 + of_entries * f64::from(entries) + 4e-3 * f64::from(items);
            let work = self.people_count as f64 * each;
            units.extend(WorkUnit::repeated_units(
                (self.repeat_count_at)(own),
                index,
                work,
                |repeat| {
                    format!(
                        "by {}, d={items} k={entries} epsilon={epsilon} repeat={repeat}",
                        FIGURE_AXES[figure].name
                    )
                },
            ));
        }
        units
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let grid_point = self.grid_points[unit.index];
        let setting = self.setting(grid_point);
        let zipf = ZipfItemDistribution::new(grid_point.item_count, ZIPF_EXPONENT);
        let workload = if self.uses_coded_crowds {
            EntryDistribution::ZipfAsCoded(zipf)
        } else {
            EntryDistribution::Zipf(zipf)
        };
        let mut measured = Vec::new();
        let both = self.rating_mechanisms.value_or_build(unit.index, || {
            let mut all = Vec::new();
            for (level, (estimand, _)) in PUBLISHED_BY_PRIVACY_LEVEL.into_iter().enumerate() {
                let own = mechanisms_at_privacy_level(level, &setting)?;
                all.extend(own.into_iter().map(|own| (estimand, own)));
            }
            Ok(all)
        })?;
        let mut accumulators: Vec<ReportAccumulator<'_>> = both
            .iter()
            .map(|(_, own)| own.accumulator(setting.item_count))
            .collect();
        let truth = simulate_reports_and_truth(&mut accumulators, workload, setting, rng)?;
        let means = truth.true_means();
        let foremost = truth.top_mean_magnitude_items(TOP_ITEM_COUNT);
        for ((estimand, own), accumulator) in both.iter().zip(&accumulators) {
            let estimates = accumulator.estimates().means;
            let part =
                |all: &[f64]| -> Vec<f64> { foremost.iter().map(|&item| all[item]).collect() };
            let all = ErrorSummary::new(&estimates, &means);
            let of_foremost = ErrorSummary::new(&part(&estimates), &part(&means));
            for (metric, value) in [
                (LARGEST_ERROR_METRIC, all.largest_absolute_error),
                (MSE, all.mean_squared_error),
                (TOP_LARGEST_ERROR_METRIC, of_foremost.largest_absolute_error),
                (TOP_MSE_METRIC, of_foremost.mean_squared_error),
            ] {
                measured.push(measurement_at_setting(
                    &setting, &own.name, estimand, metric, value,
                ));
            }
            // The length of a report is the same in every repeat.
            if unit.repeat_index == 0 {
                let person = entries_of_first_items(setting.sparsity.min(setting.item_count));
                let bytes = own.report_bytes(&person)?;
                measured.push(measurement_at_setting(
                    &setting,
                    &own.name,
                    estimand,
                    REPORT_BYTES_METRIC,
                    bytes,
                ));
            }
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (figure, axis) in FIGURE_AXES.iter().enumerate() {
            let grid: Vec<&GridPoint> = self
                .grid_points
                .iter()
                .filter(|grid_point| grid_point.figure_index == figure)
                .collect();
            if grid.is_empty() {
                continue;
            }
            let here = |point: &MeasurementPoint| {
                grid.iter().any(|grid_point| {
                    (
                        grid_point.item_count,
                        grid_point.entries_per_person,
                        grid_point.epsilon,
                    ) == (point.items, point.sparsity, point.epsilon)
                })
            };
            let metrics = if axis.covers_only_top_items {
                [
                    (TOP_LARGEST_ERROR_METRIC, "largest"),
                    (TOP_MSE_METRIC, "mse"),
                ]
            } else {
                [(LARGEST_ERROR_METRIC, "largest"), (MSE, "mse")]
            };
            for (metric, short) in metrics {
                let panel = |(estimand, _): &(&str, _)| Panel {
                    title: (*estimand).to_owned(),
                    curves: table.mechanism_curves(estimand, metric, here, axis.x_value),
                };
                figures.push(Figure {
                    name: format!("{}-by-{}-{short}", self.name, axis.name),
                    title: format!("{}: {metric}, n = {}", self.title, self.people_count),
                    x_label: axis.x_label,
                    y_label: metric,
                    are_x_and_y_logarithmic: [true, true],
                    panels: PUBLISHED_BY_PRIVACY_LEVEL.iter().map(panel).collect(),
                });
            }
        }
        figures
    }

    fn remarks(&self) -> &'static [&'static str] {
        REMARKS
    }

    fn compared_metrics(&self) -> Vec<MetricComparison> {
        privacy_level_comparisons()
    }
}

/// Remarks on the results. They explain why one bit for every item is best at event level.
pub(crate) const REMARKS: &[&str] = &[
    "At event level, one bit for every item has less noise than any short report. The variance \
     is (e + 1)²/(e − 1)², whereas hash-bin adds 8/ε², because a bit covers one entry and a bin \
     the sum of many entries. The cost is d bits for each report: 12,500 bytes for 100,000 \
     items. A report of hash-bin has about 10 bytes. The tables have both.",
    "In k-fold repetition, the answers are in random order. In the order of items, one added \
     entry would shift the answers after it, and this would double ε.",
];

/// Returns the contests between mechanisms for means, at user level and at event level.
pub(crate) fn privacy_level_comparisons() -> Vec<MetricComparison> {
    let all = PUBLISHED_BY_PRIVACY_LEVEL.iter().flat_map(|(estimand, _)| {
        [LARGEST_ERROR_METRIC, MSE].map(|metric| MetricComparison {
            estimand,
            metric,
            hushbin_mechanisms: &[HUSHBIN_NAME, HUSHBIN_CLIPPED_INPUTS],
            is_logarithmic: false,
        })
    });
    all.collect()
}

/// Name of hushbin's mechanism, chosen for means at the level of privacy.
const HUSHBIN_NAME: &str = "hushbin";
pub(crate) const LARGEST_ERROR_METRIC: &str = "largest error";
const TOP_LARGEST_ERROR_METRIC: &str = "largest error of the 100 foremost";
const TOP_MSE_METRIC: &str = "MSE of the 100 foremost";

/// Creates a measured value of a mechanism for this question.
pub(crate) fn measurement_at_setting(
    setting: &QuestionSetting,
    mechanism: &str,
    estimand: &str,
    metric: &str,
    value: f64,
) -> Measurement {
    Measurement::new(question_point(setting), mechanism, estimand, metric, value)
}
