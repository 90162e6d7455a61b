//! What a report of hash-bin protects.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::bounds;

/// A notion of neighbours: the pairs of inputs that a report hardly tells apart.
///
/// ```
/// use hushbin::mechanism::hash_bin::{Level, LevelName, Noise};
///
/// let level = Level::User { clip: 2.0, noise: Noise::TwoPoint };
/// assert_eq!((level.name(), level.clip()), (LevelName::User, Some(2.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Inputs that differ in the value of one item. Protects every entry by
    /// itself, but not a person's whole input.
    Event,
    /// Inputs whose values differ by at most L in sum.
    Neighbouring {
        /// L, [`bounds::DISTANCE`].
        distance: f64,
        /// With δ, [`bounds::DELTA`], noise is less where b is small; then the guarantee is (ε, δ),
        /// and δ rests on the sign hash being as good as random.
        delta: Option<f64>,
    },
    /// Any two inputs, as under the mechanisms of buckets. Takes one bin, whose sum is clipped:
    /// that biases estimates of people with many entries towards 0.
    User {
        /// η, [`bounds::CLIP`], a multiple of 1/Γ.
        clip: f64,
        /// How the clipped sum is randomised.
        noise: Noise,
    },
}

/// The response to a clipped sum B, in [−η, η], at user level.
///
/// ```
/// use hushbin::mechanism::hash_bin::Noise;
///
/// assert_eq!(serde_json::to_string(&Noise::TwoPoint).unwrap(), r#""two-point""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Plus or minus A = η(e + 1)/(e − 1), plus with probability 1/2 + B/(2A): variance A² − B².
    TwoPoint,
    /// Discrete Laplace noise of scale 2η/ε: variance 8η²/ε².
    Laplace,
}

impl Level {
    /// δ, where there is one.
    pub(crate) const fn delta(&self) -> Option<f64> {
        match self {
            Self::Neighbouring { delta, .. } => *delta,
            Self::Event | Self::User { .. } => None,
        }
    }

    /// η, at user level.
    #[must_use]
    pub const fn clip(&self) -> Option<f64> {
        match self {
            Self::User { clip, .. } => Some(*clip),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }

    /// How the sum is randomised, at user level; elsewhere noise is Laplace.
    #[must_use]
    pub const fn noise(&self) -> Option<Noise> {
        match self {
            Self::User { noise, .. } => Some(*noise),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }
}
