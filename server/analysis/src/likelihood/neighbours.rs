//! Inputs that are hardest to hide from each other.

use hushbin::{Entry, Task, ValueKind, item_key};

/// Two inputs that a report must not tell apart by more than a factor exp(ε).
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourPair {
    /// What they are, in words.
    pub names: [String; 2],
    /// Entries, by item.
    pub inputs: [Vec<Entry>; 2],
}

impl NeighbourPair {
    fn new(names: [impl Into<String>; 2], inputs: [Vec<Entry>; 2]) -> Self {
        let names = names.map(Into::into);
        Self { names, inputs }
    }
}

/// Values of every kind, each from another range of what real values may be.
const EVERY_KIND: [f64; 6] = [0.9999, -0.5, 1e-9, 1.0, 0.0, -1.0];

/// Entries of these values, from the first item on.
fn valued(task: &Task, values: impl IntoIterator<Item = f64>) -> Vec<Entry> {
    let entry = |(index, value)| Entry {
        item: item(task, index),
        value,
    };
    (0..).zip(values).map(entry).collect()
}

fn equal(task: &Task, count: u32, value: f64) -> Vec<Entry> {
    valued(task, (0..count).map(|_| value))
}

/// As many entries of every kind that the task takes.
fn of_every_kind(task: &Task, count: u32) -> Vec<Entry> {
    let accepted = |value: &f64| task.value().accepts(*value);
    let kinds = EVERY_KIND.into_iter().filter(accepted).cycle();
    valued(task, kinds.take(count as usize))
}

/// Twice s, or as many as there are items.
fn too_many(task: &Task) -> u32 {
    let most = 2 * task.sparsity();
    task.items().count().map_or(most, |items| most.min(items))
}

fn takes_fractions(task: &Task) -> bool {
    task.value().accepts(0.5)
}

pub(super) fn pairs_of_any_inputs(task: &Task, count: u32) -> Vec<NeighbourPair> {
    let full = || equal(task, count, 1.0);
    let full_name = || in_words(count, 1.0);
    let mut pairs = vec![NeighbourPair::new(
        [full_name(), "the same items, all -1".to_owned()],
        [full(), equal(task, count, -1.0)],
    )];
    if task.items().count().is_none_or(|items| items >= 2 * count) {
        let others = equal(task, 2 * count, 1.0).split_off(count as usize);
        pairs.push(NeighbourPair::new(
            [full_name(), format!("{count} other items, all 1")],
            [full(), others],
        ));
    }
    pairs.push(pair_without(task, count, 1.0));
    if count > 1 {
        pairs.push(pair_of_one_item(task, 1.0, -1.0));
    }
    pairs.push(pair_without(task, count, 0.0));
    let more = too_many(task);
    if more > count {
        let name = || in_words(more, 1.0);
        pairs.push(NeighbourPair::new(
            [name(), "the same items, all -1".to_owned()],
            [1.0, -1.0].map(|value| equal(task, more, value)),
        ));
        pairs.push(NeighbourPair::new(
            [name(), format!("{count} of them, all -1")],
            [equal(task, more, 1.0), equal(task, count, -1.0)],
        ));
    }
    if takes_fractions(task) {
        pairs.push(NeighbourPair::new(
            [in_words(count, 0.5), "the same items, all -0.5".to_owned()],
            [0.5, -0.5].map(|value| equal(task, count, value)),
        ));
        pairs.push(pair_without(task, 1, 0.5));
        let more = more.max(count);
        pairs.push(NeighbourPair::new(
            [
                format!("{more} items of every value"),
                "no items".to_owned(),
            ],
            [of_every_kind(task, more), Vec::new()],
        ));
    }
    pairs
}

fn pair_of_one_item(task: &Task, value: f64, other: f64) -> NeighbourPair {
    NeighbourPair::new(
        [in_words(1, value), format!("the same item, {other}")],
        [value, other].map(|value| equal(task, 1, value)),
    )
}

fn pair_without(task: &Task, count: u32, value: f64) -> NeighbourPair {
    NeighbourPair::new(
        [in_words(count, value), "no items".to_owned()],
        [equal(task, count, value), Vec::new()],
    )
}

fn in_words(count: u32, value: f64) -> String {
    match count {
        1 => format!("one item, {value}"),
        _ => format!("{count} items, all {value}"),
    }
}

/// The first item's value changed among others.
fn pair_among(others: &[Entry], [value, other]: [f64; 2], of: &str) -> NeighbourPair {
    let among = format!(" among {} {of}", others.len() - 1);
    NeighbourPair::new(
        [
            format!("an item, {value},{among}"),
            format!("the same, {other},{among}"),
        ],
        [value, other].map(|value| {
            let mut input = others.to_vec();
            input[0].value = value;
            input
        }),
    )
}

pub(super) fn pairs_in_one_item(task: &Task) -> Vec<NeighbourPair> {
    let mut pairs = vec![pair_of_one_item(task, 1.0, -1.0)];
    let s = task.sparsity();
    if s > 1 {
        pairs.push(pair_among(&equal(task, s, 1.0), [1.0, -1.0], "of 1"));
    }
    pairs.push(pair_without(task, 1, 0.0));
    if too_many(task) > s {
        let others = of_every_kind(task, too_many(task));
        pairs.push(pair_among(&others, [1.0, -1.0], "of every value"));
    }
    if takes_fractions(task) {
        pairs.push(pair_of_one_item(task, 0.5, -0.5));
        pairs.push(pair_without(task, 1, 0.5));
    }
    pairs
}

pub(super) fn pairs_within(task: &Task, distance: f64) -> Vec<NeighbourPair> {
    let s = task.sparsity();
    let mut pairs = vec![pair_within(task, distance), pair_without(task, s, 0.0)];
    let more = too_many(task);
    let fractions = takes_fractions(task);
    if fractions {
        // No longer than the distance, however it is summed up.
        let half = 0.5 * distance / f64::from(more) * (1.0 - 1e-9);
        let value = half.min(1.0);
        pairs.push(NeighbourPair::new(
            [
                format!("{more} items, all {value:.4}"),
                format!("the same items, all -{value:.4}"),
            ],
            [value, -value].map(|value| equal(task, more, value)),
        ));
    }
    let down = distance.min(2.0);
    let down = if fractions { down } else { down.floor() };
    if down > 0.0 {
        let others = of_every_kind(task, more);
        pairs.push(pair_among(&others, [1.0, 1.0 - down], "of every value"));
    }
    pairs
}

/// Values that differ by `distance` in sum, or as nearly as the items allow.
fn pair_within(task: &Task, distance: f64) -> NeighbourPair {
    let there = task.items().count().unwrap_or(u32::MAX);
    // At most half of 2¹¹ entries go all the way.
    let flipped = ((distance / 2.0) as u32).min(there);
    let mut inputs = [1.0, -1.0].map(|value| equal(task, flipped, value));
    if flipped < there {
        let rest = match task.value() {
            ValueKind::Real => distance - 2.0 * f64::from(flipped),
            ValueKind::Sign => (distance - 2.0 * f64::from(flipped)).floor(),
        };
        let last = item(task, flipped);
        for (input, value) in inputs.iter_mut().zip([1.0, 1.0 - rest]) {
            input.push(Entry { item: last, value });
        }
    }
    NeighbourPair::new(
        [
            format!("{} items, all 1", inputs[0].len()),
            format!("the same items, all in all {distance} less"),
        ],
        inputs,
    )
}

/// The `index`-th item: itself where items are counted, else any key.
fn item(task: &Task, index: u32) -> u64 {
    match task.items().count() {
        Some(_) => u64::from(index),
        None => item_key(&index.to_string()),
    }
}
