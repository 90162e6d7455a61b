//! Phrases and number formats that several commands print.

use std::path::Path;

use hushbin::Mechanism;
use hushbin_analysis::estimate::InfluencedEstimand;
use hushbin_analysis::heavy_hitters::FoundText;
use hushbin_analysis::promise::{attacker_certainty_text, round_up_to_three_digits};
use serde_json::Value;

use crate::task::task_file::LabelFingerprint;

/// Returns the name of quantities that made-up reports move.
pub(super) const fn influenced_estimand_name(estimand: InfluencedEstimand) -> &'static str {
    match estimand {
        InfluencedEstimand::Mean => "means",
        InfluencedEstimand::Plus => "frequencies of +",
        InfluencedEstimand::Minus => "frequencies of -",
        InfluencedEstimand::Nonmissing => "non-missing frequencies",
        InfluencedEstimand::Share => "shares",
        InfluencedEstimand::Below => "shares below an edge",
        InfluencedEstimand::Margin => "shares of rows and columns",
    }
}

/// Formats a mechanism: its name, then its parameters. Before each parameter is its name in task
/// files.
pub(super) fn mechanism_and_parameters(mechanism: &Mechanism) -> String {
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

/// Returns a text in quotation marks. If longer texts begin with the text, "and longer" follows.
pub(super) fn found_text_phrase(
    FoundText {
        text, is_prefix, ..
    }: &FoundText,
) -> String {
    format!("{text:?}{}", if *is_prefix { " and longer" } else { "" })
}

/// Formats a number with `decimals` decimal places, or `None` as a dash.
pub(super) fn format_decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}

/// Returns a space and the unit, or nothing if there is no unit.
pub(super) fn unit_suffix(unit: Option<&str>) -> String {
    unit.map_or_else(String::new, |unit| format!(" {unit}"))
}

/// Explains ε in plain words: how certain a guess about a person can become.
pub(super) fn guess_certainty_phrase(epsilon: f64) -> String {
    let sure = attacker_certainty_text(epsilon);
    format!("a guess that was 50 % sure becomes at most {sure} % sure")
}

/// Returns a sentence that states a central ε and δ. `subject` is its subject with the verb, such
/// as "A batch has". `sent` names the things that an attacker cannot link to people, such as
/// "reports".
pub(super) fn central_privacy_sentence(
    subject: &str,
    sent: &str,
    epsilon: f64,
    delta: f64,
) -> String {
    format!(
        "{subject} a central ε = {} against an attacker who cannot link {sent} to people: {}, \
         except with probability δ = {:e}.",
        round_up_to_three_digits(epsilon),
        guess_certainty_phrase(epsilon),
        round_up_to_three_digits(delta)
    )
}

/// Returns a sentence with the number of people and the number of runs of a simulation.
pub(super) fn simulation_runs_sentence(people: usize, runs: u64) -> String {
    format!("{people} people, runs: {runs}. Errors are root mean squares over the runs.")
}

/// Returns a sentence with the fingerprint of a task or those of its labels, and with the file to
/// which the complete task was written.
pub(super) fn task_fingerprint_sentence(
    file: Option<&Path>,
    fingerprint: &str,
    labels: &[LabelFingerprint],
) -> String {
    let each = labels
        .iter()
        .map(|own| format!("{} {}", own.label, own.fingerprint));
    let own = match labels {
        [] => format!("fingerprint is {fingerprint}"),
        _ => format!(
            "labels are public: {}. Each has its own batches and estimates. Numbers of people \
             count one label",
            each.collect::<Vec<_>>().join(", ")
        ),
    };
    match file {
        Some(file) => format!("The complete task is in {}. Its {own}.", file.display()),
        None => format!("The {own}. --out FILE writes the complete task."),
    }
}

/// Formats a number with `digits` significant digits. All digits before the decimal point are kept.
pub(super) fn format_significant_digits(number: f64, digits: i32) -> String {
    format!("{number:.*}", decimal_places(number, digits))
}

/// Returns the number of decimal places, at most 12, that show `digits` significant digits.
pub(super) fn decimal_places(number: f64, digits: i32) -> usize {
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
            assert_eq!(mechanism_and_parameters(&parameters), words);
        }
    }
}
