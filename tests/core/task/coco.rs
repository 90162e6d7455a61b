//! Tasks of CoCo: refusals in every form of input, differences between tasks, and open fields of
//! drafts.

use hushbin::bounds;
use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{Coco, FavouredSideRule, FavouredSideRuleName};
use hushbin::{ErrorCode, Mechanism, Task, TaskDraft, ValueKind};
use serde_json::{Value, json};

use crate::support::task_files::{
    assert_agrees, assert_all_distinct, assert_differs, assert_refused, assert_refused_as,
    assert_survives, draft, open, parse, task,
};

fn strongest(favoured: u32, buckets: u32) -> Value {
    json!({
        "name": "coco", "rule": "strongest", "favoured": favoured,
        "hashing": "balanced", "buckets": buckets,
    })
}

fn overwrite(buckets: u32) -> Value {
    json!({ "name": "coco", "rule": "overwrite", "hashing": "balanced", "buckets": buckets })
}

fn coco(task: &Task) -> Coco {
    match task.questions()[0].mechanism() {
        Mechanism::Coco(coco) => *coco,
        _ => panic!("{task:?}"),
    }
}

/// Checks that the parameters are refused by the constructor, by deserialisation, and in a complete
/// draft.
fn assert_parameters_refused(rule: FavouredSideRule, buckets: u32, code: ErrorCode) {
    let error = Coco::new(rule, HashFamily::Balanced, buckets).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    let file = task(match rule {
        FavouredSideRule::RandomEntryDecides => overwrite(buckets),
        FavouredSideRule::Strongest { favoured } => strongest(favoured, buckets),
    });
    assert_refused_as(&file, &error);
}

#[test]
fn buckets_form_pairs_within_bounds() {
    let one = FavouredSideRule::Strongest { favoured: 1 };
    let most = bounds::BUCKET_COUNT_RANGE.max as u32;
    for buckets in [2, 4, 300, most] {
        let made = Coco::new(one, HashFamily::Balanced, buckets).unwrap();
        assert_eq!(
            (made.buckets_per_hash(), made.pairs_per_function()),
            (buckets, buckets / 2)
        );
        assert!(parse(&task(strongest(1, buckets))).is_ok());
    }
    for rule in [one, FavouredSideRule::RandomEntryDecides] {
        for odd in [3, 5, 301, most - 1] {
            assert_parameters_refused(rule, odd, ErrorCode::InvalidCombination);
        }
        for beyond in [0, 1, most + 1, most + 2, u32::MAX] {
            assert_parameters_refused(rule, beyond, ErrorCode::OutOfRange);
        }
    }
    for number in [json!(-2), json!(4_294_967_298u64), json!(2.5), json!("8")] {
        let mut file = task(strongest(1, 8));
        file["mechanism"]["buckets"] = number;
        assert!(parse(&file).is_err());
    }
}

/// Items can replace paddings only if nothing but means is estimated, and only in a closed domain.
#[test]
fn items_stand_for_paddings_under_one_rule() {
    let hashing = HashFamily::BalancedItems;
    let mut file = task(strongest(2, 8));
    file["mechanism"]["hashing"] = json!("balanced-items");
    assert_eq!(coco(&parse(&file).unwrap()).hash_family(), hashing);
    assert_survives(file.clone());
    assert_all_distinct(&[file.clone(), task(strongest(2, 8))]);

    file["items"] = json!("open");
    let error = parse(&file).unwrap_err().to_string();
    assert!(
        error.contains("only a closed domain can be balanced"),
        "{error}"
    );

    let error = Coco::new(FavouredSideRule::RandomEntryDecides, hashing, 8).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    assert!(error.to_string().contains("balanced-items"), "{error}");
    let refused = [
        overwrite(80),
        json!({ "name": "collision", "rule": "heaviest", "favoured": 2, "buckets": 8 }),
        json!({ "name": "hash-bin", "level": "event", "bins": 4, "grid": 1024 }),
    ];
    for mut mechanism in refused {
        mechanism["hashing"] = json!("balanced-items");
        assert_refused_as(&task(mechanism), &error);
    }
}

#[test]
fn favoured_are_at_most_the_pairs() {
    for (favoured, buckets) in [(1, 2), (2, 4), (1, 8), (4, 8), (1 << 21, 1 << 22)] {
        let made = parse(&task(strongest(favoured, buckets))).unwrap();
        assert_eq!(
            coco(&made).favouring_rule(),
            FavouredSideRule::Strongest { favoured }
        );
        assert_eq!(coco(&made).favoured_count(), Some(favoured));
    }
    for (favoured, buckets) in [(0, 2), (2, 2), (0, 8), (5, 8), (8, 8), (u32::MAX, 8)] {
        let rule = FavouredSideRule::Strongest { favoured };
        assert_parameters_refused(rule, buckets, ErrorCode::OutOfRange);
    }
}

#[test]
fn parameters_must_go_together() {
    let refused = |file: &Value| assert_refused(file, ErrorCode::InvalidCombination);
    // t ≥ 2s + 2, with s = 2; `strongest` allows any T.
    for buckets in [2, 4] {
        refused(&task(overwrite(buckets)));
        refused(&open(task(overwrite(buckets))));
        assert!(parse(&task(strongest(1, buckets))).is_ok());
    }
    assert!(parse(&task(overwrite(6))).is_ok());
    assert!(parse(&open(task(overwrite(6)))).is_ok());
    // Only closed domains can be balanced.
    for mechanism in [strongest(1, 8), overwrite(8)] {
        let mut file = task(mechanism);
        file["items"] = json!("open");
        refused(&file);
    }

    let mut too_many = task(overwrite(8));
    too_many["mechanism"]["favoured"] = json!(1);
    let text = parse(&too_many).unwrap_err();
    assert!(text.contains("takes no \"favoured\""), "{text}");
    assert!(draft(too_many).resolve_task().is_err());
    let mut too_few = task(strongest(1, 8));
    too_few["mechanism"]
        .as_object_mut()
        .unwrap()
        .remove("favoured");
    let text = parse(&too_few).unwrap_err();
    assert!(text.contains("needs \"favoured\""), "{text}");
    assert!(draft(too_few).resolve_task().is_ok());
}

#[test]
fn files_say_all_and_nothing_else() {
    for mechanism in [strongest(2, 8), overwrite(8)] {
        for field in ["name", "rule", "hashing", "buckets"] {
            let mut file = task(mechanism.clone());
            file["mechanism"][field] = json!("other");
            assert!(parse(&file).is_err(), "{field}");
            assert!(serde_json::from_value::<TaskDraft>(file.clone()).is_err());
            file["mechanism"].as_object_mut().unwrap().remove(field);
            assert!(parse(&file).is_err(), "{field}");
        }
        for field in ["comment", "pairs", "Buckets", "favored"] {
            let mut file = task(mechanism.clone());
            file["mechanism"][field] = json!(1);
            assert!(parse(&file).is_err(), "{field}");
            assert!(serde_json::from_value::<TaskDraft>(file).is_err());
        }
    }
    // A mechanism does not accept the rules of the other.
    for (name, rule) in [
        ("coco", "heaviest"),
        ("coco", "occupied"),
        ("collision", "strongest"),
        ("collision", "overwrite"),
    ] {
        let file = task(json!({ "name": name, "rule": rule, "hashing": "balanced", "buckets": 8 }));
        assert!(parse(&file).is_err());
        assert!(serde_json::from_value::<TaskDraft>(file).is_err());
    }
    // A task names all its parameters. Only drafts leave some open.
    assert!(parse(&task(json!("coco"))).is_err());
    assert!(parse(&task(json!({ "name": "coco" }))).is_err());
    assert!(serde_json::from_value::<TaskDraft>(task(json!("CoCo"))).is_err());
}

#[test]
fn tasks_survive_their_own_files() {
    let files = [
        task(strongest(2, 8)),
        task(overwrite(8)),
        open(task(strongest(2, 8))),
        open(task(overwrite(6))),
    ];
    for file in files {
        assert_eq!(
            parse(&file).unwrap().questions()[0].mechanism().name(),
            "coco"
        );
        assert_survives(file);
    }
}

#[test]
fn every_parameter_changes_the_fingerprint() {
    let mut independent = task(strongest(1, 8));
    independent["mechanism"]["hashing"] = json!("independent");
    let mut independent_overwrite = task(overwrite(8));
    independent_overwrite["mechanism"]["hashing"] = json!("independent");
    let mut other_epsilon = task(strongest(1, 8));
    other_epsilon["epsilon"] = json!(2.0f64.next_up());
    let collision = |buckets| {
        task(json!({
            "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "balanced", "buckets": buckets,
        }))
    };
    let variants = [
        task(strongest(1, 8)),
        task(strongest(2, 8)),
        task(strongest(1, 10)),
        task(strongest(1, 4)),
        independent,
        independent_overwrite,
        other_epsilon,
        task(overwrite(8)),
        task(overwrite(10)),
        open(task(strongest(1, 8))),
        open(task(overwrite(8))),
        // Collision with equally many buckets, or pairs, has another fingerprint, too.
        collision(8),
        collision(4),
    ];
    assert_all_distinct(&variants);
}

/// Reports that wait in browsers carry fingerprints, so these must not change with a release.
#[test]
fn fingerprints_are_stable() {
    let printed = |file: Value| parse(&file).unwrap().fingerprint().to_string();
    assert_eq!(
        [
            printed(task(strongest(1, 8))),
            printed(task(overwrite(8))),
            printed(open(task(strongest(3, 8)))),
        ],
        [
            "d1fb81eeb5fbce27961225ba3303f743",
            "2d49393b06b4bd49c9c5db6032620e02",
            "25176d9835f4746fad0784603d50dd2d",
        ]
    );
}

#[test]
fn drafts_agree_with_what_they_leave_open() {
    let in_use = parse(&task(strongest(2, 8))).unwrap();
    let agreeing = [
        strongest(2, 8),
        json!("coco"),
        json!({ "name": "coco" }),
        json!({ "name": "coco", "rule": "strongest" }),
        json!({ "name": "coco", "buckets": 8 }),
        json!({ "name": "coco", "favoured": 2, "hashing": "balanced" }),
    ];
    for mechanism in agreeing {
        assert_agrees(&task(mechanism), &in_use);
    }
    let mut collision = task(json!("collision"));
    let differing = [
        (strongest(1, 8), "favoured"),
        (strongest(2, 10), "buckets"),
        (overwrite(8), "rule"),
        (
            json!({ "name": "coco", "hashing": "independent" }),
            "hashing",
        ),
        (json!("collision"), "mechanism"),
    ];
    for (mechanism, expected) in differing {
        assert_differs(&task(mechanism), &in_use, expected);
    }
    // A draft without a mechanism gets Collision.
    collision.as_object_mut().unwrap().remove("mechanism");
    let collision = draft(collision).resolve_task().unwrap();
    let text = assert_differs(&task(json!("coco")), &collision, "mechanism");
    assert!(
        text.contains("coco") && text.contains("collision"),
        "{text}"
    );
    let in_use = parse(&task(overwrite(8))).unwrap();
    let favoured = task(json!({ "name": "coco", "favoured": 2 }));
    let text = assert_differs(&favoured, &in_use, "favoured");
    assert!(text.ends_with("favoured is 2, expected none"), "{text}");
}

#[test]
fn drafts_are_chosen_within_bounds() {
    for (items, sparsity, epsilon) in [
        (json!(1), 1, 0.001),
        (json!(1), 1, 12.0),
        (json!(3), 3, 1.0),
        (json!("open"), 1, 0.001),
        (json!("open"), 20, 8.0),
        (json!("open"), 2, 12.0),
        (json!(1_000_000), 2, 12.0),
    ] {
        for rule in [
            FavouredSideRuleName::Strongest,
            FavouredSideRuleName::Overwrite,
        ] {
            let file = json!({
                "id": "draft", "items": items, "sparsity": sparsity, "epsilon": epsilon,
                "value": "real", "mechanism": { "name": "coco", "rule": rule },
            });
            let draft = draft(file.clone());
            assert_eq!(draft.validate(), Ok(()));
            let task = draft.resolve_task().unwrap();
            assert_eq!(draft.check_agrees_with(&task), Ok(()));
            let chosen = coco(&task);
            assert_eq!(chosen.rule_name(), rule);
            let rates = chosen.hit_probabilities(&task.questions()[0].domain(), task.epsilon());
            assert!(
                rates.side_hit_probability_gap > 0.0 && rates.side_hit_probability_gap < 1.0,
                "{file}"
            );
            assert_eq!(
                rates.exact_pair_probabilities.is_some(),
                rule == FavouredSideRuleName::Overwrite
            );
            assert_eq!(task.questions()[0].coded_value_kind(), ValueKind::Real);
        }
    }
}
