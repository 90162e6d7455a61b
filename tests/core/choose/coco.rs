//! CoCo's chosen parameters are the best of all, or within a small tolerance. The tests try all.

use hushbin::TaskDraft;
use hushbin::choose::coco::ParametersDraft;
use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::{BalancedHash, HashFamily, HashKeys};
use hushbin::mechanism::coco::{self, Coco, FavouredSideRule, FavouredSideRuleName};
use serde_json::json;

use super::{Functions, domain, domain_of};

/// A draft with one hash function.
fn draft(
    rule: FavouredSideRuleName,
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

fn variance(coco: &Coco, domain: &Domain, epsilon: f64) -> f64 {
    coco.hit_probabilities(domain, epsilon)
        .total_variance(domain)
}

/// Least variance over all T, up to far beyond the best one.
fn least(domain: &Domain, epsilon: f64, rule: FavouredSideRuleName, hashing: HashFamily) -> f64 {
    let s = domain.sparsity();
    let most = (3.0 * f64::from(s) * (epsilon.exp() + 3.0)) as u32 + 8;
    let candidates = (1..=most).flat_map(|pairs| match rule {
        FavouredSideRuleName::Overwrite if pairs > s => {
            vec![(FavouredSideRule::RandomEntryDecides, pairs)]
        }
        FavouredSideRuleName::Overwrite => vec![],
        FavouredSideRuleName::Strongest => (1..=(s + 2).min(pairs))
            .map(|favoured| (FavouredSideRule::Strongest { favoured }, pairs))
            .collect(),
    });
    candidates
        .map(|(rule, pairs)| Coco::new(rule, hashing, 2 * pairs).unwrap())
        .map(|coco| variance(&coco, domain, epsilon))
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn no_other_parameters_are_better() {
    let mut worst: f64 = 1.0;
    for (items, sparsity) in [
        (1, 1),
        (3, 2),
        (20, 1),
        (20, 3),
        (40, 6),
        (100, 5),
        (200, 8),
    ] {
        let domain = domain(items, sparsity);
        for epsilon in [0.1, 0.7, 1.5, 3.0] {
            for rule in [
                FavouredSideRuleName::Strongest,
                FavouredSideRuleName::Overwrite,
            ] {
                for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                    let best = least(&domain, epsilon, rule, hashing);
                    let chosen = Coco::choose_parameters(
                        &domain,
                        epsilon,
                        &draft(rule, None, hashing, None),
                    );
                    let chosen = chosen.unwrap();
                    assert_eq!((chosen.rule_name(), chosen.hash_family()), (rule, hashing));
                    let ours = variance(&chosen, &domain, epsilon);
                    worst = worst.max(ours / best);
                    assert!(
                        ours <= best * 1.001 && ours >= best * (1.0 - 1e-12),
                        "{chosen:?}: {ours}, at best {best}; d = {items}, s = {sparsity}, ε = {epsilon}"
                    );
                }
            }
        }
    }
    println!("at most {worst} of the least variance");
}

#[test]
fn what_is_given_is_kept() {
    let domain = domain(40, 6);
    let choose = |rule, favoured, buckets| {
        Coco::choose_parameters(
            &domain,
            1.0,
            &draft(rule, favoured, HashFamily::Balanced, buckets),
        )
    };
    let best = choose(FavouredSideRuleName::Strongest, None, None).unwrap();
    for buckets in [2, 4, 10, 500] {
        let chosen = choose(FavouredSideRuleName::Strongest, None, Some(buckets)).unwrap();
        assert_eq!(chosen.buckets_per_hash(), buckets);
        assert!(variance(&chosen, &domain, 1.0) >= variance(&best, &domain, 1.0));
        // The best c at this t.
        for favoured in 1..=7.min(buckets / 2) {
            let other = choose(
                FavouredSideRuleName::Strongest,
                Some(favoured),
                Some(buckets),
            )
            .unwrap();
            assert_eq!(other.favoured_count(), Some(favoured));
            assert!(variance(&other, &domain, 1.0) >= variance(&chosen, &domain, 1.0));
        }
    }
    for favoured in [1, 4, 6, 7, 100] {
        let chosen = choose(FavouredSideRuleName::Strongest, Some(favoured), None).unwrap();
        assert_eq!(chosen.favoured_count(), Some(favoured));
        assert!(variance(&chosen, &domain, 1.0) >= variance(&best, &domain, 1.0));
    }
    let overwrite = choose(FavouredSideRuleName::Overwrite, None, Some(14)).unwrap();
    assert_eq!(
        (overwrite.favouring_rule(), overwrite.buckets_per_hash()),
        (FavouredSideRule::RandomEntryDecides, 14)
    );
    assert!(choose(FavouredSideRuleName::Strongest, Some(0), None).is_err());
    assert!(choose(FavouredSideRuleName::Strongest, Some(u32::MAX), None).is_err());
    assert!(choose(FavouredSideRuleName::Strongest, Some(6), Some(10)).is_err());
    assert!(choose(FavouredSideRuleName::Strongest, None, Some(1)).is_err());
    assert!(choose(FavouredSideRuleName::Strongest, None, Some(7)).is_err());
    assert!(choose(FavouredSideRuleName::Overwrite, Some(1), None).is_err());
    assert!(choose(FavouredSideRuleName::Overwrite, Some(1), Some(14)).is_err());
    assert!(choose(FavouredSideRuleName::Overwrite, None, Some(12)).is_err());
    assert!(choose(FavouredSideRuleName::Overwrite, None, Some(15)).is_err());
    assert!(choose(FavouredSideRuleName::Overwrite, None, Some(u32::MAX)).is_err());
}

/// The reference is P1's CoCo (independent hash, rule `overwrite`) at its best t, by total variance
/// of all means. If inputs have a quarter of all items and no padding, every item has its own pair
/// at ε = 2.
#[test]
fn one_function_beats_the_paper_as_designed() {
    let cases = [
        (256, 16, 0.5, 0.72),
        (256, 16, 1.0, 0.80),
        (256, 16, 1.5, 0.87),
        (256, 16, 3.0, 0.81),
        (256, 64, 0.25, 0.67),
        (256, 64, 1.0, 0.71),
        (256, 64, 2.0, 0.60),
        (4096, 64, 1.0, 0.77),
    ];
    for (items, sparsity, epsilon, limit) in cases {
        let file = json!({
            "id": "default", "items": items, "sparsity": sparsity, "epsilon": epsilon,
            "value": "real", "mechanism": { "name": "coco", "hashes": 1 },
        });
        let task = serde_json::from_value::<TaskDraft>(file).unwrap();
        let task = task.resolve_task().unwrap();
        let hushbin::Mechanism::Coco(ours) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let domain = task.questions()[0].domain();
        let (rule, hashing) = (FavouredSideRuleName::Overwrite, HashFamily::Independent);
        let paper =
            Coco::choose_parameters(&domain, epsilon, &draft(rule, None, hashing, None)).unwrap();
        let paper = variance(&paper, &domain, epsilon);
        let measured = variance(ours, &domain, epsilon) / paper;
        let (c, pairs) = (ours.favoured_count().unwrap(), ours.pairs_per_function());
        println!(
            "d = {items}, s = {sparsity}, ε = {epsilon}: {measured:.3} of the paper's variance, c = {c}, T = {pairs}"
        );
        assert!(measured <= limit, "{measured}, not {limit}: {ours:?}");
        assert!(measured > limit - 0.05, "{measured}: too good to be true");
    }
}

/// The choice also ends for the largest tasks, with a usable result.
#[test]
fn the_largest_tasks_are_chosen_for() {
    let open = || domain_of(&json!("open"), 1024);
    let domains = [domain(1 << 20, 1024), domain(4096, 64), open()];
    for domain in domains {
        for rule in [
            FavouredSideRuleName::Strongest,
            FavouredSideRuleName::Overwrite,
        ] {
            for epsilon in [0.001, 1.0, 12.0] {
                let hashing = match domain.item_count() {
                    Some(_) => HashFamily::Balanced,
                    None => HashFamily::Independent,
                };
                let draft = draft(rule, None, hashing, None);
                let chosen = Coco::choose_parameters(&domain, epsilon, &draft).unwrap();
                let rates = chosen.hit_probabilities(&domain, epsilon);
                assert!(
                    rates.side_hit_probability_gap > 0.0,
                    "{chosen:?} of {domain:?}, ε = {epsilon}"
                );
            }
        }
    }
}

/// The rate at which entries' pairs are hit, on which predicted variances rest, against its average
/// over seeds. The probabilities of each seed are exact.
#[test]
fn predictions_hold_at_real_sizes() {
    for (items, sparsity, epsilon) in [
        (256, 16, 0.5),
        (256, 16, 3.0),
        (256, 64, 1.0),
        (256, 64, 2.0),
    ] {
        let domain = domain(items, sparsity);
        let (rule, hashing) = (FavouredSideRuleName::Strongest, HashFamily::Balanced);
        let chosen =
            Coco::choose_parameters(&domain, epsilon, &draft(rule, None, hashing, None)).unwrap();
        let hash = BalancedHash::new(items + sparsity, chosen.pairs_per_function());
        let mut randomizer = coco::Randomizer::new(&chosen, &domain, epsilon);
        let input: Vec<SignedItem> = (0..sparsity)
            .map(|i| SignedItem {
                item: u64::from(i),
                is_negative: i % 3 == 0,
            })
            .collect();
        let mut rates = Vec::new();
        for seed in 0..4000 {
            let probabilities = randomizer.exact_bucket_probabilities(seed, &input, 0);
            let keys = HashKeys::new(seed);
            let hit = |item: u32| {
                let plus = 2 * hash.bucket_of_slot(&keys, item) as usize;
                probabilities[plus] + probabilities[plus + 1]
            };
            rates.push((0..sparsity).map(hit).sum::<f64>() / f64::from(sparsity));
        }
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let spread = rates
            .iter()
            .map(|rate| (rate - mean).powi(2))
            .sum::<f64>()
            .sqrt()
            / n;
        let predicted = chosen
            .hit_probabilities(&domain, epsilon)
            .predicted_pair_probabilities
            .pair_hit_if_present;
        let off = predicted / mean - 1.0;
        println!("{chosen:?}: {predicted}, by simulation {mean} ± {spread}, off by {off}");
        assert!(
            (predicted - mean).abs() <= 5.0 * spread + 0.01 * mean,
            "{chosen:?}"
        );
    }
}

/// Items replace paddings for long inputs if that is better by more than 3 in 1,000, unless the
/// draft fixes the hashing.
#[test]
fn items_stand_for_paddings_where_that_is_better() {
    for (items, sparsity, epsilon, filled) in [
        (16, 8, 1.5, true),
        (64, 16, 2.0, true),
        (256, 64, 3.0, true),
        (16, 4, 1.0, false),
        (64, 8, 0.5, false),
        (64, 16, 0.25, false),
        (1000, 20, 3.0, false),
    ] {
        let domain = domain(items, sparsity);
        let choose = |hashing| {
            let draft = ParametersDraft {
                hashing,
                ..ParametersDraft::default()
            };
            Coco::choose_parameters(&domain, epsilon, &draft).unwrap()
        };
        let [balanced, items_only] =
            [HashFamily::Balanced, HashFamily::BalancedItems].map(|hashing| {
                let chosen = choose(Some(hashing));
                assert_eq!(chosen.hash_family(), hashing);
                chosen
            });
        let of = |coco| variance(&coco, &domain, epsilon);
        let better = of(items_only) * 1.003 < of(balanced);
        assert_eq!(better, filled, "d = {items}, s = {sparsity}, ε = {epsilon}");
        assert_eq!(choose(None), if filled { items_only } else { balanced });
    }
}

#[test]
fn no_other_number_of_functions_is_better() {
    let all = Functions {
        first: 1,
        most: |all| all,
        elements: |domain, hashing| match hashing {
            HashFamily::BalancedItems => domain.item_count(),
            _ => domain.without_signs().element_count(),
        },
        choose: |domain, epsilon, hashing| {
            let open = ParametersDraft {
                hashing: Some(hashing),
                ..ParametersDraft::default()
            };
            let chosen = Coco::choose_parameters(domain, epsilon, &open).unwrap();
            let variance = variance(&chosen, domain, epsilon);
            (chosen.hash_count(), chosen.pairs_per_function(), variance)
        },
        variance: |domain, epsilon, hashing, hashes, pairs, favoured| {
            let rule = FavouredSideRule::Strongest { favoured };
            let other = Coco::new_with_hash_count(rule, hashing, 2 * pairs, hashes).unwrap();
            variance(&other, domain, epsilon)
        },
    };
    let hashings = [
        HashFamily::Balanced,
        HashFamily::Independent,
        HashFamily::BalancedItems,
    ];
    all.assert_chosen_is_best(&hashings);
}
