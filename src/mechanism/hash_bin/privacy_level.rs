//! Privacy levels of hash-bin.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::bounds;

/// Privacy level: the definition of neighbours, which are the pairs of inputs that the guarantee of
/// ε covers.
///
/// ```
/// use hushbin::mechanism::hash_bin::{PrivacyLevel, PrivacyLevelName, SumNoiseKind};
///
/// let level = PrivacyLevel::User { clip: 2.0, noise: SumNoiseKind::TwoPoint };
/// assert_eq!((level.name(), level.clipping_bound()), (PrivacyLevelName::User, Some(2.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PrivacyLevel {
    /// Inputs that differ in the value of one item. Protects each entry, but not a person's whole
    /// input.
    Event,
    /// Inputs whose values differ by at most L in total, summed over all items.
    Neighbouring {
        /// Distance L, within [`bounds::NEIGHBOUR_DISTANCE_RANGE`].
        distance: f64,
        /// Optional δ, within [`bounds::DELTA_RANGE`]. It reduces the noise if the number b of bins is
        /// small. The guarantee is then (ε, δ), and assumes that the sign hash is as good as
        /// random.
        delta: Option<f64>,
    },
    /// Any two inputs, as under Collision and CoCo. Requires a single bin, whose sum is clipped.
    /// Clipping biases estimates towards 0 if people have many entries.
    User {
        /// Clipping bound η: the sum is clipped to [−η, η]. It is within [`bounds::CLIPPING_BOUND_RANGE`], and a
        /// multiple of 1/Γ, the step of the grid.
        clip: f64,
        /// Randomisation of the clipped sum.
        noise: SumNoiseKind,
    },
}

/// Randomisation of a clipped sum B at user level. B is in [−η, η], where η is the clipping bound.
///
/// ```
/// use hushbin::mechanism::hash_bin::SumNoiseKind;
///
/// assert_eq!(serde_json::to_string(&SumNoiseKind::TwoPoint).unwrap(), r#""two-point""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SumNoiseKind {
    /// Response +A or −A to a sum B that is clipped to [−η, η]. Here A = η(e + 1)/(e − 1) and e =
    /// exp(ε). The probability of +A is 1/2 + B/(2A). The variance is A² − B².
    TwoPoint,
    /// Discrete Laplace noise of scale 2η/ε, where η is the clipping bound. The variance is 8η²/ε².
    Laplace,
}

impl PrivacyLevel {
    /// Probability δ, or `None` if the level has no δ.
    pub(crate) const fn delta(&self) -> Option<f64> {
        match self {
            Self::Neighbouring { delta, .. } => *delta,
            Self::Event | Self::User { .. } => None,
        }
    }

    /// Clipping bound η at user level, else `None`.
    #[must_use]
    pub const fn clipping_bound(&self) -> Option<f64> {
        match self {
            Self::User { clip, .. } => Some(*clip),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }

    /// Randomisation of the clipped sum at user level. `None` at other levels, which add Laplace
    /// noise to every bin.
    #[must_use]
    pub const fn sum_noise_kind(&self) -> Option<SumNoiseKind> {
        match self {
            Self::User { noise, .. } => Some(*noise),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }
}
