//! Privacy levels of hash-bin.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::bounds;

/// Notion of neighbours: the pairs of inputs that the guarantee of ε covers.
///
/// ```
/// use hushbin::mechanism::hash_bin::{Level, LevelName, Noise};
///
/// let level = Level::User { clip: 2.0, noise: Noise::TwoPoint };
/// assert_eq!((level.name(), level.clip()), (LevelName::User, Some(2.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Inputs that differ in the value of one item. Protects each entry, but not a person's whole
    /// input.
    Event,
    /// Inputs whose values differ by at most L in sum.
    Neighbouring {
        /// Distance L, within [`bounds::DISTANCE`].
        distance: f64,
        /// Optional δ, within [`bounds::DELTA`], which reduces the noise if b is small. The
        /// guarantee is then (ε, δ), and δ assumes that the sign hash is as good as random.
        delta: Option<f64>,
    },
    /// Any two inputs, as under the mechanisms of buckets. Requires one bin, whose sum is clipped.
    /// Clipping biases the estimates of people with many entries towards 0.
    User {
        /// Clip η, within [`bounds::CLIP`] and a multiple of 1/Γ.
        clip: f64,
        /// Randomisation of the clipped sum.
        noise: Noise,
    },
}

/// Response to a clipped sum B, in [−η, η], at user level.
///
/// ```
/// use hushbin::mechanism::hash_bin::Noise;
///
/// assert_eq!(serde_json::to_string(&Noise::TwoPoint).unwrap(), r#""two-point""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Response ±A, where A = η(e + 1)/(e − 1). Plus has probability 1/2 + B/(2A). The variance is
    /// A² − B².
    TwoPoint,
    /// Discrete Laplace noise of scale 2η/ε. The variance is 8η²/ε².
    Laplace,
}

impl Level {
    /// Probability δ, or `None` for a level without one.
    pub(crate) const fn delta(&self) -> Option<f64> {
        match self {
            Self::Neighbouring { delta, .. } => *delta,
            Self::Event | Self::User { .. } => None,
        }
    }

    /// Clip η at user level, else `None`.
    #[must_use]
    pub const fn clip(&self) -> Option<f64> {
        match self {
            Self::User { clip, .. } => Some(*clip),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }

    /// Randomisation of the sum at user level, else `None`; other levels have Laplace noise.
    #[must_use]
    pub const fn noise(&self) -> Option<Noise> {
        match self {
            Self::User { noise, .. } => Some(*noise),
            Self::Event | Self::Neighbouring { .. } => None,
        }
    }
}
