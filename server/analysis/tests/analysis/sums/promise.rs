//! Tests of the promise of sums, in the words that pages use too. A test of the package reads the
//! same file.
//!
//! `HUSHBIN_REGENERATE=1 cargo test -p hushbin-analysis sums::promise` writes it.

use hushbin::sums::SumTask;
use hushbin_analysis::promise::SumPrivacy;
use hushbin_tests::sum_vectors;
use serde_json::{Value, json};

const SUMS: &str = include_str!("../../../../../tests/vectors/sums.json");
const PRIVACY: &str = include_str!("../../../../../tests/vectors/sum-privacy.json");

#[test]
fn promises_keep_their_words() {
    let cases: Vec<sum_vectors::Case> = serde_json::from_str(SUMS).unwrap();
    let said: Vec<Value> = cases
        .into_iter()
        .map(|case| {
            let task: SumTask = serde_json::from_value(case.given.task.clone()).unwrap();
            json!({
                "task": case.given.task,
                "privacy": SumPrivacy::for_task(&task),
                "honest_people": task.honest_people_count(),
                "message_bytes": task.longest_message_bytes(),
                "messages": task.message_count_range().end(),
            })
        })
        .collect();
    if std::env::var_os("HUSHBIN_REGENERATE").is_some() {
        let path = format!(
            "{}/../../tests/vectors/sum-privacy.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let lines: Vec<String> = said.iter().map(Value::to_string).collect();
        std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        return;
    }
    assert_eq!(serde_json::from_str::<Vec<Value>>(PRIVACY).unwrap(), said);
}
