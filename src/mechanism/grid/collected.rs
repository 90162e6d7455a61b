//! The grid in task files and in uploads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::Grid;
use crate::canonical::{Canonical, Written};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collected::Collected;
use crate::mechanism::subset::BucketReport as Report;

/// [`Grid`] as it stands in a task file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridParts {
    drawn: u32,
    steps: u32,
}

impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = GridParts {
            drawn: self.drawn(),
            steps: self.steps(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let GridParts { drawn, steps } = GridParts::deserialize(deserializer)?;
        Self::new(drawn, steps).map_err(de::Error::custom)
    }
}

impl Written for Grid {
    fn write_canonical(&self, canonical: &mut Canonical) {
        canonical.number(u64::from(self.drawn()));
        canonical.number(u64::from(self.steps()));
    }
}

impl Collected for Grid {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        self.thresholds(epsilon).effective_epsilon()
    }

    fn decoder(&self, _: &Domain, _: f64) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let cells = self.cells();
        move |cursor| Report::decode(cursor, cells)
    }
}

impl Grid {
    /// The value of a level, from −1 for 0 to 1 for r.
    #[must_use]
    pub fn value(&self, level: u32) -> f64 {
        2.0 * f64::from(level) / f64::from(self.steps()) - 1.0
    }
}
