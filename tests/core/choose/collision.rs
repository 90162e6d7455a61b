//! Collision's chosen parameters are the best of all, or within a small tolerance. The tests try
//! all.

use hushbin::Mechanism;
use hushbin::TaskDraft;
use hushbin::choose::collision::ParametersDraft;
use hushbin::choose::{PrivacyBudget, mixture_alpha};
use hushbin::domain::Domain;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule, FavouredBucketRuleName};
use serde_json::json;

use super::{Functions, domain};

/// A draft with one hash function.
fn draft(
    rule: FavouredBucketRuleName,
    favoured: Option<u32>,
    hashing: HashFamily,
    buckets: Option<u32>,
) -> ParametersDraft {
    ParametersDraft {
        rule: Some(rule),
        favoured,
        hashing: Some(hashing),
        buckets,
        hashes: Some(1),
    }
}

fn variance(collision: &Collision, domain: &Domain, epsilon: f64) -> f64 {
    collision
        .hit_probabilities(domain, epsilon)
        .total_variance(domain)
}

/// Least variance over all t, up to far beyond the best one.
fn least(domain: &Domain, epsilon: f64, rule: FavouredBucketRuleName, hashing: HashFamily) -> f64 {
    let s = domain.sparsity();
    let most = (3.0 * f64::from(s) * (epsilon.exp() + 3.0)) as u32 + 8;
    let candidates = (2..=most).flat_map(|t| match rule {
        FavouredBucketRuleName::Occupied if t > s => vec![(FavouredBucketRule::Occupied, t)],
        FavouredBucketRuleName::Occupied => vec![],
        FavouredBucketRuleName::Heaviest => (1..=(s + 2).min(t - 1))
            .map(|favoured| (FavouredBucketRule::Heaviest { favoured }, t))
            .collect(),
    });
    candidates
        .map(|(rule, t)| Collision::new(rule, hashing, t).unwrap())
        .map(|collision| variance(&collision, domain, epsilon))
        .filter(|variance| *variance >= 0.0)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn no_other_parameters_are_better() {
    for (items, sparsity) in [(1, 1), (3, 2), (20, 1), (20, 3), (40, 6), (100, 5)] {
        let domain = domain(items, sparsity);
        for epsilon in [0.1, 0.7, 1.5, 3.0] {
            for rule in [
                FavouredBucketRuleName::Heaviest,
                FavouredBucketRuleName::Occupied,
            ] {
                for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                    let best = least(&domain, epsilon, rule, hashing);
                    let chosen = Collision::choose_parameters(
                        &domain,
                        epsilon,
                        &draft(rule, None, hashing, None),
                    );
                    let chosen = chosen.unwrap();
                    assert_eq!((chosen.rule_name(), chosen.hash_family()), (rule, hashing));
                    let ours = variance(&chosen, &domain, epsilon);
                    assert!(
                        ours <= best * 1.001 && ours >= best * (1.0 - 1e-12),
                        "{chosen:?}: {ours}, at best {best}; d = {items}, s = {sparsity}, ε = {epsilon}"
                    );
                }
            }
        }
    }
}

/// Parameters whose α is at most a limit, up to the point from which the variance only rises.
#[test]
fn no_other_parameters_that_hide_as_well_are_better() {
    for (items, sparsity) in [(1, 1), (20, 1), (20, 3), (40, 6), (300, 16)] {
        let domain = domain(items, sparsity);
        for epsilon in [0.3, 1.5, 4.0] {
            let e = f64::exp(epsilon);
            for limit in [0.6, 0.1, 0.01, 0.002].map(|part| part / (e + 1.0)) {
                let budget = PrivacyBudget {
                    epsilon,
                    max_alpha: limit,
                };
                let (rule, hashing) = (FavouredBucketRuleName::Heaviest, HashFamily::Balanced);
                let chosen = Collision::choose_parameters(
                    &domain,
                    budget,
                    &draft(rule, None, hashing, None),
                );
                let chosen = chosen.unwrap();
                let hides = |c: u32, t: u32| mixture_alpha(c.into(), (t - c).into(), e) <= limit;
                assert!(hides(
                    chosen.favoured_count().unwrap(),
                    chosen.buckets_per_hash()
                ));
                let ours = variance(&chosen, &domain, epsilon);
                for favoured in 1..=sparsity {
                    let first = (2 * favoured..).find(|t| hides(favoured, *t)).unwrap();
                    // First values near the limit, then values at some distance.
                    for t in (0..8)
                        .chain((1..12).map(|i| first * i / 8))
                        .map(|more| first + more)
                    {
                        let other =
                            Collision::new(FavouredBucketRule::Heaviest { favoured }, hashing, t)
                                .unwrap();
                        let theirs = variance(&other, &domain, epsilon);
                        assert!(
                            ours <= theirs * 1.002,
                            "{chosen:?}: {ours}, {other:?}: {theirs}; d = {items}, s = {sparsity}, \
                             ε = {epsilon}, α = {limit}"
                        );
                    }
                }
                let occupied = Collision::choose_parameters(
                    &domain,
                    budget,
                    &draft(FavouredBucketRuleName::Occupied, None, hashing, None),
                );
                assert!(hides(sparsity, occupied.unwrap().buckets_per_hash()));
                let named = Collision::choose_parameters(
                    &domain,
                    budget,
                    &draft(rule, None, hashing, Some(2)),
                );
                assert!(hides(1, 2) || named.is_err());
            }
        }
    }
}

#[test]
fn what_is_given_is_kept() {
    let domain = domain(40, 6);
    let choose = |rule, favoured, buckets| {
        Collision::choose_parameters(
            &domain,
            1.0,
            &draft(rule, favoured, HashFamily::Balanced, buckets),
        )
    };
    let best = choose(FavouredBucketRuleName::Heaviest, None, None).unwrap();
    for buckets in [2, 3, 10, 500] {
        let chosen = choose(FavouredBucketRuleName::Heaviest, None, Some(buckets)).unwrap();
        assert_eq!(chosen.buckets_per_hash(), buckets);
        assert!(variance(&chosen, &domain, 1.0) >= variance(&best, &domain, 1.0));
    }
    for favoured in [1, 4, 6, 7, 100] {
        let chosen = choose(FavouredBucketRuleName::Heaviest, Some(favoured), None).unwrap();
        assert_eq!(chosen.favoured_count(), Some(favoured));
        assert!(variance(&chosen, &domain, 1.0) >= variance(&best, &domain, 1.0));
    }
    assert!(choose(FavouredBucketRuleName::Heaviest, Some(0), None).is_err());
    assert!(choose(FavouredBucketRuleName::Heaviest, Some(u32::MAX), None).is_err());
    assert!(choose(FavouredBucketRuleName::Heaviest, Some(10), Some(10)).is_err());
    assert!(choose(FavouredBucketRuleName::Heaviest, None, Some(1)).is_err());
    assert!(choose(FavouredBucketRuleName::Occupied, Some(1), None).is_err());
    assert!(choose(FavouredBucketRuleName::Occupied, None, Some(6)).is_err());
    assert!(choose(FavouredBucketRuleName::Occupied, None, Some(u32::MAX)).is_err());
}

/// Ratios of variances to P1's Collision at its own t (independent hash, rule `occupied`), as the
/// design states them from simulation.
#[test]
fn one_function_beats_the_paper_as_designed() {
    let cases = [
        (256, 16, 0.5, 0.87),
        (256, 32, 1.0, 0.82),
        (256, 64, 1.0, 0.70),
        (4096, 64, 0.5, 0.88),
    ];
    for (items, sparsity, epsilon, ratio) in cases {
        let file = json!({
            "id": "default", "items": items, "sparsity": sparsity, "epsilon": epsilon,
            "value": "real", "mechanism": { "name": "collision", "hashes": 1 },
        });
        let task = serde_json::from_value::<TaskDraft>(file)
            .unwrap()
            .resolve_task()
            .unwrap();
        let Mechanism::Collision(ours) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let s = f64::from(sparsity);
        let t = (s * f64::exp(epsilon) + 2.0 * s - 1.0).floor() as u32;
        let paper =
            Collision::new(FavouredBucketRule::Occupied, HashFamily::Independent, t).unwrap();
        let domain = task.questions()[0].domain();
        let measured = variance(ours, &domain, epsilon) / variance(&paper, &domain, epsilon);
        println!(
            "d = {items}, s = {sparsity}, ε = {epsilon}: {measured:.3} of the paper's variance"
        );
        assert!(
            (ratio - 0.03..=ratio + 0.005).contains(&measured),
            "{measured}, not {ratio}: {ours:?}"
        );
    }
}

/// The number of favoured buckets can exceed the buckets of one function.
#[test]
fn favoured_count_among_all_functions() {
    let domain = domain(40, 1);
    let asked = ParametersDraft {
        favoured: Some(2000),
        hashes: Some(4096),
        ..ParametersDraft::default()
    };
    let chosen = Collision::choose_parameters(&domain, 1.0, &asked).unwrap();
    assert_eq!(
        (chosen.favoured_count(), chosen.hash_count()),
        (Some(2000), 4096)
    );
}

#[test]
fn no_other_number_of_functions_is_better() {
    let all = Functions {
        first: 2,
        most: |all| all - 1,
        elements: |domain, _| domain.element_count(),
        choose: |domain, epsilon, hashing| {
            let open = ParametersDraft {
                hashing: Some(hashing),
                ..ParametersDraft::default()
            };
            let chosen = Collision::choose_parameters(domain, epsilon, &open).unwrap();
            let variance = variance(&chosen, domain, epsilon);
            (chosen.hash_count(), chosen.buckets_per_hash(), variance)
        },
        variance: |domain, epsilon, hashing, hashes, buckets, favoured| {
            let rule = FavouredBucketRule::Heaviest { favoured };
            let other = Collision::new_with_hash_count(rule, hashing, buckets, hashes).unwrap();
            variance(&other, domain, epsilon)
        },
    };
    all.assert_chosen_is_best(&[HashFamily::Balanced, HashFamily::Independent]);
}
