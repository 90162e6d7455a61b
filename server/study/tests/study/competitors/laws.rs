//! Tests of the distributions of mechanisms for one number and for a choice, which are listed or
//! integrated completely.

use hushbin_study::competitors::{
    Budget, HadamardResponse, HybridThreeOutputPiecewise, PiecewiseMechanism,
    RandomizedLevelResponse, SampledNumberMechanism, SingleNumberMechanismKind, StaircaseMechanism,
    ThreeOutputMechanism, TwoPointMechanism, hybrid_variance,
};

const EPSILONS: [f64; 7] = [0.25, 0.7, 1.0, 1.7, 2.5, 4.0, 6.0];
const NUMBERS: [f64; 8] = [-1.0, -0.61, -0.2, 0.0, 0.05, 0.5, 0.97, 1.0];

/// Mass, mean and mean square of a distribution.
type Moments = [f64; 3];

fn moments(outcomes: impl IntoIterator<Item = (f64, f64)>) -> Moments {
    let add = |[mass, mean, square]: Moments, (p, y): (f64, f64)| {
        [mass + p, mean + p * y, square + p * y * y]
    };
    outcomes.into_iter().fold([0.0; 3], add)
}

/// Returns the moments of a mixture of distributions with these weights.
fn mixture<const N: usize>(parts: [(f64, Moments); N]) -> Moments {
    let sum = |at: usize| parts.iter().map(|(weight, own)| weight * own[at]).sum();
    [0, 1, 2].map(sum)
}

fn assert_law([mass, mean, square]: Moments, value: f64, variance: f64, what: &str) {
    assert!((mass - 1.0).abs() < 1e-12, "{what}: {mass}");
    assert!((mean - value).abs() < 1e-9, "{what}, {value}: {mean}");
    let found = square - value * value;
    let relative = found / variance - 1.0;
    assert!(relative.abs() < 1e-9, "{what}, {value}: {found} {variance}");
}

/// Checks that `worst` is the maximum of the variance over all numbers.
fn assert_worst(worst: f64, variance: impl Fn(f64) -> f64) {
    let numbers = (-4000..=4000).map(|step| f64::from(step) / 4000.0);
    let found = numbers.map(variance).fold(0.0, f64::max);
    assert!(found <= worst * (1.0 + 1e-12), "{found} {worst}");
    assert!(found >= worst * (1.0 - 1e-5), "{found} {worst}");
}

/// Checks that the greatest ratio of an outcome's probabilities under two numbers is exp(ε).
fn assert_ratio(laws: &[Vec<f64>], epsilon: f64, what: &str) {
    let of_outcome = |outcome: usize| {
        let column = laws.iter().map(|law| law[outcome]);
        column.clone().fold(0.0, f64::max) / column.fold(f64::INFINITY, f64::min)
    };
    let ratio = (0..laws[0].len()).map(of_outcome).fold(0.0, f64::max);
    assert!((ratio.ln() - epsilon).abs() < 1e-9, "{what}: {ratio}");
}

#[test]
fn grids_are_private_and_unbiased() {
    for epsilon in EPSILONS {
        let own = RandomizedLevelResponse::with_least_variance(epsilon).unwrap();
        for own in [own, RandomizedLevelResponse::new(3, epsilon).unwrap()] {
            let what = format!("{own:?}");
            for value in NUMBERS {
                let law = own
                    .level_probabilities(value)
                    .into_iter()
                    .zip(own.estimates_by_level());
                assert_law(moments(law), value, own.variance(value), &what);
            }
            let laws: Vec<Vec<f64>> = NUMBERS.map(|value| own.level_probabilities(value)).into();
            assert_ratio(&laws, epsilon, &what);
            assert_worst(own.worst_variance(), |value| own.variance(value));
        }
    }
    for wrong in [
        RandomizedLevelResponse::new(0, 1.0),
        RandomizedLevelResponse::new(65, 1.0),
        RandomizedLevelResponse::new(2, 0.0),
    ] {
        assert!(wrong.is_err());
    }
}

/// Returns the moments of a piecewise mechanism. The density inside the interval is computed from
/// the remaining mass, and must be exp(ε) times the density outside.
fn sliding(own: &PiecewiseMechanism, value: f64, epsilon: f64) -> Moments {
    let (half, rest, [left, right]) = (
        own.half_range(),
        own.density_outside(),
        own.favoured_interval(value),
    );
    assert!(left >= -half * (1.0 + 1e-12) && right <= half * (1.0 + 1e-12));
    let inside = (1.0 - rest * (2.0 * half - (right - left))) / (right - left);
    assert!(((inside / rest).ln() - epsilon).abs() < 1e-9, "{own:?}");
    let part = |density: f64, low: f64, high: f64| {
        [1, 2, 3].map(|power| density * (high.powi(power) - low.powi(power)) / f64::from(power))
    };
    mixture([
        (1.0, part(rest, -half, left)),
        (1.0, part(inside, left, right)),
        (1.0, part(rest, right, half)),
    ])
}

#[test]
fn piecewise_mechanisms_are_private_and_unbiased() {
    for epsilon in EPSILONS {
        let all = [
            PiecewiseMechanism::with_published_width(epsilon),
            PiecewiseMechanism::with_least_variance(epsilon),
            PiecewiseMechanism::published_optimal_piecewise(epsilon),
        ];
        for own in all.map(Result::unwrap) {
            let what = format!("{own:?}");
            for value in NUMBERS {
                let law = sliding(&own, value, epsilon);
                assert_law(law, value, own.variance(value), &what);
            }
            assert_worst(own.worst_variance(), |value| own.variance(value));
        }
    }
}

/// Checks the best width against printed variances, and that its interval touches the end of the
/// range.
#[test]
fn the_best_width_is_the_best() {
    for (epsilon, least) in [(1.0, 5.066), (4.0, 0.1618)] {
        let best = PiecewiseMechanism::with_least_variance(epsilon).unwrap();
        assert!((best.worst_variance() / least - 1.0).abs() < 5e-4);
        let published = PiecewiseMechanism::with_published_width(epsilon).unwrap();
        assert!(best.worst_variance() < published.worst_variance());
        // With the best width, the interval for the number 1 ends at the end of the range.
        assert!((best.favoured_interval(1.0)[1] / best.half_range() - 1.0).abs() < 1e-12);
    }
}

fn three_outputs(own: &ThreeOutputMechanism, value: f64) -> Moments {
    let outputs = [-own.largest_output(), 0.0, own.largest_output()];
    moments(own.output_probabilities(value).into_iter().zip(outputs))
}

#[test]
fn three_outputs_are_private_and_unbiased() {
    for epsilon in EPSILONS {
        let own = ThreeOutputMechanism::with_least_variance(epsilon).unwrap();
        let what = format!("{own:?}");
        for value in NUMBERS {
            let law = three_outputs(&own, value);
            assert_law(law, value, own.variance(value), &what);
        }
        let laws: Vec<Vec<f64>> = NUMBERS
            .map(|value| own.output_probabilities(value).to_vec())
            .into();
        assert!(laws.iter().flatten().all(|p| *p >= 0.0));
        let both: Vec<Vec<f64>> = laws.iter().map(|law| vec![law[0], law[2]]).collect();
        assert_ratio(&both, epsilon, &what);
        let [from, to] = [0.0, 1.0].map(|value| own.output_probabilities(value)[1]);
        assert!(from <= to * epsilon.exp() * (1.0 + 1e-9));
        assert_worst(own.worst_variance(), |value| own.variance(value));
    }
    // Up to ε = ln 2, the best probability of the output 0 is 0, so the mechanism is two points.
    let small = ThreeOutputMechanism::with_least_variance(0.6).unwrap();
    let points = TwoPointMechanism::new(&Budget::new(0.6, 0.0).unwrap());
    assert!((small.worst_variance() / points.variance(0.0) - 1.0).abs() < 1e-9);
    // For a large ε the paper's probability of 0 is e/(e + 2).
    let large = ThreeOutputMechanism::with_least_variance(6.0).unwrap();
    let e = 6.0_f64.exp();
    assert!((large.zero_output_probability() - e / (e + 2.0)).abs() < 1e-6);
}

/// From ε = ln 2 on, the paper's probability of the output 0 is this root of a cubic equation,
/// until it reaches e/(e + 2).
#[test]
fn the_probability_of_0_is_the_papers() {
    for epsilon in [0.7, 0.75, 1.0, 1.5] {
        let e = f64::exp(epsilon);
        let sum = |weights: &[f64]| weights.iter().rev().fold(0.0, |sum, own| sum * e + own);
        let first = sum(&[25.0, -2.0, 50.0, 14.0, 1.0]);
        let second = sum(&[-250.0, 30.0, -918.0, -404.0, -270.0, -42.0, -2.0]);
        let angle = f64::acos(-second / (2.0 * first.powf(1.5)));
        let cosine = ((std::f64::consts::PI + angle) / 3.0).cos();
        let expected = (sum(&[5.0, 4.0, 1.0]) - 2.0 * first.sqrt() * cosine) / 6.0;
        let found = ThreeOutputMechanism::with_least_variance(epsilon)
            .unwrap()
            .zero_output_probability();
        assert!(
            (found - expected).abs() < 1e-6,
            "{epsilon}: {found} {expected}"
        );
    }
}

#[test]
fn mixtures_of_both_are_unbiased() {
    for epsilon in EPSILONS {
        let own = HybridThreeOutputPiecewise::with_least_variance(epsilon).unwrap();
        for value in NUMBERS {
            let law = mixture([
                (
                    own.piecewise_probability(),
                    sliding(&own.piecewise_mechanism(), value, epsilon),
                ),
                (
                    1.0 - own.piecewise_probability(),
                    three_outputs(&own.three_output_mechanism(), value),
                ),
            ]);
            assert_law(law, value, own.variance(value), &format!("{own:?}"));
        }
        assert_worst(own.worst_variance(), |value| own.variance(value));
        let three = ThreeOutputMechanism::with_least_variance(epsilon)
            .unwrap()
            .worst_variance();
        let sliding = PiecewiseMechanism::with_least_variance(epsilon)
            .unwrap()
            .worst_variance();
        let hybrid = hybrid_variance(1.0, epsilon).unwrap();
        let hybrid = hybrid.max(hybrid_variance(0.0, epsilon).unwrap());
        let least = three.min(sliding).min(hybrid);
        assert!(own.worst_variance() <= least * (1.0 + 1e-6), "{epsilon}");
    }
}

/// The density is piecewise constant, so the integrals over the pieces are exact.
#[test]
fn staircase_noise_has_its_variance() {
    for epsilon in EPSILONS {
        let own = StaircaseMechanism::new(epsilon).unwrap();
        let mut ends = vec![0.0];
        for step in 0..f64::ceil(60.0 / epsilon) as u32 {
            let begin = 2.0 * f64::from(step);
            ends.extend([begin + 2.0 * own.density_fall_fraction(), begin + 2.0]);
        }
        let (mut mass, mut square) = (0.0, 0.0);
        for pair in ends.windows(2) {
            let density = 2.0 * own.noise_density(pair[0].midpoint(pair[1]));
            mass += density * (pair[1] - pair[0]);
            square += density * (pair[1].powi(3) - pair[0].powi(3)) / 3.0;
        }
        assert!((mass - 1.0).abs() < 1e-9, "{epsilon}: {mass}");
        assert!((square / own.variance() - 1.0).abs() < 1e-9, "{epsilon}");
        for shift in [0.3, 1.0, 1.9, 2.0] {
            for noise in (-500..500).map(|step| f64::from(step) / 77.0) {
                let loss = (own.noise_density(noise) / own.noise_density(noise + shift)).ln();
                assert!(loss.abs() <= epsilon + 1e-9);
            }
        }
        let loss = (own.noise_density(0.1 * own.density_fall_fraction())
            / own.noise_density(2.0 + 0.1 * own.density_fall_fraction()))
        .ln();
        assert!((loss - epsilon).abs() < 1e-9);
    }
}

/// Returns the moments of a mechanism for one number.
fn one_number(part: SingleNumberMechanismKind, epsilon: f64, value: f64) -> Moments {
    let two_points = || {
        let points = TwoPointMechanism::new(&Budget::new(epsilon, 0.0).unwrap());
        let up = points.plus_probability(value);
        moments([
            (up, points.estimate_scale()),
            (1.0 - up, -points.estimate_scale()),
        ])
    };
    let published = PiecewiseMechanism::with_published_width(epsilon).unwrap();
    match part {
        SingleNumberMechanismKind::Piecewise => sliding(&published, value, epsilon),
        SingleNumberMechanismKind::BestWidthPiecewise => sliding(
            &PiecewiseMechanism::with_least_variance(epsilon).unwrap(),
            value,
            epsilon,
        ),
        SingleNumberMechanismKind::Hybrid if epsilon <= 0.61 => two_points(),
        SingleNumberMechanismKind::Hybrid => {
            let rest = (-0.5 * epsilon).exp();
            let piecewise = sliding(&published, value, epsilon);
            mixture([(1.0 - rest, piecewise), (rest, two_points())])
        }
        SingleNumberMechanismKind::HybridThreeOutputPiecewise => {
            let own = HybridThreeOutputPiecewise::with_least_variance(epsilon).unwrap();
            let piecewise = sliding(&own.piecewise_mechanism(), value, epsilon);
            let three = three_outputs(&own.three_output_mechanism(), value);
            mixture([
                (own.piecewise_probability(), piecewise),
                (1.0 - own.piecewise_probability(), three),
            ])
        }
    }
}

#[test]
fn sampled_mechanisms_are_mixtures_of_their_parts() {
    let parts = [
        SingleNumberMechanismKind::Piecewise,
        SingleNumberMechanismKind::BestWidthPiecewise,
        SingleNumberMechanismKind::Hybrid,
        SingleNumberMechanismKind::HybridThreeOutputPiecewise,
    ];
    for (attributes, epsilon) in [(2, 0.5), (3, 2.0), (4, 5.0), (16, 6.0), (1, 6.0)] {
        for part in parts {
            let printed = SampledNumberMechanism::new(attributes, part, epsilon).unwrap();
            let expected = ((epsilon / 2.5) as u32).clamp(1, attributes);
            assert_eq!(printed.drawn_count(), expected);
            let best =
                SampledNumberMechanism::with_least_variance(attributes, part, epsilon).unwrap();
            assert!(best.worst_variance() <= printed.worst_variance());
            for own in [printed, best] {
                let answered = f64::from(own.drawn_count());
                let share = answered / f64::from(attributes);
                for value in NUMBERS {
                    let [mass, mean, square] = one_number(part, epsilon / answered, value);
                    // An attribute that is not drawn has an estimate of 0.
                    let law = [share * mass + 1.0 - share, mean, square / share];
                    assert_law(
                        law,
                        value,
                        own.single_report_variance(value),
                        &format!("{own:?}"),
                    );
                }
                assert_worst(own.worst_variance(), |value| {
                    own.single_report_variance(value)
                });
            }
        }
    }
    assert!(SampledNumberMechanism::new(0, SingleNumberMechanismKind::Hybrid, 1.0).is_err());
}

#[test]
fn hadamard_responses_are_private_and_unbiased() {
    for options in [2, 3, 7, 23, 40] {
        for epsilon in EPSILONS {
            let budget = Budget::new(epsilon, 0.0).unwrap();
            let own = HadamardResponse::new(options, &budget).unwrap();
            let what = format!("{own:?}");
            let (mut worst, mut sum) = (0.0_f64, 0.0);
            for answer in 0..options {
                let law = own.output_distribution(answer);
                for other in 0..options {
                    let estimates = (0..own.output_count())
                        .map(|output| own.share_estimate_from_report(other, output));
                    let [mass, mean, square] = moments(law.iter().copied().zip(estimates));
                    let truth = f64::from(u8::from(answer == other));
                    assert!(
                        (mass - 1.0).abs() < 1e-12 && (mean - truth).abs() < 1e-9,
                        "{what}"
                    );
                    let variance = square - truth;
                    worst = worst.max(variance);
                    sum += variance;
                }
            }
            let average = sum / f64::from(options * options);
            assert!(
                (average / own.average_variance() - 1.0).abs() < 1e-9,
                "{what}"
            );
            assert!((worst / own.worst_variance() - 1.0).abs() < 1e-9, "{what}");
            let laws: Vec<Vec<f64>> = (0..options)
                .map(|answer| own.output_distribution(answer))
                .collect();
            assert_ratio(&laws, epsilon, &what);
        }
    }
}
