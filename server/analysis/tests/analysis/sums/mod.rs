//! Tests of sums through a shuffler: the chosen messages, and the estimates from them.

mod estimates;
mod missing;
mod plan;
mod promise;
mod questions;

use hushbin::sums::SumTaskDraft;
use serde_json::{Value, json};

/// Returns a draft for `count` numbers, or a vector of that dimension.
fn draft(what: &str, count: u32, people: u64, epsilon: f64) -> SumTaskDraft {
    let measure: Value = match what {
        "numbers" => (0..count)
            .map(|index| json!({ "name": index.to_string(), "min": -1, "max": 1 }))
            .collect(),
        _ => json!({ "items": count, "length": 1.0, "seed": "7" }),
    };
    let mut draft = json!({
        "id": "sum", "trust": "shuffler", "epsilon": epsilon, "delta": 1e-6, "people": people,
    });
    draft[what] = measure;
    serde_json::from_value(draft).unwrap()
}
