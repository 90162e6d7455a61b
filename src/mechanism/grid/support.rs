//! What a report of the grid says of which attributes.

use super::parameters::Grid;
use crate::domain::Domain;
use crate::hash::for_each_drawn;
use crate::mechanism::subset::BucketReport as Report;

impl Grid {
    /// Prepares the decoding of reports over `domain`.
    #[must_use]
    pub fn support(&self, domain: &Domain) -> Support {
        Support {
            attributes: domain.items().unwrap_or(0),
            drawn: self.drawn(),
            levels: self.levels(),
        }
    }
}

/// The attributes that reports are about, over one domain.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::mechanism::grid::{Grid, Report};
///
/// let support = Grid::new(2, 4).unwrap().support(&Domain::dense(5));
/// let mut levels = Vec::new();
/// // The first attribute's level is the last digit, of base 5.
/// let report = Report { seed: 7, bucket: 3 + 5 * 1 };
/// support.for_each_level(&report, |attribute, level| levels.push((attribute, level)));
/// assert_eq!([levels[0].1, levels[1].1], [3, 1]);
/// assert_ne!(levels[0].0, levels[1].0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    attributes: u32,
    drawn: u32,
    levels: u32,
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

    /// Calls `visit` with each attribute that is drawn, and its level, from 0 to r.
    ///
    /// # Panics
    /// As [`Support::for_each_attribute`].
    #[inline]
    pub fn for_each_level(&self, report: &Report, mut visit: impl FnMut(u32, u32)) {
        let mut cell = report.bucket;
        self.for_each_attribute(report.seed, |attribute| {
            visit(attribute, cell % self.levels);
            cell /= self.levels;
        });
    }
}
