//! Memoised answers: the distribution of reports made from memos, and the tasks that allow memos.

use hushbin::mechanism::MemoAndReportThresholds;
use hushbin::sample::Threshold;
use hushbin::task::MemoParameters;
use hushbin::{Entry, ErrorCode, Mechanism, MemoSlot, Randomizer, Report, Task, Upload, UploadId};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::support::exact::{Exact, Exp};
use crate::support::task_files::{draft, parse, with};
use hushbin_tests::significance::assert_distributed;

/// File of a choice with `options` options and this mechanism, at ε = `one` for each report and ε =
/// `total` for all.
#[allow(clippy::needless_pass_by_value)]
fn file(options: u32, mechanism: Value, one: f64, total: f64) -> Value {
    let names: Vec<String> = (0..options).map(|option| format!("o{option}")).collect();
    json!({
        "id": "memo", "epsilon": one, "budget": { "memo": { "epsilon": total, "days": 365 } },
        "questions": [{
            "name": "q", "kind": "choice", "options": names, "mechanism": mechanism,
        }],
    })
}

fn collision(hashing: &str, favoured: u32, buckets: u32) -> Value {
    json!({
        "name": "collision", "rule": "heaviest", "favoured": favoured, "hashing": hashing,
        "buckets": buckets,
    })
}

/// Tasks of up to 16 options, with each mechanism that allows memos.
fn tasks() -> impl Iterator<Item = Task> {
    let losses = [
        (2.0, 1.0),
        (2.0, 0.5),
        (0.01, 0.001),
        (4.0, 1.0),
        (12.0, 6.0),
    ];
    (2..=16_u32).flat_map(move |options| {
        let plain = (2..=options).map(|t| ("balanced", 1, t));
        let windows = (3..=options).flat_map(|t| (2..t).map(move |c| ("balanced-windows", c, t)));
        let all: Vec<_> = plain.chain(windows).collect();
        all.into_iter().flat_map(move |(hashing, c, t)| {
            losses.into_iter().filter_map(move |(total, one)| {
                parse(&file(options, collision(hashing, c, t), one, total)).ok()
            })
        })
    })
}

fn exact(value: u64) -> Exact {
    Exact::from_integer(value.into())
}

fn share(threshold: Threshold) -> Exact {
    exact(threshold.0) / (exact(1 << 32) * exact(1 << 32))
}

/// The second stage is averaged over the memo, without rounding. A report must support the answer
/// as often as a fresh report at ε does, and never more often.
#[test]
fn a_report_has_the_distribution_of_a_fresh_one() {
    let mut checked = 0;
    for task in tasks() {
        let &MemoAndReportThresholds {
            slot_count: slots,
            slots_supported_per_report: supported,
            own_slot_probability: own_slot,
            memo_supported_probability: report,
        } = task.memo_thresholds().unwrap();
        let question = task.only_question().unwrap();
        let Mechanism::Collision(own) = question.mechanism() else {
            unreachable!()
        };
        let others = exact(u64::from(slots) - 1);
        let [own_slot, report] = [own_slot, report].map(share);
        // Of the other slots, M − 1 are supported beside the memo, or M without it.
        let other = (exact(supported.into()) - &report) / &others;
        let composed = &own_slot * report + (exact(1) - &own_slot) * other;
        let fresh = share(own.thresholds(1, question.epsilon()).favoured_threshold(1));
        assert!(composed <= fresh, "{own:?}");
        let most = exact(1_000_000_000);
        assert!(composed > fresh * (&most - exact(1)) / &most, "{own:?}");
        // The memo alone loses at most ε_total.
        let odds = &own_slot * others / (exact(1) - &own_slot);
        let [one, bound] = [0.0, task.report_budget().memo().unwrap().epsilon]
            .map(|at| Exact::from_integer(Exp::of(at).low));
        assert!(odds * one <= bound, "{own:?}");
        checked += 1;
    }
    assert!(checked > 1000, "{checked}");
}

/// Reports of one call, and reports from a memo that is drawn first, are distributed like fresh
/// reports: by the number of options that they support besides the answer.
#[test]
fn both_ways_to_make_a_report_have_one_distribution() {
    const REPORTS: u64 = 40_000;
    for (options, hashing, favoured, buckets) in [
        (2, "balanced", 1, 2),
        (5, "balanced", 1, 4),
        (6, "balanced-windows", 2, 6),
    ] {
        let task = parse(&file(
            options,
            collision(hashing, favoured, buckets),
            1.0,
            3.0,
        ))
        .unwrap();
        let question = task.only_question().unwrap();
        let Mechanism::Collision(own) = question.mechanism() else {
            unreachable!()
        };
        let decoder = own.hit_decoder(&question.domain());
        let inside = own.thresholds(1, 1.0).favoured_threshold(1);
        let expected = [inside.probability(), inside.false_probability()];
        let mut randomizer = Randomizer::new(&task);
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(options));
        // An entry of value 0 counts as absent.
        let answer = [(0, 0.0), (1, 1.0)].map(|(item, value)| Entry { item, value });
        let mut counts = [[0_u64; 2]; 2];
        let header = hushbin::upload::upload_header(UploadId([0; 16]), &task.fingerprint(), 1);
        for _ in 0..REPORTS {
            let mut bytes = header.clone();
            let memo = randomizer.draw_memo(1, &mut rng).unwrap();
            randomizer
                .encode_report_from_memo(memo, &mut rng, &mut bytes)
                .unwrap();
            let from_memo = Upload::decode(&bytes, &task).unwrap().reports.remove(0);
            let at_once = randomizer.randomize(&answer, &mut rng).unwrap().report;
            for (counts, report) in counts.iter_mut().zip([from_memo, at_once]) {
                let Report::Collision(report) = report else {
                    unreachable!()
                };
                counts[usize::from(!decoder.is_hit(&report, 1))] += 1;
            }
        }
        for counts in counts {
            assert_distributed(&counts, &expected, hashing);
        }
    }
}

/// The memo is the answer's slot with its probability, and any other slot equally often.
#[test]
fn memos_have_their_probabilities() {
    const DRAWS: u64 = 60_000;
    // Three options in two buckets have four slots.
    let task = parse(&file(3, collision("balanced", 1, 2), 0.5, 2.0)).unwrap();
    let &MemoAndReportThresholds {
        slot_count: slots,
        own_slot_probability: own_slot,
        ..
    } = task.memo_thresholds().unwrap();
    assert_eq!(slots, 4);
    let randomizer = Randomizer::new(&task);
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for own in 0..3_u32 {
        let mut counts = [0; 4];
        for _ in 0..DRAWS {
            let memo = randomizer.draw_memo(own, &mut rng).unwrap();
            counts[memo.0 as usize] += 1;
        }
        let mut expected = [own_slot.false_probability() / 3.0; 4];
        expected[own as usize] = own_slot.probability();
        assert_distributed(&counts, &expected, "memo");
    }
}

/// Reports from one memo have different seeds, and depend on nothing but the memo.
#[test]
fn reports_of_a_memo_reveal_only_the_memo() {
    let task = parse(&file(2, collision("balanced", 1, 2), 1.0, 2.0)).unwrap();
    let mut randomizer = Randomizer::new(&task);
    let report = |randomizer: &mut Randomizer, memo, seed| {
        let mut bytes = Vec::new();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        randomizer
            .encode_report_from_memo(memo, &mut rng, &mut bytes)
            .unwrap();
        bytes
    };
    let mut seen: Vec<_> = (0..1000)
        .map(|seed| report(&mut randomizer, MemoSlot(1), seed))
        .collect();
    // An answer that was given in between changes nothing.
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    randomizer
        .randomize(
            &[Entry {
                item: 0,
                value: 1.0,
            }],
            &mut rng,
        )
        .unwrap();
    for (seed, bytes) in (0..).zip(&seen) {
        assert_eq!(&report(&mut randomizer, MemoSlot(1), seed), bytes);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 1000);
}

#[test]
fn errors_say_what_a_memo_needs() {
    let flag = json!({ "name": "q", "kind": "flag", "mechanism": collision("balanced", 1, 2) });
    let good = json!({
        "id": "memo", "epsilon": 1.0, "budget": { "memo": { "epsilon": 2.0, "days": 365 } },
        "questions": [flag],
    });
    assert!(parse(&good).unwrap().memo_thresholds().is_some());
    let memo = |memo: Value| with(good.clone(), "budget", json!({ "memo": memo }));
    let asks = |questions: Value| with(good.clone(), "questions", questions);
    let set = json!({
        "name": "s", "kind": "set", "options": ["a", "b"], "sparsity": 1,
        "mechanism": collision("balanced", 1, 3),
    });
    let pattern = json!({
        "name": "q", "kind": "choice", "options": ["a", "b", "c"],
        "mechanism": collision("balanced", 2, 3),
    });
    let other = with(flag.clone(), "name", json!("r"));
    for (file, words) in [
        (
            with(
                memo(json!({ "epsilon": 12.0, "days": 365 })),
                "epsilon",
                json!(11.98),
            ),
            "the memo's \"epsilon\" is too small",
        ),
        (memo(Value::Null), "invalid type: null"),
        (memo(json!({ "epsilon": 2.0 })), "missing field `days`"),
        (memo(json!({ "days": 365 })), "missing field `epsilon`"),
        (
            memo(json!({ "epsilon": 2.0, "days": 365, "onChange": "renew" })),
            "unknown field",
        ),
        (
            memo(json!({ "epsilon": 13.0, "days": 365 })),
            "epsilon is 13",
        ),
        (
            memo(json!({ "epsilon": 2.0, "days": 29 })),
            "days of a memo is 29, expected 30 to 3650",
        ),
        (
            with(
                good.clone(),
                "budget",
                json!({ "reports": 2, "memo": { "epsilon": 2.0, "days": 365 } }),
            ),
            "needs \"reports\" 1",
        ),
        (
            memo(json!({ "epsilon": 1.0, "days": 365 })),
            "the memo's \"epsilon\" is too small",
        ),
        (asks(json!([flag, other])), "a \"memo\" is for one question"),
        (asks(json!([set])), "a \"memo\" is for a flag or a choice"),
        (
            asks(json!([pattern])),
            "a \"memo\" needs the mechanism collision",
        ),
        (
            file(65, collision("balanced", 1, 65), 1.0, 4.0),
            "options is 65, expected 2 to 64",
        ),
        (
            file(12, collision("balanced", 1, 3), 1.0, 2.0),
            "the memo's \"epsilon\" is too small",
        ),
    ] {
        let error = parse(&file).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    // Without a memo, there is nothing to draw.
    let mut randomizer = Randomizer::new(&parse(&with(good, "budget", json!({}))).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let error = randomizer.draw_memo(0, &mut rng).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    let error = randomizer
        .encode_report_from_memo(MemoSlot(0), &mut rng, &mut Vec::new())
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
}

#[test]
fn a_memo_is_a_slot_of_the_task() {
    let task = parse(&file(3, collision("balanced", 1, 2), 0.5, 2.0)).unwrap();
    let mut randomizer = Randomizer::new(&task);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert!(randomizer.draw_memo(2, &mut rng).is_ok());
    // The fourth slot is no option.
    let error = randomizer.draw_memo(3, &mut rng).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownItem);
    for (memo, allowed) in [(0, true), (3, true), (4, false), (u32::MAX, false)] {
        let made = randomizer.encode_report_from_memo(MemoSlot(memo), &mut rng, &mut Vec::new());
        assert_eq!(
            made.map_err(|error| error.code()),
            if allowed {
                Ok(())
            } else {
                Err(ErrorCode::UnknownItem)
            }
        );
    }
}

/// A draft without parameters gets ones that allow the memo, and the best of those.
#[test]
fn drafts_choose_what_a_memo_allows() {
    for (options, total, supported) in [
        (2, 2.0, 1),
        (8, 2.0, 2),
        (12, 2.0, 3),
        (16, 2.0, 3),
        (16, 3.0, 4),
        (64, 2.0, 3),
    ] {
        let mut file = file(options, Value::Null, 1.0, total);
        file["questions"][0]
            .as_object_mut()
            .unwrap()
            .remove("mechanism");
        let task = draft(file.clone()).resolve_task().unwrap();
        let stages = task.memo_thresholds().unwrap();
        assert_eq!(
            stages.slots_supported_per_report * options / stages.slot_count,
            supported,
            "{options} {total}"
        );
        let choices = draft(file).choices_per_question().unwrap();
        assert_eq!(
            choices[0].question.mechanism(),
            task.only_question().unwrap().mechanism()
        );
    }
    // A stated mechanism is kept, and refused if it allows no memo.
    let stated = file(12, json!({ "name": "collision", "buckets": 2 }), 1.0, 2.0);
    assert!(draft(stated).resolve_task().is_err());
}

#[test]
fn canonical_bytes_have_the_memo() {
    let task = parse(&file(2, collision("balanced", 1, 2), 1.0, 2.0)).unwrap();
    assert_eq!(
        task.report_budget().memo(),
        Some(MemoParameters {
            epsilon: 2.0,
            days: 365
        })
    );
    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
    // After the text, days, reports and the number 1.
    let at = 8 + 16 + 24;
    assert_eq!(bytes[at..at + 8], 2.0_f64.to_le_bytes());
    assert_eq!(bytes[at + 8..at + 16], 365_u64.to_le_bytes());
    let mut fewer = bytes.clone();
    fewer[at + 8..at + 16].copy_from_slice(&29_u64.to_le_bytes());
    let error = Task::from_canonical_bytes(&fewer).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OutOfRange);
    let mut smaller = bytes;
    smaller[at..at + 8].copy_from_slice(&1.0_f64.to_le_bytes());
    let error = Task::from_canonical_bytes(&smaller).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
}
