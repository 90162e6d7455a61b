//! Comparison of mechanisms for several numbers in [−1, 1] of each person: published mechanisms,
//! and hushbin's mechanism.

use hushbin::choose::window::ParametersDraft;
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;

use super::compared_mechanism::{
    AVERAGE_VARIANCE_METRIC, ComparedMechanism, WORST_VARIANCE_METRIC,
};
use super::crowds::AveragedCrowd;
use crate::competitors::{
    Budget, ComparedQuestion, SampledNumberMechanism, SingleNumberMechanismKind, compare_mechanisms,
};
use crate::evaluate::measure::experiment::StudyError;

/// Numbers d of attributes for which mechanisms are compared. Each attribute has one number.
pub(super) const COMPARED_ATTRIBUTE_COUNTS: [u32; 5] = [2, 3, 4, 8, 16];
/// Values of ε at which mechanisms are compared.
pub(super) const COMPARED_EPSILONS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 6.0];

/// Returns the compared mechanisms for d `attributes` at ε. hushbin's mechanism is the first.
pub(super) fn compared_mechanisms(
    attributes: u32,
    epsilon: f64,
) -> Result<Vec<ComparedMechanism>, StudyError> {
    let asked = ComparedQuestion::Numbers { attributes };
    let compared = compare_mechanisms(asked, &Budget::new(epsilon, 0.0)?, 1)?;
    let mut peers = ComparedMechanism::from_comparison(&compared);
    for (name, part) in [
        ("sampled PM", SingleNumberMechanismKind::Piecewise),
        ("sampled HM", SingleNumberMechanismKind::Hybrid),
    ] {
        let own = SampledNumberMechanism::new(attributes, part, epsilon)?;
        peers.push(sampled_mechanism(name, &own));
    }
    for (name, part) in [
        ("sampled PM, best k", SingleNumberMechanismKind::Piecewise),
        (
            "sampled PM, best k and width",
            SingleNumberMechanismKind::BestWidthPiecewise,
        ),
        ("sampled HM, best k", SingleNumberMechanismKind::Hybrid),
        (
            "sampled HM-TP, best k",
            SingleNumberMechanismKind::HybridThreeOutputPiecewise,
        ),
    ] {
        let own = SampledNumberMechanism::with_least_variance(attributes, part, epsilon)?;
        peers.push(sampled_mechanism(name, &own));
    }
    peers.push(split_epsilon_mechanism(attributes, epsilon)?);
    Ok(peers)
}

fn sampled_mechanism(name: &'static str, own: &SampledNumberMechanism) -> ComparedMechanism {
    let mean = AveragedCrowd::Uniform.mean_over_crowd(&|x| own.single_report_variance(x));
    let values = vec![
        (WORST_VARIANCE_METRIC, own.worst_variance()),
        (AVERAGE_VARIANCE_METRIC, mean),
    ];
    ComparedMechanism { name, values }
}

/// Returns the mechanism that splits ε. A person draws m of the d numbers, and reports each drawn
/// number by a window mechanism for one number at ε/m. Here m is the divisor of d for which the
/// variance is least.
fn split_epsilon_mechanism(attributes: u32, epsilon: f64) -> Result<ComparedMechanism, StudyError> {
    let draft = ParametersDraft {
        drawn: Some(1),
        ..ParametersDraft::default()
    };
    let mut best = [f64::INFINITY; 2];
    for drawn in (1..=attributes).filter(|drawn| attributes.is_multiple_of(*drawn)) {
        // Reporting one of d/m numbers has the same scale as m reports among d numbers.
        let domain = Domain::of_dense_inputs(attributes / drawn);
        let each = epsilon / f64::from(drawn);
        let own = Window::choose_parameters(&domain, each, &draft)?
            .estimate_scale_and_variance(&domain, each);
        if own.max_variance() < best[0] {
            best = [own.max_variance(), own.uniform_average_variance()];
        }
    }
    Ok(ComparedMechanism {
        name: "hushbin window, ε split",
        values: vec![
            (WORST_VARIANCE_METRIC, best[0]),
            (AVERAGE_VARIANCE_METRIC, best[1]),
        ],
    })
}
