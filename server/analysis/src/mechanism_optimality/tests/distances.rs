//! Tests of attained variances, of proven bounds, and of the distances of this project's
//! mechanisms.

use hushbin::TaskDraft;
use hushbin::choose::{Objective, Population};
use hushbin::mechanism::{coco, collision};
use serde_json::json;

use super::super::{BoundKind, DistanceFromBest, distance_from_best, least_variance};
use super::{BOTH, OBJECTIVES, close, question};

#[test]
fn what_is_proven_is_below_what_is_reached() {
    for items in [1, 2, 3, 5, 16, 200, 1 << 20] {
        for entries in [1, 2, 3, 16, 64, 1024] {
            if entries > items {
                continue;
            }
            for objective in OBJECTIVES {
                let mut before = f64::INFINITY;
                for epsilon in [0.001, 0.1, 0.5, 1.0, 1.09, 1.1, 2.0, 4.0, 12.0] {
                    let question = question(items, entries, epsilon, &objective);
                    let (cost, _) = question.smallest_found_cost();
                    let what = format!("{items}, {entries}, {epsilon}, {objective:?}");
                    let [proven, reached] =
                        [question.cost_lower_bound(), cost].map(|c| question.variance_from_cost(c));
                    assert!(
                        proven > 0.0 && proven <= reached * (1.0 + 1e-9),
                        "{what}: {proven}, {reached}"
                    );
                    assert!(reached < before, "{what}: {reached}, {before}");
                    before = reached;
                }
            }
        }
    }
}

/// On a grid of tasks, neither the chosen mechanism nor its alternatives have a variance below the
/// bound.
#[test]
fn no_mechanism_of_ours_is_below() {
    for items in [2_u32, 3, 4, 16, 64] {
        for entries in [1, 2, 3, 4, 8, 32] {
            if entries > items {
                continue;
            }
            for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0] {
                let draft: TaskDraft = serde_json::from_value(json!({
                    "id": "grid", "items": items, "sparsity": entries, "epsilon": epsilon,
                    "value": "sign",
                }))
                .unwrap();
                let domain = draft.resolve_task().unwrap().questions()[0].domain();
                let means = coco::Coco::choose_parameters(&domain, epsilon, &Default::default());
                let both =
                    collision::Collision::choose_parameters(&domain, epsilon, &Default::default());
                for mechanism in [means.unwrap().into(), both.unwrap().into()] {
                    for objective in OBJECTIVES {
                        let Some(found) =
                            distance_from_best(&domain, &mechanism, epsilon, &objective)
                        else {
                            continue;
                        };
                        let what =
                            format!("{items}, {entries}, {epsilon}, {mechanism:?}, {found:?}");
                        assert!(found.times_bound > 1.0 - 1e-9, "{what}");
                        assert!(found.at_most > found.times_bound * (1.0 - 1e-9), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn one_random_sign_is_optimal_for_one_entry_up_to_three() {
    for items in [1_u32, 5, 64, 1000] {
        for epsilon in [0.1, 1.0, 1.09] {
            let task = hushbin_tests::contest::task(
                items,
                1,
                epsilon,
                &json!({ "name": "coco", "buckets": 2 }),
            );
            let found = distance_from_best(
                &task.questions()[0].domain(),
                task.questions()[0].mechanism(),
                epsilon,
                &Objective::MEAN_ONLY,
            )
            .unwrap();
            assert_eq!(found.bound, BoundKind::Exact);
            assert!((found.times_bound - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.at_most - 1.0).abs() < 1e-9, "{found:?}");
        }
    }
}

#[test]
fn the_bound_is_of_whole_inputs_without_bias() {
    let task = |items, mechanism| {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "some", "items": items, "sparsity": 4, "epsilon": 1.0, "value": "real",
            "mechanism": mechanism,
        }))
        .unwrap();
        draft.resolve_task().unwrap()
    };
    let of = |items: serde_json::Value, mechanism, objective| {
        let task = task(items, mechanism);
        distance_from_best(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            1.0,
            &objective,
        )
    };
    let user = |clip| json!({ "name": "hash-bin", "noise": "two-point", "clip": clip });
    assert!(of(json!(40), json!("auto"), Objective::MEAN_ONLY).is_some());
    assert!(of(json!(40), json!("collision"), BOTH).is_some());
    assert!(of(json!(40), json!("coco"), BOTH).is_none());
    assert!(of(json!("open"), json!("auto"), Objective::MEAN_ONLY).is_none());
    assert!(of(json!(40), user(4.0), Objective::MEAN_ONLY).is_some());
    assert!(of(json!(40), user(2.0), Objective::MEAN_ONLY).is_none());
    let event = json!({ "name": "hash-bin", "level": "event" });
    assert!(of(json!(40), event, Objective::MEAN_ONLY).is_none());
    let near = json!({ "name": "hash-bin", "level": "neighbouring", "distance": 2.0 });
    assert!(of(json!(40), near, Objective::MEAN_ONLY).is_none());
    let open = task(json!("open"), json!("auto"));
    assert_eq!(
        least_variance(&open.questions()[0].domain(), 1.0, &Objective::MEAN_ONLY),
        None
    );
}

/// The distance is the ratio of two predicted variances.
#[test]
fn the_distance_is_of_what_is_predicted() {
    let task = hushbin_tests::contest::task(64, 4, 2.0, &json!("collision"));
    let people = Population::with_equal_entries(1000.0, 4);
    let predicted =
        task.questions()[0]
            .mechanism()
            .predict_errors(&task.questions()[0].domain(), 2.0, &people);
    for objective in OBJECTIVES {
        let bound = least_variance(&task.questions()[0].domain(), 2.0, &objective).unwrap();
        let found = distance_from_best(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            2.0,
            &objective,
        )
        .unwrap();
        let variance = objective
            .weighted_average_error(&predicted)
            .unwrap()
            .variance
            * 1000.0;
        assert!(close(found.times_bound * bound.variance, variance, 1e-12));
        assert!(close(
            found.at_most * bound.proven_lower_bound,
            variance,
            1e-12
        ));
    }
}

#[test]
fn distances_are_worded_by_what_is_known() {
    for (times, at_most, bound, words) in [
        (
            1.0,
            1.0,
            BoundKind::Exact,
            "takes no more people than the best possible mechanism would",
        ),
        (
            1.042,
            1.3,
            BoundKind::Exact,
            "takes 4% more people than the best possible mechanism would",
        ),
        (
            2.31,
            2.4,
            BoundKind::Exact,
            "takes 2.3 times as many people as the best possible mechanism would",
        ),
        (
            1.042,
            1.215,
            BoundKind::Directions,
            "takes 4% more people than the best mechanism known would, and at most 22% more people than the best possible",
        ),
        (
            1.017,
            1.0171,
            BoundKind::Directions,
            "takes 2% more people than the best possible mechanism would",
        ),
    ] {
        assert_eq!(DistanceFromBest::new(times, at_most, bound, "").text, words);
    }
    let of_sets =
        DistanceFromBest::new(1.1, 1.2, BoundKind::Directions, " for sets of 4 or none").text;
    assert_eq!(
        of_sets,
        "takes 10% more people than the best mechanism known for sets of 4 or none would, and at \
         most 20% more people than the best possible"
    );
}

/// The smallest variance of the share of people who have an item is the same with and without
/// signs, and the chosen mechanism is not below it.
#[test]
fn presence_is_bounded_as_shares_are() {
    for (items, entries, epsilon) in [(3, 1, 1.0), (4, 2, 0.5), (16, 4, 2.0), (64, 3, 1.0)] {
        let resolve = |question: serde_json::Value| {
            let mut file = question;
            file["id"] = json!("t");
            file["epsilon"] = json!(epsilon);
            serde_json::from_value::<TaskDraft>(file)
                .unwrap()
                .resolve_task()
                .unwrap()
        };
        let rated = resolve(json!({
            "items": items, "sparsity": entries, "value": "sign",
            "mechanism": { "name": "auto", "objective": "nonmissing" },
        }));
        let set = resolve(json!({ "questions": [
            { "name": "q", "kind": "set", "options": items, "sparsity": entries },
        ] }));
        let of = |task: &hushbin::Task, objective: Objective| {
            least_variance(&task.questions()[0].domain(), epsilon, &objective).unwrap()
        };
        let (signed, shares) = (
            of(&rated, Objective::NONMISSING_ONLY),
            of(&set, Objective::FREQUENCY_ONLY),
        );
        assert!(close(signed.variance, shares.variance, 1e-9));
        let question = &rated.questions()[0];
        let found = distance_from_best(
            &question.domain(),
            question.mechanism(),
            epsilon,
            &Objective::NONMISSING_ONLY,
        );
        assert!(found.unwrap().times_bound > 1.0);
    }
    // Every person has every item.
    let task = hushbin_tests::contest::task(3, 3, 1.0, &json!("collision"));
    let domain = task.questions()[0].domain();
    assert!(least_variance(&domain, 1.0, &Objective::NONMISSING_ONLY).is_none());
}
