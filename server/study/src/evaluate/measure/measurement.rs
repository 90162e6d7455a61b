//! Measured values, with the parameters of the measurement.

use serde::{Deserialize, Serialize};

/// Parameters of a measurement: the parameters of the crowd, and of the question that the crowd
/// answers.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub(crate) struct MeasurementPoint {
    /// Number of people n.
    pub(crate) people: u64,
    /// Number of items d, or of options.
    pub(crate) items: u32,
    /// Sparsity s, or the number of entries that each person has; 1 for a single answer.
    pub(crate) sparsity: u32,
    /// Local ε of one report.
    pub(crate) epsilon: f64,
    /// δ of one report or of a batch; 0 if there is none.
    pub(crate) delta: f64,
    /// Further parameter that an experiment varies, such as the number of buckets t or the distance
    /// L; 0 if there is none.
    pub(crate) parameter: f64,
}

impl MeasurementPoint {
    /// Names of the columns of a point in tables.
    pub(crate) const COLUMNS: [&str; 6] = [
        "people",
        "items",
        "sparsity",
        "epsilon",
        "delta",
        "parameter",
    ];

    /// Returns the values of the columns [`Self::COLUMNS`].
    pub(crate) fn column_values(&self) -> [String; 6] {
        [
            self.people.to_string(),
            self.items.to_string(),
            self.sparsity.to_string(),
            self.epsilon.to_string(),
            self.delta.to_string(),
            self.parameter.to_string(),
        ]
    }
}

/// Value that a unit measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Parameters of the measurement.
    #[serde(flatten)]
    pub(crate) point: MeasurementPoint,
    /// Name of the mechanism in figures.
    pub(crate) mechanism: String,
    /// Estimated quantity and the post-processing of the estimates, such as `mean` or `frequency,
    /// simplex`.
    pub(crate) estimand: String,
    /// Name of the measured value, such as `ln TVE` or `MSE`.
    pub(crate) metric: String,
    /// Measured value.
    pub(crate) value: f64,
}

impl Measurement {
    /// Creates the measured value of a metric, for a mechanism and an estimand at a point.
    pub(crate) fn new(
        point: MeasurementPoint,
        mechanism: impl Into<String>,
        estimand: &str,
        metric: &str,
        value: f64,
    ) -> Self {
        Self {
            point,
            mechanism: mechanism.into(),
            estimand: estimand.to_owned(),
            metric: metric.to_owned(),
            value,
        }
    }
}

/// Name of the metric of mean squared errors.
pub(crate) const MSE: &str = "MSE";
/// Name of the metric of a report's length in bytes.
pub(crate) const REPORT_BYTES_METRIC: &str = "bytes";
