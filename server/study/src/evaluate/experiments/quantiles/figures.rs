//! Figures of the experiment on quantiles. They show errors relative to Square Wave, and variances
//! relative to the lower bound.

use super::computed::{COMPUTED_CELL_COUNTS, SHARES_BELOW_ESTIMAND, VARIANCE_OVER_BOUND_METRIC};
use super::mechanisms::{BIN_CHOICE_NAME, HIERARCHY_NAME, PATTERN_NAME, SQUARE_WAVE_NAME};
use crate::evaluate::crowd::number::NUMBER_CROWDS;
use crate::evaluate::measure::experiment::{Figure, MeasurementPoint, Panel};
use crate::evaluate::measure::measurement::MSE;
use crate::evaluate::measure::table::{AveragedRow, MeasurementTable};
use crate::figure::Curve;

/// Names of the quantiles in tables and figures.
const QUANTILE_NAMES: [&str; 3] = ["p50", "p75", "p95"];
const ERROR_OVER_SQUARE_WAVE_LABEL: &str = "root mean square error relative to Square Wave, EMS";

/// Creates the figures: the errors of quantiles relative to the errors of Square Wave, and
/// variances relative to the lower bound.
pub(super) fn quantile_figures(
    table: &MeasurementTable,
    people: &[u64],
    epsilons: &[f64],
) -> Vec<Figure> {
    let errors = (0..QUANTILE_NAMES.len()).map(|at| Figure {
        name: format!("quantiles-{}", QUANTILE_NAMES[at]),
        title: format!(
            "Error of {} relative to Square Wave, geometric mean over crowds",
            QUANTILE_NAMES[at]
        ),
        x_label: "ε",
        y_label: ERROR_OVER_SQUARE_WAVE_LABEL,
        are_x_and_y_logarithmic: [true, true],
        panels: (people.iter().map(|&people| Panel {
            title: format!("n = {people}"),
            curves: (PLOTTED_MECHANISM_NAMES.iter())
                .map(|mechanism| {
                    rmse_over_square_wave_curve(table, at, mechanism, people, epsilons)
                })
                .collect(),
        }))
        .collect(),
    });
    let panel = |cells: u32| Panel {
        title: format!("K = {cells}"),
        curves: table.mechanism_curves(
            SHARES_BELOW_ESTIMAND,
            VARIANCE_OVER_BOUND_METRIC,
            |point| point.items == cells,
            |point| point.epsilon,
        ),
    };
    let bound = Figure {
        name: "quantiles-bound".to_owned(),
        title: "Mean variance of the shares below edges, relative to the lower bound".to_owned(),
        x_label: "ε",
        y_label: VARIANCE_OVER_BOUND_METRIC,
        are_x_and_y_logarithmic: [true, true],
        panels: COMPUTED_CELL_COUNTS.map(panel).into(),
    };
    errors.chain([bound]).collect()
}

const PLOTTED_MECHANISM_NAMES: [&str; 3] = [PATTERN_NAME, HIERARCHY_NAME, BIN_CHOICE_NAME];

fn rmse_over_square_wave_curve(
    table: &MeasurementTable,
    at: usize,
    mechanism: &str,
    people: u64,
    epsilons: &[f64],
) -> Curve {
    let mut points: Vec<[f64; 3]> = (epsilons.iter())
        .map(|&epsilon| {
            let [mean, error] = mean_rmse_over_square_wave(table, at, mechanism, people, epsilon);
            [epsilon, mean, error]
        })
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Curve {
        label: mechanism.to_owned(),
        points,
    }
}

/// Returns a mechanism's root mean square error divided by the error of Square Wave, and the
/// standard error of this ratio. The ratio is a geometric mean over crowds.
pub(super) fn mean_rmse_over_square_wave(
    table: &MeasurementTable,
    at: usize,
    mechanism: &str,
    people: u64,
    epsilon: f64,
) -> [f64; 2] {
    let is_here = |point: &MeasurementPoint| point.people == people && point.epsilon == epsilon;
    let (mut sum, mut variance, mut count) = (0.0, 0.0, 0.0);
    for crowd in NUMBER_CROWDS {
        let of = |name: &str| {
            let mut rows = table.rows_of(crowd.quantile_estimand_names[at], MSE);
            rows.find(|row| {
                row.first_measurement.mechanism == name && is_here(&row.first_measurement.point)
            })
        };
        let (Some(own), Some(wave)) = (of(mechanism), of(SQUARE_WAVE_NAME)) else {
            continue;
        };
        let relative = |row: &AveragedRow| row.standard_error / row.mean_value;
        // The metric is a mean square, so half of its logarithm is the logarithm of the root mean
        // square.
        sum += 0.5 * (own.mean_value / wave.mean_value).ln();
        variance += 0.25 * (relative(own).powi(2) + relative(wave).powi(2));
        count += 1.0;
    }
    // Delta method: the standard error of a logarithm is the relative standard error.
    let mean = f64::exp(sum / count);
    [mean, mean * variance.sqrt() / count]
}
