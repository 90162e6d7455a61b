//! What a report of the window says of which attributes.

use super::parameters::Window;
use crate::domain::Domain;
use crate::hash::for_each_drawn;
use crate::mechanism::subset::BucketReport as Report;

impl Window {
    /// Prepares the decoding of reports over `domain`.
    #[must_use]
    pub fn support(&self, domain: &Domain) -> Support {
        Support {
            attributes: domain.items().unwrap_or(0),
            drawn: self.drawn(),
            atoms: self.atoms(),
            cells: self.cells(),
        }
    }
}

/// The attributes that reports tell of, over one domain.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::window::{Report, Window};
///
/// let support = Window::new(2, 5, 2, [1, 2]).unwrap().support(&Domain::dense(5));
/// let mut atoms = Vec::new();
/// // The first attribute's atom is the first digit, of base 5.
/// let report = Report { seed: 7, bucket: 5 * 3 + 1 };
/// support.for_each_atom(&report, |attribute, atom| atoms.push((attribute, atom)));
/// assert_eq!([atoms[0].1, atoms[1].1], [3, 1]);
/// assert_ne!(atoms[0].0, atoms[1].0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    attributes: u32,
    drawn: u32,
    atoms: u32,
    cells: u32,
}

impl Support {
    /// Calls `visit` with each attribute that is drawn, and its atom, from 0 to t − 1.
    ///
    /// # Panics
    /// If there are fewer attributes than are drawn.
    #[inline]
    pub fn for_each_atom(&self, report: &Report, mut visit: impl FnMut(u32, u32)) {
        let (mut cell, mut cells) = (report.bucket, self.cells);
        for_each_drawn(report.seed, self.attributes, self.drawn, |attribute| {
            cells /= self.atoms;
            visit(attribute, cell / cells);
            cell %= cells;
        });
    }
}
