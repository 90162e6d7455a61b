//! Words for what several commands show.

use hushbin::Mechanism;
use hushbin_analysis::heavy_hitters::Text;
use serde_json::Value;

/// A mechanism with its parameters, as a task file has them.
pub(super) fn mechanism(mechanism: &Mechanism) -> String {
    let parameters = serde_json::to_value(mechanism).expect("parameters are plain data");
    let Value::Object(parameters) = parameters else {
        unreachable!("a mechanism is an object with its name");
    };
    let others = parameters
        .into_iter()
        .filter(|(key, value)| key != "name" && !value.is_null())
        .map(|(key, value)| match value {
            Value::String(word) => format!(", {key} {word}"),
            other => format!(", {key} {other}"),
        });
    mechanism.name().to_owned() + &others.collect::<String>()
}

/// A text, or what begins with it.
pub(super) fn text(Text { text, goes_on, .. }: &Text) -> String {
    format!("{text:?}{}", if *goes_on { " and longer" } else { "" })
}

/// A number with so many decimals, or a dash where there is none.
pub(super) fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}

/// Unit behind a number, if there is one.
pub(super) fn behind(unit: Option<&String>) -> String {
    unit.map_or_else(String::new, |unit| format!(" {unit}"))
}

/// A number in so many significant digits, or more before the point.
pub(super) fn significant(number: f64, digits: i32) -> String {
    format!("{number:.*}", places(number, digits))
}

/// Decimal places of a number in so many significant digits.
pub(super) fn places(number: f64, digits: i32) -> usize {
    if number == 0.0 {
        return 0;
    }
    let places = digits - 1 - number.abs().log10().floor().clamp(-12.0, 12.0) as i32;
    places.clamp(0, 12) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_are_described_by_what_task_files_say() {
        for (parameters, words) in [
            (
                r#"{ "name": "collision", "rule": "heaviest", "favoured": 2,
                     "hashing": "balanced", "buckets": 12 }"#,
                "collision, buckets 12, favoured 2, hashing balanced, rule heaviest",
            ),
            (
                r#"{ "name": "coco", "rule": "overwrite", "hashing": "independent", "buckets": 8 }"#,
                "coco, buckets 8, hashing independent, rule overwrite",
            ),
            (
                r#"{ "name": "hash-bin", "level": "user", "clip": 1.5, "noise": "two-point",
                     "hashing": "balanced", "bins": 1, "grid": 2048 }"#,
                "hash-bin, bins 1, clip 1.5, grid 2048, hashing balanced, level user, noise two-point",
            ),
        ] {
            let parameters = serde_json::from_str(parameters).unwrap();
            assert_eq!(mechanism(&parameters), words);
        }
    }
}
