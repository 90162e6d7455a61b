//! Hash-bin in task files and in uploads.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::HashBin;
use super::privacy_level::{PrivacyLevel, SumNoiseKind};
use super::report::{HashBinReport as Report, RandomisedResponse};
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::HashFamily;
use crate::mechanism::collected_mechanism::CollectedMechanism;

/// Name of a [`PrivacyLevel`], as in a task file.
///
/// ```
/// use hushbin::mechanism::hash_bin::{PrivacyLevel, PrivacyLevelName};
///
/// assert_eq!(PrivacyLevel::Event.name(), PrivacyLevelName::Event);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivacyLevelName {
    /// Name of [`PrivacyLevel::Event`].
    Event,
    /// Name of [`PrivacyLevel::Neighbouring`].
    Neighbouring,
    /// Name of [`PrivacyLevel::User`].
    User,
}

/// Form of a [`HashBin`] in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedHashBin {
    level: PrivacyLevelName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clip: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<SumNoiseKind>,
    hashing: HashFamily,
    bins: u32,
    grid: u32,
}

impl Serialize for HashBin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let level = self.privacy_level();
        let parts = SerializedHashBin {
            level: level.name(),
            distance: level.neighbour_distance(),
            delta: level.delta(),
            clip: level.clipping_bound(),
            noise: level.sum_noise_kind(),
            hashing: self.hash_family(),
            bins: self.bin_count(),
            grid: self.grid_steps(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HashBin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SerializedHashBin {
            level,
            distance,
            delta,
            clip,
            noise,
            hashing,
            bins,
            grid,
        } = SerializedHashBin::deserialize(deserializer)?;
        PrivacyLevel::from_file_fields(level, distance, delta, clip, noise)
            .and_then(|level| Self::new(level, hashing, bins, grid))
            .map_err(de::Error::custom)
    }
}

impl PrivacyLevel {
    /// Creates the level from a task file's fields.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if a field is missing or belongs to another level.
    pub(crate) fn from_file_fields(
        name: PrivacyLevelName,
        distance: Option<f64>,
        delta: Option<f64>,
        clip: Option<f64>,
        noise: Option<SumNoiseKind>,
    ) -> Result<Self, Error> {
        let combination = |reason| Err(error!(InvalidCombination { reason }));
        if name != PrivacyLevelName::Neighbouring && (distance.is_some() || delta.is_some()) {
            return combination("\"distance\" and \"delta\" are only for level \"neighbouring\"");
        }
        if name != PrivacyLevelName::User && (clip.is_some() || noise.is_some()) {
            return combination("\"clip\" and \"noise\" are only for level \"user\"");
        }
        match (name, distance, clip, noise) {
            (PrivacyLevelName::Event, ..) => Ok(Self::Event),
            (PrivacyLevelName::Neighbouring, Some(distance), ..) => {
                Ok(Self::Neighbouring { distance, delta })
            }
            (PrivacyLevelName::Neighbouring, None, ..) => {
                combination("level \"neighbouring\" needs a \"distance\"")
            }
            (PrivacyLevelName::User, _, Some(clip), Some(noise)) => Ok(Self::User { clip, noise }),
            (PrivacyLevelName::User, ..) => {
                combination("level \"user\" needs a \"clip\" and a \"noise\"")
            }
        }
    }

    /// Name of the level, as in a task file.
    #[must_use]
    pub const fn name(&self) -> PrivacyLevelName {
        match self {
            Self::Event => PrivacyLevelName::Event,
            Self::Neighbouring { .. } => PrivacyLevelName::Neighbouring,
            Self::User { .. } => PrivacyLevelName::User,
        }
    }

    /// Distance L, or `None` for levels without a distance.
    #[must_use]
    pub const fn neighbour_distance(&self) -> Option<f64> {
        match self {
            Self::Neighbouring { distance, .. } => Some(*distance),
            Self::Event | Self::User { .. } => None,
        }
    }
}

impl WriteCanonical for HashBin {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        let (kind, amount) = match self.privacy_level() {
            PrivacyLevel::Event => (0, 0.0),
            PrivacyLevel::Neighbouring { distance, .. } => (1, distance),
            PrivacyLevel::User { clip, noise } => match noise {
                SumNoiseKind::TwoPoint => (2, clip),
                SumNoiseKind::Laplace => (3, clip),
            },
        };
        canonical.write_u64(kind);
        canonical.write_u64(amount.to_bits());
        canonical.write_u64(self.privacy_level().delta().unwrap_or(0.0).to_bits());
        canonical.write_u64(self.hash_family().to_canonical_code());
        canonical.write_u64(u64::from(self.bin_count()));
        canonical.write_u64(u64::from(self.grid_steps().trailing_zeros()));
    }
}

impl CollectedMechanism for HashBin {
    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        self.response_distribution(domain.item_count(), epsilon)
            .effective_epsilon()
    }

    fn report_decoder(
        &self,
        domain: &Domain,
        epsilon: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let bins = self.bin_count();
        let limit = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit();
        move |cursor| Report::decode_report(cursor, bins, limit)
    }
}

impl Report {
    pub(super) fn decode_report(
        cursor: &mut Cursor<'_>,
        bins: u32,
        limit: Option<i64>,
    ) -> Result<Self, Error> {
        let seed = u64::from_le_bytes(cursor.read_array("expected a seed of 8 bytes")?);
        let Some(limit) = limit else {
            let response = RandomisedResponse::Sign(cursor.read_value("expected a sign, 0 or 1")?);
            return Ok(Self { seed, response });
        };
        // Reserve at most one number for each byte left, so that a short report cannot claim more
        // memory.
        let mut values = Vec::with_capacity((bins as usize).min(cursor.remaining()));
        for _ in 0..bins {
            let bin: i64 = cursor.read_value("expected a number for each of the task's bins")?;
            if bin.unsigned_abs() > limit.unsigned_abs() {
                return Err(cursor.malformed_error("expected a bin within the limit of noisy bins"));
            }
            values.push(bin);
        }
        let response = RandomisedResponse::Bins(values);
        Ok(Self { seed, response })
    }
}

/// Default grid Γ: bins are multiples of 1/1024.
pub const DEFAULT_GRID_STEPS_PER_UNIT: u32 = 1024;
