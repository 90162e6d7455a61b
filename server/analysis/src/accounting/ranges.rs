//! Ranges and defaults of the accounting parameters.

use hushbin::Error;
use hushbin::bounds::{Bound, EPSILON};

/// Number of reports n of a batch.
pub const REPORTS: Bound = Bound {
    name: "reports",
    min: 2.0,
    max: 1e12,
};
/// Number of honest reports among the n.
pub const HONEST_REPORTS: Bound = Bound {
    name: "honest_reports",
    ..REPORTS
};
/// δ of a batch.
pub const DELTA: Bound = Bound {
    name: "delta",
    min: 1e-15,
    max: 0.1,
};
/// δ of a batch by default.
pub const DEFAULT_DELTA: f64 = 1e-8;
/// Fraction of the reports that is assumed to be honest.
pub const HONEST_FRACTION: Bound = Bound {
    name: "honest_fraction",
    min: 1e-12,
    max: 1.0,
};
/// Fraction of honest reports by default.
pub const DEFAULT_HONEST_FRACTION: f64 = 1.0;
/// Target ε_c of a batch.
pub(crate) const CENTRAL_EPSILON: Bound = Bound {
    name: "central_epsilon",
    min: 0.0,
    max: EPSILON.max,
};
/// Number K of batches that contain reports of one person.
pub const BATCHES: Bound = Bound {
    name: "batches",
    min: 1.0,
    max: 1e4,
};
/// Number R of reports of one person in a batch.
pub const REPORTS_PER_PERSON: Bound = Bound {
    name: "reports_per_person",
    min: 1.0,
    max: 1000.0,
};

/// Returns the number of honest reports among `reports`, rounded down.
pub(super) fn honest_part(reports: u64, honest_fraction: f64) -> u64 {
    (honest_fraction * reports as f64).floor() as u64
}

/// Returns the number of honest reports among `reports`, which hide each other, after range checks.
///
/// # Errors
/// [`Error::OutOfRange`] when either number of reports or the fraction is out of its range.
pub(super) fn honest_reports(reports: u64, honest_fraction: f64) -> Result<u64, Error> {
    REPORTS.check(reports as f64)?;
    HONEST_FRACTION.check(honest_fraction)?;
    let honest = honest_part(reports, honest_fraction);
    HONEST_REPORTS.check(honest as f64)?;
    Ok(honest)
}
