//! Comparison of mechanisms for one number in [−1, 1]: published mechanisms, and hushbin's
//! mechanism.

use hushbin::choose::window::{ParametersDraft, VarianceObjective};
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;

use super::compared_mechanism::{
    ComparedMechanism, HUSHBIN_FOR_AVERAGE_NAME, LOWER_BOUND_METRIC, WORST_VARIANCE_METRIC,
};
use super::crowds::AveragedCrowd;
use crate::competitors::{
    Budget, HybridThreeOutputPiecewise, PiecewiseMechanism, RandomizedLevelResponse,
    StaircaseMechanism, ThreeOutputMechanism, TwoPointMechanism, hybrid_variance,
    variance_lower_bound,
};
use crate::evaluate::measure::experiment::StudyError;

/// Values of ε at which mechanisms are compared. They are the values in the tables of the design
/// documents, and 0.35, 1.7, 3.4 and 5.5.
pub(super) const COMPARED_EPSILONS: [f64; 16] = [
    0.25, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 1.7, 2.0, 2.5, 3.0, 3.4, 4.0, 5.0, 5.5, 6.0,
];

/// Returns the compared mechanisms at ε. hushbin's mechanisms are the first.
pub(super) fn compared_mechanisms(epsilon: f64) -> Result<Vec<ComparedMechanism>, StudyError> {
    let domain = Domain::of_dense_inputs(1);
    let mut peers = Vec::new();
    for (name, objective) in [
        ("hushbin window", VarianceObjective::Worst),
        (HUSHBIN_FOR_AVERAGE_NAME, VarianceObjective::Average),
    ] {
        let objective = Some(objective);
        let draft = ParametersDraft {
            objective,
            ..ParametersDraft::default()
        };
        let window = Window::choose_parameters(&domain, epsilon, &draft)?
            .estimate_scale_and_variance(&domain, epsilon);
        let (worst, of_value) = (window.max_variance(), |x| window.estimate_variance(x));
        peers.push(mechanism_from_variances(name, worst, &of_value));
    }
    let mut add = |name, worst, variance: &dyn Fn(f64) -> f64| {
        peers.push(mechanism_from_variances(name, worst, variance));
    };
    let points = TwoPointMechanism::new(&Budget::new(epsilon, 0.0)?);
    add("two points", points.variance(0.0), &|x| points.variance(x));
    let grid = RandomizedLevelResponse::with_least_variance(epsilon)?;
    add("grid", grid.worst_variance(), &|x| grid.variance(x));
    for (name, own) in [
        ("PM", PiecewiseMechanism::with_published_width(epsilon)?),
        (
            "PM, best width",
            PiecewiseMechanism::with_least_variance(epsilon)?,
        ),
        (
            "OPM, unbiased",
            PiecewiseMechanism::published_optimal_piecewise(epsilon)?,
        ),
    ] {
        add(name, own.worst_variance(), &|x| own.variance(x));
    }
    let [middle, end] = [
        hybrid_variance(0.0, epsilon)?,
        hybrid_variance(1.0, epsilon)?,
    ];
    // The variance of the hybrid mechanism is quadratic in the number.
    let hybrid = |x: f64| middle + (end - middle) * x * x;
    add("HM", middle.max(end), &hybrid);
    let three = ThreeOutputMechanism::with_least_variance(epsilon)?;
    add("Three-Outputs", three.worst_variance(), &|x| {
        three.variance(x)
    });
    let mixed = HybridThreeOutputPiecewise::with_least_variance(epsilon)?;
    add("HM-TP", mixed.worst_variance(), &|x| mixed.variance(x));
    let noise = StaircaseMechanism::new(epsilon)?.variance();
    add("staircase", noise, &|_| noise);
    if let Some(least) = variance_lower_bound(epsilon) {
        let bounds = vec![(LOWER_BOUND_METRIC, least)];
        peers.push(ComparedMechanism::from_lower_bound(bounds));
    }
    Ok(peers)
}

fn mechanism_from_variances(
    name: &'static str,
    worst: f64,
    variance: &dyn Fn(f64) -> f64,
) -> ComparedMechanism {
    let means = AveragedCrowd::ALL.map(|crowd| {
        (
            crowd.mean_variance_metric(),
            crowd.mean_over_crowd(variance),
        )
    });
    let mut values = vec![(WORST_VARIANCE_METRIC, worst)];
    values.extend(means);
    ComparedMechanism { name, values }
}
