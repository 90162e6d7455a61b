//! Tests, by listing all outcomes, that estimates are unbiased and have the stated variance.

use hushbin_study::competitors::{
    LocalHash, MajorityMechanism, OptimalLocalHashing, RandomizedResponse,
    SampledTwoPointMechanism, SupportProbabilities, TwoPointMechanism, UnaryEncoding,
    best_bucket_count,
};

use super::models::{budget, direct, hashed, majority, sampled, two_points, unary};

const BUDGETS: [(f64, f64); 5] = [
    (0.3, 0.0),
    (1.0, 0.0),
    (1.0, 0.01),
    (2.5, 1e-6),
    (5.0, 0.04),
];

/// Returns the expectation and the variance of the estimate, from pairs of a probability and an
/// estimate.
fn moments(outcomes: impl Iterator<Item = (f64, f64)>) -> [f64; 2] {
    let (mean, square) = outcomes.fold((0.0, 0.0), |(mean, square), (p, estimate)| {
        (mean + p * estimate, square + p * estimate * estimate)
    });
    [mean, square - mean * mean]
}

fn assert_moments(ours: [f64; 2], mean: f64, variance: f64, what: &str) {
    let scale = variance.max(1.0);
    assert!((ours[0] - mean).abs() < 1e-11 * scale, "{what}: {ours:?}");
    assert!(
        (ours[1] / variance - 1.0).abs() < 1e-9,
        "{what}: {ours:?}, {variance}"
    );
}

/// Returns one report's estimate of an answer's share.
fn single(rates: &SupportProbabilities, supported: bool) -> f64 {
    rates.estimate_share(u64::from(supported), 1)
}

#[test]
fn shares_are_unbiased() {
    for (epsilon, delta) in BUDGETS {
        let budget = budget(epsilon, delta);
        let k = 4;
        let grr = RandomizedResponse::new(k, &budget).unwrap();
        let all = [
            UnaryEncoding::symmetric_encoding(k, &budget),
            UnaryEncoding::new(k, 0.3, &budget),
            UnaryEncoding::optimized_encoding(k, &budget),
        ];
        for (own, asked) in (0..k).flat_map(|own| (0..k).map(move |asked| (own, asked))) {
            let truth = f64::from(u8::from(own == asked));
            let rates = grr.support_probabilities();
            let law = direct(&grr, own);
            let outcomes = (0..).zip(law).map(|(o, p)| (p, single(&rates, o == asked)));
            let variance = rates.single_report_variance(own == asked);
            assert_moments(moments(outcomes), truth, variance, "GRR");
            for bits in all.iter().flatten() {
                let rates = bits.support_probabilities();
                let law = unary(bits, own);
                let outcomes = (0_u32..).zip(law);
                let outcomes = outcomes.map(|(o, p)| (p, single(&rates, o >> asked & 1 == 1)));
                let variance = rates.single_report_variance(own == asked);
                assert_moments(moments(outcomes), truth, variance, &format!("{bits:?}"));
            }
        }
    }
}

/// Averages over all functions from three answers to g buckets, as an ideal hash function does.
#[test]
fn hashed_shares_are_unbiased() {
    for (epsilon, delta) in BUDGETS {
        for g in 2..=5_u32 {
            let hash = LocalHash::new(3, g, &budget(epsilon, delta)).unwrap();
            let rates = hash.support_probabilities();
            let functions = g.pow(3);
            let bucket = |function: u32, answer: u32| function / g.pow(answer) % g;
            for asked in 0..3 {
                let mut outcomes = Vec::new();
                for function in 0..functions {
                    let law = hashed(&hash, bucket(function, 0));
                    for (reported, p) in (0..).zip(law) {
                        let supported = bucket(function, asked) == reported;
                        outcomes.push((p / f64::from(functions), single(&rates, supported)));
                    }
                }
                let truth = f64::from(u8::from(asked == 0));
                let variance = rates.single_report_variance(asked == 0);
                assert_moments(moments(outcomes.into_iter()), truth, variance, "LH");
            }
        }
    }
}

/// For answers that the person did not give, neither a number of buckets near g* nor a q near OUE's
/// has a smaller variance.
#[test]
fn the_optimised_are_local_minima() {
    for (epsilon, delta) in BUDGETS {
        let budget = budget(epsilon, delta);
        let others = |q: f64| {
            UnaryEncoding::new(2, q, &budget)
                .unwrap()
                .support_probabilities()
                .single_report_variance(false)
        };
        if let Ok(oue) = UnaryEncoding::optimized_encoding(2, &budget) {
            let (q, least) = (
                oue.support_probabilities().other_answer_probability,
                oue.support_probabilities().single_report_variance(false),
            );
            for step in [0.01, 0.1].map(|part| part * q) {
                assert!(
                    others(q - step) > least && others(q + step) > least,
                    "{budget:?}"
                );
            }
        }
        let Some(root) = best_bucket_count(&budget) else {
            continue;
        };
        let OptimalLocalHashing::LocalHashing(olh) = OptimalLocalHashing::new(9, &budget).unwrap()
        else {
            panic!("g* is real")
        };
        assert!((f64::from(olh.bucket_count()) - root).abs() < 1.0);
        let least = olh.support_probabilities().single_report_variance(false);
        for g in [olh.bucket_count() - 1, olh.bucket_count() + 1] {
            if let Ok(other) = LocalHash::new(9, g, &budget) {
                assert!(
                    other.support_probabilities().single_report_variance(false) > least,
                    "{g}, {budget:?}"
                );
            }
        }
    }
    // The minimum is only local. For δ > 0 and parameters far from it, this variance becomes
    // arbitrarily small, while the variance for the person's own answer becomes 1/δ.
    let budget = budget(1.0, 0.01);
    let far = UnaryEncoding::new(2, 1e-9, &budget)
        .unwrap()
        .support_probabilities();
    let oue = UnaryEncoding::optimized_encoding(2, &budget)
        .unwrap()
        .support_probabilities();
    assert!(far.single_report_variance(false) < 1e-4 && far.single_report_variance(true) > 90.0);
    assert!(oue.single_report_variance(false) > 3.0 && oue.single_report_variance(true) < 10.0);
    let far = LocalHash::new(9, 1 << 22, &budget)
        .unwrap()
        .support_probabilities();
    assert!(far.single_report_variance(false) < 0.01 && far.single_report_variance(true) > 90.0);
}

/// Test inputs: corners of the cube, and inner points.
const PEOPLE: [[f64; 5]; 4] = [
    [1.0, -1.0, 1.0, 1.0, -1.0],
    [-1.0; 5],
    [0.5, -0.25, 0.0, 0.9, -1.0],
    [0.01, 1.0, -0.7, 0.3, 0.62],
];

#[test]
fn means_by_majorities_are_unbiased() {
    for (epsilon, delta) in BUDGETS {
        for d in 1..=5 {
            for threshold in 1..=d {
                let budget = budget(epsilon, delta);
                let own =
                    MajorityMechanism::with_agreement_threshold(d, threshold, &budget).unwrap();
                for person in PEOPLE {
                    let values = &person[..d as usize];
                    let law = majority(&own, values);
                    for (j, &x) in values.iter().enumerate() {
                        let sign = |o: usize| if o >> j & 1 == 1 { 1 } else { -1 };
                        let outcomes = law.iter().enumerate();
                        let outcomes = outcomes.map(|(o, &p)| (p, own.estimate_mean(sign(o), 1)));
                        let what = format!("{own:?}, {x}");
                        assert_moments(moments(outcomes), x, own.single_report_variance(x), &what);
                    }
                }
            }
        }
    }
}

#[test]
fn means_by_two_points_are_unbiased() {
    for (epsilon, delta) in BUDGETS {
        let points = TwoPointMechanism::new(&budget(epsilon, delta));
        let cube = MajorityMechanism::new(1, &budget(epsilon, delta)).unwrap();
        assert!((points.estimate_scale() / cube.estimate_scale() - 1.0).abs() < 1e-12);
        for x in PEOPLE.into_iter().flatten() {
            let outcomes = [-1, 1].map(|sign| points.estimate_mean(sign, 1));
            let law = two_points(&points, x);
            let ours = moments(law.into_iter().zip(outcomes));
            assert_moments(ours, x, points.variance(x), "two points");
        }
        for (d, k) in [(1, 1), (3, 1), (3, 2), (3, 3), (4, 2)] {
            let parts = f64::from(k);
            let each = TwoPointMechanism::new(&budget(epsilon / parts, delta / parts));
            let own = SampledTwoPointMechanism::with_drawn_count(d, k, epsilon, delta).unwrap();
            for person in PEOPLE {
                let values = &person[..d as usize];
                let law = sampled(&own, &each, values);
                for (j, &x) in values.iter().enumerate() {
                    let estimate = |&(set, signs, p): &(u32, u32, f64)| {
                        let sign = match (set >> j & 1, signs >> j & 1) {
                            (0, _) => 0,
                            (_, up) => 2 * i64::from(up) - 1,
                        };
                        (p, own.estimate_mean(sign, 1))
                    };
                    let ours = moments(law.iter().map(estimate));
                    assert_moments(ours, x, own.single_report_variance(x), &format!("{own:?}"));
                }
            }
        }
    }
}
