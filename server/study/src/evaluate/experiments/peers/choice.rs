//! Comparison of mechanisms for the choice of one of k answers: published mechanisms, and hushbin's
//! mechanism.

use super::compared_mechanism::{
    AVERAGE_VARIANCE_METRIC, ComparedMechanism, WORST_VARIANCE_METRIC,
};
use crate::competitors::{Budget, ComparedQuestion, HadamardResponse, compare_mechanisms};
use crate::evaluate::measure::experiment::StudyError;

/// Numbers k of answers for which mechanisms are compared. A `flag` question has two answers.
pub(super) const COMPARED_OPTION_COUNTS: [u32; 8] = [2, 3, 5, 7, 10, 23, 40, 100];
/// Values of ε at which mechanisms are compared.
pub(super) const COMPARED_EPSILONS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// Returns the compared mechanisms for k `options` at ε. hushbin's mechanism is the first.
pub(super) fn compared_mechanisms(
    options: u32,
    epsilon: f64,
) -> Result<Vec<ComparedMechanism>, StudyError> {
    let budget = Budget::new(epsilon, 0.0)?;
    let mut peers = ComparedMechanism::from_comparison(&compare_mechanisms(
        ComparedQuestion::Choice { options },
        &budget,
        1,
    )?);
    let own = HadamardResponse::new(options, &budget)?;
    let values = vec![
        (WORST_VARIANCE_METRIC, own.worst_variance()),
        (AVERAGE_VARIANCE_METRIC, own.average_variance()),
    ];
    peers.push(ComparedMechanism {
        name: "Hadamard response",
        values,
    });
    Ok(peers)
}
