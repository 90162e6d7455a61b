//! Bytes stay the same from release to release and between platforms.
//!
//! `HUSHBIN_REGENERATE=1 cargo test --test core stability` recomputes the outcomes from the `given`
//! parts of the file. To add a case, write only its `given`. A changed outcome is a change of the
//! wire format or of the draws.
//! change of an outcome is a change of the wire or of the draws.

use std::collections::BTreeSet;

use hushbin::Items;
use hushbin::mechanism::Mechanism;
use hushbin::sums::{CountedKind, MessageParameters, SumTask, SummedQuantity};
use hushbin_tests::byte_vectors::{Case, Given, check, run};
use hushbin_tests::{question_vectors, sum_vectors};

const COLLISION: &str = include_str!("../vectors/collision.json");
const COCO: &str = include_str!("../vectors/coco.json");
const HASH_BIN: &str = include_str!("../vectors/hash-bin.json");
const QUESTIONS: &str = include_str!("../vectors/questions.json");
const SUMS: &str = include_str!("../vectors/sums.json");

fn is_regenerating() -> bool {
    std::env::var_os("HUSHBIN_REGENERATE").is_some()
}

fn check_or_regenerate(name: &str, vectors: &str) {
    if !is_regenerating() {
        check(vectors);
        return;
    }
    regenerate(name, vectors, |given| {
        let given: Given = serde_json::from_value(given).unwrap();
        let outcome = run(&given);
        serde_json::to_string(&Case { given, outcome }).unwrap()
    });
}

fn regenerate(name: &str, vectors: &str, line: impl Fn(serde_json::Value) -> String) {
    let cases: Vec<serde_json::Value> = serde_json::from_str(vectors).unwrap();
    let lines: Vec<String> = cases
        .iter()
        .map(|case| line(case["given"].clone()))
        .collect();
    let path = format!("{}/../vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
}

#[test]
fn reports_and_uploads_of_collision_keep_their_bytes() {
    check_or_regenerate("collision.json", COLLISION);
}

#[test]
fn reports_and_uploads_of_coco_keep_their_bytes() {
    check_or_regenerate("coco.json", COCO);
}

#[test]
fn reports_and_uploads_of_hash_bin_keep_their_bytes() {
    check_or_regenerate("hash-bin.json", HASH_BIN);
}

#[test]
fn reports_and_uploads_of_questions_keep_their_bytes() {
    if !is_regenerating() {
        question_vectors::check(QUESTIONS);
        return;
    }
    regenerate("questions.json", QUESTIONS, |given| {
        let given: question_vectors::Given = serde_json::from_value(given).unwrap();
        let outcome = question_vectors::run(&given);
        serde_json::to_string(&question_vectors::Case { given, outcome }).unwrap()
    });
}

#[test]
fn messages_and_uploads_of_sums_keep_their_bytes() {
    if !is_regenerating() {
        sum_vectors::check(SUMS);
        return;
    }
    regenerate("sums.json", SUMS, |given| {
        let given: sum_vectors::Given = serde_json::from_value(given).unwrap();
        let outcome = sum_vectors::run(&given);
        serde_json::to_string(&sum_vectors::Case { given, outcome }).unwrap()
    });
}

/// All kinds of tasks, messages of one byte and of two, and answers that are clipped or leave a
/// remainder.
#[test]
fn the_vectors_of_sums_cover_every_kind() {
    let cases: Vec<sum_vectors::Case> = serde_json::from_str(SUMS).unwrap();
    let tasks: Vec<SumTask> = cases
        .iter()
        .map(|case| serde_json::from_value(case.given.task.clone()).unwrap())
        .collect();
    let kinds: BTreeSet<(u32, bool)> = tasks
        .iter()
        .map(|task| {
            let kind = match task.summed_quantity() {
                SummedQuantity::NumbersWithLimits(..) => 0,
                SummedQuantity::BoundedVector(_) => 1,
                SummedQuantity::CountedQuestions(questions) => match questions.kind() {
                    CountedKind::Choice { .. } => 2,
                    CountedKind::Set { .. } => 3,
                    CountedKind::Flags => 4,
                    CountedKind::Number { .. } => {
                        5 + u32::from(questions.bins_per_node().is_some())
                    }
                },
            };
            let items = task.summed_quantity().items();
            (kind, matches!(items, Items::Count(_)))
        })
        .collect();
    // Numbers and flags always have names, and bins never have them. The other kinds may.
    assert_eq!(kinds.len(), 1 + 2 + 2 + 2 + 1 + 2, "{kinds:?}");
    let padded: BTreeSet<Option<bool>> = tasks
        .iter()
        .map(|task| match task.message_parameters() {
            MessageParameters::UnitSteps(_) => None,
            MessageParameters::Lottery(lottery) => Some(lottery.pads_to_equal_counts()),
        })
        .collect();
    assert_eq!(padded.len(), 3, "{padded:?}");
    let lengths: BTreeSet<usize> = tasks.iter().map(SumTask::longest_message_bytes).collect();
    assert_eq!(lengths, BTreeSet::from([1, 2]));
    for any in [
        cases
            .iter()
            .flat_map(|case| &case.outcome.clipped)
            .any(|own| *own),
        cases
            .iter()
            .flat_map(|case| &case.outcome.left)
            .any(|own| *own),
    ] {
        assert!(any);
    }
}

/// The vectors cover every combination of items, rule or level, and hash, and inputs of every kind.
#[test]
fn the_vectors_cover_every_kind() {
    // Open domains cannot be balanced, and one rule needs no paddings.
    for (vectors, combinations) in [(COLLISION, 2 * 3), (COCO, 2 * 3 + 1), (HASH_BIN, 5 * 3)] {
        let cases: Vec<Case> = serde_json::from_str(vectors).unwrap();
        let kinds: BTreeSet<String> = cases
            .iter()
            .map(|case| {
                let task = &case.outcome.task;
                let open = task.questions()[0].items().item_count().is_none();
                match task.questions()[0].mechanism() {
                    Mechanism::Collision(c) => {
                        format!("{open} {:?} {:?}", c.rule_name(), c.hash_family())
                    }
                    Mechanism::Coco(c) => {
                        format!("{open} {:?} {:?}", c.rule_name(), c.hash_family())
                    }
                    Mechanism::HashBin(h) => {
                        let level = h.privacy_level();
                        let delta = h.realised_delta() > 0.0;
                        let (name, noise) = (level.name(), level.sum_noise_kind());
                        format!("{open} {name:?} {delta} {noise:?} {:?}", h.hash_family())
                    }
                    Mechanism::Window(_) | Mechanism::Pattern(_) => {
                        unreachable!("numbers have names")
                    }
                }
            })
            .collect();
        assert_eq!(kinds.len(), combinations, "{kinds:?}");
        let values = || {
            cases
                .iter()
                .map(|case| case.outcome.task.questions()[0].coded_value_kind())
        };
        assert_ne!(
            values().min_by_key(|v| *v as u8),
            values().max_by_key(|v| *v as u8)
        );
        // More than s entries are sampled down, except under hash-bin.
        let longer = |case: &Case| {
            let sparsity = case.outcome.task.questions()[0].max_entries_per_report() as usize;
            let given = case.given.inputs.iter().map(|input| input.len() > sparsity);
            given
                .zip(&case.outcome.sampled_down)
                .any(|(longer, sampled_down)| {
                    let takes_all = matches!(
                        case.outcome.task.questions()[0].mechanism(),
                        Mechanism::HashBin(_)
                    );
                    longer && *sampled_down != takes_all
                })
        };
        assert!(cases.iter().filter(|case| longer(case)).count() >= 3);
        let inputs = || cases.iter().flat_map(|case| &case.given.inputs);
        assert!(inputs().any(Vec::is_empty));
        assert!(inputs().flatten().any(|(_, value)| *value == 0.5));
    }
}

/// Numeric codes that cross to JavaScript, and their names.
#[test]
fn error_codes_keep_their_numbers() {
    use hushbin::ErrorCode::{
        DuplicateItem, DuplicateName, FingerprintMismatch, InvalidCombination, InvalidItemName,
        InvalidTaskId, Malformed, NoEntropy, OutOfRange, TaskDiffers, UnknownItem,
        UnsupportedVersion, ValueOutOfRange,
    };
    let codes = [
        (OutOfRange, 1, "out-of-range"),
        (InvalidTaskId, 2, "task-id"),
        (InvalidItemName, 3, "item-name"),
        (DuplicateName, 4, "duplicate-name"),
        (InvalidCombination, 5, "combination"),
        (TaskDiffers, 6, "task-differs"),
        (UnknownItem, 7, "unknown-item"),
        (DuplicateItem, 8, "duplicate-item"),
        (ValueOutOfRange, 9, "value-range"),
        (UnsupportedVersion, 10, "version"),
        (FingerprintMismatch, 11, "fingerprint-mismatch"),
        (Malformed, 12, "malformed"),
        (NoEntropy, 13, "no-entropy"),
    ];
    for (code, number, name) in codes {
        assert_eq!((code as u32, code.as_str()), (number, name));
    }
}
