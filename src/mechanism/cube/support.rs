//! What a report of the cube says of which attributes.

use super::parameters::Cube;
use super::report::CornerReport as Report;
use crate::domain::Domain;
use crate::hash::for_each_drawn;

impl Cube {
    /// Prepares the decoding of reports over `domain`.
    #[must_use]
    pub fn support(&self, domain: &Domain) -> Support {
        Support {
            attributes: domain.items().unwrap_or(0),
            drawn: self.drawn(),
        }
    }
}

/// The attributes that reports are about, over one domain.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::cube::{Cube, Report};
///
/// let support = Cube::new(2, 2).unwrap().support(&Domain::dense(5));
/// let mut signs = Vec::new();
/// let report = Report { seed: 7, drawn: 2, signs: 0b01 };
/// support.for_each_sign(&report, |attribute, plus| signs.push((attribute, plus)));
/// assert!(signs[0].1 && !signs[1].1);
/// assert_ne!(signs[0].0, signs[1].0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    attributes: u32,
    drawn: u32,
}

impl Support {
    /// Calls `visit` with the attributes that a seed draws, in their order.
    ///
    /// # Panics
    /// If fewer are there than are drawn.
    #[inline]
    pub fn for_each_attribute(&self, seed: u64, visit: impl FnMut(u32)) {
        for_each_drawn(seed, self.attributes, self.drawn, visit);
    }

    /// Calls `visit` with each attribute that is drawn, and whether its sign is plus.
    ///
    /// # Panics
    /// As [`Support::for_each_attribute`].
    #[inline]
    pub fn for_each_sign(&self, report: &Report, mut visit: impl FnMut(u32, bool)) {
        let mut signs = report.signs;
        self.for_each_attribute(report.seed, |attribute| {
            visit(attribute, signs & 1 == 1);
            signs >>= 1;
        });
    }
}
