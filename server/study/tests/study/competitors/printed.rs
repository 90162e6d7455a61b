//! Tests against the digits of tables that an independent program computed.

use hushbin_study::competitors::{
    Budget, PiecewiseMechanism, RandomizedLevelResponse, TwoPointMechanism, hybrid_variance,
    piecewise_variance, variance_lower_bound,
};
use serde_json::Value;

const NUMBER: &str = include_str!("../../../../../tests/reference/number.json");

/// Rows of ε and six numbers: the worst-case variances of two points, the grid, PM, PM with its
/// best width and HM, and the lower bound.
const WORST: [(f64, [&str; 6]); 12] = [
    (
        0.25,
        ["64.668", "64.668", "85.22", "85.06", "64.668", "64.0007"],
    ),
    (
        0.5,
        ["16.671", "16.671", "21.22", "21.06", "16.671", "16.0028"],
    ),
    (
        0.75,
        ["7.787", "7.787", "9.371", "9.210", "7.595", "7.1163"],
    ),
    (1.0, ["4.683", "4.683", "5.224", "5.066", "4.289", "3.9899"]),
    (
        1.25,
        ["3.251", "2.975", "3.304", "3.151", "2.741", "2.5123"],
    ),
    (1.5, ["2.479", "1.936", "2.262", "2.114", "1.892", "1.6910"]),
    (2.0, ["1.724", "1.000", "1.228", "1.092", "1.042", "0.8653"]),
    (2.5, ["1.390", "0.629", "0.750", "0.629", "0.647", "0.4932"]),
    (3.0, ["1.221", "0.388", "0.493", "0.386", "0.432", "0.3040"]),
    (
        4.0,
        ["1.076", "0.1767", "0.2414", "0.1618", "0.2190", "0.12705"],
    ),
    (
        5.0,
        ["1.027", "0.0857", "0.1299", "0.0735", "0.1215", "0.05734"],
    ),
    (
        6.0,
        ["1.010", "0.0430", "0.0735", "0.0348", "0.0704", "0.02708"],
    ),
];

fn quadratic(variance: fn(f64, f64) -> Result<f64, hushbin::Error>, epsilon: f64) -> f64 {
    let [middle, end] = [0.0, 1.0].map(|value| variance(value, epsilon).unwrap());
    middle.max(end)
}

#[test]
fn worst_variances_of_one_number_are_as_printed() {
    for (epsilon, expected) in WORST {
        let points = TwoPointMechanism::new(&Budget::new(epsilon, 0.0).unwrap());
        let found = [
            points.variance(0.0),
            RandomizedLevelResponse::with_least_variance(epsilon)
                .unwrap()
                .worst_variance(),
            quadratic(piecewise_variance, epsilon),
            PiecewiseMechanism::with_least_variance(epsilon)
                .unwrap()
                .worst_variance(),
            quadratic(hybrid_variance, epsilon),
            variance_lower_bound(epsilon).unwrap(),
        ];
        for (place, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let digits = expected.len() - expected.find('.').unwrap() - 1;
            let printed: f64 = expected.parse().unwrap();
            // A bound from more inputs may be slightly greater.
            let more = if place == 5 { 2e-3 * printed } else { 0.0 };
            let unit = 0.51 * 0.1_f64.powi(digits as i32);
            let range = printed - unit..printed + unit + more;
            assert!(range.contains(&found), "{epsilon}: {found}, {expected}");
        }
    }
}

/// Compares the bounds with independently computed certificates, some of which have fewer inputs.
#[test]
fn lower_bounds_agree_with_the_reference() {
    let rows: Value = serde_json::from_str(NUMBER).unwrap();
    let mut compared = 0;
    for row in rows["certificates"].as_array().unwrap() {
        let epsilon = row["epsilon"].as_f64().unwrap();
        let theirs = row["lower_bound"].as_f64().unwrap();
        let Some(found) = variance_lower_bound(epsilon) else {
            continue;
        };
        let ratio = found / theirs;
        assert!((0.9995..1.003).contains(&ratio), "{epsilon}: {ratio}");
        compared += 1;
    }
    assert_eq!(compared, 13);
    for row in rows["optima"].as_array().unwrap() {
        let epsilon = row["epsilon"].as_f64().unwrap();
        let value = row["value"].as_f64().unwrap();
        if let (Some(least), Value::Null) = (variance_lower_bound(epsilon), &row["D"]) {
            assert!(value >= least, "{row}: {least}");
        }
    }
    assert_eq!(variance_lower_bound(3.0001), None);
    assert_eq!(variance_lower_bound(0.7123), None);
    assert!(variance_lower_bound(0.7122).is_some());
}
