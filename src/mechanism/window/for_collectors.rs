//! Window mechanism in task files and uploads, and the attributes that a report reveals.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::parameters::Window;
use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::for_each_drawn_item;
use crate::mechanism::collected_mechanism::CollectedMechanism;
use crate::mechanism::subset::BucketReport as Report;

/// Form of a [`Window`] in a task file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedWindowMechanism {
    drawn: u32,
    atoms: u32,
    favoured: u32,
    values: Vec<u32>,
}

impl Window {
    /// Number of levels that a number may be rounded to. It is t − k + 1 if a level favours k of t
    /// atoms.
    #[must_use]
    pub const fn level_count(&self) -> u32 {
        self.atoms_per_attribute() - self.favoured_atom_count() + 1
    }

    /// Sum of the values of the atoms that this level favours.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn favoured_atom_value_sum(&self, level: u32) -> i32 {
        assert!(level < self.level_count(), "level is {level}");
        let favoured = level..level + self.favoured_atom_count();
        favoured.map(|atom| self.atom_value(atom)).sum()
    }

    /// Values of the upper half of the atoms, ascending, as in a task file.
    #[must_use]
    pub fn upper_half_atom_values(&self) -> &[u32] {
        &self.upper_half_atom_values
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = SerializedWindowMechanism {
            drawn: self.drawn_attribute_count(),
            atoms: self.atoms_per_attribute(),
            favoured: self.favoured_atom_count(),
            values: self.upper_half_atom_values.clone(),
        };
        parts.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = SerializedWindowMechanism::deserialize(deserializer)?;
        Self::new(parts.drawn, parts.atoms, parts.favoured, parts.values).map_err(de::Error::custom)
    }
}

impl WriteCanonical for Window {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        for number in [
            self.drawn_attribute_count(),
            self.atoms_per_attribute(),
            self.favoured_atom_count(),
        ] {
            canonical.write_u64(u64::from(number));
        }
        canonical.write_u32_list(&self.upper_half_atom_values);
    }
}

impl CollectedMechanism for Window {
    fn effective_epsilon(&self, _: &Domain, epsilon: f64) -> f64 {
        self.thresholds(epsilon).effective_epsilon()
    }

    fn report_decoder(
        &self,
        _: &Domain,
        _: f64,
    ) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let cells = self.atom_combination_count();
        move |cursor| Report::decode(cursor, cells)
    }
}

impl Window {
    /// Creates a decoder of attributes and atoms for reports over `domain`.
    #[must_use]
    pub fn atom_decoder(&self, domain: &Domain) -> AtomDecoder {
        AtomDecoder {
            attribute_count: domain.item_count().unwrap_or(0),
            drawn_attribute_count: self.drawn_attribute_count(),
            atoms_per_attribute: self.atoms_per_attribute(),
            atom_combination_count: self.atom_combination_count(),
        }
    }
}

/// Decoder that finds the attributes that a report reveals and the atom of each, for one domain.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::{Report, Window};
///
/// let atom_decoder = Window::new(2, 5, 2, [1, 2]).unwrap().atom_decoder(&Domain::of_dense_inputs(5));
/// let mut atoms = Vec::new();
/// // The first attribute's atom is the first digit, of base 5.
/// let report = Report { seed: 7, bucket: 5 * 3 + 1 };
/// atom_decoder.for_each_atom(&report, |attribute, atom| atoms.push((attribute, atom)));
/// assert_eq!([atoms[0].1, atoms[1].1], [3, 1]);
/// assert_ne!(atoms[0].0, atoms[1].0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomDecoder {
    attribute_count: u32,
    drawn_attribute_count: u32,
    atoms_per_attribute: u32,
    atom_combination_count: u32,
}

impl AtomDecoder {
    /// Calls `visit` with each attribute that the report's seed draws, and the index of the
    /// attribute's atom.
    ///
    /// # Panics
    /// If the domain has fewer attributes than the mechanism draws.
    #[inline]
    pub fn for_each_atom(&self, report: &Report, mut visit: impl FnMut(u32, u32)) {
        let (mut cell, mut cells) = (report.bucket, self.atom_combination_count);
        for_each_drawn_item(
            report.seed,
            self.attribute_count,
            self.drawn_attribute_count,
            |attribute| {
                cells /= self.atoms_per_attribute;
                visit(attribute, cell / cells);
                cell %= cells;
            },
        );
    }
}
