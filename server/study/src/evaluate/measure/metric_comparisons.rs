//! Contests: comparisons of hushbin with the best competitor at every point of an experiment. The
//! result at one point is called a cell.

use super::experiment::{Experiment, MeasurementPoint, MetricComparison};
use super::table::{AveragedRow, MeasurementTable};

/// Cell of a contest: hushbin's best mechanism and the best competitor at one point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetricComparisonCell {
    pub(crate) point: MeasurementPoint,
    /// Name of hushbin's best mechanism.
    pub(crate) hushbin_mechanism: String,
    /// Name of the best competitor.
    pub(crate) best_competitor: String,
    /// Error of hushbin's best mechanism, divided by the error of the best competitor.
    pub(crate) ratio: f64,
    /// Standard error of the ratio's logarithm; 0 for values that were computed by formula.
    pub(crate) log_ratio_standard_error: f64,
}

/// Outcome of a contest in all its cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetricComparisonOutcome {
    pub(crate) metric_comparison: MetricComparison,
    pub(crate) cells: Vec<MetricComparisonCell>,
}

/// Number of standard errors by which the competitor must be better than hushbin for the cell to
/// count as lost.
const TIE_STANDARD_ERROR_COUNT: f64 = 3.0;
/// Tolerance of the ratio's logarithm for values that are computed by formula. Such values have
/// only rounding errors.
const LOG_RATIO_TOLERANCE: f64 = 1e-9;

impl MetricComparisonCell {
    /// Returns true if the competitor is better by more than chance explains.
    pub(crate) fn is_lost(&self) -> bool {
        self.ratio.ln()
            > (TIE_STANDARD_ERROR_COUNT * self.log_ratio_standard_error).max(LOG_RATIO_TOLERANCE)
    }
}

impl MetricComparisonOutcome {
    /// Returns the median of the cells' ratios. For an even number of cells, the median is the
    /// geometric mean of the two middle ratios.
    pub(crate) fn median_ratio(&self) -> f64 {
        let mut ratios: Vec<f64> = self.cells.iter().map(|cell| cell.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (low, high) = ((ratios.len() - 1) / 2, ratios.len() / 2);
        (ratios[low] * ratios[high]).sqrt()
    }

    /// Returns the cell with the greatest ratio, which is the worst result for hushbin.
    pub(crate) fn worst_cell(&self) -> &MetricComparisonCell {
        let all = self.cells.iter();
        all.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
            .expect("there is a cell")
    }

    /// Returns the cells in which the competitor is better by more than chance explains.
    pub(crate) fn lost_cells(&self) -> impl Iterator<Item = &MetricComparisonCell> {
        self.cells.iter().filter(|cell| cell.is_lost())
    }
}

/// Returns the outcomes of an experiment's contests. Contests without any cell are left out.
pub(crate) fn metric_comparison_outcomes(
    experiment: &dyn Experiment,
    table: &MeasurementTable,
) -> Vec<MetricComparisonOutcome> {
    let all = experiment
        .compared_metrics()
        .into_iter()
        .map(|contest| MetricComparisonOutcome {
            cells: metric_comparison_cells(&contest, table),
            metric_comparison: contest,
        });
    all.filter(|outcome| !outcome.cells.is_empty()).collect()
}

fn metric_comparison_cells(
    contest: &MetricComparison,
    table: &MeasurementTable,
) -> Vec<MetricComparisonCell> {
    let rows: Vec<&AveragedRow> = table.rows_of(contest.estimand, contest.metric).collect();
    let mut points: Vec<MeasurementPoint> = Vec::new();
    for row in &rows {
        if !points.contains(&row.first_measurement.point) {
            points.push(row.first_measurement.point);
        }
    }
    let cell = |point: MeasurementPoint| {
        let here = || {
            rows.iter()
                .copied()
                .filter(|row| row.first_measurement.point == point)
        };
        let least = |a: &&AveragedRow, b: &&AveragedRow| a.mean_value.total_cmp(&b.mean_value);
        let asked = |row: &&AveragedRow| {
            contest
                .hushbin_mechanisms
                .contains(&row.first_measurement.mechanism.as_str())
        };
        let own = here().filter(asked).min_by(least)?;
        // hushbin's mechanisms that are not listed for this estimand count neither as hushbin's
        // best nor as competitors.
        let best = here()
            .filter(|row| !is_own_or_baseline(&row.first_measurement.mechanism))
            .min_by(least)?;
        let (logarithm, deviation) = log_ratio_and_error(contest, own, best);
        Some(MetricComparisonCell {
            point,
            hushbin_mechanism: own.first_measurement.mechanism.clone(),
            best_competitor: best.first_measurement.mechanism.clone(),
            ratio: logarithm.exp(),
            log_ratio_standard_error: deviation,
        })
    };
    points.into_iter().filter_map(cell).collect()
}

/// Returns true if a mechanism is not a competitor, because it is one of hushbin's mechanisms or
/// the baseline that answers 0.
fn is_own_or_baseline(mechanism: &str) -> bool {
    mechanism.starts_with("hushbin") || mechanism == "answering 0"
}

/// Returns the logarithm of a ratio, and the standard error of this logarithm. The ratio is
/// hushbin's error divided by the competitor's error.
fn log_ratio_and_error(
    contest: &MetricComparison,
    own: &AveragedRow,
    best: &AveragedRow,
) -> (f64, f64) {
    if contest.is_logarithmic {
        let deviation = own.standard_error.hypot(best.standard_error);
        return (own.mean_value - best.mean_value, deviation);
    }
    let relative = |row: &AveragedRow| row.standard_error / row.mean_value;
    (
        (own.mean_value / best.mean_value).ln(),
        relative(own).hypot(relative(best)),
    )
}
