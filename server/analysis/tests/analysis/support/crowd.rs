//! Small crowds with known truth, for every mechanism.

use hushbin::{Entry, Items, Randomizer, Task, TaskDraft, ValueKind};
use hushbin_analysis::estimate::{Estimand, Totals};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

/// Number of items d, or of the queried items of an open task.
pub(crate) const ITEMS: u32 = 8;

const SPARSITY: u32 = 3;

/// Every mechanism and rule, under every hash, as in a task file. A new one needs only one more
/// line.
///
/// With the default buckets or bins for such a small domain, no two items would share one under the
/// balanced hash. So the numbers here are smaller.
const CLOSED: &[&str] = &[
    r#"{ "name": "collision" }"#,
    r#"{ "name": "collision", "hashing": "balanced", "buckets": 7, "favoured": 2 }"#,
    r#"{ "name": "collision", "hashing": "independent" }"#,
    r#"{ "name": "collision", "rule": "occupied", "hashing": "balanced", "buckets": 10 }"#,
    r#"{ "name": "collision", "rule": "occupied", "hashing": "independent" }"#,
    // Elements of an input share buckets, so that a wrong joint rate would show in the variance of
    // means.
    r#"{ "name": "collision", "buckets": 3, "favoured": 1 }"#,
    r#"{ "name": "coco", "hashing": "balanced", "buckets": 8, "favoured": 2 }"#,
    r#"{ "name": "coco", "hashing": "independent" }"#,
    r#"{ "name": "coco", "rule": "overwrite", "hashing": "balanced", "buckets": 12 }"#,
    r#"{ "name": "coco", "rule": "overwrite", "hashing": "independent" }"#,
    r#"{ "name": "coco", "buckets": 2, "favoured": 1 }"#,
    r#"{ "name": "hash-bin", "level": "event", "bins": 3 }"#,
    r#"{ "name": "hash-bin", "level": "event", "bins": 3, "hashing": "independent" }"#,
    r#"{ "name": "hash-bin", "level": "neighbouring", "distance": 1.5, "bins": 2 }"#,
    // The clip is s, so it never applies.
    r#"{ "name": "hash-bin", "level": "user", "noise": "two-point", "clip": 3 }"#,
    r#"{ "name": "hash-bin", "level": "user", "noise": "laplace", "clip": 3 }"#,
];

/// Mechanisms of open tasks, whose hash is independent.
const OPEN: &[&str] = &[
    r#"{ "name": "collision" }"#,
    r#"{ "name": "coco", "rule": "strongest" }"#,
    r#"{ "name": "coco", "rule": "overwrite" }"#,
    r#"{ "name": "hash-bin", "level": "event", "bins": 3 }"#,
];

pub(crate) fn task(value: &str, items: &Value, mechanism: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "crowd", "items": items, "sparsity": SPARSITY, "epsilon": 2.0,
        "value": value, "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

/// Returns all tasks for values of this kind.
pub(crate) fn tasks(value: ValueKind) -> Vec<Task> {
    let value = serde_json::to_value(value).unwrap();
    let value = value.as_str().unwrap();
    let mut tasks = Vec::new();
    for (items, mechanisms) in [(json!(ITEMS), CLOSED), (json!("open"), OPEN)] {
        for mechanism in mechanisms {
            let mechanism = serde_json::from_str(mechanism).unwrap();
            tasks.push(task(value, &items, &mechanism));
        }
    }
    tasks
}

/// Returns people with at most s entries of different items. The first item is common and positive,
/// later ones are rarer and more often negative, and no person has the last.
pub(crate) fn crowd(task: &Task, people: usize, seed: u64) -> Vec<Vec<Entry>> {
    const SHARES: [f64; ITEMS as usize] = [0.9, 0.6, 0.4, 0.4, 0.2, 0.1, 0.03, 0.0];
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut uniform = move || f64::from(rng.next_u32()) / 4_294_967_296.0;
    (0..people)
        .map(|_| {
            let mut entries = Vec::new();
            for (rank, (item, share)) in all(task).into_iter().zip(SHARES).enumerate() {
                if entries.len() < SPARSITY as usize && uniform() < share {
                    let magnitude = match task.questions()[0].coded_value_kind() {
                        ValueKind::Sign | ValueKind::Presence => 1.0,
                        ValueKind::Real => (uniform() * 5.0).ceil() / 5.0,
                    };
                    let negative = uniform() < 0.1 * rank as f64;
                    let value = if negative { -magnitude } else { magnitude };
                    entries.push(Entry { item, value });
                }
            }
            entries
        })
        .collect()
}

/// Returns the names of an open task's items.
pub(crate) fn names() -> Vec<String> {
    (0..ITEMS).map(|index| format!("item {index}")).collect()
}

/// Returns the ids of the items: the index in a closed task, the hashed name in an open one.
pub(crate) fn all(task: &Task) -> Vec<u64> {
    match task.questions()[0].items() {
        Items::Open(_) => names()
            .iter()
            .map(|name| task.questions()[0].items().find_item(name).unwrap())
            .collect(),
        Items::Named(_) | Items::Count(_) => (0..u64::from(ITEMS)).collect(),
    }
}

pub(crate) fn truth(task: &Task, crowd: &[Vec<Entry>], estimand: Estimand) -> Vec<f64> {
    let share = |entry: &Entry| match estimand {
        Estimand::Mean => entry.value,
        Estimand::Plus => entry.value.max(0.0),
        Estimand::Minus => (-entry.value).max(0.0),
        Estimand::Nonmissing | Estimand::Share => entry.value.abs(),
    };
    all(task)
        .iter()
        .map(|item| {
            let entries = crowd.iter().flatten().filter(|entry| entry.item == *item);
            entries.map(share).sum::<f64>() / crowd.len() as f64
        })
        .collect()
}

pub(crate) fn collect(task: &Task, crowd: &[Vec<Entry>], rng: &mut ChaCha20Rng) -> Totals {
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::for_items(task, 0, &all(task));
    for person in crowd {
        totals.add_report(&randomizer.randomize(person, rng).unwrap().report);
    }
    totals
}
