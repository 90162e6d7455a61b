//! Numbers that are measured, and where.

use serde::{Deserialize, Serialize};

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
    /// What else an experiment varies, such as t or L, if anything.
    pub(crate) parameter: f64,
}

impl Point {
    /// Names of the columns of tables that say where.
    pub(crate) const COLUMNS: [&str; 6] = [
        "people",
        "items",
        "sparsity",
        "epsilon",
        "delta",
        "parameter",
    ];

    /// What is in them.
    pub(crate) fn columns(&self) -> [String; 6] {
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

impl Measured {
    /// Of a mechanism at a point.
    pub(crate) fn new(
        point: Point,
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

/// The metric of mean squared errors.
pub(crate) const MSE: &str = "MSE";
/// That of the length of a report.
pub(crate) const BYTES: &str = "bytes";
