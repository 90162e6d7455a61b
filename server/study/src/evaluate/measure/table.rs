//! Table of measurements, averaged over repeats.

use std::collections::HashMap;

use super::measurement::{Measurement, MeasurementPoint};
use crate::figure::Curve;

/// Table of an experiment's measurements, averaged over repeats. Rows are in the order of their
/// first measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MeasurementTable {
    rows: Vec<AveragedRow>,
}

/// Row of a table: the average of a measured value over repeats.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AveragedRow {
    /// First measurement of the row. All measurements of the row have the same parameters and
    /// names, but different values.
    pub(crate) first_measurement: Measurement,
    /// Number of repeats.
    pub(crate) repeat_count: u64,
    /// Mean of the value over repeats.
    pub(crate) mean_value: f64,
    /// Standard error of the mean, from the spread of the repeats; 0 for a single repeat.
    pub(crate) standard_error: f64,
}

/// Values of a row before they are averaged.
#[derive(Debug, Clone)]
struct RowValues {
    first_measurement: Measurement,
    values: Vec<f64>,
}

impl MeasurementTable {
    /// Creates the table by averaging measurements that differ only in the values. The
    /// measurements must be in the order of units.
    pub(crate) fn new(measured: impl IntoIterator<Item = Measurement>) -> Self {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut sums: Vec<RowValues> = Vec::new();
        for own in measured {
            let key = row_key(&own);
            let place = *places.entry(key).or_insert(sums.len());
            if place == sums.len() {
                let values = Vec::new();
                sums.push(RowValues {
                    first_measurement: own.clone(),
                    values,
                });
            }
            sums[place].values.push(own.value);
        }
        Self {
            rows: sums.into_iter().map(AveragedRow::new).collect(),
        }
    }

    /// Returns all rows of the table.
    pub(crate) fn rows(&self) -> &[AveragedRow] {
        &self.rows
    }

    /// Returns the rows that have this estimand and this metric.
    pub(crate) fn rows_of<'a>(
        &'a self,
        estimand: &'a str,
        metric: &'a str,
    ) -> impl Iterator<Item = &'a AveragedRow> {
        let wanted = move |row: &&AveragedRow| {
            row.first_measurement.estimand == estimand && row.first_measurement.metric == metric
        };
        self.rows.iter().filter(wanted)
    }

    /// Returns a curve for each mechanism, in the order of rows. Only points that pass `wanted` are
    /// included; `x_value` returns the x coordinate.
    pub(crate) fn mechanism_curves(
        &self,
        estimand: &str,
        metric: &str,
        wanted: impl Fn(&MeasurementPoint) -> bool,
        x_value: impl Fn(&MeasurementPoint) -> f64,
    ) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for row in self.rows_of(estimand, metric) {
            if !wanted(&row.first_measurement.point) {
                continue;
            }
            let label = &row.first_measurement.mechanism;
            let own = curves.iter_mut().find(|curve| curve.label == *label);
            let point = [
                x_value(&row.first_measurement.point),
                row.mean_value,
                row.standard_error,
            ];
            match own {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    label: label.clone(),
                    points: vec![point],
                }),
            }
        }
        for curve in &mut curves {
            // Rows are in the order of measurement, but a curve runs from left to right.
            curve.points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        }
        curves
    }
}

impl AveragedRow {
    fn new(
        RowValues {
            first_measurement: first,
            values,
        }: RowValues,
    ) -> Self {
        let repeats = values.len() as f64;
        let mean = values.iter().sum::<f64>() / repeats;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if values.len() > 1 {
            (squares / (repeats - 1.0) / repeats).sqrt()
        } else {
            0.0
        };
        Self {
            first_measurement: first,
            repeat_count: values.len() as u64,
            mean_value: mean,
            standard_error,
        }
    }
}

/// Returns the key of the row to which a measurement belongs. It consists of everything except the
/// measured value.
fn row_key(own: &Measurement) -> String {
    let Measurement {
        point,
        mechanism,
        estimand,
        metric,
        ..
    } = own;
    format!("{point:?} {mechanism} {estimand} {metric}")
}
