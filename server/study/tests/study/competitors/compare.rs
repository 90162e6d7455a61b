//! Mechanisms side by side, with ours first.

use hushbin_study::competitors::{Asked, Comparison, Row, compare};

use super::models::budget;

fn table(asked: Asked, epsilon: f64, delta: f64) -> Comparison {
    compare(asked, &budget(epsilon, delta), 10_000).unwrap()
}

fn row<'a>(table: &'a Comparison, mechanism: &str) -> &'a Row {
    let mut rows = table.rows.iter();
    rows.find(|row| row.mechanism == mechanism).unwrap()
}

#[test]
fn ours_is_the_baseline() {
    for asked in [
        Asked::Choice { options: 40 },
        Asked::Numbers { attributes: 16 },
        Asked::Number,
    ] {
        let table = table(asked, 2.0, 1e-6);
        let ours = &table.rows[0];
        assert!(ours.mechanism.starts_with("hushbin"));
        assert_eq!(
            (ours.worst_ratio, ours.average_ratio),
            (Some(1.0), Some(1.0))
        );
        let least = ours.variance.unwrap();
        for row in &table.rows {
            let variance = row.variance.unwrap();
            assert!(variance.average <= variance.worst, "{row:?}");
            assert_eq!(row.worst_ratio.unwrap(), variance.worst / least.worst);
            assert_eq!(row.average_ratio.unwrap(), variance.average / least.average);
            assert_eq!(row.standard_error.unwrap(), (variance.worst / 1e4).sqrt());
            // With δ = 10⁻⁶ none of them gains what ours has before it, in what ours
            // is chosen by.
            let ratio = match asked {
                Asked::Choice { .. } => row.average_ratio,
                _ => row.worst_ratio,
            };
            assert!(ratio.unwrap() > 1.0 - 1e-5, "{row:?}");
        }
    }
}

/// Variances at 0 of the table that the sampled cube was chosen by.
#[test]
fn the_cube_is_ahead_of_both_mechanisms() {
    for (d, epsilon, expected) in [
        (4, 1.0, [18.73, 22.76, 18.73]),
        (16, 2.0, [21.15, 32.33, 27.58]),
        (16, 4.0, [6.75, 18.34, 17.22]),
        (64, 3.0, [42.97, 102.43, 78.12]),
        (64, 6.0, [13.71, 83.10, 39.06]),
    ] {
        let table = table(Asked::Numbers { attributes: d }, epsilon, 0.0);
        let names = ["hushbin sampled cube", "Mechanism-1", "Mechanism-2"];
        let ours = names.map(|name| row(&table, name).variance.unwrap().worst);
        for (ours, expected) in ours.into_iter().zip(expected) {
            assert!((ours - expected).abs() < 0.006, "{d}, {epsilon}: {ours}");
        }
    }
}

#[test]
fn what_does_not_exist_says_why() {
    let table = table(Asked::Choice { options: 3 }, 1.0, 0.0);
    let noise = row(&table, "Gaussian");
    assert_eq!(noise.variance, None);
    assert!(noise.reason.as_ref().unwrap().contains("delta is 0"));
    let json = serde_json::to_value(&table).unwrap();
    assert_eq!(json["asked"]["kind"], "choice");
    assert!(json["rows"][0].get("reason").is_none());
    assert!(json["rows"][5]["variance"].is_null());
}

/// One option of two by GRR is what hushbin does; one of many by OLH is worse by the
/// share of the buckets that one's own takes.
#[test]
fn choices_contain_randomised_response() {
    let two = table(Asked::Choice { options: 2 }, 1.0, 0.0);
    assert!((row(&two, "GRR").worst_ratio.unwrap() - 1.0).abs() < 1e-9);
    let many = table(Asked::Choice { options: 1000 }, 1.0, 0.0);
    let olh = row(&many, "OLH").average_ratio.unwrap();
    assert!((1.0..1.01).contains(&olh), "{olh}");
    // A δ that hashing is not best under.
    let large = table(Asked::Choice { options: 5 }, 1.0, 0.1);
    let [olh, grr] = ["OLH", "GRR"].map(|name| row(&large, name).variance);
    assert_eq!(olh, grr);
    assert!(row(&large, "OUE").reason.is_some());
}
