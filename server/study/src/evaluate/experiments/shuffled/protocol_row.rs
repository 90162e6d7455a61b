//! Row of the comparison, and the parameters that all protocols have in common.

use hushbin::Error;
use hushbin::codec::append_varint;
use hushbin::sealed::SEALING_OVERHEAD_BYTES;

use super::measured_error::MeasuredError;
use crate::evaluate::measure::experiment::{Measurement, MeasurementPoint, StudyError};

/// Numbers of independent trials of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialCounts {
    /// Trials in which sums over all people are drawn at once.
    pub(super) at_once: u32,
    /// Trials in which each of 1,000 people runs a randomiser.
    pub(super) one_by_one: u32,
}

/// Central δ of all protocols.
pub(super) const DELTA: f64 = 1e-6;
/// Fraction of people whose noise is counted on, in all protocols: the default of hushbin's tasks.
pub(super) const HONEST_FRACTION: f64 = 0.9;
/// Numbers of people n.
pub(super) const PEOPLE: [u64; 3] = [1_000, 10_000, 100_000];
/// Number of people who run randomisers one by one. It is the first of [`PEOPLE`].
pub(super) const ONE_BY_ONE_PEOPLE: u64 = PEOPLE[0];

pub(super) const STANDARD_ERROR_METRIC: &str = "standard error";
pub(super) const MEASURED_RATIO_METRIC: &str = "measured over predicted";
pub(super) const RATIO_ERROR_METRIC: &str = "standard error of measured over predicted";
pub(super) const MESSAGES_METRIC: &str = "messages of a person";
pub(super) const NOISE_MESSAGES_METRIC: &str = "noise messages of a person, mean";
pub(super) const LOCAL_EPSILON_METRIC: &str = "local ε of a message";

/// Returns the number of honest people among `people` people.
pub(super) const fn honest_people(people: u64) -> u64 {
    people / 10 * 9
}

/// Returns the point of a measurement. `parameter` is the true share of an option, or 0 for means.
pub(super) const fn measurement_point(
    people: u64,
    items: u32,
    epsilon: f64,
    parameter: f64,
) -> MeasurementPoint {
    MeasurementPoint {
        people,
        items,
        sparsity: 1,
        epsilon,
        delta: DELTA,
        parameter,
    }
}

/// Returns the bytes of one person's upload, if each message is sealed by itself and has the bytes of
/// the longest one, whose code is `longest`. A header of 33 bytes and the number of messages come
/// first.
pub(super) fn upload_bytes(messages: f64, longest: u64) -> f64 {
    let mut code = Vec::new();
    append_varint(&mut code, longest);
    let header = 33.0 + if messages > 127.0 { 2.0 } else { 1.0 };
    header + messages * (SEALING_OVERHEAD_BYTES + code.len()) as f64
}

/// Protocol with a given number of people, and its error.
pub(super) struct ProtocolRow {
    pub(super) mechanism: &'static str,
    /// Predicted standard error.
    pub(super) standard_error: f64,
    pub(super) measured: MeasuredError,
    /// Further metrics, with their values.
    pub(super) costs: Vec<(&'static str, f64)>,
}

impl ProtocolRow {
    /// Returns the measurements of the row at a point.
    pub(super) fn measurements(
        &self,
        point: MeasurementPoint,
        estimand: &str,
    ) -> impl Iterator<Item = Measurement> {
        let errors = [
            (STANDARD_ERROR_METRIC, self.standard_error),
            (MEASURED_RATIO_METRIC, self.measured.ratio),
            (RATIO_ERROR_METRIC, self.measured.standard_error),
        ];
        let metrics = errors.into_iter().chain(self.costs.iter().copied());
        metrics.map(move |(metric, value)| {
            Measurement::new(point, self.mechanism, estimand, metric, value)
        })
    }
}

/// Returns `None` for a protocol whose parameters would be out of range.
pub(super) fn refused_to_none<T>(protocol: Result<T, StudyError>) -> Result<Option<T>, StudyError> {
    match protocol {
        Ok(protocol) => Ok(Some(protocol)),
        Err(StudyError::RefusedParameters(Error::OutOfRange { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_people_are_a_fraction_of_all() {
        for people in PEOPLE {
            assert_eq!(
                honest_people(people) as f64,
                HONEST_FRACTION * people as f64
            );
        }
    }
}
