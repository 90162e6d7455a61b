//! The window in task files and in uploads.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::Window;
use super::thresholds::Thresholds;
use crate::canonical::{Canonical, Written};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::collected::Collected;
use crate::mechanism::subset::BucketReport as Report;
use crate::sample::{Factors, realised_epsilon};

/// [`Window`] as it stands in a task file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowParts {
    drawn: u32,
    atoms: u32,
    favoured: u32,
    values: Vec<u32>,
}

impl Window {
    /// N = t − k + 1, how many levels a number may become.
    #[must_use]
    pub const fn levels(&self) -> u32 {
        self.atoms() - self.favoured() + 1
    }

    /// Wᵢ, the sum of the values that level i favours.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn sum(&self, level: u32) -> i32 {
        assert!(level < self.levels(), "level is {level}");
        let favoured = level..level + self.favoured();
        favoured.map(|atom| self.value(atom)).sum()
    }

    /// The values of the atoms of the upper half, as in a task file.
    #[must_use]
    pub fn values(&self) -> &[u32] {
        &self.values
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = WindowParts {
            drawn: self.drawn(),
            atoms: self.atoms(),
            favoured: self.favoured(),
            values: self.values.clone(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = WindowParts::deserialize(deserializer)?;
        Self::new(parts.drawn, parts.atoms, parts.favoured, parts.values).map_err(de::Error::custom)
    }
}

impl Written for Window {
    fn write_canonical(&self, canonical: &mut Canonical) {
        for number in [self.drawn(), self.atoms(), self.favoured()] {
            canonical.number(u64::from(number));
        }
        canonical.list(&self.values);
    }
}

impl Thresholds {
    /// The probabilities of each favoured cell, and of each other.
    #[must_use]
    pub fn levels(&self) -> [f64; 2] {
        [
            self.inside().probability() / f64::from(self.favoured),
            self.inside().complement() / f64::from(self.others),
        ]
    }

    /// The realised local ε: ln of the probability of a favoured cell over that of another;
    /// rounded up, never above the requested ε.
    ///
    /// Every level favours as many cells, a number between levels is a mixture of them, and
    /// the seed draws the attributes without looking at the input.
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        let inside = u128::from(self.inside().0);
        let cells = [
            Factors(inside, self.favoured.into()),
            Factors((1 << 64) - inside, self.others.into()),
        ];
        realised_epsilon(cells.into_iter(), self.epsilon)
    }
}

impl Collected for Window {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        self.thresholds(epsilon).effective_epsilon()
    }

    fn decoder(&self, _: &Domain, _: f64) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let cells = self.cells();
        move |cursor| Report::decode(cursor, cells)
    }
}
