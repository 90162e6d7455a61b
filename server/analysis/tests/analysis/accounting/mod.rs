//! Tests of shuffle accounting against independently computed numbers, full enumeration, and exact
//! rational arithmetic.

mod attained;
mod blanket;
mod compose;
mod ideal_hash;
mod inverse;
mod memoised;

use crate::support::reduction::{Reduction, divergence};
use hushbin::{ErrorCode, TaskDraft};
use hushbin_analysis::accounting::{
    AccountingError, ReportMixture, compute_batch_privacy, delta_bounds, mixture_at_largest_epsilon,
};
use hushbin_tests::mixtures::{heaviest, occupied, overwrite, strongest};
use num_rational::BigRational;
use num_traits::{One, Zero};
use proptest::prelude::*;
use serde_json::{Value, json};
use statrs::function::erf::erfc;

/// Returns the mixture of one row of the reference values.
fn mixture(row: &Value) -> ReportMixture {
    let whole = |field: &str| u32::try_from(row[field].as_u64().unwrap()).unwrap();
    let epsilon = row["epsilon"].as_f64().unwrap();
    match (row["mechanism"].as_str().unwrap(), row["rule"].as_str()) {
        ("generic", None) => ReportMixture::for_any_randomizer(epsilon).unwrap(),
        ("collision", Some("occupied")) => occupied(whole("s"), whole("t"), epsilon),
        ("collision", Some("heaviest")) => heaviest(whole("c"), whole("t"), epsilon),
        ("coco", Some("overwrite")) => overwrite(whole("s"), whole("t"), epsilon),
        ("coco", Some("strongest")) => strongest(whole("c"), whole("t"), epsilon),
        other => panic!("unknown mechanism {other:?}"),
    }
}

#[test]
fn the_reduction_meets_reference_values() {
    let rows = include_str!("../../../../../tests/reference/amplification.json");
    let rows: Vec<Value> = serde_json::from_str(rows).unwrap();
    assert_eq!(rows.len(), 207);
    for row in &rows {
        let mixture = mixture(row);
        let alpha = row["alpha"].as_f64().unwrap();
        assert!((mixture.alpha() / alpha - 1.0).abs() < 1e-12, "{row}");
        let (n, delta) = (row["n"].as_u64().unwrap(), row["delta"].as_f64().unwrap());
        let found = compute_batch_privacy(&mixture, n, 1.0, delta).unwrap();
        let known = row["epsilon_central"].as_f64().unwrap();
        let reduction = found.reduction_epsilon.unwrap();
        let relative = reduction / known - 1.0;
        assert!(relative.abs() < 1e-6, "{row}: {found:?}");
        assert!(reduction > known - 1e-9, "{row}: {found:?}");
        assert!(
            found.reduction_lower_epsilon < known * (1.0 + 1e-6),
            "{row}: {found:?}"
        );
        // The proven ε_c is never smaller.
        assert!(found.central_epsilon >= reduction, "{row}: {found:?}");
        let width = 1.0 - found.reduction_lower_epsilon / reduction;
        // If hardly anything is gained, ln(P/Q) is close to its maximum and P − exp(ε_c)·Q cancels.
        let most = if known < 0.999 * mixture.epsilon() {
            1e-9
        } else {
            1e-7
        };
        assert!((0.0..most).contains(&width), "{row}: {found:?}");
    }
}

/// Every (T, a) of small batches, for all kinds of α.
#[test]
fn full_enumeration_agrees() {
    for n in [2, 3, 7, 20, 60] {
        for epsilon in [0.01, 0.3, 1.0, 3.0, 8.0] {
            for mixture in [
                ReportMixture::for_any_randomizer(epsilon).unwrap(),
                heaviest(3, 4, epsilon),
                heaviest(5, 16, epsilon),
                occupied(4, 6, epsilon),
                overwrite(8, 200, epsilon),
            ] {
                let alpha = mixture.alpha();
                let batches = Reduction { alpha, epsilon, n }.all();
                for part in [0.0, 0.01, 0.2, 0.7, 0.99, 1.0] {
                    let central = part * epsilon;
                    let slow = divergence(&batches, central);
                    let found = delta_bounds(&mixture, n, central).unwrap();
                    let (lower, upper) = (found.reduction_lower_delta, found.reduction_upper_delta);
                    let at =
                        format!("{mixture:?}, n = {n}, ε_c = {central}: {lower}..{upper}, {slow}");
                    // P − exp(ε_c)·Q cancels.
                    let close = 1e-12 * central.exp() + 1e-10 * slow;
                    assert!(
                        (lower - slow).abs() < close && (upper - slow).abs() < close,
                        "{at}"
                    );
                }
            }
        }
    }
}

fn rational(number: f64) -> BigRational {
    BigRational::from_float(number).unwrap()
}

/// Returns δ(ε_c) of c favoured of t, in rational arithmetic. exp(ε) and exp(ε_c) − 1 are the
/// nearest doubles.
fn exact_delta(c: u32, t: u32, epsilon: f64, n: u32, central: f64) -> BigRational {
    let one = BigRational::one();
    let whole = |number: u32| BigRational::from_integer(number.into());
    let (e, k) = (rational(epsilon.exp()), rational(central.exp_m1()) + &one);
    let alpha = whole(c.min(t - c)) / (whole(c) * &e + whole(t - c));
    let rest = &one - &alpha - &alpha * &e;
    let p = whole(2) * &alpha;
    let choose = |n: u32, x: u32| {
        (0..x).fold(BigRational::one(), |ways, i| {
            ways * whole(n - i) / whole(i + 1)
        })
    };
    let power = |base: &BigRational, to: u32| num_traits::pow(base.clone(), to as usize);
    let clones = |x: u32| choose(n - 1, x) * power(&p, x) * power(&(&one - &p), n - 1 - x);
    let half = |c: u32, a: u32| choose(c, a) / power(&whole(2), c);
    let mut sum = BigRational::zero();
    for total in 0..=n {
        let same = if total < n {
            &rest * clones(total)
        } else {
            BigRational::zero()
        };
        let fewer = if total > 0 {
            &alpha * clones(total - 1)
        } else {
            BigRational::zero()
        };
        for a in 0..=total {
            let neither = &same * half(total, a);
            let first = if a > 0 {
                &fewer * half(total - 1, a - 1)
            } else {
                BigRational::zero()
            };
            let second = if a < total {
                &fewer * half(total - 1, a)
            } else {
                BigRational::zero()
            };
            let excess = (&neither + &e * &first + &second) - &k * (neither + first + &e * second);
            if excess > BigRational::zero() {
                sum += excess;
            }
        }
    }
    sum
}

/// Bounds are never on the wrong side, by exact arithmetic.
#[test]
fn bounds_of_the_reduction_hold_exactly() {
    for (c, t) in [(1, 2), (4, 17), (5, 7), (1, 300)] {
        for epsilon in [0.05, 0.5, 1.0, 4.0] {
            let mixture = heaviest(c, t, epsilon);
            for n in [2, 5, 12] {
                for part in [0.0, 0.1, 0.5, 0.9] {
                    let central = part * epsilon;
                    let exact = exact_delta(c, t, epsilon, n, central);
                    let found = delta_bounds(&mixture, n.into(), central).unwrap();
                    let (lower, upper) = (found.reduction_lower_delta, found.reduction_upper_delta);
                    let at = format!("c = {c} of {t}, ε = {epsilon}, n = {n}, ε_c = {central}");
                    assert!(rational(lower) <= exact && exact <= rational(upper), "{at}");
                }
                for delta in [0.05, 1e-3, 1e-6, 1e-12] {
                    let found = compute_batch_privacy(&mixture, n.into(), 1.0, delta).unwrap();
                    let exact = |central| exact_delta(c, t, epsilon, n, central);
                    let at = format!("c = {c} of {t}, ε = {epsilon}, n = {n}: {found:?}");
                    let reduction = found.reduction_epsilon.unwrap();
                    let enough = reduction == epsilon || exact(reduction) <= rational(delta);
                    let needed = found.reduction_lower_epsilon == 0.0
                        || exact(found.reduction_lower_epsilon) > rational(delta);
                    assert!(enough && needed, "{at}");
                }
            }
        }
    }
}

/// Large batches: the loss is nearly Gaussian.
#[test]
fn large_batches_approach_the_gaussian_limit() {
    let (n, delta) = (100_000_000_u64, 1e-10);
    for mixture in [
        occupied(4, 17, 1.0),
        heaviest(29, 88, 0.5),
        ReportMixture::for_any_randomizer(2.0).unwrap(),
    ] {
        let found = compute_batch_privacy(&mixture, n, 1.0, delta).unwrap();
        let central = found.central_epsilon;
        let reduction = found.reduction_epsilon.unwrap();
        assert!(
            found.reduction_lower_epsilon > reduction * (1.0 - 1e-9),
            "{found:?}"
        );
        assert!(central < reduction * (1.0 + 1e-7), "{found:?}");
        let mu = mixture.epsilon().exp_m1() * (2.0 * mixture.alpha() / n as f64).sqrt();
        let above = |x: f64| 0.5 * erfc(x / 2_f64.sqrt());
        let (left, right) = (central / mu - mu / 2.0, central / mu + mu / 2.0);
        let gaussian = above(left) - central.exp() * above(right);
        assert!(
            (gaussian / delta - 1.0).abs() < 0.01,
            "{found:?}: {gaussian}"
        );
    }
}

#[test]
fn extremes_have_bounds() {
    for epsilon in [0.001, 0.1, 12.0] {
        for mixture in [
            ReportMixture::for_any_randomizer(epsilon).unwrap(),
            heaviest(1, 1 << 22, epsilon),
            heaviest((1 << 22) - 1, 1 << 22, epsilon),
        ] {
            for n in [2, 3, 1000, 30_000_000] {
                for delta in [0.1, 1e-6, 1e-15] {
                    let found = compute_batch_privacy(&mixture, n, 1.0, delta).unwrap();
                    let (lower, upper) = (found.reduction_lower_epsilon, found.central_epsilon);
                    assert!(
                        0.0 <= lower && lower <= upper && upper <= epsilon,
                        "{found:?}"
                    );
                }
            }
        }
    }
}

/// Up to n = 10¹² the bracket was at most 1.6·10⁻⁸ wide, for ε from 0.001 to 12 and any α. An
/// account took at most 3 seconds, and 0.3 up to 10¹⁰.
#[test]
fn the_largest_batches_are_tight() {
    for (n, epsilon, delta) in [
        (10_000_000_000, 0.001, 1e-15),
        (10_000_000_000, 12.0, 1e-15),
        (100_000_000_000, 1.0, 1e-12),
        (1_000_000_000_000, 12.0, 1e-15),
    ] {
        for mixture in [
            ReportMixture::for_any_randomizer(epsilon).unwrap(),
            heaviest(1, 1 << 22, epsilon),
        ] {
            let found = compute_batch_privacy(&mixture, n, 1.0, delta).unwrap();
            let reduction = found.reduction_epsilon.unwrap();
            let width = 1.0 - found.reduction_lower_epsilon / reduction;
            assert!((0.0..1e-7).contains(&width), "{found:?}");
            // The reduction omits little, though few of these reports are informative.
            assert!(found.central_epsilon < reduction * 1.001, "{found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn more_people_more_delta_and_less_epsilon_lose_less(
        epsilon in 0.01..6.0_f64,
        t in 2_u32..200,
        favoured in 0.0..1.0_f64,
        n in 3_u64..200_000,
        exponent in 2.0..12.0_f64,
    ) {
        let c = 1 + (favoured * f64::from(t - 1)) as u32;
        let c = c.min(t - 1);
        let delta = 10_f64.powf(-exponent);
        let at = |epsilon, n, honest, delta| {
            compute_batch_privacy(&heaviest(c, t, epsilon), n, honest, delta).unwrap()
        };
        let base = at(epsilon, n, 1.0, delta);
        prop_assert!(base.reduction_lower_epsilon <= base.central_epsilon && base.central_epsilon <= epsilon);
        for less in [
            at(epsilon, 2 * n, 1.0, delta),
            at(epsilon, n, 1.0, 2.0 * delta),
            at(0.9 * epsilon, n, 1.0, delta),
        ] {
            prop_assert!(less.reduction_lower_epsilon <= base.central_epsilon);
            prop_assert!(less.central_epsilon <= base.central_epsilon * (1.0 + 1e-6) + 1e-12);
        }
        let any = compute_batch_privacy(&ReportMixture::for_any_randomizer(epsilon).unwrap(), n, 1.0, delta).unwrap();
        // Larger batches group the part that the reduction omits.
        prop_assert!(base.central_epsilon <= any.central_epsilon * (1.0 + 1e-4) + 1e-12);
        // Dishonest people's reports hide no person.
        prop_assert_eq!(at(epsilon, 2 * n, 0.5, delta).central_epsilon, base.central_epsilon);
    }
}

#[test]
fn the_largest_local_epsilon_is_met() {
    let at = |epsilon| Ok::<_, hushbin::Error>(occupied(4, 17, epsilon));
    let found = mixture_at_largest_epsilon(at, 1_000_000, 1.0, 1e-8, 0.01).unwrap();
    let of =
        |epsilon| compute_batch_privacy(&occupied(4, 17, epsilon), 1_000_000, 1.0, 1e-8).unwrap();
    assert!(of(found.epsilon()).central_epsilon <= 0.01);
    assert!(of(found.epsilon() * (1.0 + 1e-8)).central_epsilon > 0.01);
    let error = mixture_at_largest_epsilon(at, 1_000_000, 1.0, 1e-8, 1e-9).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OutOfRange);
    assert_eq!(
        mixture_at_largest_epsilon(at, 2, 1.0, 1e-8, 12.0)
            .unwrap()
            .epsilon(),
        12.0
    );
}

#[test]
fn tasks_are_accounted_for_by_their_mechanism() {
    let task = |mechanism: Value| {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "t", "items": 40, "sparsity": 4, "epsilon": 1.0, "value": "real",
            "mechanism": mechanism,
        }))
        .unwrap();
        ReportMixture::for_task(&draft.resolve_task().unwrap())
    };
    let rule = |name: &str, rule: &str, buckets: u32, favoured: Option<u32>| {
        let mut mechanism = json!({
            "name": name, "rule": rule, "hashing": "independent", "buckets": buckets,
        });
        if let Some(favoured) = favoured {
            mechanism["favoured"] = json!(favoured);
        }
        task(mechanism).unwrap()
    };
    assert_eq!(
        rule("collision", "occupied", 17, None),
        occupied(4, 17, 1.0)
    );
    assert_eq!(
        rule("collision", "heaviest", 12, Some(3)),
        heaviest(3, 12, 1.0)
    );
    assert_eq!(rule("coco", "overwrite", 18, None), overwrite(4, 18, 1.0));
    assert_eq!(rule("coco", "strongest", 8, Some(2)), strongest(2, 8, 1.0));
    let hash_bin = |level: &str| task(json!({ "name": "hash-bin", "level": level }));
    assert_eq!(
        hash_bin("user").unwrap(),
        ReportMixture::for_any_randomizer(1.0).unwrap()
    );
    assert_eq!(
        hash_bin("event").unwrap_err(),
        AccountingError::NotAtUserLevel
    );
}
