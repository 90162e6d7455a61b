//! Tasks of hash-bin, and tasks that leave the mechanism open: refusals in every form of input,
//! differences between tasks, and open fields of drafts.

use hushbin::bounds::{self, ParameterRange};
use hushbin::hash::HashFamily;
use hushbin::mechanism::NeighbouringInputs;
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, PrivacyLevelName, SumNoiseKind};
use hushbin::{Error, ErrorCode, Mechanism, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::task_files::{
    assert_agrees, assert_all_distinct, assert_differs, assert_refused, assert_refused_as,
    assert_survives, draft, open, parse, task, with, without,
};

fn event() -> Value {
    json!({ "name": "hash-bin", "level": "event", "hashing": "balanced", "bins": 2, "grid": 1024 })
}

fn neighbouring() -> Value {
    json!({
        "name": "hash-bin", "level": "neighbouring", "distance": 1.5,
        "hashing": "balanced", "bins": 2, "grid": 1024,
    })
}

fn with_delta() -> Value {
    let far = with(neighbouring(), "distance", json!(60.0));
    with(with(far, "bins", json!(1)), "delta", json!(1e-3))
}

fn user(noise: &str) -> Value {
    json!({
        "name": "hash-bin", "level": "user", "clip": 1.25, "noise": noise,
        "hashing": "balanced", "bins": 1, "grid": 1024,
    })
}

fn levels() -> [Value; 5] {
    [
        event(),
        neighbouring(),
        with_delta(),
        user("two-point"),
        user("laplace"),
    ]
}

fn hash_bin(task: &Task) -> HashBin {
    match task.questions()[0].mechanism() {
        Mechanism::HashBin(hash_bin) => *hash_bin,
        _ => panic!("{task:?}"),
    }
}

/// Checks that deserialisation refuses the mechanism with the constructor's error.
fn assert_parameters_refused(mechanism: Value, made: Result<HashBin, Error>) {
    let error = made.unwrap_err();
    assert_refused_as(&task(mechanism), &error);
}

#[test]
fn numbers_keep_to_their_bounds() {
    let clipped = |clip: f64| {
        HashBin::new(
            PrivacyLevel::User {
                clip,
                noise: SumNoiseKind::Laplace,
            },
            HashFamily::Balanced,
            1,
            1 << 16,
        )
    };
    let apart = |distance: f64, delta: Option<f64>| {
        HashBin::new(
            PrivacyLevel::Neighbouring { distance, delta },
            HashFamily::Balanced,
            2,
            1024,
        )
    };
    let fine = || with(user("laplace"), "grid", json!(1 << 16));
    type Make<'a> = &'a dyn Fn(f64) -> Result<HashBin, Error>;
    let cases: [(&str, Value, ParameterRange, Make<'_>); 3] = [
        ("clip", fine(), bounds::CLIPPING_BOUND_RANGE, &clipped),
        (
            "distance",
            neighbouring(),
            bounds::NEIGHBOUR_DISTANCE_RANGE,
            &|distance| apart(distance, None),
        ),
        ("delta", neighbouring(), bounds::DELTA_RANGE, &|delta| {
            apart(1.5, Some(delta))
        }),
    ];
    for (field, mechanism, bound, make) in cases {
        for good in [bound.min, bound.max] {
            assert!(make(good).is_ok());
            assert!(parse(&task(with(mechanism.clone(), field, json!(good)))).is_ok());
        }
        let beyond = [bound.min.next_down(), bound.max.next_up(), 0.0, -1.0, 1e300];
        for bad in beyond {
            let error = make(bad).unwrap_err();
            assert_eq!(error.code(), ErrorCode::OutOfRange, "{error}");
            assert!(error.to_string().starts_with(field), "{error}");
            assert_parameters_refused(with(mechanism.clone(), field, json!(bad)), make(bad));
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(make(bad).unwrap_err().code(), ErrorCode::OutOfRange);
        }
    }
    let whole = |bins, grid| HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, bins, grid);
    for (field, bound) in [
        ("bins", bounds::HASH_BIN_COUNT_RANGE),
        ("grid", bounds::GRID_STEPS_PER_UNIT_RANGE),
    ] {
        for bad in [bound.min - 1.0, bound.max + 1.0, 4_294_967_295.0] {
            let bad = bad as u32;
            let made = if field == "bins" {
                whole(bad, 1024)
            } else {
                whole(2, bad)
            };
            let error = made.clone().unwrap_err();
            assert_eq!(error.code(), ErrorCode::OutOfRange, "{error}");
            assert!(error.to_string().starts_with(field), "{error}");
            assert_parameters_refused(with(event(), field, json!(bad)), made);
        }
        for bad in [json!(-2), json!(4_294_967_298u64), json!(2.5), json!("8")] {
            assert!(parse(&task(with(event(), field, bad))).is_err());
        }
    }
    // More bins than items would be empty. Open domains have enough items.
    assert!(parse(&task(with(event(), "bins", json!(3)))).is_ok());
    assert_refused(
        &task(with(event(), "bins", json!(4))),
        ErrorCode::OutOfRange,
    );
    let most = bounds::HASH_BIN_COUNT_RANGE.max as u32;
    assert!(parse(&open(task(with(event(), "bins", json!(most))))).is_ok());
}

#[test]
fn parameters_must_go_together() {
    // Invalid combinations with their messages.
    let refused = |mechanism: Value, words: &str| {
        let file = task(mechanism);
        let text = parse(&file).unwrap_err();
        assert!(text.starts_with(words), "{text} does not say {words}");
        let error = draft(file).resolve_task().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidCombination);
        assert_eq!(error.to_string(), words);
    };
    for grid in [3, 1000, 65_535] {
        refused(
            with(event(), "grid", json!(grid)),
            "\"grid\" must be a power of two",
        );
    }
    for (clip, grid) in [
        (1.25, 2),
        (0.3, 1024),
        (1.0 / 3.0, 1024),
        (0.5, 1),
        (1.5f64.next_up(), 1 << 16),
    ] {
        let mechanism = with(user("laplace"), "clip", json!(clip));
        refused(
            with(mechanism, "grid", json!(grid)),
            "\"clip\" must be a multiple of 1 / \"grid\"",
        );
    }
    for noise in ["two-point", "laplace"] {
        refused(
            with(user(noise), "bins", json!(2)),
            "level \"user\" needs \"bins\" 1: its sum is clipped",
        );
        for (field, value) in [("distance", 1.0), ("delta", 1e-6)] {
            refused(
                with(user(noise), field, json!(value)),
                "\"distance\" and \"delta\" are only for level \"neighbouring\"",
            );
        }
    }
    for (field, value) in [("distance", 1.0), ("delta", 1e-6)] {
        refused(
            with(event(), field, json!(value)),
            "\"distance\" and \"delta\" are only for level \"neighbouring\"",
        );
    }
    for level in [event(), neighbouring(), with_delta()] {
        for (field, value) in [("clip", json!(1.0)), ("noise", json!("laplace"))] {
            refused(
                with(level.clone(), field, value),
                "\"clip\" and \"noise\" are only for level \"user\"",
            );
        }
    }
    refused(
        without(neighbouring(), "distance"),
        "level \"neighbouring\" needs a \"distance\"",
    );
    // A draft may leave open these required fields of a task.
    for field in ["clip", "noise"] {
        let file = task(without(user("two-point"), field));
        let text = parse(&file).unwrap_err();
        assert!(
            text.starts_with("level \"user\" needs a \"clip\" and a \"noise\""),
            "{text}"
        );
        assert!(draft(file).resolve_task().is_ok());
    }
    // Only closed domains can be balanced.
    for mechanism in levels() {
        let file = with(task(mechanism), "items", json!("open"));
        assert_refused(&file, ErrorCode::InvalidCombination);
    }
}

#[test]
fn files_say_all_and_nothing_else() {
    for mechanism in levels() {
        for field in ["name", "level", "hashing", "bins", "grid"] {
            let file = task(with(mechanism.clone(), field, json!("other")));
            assert!(parse(&file).is_err(), "{field}");
            assert!(
                serde_json::from_value::<TaskDraft>(file).is_err(),
                "{field}"
            );
            let file = task(without(mechanism.clone(), field));
            assert!(parse(&file).is_err(), "{field}");
        }
        for field in ["comment", "buckets", "Bins", "favoured", "rule", "epsilon"] {
            let file = task(with(mechanism.clone(), field, json!(1)));
            assert!(parse(&file).is_err(), "{field}");
            assert!(serde_json::from_value::<TaskDraft>(file).is_err());
        }
    }
    assert!(parse(&task(json!("hash-bin"))).is_err());
    assert!(parse(&task(json!("auto"))).is_err());
    assert!(parse(&task(json!({ "name": "auto" }))).is_err());
    for name in ["hashbin", "Hash-bin", "hash_bin", "Auto", ""] {
        assert!(serde_json::from_value::<TaskDraft>(task(json!(name))).is_err());
    }
    let auto = |field: &str, value: Value| task(with(json!({ "name": "auto" }), field, value));
    for (field, value) in [
        ("objective", json!("means")),
        ("objective", json!({ "mean": 1.0 })),
        (
            "objective",
            json!({ "mean": 1.0, "frequency": 1.0, "other": 1.0 }),
        ),
        ("level", json!("neighbouring")),
        ("bins", json!(1)),
        ("clip", json!(1.0)),
        ("rule", json!("heaviest")),
    ] {
        let file = auto(field, value);
        assert!(
            serde_json::from_value::<TaskDraft>(file.clone()).is_err(),
            "{file}"
        );
    }
}

#[test]
fn tasks_survive_their_own_files() {
    for mechanism in levels() {
        for file in [task(mechanism.clone()), open(task(mechanism))] {
            assert_eq!(
                parse(&file).unwrap().questions()[0].mechanism().name(),
                "hash-bin"
            );
            assert_survives(file);
        }
    }
}

#[test]
fn levels_say_what_they_protect() {
    let said = levels().map(|mechanism| {
        let task = parse(&task(mechanism)).unwrap();
        (
            task.questions()[0].mechanism().neighbours(),
            task.questions()[0].mechanism().delta(),
        )
    });
    let expected = [
        (NeighbouringInputs::DifferInOneItem, 0.0),
        (NeighbouringInputs::WithinDistance(1.5), 0.0),
        (NeighbouringInputs::WithinDistance(60.0), 1e-3),
        (NeighbouringInputs::AnyTwoInputs, 0.0),
        (NeighbouringInputs::AnyTwoInputs, 0.0),
    ];
    assert_eq!(said, expected);
    // A δ without any benefit is not spent.
    let near = with(neighbouring(), "delta", json!(1e-3));
    assert_eq!(
        parse(&task(near)).unwrap().questions()[0]
            .mechanism()
            .delta(),
        0.0
    );
}

#[test]
fn every_parameter_changes_the_fingerprint() {
    let variants = [
        task(event()),
        task(with(event(), "bins", json!(1))),
        task(with(event(), "grid", json!(512))),
        task(with(event(), "hashing", json!("independent"))),
        with(task(event()), "sparsity", json!(1)),
        with(task(event()), "epsilon", json!(2.0f64.next_up())),
        task(neighbouring()),
        task(with(neighbouring(), "distance", json!(1.5f64.next_up()))),
        task(with(neighbouring(), "distance", json!(1.25))),
        task(with(neighbouring(), "bins", json!(1))),
        task(with(neighbouring(), "delta", json!(1e-3))),
        task(with_delta()),
        task(with(with_delta(), "delta", json!(1e-4))),
        task(user("two-point")),
        task(user("laplace")),
        task(with(user("two-point"), "clip", json!(1.5))),
        task(with(user("laplace"), "clip", json!(1.5))),
        open(task(event())),
        open(task(neighbouring())),
        open(task(user("two-point"))),
        open(task(user("laplace"))),
    ];
    assert_all_distinct(&variants);
}

/// Reports that wait in browsers carry fingerprints, so these must not change with a release.
#[test]
fn fingerprints_are_stable() {
    let printed = levels().map(|mechanism| {
        let closed = parse(&task(mechanism.clone())).unwrap();
        let open = parse(&open(task(mechanism))).unwrap();
        [closed, open].map(|task| task.fingerprint().to_string())
    });
    assert_eq!(printed, PRINTED);
}

const PRINTED: [[&str; 2]; 5] = [
    [
        "fed1f1937ad9101d6e9a3ce0bb1dd6e5",
        "41eca940ef83039ad594c98e384070d4",
    ],
    [
        "212dbfbedc401677e1c17cfe6c4617de",
        "2cb9c0161d2be582e7f17a6811691d3a",
    ],
    [
        "67202125e69832b34503f4ed96a60567",
        "e654aebf851476bdc9b655f32d1c7e75",
    ],
    [
        "b2b41df5b132e78e9975ba6dc8d4d664",
        "e65b1b43dd64a16bf931f9f38413d951",
    ],
    [
        "4362c61aa360c6783e3f228be7147df2",
        "50b34f7169eaaac9bbac01612fb8d229",
    ],
];

#[test]
fn drafts_agree_with_what_they_leave_open() {
    let in_use = parse(&task(with_delta())).unwrap();
    let level = json!({ "name": "hash-bin", "level": "neighbouring", "distance": 60.0 });
    for mechanism in [
        with_delta(),
        level.clone(),
        with(level.clone(), "delta", json!(1e-3)),
        with(level.clone(), "bins", json!(1)),
        with(level.clone(), "grid", json!(1024)),
    ] {
        assert_agrees(&task(mechanism), &in_use);
    }
    let in_use_user = parse(&task(user("two-point"))).unwrap();
    for mechanism in [
        user("two-point"),
        json!("hash-bin"),
        json!({ "name": "hash-bin" }),
        json!({ "name": "hash-bin", "level": "user" }),
        json!({ "name": "hash-bin", "clip": 1.25 }),
        json!({ "name": "hash-bin", "noise": "two-point", "hashing": "balanced" }),
    ] {
        assert_agrees(&task(mechanism), &in_use_user);
    }
    for (mechanism, expected) in [
        (with(level.clone(), "distance", json!(59.0)), "distance"),
        (with(with_delta(), "delta", json!(1e-4)), "delta"),
        (with(with_delta(), "bins", json!(2)), "bins"),
        (with(with_delta(), "grid", json!(2048)), "grid"),
        (
            with(level.clone(), "hashing", json!("independent")),
            "hashing",
        ),
        (with(level.clone(), "clip", json!(1.0)), "clip"),
        (with(level, "noise", json!("laplace")), "noise"),
        (event(), "level"),
        (user("laplace"), "level"),
        (json!("collision"), "mechanism"),
        (json!("coco"), "mechanism"),
    ] {
        assert_differs(&task(mechanism), &in_use, expected);
    }
    // The first differing field is named.
    for (mechanism, expected) in [
        (user("laplace"), "noise"),
        (with(user("laplace"), "clip", json!(1.5)), "clip"),
        (with_delta(), "level"),
    ] {
        assert_differs(&task(mechanism), &in_use_user, expected);
    }
    let text = assert_differs(
        &task(json!({ "name": "hash-bin", "distance": 2.0 })),
        &in_use_user,
        "distance",
    );
    assert!(text.ends_with("distance is 2.0, expected none"), "{text}");
    let coco = draft(task(json!("coco"))).resolve_task().unwrap();
    let text = assert_differs(&task(json!("hash-bin")), &coco, "mechanism");
    assert!(text.contains("hash-bin") && text.contains("coco"), "{text}");
}

#[test]
fn drafts_are_chosen_within_bounds() {
    for (items, sparsity, epsilon) in [
        (json!(1), 1, 0.001),
        (json!(1), 1, 12.0),
        (json!(3), 3, 1.0),
        (json!("open"), 1, 0.001),
        (json!("open"), 1024, 12.0),
        (json!(1_000_000), 1024, 12.0),
        (json!(1_000_000), 2, 0.001),
    ] {
        for mechanism in [
            json!({ "name": "hash-bin" }),
            json!({ "name": "hash-bin", "noise": "laplace" }),
            json!({ "name": "hash-bin", "noise": "laplace", "grid": 1 }),
            json!({ "name": "hash-bin", "grid": 65_536 }),
            json!({ "name": "hash-bin", "level": "event" }),
            json!({ "name": "hash-bin", "level": "neighbouring", "distance": 0.001 }),
            json!({ "name": "hash-bin", "level": "neighbouring", "distance": 2048.0 }),
            json!({ "name": "hash-bin", "level": "neighbouring", "distance": 800.0, "delta": 1e-9 }),
        ] {
            let file = json!({
                "id": "draft", "items": items, "sparsity": sparsity, "epsilon": epsilon,
                "value": "real", "mechanism": mechanism,
            });
            let draft = draft(file.clone());
            assert_eq!(draft.validate(), Ok(()));
            let task = draft.resolve_task().unwrap();
            assert_eq!(draft.check_agrees_with(&task), Ok(()));
            let chosen = hash_bin(&task);
            assert_eq!(
                chosen.grid_steps(),
                mechanism["grid"].as_u64().unwrap_or(1024) as u32
            );
            // Balanced if bins hold few items each.
            let bins = chosen.bin_count();
            let few = |items: u32| bins > 1 && items < 6 * bins;
            let balanced = task.questions()[0].items().item_count().is_some_and(few);
            assert_eq!(
                chosen.hash_family() == HashFamily::Balanced,
                balanced,
                "{file}"
            );
            assert!(
                chosen.bin_count() <= task.questions()[0].items().item_count().unwrap_or(4096),
                "{file}"
            );
            let rates =
                chosen.estimate_scale_and_variance(&task.questions()[0].domain(), task.epsilon());
            assert!(
                rates.estimate_scale > 0.0 && rates.empty_input_variance > 0.0,
                "{file}"
            );
        }
    }
}

#[test]
fn drafts_that_cannot_be_are_refused() {
    let refused = |mechanism: Value, code: ErrorCode| {
        let draft = draft(task(mechanism));
        let error = draft.resolve_task().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        // Validation without a choice gives the same error.
        assert_eq!(draft.validate(), Err(error));
    };
    let hash_bin = |field: &str, value: Value| with(json!({ "name": "hash-bin" }), field, value);
    refused(
        hash_bin("level", json!("neighbouring")),
        ErrorCode::InvalidCombination,
    );
    refused(
        hash_bin("distance", json!(1.0)),
        ErrorCode::InvalidCombination,
    );
    refused(hash_bin("bins", json!(2)), ErrorCode::InvalidCombination);
    refused(hash_bin("grid", json!(0)), ErrorCode::OutOfRange);
    refused(hash_bin("grid", json!(3)), ErrorCode::InvalidCombination);
    refused(hash_bin("clip", json!(0.0)), ErrorCode::OutOfRange);
    let event = |field: &str, value: Value| with(hash_bin("level", json!("event")), field, value);
    refused(event("bins", json!(0)), ErrorCode::OutOfRange);
    refused(event("bins", json!(4)), ErrorCode::OutOfRange);
    refused(
        event("noise", json!("laplace")),
        ErrorCode::InvalidCombination,
    );
    refused(event("clip", json!(1.0)), ErrorCode::InvalidCombination);
    let apart = |distance: Value, delta: Value| {
        let level = hash_bin("level", json!("neighbouring"));
        with(with(level, "distance", distance), "delta", delta)
    };
    refused(apart(json!(0.0), Value::Null), ErrorCode::OutOfRange);
    refused(apart(json!(1e9), Value::Null), ErrorCode::OutOfRange);
    refused(apart(json!(1.0), json!(0.0)), ErrorCode::OutOfRange);
    refused(apart(json!(1.0), json!(0.5)), ErrorCode::OutOfRange);
}

// Automatic choice of the mechanism.

/// Most of 10,000 people have one entry.
#[allow(clippy::needless_pass_by_value)]
fn counted(mechanism: Value) -> Value {
    json!({
        "id": "ratings", "items": 300, "entries": [1000, 6000, 2000, 1000], "epsilon": 1.0,
        "value": "real", "mechanism": mechanism,
    })
}

#[test]
fn auto_resolves_to_any_mechanism() {
    let auto = |objective: Value, level: &str| {
        let mechanism = json!({ "name": "auto", "objective": objective, "level": level });
        draft(with(task(mechanism), "items", json!(300)))
            .resolve_task()
            .unwrap()
    };
    let both = json!({ "mean": 1.0, "frequency": 0.5 });
    assert_eq!(
        auto(json!("mean"), "user").questions()[0]
            .mechanism()
            .name(),
        "coco"
    );
    assert_eq!(
        auto(json!("frequency"), "user").questions()[0]
            .mechanism()
            .name(),
        "collision"
    );
    assert_eq!(
        auto(json!("frequency"), "event").questions()[0]
            .mechanism()
            .name(),
        "collision"
    );
    assert_eq!(
        auto(both, "event").questions()[0].mechanism().name(),
        "collision"
    );
    let single = auto(json!({ "mean": 2.0, "frequency": 0.0 }), "event");
    assert_eq!(hash_bin(&single).privacy_level(), PrivacyLevel::Event);
    // The default is means at user level.
    let default = draft(with(task(json!("auto")), "items", json!(300))).resolve_task();
    assert_eq!(default, Ok(auto(json!("mean"), "user")));
}

#[test]
fn auto_weighs_nothing_but_numbers() {
    for (mean, frequency, nonmissing) in [
        (0.0, 0.0, 0.0),
        (-1.0, 1.0, 1.0),
        (1.0, -0.5, 0.0),
        (1.0, 1.0, -0.5),
        (f64::INFINITY, 1.0, 0.0),
    ] {
        let objective = hushbin::choose::ObjectiveDraft::Weights {
            mean,
            frequency,
            nonmissing,
        };
        let mut draft = draft(task(json!("auto")));
        let auto = hushbin::choose::AutoDraft {
            objective,
            ..Default::default()
        };
        draft.questions[0].mechanism = hushbin::choose::MechanismDraft::Auto(auto);
        let error = draft.resolve_task().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidCombination);
        assert!(
            error.to_string().contains("weights of an \"objective\""),
            "{error}"
        );
    }
}

/// Every task in use agrees that protects at least as much as required.
#[test]
fn auto_agrees_with_what_protects_as_much() {
    let user_level = task(json!("auto"));
    let event_level = task(json!({ "name": "auto", "level": "event" }));
    let frequency = task(json!({ "name": "auto", "objective": "frequency" }));
    for mechanism in [
        user("two-point"),
        user("laplace"),
        json!("collision"),
        json!("coco"),
    ] {
        let in_use = draft(task(mechanism)).resolve_task().unwrap();
        for file in [&user_level, &event_level, &frequency] {
            assert_agrees(file, &in_use);
        }
    }
    for mechanism in [event(), neighbouring(), with_delta()] {
        let in_use = parse(&task(mechanism)).unwrap();
        let text = assert_differs(&user_level, &in_use, "level");
        assert!(text.contains("level is User"), "{text}");
        assert_differs(&frequency, &in_use, "level");
    }
    let in_use = parse(&task(event())).unwrap();
    assert_agrees(&event_level, &in_use);
    assert_differs(
        &with(event_level.clone(), "epsilon", json!(1.0)),
        &in_use,
        "epsilon",
    );
    assert_differs(&with(user_level, "sparsity", json!(1)), &in_use, "sparsity");
}

/// Level `event` requires protection of single entries. Neighbours at distance 2 or more are
/// enough, at less are not.
#[test]
fn auto_at_event_level_wants_single_entries_protected() {
    let event_level = task(json!({ "name": "auto", "level": "event" }));
    let as_much = |mechanism: Value| {
        let in_use = parse(&task(mechanism)).unwrap();
        draft(event_level.clone())
            .check_agrees_with(&in_use)
            .is_ok()
    };
    for (distance, protects) in [(2.0, true), (60.0, true), (1.5, false), (0.1, false)] {
        let mechanism = with(neighbouring(), "distance", json!(distance));
        assert_eq!(as_much(mechanism), protects, "{distance}");
    }
    // A task that may fail with probability δ does not protect as much.
    assert!(!as_much(with_delta()));
    assert!(as_much(with(with_delta(), "distance", json!(2.0))));
}

#[test]
fn entries_stand_in_for_the_sparsity() {
    for mechanism in [
        json!("auto"),
        json!({ "name": "auto", "level": "event" }),
        json!({ "name": "auto", "objective": "frequency" }),
        json!("collision"),
        json!("coco"),
        json!("hash-bin"),
        json!({ "name": "hash-bin", "level": "event" }),
    ] {
        let file = counted(mechanism);
        let asked = draft(file.clone());
        let task = asked.resolve_task().unwrap();
        assert!(
            (1..=3).contains(&task.questions()[0].max_entries_per_report()),
            "{file}"
        );
        // The chosen task agrees with its draft, also under any other sparsity.
        assert_eq!(asked.check_agrees_with(&task), Ok(()));
        let given = with(file.clone(), "sparsity", json!(3));
        let given = draft(given).resolve_task().unwrap();
        assert_eq!(given.questions()[0].max_entries_per_report(), 3);
        assert_eq!(asked.check_agrees_with(&given), Ok(()));
        // These fields are not part of the task.
        let kept = serde_json::to_value(&task).unwrap();
        assert!(kept.get("entries").is_none() && kept.get("people").is_none());
    }
}

#[test]
fn a_draft_says_how_many_entries_there_are() {
    let missing = draft(without(task(json!("auto")), "sparsity"));
    let error = missing.resolve_task().unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    assert_eq!(
        error.to_string(),
        "a task needs a \"sparsity\", or \"entries\" from which it is chosen"
    );
    for entries in [json!([]), json!([0]), json!([100]), json!([100, 0, 0])] {
        let error = draft(with(counted(json!("auto")), "entries", entries)).resolve_task();
        let error = error.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidCombination);
        assert!(
            error
                .to_string()
                .starts_with("\"entries\" must list the number of people"),
            "{error}"
        );
    }
    // A person cannot have more entries than there are items.
    let mut few = with(counted(json!("auto")), "items", json!(2));
    let error = draft(few.clone()).resolve_task().unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    assert!(error.to_string().contains("more entries than"), "{error}");
    few["items"] = json!(3);
    assert!(draft(few).resolve_task().is_ok());
    for people in [0u64, 2_000_000_000_000, u64::MAX] {
        let file = with(counted(json!("auto")), "people", json!(people));
        let error = draft(file).resolve_task().unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutOfRange);
        assert!(error.to_string().starts_with("people is "), "{error}");
    }
    for bad in [json!(-1), json!(1.5), json!("many")] {
        for field in ["people", "entries"] {
            let file = with(counted(json!("auto")), field, bad.clone());
            assert!(serde_json::from_value::<TaskDraft>(file).is_err());
        }
    }
    // A complete task has neither field.
    for (field, value) in [("people", json!(100)), ("entries", json!([0, 100]))] {
        assert!(parse(&with(task(event()), field, value)).is_err());
    }
}

#[test]
fn plans_say_for_how_many_people() {
    let people = |file: Value| {
        draft(file)
            .choices_per_question()
            .unwrap()
            .remove(0)
            .people_count
    };
    assert_eq!(people(counted(json!("auto"))), 10_000.0);
    assert_eq!(
        people(with(counted(json!("auto")), "people", json!(7))),
        7.0
    );
    assert_eq!(people(task(json!("auto"))), 10_000.0);
    assert_eq!(
        people(with(task(json!("coco")), "people", json!(123))),
        123.0
    );
}

/// The requested mechanism comes first. Alternatives follow by error, and none protects less than
/// the picked one.
#[test]
fn plans_list_what_else_there_is() {
    let level = |candidate: &hushbin::choose::Candidate| match &candidate.mechanism {
        Mechanism::HashBin(hash_bin) => hash_bin.privacy_level().name(),
        _ => PrivacyLevelName::User,
    };
    for mechanism in [
        json!("auto"),
        json!({ "name": "auto", "level": "event" }),
        json!({ "name": "auto", "objective": "frequency" }),
        json!("collision"),
        json!("coco"),
        json!("hash-bin"),
        json!({ "name": "hash-bin", "level": "event" }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 1.0 }),
    ] {
        for file in [
            with(task(mechanism.clone()), "items", json!(300)),
            counted(mechanism.clone()),
        ] {
            let draft = draft(file.clone());
            let plan = draft.choices_per_question().unwrap().remove(0);
            assert_eq!(draft.validate(), Ok(()));
            let task = draft.resolve_task().unwrap();
            assert_eq!(task.questions()[0].mechanism(), &plan.chosen.mechanism);
            assert_eq!(
                task.questions()[0].max_entries_per_report(),
                plan.chosen.sparsity
            );
            let errors: Vec<f64> = plan
                .alternatives
                .iter()
                .map(|other| other.objective_error)
                .collect();
            assert!(errors.is_sorted(), "{file}: {errors:?}");
            assert!(!plan.alternatives.contains(&plan.chosen));
            let auto = mechanism.get("name") == Some(&json!("auto")) || mechanism == json!("auto");
            if auto {
                assert!(plan.chosen.objective_error.is_finite());
                assert!(
                    errors
                        .iter()
                        .all(|error| *error >= plan.chosen.objective_error)
                );
            }
            let allowed = |candidate| {
                level(candidate) == PrivacyLevelName::User
                    || level(&plan.chosen) != PrivacyLevelName::User
                    || mechanism["level"] == "event"
            };
            assert!(plan.alternatives.iter().all(allowed), "{file}");
            assert!(plan.alternatives.len() >= 2, "{file}");
        }
    }
}

/// Errors about a field with several forms name the forms.
#[test]
fn forms_that_do_not_exist_are_named() {
    let said = |field: &str, value: Value| {
        let mut file = json!({
            "id": "a", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign",
        });
        file[field] = value;
        let error = serde_json::from_value::<TaskDraft>(file).unwrap_err();
        error.to_string()
    };
    let objective = said(
        "mechanism",
        json!({ "name": "auto", "objective": "median" }),
    );
    assert!(
        objective.contains("\"mean\", \"frequency\", \"nonmissing\", or"),
        "{objective}"
    );
    let items = said("items", json!("closed"));
    assert!(
        items.contains("a list of names, a number, or \"open\""),
        "{items}"
    );
}
