//! Tests of several batches, and of several reports of one person, against exact enumeration in
//! integers and against limits.

use crate::support::exact::Exact;
use hushbin_analysis::accounting::{
    AccountingMethod, BatchPrivacy, ComposedPrivacy, PersonExposure, ReportMixture,
    compute_batch_privacy, compute_composed_privacy,
};
use hushbin_tests::mixtures::heaviest;
use statrs::function::erf::erfc;

fn daily(batches: u32) -> PersonExposure {
    PersonExposure {
        batches,
        ..PersonExposure::default()
    }
}

/// Checks by integers that neither bound is on the wrong side.
fn hold(found: &ComposedPrivacy, exact: &Exact, most: f64) {
    let account = &found.account;
    let enough =
        account.central_epsilon >= most || exact.at(account.central_epsilon) <= account.delta;
    assert!(enough, "not enough: {found:?}");
    let needed = account.reduction_lower_epsilon == 0.0
        || exact.at(account.reduction_lower_epsilon) >= account.delta;
    assert!(needed, "more than needed: {found:?}");
}

#[test]
fn small_batches_compose_as_enumerated() {
    for (c, t, epsilon) in [(1, 2, 0.5), (1, 2, 3.0), (2, 9, 1.0), (5, 7, 0.1)] {
        let mixture = heaviest(c, t, epsilon);
        for (n, batches) in [(2, 2), (2, 3), (5, 2), (3, 3), (6, 3), (4, 4)] {
            let exact = Exact::batch(c, t, epsilon, n, 1).times(batches);
            for delta in [0.05, 1e-3, 1e-6, 1e-12] {
                let found =
                    compute_composed_privacy(&mixture, n.into(), 1.0, delta, daily(batches))
                        .unwrap();
                hold(&found, &exact, f64::from(batches) * epsilon);
                let BatchPrivacy {
                    central_epsilon,
                    reduction_lower_epsilon,
                    method,
                    ..
                } = found.account;
                // The proven bound equals the reduction if every report is informative.
                if mixture.uninformative_probability() == 0.0 {
                    assert!(
                        reduction_lower_epsilon >= 0.997 * central_epsilon,
                        "{found:?}"
                    );
                    assert_eq!(method, AccountingMethod::LossDistribution, "{found:?}");
                }
            }
        }
    }
}

/// Batches in which all other people have one of the two inputs. The loss then exceeds the
/// reduction.
#[test]
fn batches_beyond_the_reduction_are_composed() {
    for (c, t, epsilon) in [(1, 3, 1.0), (2, 9, 1.0), (5, 7, 0.5)] {
        let mixture = heaviest(c, t, epsilon);
        for (n, batches) in [(2, 1), (2, 3), (5, 2), (4, 4)] {
            let exact = Exact::beside_holders(c, t, epsilon, n).times(batches);
            let most = f64::from(batches) * epsilon;
            for delta in [0.05, 1e-3, 1e-6, 1e-12] {
                let found =
                    compute_composed_privacy(&mixture, n.into(), 1.0, delta, daily(batches))
                        .unwrap();
                let central = found.account.central_epsilon;
                let enough = central >= most || exact.at(central) <= delta;
                assert!(enough, "{found:?}");
            }
        }
    }
}

/// Returns δ of a Gaussian loss at ε_c.
fn gaussian(mu: f64, central: f64) -> f64 {
    let above = |x: f64| 0.5 * erfc(x / 2_f64.sqrt());
    above(central / mu - mu / 2.0) - central.exp() * above(central / mu + mu / 2.0)
}

#[test]
fn large_batches_approach_the_gaussian_limit() {
    for (n, batches, delta) in [
        (1_000_000_u64, 2, 1e-6),
        (1_000_000, 37, 1e-12),
        (300_000, 10_000, 1e-8),
        (30_000_000, 365, 1e-10),
    ] {
        for mixture in [
            heaviest(4, 17, 1.0),
            ReportMixture::for_any_randomizer(2.0).unwrap(),
        ] {
            let found = compute_composed_privacy(&mixture, n, 1.0, delta, daily(batches)).unwrap();
            let central = found.account.central_epsilon;
            assert!(
                found.account.reduction_lower_epsilon > central * (1.0 - 1e-3),
                "{found:?}"
            );
            let one = mixture.epsilon().exp_m1() * (2.0 * mixture.alpha() / n as f64).sqrt();
            let limit = gaussian(one * f64::from(batches).sqrt(), central);
            assert!((limit / delta - 1.0).abs() < 0.01, "{found:?}: {limit}");
        }
    }
}

#[test]
fn one_batch_is_accounted_for_alone() {
    for mixture in [
        heaviest(4, 17, 1.0),
        ReportMixture::for_any_randomizer(0.2).unwrap(),
    ] {
        for n in [2, 100, 40_000] {
            for delta in [0.1, 1e-9] {
                let found =
                    compute_composed_privacy(&mixture, n, 1.0, delta, PersonExposure::default())
                        .unwrap();
                let alone = compute_batch_privacy(&mixture, n, 1.0, delta).unwrap();
                assert_eq!(found.account, alone);
                assert_eq!(found.one_batch_epsilon, alone.central_epsilon);
                assert_eq!(
                    found.basic_epsilon.max(found.advanced_epsilon),
                    alone.central_epsilon
                );
            }
        }
    }
}

#[test]
fn more_batches_tell_more_and_no_rule_is_below() {
    for (mixture, n) in [
        (heaviest(1, 3, 4.0), 300_u64),
        (heaviest(4, 17, 1.0), 20_000),
        (ReportMixture::for_any_randomizer(0.01).unwrap(), 2),
    ] {
        for delta in [1e-3, 1e-9, 1e-15] {
            let mut before = 0.0;
            for batches in [1, 2, 3, 5, 17, 64, 1001, 10_000] {
                let found =
                    compute_composed_privacy(&mixture, n, 1.0, delta, daily(batches)).unwrap();
                let BatchPrivacy {
                    central_epsilon,
                    reduction_lower_epsilon,
                    ..
                } = found.account;
                assert!(
                    0.0 <= reduction_lower_epsilon && reduction_lower_epsilon <= central_epsilon,
                    "{found:?}"
                );
                assert!(before <= central_epsilon, "{found:?}, {before}");
                before = reduction_lower_epsilon;
                assert!(
                    found.basic_epsilon.min(found.advanced_epsilon) >= reduction_lower_epsilon,
                    "{found:?}"
                );
                assert!(found.basic_epsilon.min(found.advanced_epsilon) >= central_epsilon);
                let most = f64::from(batches) * mixture.epsilon();
                assert!(central_epsilon <= most * (1.0 + 1e-12), "{found:?}");
            }
        }
    }
}

/// Repeating the same input is one choice of inputs.
#[test]
fn group_privacy_covers_repeated_reports() {
    for (c, t, epsilon) in [(1, 2, 0.5), (1, 2, 1.0), (1, 2, 3.0)] {
        let mixture = heaviest(c, t, epsilon);
        for (n, reports, batches) in [(6, 2, 1), (8, 3, 1), (4, 2, 2), (9, 9, 1)] {
            let exact = Exact::batch(c, t, epsilon, n, reports).times(batches);
            for delta in [0.05, 1e-3, 1e-6, 1e-12] {
                let exposure = PersonExposure {
                    batches,
                    reports_per_person: reports,
                };
                let found =
                    compute_composed_privacy(&mixture, n.into(), 1.0, delta, exposure).unwrap();
                let most = f64::from(batches * reports) * epsilon;
                let account = &found.account;
                let enough =
                    account.central_epsilon >= most || exact.at(account.central_epsilon) <= delta;
                assert!(enough, "{found:?}");
                let one = compute_composed_privacy(&mixture, n.into(), 1.0, delta, daily(batches))
                    .unwrap();
                assert!(one.account.central_epsilon <= account.central_epsilon * (1.0 + 1e-9));
                if batches == 1 {
                    assert_eq!(account.method, AccountingMethod::GroupPrivacy);
                }
            }
        }
    }
}

/// Comparison with the formula: R·ε' at δ' = δ·(exp(ε') − 1)/(exp(R·ε') − 1).
#[test]
fn group_privacy_splits_delta() {
    let mixture = heaviest(4, 17, 1.0);
    let exposure = PersonExposure {
        reports_per_person: 7,
        ..PersonExposure::default()
    };
    let found = compute_composed_privacy(&mixture, 200_000, 1.0, 1e-8, exposure).unwrap();
    let central = found.account.central_epsilon;
    let each = central / 7.0;
    let delta = 1e-8 * each.exp_m1() / central.exp_m1();
    let one = compute_batch_privacy(&mixture, 200_000, 1.0, delta).unwrap();
    assert!((one.central_epsilon / each - 1.0).abs() < 1e-8, "{found:?}");
}

#[test]
fn impossible_exposures_are_refused() {
    let any = ReportMixture::for_any_randomizer(1.0).unwrap();
    let refused = |n, honest, delta, exposure, expected: &str| {
        let error = compute_composed_privacy(&any, n, honest, delta, exposure).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let repeated = |reports| PersonExposure {
        reports_per_person: reports,
        ..PersonExposure::default()
    };
    refused(
        100,
        1.0,
        1e-6,
        daily(0),
        "batches is 0, expected 1 to 10000",
    );
    refused(100, 1.0, 1e-6, daily(10_001), "batches is 10001");
    refused(100, 1.0, 1e-6, repeated(0), "reports_per_person is 0");
    refused(100, 0.5, 1e-6, repeated(51), "expected 1 to 50");
    refused(1, 1.0, 1e-6, daily(2), "reports is 1");
    refused(100, f64::NAN, 1e-6, daily(2), "honest_fraction is NaN");
    refused(100, 1.0, 0.0, daily(2), "delta is 0");
}
