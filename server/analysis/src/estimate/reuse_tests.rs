//! Tests that reused intervals, conditional means and tests of items equal those that are computed
//! item by item, to the last bit.

use hushbin::codec::{append_signed_varint, append_varint};
use hushbin::{Entry, Items, Mechanism, Randomizer, Task, TaskDraft};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::{EstimateOptions, EstimateQuery, Estimator, PostProcessingMethod, Totals};
use crate::estimate::point::Estimand;
use crate::estimate::result_cache::useful_result_count;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Number of items: enough for several threads.
const ITEMS: usize = 600;

fn rated(value: &str, mechanism: &Value) -> Task {
    resolve(json!({
        "id": "t", "items": ITEMS, "sparsity": 4, "epsilon": 2.0, "value": value,
        "mechanism": mechanism,
    }))
}

fn asked(question: &Value) -> Task {
    resolve(json!({ "id": "t", "epsilon": 2.0, "questions": [question] }))
}

fn resolve(draft: Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(draft).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns tasks of every mechanism whose intervals are cached.
fn tasks() -> Vec<Task> {
    let hash_bin =
        |noise| json!({ "name": "hash-bin", "level": "user", "noise": noise, "clip": 4 });
    vec![
        asked(&json!({ "name": "q", "kind": "set", "options": ITEMS, "sparsity": 3 })),
        rated("sign", &json!("collision")),
        rated("real", &json!("collision")),
        rated("sign", &json!({ "name": "coco", "rule": "overwrite" })),
        rated("real", &json!({ "name": "coco", "rule": "overwrite" })),
        rated("sign", &json!("coco")),
        rated(
            "sign",
            &json!({ "name": "coco", "buckets": 2, "favoured": 1 }),
        ),
        rated("sign", &hash_bin("two-point")),
        rated("real", &hash_bin("laplace")),
        rated(
            "sign",
            &json!({ "name": "hash-bin", "level": "event", "bins": 12 }),
        ),
    ]
}

/// Returns totals of honest reports, whose values are rounded if the task asks for real ones.
fn folded_totals(task: &Task, reports: usize, rng: &mut ChaCha20Rng) -> Totals {
    let mut totals = Totals::new(task);
    let mut randomizer = Randomizer::new(task);
    for _ in 0..reports {
        let rated = task.questions()[0].domain().is_rated();
        let is_negative = rated && rng.next_u32().is_multiple_of(4);
        let value = if is_negative { -1.0 } else { 1.0 };
        let entry = Entry {
            item: u64::from(rng.next_u32() % 9),
            value,
        };
        totals.add_report(&randomizer.randomize(&[entry], rng).unwrap().report);
    }
    totals
}

/// Returns totals of `reports` reports whose counts are made by `count`, which is called with the
/// index of a counter. `None` if the mechanism does not count hits.
fn made_totals(task: &Task, reports: u64, mut count: impl FnMut(usize) -> u64) -> Option<Totals> {
    let question = &task.questions()[0];
    let domain = question.domain();
    let empty = Totals::new(task).encode();
    let slots = match question.mechanism() {
        Mechanism::Collision(own) => own.hit_decoder(&domain).visitable_slot_count(),
        Mechanism::Coco(own) if own.pairs_per_function() > 1 => {
            2 * own.hit_decoder(&domain).visitable_slot_count()
        }
        Mechanism::Coco(_) => ITEMS,
        _ => return None,
    };
    let mut bytes = empty[..17].to_vec();
    append_varint(&mut bytes, reports);
    let mut before = 0;
    for slot in 0..slots {
        // Half of the reports, since a report of CoCo hits one of two sides.
        let own = count(slot).min(reports / 2).cast_signed();
        append_signed_varint(&mut bytes, own - before);
        before = own;
    }
    bytes.extend_from_slice(&empty[18 + slots..]);
    Some(Totals::decode(task, &bytes).unwrap())
}

/// Returns totals without reports, of few and many honest reports, and with adversarial counts.
fn totals(task: &Task) -> Vec<Totals> {
    const MANY: u64 = 1 << 50;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut all: Vec<Totals> = [0, 1, 3, 50, 2000]
        .map(|reports| folded_totals(task, reports, &mut rng))
        .into();
    let mut random = ChaCha20Rng::seed_from_u64(2);
    all.extend(made_totals(task, 1000, |_| 0));
    all.extend(made_totals(task, 1000, |_| u64::MAX));
    all.extend(made_totals(task, 1001, |slot| [0, u64::MAX, 1][slot % 3]));
    all.extend(made_totals(task, 10_000, |_| random.next_u64() % 5000));
    // Estimates that differ by one report in 2⁵⁰, and estimates on both sides of 0.
    all.extend(made_totals(task, MANY, |slot| MANY / 7 + slot as u64 % 5));
    all.extend(made_totals(task, 100_000, |_| {
        1500 + random.next_u64() % 64
    }));
    all
}

fn options() -> Vec<EstimateOptions> {
    let with = |post: &[PostProcessingMethod], rate, confidence| EstimateOptions {
        post_processing_methods: post.to_vec(),
        false_discovery_rate: rate,
        confidence,
        ..EstimateOptions::default()
    };
    vec![
        with(
            &[PostProcessingMethod::ShrinkageTowardsZero],
            Some(0.5),
            0.5,
        ),
        with(&[PostProcessingMethod::MeanGivenPresence], Some(0.01), 0.95),
        with(&[], Some(0.1), 0.999),
    ]
}

/// Compares all answers with caches of several sizes to the answer without a cache.
fn check(estimator: &Estimator, totals: &Totals, options: &EstimateOptions) {
    // Not every mechanism has conditional means.
    let Ok(query) = EstimateQuery::new(estimator.task(), options) else {
        return;
    };
    let answer = |cached| {
        let lazy = estimator.lazy_estimates_with_cache(totals, &query, cached);
        // `Debug` writes all digits, and the sign of zero.
        format!("{:?}", lazy.collect_items())
    };
    let item_by_item = answer(0);
    for cached in [1, 64, useful_result_count(ITEMS)] {
        assert_eq!(answer(cached), item_by_item, "{cached}, {options:?}");
    }
}

#[test]
fn reused_results_equal_those_of_each_item() {
    for task in tasks() {
        let estimator = Estimator::for_task(task);
        for totals in totals(estimator.task()) {
            for options in options() {
                check(&estimator, &totals, &options);
            }
        }
    }
}

#[test]
fn joint_choices_and_open_items_do_not_share_results_wrongly() {
    let part =
        |name: &str, options: u32| json!({ "name": name, "kind": "choice", "options": options });
    let parts = json!([part("a", 300), part("b", 3), part("c", 200)]);
    let together = asked(&json!({ "name": "q", "kind": "together", "of": parts }));
    let estimator = Estimator::for_task(together);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let counts = made_totals(estimator.task(), 500, |_| rng.next_u64() % 20).unwrap();
    let open = resolve(json!({
        "id": "t", "items": "open", "sparsity": 4, "epsilon": 2.0, "value": "sign",
    }));
    assert!(matches!(open.questions()[0].items(), Items::Open(_)));
    for options in options() {
        check(&estimator, &counts, &options);
        let names = (0..ITEMS).map(|item| item.to_string()).collect();
        let options = EstimateOptions {
            item_names: Some(names),
            ..options
        };
        let estimator = Estimator::for_task(open.clone());
        let Ok(query) = EstimateQuery::new(&open, &options) else {
            continue;
        };
        let mut totals = Totals::for_items(&open, 0, query.items());
        let mut randomizer = Randomizer::new(&open);
        for _ in 0..300 {
            let entry = Entry {
                item: query.items()[rng.next_u32() as usize % 5],
                value: 1.0,
            };
            totals.add_report(&randomizer.randomize(&[entry], &mut rng).unwrap().report);
        }
        check(&estimator, &totals, &options);
    }
}

/// The search for items that stand out tests a mean only on the side of its estimate.
#[test]
fn means_are_never_ruled_out_beyond_their_estimate() {
    for task in tasks() {
        let estimator = Estimator::for_task(task);
        let query = EstimateQuery::new(estimator.task(), &EstimateOptions::default()).unwrap();
        for totals in totals(estimator.task()) {
            let queried = estimator.queried_point_estimates(&totals, &query, 0);
            for (item, points) in queried.points.iter().enumerate() {
                let Some(mean) = points.mean else { continue };
                let law = queried.contribution_distribution(item);
                for failure in [0.25, 0.05, 1e-7].map(TailThresholds::new) {
                    let limit = |side| {
                        law.confidence_limit(
                            Estimand::Mean,
                            mean,
                            queried.reports(),
                            &failure,
                            side,
                        )
                    };
                    let what = format!("{mean:?}, {law:?}");
                    assert!(
                        limit(LimitSide::Lower) <= 0.0 || mean.estimate > 0.0,
                        "{what}"
                    );
                    assert!(
                        limit(LimitSide::Upper) >= 0.0 || mean.estimate < 0.0,
                        "{what}"
                    );
                }
            }
        }
    }
}
