//! Inputs that are hardest to hide from each other.

use std::ops::Range;

use hushbin::{Entry, Task, ValueKind, item_key};

/// Two inputs that a report must not tell apart by more than a factor exp(ε).
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourPair {
    /// What they are, in words.
    pub names: [String; 2],
    /// Entries, by item. Under the mechanisms of buckets their values are −1 and
    /// 1, and at most s.
    pub inputs: [Vec<Entry>; 2],
}

fn entries(task: &Task, items: Range<u32>, value: f64) -> Vec<Entry> {
    let entry = |index| Entry {
        item: item(task, index),
        value,
    };
    items.map(entry).collect()
}

pub(super) fn pairs_of_any_inputs(task: &Task, count: u32) -> Vec<NeighbourPair> {
    let full = || entries(task, 0..count, 1.0);
    let full_name = || format!("{count} items, all 1");
    let mut pairs = vec![NeighbourPair {
        names: [full_name(), "the same items, all -1".to_owned()],
        inputs: [full(), entries(task, 0..count, -1.0)],
    }];
    if task.items().count().is_none_or(|items| items >= 2 * count) {
        pairs.push(NeighbourPair {
            names: [full_name(), format!("{count} other items, all 1")],
            inputs: [full(), entries(task, count..2 * count, 1.0)],
        });
    }
    pairs.push(NeighbourPair {
        names: [full_name(), "no items".to_owned()],
        inputs: [full(), Vec::new()],
    });
    if count > 1 {
        pairs.push(pair_of_one_item(task));
    }
    pairs
}

fn pair_of_one_item(task: &Task) -> NeighbourPair {
    NeighbourPair {
        names: ["one item, 1".to_owned(), "the same item, -1".to_owned()],
        inputs: [1.0, -1.0].map(|value| entries(task, 0..1, value)),
    }
}

pub(super) fn pairs_in_one_item(task: &Task) -> Vec<NeighbourPair> {
    let mut pairs = vec![pair_of_one_item(task)];
    let s = task.sparsity();
    if s > 1 {
        let others = format!(" among {} of 1", s - 1);
        pairs.push(NeighbourPair {
            names: [
                format!("an item, 1,{others}"),
                format!("the same, -1,{others}"),
            ],
            inputs: [1.0, -1.0].map(|value| {
                let one = entries(task, 0..1, value);
                [one, entries(task, 1..s, 1.0)].concat()
            }),
        });
    }
    pairs
}

/// Values that differ by `distance` in sum, or as nearly as the items allow.
pub(super) fn pair_within(task: &Task, distance: f64) -> NeighbourPair {
    let there = task.items().count().unwrap_or(u32::MAX);
    // At most half of 2¹¹ entries go all the way.
    let flipped = ((distance / 2.0) as u32).min(there);
    let mut inputs = [1.0, -1.0].map(|value| entries(task, 0..flipped, value));
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
    NeighbourPair {
        names: [
            format!("{} items, all 1", inputs[0].len()),
            format!("the same items, all in all {distance} less"),
        ],
        inputs,
    }
}

/// The `index`-th item: itself where items are counted, else any key.
fn item(task: &Task, index: u32) -> u64 {
    match task.items().count() {
        Some(_) => u64::from(index),
        None => item_key(&index.to_string()),
    }
}
