//! Hash-bin in task files and in uploads.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::level::{Level, Noise};
use super::parameters::HashBin;
use super::report::{BinsReport as Report, Response};
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::Hashing;
use crate::mechanism::collected::CollectedMechanism;

/// Name of a [`Level`], as in a task file.
///
/// ```
/// use hushbin::mechanism::hash_bin::{Level, LevelName};
///
/// assert_eq!(Level::Event.name(), LevelName::Event);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// Name of [`Level::Event`].
    Event,
    /// Name of [`Level::Neighbouring`].
    Neighbouring,
    /// Name of [`Level::User`].
    User,
}

/// Form of a [`HashBin`] in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HashBinParts {
    level: LevelName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clip: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<Noise>,
    hashing: Hashing,
    bins: u32,
    grid: u32,
}

impl Serialize for HashBin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let level = self.level();
        let parts = HashBinParts {
            level: level.name(),
            distance: level.distance(),
            delta: level.delta(),
            clip: level.clip(),
            noise: level.noise(),
            hashing: self.hashing(),
            bins: self.bins(),
            grid: self.grid(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HashBin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let HashBinParts {
            level,
            distance,
            delta,
            clip,
            noise,
            hashing,
            bins,
            grid,
        } = HashBinParts::deserialize(deserializer)?;
        Level::from_parts(level, distance, delta, clip, noise)
            .and_then(|level| Self::new(level, hashing, bins, grid))
            .map_err(de::Error::custom)
    }
}

impl Level {
    /// Creates the level from a task file's fields.
    ///
    /// # Errors
    /// [`Error::Combination`] if a field is missing or belongs to another level.
    pub(crate) fn from_parts(
        name: LevelName,
        distance: Option<f64>,
        delta: Option<f64>,
        clip: Option<f64>,
        noise: Option<Noise>,
    ) -> Result<Self, Error> {
        let combination = |reason| Err(error!(Combination { reason }));
        if name != LevelName::Neighbouring && (distance.is_some() || delta.is_some()) {
            return combination("\"distance\" and \"delta\" belong to level \"neighbouring\"");
        }
        if name != LevelName::User && (clip.is_some() || noise.is_some()) {
            return combination("\"clip\" and \"noise\" belong to level \"user\"");
        }
        match (name, distance, clip, noise) {
            (LevelName::Event, ..) => Ok(Self::Event),
            (LevelName::Neighbouring, Some(distance), ..) => {
                Ok(Self::Neighbouring { distance, delta })
            }
            (LevelName::Neighbouring, None, ..) => {
                combination("level \"neighbouring\" needs a \"distance\"")
            }
            (LevelName::User, _, Some(clip), Some(noise)) => Ok(Self::User { clip, noise }),
            (LevelName::User, ..) => combination("level \"user\" needs a \"clip\" and a \"noise\""),
        }
    }

    /// Name of the level, as in a task file.
    #[must_use]
    pub const fn name(&self) -> LevelName {
        match self {
            Self::Event => LevelName::Event,
            Self::Neighbouring { .. } => LevelName::Neighbouring,
            Self::User { .. } => LevelName::User,
        }
    }

    /// Distance L, or `None` for levels without a distance.
    #[must_use]
    pub const fn distance(&self) -> Option<f64> {
        match self {
            Self::Neighbouring { distance, .. } => Some(*distance),
            Self::Event | Self::User { .. } => None,
        }
    }
}

impl WriteCanonical for HashBin {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        let (kind, amount) = match self.level() {
            Level::Event => (0, 0.0),
            Level::Neighbouring { distance, .. } => (1, distance),
            Level::User { clip, noise } => match noise {
                Noise::TwoPoint => (2, clip),
                Noise::Laplace => (3, clip),
            },
        };
        canonical.number(kind);
        canonical.number(amount.to_bits());
        canonical.number(self.level().delta().unwrap_or(0.0).to_bits());
        canonical.number(self.hashing().to_canonical());
        canonical.number(u64::from(self.bins()));
        canonical.number(u64::from(self.grid().trailing_zeros()));
    }
}

impl CollectedMechanism for HashBin {
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        self.sampling(domain.items(), epsilon).effective_epsilon()
    }

    fn decoder(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let bins = self.bins();
        let limit = self.sampling(domain.items(), epsilon).limit();
        move |cursor| Report::decode(cursor, bins, limit)
    }
}

impl Report {
    pub(super) fn decode(
        cursor: &mut Cursor<'_>,
        bins: u32,
        limit: Option<i64>,
    ) -> Result<Self, Error> {
        let seed = u64::from_le_bytes(cursor.read_array("expected a seed of 8 bytes")?);
        let Some(limit) = limit else {
            let response = Response::Sign(cursor.read("expected a sign, 0 or 1")?);
            return Ok(Self { seed, response });
        };
        // Reserve at most one number for each byte left, so that a short report cannot claim more
        // memory.
        let mut values = Vec::with_capacity((bins as usize).min(cursor.remaining()));
        for _ in 0..bins {
            let bin: i64 = cursor.read("expected a number for each of the task's bins")?;
            if bin.unsigned_abs() > limit.unsigned_abs() {
                return Err(cursor.malformed("expected a bin within what the noise reaches"));
            }
            values.push(bin);
        }
        let response = Response::Bins(values);
        Ok(Self { seed, response })
    }
}

/// Default grid Γ: bins are multiples of 1/1024.
pub const GRID: u32 = 1024;
