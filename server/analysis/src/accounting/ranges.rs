//! Permitted ranges and defaults of the accounting parameters.

use hushbin::Error;
use hushbin::bounds::{EPSILON_RANGE, ParameterRange};

/// Permitted number of reports n in a batch.
pub const REPORT_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "reports",
    min: 2.0,
    max: 1e12,
};
/// Permitted number of honest reports in a batch.
pub const HONEST_REPORT_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "honest_reports",
    ..REPORT_COUNT_RANGE
};
/// Permitted δ of a batch.
pub const DELTA_RANGE: ParameterRange = ParameterRange {
    name: "delta",
    min: 1e-15,
    max: 0.1,
};
/// Default δ of a batch.
pub const DEFAULT_DELTA: f64 = 1e-8;
/// Permitted fraction of the reports that is assumed to be honest.
pub const HONEST_FRACTION_RANGE: ParameterRange = ParameterRange {
    name: "honest_fraction",
    min: 1e-12,
    max: 1.0,
};
/// Default fraction of the reports that is assumed to be honest.
pub const DEFAULT_HONEST_FRACTION: f64 = 1.0;
/// Permitted target for the central ε_c of a batch.
pub(crate) const CENTRAL_EPSILON_RANGE: ParameterRange = ParameterRange {
    name: "central_epsilon",
    min: 0.0,
    max: EPSILON_RANGE.max,
};
/// Permitted number K of batches that contain reports from one person.
pub const BATCH_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "batches",
    min: 1.0,
    max: 1e4,
};
/// Permitted number R of reports from one person in a batch.
pub const REPORTS_PER_PERSON_RANGE: ParameterRange = ParameterRange {
    name: "reports_per_person",
    min: 1.0,
    max: 1000.0,
};

/// Returns the number of honest reports in a batch of `reports` reports. The number is rounded
/// down.
pub(super) fn honest_report_count(reports: u64, honest_fraction: f64) -> u64 {
    (honest_fraction * reports as f64).floor() as u64
}

/// Checks the ranges of the arguments. Returns the number of honest reports in a batch of `reports`
/// reports, rounded down to an integer.
///
/// # Errors
/// [`Error::OutOfRange`] if the number of reports, the number of honest reports or the fraction is
/// out of range.
pub(crate) fn checked_honest_report_count(
    reports: u64,
    honest_fraction: f64,
) -> Result<u64, Error> {
    REPORT_COUNT_RANGE.check_in_range(reports as f64)?;
    HONEST_FRACTION_RANGE.check_in_range(honest_fraction)?;
    let honest = honest_report_count(reports, honest_fraction);
    HONEST_REPORT_COUNT_RANGE.check_in_range(honest as f64)?;
    Ok(honest)
}
