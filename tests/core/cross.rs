//! Two parts asked as one question: cells, randomisation, privacy, choice and refusals.

use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{
    self, Collision, CollisionHitProbabilities, FavouredBucketRule,
};
use hushbin::task::{Cross, NumberScale, QuestionFields, QuestionKind, QuestionPart};
use hushbin::{Entry, Error, ErrorCode, Items, Question, Randomizer, Report, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::generators::{Scripted, seeded};
use crate::support::loss;
use crate::support::significance::assert_distributed;

fn options(count: u32) -> QuestionPart {
    QuestionPart::new_choice("options", Items::Count(count))
}

fn flag() -> QuestionPart {
    QuestionPart::new_flag("flag")
}

fn levels(count: u32) -> QuestionPart {
    QuestionPart::new_number("levels", NumberScale::from_levels(0.0, 1.0, count).unwrap())
}

fn bins() -> QuestionPart {
    QuestionPart::new_number(
        "bins",
        NumberScale::from_edges(vec![0.0, 0.5, 0.75, 1.0]).unwrap(),
    )
}

fn question(cross: &Cross, collision: Collision, epsilon: f64) -> Question {
    Question::new(QuestionFields {
        name: "q".to_owned(),
        items: Items::Count(cross.cell_count()),
        kind: QuestionKind::CrossTabulation(cross.clone()),
        max_entries_per_report: 1,
        weight: 1,
        epsilon,
        mechanism: collision.into(),
    })
    .unwrap()
}

fn entry(item: u64, value: f64) -> Entry {
    Entry { item, value }
}

/// Answers at levels, between them and beyond the ends.
fn answers(cross: &Cross) -> Vec<Entry> {
    let [rows, columns] = cross.row_and_column_counts();
    let values: Vec<f64> = match cross.column_part().scale() {
        Some(_) => (-1..=9).map(|step| f64::from(step) / 8.0).collect(),
        None => (0..columns).map(f64::from).collect(),
    };
    let rows = (0..rows).flat_map(|row| values.iter().map(move |value| (row, *value)));
    rows.map(|(row, value)| entry(row.into(), value)).collect()
}

/// Probability of each bucket for an answer.
fn law(
    cross: &Cross,
    randomizer: &mut collision::Randomizer,
    seed: u64,
    answer: Entry,
) -> Vec<f64> {
    let (cell, next) = cross.cell_and_next_cell_probability(answer.item as u32, answer.value);
    let of = |item: u32, randomizer: &mut collision::Randomizer| {
        let item = u64::from(item);
        let negative = false;
        randomizer.exact_bucket_probabilities(
            seed,
            &[SignedItem {
                item,
                is_negative: negative,
            }],
        )
    };
    let own = of(cell, randomizer);
    if next == 0.0 {
        return own;
    }
    let beside = of(cell + 1, randomizer);
    let mixed = own.iter().zip(&beside);
    mixed.map(|(a, b)| (1.0 - next) * a + next * b).collect()
}

/// More than a thousand sets of parameters. Under every seed, the likelihood ratio of a report
/// between two answers is at most exp of the effective ε. That is at most the requested ε.
#[test]
fn answers_hide_in_each_other() {
    let mut sets = 0;
    let shapes = [
        Cross::new(flag(), QuestionPart::new_flag("other")),
        Cross::new(
            options(2),
            QuestionPart::new_choice("more", Items::Count(3)),
        ),
        Cross::new(options(3), flag()),
        Cross::new(flag(), levels(2)),
        Cross::new(options(3), levels(3)),
        Cross::new(flag(), bins()),
    ];
    for cross in &shapes {
        for (buckets, hashes) in (2..=cross.cell_count() + 1).flat_map(|t| [(t, 1), (t, 3)]) {
            let most = (hashes * buckets - 1).min(4);
            for favoured in [1, most] {
                let rule = FavouredBucketRule::Heaviest { favoured };
                for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                    let collision = Collision::new_with_hash_count(rule, hashing, buckets, hashes);
                    for epsilon in [0.001, 1.0, 2.3, 12.0] {
                        sets += 1;
                        assert_hidden(cross, collision.as_ref().unwrap(), epsilon);
                    }
                }
            }
        }
    }
    assert!(sets > 1000, "{sets}");
}

fn assert_hidden(cross: &Cross, collision: &Collision, epsilon: f64) {
    let question = question(cross, *collision, epsilon);
    let effective = question.achieved_report_epsilon();
    assert!(effective <= epsilon);
    let mut randomizer = collision::Randomizer::new(collision, &question.domain(), epsilon);
    for seed in 0..4 {
        let answers = answers(cross).into_iter();
        let loss = loss(answers.map(|answer| law(cross, &mut randomizer, seed, answer)));
        assert!(
            loss <= effective + 1e-12,
            "{collision:?}, {cross:?}: {loss} of {effective}"
        );
    }
}

/// Each cell's share, and so each sum of cells, is estimated without bias over all reports of a
/// seed. That includes a number's fraction of its range, for every number.
#[test]
fn shares_of_cells_are_unbiased() {
    for cross in [
        Cross::new(
            options(3),
            QuestionPart::new_choice("more", Items::Count(2)),
        ),
        Cross::new(flag(), levels(3)),
    ] {
        let domain = Domain::with_exact_entry_count(cross.cell_count(), 1);
        let rule = FavouredBucketRule::Heaviest { favoured: 1 };
        let collision = Collision::new(rule, HashFamily::Balanced, cross.cell_count()).unwrap();
        let rates = collision.hit_probabilities(&domain, 1.7);
        let support = collision.hit_decoder(&domain);
        let mut randomizer = collision::Randomizer::new(&collision, &domain, 1.7);
        for answer in answers(&cross) {
            let mut shares = vec![0.0; cross.cell_count() as usize];
            let law = law(&cross, &mut randomizer, 11, answer);
            for (bucket, chance) in (0..).zip(law) {
                let report = collision::Report { seed: 11, bucket };
                for (cell, share) in (0..).zip(&mut shares) {
                    let hit = f64::from(u8::from(support.is_hit(&report, cell)));
                    *share += chance * (hit - rates.p_false) / rates.hit_probability_gap();
                }
            }
            let columns = cross.row_and_column_counts()[1];
            let own = columns * answer.item as u32;
            let mut value = 0.0;
            for (cell, share) in (0..).zip(&shares) {
                if let Some(scale) = cross.column_part().scale() {
                    value += scale.level_value(cell % columns).unwrap() * share;
                } else {
                    value += f64::from(cell % columns) * share;
                }
                let outside = cell < own || cell >= own + columns;
                assert!(!outside || share.abs() < 1e-12, "{answer:?}: {shares:?}");
            }
            let most = match cross.column_part().scale() {
                Some(_) => answer.value.clamp(0.0, 1.0),
                None => answer.value,
            };
            assert!((value - most).abs() < 1e-12, "{answer:?}: {value}");
        }
    }
}

/// The randomizer's draws have the distribution of the cells. A number between two levels is
/// rounded to either with the right probability.
#[test]
fn answers_become_their_cells() {
    let cross = Cross::new(options(2), levels(3));
    let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    let collision = Collision::new(rule, HashFamily::Independent, 50).unwrap();
    let question = question(&cross, collision, 4.0);
    let domain = question.domain();
    let support = collision.hit_decoder(&domain);
    let rates = collision.hit_probabilities(&domain, 4.0);
    let task = Task::from_questions("t".to_owned(), vec![question]).unwrap();
    let mut randomizer = Randomizer::new(&task);
    let mut rng = seeded(5);
    for (answer, cells) in [
        (entry(0, 0.0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (entry(1, 0.125), [0.0, 0.0, 0.0, 0.75, 0.25, 0.0]),
        (entry(1, 77.0), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
    ] {
        let mut hits = [0; 6];
        let reports = 20_000;
        for _ in 0..reports {
            let made = randomizer.randomize(&[answer], &mut rng).unwrap();
            let Report::Collision(report) = made.report else {
                panic!("a cross is asked by Collision");
            };
            for (cell, hits) in (0..).zip(&mut hits) {
                *hits += u64::from(support.is_hit(&report, cell));
            }
        }
        for (share, hits) in cells.into_iter().zip(hits) {
            let p = rates.p_false + rates.hit_probability_gap() * share;
            assert_distributed(&[hits, reports - hits], &[p, 1.0 - p], "a cell");
        }
    }
}

fn by_plan() -> Value {
    json!({ "name": "load-by-plan", "kind": "cross", "of": [
        { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
        { "name": "loadMs", "kind": "number", "min": 0, "max": 10000, "unit": "ms" },
    ] })
}

fn draft(question: &Value, epsilon: f64) -> TaskDraft {
    let file = json!({ "id": "asked", "epsilon": epsilon, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

#[test]
fn tasks_are_written_and_read() {
    let bins = json!({ "name": "s", "kind": "cross", "of": [
        { "name": "beta", "kind": "flag" },
        { "name": "seconds", "kind": "number", "min": 1, "max": 100, "bins": 3,
          "spacing": "logarithmic" },
    ] });
    let names = json!({ "name": "n", "kind": "cross", "of": [
        { "name": "version", "kind": "choice", "options": 12 },
        { "name": "beta", "kind": "flag" },
    ] });
    for question in [by_plan(), bins, names] {
        let asked = draft(&question, 4.0);
        asked.validate().unwrap();
        let task = asked.resolve_task().unwrap();
        asked.check_agrees_with(&task).unwrap();
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

/// Every change of either part changes the fingerprint, and makes the draft differ.
#[test]
fn every_field_of_both_parts_is_in_the_fingerprint() {
    let task = draft(&by_plan(), 4.0).resolve_task().unwrap();
    let file = serde_json::to_value(&task).unwrap();
    let mut seen = vec![task.fingerprint()];
    let of = "/questions/0/of";
    for (path, value) in [
        ("/0/name", json!("tariff")),
        ("/0/options/1", json!("paid")),
        ("/0/options", json!(2)),
        ("/0", json!({ "name": "plan", "kind": "flag" })),
        ("/1/name", json!("load")),
        ("/1/min", json!(1)),
        ("/1/max", json!(10001)),
        ("/1/unit", json!("s")),
        ("/1/levels", json!(3)),
        (
            "/1",
            json!({ "name": "loadMs", "kind": "number", "edges": [0, 1, 2, 3, 4] }),
        ),
        (
            "/1",
            json!({ "name": "loadMs", "kind": "choice", "options": 4 }),
        ),
    ] {
        let mut changed = file.clone();
        *changed.pointer_mut(&format!("{of}{path}")).unwrap() = value;
        let other: Task = serde_json::from_value(changed.clone()).unwrap();
        assert!(!seen.contains(&other.fingerprint()), "{path}");
        seen.push(other.fingerprint());
        let draft: TaskDraft = serde_json::from_value(changed).unwrap();
        let error = draft.check_agrees_with(&task).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers, "{path}: {error}");
    }
}

#[test]
fn crosses_that_make_no_sense_are_refused() {
    let plan = json!({ "name": "plan", "kind": "choice", "options": ["free", "pro"] });
    let load = json!({ "name": "load", "kind": "number", "min": 0, "max": 1 });
    let with = |field: &str, value: Value| {
        let mut load = load.clone();
        load[field] = value;
        json!({ "of": [plan, load] })
    };
    for (fields, expected) in [
        (json!({}), "\"of\""),
        (json!({ "of": [] }), "two parts"),
        (json!({ "of": [plan] }), "two parts"),
        (json!({ "of": [plan, load, plan] }), "two parts"),
        (json!({ "of": [load, plan] }), "the first part"),
        (json!({ "of": [plan, plan] }), "named \"plan\""),
        (json!({ "of": [{ "name": "a" }, plan] }), "each part of"),
        (
            json!({ "of": [{ "name": "a", "kind": "choice" }, plan] }),
            "each part of",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "flag", "options": 2 }, plan] }),
            "each part of",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "flag", "unit": "s" }, plan] }),
            "each part of",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "set", "options": 2 }, plan] }),
            "unknown variant",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "choice", "options": "open" }, plan] }),
            "a list",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "choice", "options": 1 }, plan] }),
            "options is 1",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "choice", "options": ["x", "x"] }, plan] }),
            "two items are named",
        ),
        (
            json!({ "of": [{ "name": "", "kind": "flag" }, plan] }),
            "name",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "choice", "options": 1024 },
            { "name": "b", "kind": "choice", "options": 1025 }] }),
            "items is 1049600",
        ),
        (
            json!({ "of": [{ "name": "a", "kind": "choice", "options": 1_000_000 },
            { "name": "b", "kind": "choice", "options": 1_000_000 }] }),
            "items is 4294967295",
        ),
        (with("weight", json!(1)), "unknown field"),
        (with("sparsity", json!(1)), "unknown field"),
        (with("max", json!(0)), "ascending"),
        (with("levels", json!(1)), "levels is 1"),
        (with("want", json!("quantiles")), "quantiles"),
        (with("bins", json!(1)), "bins"),
        (json!({ "of": [plan, load], "options": 4 }), "\"options\""),
        (json!({ "of": [plan, load], "min": 4 }), "\"min\""),
        (json!({ "of": [plan, load], "sparsity": 1 }), "\"sparsity\""),
        (
            json!({ "of": [plan, load], "mechanism": "coco" }),
            "use \"collision\"",
        ),
        (
            json!({ "of": [plan, load], "mechanism": "window" }),
            "\"window\" is only for",
        ),
    ] {
        let mut question = fields;
        question["name"] = json!("q");
        question["kind"] = json!("cross");
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let made = serde_json::from_value::<TaskDraft>(file)
            .map_err(|error| error.to_string())
            .and_then(|draft| draft.resolve_task().map_err(|error| error.to_string()));
        let error = made.unwrap_err();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
    // The objective of the choice is not part of a complete task.
    let mut file = serde_json::to_value(draft(&by_plan(), 1.0).resolve_task().unwrap()).unwrap();
    file["questions"][0]["of"][1]["want"] = json!("mean");
    let error = serde_json::from_value::<Task>(file).unwrap_err();
    assert!(error.to_string().contains("\"want\""), "{error}");
}

/// Parts within parts, and kinds that no part has, are refused.
#[test]
fn bytes_of_other_parts_are_refused() {
    let task = draft(&by_plan(), 1.0).resolve_task().unwrap();
    let bytes = task.canonical_bytes();
    // The cross itself precedes "plan", and a choice follows it.
    let name = bytes
        .windows(4)
        .rposition(|bytes| bytes == b"plan")
        .unwrap();
    assert_eq!((bytes[name - 16], bytes[name + 4]), (7, 3));
    for kind in [0, 1, 2, 6, 7, 8] {
        let mut other = bytes.clone();
        other[name + 4] = kind;
        let error = Task::from_canonical_bytes(&other).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed, "{kind}");
    }
}

#[test]
fn wrong_answers_are_refused_and_nothing_is_drawn() {
    let by_number = Cross::new(options(3), levels(2));
    let by_option = Cross::new(
        options(3),
        QuestionPart::new_choice("more", Items::Count(2)),
    );
    let collision = Collision::new(
        FavouredBucketRule::Heaviest { favoured: 1 },
        HashFamily::Balanced,
        6,
    )
    .unwrap();
    for (cross, answer, code) in [
        (&by_number, vec![], ErrorCode::WrongAnswerCount),
        (
            &by_number,
            vec![entry(0, 1.0), entry(1, 1.0)],
            ErrorCode::WrongAnswerCount,
        ),
        (&by_number, vec![entry(3, 1.0)], ErrorCode::UnknownItem),
        (
            &by_number,
            vec![entry(0, f64::NAN)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            &by_number,
            vec![entry(2, f64::INFINITY)],
            ErrorCode::ValueOutOfRange,
        ),
        (&by_option, vec![entry(0, 2.0)], ErrorCode::ValueOutOfRange),
        (&by_option, vec![entry(0, 0.5)], ErrorCode::ValueOutOfRange),
        (&by_option, vec![entry(0, -1.0)], ErrorCode::ValueOutOfRange),
        (
            &by_option,
            vec![entry(0, f64::NAN)],
            ErrorCode::ValueOutOfRange,
        ),
        (
            &by_option,
            vec![entry(0, 4_294_967_296.0)],
            ErrorCode::ValueOutOfRange,
        ),
    ] {
        let question = question(cross, collision, 1.0);
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

/// Variance of one report's estimate of Σ w·share over all pairs of cells, for people in the cells
/// of `people`.
fn sum_variance(
    rates: &CollisionHitProbabilities,
    weights: &[f64],
    people: &[(usize, f64)],
) -> f64 {
    let both = |own: usize, a: usize, b: usize| match (own == a, own == b) {
        _ if a == b => {
            if own == a {
                rates.p_true
            } else {
                rates.p_false
            }
        }
        (false, false) => rates.two_nonmembers_hit,
        _ => rates.member_and_nonmember_hit,
    };
    let none: f64 = weights.iter().map(|w| w * rates.p_false).sum();
    let mut square = 0.0;
    for (own, share) in people {
        for (a, x) in weights.iter().enumerate() {
            square -= 2.0 * share * none * x * both(*own, a, a);
            for (b, y) in weights.iter().enumerate() {
                square += share * x * y * both(*own, a, b);
            }
        }
    }
    (square + none * none) / (rates.hit_probability_gap() * rates.hit_probability_gap())
}

/// Delta-method variance of a mean within the first of `rows` equal rows, in the worst case over
/// means. People are all at the mean, and all pairs of cells count.
fn mean_variance(rows: u32, levels: u32, buckets: u32, epsilon: f64) -> f64 {
    let domain = Domain::with_exact_entry_count(rows * levels, 1);
    let rule = FavouredBucketRule::Heaviest { favoured: 1 };
    let collision = Collision::new(rule, HashFamily::Balanced, buckets).unwrap();
    let rates = collision.hit_probabilities(&domain, epsilon);
    let scale = NumberScale::from_levels(-1.0, 1.0, levels).unwrap();
    let share = 1.0 / f64::from(rows);
    let steps = 8 * (levels - 1);
    let of = |step: u32| {
        let mean = 2.0 * f64::from(step) / f64::from(steps) - 1.0;
        let mut weights = vec![0.0; (rows * levels) as usize];
        for (level, weight) in (0..levels).zip(&mut weights) {
            *weight = scale.level_value(level).unwrap() - mean;
        }
        let (cell, next) = scale.cell_and_next_cell_probability(mean);
        let cell = cell as usize;
        let people = [
            (cell, share * (1.0 - next)),
            ((cell + 1).min(levels as usize - 1), share * next),
            (levels as usize, 1.0 - share),
        ];
        sum_variance(&rates, &weights, &people) / (share * share)
    };
    (0..=steps).map(of).fold(0.0, f64::max)
}

/// No other number of levels and buckets has a better worst case.
#[test]
fn levels_and_buckets_are_the_best_there_are() {
    for (rows, epsilon) in [
        (2, 0.5),
        (2, 2.0),
        (2, 4.0),
        (3, 1.0),
        (3, 3.0),
        (5, 2.0),
        (4, 6.0),
    ] {
        let mut least = (f64::INFINITY, [0, 0]);
        for levels in 2..=8 {
            for buckets in 2..=rows * levels {
                let variance = mean_variance(rows, levels, buckets, epsilon);
                if variance < least.0 {
                    least = (variance, [levels, buckets]);
                }
            }
        }
        let mut question = by_plan();
        question["of"][0]["options"] = json!(rows);
        let task = draft(&question, epsilon).resolve_task().unwrap();
        let question = &task.questions()[0];
        let (QuestionKind::CrossTabulation(cross), hushbin::Mechanism::Collision(own)) =
            (question.kind(), question.mechanism())
        else {
            panic!("a cross is asked by Collision");
        };
        let levels = cross.row_and_column_counts()[1];
        let ours = mean_variance(rows, levels, own.buckets_per_hash(), epsilon);
        assert!(
            ours <= least.0 * (1.0 + 1e-9),
            "{rows} rows, ε = {epsilon}: {ours} of {levels} levels, {own:?}; {least:?}"
        );
    }
}
