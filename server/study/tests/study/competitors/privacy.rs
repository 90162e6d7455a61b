//! Tests by enumeration over all pairs of inputs that (ε, δ) is reached to within 10⁻¹¹ and never
//! exceeded.

use hushbin::ErrorCode;
use hushbin_study::competitors::{
    Budget, GaussianMechanism, LocalHash, MajorityMechanism, OptimalLocalHashing,
    RandomizedResponse, SampledTwoPointMechanism, TwoPointMechanism, UnaryEncoding, as_printed,
    best_bucket_count, compare_mechanisms, encode_category_as_signs,
    favoured_probability_with_delta, hockey_stick_divergence, least_epsilon,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::models::{
    Law, budget, direct, ends, hashed, majority_of_signs, sampled, two_points, unary, worst,
};

/// Tolerance for rounding errors of the enumeration.
const ROUNDING: f64 = 1e-15;

fn budgets() -> impl Iterator<Item = Budget> {
    let deltas = [0.0, 1e-6, 1e-3, 0.05];
    [0.01, 0.5, 1.0, 2.0, 5.0]
        .into_iter()
        .flat_map(move |epsilon| deltas.map(|delta| budget(epsilon, delta)))
}

/// Checks that the greatest δ over all pairs equals the budget's δ. Also checks that the δ which
/// the mechanism states equals the enumerated δ, at ε and at two smaller values.
fn check(laws: &[Law], budget: &Budget, own: impl Fn(f64) -> f64, what: &str) {
    let enumerated = worst(laws, budget.epsilon());
    let delta = budget.delta();
    assert!(enumerated <= delta + ROUNDING, "{what}: {enumerated}");
    assert!(enumerated >= delta - 1e-11, "{what}: {enumerated}");
    for epsilon in [0.0, 0.7 * budget.epsilon(), budget.epsilon()] {
        let (ours, enumerated) = (own(epsilon), worst(laws, epsilon));
        assert!((ours - enumerated).abs() < 1e-12, "{what}: {ours}");
    }
}

#[test]
fn choices_keep_to_their_budget() {
    let mut sets = 0;
    for budget in budgets() {
        for k in 2..=5 {
            let grr = RandomizedResponse::new(k, &budget).unwrap();
            let laws: Vec<Law> = (0..k).map(|answer| direct(&grr, answer)).collect();
            check(&laws, &budget, |e| grr.delta_at(e), &format!("{grr:?}"));

            let free = [0.1, 0.25, 0.8].map(|q| UnaryEncoding::new(k, q, &budget).unwrap());
            let optimized = UnaryEncoding::optimized_encoding(k, &budget).ok();
            let symmetric = UnaryEncoding::symmetric_encoding(k, &budget).unwrap();
            let all = free.into_iter().chain(optimized).chain([symmetric]);
            for bits in all {
                let laws: Vec<Law> = (0..k).map(|answer| unary(&bits, answer)).collect();
                check(&laws, &budget, |e| bits.delta_at(e), &format!("{bits:?}"));
                sets += 1;
            }

            // One hash function suffices: the inputs are answers in each of its buckets.
            let hash = LocalHash::new(9, k, &budget).unwrap();
            let laws: Vec<Law> = (0..k).map(|bucket| hashed(&hash, bucket)).collect();
            check(&laws, &budget, |e| hash.delta_at(e), &format!("{hash:?}"));
            sets += 2;
        }
    }
    assert!(sets > 500, "{sets}");
}

#[test]
fn majorities_keep_to_their_budget() {
    let mut sets = 0;
    for budget in budgets() {
        for d in 1..=6 {
            for threshold in 1..=d {
                let own =
                    MajorityMechanism::with_agreement_threshold(d, threshold, &budget).unwrap();
                // By symmetry, the pairs with the first corner represent all pairs. For d up to 4,
                // all pairs are checked.
                let corners = 1_u32 << d;
                let law =
                    |corner| majority_of_signs(d, threshold, own.favoured_probability(), corner);
                let laws: Vec<Law> = (0..corners).map(law).collect();
                let what = format!("{own:?}");
                if d <= 4 {
                    check(&laws, &budget, |e| own.delta_at(e), &what);
                } else {
                    let zip = |q: &Law| laws[0].clone().into_iter().zip(q.clone());
                    let first = laws
                        .iter()
                        .map(|q| hockey_stick_divergence(zip(q), budget.epsilon()));
                    let enumerated = first.fold(0.0, f64::max);
                    assert!(enumerated <= budget.delta() + ROUNDING, "{what}");
                    // If α is 1, no other vector is reported, and δ is not reached.
                    let certain = own.favoured_probability() > 1.0 - 1e-11;
                    let met = enumerated >= budget.delta() - 1e-11;
                    assert!(met || certain, "{what}");
                    let ours = own.delta_at(budget.epsilon());
                    assert!((ours - enumerated).abs() < 1e-12, "{what}");
                }
                sets += 1;
            }
        }
    }
    assert!(sets > 400, "{sets}");
}

/// If α is capped at 1, only favoured vectors are reported. The real δ is then below the budget's
/// δ.
#[test]
fn a_large_delta_reports_the_favoured_only() {
    let budget = budget(5.0, 0.5);
    let own = MajorityMechanism::with_agreement_threshold(6, 1, &budget).unwrap();
    assert!(own.favoured_probability() > 1.0 - 1e-11);
    assert!(own.delta_at(5.0) < 0.02);
}

#[test]
fn sampled_two_points_keep_to_their_budget() {
    let mut sets = 0;
    for budget in budgets() {
        let points = TwoPointMechanism::new(&budget);
        let laws: Vec<Law> = [-1.0, 0.0, 0.3, 1.0].map(|x| two_points(&points, x)).into();
        check(&laws, &budget, |e| points.delta_at(e), "two points");
        for d in 1..=4 {
            for k in 1..=d {
                let (epsilon, delta) = (budget.epsilon(), budget.delta());
                let parts = f64::from(k);
                let each = TwoPointMechanism::new(&self::budget(epsilon / parts, delta / parts));
                let own = SampledTwoPointMechanism::with_drawn_count(d, k, epsilon, delta).unwrap();
                let law = |corner| {
                    let outcomes = sampled(&own, &each, &ends(corner, d));
                    outcomes.into_iter().map(|(_, _, p)| p).collect()
                };
                let laws: Vec<Law> = (0..1 << d).map(law).collect();
                for at in [0.0, 0.5 * epsilon, epsilon] {
                    let enumerated = worst(&laws, at);
                    assert!((own.delta_at(at) - enumerated).abs() < 1e-12, "{own:?}");
                }
                // Basic composition is a valid bound. It is not tight if δ > 0 and k > 1.
                assert!(own.delta_at(epsilon) <= delta + ROUNDING, "{own:?}");
                sets += 1;
            }
        }
    }
    assert!(sets == 200, "{sets}");
}

/// Checks c favoured buckets of t, for all pairs of favoured sets.
#[test]
fn favoured_buckets_keep_to_delta() {
    for budget in budgets() {
        for t in 2_u32..=7 {
            for c in 1..t {
                let inside = favoured_probability_with_delta(c, t, &budget).unwrap();
                let sets = (0_u32..1 << t).filter(|set| set.count_ones() == c);
                let law = |set: u32| {
                    let of = |bucket| match set >> bucket & 1 {
                        1 => inside / f64::from(c),
                        _ => (1.0 - inside) / f64::from(t - c),
                    };
                    (0..t).map(of).collect()
                };
                let laws: Vec<Law> = sets.map(law).collect();
                let enumerated = worst(&laws, budget.epsilon());
                let off = enumerated - budget.delta();
                assert!(off.abs() < 1e-13, "{c} of {t}, {budget:?}: {off}");
            }
        }
    }
}

/// Returns a rational number slightly below exp(ε).
fn e_below(epsilon: f64) -> BigRational {
    BigRational::from_float(epsilon.exp().next_down()).unwrap()
}

fn exactly(number: f64) -> BigRational {
    BigRational::from_float(number).unwrap()
}

/// Checks the budget in exact fractions, for parameters with too many outcomes to list. The numbers
/// of outputs are N₊, N₋ and O (see `favoured_set`). The O distinguishing outputs may have at most
/// exp(ε) times the probability that they have if not favoured, plus δ.
fn assert_kept(
    inside: f64,
    [favoured, others, against]: [&BigInt; 3],
    budget: &Budget,
    what: &str,
) {
    // `inside` is a threshold over 2⁶⁴, rounded to the nearest double, so the exact value is below
    // the next double.
    let inside = exactly(inside.next_up().min(1.0));
    let outside = BigRational::one() - &inside;
    let of = |p: BigRational, outputs: &BigInt| p * against / outputs;
    let excess = of(inside, favoured) - e_below(budget.epsilon()) * of(outside, others);
    assert!(excess <= exactly(budget.delta()), "{what}");
}

#[test]
fn thousands_of_parameters_never_exceed_their_budget() {
    let epsilons = [0.001, 0.02, 0.3, 1.0, 1.7, 3.0, 5.5, 9.0, 12.0];
    let budgets = epsilons
        .into_iter()
        .flat_map(|epsilon| [0.0, 1e-12, 1e-6, 0.01, 0.4].map(|delta| budget(epsilon, delta)));
    let one = BigInt::one();
    let (mut choices, mut cubes) = (0, 0);
    for budget in budgets {
        for k in [2, 3, 4, 5, 7, 10, 33, 100, 999, 4096, 65_537, 1 << 20] {
            let others = BigInt::from(k - 1);
            let grr = RandomizedResponse::new(k, &budget).unwrap();
            assert_kept(
                grr.support_probabilities().own_answer_probability,
                [&one, &others, &one],
                &budget,
                "GRR",
            );
            let hash = LocalHash::new(7, k, &budget).unwrap();
            assert_kept(
                hash.support_probabilities().own_answer_probability,
                [&one, &others, &one],
                &budget,
                "LH",
            );
            choices += 2;
        }
        for q in [1e-9, 0.001, 0.2, 0.5, 0.55] {
            let rates = UnaryEncoding::new(3, q, &budget)
                .unwrap()
                .support_probabilities();
            let [p, q] = [
                rates.own_answer_probability.next_up(),
                rates.other_answer_probability,
            ]
            .map(exactly);
            let rest = |p: &BigRational| BigRational::one() - p;
            let excess = &p * rest(&q) - e_below(budget.epsilon()) * &q * rest(&p);
            assert!(excess <= exactly(budget.delta()), "{rates:?}");
            choices += 1;
        }
        for d in [1_u32, 2, 5, 8, 17, 30, 64, 101] {
            let mut ways = vec![BigInt::one()];
            for a in 0..d {
                let next = &ways[a as usize] * (d - a) / (a + 1);
                ways.push(next);
            }
            let from = |a: u32| ways[a as usize..].iter().sum::<BigInt>();
            let all = from(0);
            for threshold in [1, d.div_ceil(2), d / 2 + 1, (d / 2 + 3).min(d)] {
                let own = MajorityMechanism::with_agreement_threshold(d, threshold, &budget);
                let Ok(own) = own else { continue };
                let favoured = from(threshold);
                let (others, against) = (&all - &favoured, from(threshold.max(d - threshold + 1)));
                let what = format!("{own:?}");
                assert_kept(
                    own.favoured_probability(),
                    [&favoured, &others, &against],
                    &budget,
                    &what,
                );
                assert!(
                    own.estimate_scale().is_sign_positive() && own.estimate_scale() > 1.0 - 1e-9,
                    "{what}"
                );
                cubes += 1;
            }
        }
    }
    assert!(choices > 1000 && cubes > 1000, "{choices}, {cubes}");
    assert!(!e_below(1.0).is_zero() && !e_below(1.0).is_negative());
}

#[test]
fn normal_noise_keeps_to_its_budget() {
    for epsilon in [0.001, 0.1, 1.0, 4.0, 12.0] {
        for delta in [1e-15, 1e-9, 1e-5, 0.1] {
            let budget = budget(epsilon, delta);
            for noise in [
                GaussianMechanism::for_one_hot_vectors(&budget),
                GaussianMechanism::for_numbers(7, &budget),
            ] {
                let noise = noise.unwrap();
                let kept = noise.delta_at(epsilon);
                assert!(kept <= delta && kept > 0.999 * delta, "{noise:?}: {kept}");
                // The paper's equation for σ: erfc(ξ) − e·erfc(√(ξ² + ε)) = 2δ.
                let root = noise.sigma() * epsilon * 2.0_f64.sqrt() / noise.sensitivity();
                let xi = (root - epsilon / root) / 2.0;
                // The function of statrs is accurate to ten digits.
                let erfc = statrs::function::erf::erfc;
                let twice = erfc(xi) - epsilon.exp() * erfc((xi * xi + epsilon).sqrt());
                assert!(
                    (twice / (2.0 * delta) - 1.0).abs() < 2e-3,
                    "{noise:?}: {twice}"
                );
            }
        }
    }
}

/// For a mechanism that uses its whole budget, the least ε is the requested one.
#[test]
fn the_least_epsilon_is_the_one_asked_for() {
    for delta in [0.0, 1e-3] {
        let own = MajorityMechanism::new(5, &budget(1.0, delta)).unwrap();
        let real = least_epsilon(delta, |epsilon| own.delta_at(epsilon));
        assert!((real - 1.0).abs() < 1e-9 && real <= 1.0, "{real}");
    }
    assert_eq!(least_epsilon(0.1, |_| 0.1), 0.0);
    assert_eq!(least_epsilon(0.1, |_| 0.2), f64::INFINITY);
}

#[test]
fn bad_parameters_are_refused() {
    let one = budget(1.0, 0.0);
    let code = |error: hushbin::Error| error.code();
    let range = ErrorCode::OutOfRange;
    for (epsilon, delta) in [
        (0.0, 0.0),
        (13.0, 0.0),
        (1.0, -1e-9),
        (1.0, 0.51),
        (f64::NAN, 0.0),
    ] {
        assert_eq!(Budget::new(epsilon, delta).map_err(code), Err(range));
    }
    assert_eq!(RandomizedResponse::new(1, &one).map_err(code), Err(range));
    assert_eq!(LocalHash::new(5, 1, &one).map_err(code), Err(range));
    assert_eq!(OptimalLocalHashing::new(1, &one).map_err(code), Err(range));
    for q in [0.0, 1.0, f64::NAN] {
        assert_eq!(UnaryEncoding::new(2, q, &one).map_err(code), Err(range));
    }
    let combination = ErrorCode::InvalidCombination;
    let large = budget(1.0, 0.4);
    assert_eq!(
        UnaryEncoding::new(2, 0.7, &large).map_err(code),
        Err(combination)
    );
    assert_eq!(
        UnaryEncoding::optimized_encoding(2, &large).map_err(code),
        Err(combination)
    );
    for (d, threshold) in [(0, 1), (1001, 501), (4, 0), (4, 5), (64, 64)] {
        let own = MajorityMechanism::with_agreement_threshold(d, threshold, &one);
        assert_eq!(own.map_err(code), Err(range), "{d}, {threshold}");
    }
    for (d, k, epsilon) in [
        (0, 1, 1.0),
        (3, 0, 1.0),
        (3, 4, 1.0),
        (3, 1, 12.5),
        (3, 3, 0.002),
    ] {
        let own = SampledTwoPointMechanism::with_drawn_count(d, k, epsilon, 0.0);
        assert_eq!(own.map_err(code), Err(range), "{d}, {k}, {epsilon}");
    }
    assert_eq!(
        GaussianMechanism::for_one_hot_vectors(&one).map_err(code),
        Err(range)
    );
    assert_eq!(
        GaussianMechanism::for_numbers(0, &large).map_err(code),
        Err(range)
    );
    assert_eq!(
        favoured_probability_with_delta(3, 3, &one).map_err(code),
        Err(range)
    );
    assert_eq!(encode_category_as_signs(0, 1).map_err(code), Err(range));
    assert_eq!(
        as_printed::uncorrected_majority_mechanism(64, &budget(1.0, 1e-6)).map_err(code),
        Err(combination)
    );
    assert_eq!(as_printed::uncorrected_best_bucket_count(&one), None);
    let asked = hushbin_study::competitors::ComparedQuestion::Choice { options: 1 };
    assert!(
        compare_mechanisms(asked, &one, 1).is_err() && compare_mechanisms(asked, &one, 0).is_err()
    );
}

/// g* is real up to the δ of each row. These limits stay below 1/9.
#[test]
fn the_best_number_of_buckets_is_real_for_small_deltas() {
    for (epsilon, edge) in [(0.5, 0.047), (1.0, 0.073), (2.0, 0.098), (12.0, 1.0 / 9.0)] {
        assert!(
            best_bucket_count(&budget(epsilon, edge - 0.001)).is_some(),
            "{epsilon}"
        );
        assert!(
            best_bucket_count(&budget(epsilon, edge + 0.001)).is_none(),
            "{epsilon}"
        );
    }
}
