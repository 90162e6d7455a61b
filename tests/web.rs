//! Tests in a browser: the core returns the same bytes as natively, and the bindings work with the
//! browser's own randomness. `npm run test:web` runs them.

#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use std::collections::HashSet;

use hushbin::mechanism::hash_bin::RandomisedResponse;
use hushbin::sums::{Message, SumTask};
use hushbin::upload::EncodedUpload;
use hushbin::wasm::{Randomizer, SumRandomizer, digest};
use hushbin::{ErrorCode, Report, Task, Upload};
use hushbin_tests::{byte_vectors, question_vectors, sum_vectors};
use serde_json::json;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const NAMES: &str = "dark-mode|autoplay|captions|Übersetzung";

/// Fields of a task's canonical bytes, valid or not. For hash-bin, `rule` is the level, `favoured`
/// the grid, and `buckets` the number of bins.
#[derive(Clone, Copy)]
struct Arguments {
    id: &'static str,
    /// Item names joined by bars, or `None` in an open task.
    names: Option<&'static str>,
    sparsity: u64,
    epsilon: f64,
    value: u64,
    rule: u8,
    favoured: u64,
    hashing: u64,
    buckets: u64,
    amount: f64,
    delta: f64,
}

const SETTINGS: Arguments = Arguments {
    id: "settings",
    names: Some(NAMES),
    sparsity: 2,
    epsilon: 2.0,
    value: 0,
    rule: 1,
    favoured: 2,
    hashing: 0,
    buckets: 8,
    amount: 0.0,
    delta: 0.0,
};

/// Arguments of hash-bin at level event.
const EVENTS: Arguments = Arguments {
    value: 1,
    rule: 4,
    favoured: 256,
    buckets: 3,
    ..SETTINGS
};

fn make(a: Arguments) -> Result<Randomizer, u32> {
    Randomizer::new(&canonical(a))
}

fn canonical(a: Arguments) -> Vec<u8> {
    let number = |number: u64| number.to_le_bytes().to_vec();
    let text = |text: &str| [number(text.len() as u64), text.as_bytes().to_vec()].concat();
    let items = match a.names {
        Some(names) => {
            let names: Vec<_> = names.split('|').collect();
            let count = [number(0), number(names.len() as u64)].concat();
            [count, names.into_iter().flat_map(text).collect()].concat()
        }
        None => number(2),
    };
    let mechanism = match a.rule {
        0 | 1 => [
            text("collision"),
            number(a.favoured),
            number(a.hashing),
            number(a.buckets),
        ]
        .concat(),
        2 | 3 => [
            text("coco"),
            number(a.favoured),
            number(a.hashing),
            number(a.buckets / 2),
        ]
        .concat(),
        4..=7 => [
            text("hash-bin"),
            number(u64::from(a.rule - 4)),
            number(a.amount.to_bits()),
            number(a.delta.to_bits()),
            number(a.hashing),
            number(a.buckets),
            number(u64::from(a.favoured.trailing_zeros())),
        ]
        .concat(),
        _ => text("another"),
    };
    [
        text("hushbin task 1"),
        text(a.id),
        items,
        number(a.sparsity),
        number(a.epsilon.to_bits()),
        number(a.value),
        mechanism,
    ]
    .concat()
}

fn upload(randomizer: &mut Randomizer, reports: &[u8], count: u32) -> Vec<u8> {
    [randomizer.upload_header(count).unwrap(), reports.to_vec()].concat()
}

fn settings() -> (Randomizer, Task) {
    let task = json!({
        "id": "settings",
        "items": NAMES.split('|').collect::<Vec<_>>(),
        "sparsity": 2,
        "epsilon": 2.0,
        "value": "sign",
        "mechanism": {
            "name": "collision", "rule": "heaviest", "favoured": 2,
            "hashing": "balanced", "buckets": 8,
        },
    });
    let task = serde_json::from_value(task).unwrap();
    (make(SETTINGS).ok().unwrap(), task)
}

fn decode(bytes: &[u8], task: &Task) -> (String, Vec<(u64, u32)>) {
    let upload = Upload::decode(bytes, task).unwrap();
    let reports = upload.reports.into_iter().map(|report| match report {
        Report::Collision(report) | Report::Coco(report) => (report.seed, report.bucket),
        Report::HashBin(_) | Report::Window(_) | Report::Pattern(_) => {
            unreachable!("the task draws buckets")
        }
    });
    (upload.id.to_string(), reports.collect())
}

/// Checks that every level of hash-bin is read as the task of the same file, and returns reports of
/// its shape.
#[wasm_bindgen_test]
fn hash_bin_takes_every_level() {
    let clipped = |noise| json!({ "level": "user", "clip": 0.75, "noise": noise });
    let within = json!({ "level": "neighbouring", "distance": 1.5 });
    let failing = json!({ "level": "neighbouring", "distance": 1.5, "delta": 1e-6 });
    let levels = [
        (4, 0.0, 0.0, 3, json!({ "level": "event" })),
        (5, 1.5, 0.0, 3, within),
        (5, 1.5, 1e-6, 3, failing),
        (6, 0.75, 0.0, 1, clipped("two-point")),
        (7, 0.75, 0.0, 1, clipped("laplace")),
    ];
    for (rule, amount, delta, bins, level) in levels {
        let arguments = Arguments {
            rule,
            buckets: bins,
            amount,
            delta,
            ..EVENTS
        };
        let mut randomizer = make(arguments).ok().unwrap();
        let mut file = json!({
            "id": "settings", "items": NAMES.split('|').collect::<Vec<_>>(), "sparsity": 2,
            "epsilon": 2.0, "value": "real", "mechanism": level,
        });
        file["mechanism"]["name"] = json!("hash-bin");
        file["mechanism"]["hashing"] = json!("balanced");
        file["mechanism"]["bins"] = json!(bins);
        file["mechanism"]["grid"] = json!(256);
        let task: Task = serde_json::from_value(file).unwrap();
        // More entries than s: hash-bin uses all of them.
        let report = randomizer.randomize(&[3], &[0, 2, 3], &[0.3, -1.0, 1.0]);
        let report = report.unwrap();
        assert_eq!(randomizer.sampled_down(), 0);
        let bytes = upload(&mut randomizer, &report, 1);
        let upload = Upload::decode(&bytes, &task).unwrap();
        let Report::HashBin(report) = &upload.reports[0] else {
            unreachable!()
        };
        match &report.response {
            RandomisedResponse::Sign(_) => assert_eq!(rule, 6),
            RandomisedResponse::Bins(made) => assert_eq!(made.len(), bins as usize),
        }
    }
}

/// Runs the same vectors as `tests/core/stability.rs` runs natively.
#[wasm_bindgen_test]
fn bytes_are_those_of_other_platforms() {
    byte_vectors::check(include_str!("vectors/collision.json"));
    byte_vectors::check(include_str!("vectors/coco.json"));
    byte_vectors::check(include_str!("vectors/hash-bin.json"));
    question_vectors::check(include_str!("vectors/questions.json"));
    sum_vectors::check(include_str!("vectors/sums.json"));
}

fn timings() -> SumTask {
    let task = json!({
        "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
        "numbers": [{ "name": "load", "min": 0, "max": 10 }],
        "messages": {
            "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904", "noise": 2,
        },
    });
    serde_json::from_value(task).unwrap()
}

#[wasm_bindgen_test]
fn messages_of_sums_are_what_the_analyser_decodes() {
    let task = timings();
    let bytes = task.canonical_bytes();
    let mut randomizer = SumRandomizer::new(&bytes).ok().unwrap();
    let mut ids = HashSet::new();
    let mut orders = HashSet::new();
    for _ in 0..20 {
        let messages = randomizer.randomize(&[5.0]).unwrap();
        let sent = [randomizer.upload_header(10).unwrap(), messages].concat();
        let upload = EncodedUpload::read_unchecked_upload(&sent, task.fingerprint()).unwrap();
        let messages = task.decode_messages(&upload).unwrap();
        assert_eq!(messages.len(), 10);
        ids.insert(upload.id.to_string());
        orders.insert(messages);
    }
    assert_eq!(ids.len(), 20);
    // A seeded generator continues: two uploads differ.
    assert!(orders.len() > 1);
    assert_eq!((randomizer.clipped(), randomizer.left()), (0, 0));
    randomizer.randomize(&[10.5]).unwrap();
    assert_eq!((randomizer.clipped(), randomizer.left()), (1, 0));
}

#[wasm_bindgen_test]
fn answers_to_questions_are_what_the_analyser_decodes() {
    let task = json!({
        "id": "load", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
        "questions": [{ "name": "load", "kind": "number", "min": 0, "max": 64, "bins": 64 }],
        "messages": { "draws": 3, "threshold": "9223372036854775808" },
    });
    let task: SumTask = serde_json::from_value(task).unwrap();
    let mut randomizer = SumRandomizer::new(&task.canonical_bytes()).ok().unwrap();
    let mut counts = HashSet::new();
    for _ in 0..50 {
        let messages = randomizer.randomize(&[41.5]).unwrap();
        // Messages of 72 cells take one byte each.
        let count = messages.len() as u32;
        assert!(task.message_count_range().contains(&count));
        let sent = [randomizer.upload_header(count).unwrap(), messages].concat();
        let upload = EncodedUpload::read_unchecked_upload(&sent, task.fingerprint()).unwrap();
        let messages = task.decode_messages(&upload).unwrap();
        // The bin, and the node above it, of eight bins.
        for own in [Message::Cell(8 + 41), Message::Cell(5)] {
            assert!(messages.contains(&own));
        }
        counts.insert(count);
    }
    assert!(counts.len() > 1);
    assert_eq!(randomizer.clipped(), 0);
    randomizer.randomize(&[65.0]).unwrap();
    assert_eq!(randomizer.clipped(), 1);
    let refused = Err(ErrorCode::ValueOutOfRange as u32);
    assert_eq!(randomizer.randomize(&[f64::NAN]), refused);
}

#[wasm_bindgen_test]
fn wrong_sums_are_codes() {
    let bytes = timings().canonical_bytes();
    let mut randomizer = SumRandomizer::new(&bytes).ok().unwrap();
    let cases: [(&[f64], ErrorCode); 3] = [
        (&[], ErrorCode::WrongAnswerCount),
        (&[1.0, 1.0], ErrorCode::WrongAnswerCount),
        (&[f64::NAN], ErrorCode::ValueOutOfRange),
    ];
    for (values, code) in cases {
        assert_eq!(randomizer.randomize(values), Err(code as u32));
    }
    for count in [0, 4097] {
        let header = randomizer.upload_header(count);
        assert_eq!(header, Err(ErrorCode::OutOfRange as u32));
    }
    // A task of sums is not accepted as one of reports, nor the reverse.
    let malformed = Some(ErrorCode::Malformed as u32);
    assert_eq!(Randomizer::new(&bytes).err(), malformed);
    assert_eq!(SumRandomizer::new(&canonical(SETTINGS)).err(), malformed);
}

#[wasm_bindgen_test]
fn uploads_are_what_the_collector_decodes() {
    let (mut randomizer, task) = settings();
    let mut reports = randomizer.randomize(&[2], &[0, 3], &[1.0, -1.0]).unwrap();
    let many = randomizer.randomize(&[0, 2, 1], &[1, 0, 2], &[1.0, -1.0, 0.0]);
    reports.extend(many.unwrap());
    let (first_id, decoded) = decode(&upload(&mut randomizer, &reports, 4), &task);
    assert_eq!(decoded.len(), 4);
    let (second_id, again) = decode(&upload(&mut randomizer, &reports, 4), &task);
    assert_eq!(decoded, again);
    assert_ne!(first_id, second_id);
}

#[wasm_bindgen_test]
fn every_randomizer_is_seeded_afresh() {
    let seeds: HashSet<u64> = (0..50)
        .flat_map(|_| {
            let (mut randomizer, task) = settings();
            let report = randomizer.randomize(&[1], &[0], &[1.0]).unwrap();
            decode(&upload(&mut randomizer, &report, 1), &task).1
        })
        .map(|(seed, _)| seed)
        .collect();
    assert_eq!(seeds.len(), 50);
}

/// Compares the frequency of hits with the predicted rates.
#[wasm_bindgen_test]
fn reports_hit_as_predicted() {
    const REPORTS: u32 = 4000;
    let (mut randomizer, task) = settings();
    let question = task.only_question().unwrap();
    let hushbin::Mechanism::Collision(collision) = question.mechanism() else {
        unreachable!()
    };
    let domain = question.domain();
    let decoder = collision.hit_decoder(&domain);
    let mut hits = [0_u32; 2];
    for _ in 0..REPORTS {
        let report = randomizer.randomize(&[2], &[0, 3], &[1.0, -1.0]).unwrap();
        let bytes = upload(&mut randomizer, &report, 1);
        let Report::Collision(report) = &Upload::decode(&bytes, &task).unwrap().reports[0] else {
            unreachable!()
        };
        hits[0] += u32::from(decoder.is_hit(report, 0));
        hits[1] += u32::from(decoder.is_hit(report, 1));
    }
    let rates = collision.hit_probabilities(&domain, task.epsilon());
    for (hits, expected) in hits.into_iter().zip([rates.p_true, rates.p_false]) {
        let deviation = (expected * (1.0 - expected) * f64::from(REPORTS)).sqrt();
        let z = (f64::from(hits) - expected * f64::from(REPORTS)) / deviation;
        // Two-sided test at significance 1e-6.
        assert!(z.abs() < 4.9, "{hits} hits, {z} standard errors off");
    }
}

#[wasm_bindgen_test]
fn wrong_entries_are_codes() {
    let (mut randomizer, _) = settings();
    let cases: [(&[u32], &[f64], ErrorCode); 6] = [
        (&[4], &[1.0], ErrorCode::UnknownItem),
        (&[u32::MAX], &[1.0], ErrorCode::UnknownItem),
        (&[0], &[0.5], ErrorCode::ValueOutOfRange),
        (&[0], &[f64::NAN], ErrorCode::ValueOutOfRange),
        (&[2, 2], &[1.0, 1.0], ErrorCode::DuplicateItem),
        (&[1], &[], ErrorCode::InvalidCombination),
    ];
    for (items, values, code) in cases {
        let length = [items.len() as u32];
        let made = randomizer.randomize(&length, items, values);
        assert_eq!(made, Err(code as u32));
    }
    // The second pair sums to 2³², which a 32-bit sum would wrap to 0.
    for lengths in [[u32::MAX; 2], [1 << 31; 2]] {
        let too_long = randomizer.randomize(&lengths, &[], &[]);
        assert_eq!(too_long, Err(ErrorCode::InvalidCombination as u32));
    }
    for count in [0, 4097, u32::MAX] {
        let header = randomizer.upload_header(count);
        assert_eq!(header, Err(ErrorCode::OutOfRange as u32));
    }
}

#[wasm_bindgen_test]
fn wrong_tasks_are_codes() {
    let s = SETTINGS;
    let named = |names| Arguments {
        names: Some(names),
        ..s
    };
    let cases = [
        (Arguments { id: "No slug", ..s }, ErrorCode::InvalidTaskId),
        (named("a|"), ErrorCode::InvalidItemName),
        (named("a|b\nc"), ErrorCode::InvalidItemName),
        (named("a|a"), ErrorCode::DuplicateName),
        (Arguments { sparsity: 5, ..s }, ErrorCode::OutOfRange),
        (
            Arguments {
                sparsity: 1 << 32,
                ..s
            },
            ErrorCode::Malformed,
        ),
        (
            Arguments {
                epsilon: f64::NAN,
                ..s
            },
            ErrorCode::OutOfRange,
        ),
        (Arguments { value: 2, ..s }, ErrorCode::Malformed),
        (Arguments { favoured: 8, ..s }, ErrorCode::OutOfRange),
        (
            Arguments {
                buckets: u64::from(u32::MAX),
                ..s
            },
            ErrorCode::OutOfRange,
        ),
        // 4,097 hash functions, and a number that does not fit into 32 bits.
        (
            Arguments {
                hashing: 3 * 4096,
                ..s
            },
            ErrorCode::OutOfRange,
        ),
        (
            Arguments {
                hashing: u64::MAX,
                ..s
            },
            ErrorCode::Malformed,
        ),
        (
            Arguments {
                rule: 0,
                favoured: 0,
                buckets: 2,
                ..s
            },
            ErrorCode::InvalidCombination,
        ),
        (
            Arguments {
                rule: 2,
                favoured: 0,
                buckets: 4,
                ..s
            },
            ErrorCode::InvalidCombination,
        ),
        (Arguments { rule: 8, ..s }, ErrorCode::UnknownMechanism),
        (
            Arguments { names: None, ..s },
            ErrorCode::InvalidCombination,
        ),
    ];
    for (index, (arguments, code)) in cases.into_iter().enumerate() {
        assert_eq!(make(arguments).err(), Some(code as u32), "case {index}");
    }
}

#[wasm_bindgen_test]
fn wrong_parameters_of_hash_bin_are_codes() {
    let neighbours = |amount, delta| Arguments {
        rule: 5,
        amount,
        delta,
        ..EVENTS
    };
    let clipped = |amount, buckets| Arguments {
        rule: 6,
        amount,
        buckets,
        ..EVENTS
    };
    let gridded = |favoured| Arguments { favoured, ..EVENTS };
    let binned = |buckets| Arguments { buckets, ..EVENTS };
    let open = Arguments {
        names: None,
        ..EVENTS
    };
    let cases = [
        (gridded(0), ErrorCode::OutOfRange),
        (gridded(1 << 17), ErrorCode::OutOfRange),
        (binned(0), ErrorCode::OutOfRange),
        (binned(5), ErrorCode::OutOfRange),
        (binned(u64::from(u32::MAX)), ErrorCode::OutOfRange),
        (neighbours(0.0, 0.0), ErrorCode::OutOfRange),
        (neighbours(f64::NAN, 0.0), ErrorCode::OutOfRange),
        (neighbours(f64::INFINITY, 0.0), ErrorCode::OutOfRange),
        (neighbours(1.5, -0.0), ErrorCode::OutOfRange),
        (neighbours(1.5, 0.5), ErrorCode::OutOfRange),
        (clipped(0.0, 1), ErrorCode::OutOfRange),
        (clipped(f64::NAN, 1), ErrorCode::OutOfRange),
        (clipped(0.7, 1), ErrorCode::InvalidCombination),
        (clipped(0.75, 2), ErrorCode::InvalidCombination),
        (open, ErrorCode::InvalidCombination),
    ];
    for (index, (arguments, code)) in cases.into_iter().enumerate() {
        assert_eq!(make(arguments).err(), Some(code as u32), "case {index}");
    }
}

#[wasm_bindgen_test]
fn sampling_down_is_counted() {
    let (mut randomizer, _) = settings();
    randomizer.randomize(&[2], &[0, 1], &[1.0, 1.0]).unwrap();
    assert_eq!(randomizer.sampled_down(), 0);
    let lengths = [3, 0, 4];
    let items = [0, 1, 2, 0, 1, 2, 3];
    randomizer.randomize(&lengths, &items, &[1.0; 7]).unwrap();
    assert_eq!(randomizer.sampled_down(), 2);
}

/// Randomises two questions, a flag and a number. Each person's entries come in turn.
#[wasm_bindgen_test]
fn several_questions_take_lengths_of_each() {
    let mechanism = json!({
        "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced", "buckets": 2,
    });
    let task: Task = serde_json::from_value(json!({
        "id": "questions", "epsilon": 2.0, "questions": [
            { "name": "beta", "kind": "flag", "mechanism": mechanism },
            { "name": "load", "kind": "number", "edges": [0.0, 1.0, 5.0], "mechanism": mechanism },
        ],
    }))
    .unwrap();
    let mut randomizer = Randomizer::new(&task.canonical_bytes()).ok().unwrap();
    let reports = randomizer.randomize(&[1; 4], &[1, 0, 0, 0], &[1.0, 0.5, 1.0, 99.0]);
    let upload = upload(&mut randomizer, &reports.unwrap(), 2);
    assert_eq!(decode(&upload, &task).1.len(), 2);
    type Case<'a> = (&'a [u32], &'a [u32], &'a [f64], ErrorCode);
    let cases: [Case<'_>; 5] = [
        (&[1], &[1], &[1.0], ErrorCode::InvalidCombination),
        (
            &[1, 1, 1],
            &[0; 3],
            &[1.0; 3],
            ErrorCode::InvalidCombination,
        ),
        (&[0, 1], &[0], &[1.0], ErrorCode::WrongAnswerCount),
        (&[2, 1], &[0, 1, 0], &[1.0; 3], ErrorCode::WrongAnswerCount),
        (
            &[1, 1],
            &[0, 0],
            &[1.0, f64::NAN],
            ErrorCode::ValueOutOfRange,
        ),
    ];
    for (lengths, items, values, code) in cases {
        assert_eq!(
            randomizer.randomize(lengths, items, values),
            Err(code as u32)
        );
    }
}

#[wasm_bindgen_test]
fn open_tasks_take_keys() {
    let keys = ["", "ad-blocker 🧱"].map(|name| {
        let key = hushbin::item_name_hash(name);
        assert_eq!(digest(name.as_bytes())[..8], key.to_le_bytes());
        [key as u32, (key >> 32) as u32]
    });
    let keys = keys.concat();
    for (arguments, bytes) in [(SETTINGS, 9..=9), (EVENTS, 11..=8 + 3 * 10)] {
        let open = Arguments {
            names: None,
            hashing: 1,
            ..arguments
        };
        let mut randomizer = make(open).ok().unwrap();
        let report = randomizer.randomize(&[2], &keys, &[1.0, -1.0]).unwrap();
        assert!(bytes.contains(&report.len()));
        let twice = randomizer.randomize(&[2], &[7, 1, 7, 1], &[1.0, 1.0]);
        assert_eq!(twice, Err(ErrorCode::DuplicateItem as u32));
    }
}
