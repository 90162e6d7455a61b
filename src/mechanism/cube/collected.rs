//! The cube in task files and in uploads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::Cube;
use super::report::{CornerReport as Report, bytes_of};
use super::thresholds::Thresholds;
use crate::canonical::{Canonical, Written};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collected::Collected;
use crate::sample::{Factors, realised_epsilon};

/// [`Cube`] as it stands in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CubeParts {
    drawn: u32,
    agreements: u32,
}

impl Serialize for Cube {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = CubeParts {
            drawn: self.drawn(),
            agreements: self.agreements(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cube {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let CubeParts { drawn, agreements } = CubeParts::deserialize(deserializer)?;
        Self::new(drawn, agreements).map_err(de::Error::custom)
    }
}

impl Thresholds {
    /// The probabilities of each favoured corner, and of each other.
    #[must_use]
    pub fn levels(&self) -> [f64; 2] {
        [
            self.inside.probability() / self.favoured as f64,
            self.inside.complement() / self.others as f64,
        ]
    }

    /// The realised local ε: ln of the probability of a favoured corner over that of
    /// another; rounded up, never above the requested.
    ///
    /// Corners are as many on either side whatever the input is, which is a mixture of
    /// corners, and the attributes are drawn without looking at it.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let inside = u128::from(self.inside.0);
        let corners = [
            Factors(inside, self.favoured),
            Factors((1 << 64) - inside, self.others),
        ];
        realised_epsilon(corners.into_iter(), self.epsilon)
    }
}

impl Written for Cube {
    fn write_canonical(&self, canonical: &mut Canonical) {
        canonical.number(u64::from(self.drawn()));
        canonical.number(u64::from(self.agreements()));
    }
}

impl Collected for Cube {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        self.thresholds(epsilon).effective_epsilon()
    }

    fn decoder(&self, _: &Domain, _: f64) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let drawn = self.drawn();
        move |cursor| Report::decode(cursor, drawn)
    }
}

impl Report {
    /// The next report, of so many signs.
    ///
    /// # Errors
    /// [`Error::Malformed`] where bytes are missing, or bits that stand for no sign are
    /// not 0.
    pub(super) fn decode(cursor: &mut Cursor<'_>, drawn: u32) -> Result<Self, Error> {
        let seed = u64::from_le_bytes(cursor.array("expected a seed of 8 bytes")?);
        let mut signs = 0;
        for index in 0..bytes_of(drawn) {
            let [byte] = cursor.array("expected a bit for each attribute drawn")?;
            signs |= u64::from(byte) << (8 * index);
        }
        if drawn < 64 && signs >> drawn != 0 {
            return Err(cursor.malformed("expected bits behind the last sign to be 0"));
        }
        Ok(Self { seed, drawn, signs })
    }
}
