//! Horizontal axes of figures.

use super::experiment::MeasurementPoint;
use super::size::StudySize;

/// Fixed δ in figures whose horizontal axis is ε.
pub(crate) const FIXED_DELTA: f64 = 1e-6;
/// Fixed ε in figures whose horizontal axis is δ.
pub(crate) const FIXED_EPSILON: f64 = 1.0;

/// Metric: error minus the error of the run without privacy on the same people.
pub(crate) const PRIVACY_EXCESS_ERROR_METRIC: &str = "above the run without privacy";

/// Quantity on the horizontal axis of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BudgetAxis {
    /// Axis of ε, with δ fixed at [`FIXED_DELTA`].
    Epsilon,
    /// Axis of δ, with ε fixed at [`FIXED_EPSILON`].
    Delta,
}

impl BudgetAxis {
    /// List of both axes.
    pub(crate) const ALL: [Self; 2] = [Self::Epsilon, Self::Delta];

    /// Label of the axis in figures.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Epsilon => "ε",
            Self::Delta => "δ",
        }
    }

    /// Name of the axis in file names.
    pub(crate) const fn file_suffix(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Delta => "delta",
        }
    }

    /// Phrase for a figure's title that names the axis and the fixed parameter.
    pub(crate) fn title_suffix(self) -> String {
        match self {
            Self::Epsilon => format!("over ε, at δ = {FIXED_DELTA:e}"),
            Self::Delta => format!("over δ, at ε = {FIXED_EPSILON}"),
        }
    }

    /// Returns true if a figure over this axis shows the point.
    pub(crate) fn includes_point(self, point: &MeasurementPoint) -> bool {
        match self {
            Self::Epsilon => point.delta == FIXED_DELTA,
            Self::Delta => point.epsilon == FIXED_EPSILON,
        }
    }

    /// Returns the x coordinate of a point.
    pub(crate) const fn x_value(self, point: &MeasurementPoint) -> f64 {
        match self {
            Self::Epsilon => point.epsilon,
            Self::Delta => point.delta,
        }
    }
}

/// Returns the values of ε that figures over ε show.
pub(crate) fn plotted_epsilons(size: StudySize) -> &'static [f64] {
    size.quick_or_full(
        &[0.5, 1.0, 4.0],
        &[0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0],
    )
}
