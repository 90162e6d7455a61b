//! Tasks: refusals in every form of input, and differences between tasks.

mod coco;
mod collision;
mod hash_bin;

use hushbin::bounds::{self, ParameterRange};
use hushbin::{ErrorCode, Fingerprint, Items, RatingsTaskFields, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::task_files::{
    assert_agrees, assert_all_distinct, assert_differs, assert_refused, assert_survives, construct,
    draft, parse, task,
};

/// A small valid task file.
fn valid() -> Value {
    task(json!({
        "name": "collision", "rule": "heaviest", "favoured": 1,
        "hashing": "balanced", "buckets": 8,
    }))
}

/// The valid task with one field replaced, given by its JSON pointer.
fn with(pointer: &str, value: Value) -> Value {
    let mut task = valid();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    task.pointer_mut(parent).unwrap()[field] = value;
    task
}

fn without(pointer: &str) -> Value {
    let mut task = valid();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = task.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.remove(field).unwrap();
    task
}

fn fingerprint(task: &Value) -> Fingerprint {
    parse(task).unwrap().fingerprint()
}

fn assert_accepted(task: &Value) {
    let error = construct(task).err();
    assert_eq!(error, None, "{task}");
    assert!(parse(task).is_ok());
}

#[test]
fn whole_numbers_keep_to_their_bounds() {
    // There are at most as many entries as items, so this task has many items.
    let wide = |field: &str, number: f64| {
        let mut task = with(field, json!(number as u64));
        if field != "/items" {
            task["items"] = json!(bounds::ITEM_COUNT_RANGE.max as u64);
        } else {
            task["sparsity"] = json!(1);
        }
        task
    };
    let cases: [(&str, ParameterRange); 3] = [
        ("/items", bounds::ITEM_COUNT_RANGE),
        ("/sparsity", bounds::SPARSITY_RANGE),
        ("/mechanism/buckets", bounds::BUCKET_COUNT_RANGE),
    ];
    for (field, bound) in cases {
        assert_accepted(&wide(field, bound.min));
        assert_accepted(&wide(field, bound.max));
        let below = wide(field, bound.min - 1.0);
        let above = wide(field, bound.max + 1.0);
        if field == "/mechanism/buckets" {
            // Deserialisation checks the mechanism itself.
            for task in [below, above] {
                let text = parse(&task).unwrap_err();
                assert!(text.starts_with("buckets is "), "{text}");
            }
        } else {
            assert_refused(&below, ErrorCode::OutOfRange);
            assert_refused(&above, ErrorCode::OutOfRange);
        }
        // Numbers beyond 32 bits do not wrap round, and fractions are not cut.
        for number in [json!(-1), json!(4_294_967_298u64), json!(2.5), json!(1e300)] {
            assert!(parse(&with(field, number)).is_err());
        }
    }
    let many = with("/sparsity", json!(4));
    assert_refused(&many, ErrorCode::OutOfRange);
    let error = construct(&many).unwrap_err();
    assert_eq!(error.to_string(), "sparsity is 4, expected 1 to 3");
    // An open task has any number of items.
    let mut open = with("/sparsity", json!(bounds::SPARSITY_RANGE.max as u32));
    open["items"] = json!("open");
    open["mechanism"]["hashing"] = json!("independent");
    assert_accepted(&open);
}

#[test]
fn epsilon_keeps_to_its_bounds() {
    let ParameterRange { min, max, .. } = bounds::EPSILON_RANGE;
    for good in [min, max, min.next_up(), max.next_down(), 1.0] {
        assert_accepted(&with("/epsilon", json!(good)));
    }
    for bad in [
        min.next_down(),
        max.next_up(),
        0.0,
        -0.0,
        -1.0,
        1e300,
        5e-324,
    ] {
        assert_refused(&with("/epsilon", json!(bad)), ErrorCode::OutOfRange);
    }
    // JSON has no such numbers, but the constructor can receive them.
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut parts: RatingsTaskFields = serde_json::from_value(valid()).unwrap();
        parts.epsilon = bad;
        let error = Task::new(parts).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutOfRange);
        let mut draft: TaskDraft = serde_json::from_value(valid()).unwrap();
        draft.epsilon = bad;
        assert_eq!(
            draft.resolve_task().unwrap_err().code(),
            ErrorCode::OutOfRange
        );
        assert!(parse(&with("/epsilon", json!(bad))).is_err());
    }
}

/// A page parses numbers exactly. A file read here must give the same ε, or fingerprints differ.
#[test]
fn epsilon_is_read_exactly() {
    // The last three need a correctly rounded conversion. serde_json without its feature
    // `float_roundtrip` is off by one in the last place.
    let texts = [
        "0.1",
        "1.1",
        "3.0e-1",
        "1.0986122886681098",
        "7.7813127275611675",
        "10.655941026914267",
        "3.6690247039009565",
    ];
    for text in texts {
        let json = valid().to_string().replace("2.0", text);
        let task: Task = serde_json::from_str(&json).unwrap();
        assert_eq!(task.epsilon(), text.parse::<f64>().unwrap());
        let again: Task = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
        assert_eq!(again, task);
    }
}

#[test]
fn ids_are_slugs() {
    let longest = "a".repeat(64);
    let (longest_label, too_long_label) = (
        format!("{longest}:{}", "L".repeat(32)),
        format!("a:{}", "l".repeat(33)),
    );
    for good in [
        "a",
        "7",
        "a-b",
        "0-",
        "2026-survey",
        "a:b",
        "a:2.14.0",
        "a:DE",
        "a:0_-.",
        longest.as_str(),
        longest_label.as_str(),
    ] {
        assert_accepted(&with("/id", json!(good)));
    }
    let too_long = "a".repeat(65);
    let bad = [
        "",
        "-a",
        "A",
        "a_b",
        "a b",
        "a/b",
        "..",
        "é",
        "a\n",
        "a\0",
        "a:",
        ":a",
        "a:b:c",
        "a:_b",
        "a:.b",
        "a:b c",
        "a:b/c",
        "a:é",
        "a_:b",
        too_long.as_str(),
        too_long_label.as_str(),
    ];
    for bad in bad {
        assert_refused(&with("/id", json!(bad)), ErrorCode::InvalidTaskId);
    }
}

#[test]
fn names_are_short_and_distinct() {
    let names = |names: &[&str]| {
        let mut task = with("/items", json!(names));
        task["sparsity"] = json!(1);
        task
    };
    let longest = "x".repeat(bounds::ITEM_NAME_BYTES_RANGE.max as usize);
    let too_long = format!("{longest}x");
    // 256 bytes, but fewer characters.
    let wide = "é".repeat(bounds::ITEM_NAME_BYTES_RANGE.max as usize / 2);
    assert_accepted(&names(&[
        "a",
        longest.as_str(),
        wide.as_str(),
        " ",
        "🎉",
        "a,b",
    ]));
    for bad in [
        "",
        too_long.as_str(),
        "tab\t",
        "line\n",
        "nul\0",
        "next\u{85}",
    ] {
        assert_refused(&names(&["a", bad]), ErrorCode::InvalidItemName);
    }
    let wider = format!("{wide}x");
    assert_refused(&names(&[wider.as_str()]), ErrorCode::InvalidItemName);
    assert_refused(&names(&["a", "b", "a"]), ErrorCode::DuplicateName);
    assert_refused(&names(&[]), ErrorCode::OutOfRange);
    // Names are bytes, so names that look alike may differ.
    assert_accepted(&names(&["a", "A", "a "]));
}

#[test]
fn files_say_all_and_nothing_else() {
    for field in [
        "/id",
        "/items",
        "/sparsity",
        "/epsilon",
        "/value",
        "/mechanism",
    ] {
        assert!(parse(&without(field)).is_err(), "{field}");
        assert!(parse(&with(field, json!(null))).is_err(), "{field}");
    }
    for field in [
        "/mechanism/name",
        "/mechanism/rule",
        "/mechanism/hashing",
        "/mechanism/buckets",
    ] {
        assert!(parse(&without(field)).is_err(), "{field}");
        assert!(parse(&with(field, json!("other"))).is_err(), "{field}");
    }
    for field in [
        "/comment",
        "/mechanism/comment",
        "/mechanism/Buckets",
        "/fingerprint",
    ] {
        let task = with(field, json!(1));
        assert!(parse(&task).is_err(), "{field}");
        assert!(
            serde_json::from_value::<TaskDraft>(task).is_err(),
            "{field}"
        );
    }
    for items in [
        json!("Open"),
        json!("all"),
        json!({}),
        json!([1, 2]),
        json!(true),
    ] {
        assert!(parse(&with("/items", items)).is_err());
    }
    let twice = valid().to_string().replacen('{', r#"{"id":"other","#, 1);
    assert!(serde_json::from_str::<Task>(&twice).is_err());
}

#[test]
fn tasks_survive_their_own_files() {
    let mut counted = with("/items", json!(12));
    counted["value"] = json!("real");
    let mut open = with("/items", json!("open"));
    open["mechanism"]["hashing"] = json!("independent");
    for file in [valid(), counted, open] {
        assert_survives(file);
    }
}

#[test]
fn names_resolve_to_items() {
    let named = Items::Named(vec!["a".into(), "b".into()]);
    assert_eq!(named.find_item("b"), Some(1));
    assert_eq!(named.find_item("c"), None);
    let counted = Items::Count(12);
    assert_eq!(counted.find_item("0"), Some(0));
    assert_eq!(counted.find_item("11"), Some(11));
    for bad in ["12", "007", "+1", "-1", "", "1.0", " 1", "4294967296", "a"] {
        assert_eq!(counted.find_item(bad), None, "{bad}");
    }
    let open: Items = serde_json::from_value(json!("open")).unwrap();
    // The first eight bytes of SHA-256 of "abc", ba7816bf8f01cfea.
    assert_eq!(open.find_item("abc"), Some(0xeacf_018f_bf16_78ba));
    assert_ne!(open.find_item("abd"), open.find_item("abc"));
}

#[test]
fn every_field_changes_the_fingerprint() {
    let variants = [
        valid(),
        with("/id", json!("settingt")),
        with("/items", json!(["dark-mode", "captions", "autoplay"])),
        with("/items", json!(["dark-mode", "autoplay", "caption"])),
        with("/items", json!(["dark-mode", "autoplay", "captions", "d"])),
        // Bytes cannot move from one name to the next.
        with("/items", json!(["dark-modea", "utoplay", "captions"])),
        with("/items", json!(3)),
        with("/items", json!(4)),
        with("/sparsity", json!(1)),
        with("/epsilon", json!(2.0f64.next_up())),
        with("/value", json!("real")),
        with("/mechanism/favoured", json!(2)),
        with("/mechanism/hashing", json!("independent")),
        with("/mechanism/buckets", json!(9)),
        {
            let mut occupied = without("/mechanism/favoured");
            occupied["mechanism"]["rule"] = json!("occupied");
            occupied
        },
        {
            let mut open = with("/items", json!("open"));
            open["mechanism"]["hashing"] = json!("independent");
            open
        },
    ];
    assert_all_distinct(&variants);
}

/// Reports that wait in browsers carry fingerprints, so these must not change with a release.
#[test]
fn fingerprints_are_stable() {
    let printed = fingerprint(&valid()).to_string();
    assert_eq!(printed, "02ae483e98dfd719bfc0483d37b490cb");
    assert_eq!(printed.parse(), Ok(fingerprint(&valid())));
    assert_eq!(printed.to_uppercase().parse(), Ok(fingerprint(&valid())));
    for bad in [
        "",
        &printed[1..],
        &format!("{printed}0"),
        &printed.replace(['0', '1'], "g"),
    ] {
        assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
    }
}

#[test]
fn drafts_agree_with_what_they_leave_open() {
    let task = parse(&valid()).unwrap();
    let agreeing = [
        valid(),
        without("/mechanism"),
        with("/mechanism", json!("collision")),
        with("/mechanism", json!({ "name": "collision" })),
        with("/mechanism", json!({ "name": "collision", "buckets": 8 })),
        with(
            "/mechanism",
            json!({ "name": "collision", "rule": "heaviest" }),
        ),
    ];
    for file in agreeing {
        assert_agrees(&file, &task);
    }
    let differing = [
        (with("/id", json!("other")), "id"),
        (with("/items", json!(3)), "items"),
        (with("/sparsity", json!(1)), "sparsity"),
        (with("/epsilon", json!(2.0f64.next_up())), "epsilon"),
        (with("/value", json!("real")), "value"),
        (with("/mechanism/rule", json!("occupied")), "rule"),
        (with("/mechanism/favoured", json!(2)), "favoured"),
        (with("/mechanism/hashing", json!("independent")), "hashing"),
        (with("/mechanism/buckets", json!(9)), "buckets"),
    ];
    for (file, expected) in differing {
        assert_differs(&file, &task, expected);
    }
    let more = with("/mechanism/buckets", json!(9));
    let text = assert_differs(&more, &task, "buckets");
    assert!(text.ends_with("buckets is 9, expected 8"), "{text}");
    // If the rule is open, its parameter may be superfluous.
    let occupied = json!({ "name": "collision", "rule": "occupied", "buckets": 8 });
    let occupied = draft(with("/mechanism", occupied)).resolve_task().unwrap();
    let favoured = json!({ "name": "collision", "favoured": 2 });
    let text = assert_differs(&with("/mechanism", favoured), &occupied, "favoured");
    assert!(text.ends_with("favoured is 2, expected none"), "{text}");
}
