//! Tests of totals as bytes: stored totals give the same estimates to the last bit, and invalid
//! bytes are refused.

use std::collections::BTreeSet;

use hushbin::hash::HashKeys;
use hushbin::mechanism::hash_bin::{self, RandomisedResponse};
use hushbin::task::QuestionKind;
use hushbin::{Entry, Items, Mechanism, Question, Randomizer, Report, Task, TaskDraft, ValueKind};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Estimator, Totals, TotalsError};
use proptest::prelude::*;
use proptest::sample::Index;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::support::crowd;

/// Position of the first question's number of reports.
const FIRST: usize = 1 + 16;

fn resolved(questions: &Value) -> Task {
    let file = json!({ "id": "t", "epsilon": 2.0, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns one question of each kind.
fn questions() -> Vec<Value> {
    let load = json!({ "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" });
    let beta = json!({ "name": "beta", "kind": "flag" });
    let theme =
        json!({ "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] });
    let mut questions = vec![
        beta.clone(),
        theme.clone(),
        load.clone(),
        json!({ "name": "features", "kind": "set", "options": 12, "sparsity": 3 }),
        json!({ "name": "wait", "kind": "number", "min": 0, "max": 60, "want": "quantiles",
            "bins": 12 }),
        json!({ "name": "size", "kind": "number", "min": 0, "max": 64, "want": "quantiles",
            "bins": 64 }),
        json!({ "name": "screen", "kind": "numbers", "of": [
            { "name": "width", "min": 0, "max": 4000, "unit": "px" },
            { "name": "depth", "min": 0, "max": 1 } ] }),
        json!({ "name": "place", "kind": "numbers", "of": [
            { "name": "x", "min": 0, "max": 1 },
            { "name": "y", "min": 0, "max": 1 },
            { "name": "z", "min": -9, "max": 1 } ],
            "mechanism": { "name": "window", "drawn": 2, "atoms": 5 } }),
        json!({ "name": "query", "kind": "text", "prefixes": [2, 4, 4] }),
    ];
    for (name, value) in [("stars", "real"), ("likes", "sign")] {
        questions.push(
            json!({ "name": name, "kind": "ratings", "items": 20, "value": value,
            "sparsity": 2 }),
        );
    }
    for (name, of) in [("waits", &load), ("betas", &beta)] {
        questions.push(json!({ "name": name, "kind": "cross", "of": [theme, of] }));
    }
    questions.push(json!({ "name": "both", "kind": "together", "of": [beta, theme] }));
    questions
}

/// Returns tasks with every mechanism and rule, and with every kind of question, alone and
/// together.
pub(super) fn tasks() -> Vec<Task> {
    let rated = [ValueKind::Sign, ValueKind::Real];
    let alone = questions().into_iter().map(|own| json!([own]));
    let asked = alone.chain([Value::from(questions())]);
    let asked = asked.map(|questions| resolved(&questions));
    rated
        .into_iter()
        .flat_map(crowd::tasks)
        .chain(asked)
        .collect()
}

#[test]
fn all_mechanisms_and_kinds_are_tried() {
    let tasks = tasks();
    let questions = || tasks.iter().flat_map(Task::questions);
    let mechanisms: BTreeSet<_> = questions().map(|own| own.mechanism().name()).collect();
    let kinds: BTreeSet<_> = questions().map(|own| own.kind().name()).collect();
    assert_eq!(
        Vec::from_iter(mechanisms),
        ["coco", "collision", "hash-bin", "pattern", "window"]
    );
    let named = [
        "choice", "cross", "flag", "number", "numbers", "ratings", "set", "text", "together",
    ];
    assert_eq!(Vec::from_iter(kinds), named);
}

fn answer(question: &Question, rng: &mut ChaCha20Rng) -> Vec<Entry> {
    let mut below = |end: u64| rng.next_u64() % end;
    let entry = |item, value| Entry { item, value };
    let Some(items) = question.items().item_count() else {
        return match question.kind() {
            QuestionKind::Text(prefixes) => {
                let keys = prefixes
                    .prefix_hashes(["sun", "moon"][below(2) as usize])
                    .into_iter();
                keys.map(|item| entry(item, 1.0)).collect()
            }
            _ => vec![entry(below(1 << 40), 1.0)],
        };
    };
    match question.kind() {
        QuestionKind::Ratings(_) => vec![entry(below(items.into()), 1.0 - 2.0 * below(2) as f64)],
        QuestionKind::Set | QuestionKind::Choice | QuestionKind::Flag => {
            vec![entry(below(items.into()), 1.0)]
        }
        QuestionKind::Number(_) => vec![entry(0, below(31) as f64)],
        QuestionKind::Numbers(numbers) => (0..numbers.len() as u64)
            .map(|item| entry(item, below(2) as f64))
            .collect(),
        QuestionKind::CrossTabulation(_) => vec![entry(below(3), below(2) as f64)],
        QuestionKind::JointChoices(together) => (0..together.parts().len() as u64)
            .map(|part| entry(part, below(2) as f64))
            .collect(),
        QuestionKind::Text(_) => unreachable!("texts are open"),
    }
}

/// Returns reports of people who answer at random.
pub(super) fn reports(task: &Task, count: usize) -> Vec<Report> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(task);
    let mut report = || {
        let answers = task.questions().iter().map(|own| answer(own, &mut rng));
        let answers: Vec<Vec<Entry>> = answers.collect();
        let answers: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
        let made = randomizer.randomize_answers(&answers, &mut rng);
        made.unwrap().report
    };
    (0..count).map(|_| report()).collect()
}

pub(super) fn folded<'a>(task: &Task, reports: impl IntoIterator<Item = &'a Report>) -> Totals {
    let mut totals = Totals::new(task);
    reports
        .into_iter()
        .for_each(|report| totals.add_report(report));
    totals
}

/// Returns all estimates of listed items, as JSON.
fn estimates(task: &Task, totals: &Totals) -> Vec<String> {
    let estimator = Estimator::for_task(task.clone());
    let listed = |question: &&Question| !matches!(question.items(), Items::Open(_));
    let estimates = |question: &Question| {
        let options = EstimateOptions {
            question_name: Some(question.name().to_owned()).filter(|name| !name.is_empty()),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(task, &options).unwrap();
        serde_json::to_string(&estimator.estimates(totals, &query)).unwrap()
    };
    task.questions()
        .iter()
        .filter(listed)
        .map(estimates)
        .collect()
}

fn decoded(task: &Task, totals: &Totals) -> Totals {
    Totals::decode(task, &totals.encode()).unwrap()
}

#[test]
fn stored_totals_estimate_what_was_folded() {
    for task in tasks() {
        let reports = reports(&task, 150);
        let totals = folded(&task, &reports);
        let stored = decoded(&task, &totals);
        assert_eq!(stored.encode(), totals.encode(), "{task:?}");
        assert_eq!(
            estimates(&task, &stored),
            estimates(&task, &totals),
            "{task:?}"
        );
        for question in 0..task.questions().len() {
            assert_eq!(
                stored.question_report_count(question),
                totals.question_report_count(question)
            );
        }
        // Stored totals can continue to count.
        let (some, others) = reports.split_at(70);
        let mut resumed = decoded(&task, &folded(&task, some));
        others.iter().for_each(|report| resumed.add_report(report));
        assert_eq!(resumed.encode(), totals.encode(), "{task:?}");
        let none = Totals::new(&task);
        assert_eq!(decoded(&task, &none).encode(), none.encode());
    }
}

/// Reports in any order and totals merged in any order, stored or not, have equal bytes.
#[test]
fn equal_totals_have_equal_bytes() {
    for task in tasks() {
        let reports = reports(&task, 100);
        let totals = folded(&task, &reports);
        let bytes = totals.encode();
        assert_eq!(folded(&task, reports.iter().rev()).encode(), bytes);
        let parts: Vec<Totals> = reports.chunks(33).map(|own| folded(&task, own)).collect();
        let stored = parts.iter().map(|part| decoded(&task, part)).collect();
        for parts in [parts, stored] {
            for first in 0..parts.len() {
                let mut merged = parts[first].clone();
                let others = parts
                    .iter()
                    .enumerate()
                    .filter(|&(index, _)| index != first);
                others.for_each(|(_, part)| merged.merge(part));
                assert_eq!(merged.encode(), bytes, "{task:?}");
                assert_eq!(estimates(&task, &merged), estimates(&task, &totals));
            }
        }
    }
}

/// Encodes seven bits to a byte, the lowest first.
fn varint(mut number: u128) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Encodes a signed number, with the sign as the lowest bit.
fn zigzag(number: i128) -> Vec<u8> {
    let negative = u128::from(number < 0);
    varint(2 * number.unsigned_abs() - negative)
}

/// The encoding matches its description, built from each report and item. Later releases must be
/// able to read stored bytes.
#[test]
fn the_encoding_is_as_described() {
    let expected = |task: &Task, counts: Vec<Vec<u8>>| {
        [&[2], &task.fingerprint().0[..], &counts.concat()].concat()
    };
    // Places or seeds, in groups.
    let spread = |groups: Vec<i128>| -> Vec<Vec<u8>> {
        let before = [0].into_iter().chain(groups.clone());
        let pairs = groups.iter().zip(before);
        pairs.map(|(own, before)| zigzag(own - before)).collect()
    };
    let seeds = |reports: &[Report]| {
        let of = |byte: u8| {
            reports
                .iter()
                .filter(move |own| own.seed() >> 56 == u64::from(byte))
        };
        let counts = (0..=255).map(|byte| of(byte).count() as i128);
        spread(counts.collect())
    };
    let question = json!([{ "name": "q", "kind": "choice", "options": 300 }]);
    let task = resolved(&question);
    let domain = task.questions()[0].domain();
    let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
        panic!("a choice is for Collision");
    };
    let support = collision.hit_decoder(&domain);
    let collected = reports(&task, 1000);
    let mut counts = vec![varint(1000)];
    let mut before = 0;
    for element in 0..support.visitable_slot_count() as u64 {
        let hits = |report: &&Report| match report {
            Report::Collision(report) => support.is_hit(report, element),
            _ => false,
        };
        let count = collected.iter().filter(hits).count() as i128;
        counts.push(zigzag(count - before));
        before = count;
    }
    let places = (0..collision.total_buckets()).map(|place| {
        let names = |report: &&Report| match report {
            Report::Collision(report) => report.bucket == place,
            _ => false,
        };
        collected.iter().filter(names).count() as i128
    });
    counts.extend(spread(places.collect()));
    counts.extend(seeds(&collected));
    assert_eq!(folded(&task, &collected).encode(), expected(&task, counts));

    let bins = json!({ "name": "hash-bin", "level": "event", "bins": 3 });
    let task = crowd::task("real", &json!(crowd::ITEMS), &bins);
    let Mechanism::HashBin(hash_bin) = task.questions()[0].mechanism() else {
        panic!("hash-bin was asked for");
    };
    let support = hash_bin.item_bin_lookup(&task.questions()[0].domain());
    let collected = reports(&task, 100);
    let mut sums = [0; crowd::ITEMS as usize];
    let mut squares = 0;
    for report in &collected {
        let Report::HashBin(hash_bin::Report {
            seed,
            response: RandomisedResponse::Bins(bins),
        }) = report
        else {
            panic!("responses are bins");
        };
        squares += bins
            .iter()
            .map(|bin| bin.unsigned_abs().pow(2))
            .sum::<u64>();
        for (item, sum) in (0..).zip(&mut sums) {
            let (bin, sign) = support.bin_and_sign(&HashKeys::new(*seed), item);
            *sum += i128::from(bins[bin as usize] * i64::from(sign));
        }
    }
    let mut counts = vec![varint(100), varint(squares.into())];
    counts.extend(sums.map(zigzag));
    counts.extend(seeds(&collected));
    assert_eq!(folded(&task, &collected).encode(), expected(&task, counts));
}

/// Returns the task of a mechanism's question, and the bytes of totals of 50 reports.
fn one(mechanism: &str) -> (Task, Vec<u8>) {
    let mechanism = serde_json::from_str(mechanism).unwrap();
    let task = crowd::task("sign", &json!(crowd::ITEMS), &mechanism);
    let bytes = folded(&task, &reports(&task, 50)).encode();
    (task, bytes)
}

#[test]
fn faults_are_named_where_they_are() {
    let (task, bytes) = one(r#"{ "name": "collision" }"#);
    let (other, _) = one(r#"{ "name": "coco" }"#);
    let after = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        Totals::decode(&task, &bytes).unwrap_err()
    };
    let version = TotalsError::UnsupportedVersion {
        found: 1,
        expected: 2,
    };
    assert_eq!(after(&|b| b[0] = 1), version);
    assert_eq!(
        version.to_string(),
        "the encoding of totals has version 1, expected 2"
    );
    assert_eq!(
        Totals::decode(&other, &bytes).unwrap_err(),
        TotalsError::FingerprintMismatch {
            expected: other.fingerprint(),
            found: task.fingerprint(),
        }
    );
    let told = |change: &dyn Fn(&mut Vec<u8>), words: &str| {
        assert_eq!(
            after(change).to_string(),
            format!("the encoding of totals is {words}")
        );
    };
    told(
        &|b| b.truncate(0),
        "malformed at byte 0: expected a version byte",
    );
    told(
        &|b| b.truncate(FIRST - 1),
        "malformed at byte 1: expected a task fingerprint of 16 bytes",
    );
    told(
        &|b| b.truncate(FIRST),
        "malformed at byte 17: expected a number of reports",
    );
    told(
        &|b| b.truncate(FIRST + 1),
        "malformed at byte 18: expected a count of hits",
    );
    told(
        &|b| b.push(0),
        &format!(
            "malformed at byte {}: expected the end after the last count",
            bytes.len()
        ),
    );
    // The number 50, with one byte more than necessary.
    let long = "malformed at byte 17: expected the shortest encoding of a number";
    told(&|b| drop(b.splice(FIRST..=FIRST, [50 | 0x80, 0])), long);
    told(
        &|b| b[FIRST + 1] = 2 * 51,
        "impossible at byte 18: expected a count of hits up to 50, found 51",
    );
    // The number 2⁵³ + 1.
    let many = [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    told(
        &|b| drop(b.splice(FIRST..=FIRST, many)),
        "impossible at byte 17: expected a number of reports up to 9007199254740992, \
         found 9007199254740993",
    );
}

/// Impossible counts: a pair is hit on one side, an attribute has one sign, and responses have a
/// limit.
#[test]
fn counts_that_no_reports_have_are_refused() {
    let of = |mechanism: &str, counts: &[u8]| {
        let (task, bytes) = one(mechanism);
        let bytes = [&bytes[..FIRST], counts].concat();
        let error = Totals::decode(&task, &bytes).unwrap_err();
        assert!(
            matches!(error, TotalsError::CountTooLarge { .. }),
            "{error}"
        );
        error.to_string()
    };
    // Of three reports two hit the plus side, and two the minus side.
    let pairs = of(r#"{ "name": "coco" }"#, &[3, 4, 0]);
    assert!(
        pairs.ends_with("byte 19: expected a count of hits up to 1, found 2"),
        "{pairs}"
    );
    let signs = of(
        r#"{ "name": "coco", "buckets": 2, "favoured": 1 }"#,
        &[3, 8],
    );
    assert!(
        signs.ends_with("byte 18: expected a count of hits up to 3, found 4"),
        "{signs}"
    );
    let bins = r#"{ "name": "hash-bin", "level": "event", "bins": 3 }"#;
    let squares = of(bins, &[0, 1]);
    assert!(
        squares.ends_with("expected a sum of squares up to 0, found 1"),
        "{squares}"
    );
    let sums = of(bins, &[0, 0, 1]);
    assert!(
        sums.ends_with("expected a sum of responses up to 0, found 1"),
        "{sums}"
    );
}

#[test]
#[should_panic(expected = "totals of items of an open question are not encoded")]
fn what_is_not_the_tasks_is_not_encoded() {
    let task = crowd::task("sign", &json!("open"), &json!("collision"));
    let _ = Totals::for_items(&task, 0, &[7]).encode();
}

/// Kind of damage to bytes.
#[derive(Debug, Clone)]
enum Damage {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
    Replace(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        at().prop_map(Damage::Remove),
        at().prop_map(Damage::Cut),
        prop::collection::vec(any::<u8>(), 0..400).prop_map(Damage::Replace),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged bytes after the header are refused, or they are totals with exactly this encoding.
    /// Neither case takes more memory than totals do.
    #[test]
    fn hostile_bytes_are_refused_or_totals(
        task in prop::sample::select(tasks()),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut bytes = folded(&task, &reports(&task, 20)).encode();
        let header = bytes[..FIRST].to_vec();
        let mut counts = bytes.split_off(FIRST);
        for damage in damages {
            let end = counts.len();
            let place = |at: Index| at.index(end + 1).min(end.saturating_sub(1));
            match damage {
                Damage::Replace(bytes) => counts = bytes,
                Damage::Insert(at, byte) => counts.insert(place(at), byte),
                _ if end == 0 => {}
                Damage::Set(at, byte) => counts[place(at)] = byte,
                Damage::Remove(at) => drop(counts.remove(place(at))),
                Damage::Cut(at) => counts.truncate(place(at)),
            }
        }
        let bytes = [header, counts].concat();
        let new = allocation_counter::measure(|| drop(Totals::new(&task)));
        let mut found = None;
        let taken = allocation_counter::measure(|| found = Some(Totals::decode(&task, &bytes)));
        prop_assert!(taken.bytes_max <= new.bytes_max, "{taken:?}, {new:?}");
        if let Some(Ok(totals)) = found {
            prop_assert_eq!(totals.encode(), bytes);
            estimates(&task, &totals);
        }
    }
}
