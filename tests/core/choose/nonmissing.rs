//! The choice for non-missing frequencies is the best of all mechanisms that estimate them. The
//! tests try all.

use hushbin::choose::{Objective, Population};
use hushbin::domain::Domain;
use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::{Mechanism, TaskDraft};
use serde_json::{Value, json};

use super::{Functions, domain};

fn variance(mechanism: &Mechanism, domain: &Domain, epsilon: f64) -> f64 {
    let person = Population::with_equal_entries(1.0, domain.sparsity());
    let predicted = mechanism.predict_errors(domain, epsilon, &person);
    Objective::NONMISSING_ONLY
        .weighted_average_error(&predicted)
        .unwrap()
        .variance
}

fn collision(
    rule: collision::FavouredBucketRule,
    hashing: HashFamily,
    cells: u32,
    hashes: u32,
) -> Mechanism {
    Mechanism::Collision(Collision::new_with_hash_count(rule, hashing, cells, hashes).unwrap())
}

fn overwrite(hashing: HashFamily, pairs: u32) -> Mechanism {
    Mechanism::Coco(
        Coco::new(
            coco::FavouredSideRule::RandomEntryDecides,
            hashing,
            2 * pairs,
        )
        .unwrap(),
    )
}

fn draft(domain: &Domain, epsilon: f64, mechanism: &Value) -> TaskDraft {
    serde_json::from_value(json!({
        "id": "t", "items": domain.item_count(), "sparsity": domain.sparsity(), "epsilon": epsilon,
        "value": "sign", "mechanism": mechanism,
    }))
    .unwrap()
}

/// Parameters of Collision that `auto` picks, and the variance.
fn chosen(domain: &Domain, epsilon: f64, _: HashFamily) -> (u32, u32, f64) {
    let auto = json!({ "name": "auto", "objective": "nonmissing" });
    let choice = draft(domain, epsilon, &auto)
        .choices_per_question()
        .unwrap()
        .remove(0);
    let offers = std::iter::once(choice.chosen).chain(choice.alternatives);
    let found = offers.into_iter().find_map(|offer| match offer.mechanism {
        Mechanism::Collision(own) => Some((own, offer.objective_error)),
        _ => None,
    });
    let (own, error) = found.unwrap();
    let ours = variance(&Mechanism::Collision(own), domain, epsilon);
    assert!((ours / choice.people_count / error - 1.0).abs() < 1e-12);
    (own.hash_count(), own.buckets_per_hash(), ours)
}

/// Every number of hash functions, of buckets of each, and of favoured buckets.
#[test]
fn no_other_parameters_of_collision_are_better() {
    let functions = Functions {
        first: 2,
        most: |cells| cells - 1,
        elements: |domain, _| domain.element_count(),
        choose: chosen,
        variance: |domain, epsilon, hashing, hashes, cells, favoured| {
            let rule = collision::FavouredBucketRule::Heaviest { favoured };
            variance(&collision(rule, hashing, cells, hashes), domain, epsilon)
        },
    };
    functions.assert_chosen_is_best(&[HashFamily::Balanced]);
}

/// Every mechanism and rule with one hash function. The pick is the best but for a hundredth,
/// CoCo's pick is the best of CoCo, and the choice for means is not better.
#[test]
fn no_other_mechanism_is_better() {
    let mut apart = 0;
    for (items, sparsity) in [(2, 1), (3, 2), (10, 1), (20, 3), (40, 6), (12, 12)] {
        let domain = domain(items, sparsity);
        for epsilon in [0.2, 1.0, 2.0, 4.0] {
            let auto = |objective: &str| json!({ "name": "auto", "objective": objective });
            let choice = draft(&domain, epsilon, &auto("nonmissing"));
            let choice = choice.choices_per_question().unwrap().remove(0);
            let ours = variance(&choice.chosen.mechanism, &domain, epsilon);
            let most = (2.0 * f64::from(sparsity) * (f64::exp(epsilon) + 2.0)) as u32 + 8;
            let hashings = [HashFamily::Balanced, HashFamily::Independent];
            let of = |mechanism: Mechanism| variance(&mechanism, &domain, epsilon);
            let least = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::INFINITY, f64::min);
            let what = format!(
                "d = {items}, s = {sparsity}, ε = {epsilon}: {:?}",
                choice.chosen
            );

            let pairs = || sparsity + 1..=most;
            let coco = least(&mut pairs().map(|pairs| of(overwrite(HashFamily::Balanced, pairs))));
            let offers = std::iter::once(&choice.chosen).chain(&choice.alternatives);
            let coco_chosen = offers
                .map(|offer| &offer.mechanism)
                .find(|mechanism| mechanism.name() == "coco");
            let coco_chosen = of(coco_chosen.unwrap().clone());
            assert!(
                coco_chosen <= coco * (1.0 + 1e-12),
                "{what}: {coco_chosen}, {coco}"
            );

            for hashing in hashings {
                let others = pairs().map(|pairs| of(overwrite(hashing, pairs)));
                let occupied = (sparsity + 1..=2 * most).map(|t| {
                    of(collision(
                        collision::FavouredBucketRule::Occupied,
                        hashing,
                        t,
                        1,
                    ))
                });
                let best = least(&mut others.chain(occupied));
                assert!(ours <= 1.0105 * best, "{what}: {ours}, {hashing:?} {best}");
            }
            let frequency = draft(&domain, epsilon, &auto("frequency"))
                .resolve_task()
                .unwrap();
            let theirs = of(frequency.only_question().unwrap().mechanism().clone());
            assert!(ours <= 1.0105 * theirs, "{what}: {ours}, {theirs}");
            apart += u32::from(ours < 0.99 * theirs);
        }
    }
    assert!(apart > 0, "what is chosen for either sign serves as well");
}

/// If signs are unknown, Collision estimates the presence of an item at half the cost of both
/// signs. The same question without signs is never worse.
#[test]
fn sets_are_better_still() {
    for (items, sparsity, epsilon) in [(20, 3, 1.0), (100, 4, 2.0), (40, 8, 0.5)] {
        let auto = json!({ "name": "auto", "objective": "nonmissing" });
        let signed = draft(&domain(items, sparsity), epsilon, &auto)
            .choices_per_question()
            .unwrap();
        let signed = signed[0]
            .chosen
            .predicted_errors
            .nonmissing_error
            .unwrap()
            .variance;
        let set: TaskDraft = serde_json::from_value(json!({
            "id": "t", "epsilon": epsilon,
            "questions": [{ "name": "q", "kind": "set", "options": items, "sparsity": sparsity }],
        }))
        .unwrap();
        let set = set.choices_per_question().unwrap();
        let predicted = set[0].chosen.predicted_errors;
        assert_eq!(
            (predicted.mean_error, predicted.nonmissing_error),
            (None, None)
        );
        let share = predicted.frequency_error.unwrap().variance;
        assert!(share < signed, "{share} {signed}");
    }
}
