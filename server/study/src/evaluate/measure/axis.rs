//! What figures are over.

use super::experiment::Point;
use super::size::Size;

/// δ of figures over ε.
pub(crate) const DELTA: f64 = 1e-6;
/// ε of figures over δ.
pub(crate) const EPSILON: f64 = 1.0;

/// Label of an error beyond that of the same people's run without privacy.
pub(crate) const GAP: &str = "above the run without privacy";

/// What a figure is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// ε, at a δ of [`DELTA`].
    Epsilon,
    /// δ, at an ε of [`EPSILON`].
    Delta,
}

impl Axis {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::Epsilon, Self::Delta];

    /// The label.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Epsilon => "ε",
            Self::Delta => "δ",
        }
    }

    /// As in names of files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Delta => "delta",
        }
    }

    /// What a figure says that is over it.
    pub(crate) fn over(self) -> String {
        match self {
            Self::Epsilon => format!("over ε, at δ = {DELTA:e}"),
            Self::Delta => format!("over δ, at ε = {EPSILON}"),
        }
    }

    /// Whether a figure over it shows a point.
    pub(crate) fn is_at(self, point: &Point) -> bool {
        match self {
            Self::Epsilon => point.delta == DELTA,
            Self::Delta => point.epsilon == EPSILON,
        }
    }

    /// Where.
    pub(crate) const fn right(self, point: &Point) -> f64 {
        match self {
            Self::Epsilon => point.epsilon,
            Self::Delta => point.delta,
        }
    }
}

/// ε of figures over it.
pub(crate) fn epsilons(size: Size) -> &'static [f64] {
    size.pick(
        &[0.5, 1.0, 4.0],
        &[0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0],
    )
}
