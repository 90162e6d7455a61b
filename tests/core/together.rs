//! Several choices and flags asked as one question: randomisation, privacy, choice and refusals.

use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, CollisionHitProbabilities, FavouredBucketRule};
use hushbin::task::{QuestionFields, QuestionKind, QuestionPart, Together};
use hushbin::{Entry, Error, ErrorCode, Items, Question, Randomizer, Report, Task, TaskDraft};
use hushbin_tests::fillings;
use serde_json::{Value, json};

use crate::questions::assert_hidden;
use crate::support::generators::{Scripted, seeded};
use crate::support::significance::assert_distributed;

/// Parts with these numbers of options; parts with two options are flags.
fn parts(options: &[u32]) -> Together {
    let part = |(index, &count): (usize, &u32)| match count {
        2 => QuestionPart::new_flag(format!("flag-{index}")),
        _ => QuestionPart::new_choice(format!("choice-{index}"), Items::Count(count)),
    };
    Together::new(options.iter().enumerate().map(part).collect())
}

fn domain(together: &Together) -> Domain {
    Domain::with_exact_entry_count(together.cell_count(), together.parts().len() as u32)
}

fn question(together: &Together, collision: Collision, epsilon: f64) -> Question {
    Question::new(QuestionFields {
        name: "q".to_owned(),
        items: Items::Count(together.cell_count()),
        kind: QuestionKind::JointChoices(together.clone()),
        max_entries_per_report: together.parts().len() as u32,
        weight: 1,
        epsilon,
        mechanism: collision.into(),
    })
    .unwrap()
}

fn entry(item: u64, value: f64) -> Entry {
    Entry { item, value }
}

/// Every complete answer: an option of each part.
fn answers(together: &Together) -> Vec<Vec<Entry>> {
    let mut all = vec![Vec::new()];
    for (index, part) in (0..).zip(together.parts()) {
        let with = |answer: &Vec<Entry>| {
            let options = (0..part.cell_count()).map(f64::from);
            let longer = options.map(|option| [&answer[..], &[entry(index, option)]].concat());
            longer.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn cells(together: &Together, answer: &[Entry]) -> Vec<u32> {
    together
        .answered_option_entries(answer)
        .map(|own| own.item as u32)
        .collect()
}

/// More than a thousand sets of parameters. Under every seed, the likelihood ratio of a report
/// between two complete answers is at most exp of the effective ε. That is at most the requested ε.
#[test]
fn answers_hide_in_each_other() {
    let mut sets = 0;
    for options in [&[2, 2][..], &[3, 2], &[2, 2, 2], &[3, 4], &[2, 3, 2]] {
        let together = parts(options);
        let signed = |answer: &Vec<Entry>| {
            let cells = cells(&together, answer).into_iter().map(u64::from);
            let negative = false;
            cells
                .map(|item| SignedItem {
                    item,
                    is_negative: negative,
                })
                .collect()
        };
        let inputs: Vec<Vec<SignedItem>> = answers(&together).iter().map(signed).collect();
        for (buckets, hashes) in (2..=together.cell_count() + 1).flat_map(|t| [(t, 1), (t, 3)]) {
            let most = (hashes * buckets - 1).min(5);
            for favoured in [1, 2.min(most), most] {
                let rule = FavouredBucketRule::Heaviest { favoured };
                for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                    let collision = Collision::new_with_hash_count(rule, hashing, buckets, hashes);
                    let collision = collision.unwrap();
                    for epsilon in [0.001, 1.0, 2.3, 12.0] {
                        sets += 1;
                        let question = question(&together, collision, epsilon);
                        assert!(question.achieved_report_epsilon() <= epsilon);
                        assert_hidden(&collision, &question.domain(), &inputs, epsilon);
                    }
                }
            }
        }
    }
    assert!(sets > 1000, "{sets}");
}

/// The same enumeration detects thresholds that exceed the stated loss.
#[test]
#[should_panic(expected = "loss")]
fn more_than_is_stated_is_told() {
    let together = parts(&[2, 2]);
    let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    let collision = Collision::new(rule, HashFamily::Balanced, 2).unwrap();
    let signed = |cells: [u64; 2]| {
        let negative = false;
        cells
            .map(|item| SignedItem {
                item,
                is_negative: negative,
            })
            .to_vec()
    };
    let inputs = [signed([0, 2]), signed([1, 3])];
    let domain = domain(&together);
    let loud = |seed: u64, input: &[SignedItem]| {
        hushbin::mechanism::collision::Randomizer::new(&collision, &domain, 1.1)
            .exact_bucket_probabilities(seed, input)
    };
    crate::questions::assert_bounded("loss", &inputs, 1.0, loud);
}

/// Enumerates all fillings of buckets, for every answer. Options of the answer are hit with
/// probability p, the rest with q. The number of hit members has the distribution of M. Each
/// option's estimate, which uses the sum over its part, is unbiased with the stated variance.
#[test]
fn estimates_are_those_of_all_ways_to_fill_buckets() {
    for (options, buckets, hashes, favoured) in [
        (&[2, 2][..], 2, 1, 1),
        (&[2, 2], 4, 1, 2),
        (&[2, 2], 2, 3, 2),
        (&[3, 2], 2, 1, 1),
        (&[3, 2], 3, 1, 2),
        (&[3, 2], 3, 2, 2),
        (&[2, 2, 2], 3, 1, 1),
        (&[2, 2, 2], 2, 2, 3),
        (&[4, 3], 4, 1, 1),
        (&[2, 2, 2, 2], 4, 1, 3),
        (&[5, 2, 2], 3, 1, 2),
    ] {
        let together = parts(options);
        let (domain, epsilon) = (domain(&together), 1.3);
        let rule = FavouredBucketRule::Heaviest { favoured };
        let collision =
            Collision::new_with_hash_count(rule, HashFamily::Balanced, buckets, hashes).unwrap();
        let rates = collision.hit_probabilities(&domain, epsilon);
        let law = collision.hit_member_distribution(&domain, epsilon);
        let answers = answers(&together);
        // The first, the last, and one in the middle.
        for answer in [0, answers.len() / 2, answers.len() - 1] {
            let given = cells(&together, &answers[answer]);
            let hits = fillings::hits(&collision, &domain, epsilon, &given);
            let what = format!("{options:?}, {collision:?}, {given:?}");
            for (k, p) in (0..).zip(&law) {
                let hit = |set: &u32| given.iter().filter(|cell| set >> **cell & 1 == 1).count();
                let exactly = hits.iter().filter(|(set, _)| hit(set) == k);
                let exactly: f64 = exactly.map(|(_, p)| p).sum();
                assert!((exactly - p).abs() < 1e-12, "{what}: {k}, {exactly}, {p}");
            }
            assert_estimates(&together, &rates, &given, &hits, &what);
        }
    }
}

fn assert_estimates(
    together: &Together,
    rates: &CollisionHitProbabilities,
    given: &[u32],
    hits: &std::collections::BTreeMap<u32, f64>,
    what: &str,
) {
    for cell in 0..together.cell_count() {
        let (part, _) = together.part_and_option(cell);
        let options = together.parts()[part].cell_count();
        let first = together.cell_of_option(part, 0);
        let is_given = given.contains(&cell);
        let hit = |set: u32, cell: u32| f64::from(set >> cell & 1);
        let estimate = |set: u32| {
            let all: f64 = (first..first + options).map(|own| hit(set, own)).sum();
            let part = 1.0 / f64::from(options);
            (hit(set, cell) - part * all) / rates.hit_probability_gap() + part
        };
        let mean =
            |of: &dyn Fn(u32) -> f64| -> f64 { hits.iter().map(|(set, p)| p * of(*set)).sum() };
        let rate = if is_given {
            rates.p_true
        } else {
            rates.p_false
        };
        assert!(
            (mean(&|set| hit(set, cell)) - rate).abs() < 1e-12,
            "{what}: {cell}"
        );
        let own = mean(&estimate);
        let truth = f64::from(u8::from(is_given));
        assert!((own - truth).abs() < 1e-9, "{what}: {cell}, {own}");
        let variance = mean(&|set| (estimate(set) - truth).powi(2));
        let stated = rates.option_variance(options, is_given);
        assert!(
            (variance / stated - 1.0).abs() < 1e-8,
            "{what}: {cell}, {variance}, {stated}"
        );
    }
}

/// Under other rules and hashes the distribution of M has the moments of the rates.
#[test]
fn laws_of_members_are_those_of_the_rates() {
    let domain = Domain::with_exact_entry_count(12, 4);
    let heaviest = |favoured| FavouredBucketRule::Heaviest { favoured };
    for (rule, hashing, buckets, hashes) in [
        (FavouredBucketRule::Occupied, HashFamily::Balanced, 6, 1),
        (FavouredBucketRule::Occupied, HashFamily::Independent, 7, 1),
        (heaviest(1), HashFamily::Independent, 5, 1),
        (heaviest(3), HashFamily::Independent, 4, 8),
        (heaviest(7), HashFamily::Balanced, 4, 8),
        (heaviest(4), HashFamily::Balanced, 12, 1),
    ] {
        let collision = Collision::new_with_hash_count(rule, hashing, buckets, hashes).unwrap();
        let rates = collision.hit_probabilities(&domain, 2.0);
        let law = collision.hit_member_distribution(&domain, 2.0);
        let moment = |power: i32| -> f64 {
            let terms = law
                .iter()
                .zip(0..)
                .map(|(p, k)| p * f64::from(k).powi(power));
            terms.sum()
        };
        assert_eq!(law.len(), 5);
        assert!((moment(0) - 1.0).abs() < 1e-12, "{collision:?}");
        assert!(
            (moment(1) - 4.0 * rates.p_true).abs() < 1e-9,
            "{collision:?}"
        );
        if hashing == HashFamily::Balanced {
            // E[M(m − M)] sums over all pairs of a member and a non-member.
            let m =
                collision.hit_decoder(&domain).visitable_slot_count() as f64 / f64::from(buckets);
            let others = m * f64::from(buckets) - 4.0;
            let mixed = m * moment(1) - moment(2);
            assert!(
                (mixed - 4.0 * others * rates.member_and_nonmember_hit).abs() < 1e-9,
                "{collision:?}"
            );
        }
    }
}

/// The randomizer's draws have the distribution of the answer's cells.
#[test]
fn answers_become_their_cells() {
    let together = parts(&[2, 3, 2]);
    let rule = FavouredBucketRule::Heaviest { favoured: 2 };
    let collision = Collision::new_with_hash_count(rule, HashFamily::Balanced, 3, 2).unwrap();
    let question = question(&together, collision, 2.0);
    let task = Task::from_questions("t".to_owned(), vec![question]).unwrap();
    let mut randomizer = Randomizer::new(&task);
    let domain = task.questions()[0].domain();
    let support = collision.hit_decoder(&domain);
    let slots = support.visitable_slot_count() as u32;
    // Parts can come in any order.
    let answer = [entry(2, 0.0), entry(0, 1.0), entry(1, 2.0)];
    assert_eq!(cells(&together, &answer), [5, 1, 4]);
    let law = fillings::hits(&collision, &domain, 2.0, &[1, 4, 5]);
    let sets: Vec<u32> = law.keys().copied().collect();
    let mut seen = vec![0; sets.len()];
    let mut rng = seeded(3);
    for _ in 0..40_000 {
        let made = randomizer.randomize(&answer, &mut rng).unwrap();
        assert!(!made.was_sampled_down);
        let Report::Collision(report) = made.report else {
            panic!("of the task's mechanism");
        };
        let hit = (0..slots).filter(|slot| support.is_hit(&report, u64::from(*slot)));
        let set = hit.fold(0, |set, slot| set | 1 << slot);
        seen[sets.binary_search(&set).unwrap()] += 1;
    }
    let law: Vec<f64> = law.values().copied().collect();
    assert_distributed(&seen, &law, "hits");
}

fn settings() -> Value {
    json!({ "name": "settings", "kind": "together", "of": [
        { "name": "beta", "kind": "flag" },
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
        { "name": "version", "kind": "choice", "options": 4 },
    ] })
}

fn draft(question: &Value, epsilon: f64) -> TaskDraft {
    let file = json!({ "id": "asked", "epsilon": epsilon, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

#[test]
fn tasks_are_written_and_read() {
    let flag = |index: u32| json!({ "name": format!("flag-{index}"), "kind": "flag" });
    let flags: Vec<Value> = (0..40).map(flag).collect();
    let flags = json!({ "name": "many", "kind": "together", "of": flags, "weight": 7 });
    for question in [settings(), flags] {
        let asked = draft(&question, 4.0);
        asked.validate().unwrap();
        let task = asked.resolve_task().unwrap();
        asked.check_agrees_with(&task).unwrap();
        let of = question["of"].as_array().unwrap().len() as u32;
        assert_eq!(task.questions()[0].max_entries_per_report(), of);
        assert_eq!(task.questions()[0].kind().name(), "together");
        let bytes = task.canonical_bytes();
        assert_eq!(Task::from_canonical_bytes(&bytes).as_ref(), Ok(&task));
        for cut in 0..bytes.len() {
            assert!(Task::from_canonical_bytes(&bytes[..cut]).is_err());
        }
        let file = serde_json::to_value(&task).unwrap();
        assert_eq!(serde_json::from_value::<Task>(file.clone()).unwrap(), task);
        let complete: TaskDraft = serde_json::from_value(file).unwrap();
        assert_eq!(complete.resolve_task().unwrap(), task);
        complete.check_agrees_with(&task).unwrap();
    }
}

/// A fixed fingerprint, so that no release changes it by accident.
#[test]
fn fingerprints_stay() {
    let mut asked = settings();
    asked["mechanism"] = json!({
        "name": "collision", "rule": "heaviest", "favoured": 3, "hashing": "balanced", "buckets": 9,
    });
    let task = draft(&asked, 4.0).resolve_task().unwrap();
    assert_eq!(
        task.fingerprint().to_string(),
        "36fd4c337d49076f808093f3659bf308"
    );
}

/// Every change of a part or of the order changes the fingerprint, and makes the draft differ.
#[test]
fn every_field_of_all_parts_is_in_the_fingerprint() {
    let mut asked = settings();
    asked["mechanism"] = json!({
        "name": "collision", "rule": "heaviest", "favoured": 3, "hashing": "balanced", "buckets": 9,
    });
    let task = draft(&asked, 4.0).resolve_task().unwrap();
    let file = serde_json::to_value(&task).unwrap();
    let of = file["questions"][0]["of"].as_array().unwrap();
    let mut seen = vec![task.fingerprint()];
    for parts in [
        json!([of[1], of[0], of[2]]),
        json!([of[0], of[2], of[1]]),
        json!([of[0], of[1]]),
        json!([of[0], of[1], of[2], { "name": "more", "kind": "flag" }]),
        json!([{ "name": "alpha", "kind": "flag" }, of[1], of[2]]),
        json!([{ "name": "beta", "kind": "choice", "options": 2 }, of[1], of[2]]),
        json!([of[0], { "name": "theme", "kind": "choice", "options": ["dark", "lite", "system"] }, of[2]]),
        json!([of[0], { "name": "theme", "kind": "choice", "options": ["light", "dark", "system"] }, of[2]]),
        json!([of[0], { "name": "theme", "kind": "choice", "options": 3 }, of[2]]),
        json!([of[0], of[1], { "name": "version", "kind": "choice", "options": 5 }]),
    ] {
        let mut changed = file.clone();
        changed["questions"][0]["of"] = parts.clone();
        let other: Task = serde_json::from_value(changed.clone()).unwrap();
        assert!(!seen.contains(&other.fingerprint()), "{parts}");
        seen.push(other.fingerprint());
        let draft: TaskDraft = serde_json::from_value(changed).unwrap();
        let error = draft.check_agrees_with(&task).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers, "{parts}: {error}");
    }
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let beta = json!({ "name": "beta", "kind": "flag" });
    let theme = json!({ "name": "theme", "kind": "choice", "options": 3 });
    let many = |count: u32| -> Vec<Value> {
        let flag = |index| json!({ "name": format!("f{index}"), "kind": "flag" });
        (0..count).map(flag).collect()
    };
    let with = |part: Value| json!({ "of": [beta, part] });
    for (fields, expected) in [
        (json!({}), "\"of\""),
        (
            json!({ "of": [] }),
            "number of parts is 0, expected 2 to 1024",
        ),
        (
            json!({ "of": [beta] }),
            "number of parts is 1, expected 2 to 1024",
        ),
        (json!({ "of": many(1025) }), "number of parts is 1025"),
        (json!({ "of": [beta, beta] }), "named \"beta\""),
        (json!({ "of": [beta, theme, beta] }), "named \"beta\""),
        (
            with(json!({ "name": "n", "kind": "number", "min": 0, "max": 1, "levels": 2 })),
            "each part of \"together\", must be a \"choice\" or a \"flag\"",
        ),
        (
            with(json!({ "name": "n", "kind": "number", "edges": [0, 1, 2] })),
            "each part of \"together\", must be a \"choice\" or a \"flag\"",
        ),
        (
            with(json!({ "name": "n", "kind": "number", "min": 0, "max": 1 })),
            "levels",
        ),
        (
            with(json!({ "name": "s", "kind": "set", "options": 2 })),
            "unknown variant `set`",
        ),
        (
            with(json!({ "name": "r", "kind": "ratings", "items": 2 })),
            "unknown",
        ),
        (with(json!({ "name": "a" })), "each part of"),
        (
            with(json!({ "name": "a", "kind": "choice" })),
            "each part of",
        ),
        (
            with(json!({ "name": "a", "kind": "flag", "options": 2 })),
            "each part of",
        ),
        (
            with(json!({ "name": "a", "kind": "choice", "options": "open" })),
            "a list",
        ),
        (
            with(json!({ "name": "a", "kind": "choice", "options": 1 })),
            "options is 1",
        ),
        (
            with(json!({ "name": "a", "kind": "choice", "options": ["x", "x"] })),
            "two items",
        ),
        (with(json!({ "name": "", "kind": "flag" })), "name"),
        (
            with(json!({ "name": "a", "kind": "choice", "options": 1_048_576 })),
            "items is 1048578",
        ),
        (json!({ "of": [beta, theme], "options": 4 }), "\"options\""),
        (
            json!({ "of": [beta, theme], "sparsity": 2 }),
            "\"sparsity\"",
        ),
        (
            json!({ "of": [beta, theme], "entries": [0, 1] }),
            "\"entries\"",
        ),
        (
            json!({ "of": [beta, theme], "mechanism": "coco" }),
            "use \"collision\"",
        ),
        (
            json!({ "of": [beta, theme], "mechanism": "window" }),
            "\"window\" is only for",
        ),
    ] {
        let mut question = fields;
        question["name"] = json!("q");
        question["kind"] = json!("together");
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let made = serde_json::from_value::<TaskDraft>(file)
            .map_err(|error| error.to_string())
            .and_then(|draft| draft.resolve_task().map_err(|error| error.to_string()));
        let error = made.unwrap_err();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
    // The constructor of a question checks it, too.
    let together = parts(&[2, 2]);
    let collision = Collision::new(
        FavouredBucketRule::Heaviest { favoured: 1 },
        HashFamily::Balanced,
        4,
    )
    .unwrap();
    let built = |items: u32, sparsity: u32| {
        Question::new(QuestionFields {
            name: "q".to_owned(),
            items: Items::Count(items),
            kind: QuestionKind::JointChoices(together.clone()),
            max_entries_per_report: sparsity,
            weight: 1,
            epsilon: 1.0,
            mechanism: collision.into(),
        })
    };
    assert!(built(4, 2).is_ok());
    for (items, sparsity) in [(5, 2), (4, 1), (4, 3)] {
        let error = built(items, sparsity).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidCombination, "{error}");
    }
}

/// Parts within parts, and kinds that no part has, are refused.
#[test]
fn bytes_of_other_parts_are_refused() {
    let task = draft(&settings(), 1.0).resolve_task().unwrap();
    let bytes = task.canonical_bytes();
    let name = bytes
        .windows(4)
        .rposition(|bytes| bytes == b"beta")
        .unwrap();
    // The question's kind and the number of parts precede the name and its length.
    assert_eq!(
        (bytes[name - 24], bytes[name - 16], bytes[name + 4]),
        (9, 3, 4)
    );
    for kind in [0, 1, 2, 3, 5, 6, 7, 8, 9] {
        let mut other = bytes.clone();
        other[name + 4] = kind;
        let error = Task::from_canonical_bytes(&other).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed, "{kind}");
    }
    for count in [0, 1, 2, 4, 200] {
        let mut other = bytes.clone();
        other[name - 16] = count;
        assert!(Task::from_canonical_bytes(&other).is_err(), "{count}");
    }
}

#[test]
fn wrong_answers_are_refused_and_nothing_is_drawn() {
    let together = parts(&[2, 3]);
    let collision = Collision::new(
        FavouredBucketRule::Heaviest { favoured: 1 },
        HashFamily::Balanced,
        5,
    )
    .unwrap();
    for (answer, code) in [
        (vec![], ErrorCode::WrongAnswerCount),
        (vec![entry(0, 1.0)], ErrorCode::WrongAnswerCount),
        (
            vec![entry(0, 1.0), entry(1, 1.0), entry(1, 2.0)],
            ErrorCode::WrongAnswerCount,
        ),
        (vec![entry(0, 1.0), entry(0, 0.0)], ErrorCode::DuplicateItem),
        (vec![entry(1, 1.0), entry(1, 1.0)], ErrorCode::DuplicateItem),
        (vec![entry(0, 1.0), entry(2, 0.0)], ErrorCode::UnknownItem),
        (
            vec![entry(0, 2.0), entry(1, 0.0)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            vec![entry(0, 0.0), entry(1, 3.0)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            vec![entry(0, 0.5), entry(1, 0.0)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            vec![entry(0, -1.0), entry(1, 0.0)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            vec![entry(0, 0.0), entry(1, f64::NAN)],
            ErrorCode::ValueOutOfRange,
        ),
    ] {
        let question = question(&together, collision, 1.0);
        let task = Task::from_questions("t".to_owned(), vec![question]).unwrap();
        let mut rng = Scripted::new(&[]);
        let error = Randomizer::new(&task)
            .randomize(&answer, &mut rng)
            .unwrap_err();
        assert_eq!(rng.taken, 0);
        assert_eq!(error.code(), code, "{error}");
        let Error::ErrorInQuestion { name, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(name, "q");
    }
}
