//! Tests of estimates: predicted variances, totals that add up, and output as JSON and CSV.
//!
//! Seeds are fixed. Every threshold states the probability with which a right implementation would
//! miss it.

mod conditional_means;
mod coverage;
mod crosses;
mod honest;
mod number;
mod post;
mod questions;
mod ratios;
mod repeats;
mod shrinkage;
mod small_batches;
mod stored;
mod together;

use crate::support::crowd::{ITEMS, all, collect, crowd, task, tasks};
use hushbin::{Randomizer, Task, ValueKind};
use hushbin_analysis::estimate::{
    ErrorPredictor, Estimand, EstimateOptions, EstimateQuery, Totals, estimands,
    estimates_for_query, point_estimates,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::json;

/// Points and predictions exist for exactly the estimands that a mechanism claims.
#[test]
fn estimands_are_said_in_one_place() {
    for task in tasks(ValueKind::Sign) {
        let name = task.questions()[0].mechanism().name();
        let said = estimands(&task.questions()[0]);
        let mut totals = Totals::for_items(&task, 0, &[0]);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let report = Randomizer::new(&task)
            .randomize(&[], &mut rng)
            .unwrap()
            .report;
        totals.add_report(&report);
        let point = point_estimates(&task, &totals, &[0])[0];
        let predictor = ErrorPredictor::for_question(&task.questions()[0]);
        for estimand in Estimand::RATING_ESTIMANDS {
            let expected = said.contains(&estimand);
            assert_eq!(
                point.get(estimand).is_some(),
                expected,
                "{name}, {estimand:?}"
            );
            let predicted = predictor.rare_item_standard_error(estimand, 100.0);
            assert_eq!(predicted.is_some(), expected, "{name}, {estimand:?}");
        }
    }
}

/// The variance of means over crowds is the predicted one. 2,000 crowds give a relative standard
/// deviation of 0.032 per item, 0.0112 over 8 items; the bound is 5 of these.
#[test]
fn variances_are_as_predicted() {
    const ROUNDS: usize = 2000;
    for (task, name) in [
        (
            task(
                "sign",
                &json!(ITEMS),
                &json!({ "name": "collision", "buckets": 3, "favoured": 1 }),
            ),
            "crowded",
        ),
        (
            task(
                "sign",
                &json!(ITEMS),
                &json!({ "name": "collision", "rule": "occupied" }),
            ),
            "occupied",
        ),
        (
            task(
                "sign",
                &json!(ITEMS),
                &json!({ "name": "collision", "hashing": "independent" }),
            ),
            "independent",
        ),
        (
            task(
                "sign",
                &json!(ITEMS),
                &json!({ "name": "coco", "rule": "overwrite", "buckets": 8 }),
            ),
            "overwrite",
        ),
    ] {
        // No person has any item, so every report's variance is the same.
        let crowd = vec![Vec::new(); 200];
        let predictor = ErrorPredictor::for_question(&task.questions()[0]);
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut squares = [0.0; 4];
        for _ in 0..ROUNDS {
            let totals = collect(&task, &crowd, &mut rng);
            for point in point_estimates(&task, &totals, &all(&task)) {
                for (square, estimand) in squares.iter_mut().zip(Estimand::RATING_ESTIMANDS) {
                    *square += point.get(estimand).map_or(0.0, |p| p.estimate.powi(2));
                }
            }
        }
        for (square, estimand) in squares.iter().zip(Estimand::RATING_ESTIMANDS) {
            let measured = square / (ROUNDS * ITEMS as usize) as f64;
            let Some(predicted) = predictor.rare_item_standard_error(estimand, 200.0) else {
                assert_eq!(measured, 0.0, "{name} {estimand:?}");
                continue;
            };
            let predicted = predicted.powi(2);
            let ratio = measured / predicted;
            assert!((ratio - 1.0).abs() < 0.056, "{name} {estimand:?}: {ratio}");
        }
    }
}

/// CoCo's rule `overwrite` estimates the same quantities as Collision, under the same names.
/// Frequencies add up to presence and mean, and so do the variances with covariance.
#[test]
fn frequencies_of_overwrite_add_up() {
    let mechanism = json!({ "name": "coco", "rule": "overwrite", "buckets": 10 });
    let task = task("sign", &json!(ITEMS), &mechanism);
    let crowd = crowd(&task, 20_000, 1);
    let totals = collect(&task, &crowd, &mut ChaCha20Rng::seed_from_u64(5));
    for point in point_estimates(&task, &totals, &all(&task)) {
        let of = |estimand| point.get(estimand).unwrap();
        let [mean, plus, minus, nonmissing] = Estimand::RATING_ESTIMANDS.map(of);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}: {point:?}");
        near(plus.estimate + minus.estimate, nonmissing.estimate);
        near(plus.estimate - minus.estimate, mean.estimate);
        // If an estimate is below 0, variances are those of 0.
        if plus.estimate.min(minus.estimate) < 0.0 {
            continue;
        }
        let [plus, minus, nonmissing, mean] =
            [plus, minus, nonmissing, mean].map(|point| point.standard_error.powi(2));
        let covariance = 0.25 * (nonmissing - mean);
        near((plus + minus + 2.0 * covariance) / nonmissing, 1.0);
        near((plus + minus - 2.0 * covariance) / mean, 1.0);
    }
    let query = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let answer = estimates_for_query(&task, &totals, &query);
    let json = serde_json::to_value(&answer).unwrap();
    let first = json["estimates"][0].as_object().unwrap();
    let mut csv = Vec::new();
    answer.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().skip(1).take(4).collect();
    for (estimand, line) in Estimand::RATING_ESTIMANDS.into_iter().zip(lines) {
        let name = estimand.as_str();
        assert!(first[name]["interval"].is_array(), "{json}");
        assert!(line.starts_with(&format!("0,{name},")), "{line}");
    }
}

#[test]
fn totals_merge_and_open_totals_count_what_is_asked() {
    for task in [ValueKind::Sign, ValueKind::Real]
        .into_iter()
        .flat_map(tasks)
    {
        let crowd = crowd(&task, 1500, 1);
        let whole = collect(&task, &crowd, &mut ChaCha20Rng::seed_from_u64(4));
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut merged = collect(&task, &crowd[..700], &mut rng);
        merged.merge(&collect(&task, &crowd[700..], &mut rng));
        assert_eq!(merged.report_count(), whole.report_count());
        let items = all(&task);
        assert_eq!(
            point_estimates(&task, &merged, &items),
            point_estimates(&task, &whole, &items)
        );
    }
}

#[test]
fn questions_are_validated() {
    let named = task("sign", &json!(["a", "b", "c"]), &json!("collision"));
    let open = task("sign", &json!("open"), &json!("collision"));
    let ask = |task: &Task, items: Option<&[&str]>, confidence: f64| {
        let items = items.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let options = EstimateOptions {
            item_names: items,
            confidence,
            ..EstimateOptions::default()
        };
        EstimateQuery::new(task, &options).map_err(|error| error.to_string())
    };
    assert_eq!(ask(&named, None, 0.95).unwrap().items(), [0, 1, 2]);
    assert_eq!(
        ask(&named, Some(&["c", "a"]), 0.95).unwrap().items(),
        [2, 0]
    );
    assert_eq!(
        ask(&named, Some(&["d"]), 0.95).unwrap_err(),
        "the task has no item \"d\""
    );
    assert_eq!(
        ask(&named, Some(&["a", "a"]), 0.95).unwrap_err(),
        "item \"a\" is requested twice"
    );
    assert_eq!(
        ask(&open, None, 0.95).unwrap_err(),
        "the task is open: name the items to estimate"
    );
    assert!(
        ask(&named, None, 1.0)
            .unwrap_err()
            .starts_with("confidence is 1, expected")
    );
    let counted = task("sign", &json!(12), &json!("collision"));
    assert_eq!(
        ask(&counted, Some(&["11", "0"]), 0.9).unwrap().items(),
        [11, 0]
    );
    for wrong in ["12", "-1", "01", "+1", "1.0", ""] {
        assert!(ask(&counted, Some(&[wrong]), 0.9).is_err(), "{wrong:?}");
    }
}

#[test]
fn nothing_is_estimated_from_no_reports() {
    let task = task("sign", &json!(3), &json!("collision"));
    let question = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let answer = estimates_for_query(&task, &Totals::new(&task), &question);
    assert_eq!((answer.reports, answer.estimates.len()), (0, 0));
}

#[test]
fn csv_has_a_line_for_each_item_and_estimand() {
    let task = task("sign", &json!(["a", "b, \"c\"", "d"]), &json!("collision"));
    let mut totals = Totals::new(&task);
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    totals.add_report(
        &Randomizer::new(&task)
            .randomize(&[], &mut rng)
            .unwrap()
            .report,
    );
    let question = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let answer = estimates_for_query(&task, &totals, &question);
    let mut text = Vec::new();
    answer.write_csv(&mut text).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_slice());
    assert_eq!(reader.headers().unwrap().len(), 8);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 12);
    assert_eq!((&rows[4][0], &rows[4][1]), ("b, \"c\"", "mean"));
    let estimate: f64 = rows[4][2].parse().unwrap();
    assert_eq!(
        estimate,
        answer.estimates[1].by_estimand[0].unwrap().estimate
    );
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(
        json["estimates"][1]["mean"]["estimate"].as_f64(),
        Some(estimate)
    );
}
