//! Questions for a text: the reported prefix, privacy, and refusals.

use hushbin::domain::Domain;
use hushbin::hash::{HashFamily, HashKeys, independent_bucket};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::mix::mix64;
use hushbin::task::{PrefixLengths, QuestionKind};
use hushbin::{
    Entry, Error, Items, Mechanism, Question, Randomizer, Report, Task, TaskDraft, item_name_hash,
};
use serde_json::{Value, json};

use crate::support::generators::{Scripted, randomize};
use crate::support::significance::assert_uniform;

fn draft(question: &Value) -> TaskDraft {
    let mut question = question.clone();
    question["name"] = json!("query");
    question["kind"] = json!("text");
    let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

fn mechanism(buckets: u32) -> Value {
    json!({ "name": "collision", "rule": "heaviest", "favoured": 1,
        "hashing": "independent", "buckets": buckets })
}

fn entries(prefixes: &PrefixLengths, text: &str) -> Vec<Entry> {
    let keys = prefixes.prefix_hashes(text).into_iter();
    keys.map(|item| Entry { item, value: 1.0 }).collect()
}

fn prefixes(question: &Question) -> &PrefixLengths {
    let QuestionKind::Text(prefixes) = question.kind() else {
        unreachable!()
    };
    prefixes
}

/// Characters are Unicode scalar values. A text that ends differs from every text that continues.
#[test]
fn prefixes_are_of_characters() {
    let prefixes = PrefixLengths::new(vec![1, 2, 2, 5]).unwrap();
    let prefix_hash = |text: &str| PrefixLengths::text_or_prefix_hash(text, true);
    for (text, expected) in [
        ("", [item_name_hash(""); 4]),
        ("é", [item_name_hash("é"); 4]),
        (
            "é🙂",
            [
                prefix_hash("é"),
                item_name_hash("é🙂"),
                item_name_hash("é🙂"),
                item_name_hash("é🙂"),
            ],
        ),
        (
            "e\u{301}xyz",
            [
                prefix_hash("e"),
                prefix_hash("e\u{301}"),
                prefix_hash("e\u{301}"),
                item_name_hash("e\u{301}xyz"),
            ],
        ),
        (
            "longer",
            [
                prefix_hash("l"),
                prefix_hash("lo"),
                prefix_hash("lo"),
                prefix_hash("longe"),
            ],
        ),
    ] {
        assert_eq!(prefixes.prefix_hashes(text), expected, "{text:?}");
    }
    assert_ne!(prefix_hash("a"), item_name_hash("a"));
    assert_ne!(prefix_hash(""), item_name_hash(""));
}

/// The report of every seed, with either decision, is for the prefix that the seed draws. No other
/// entry matters.
#[test]
fn a_report_tells_of_the_prefix_that_its_seed_draws() {
    const T: u32 = 5;
    let task = draft(&json!({ "prefixes": [1, 3, 4], "mechanism": mechanism(T) }));
    let task = task.resolve_task().unwrap();
    let own = prefixes(&task.questions()[0]);
    let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
        unreachable!()
    };
    let inside = collision.thresholds(1, 1.0).favoured_threshold(1).0;
    let mut randomizer = Randomizer::new(&task);
    let mut report = |entries: &[Entry], words: &[u64]| {
        let mut rng = Scripted::new(words);
        let made = randomize(&mut randomizer, entries, &mut rng).unwrap();
        let Report::Collision(report) = made.report else {
            unreachable!()
        };
        (report.seed, report.bucket, rng.taken)
    };
    let mut seen = [0; 3];
    for seed in (0..300).map(mix64) {
        let drawn = own.drawn_prefix_index(seed);
        seen[drawn] += 1;
        let given = entries(own, "abcdef");
        let hashed = independent_bucket(&HashKeys::new(seed), given[drawn].item, T);
        for word in [0, inside - 1, inside, u64::MAX] {
            let words = [seed, word, 0, 0, 0];
            let (of, bucket, taken) = report(&given, &words);
            assert_eq!(
                (of, bucket == hashed),
                (seed, word < inside),
                "{seed} {word}"
            );
            // Entries of other prefixes do not matter.
            let mut others = entries(own, "zyxwvu");
            others[drawn] = given[drawn];
            assert_eq!(report(&others, &words), (of, bucket, taken));
        }
    }
    assert!(seen.iter().all(|count| *count > 60), "{seen:?}");
}

/// Parts are drawn evenly, for every question of a seed and for every hash of it.
#[test]
fn parts_are_drawn_evenly_and_by_themselves() {
    let two = |name: &str| json!({ "name": name, "kind": "flag" });
    let file = json!({ "id": "t", "epsilon": 1.0, "questions": [two("a"), two("b")] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    let task = draft.resolve_task().unwrap();
    const PARTS: usize = 3;
    let prefixes = PrefixLengths::new(vec![2, 4, 6]).unwrap();
    let mut joint = vec![0; PARTS * 2 * 4];
    for seed in 0..120_000 {
        // This bijection of counted words is practically uniform.
        let seed = mix64(seed ^ 0x5eed);
        let part = prefixes.drawn_prefix_index(seed);
        let question = task.question_selector().question_index_for_seed(seed);
        let bucket = independent_bucket(&HashKeys::new(seed), 99, 4) as usize;
        joint[(part * 2 + question) * 4 + bucket] += 1;
    }
    assert_uniform(&joint, "parts, questions and buckets");
    assert_eq!(
        PrefixLengths::new(vec![2]).unwrap().drawn_prefix_index(7),
        0
    );
}

/// A prefix's bucket is, under every seed, at most exp(ε) times as likely as another bucket, by the
/// sampled thresholds. 1,200 tasks.
#[test]
fn any_two_texts_are_as_near_as_epsilon_says() {
    for step in 1..=60 {
        let epsilon = 0.2 * f64::from(step);
        for buckets in (2..=21).map(|t| t * t) {
            let rule = FavouredBucketRule::Heaviest { favoured: 1 };
            let collision = Collision::new(rule, HashFamily::Independent, buckets).unwrap();
            let question = Question::new(hushbin::task::QuestionFields {
                name: "q".to_owned(),
                kind: QuestionKind::Text(PrefixLengths::new(vec![2, 4]).unwrap()),
                items: Items::Open(hushbin::task::OpenKeyword::Open),
                max_entries_per_report: 1,
                weight: 1,
                epsilon,
                mechanism: collision.into(),
            })
            .unwrap();
            let inside = collision.thresholds(1, epsilon).favoured_threshold(1);
            // Integers over 2⁶⁴ are exact: the remainder is spread over t − 1 buckets.
            let (own, others) = (u128::from(inside.0), (1_u128 << 64) - u128::from(inside.0));
            let ratio = (own * u128::from(buckets - 1)) as f64 / others as f64;
            let effective = question.achieved_report_epsilon();
            assert!(effective <= epsilon, "{epsilon} {buckets}");
            assert!(ratio.ln() <= effective + 1e-12, "{epsilon} {buckets}");
            assert!(ratio.ln() > epsilon - 1e-9, "{epsilon} {buckets}");
        }
    }
}

/// The choice is as good as local hashing with the best number of buckets (T. Wang et al. 2017).
/// Its variance is (e + t − 1)²/((t − 1)(e − 1)²) for a rare text.
#[test]
fn as_many_buckets_as_are_best() {
    for epsilon in [0.5, 1.0, 2.0, 4.0, 7.0] {
        let chosen =
            Collision::choose_parameters(&Domain::of_one_open_item(), epsilon, &Default::default())
                .unwrap();
        let rates = chosen.hit_probabilities(&Domain::of_one_open_item(), epsilon);
        let e = f64::exp(epsilon);
        let of = |t: f64| (e + t - 1.0).powi(2) / ((t - 1.0) * (e - 1.0).powi(2));
        let best = (2..3000)
            .map(|t| of(f64::from(t)))
            .fold(f64::INFINITY, f64::min);
        let ours = rates.frequency_variance(false);
        assert!(ours < best * (1.0 + 1e-9), "{epsilon}: {ours}, {best}");
        assert_eq!(chosen.hash_family(), HashFamily::Independent);
    }
}

#[test]
fn tasks_with_texts_are_read_back() {
    let task = draft(&json!({ "length": 7 })).resolve_task().unwrap();
    let question = &task.questions()[0];
    assert_eq!(prefixes(question).lengths(), [2, 4, 6, 7, 7]);
    assert_eq!(question.domain(), Domain::of_one_open_item());
    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).unwrap(), task);
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(file["questions"][0]["prefixes"], json!([2, 4, 6, 7, 7]));
    assert_eq!(serde_json::from_value::<Task>(file).unwrap(), task);
    draft(&json!({ "length": 7 }))
        .check_agrees_with(&task)
        .unwrap();
    let differs = draft(&json!({ "length": 8 }))
        .check_agrees_with(&task)
        .unwrap_err();
    assert!(differs.to_string().contains("prefixes"), "{differs}");
    let others = draft(&json!({ "prefixes": [2, 4, 6, 7] }))
        .resolve_task()
        .unwrap();
    assert_ne!(others.fingerprint(), task.fingerprint());
}

#[test]
fn texts_that_make_no_sense_are_refused() {
    let refused = |question: &Value| {
        let mut question = question.clone();
        question["name"] = json!("query");
        question["kind"] = question.get("kind").cloned().unwrap_or(json!("text"));
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let read: Result<TaskDraft, _> = serde_json::from_value(file);
        match read {
            Ok(draft) => draft.resolve_task().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    };
    for (question, expected) in [
        (json!({}), "\"length\""),
        (json!({ "length": 4, "prefixes": [4] }), "\"length\""),
        (
            json!({ "length": 0 }),
            "length of a text is 0, expected 1 to 126",
        ),
        (
            json!({ "length": 127 }),
            "length of a text is 127, expected 1 to 126",
        ),
        (json!({ "prefixes": [] }), "number of \"prefixes\" is 0"),
        (json!({ "prefixes": [4, 2] }), "ascend"),
        (json!({ "length": 4, "options": 3 }), "\"options\""),
        (json!({ "length": 4, "sparsity": 1 }), "\"sparsity\""),
        (json!({ "length": 4, "unit": "s" }), "\"unit\""),
        (json!({ "kind": "flag", "length": 4 }), "\"text\""),
        (json!({ "length": 4, "mechanism": "coco" }), "\"collision\""),
        (
            json!({ "length": 4, "mechanism": { "name": "collision", "hashing": "balanced" } }),
            "independent",
        ),
        (json!({ "length": 4, "entries": [1, 2, 3] }), "\"entries\""),
    ] {
        let error = refused(&question);
        assert!(
            error.contains(expected),
            "{question}: {error}, expected {expected}"
        );
    }
}

/// Too many entries, too few, and values that are no presence are refused without drawing.
#[test]
fn wrong_answers_are_refused() {
    let task = draft(&json!({ "prefixes": [1, 2], "mechanism": mechanism(4) }));
    let task = task.resolve_task().unwrap();
    let mut randomizer = Randomizer::new(&task);
    let entry = |value| Entry { item: 9, value };
    let mut refused = |entries: &[Entry]| {
        let mut rng = Scripted::new(&[1, 2, 3]);
        let error = randomize(&mut randomizer, entries, &mut rng).unwrap_err();
        assert_eq!(rng.taken, 0);
        let Error::ErrorInQuestion { name, error } = error else {
            panic!("{error}")
        };
        assert_eq!(name, "query");
        *error
    };
    let expected = 2;
    for given in [0, 1, 3] {
        let error = refused(&vec![entry(1.0); given]);
        assert_eq!(error, Error::WrongAnswerCount { given, expected });
    }
    for value in [0.0, -1.0, 0.5, f64::NAN] {
        let error = refused(&[entry(1.0), entry(value)]);
        assert!(
            matches!(error, Error::ValueOutOfRange { item: 9, .. }),
            "{error}"
        );
    }
}
