//! Tests that numbers agree with an independent program, to one part in 10⁹.

use hushbin_study::competitors::{
    Budget, ComparedQuestion, GaussianMechanism, LossFunction, MajorityMechanism,
    OptimalLocalHashing, RandomizedResponse, SampledTwoPointMechanism, TwoPointMechanism,
    UnaryEncoding, as_printed, best_bucket_count, clip_gradient_coordinates, compare_mechanisms,
    encode_category_as_signs, favoured_probability_with_delta, piecewise_variance,
};
use serde_json::Value;

use super::models::{majority, majority_of_signs};

const REFERENCE: &str = include_str!("../../../../../tests/reference/questions.json");

/// Returns the rows of a kind, and checks their number.
fn rows(kind: &str, count: usize) -> Vec<Value> {
    let rows: Vec<Value> = serde_json::from_str(REFERENCE).unwrap();
    let rows: Vec<Value> = rows.into_iter().filter(|row| row["kind"] == kind).collect();
    assert_eq!(rows.len(), count, "{kind}");
    rows
}

fn number(row: &Value, field: &str) -> f64 {
    let number = row[field].as_f64();
    number.unwrap_or_else(|| panic!("{row}: {field}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).collect()
}

fn whole(row: &Value, field: &str) -> u32 {
    row[field].as_u64().unwrap() as u32
}

fn budget(row: &Value) -> Budget {
    Budget::new(number(row, "epsilon"), number(row, "delta")).unwrap()
}

/// Checks that a number agrees with a field of a row, to one part in 10⁹.
fn assert_near(ours: f64, row: &Value, field: &str) {
    let theirs = number(row, field);
    assert!((ours / theirs - 1.0).abs() < 1e-9, "{row}: {field} {ours}");
}

#[test]
fn majorities_are_the_reference() {
    for row in rows("mechanism-1", 94) {
        let (d, budget) = (whole(&row, "d"), budget(&row));
        let paper = row.get("alpha_printed").is_some();
        let own = if paper {
            MajorityMechanism::new(d, &budget)
        } else {
            MajorityMechanism::with_least_variance(d, &budget)
        };
        let own = own.unwrap();
        assert_eq!(own.agreement_threshold(), whole(&row, "kappa"), "{row}");
        // The file has 64-bit numbers as strings.
        let favoured = row["favoured"].to_string();
        let favoured: f64 = favoured.trim_matches('"').parse().unwrap();
        assert!(
            (own.favoured_count() / favoured - 1.0).abs() < 1e-15,
            "{row}"
        );
        assert_near(own.favoured_probability(), &row, "alpha");
        assert_near(own.estimate_scale(), &row, "B");
        assert_near(own.single_report_variance(0.0), &row, "variance_at_0");
        assert!((own.delta_at(budget.epsilon()) - budget.delta()).abs() < 1e-11);
        if !paper {
            continue;
        }
        let printed = as_printed::uncorrected_majority_mechanism(d, &budget).unwrap();
        assert_near(printed.favoured_probability, &row, "alpha_printed");
        assert_near(printed.estimate_scale, &row, "B_printed");
        assert_near(printed.corrected_scale, &row, "B");
        let delta = number(&row, "delta_of_printed");
        assert!((printed.actual_delta - delta).abs() < 1e-12, "{row}");
    }
}

#[test]
fn distributions_of_a_majority_are_the_reference() {
    for row in rows("mechanism-1-distribution", 2) {
        let values = numbers(&row["x"]);
        let own = MajorityMechanism::new(values.len() as u32, &budget(&row)).unwrap();
        assert_eq!(own.agreement_threshold(), whole(&row, "kappa"));
        let law = majority(&own, &values);
        let expected = row["probabilities"].as_array().unwrap();
        assert_eq!(law.len(), expected.len());
        for pair in expected {
            let signs = numbers(&pair[0]);
            let bits = (0..)
                .zip(&signs)
                .map(|(j, &sign)| u32::from(sign > 0.0) << j);
            let ours = law[bits.sum::<u32>() as usize];
            assert!((ours / pair[1].as_f64().unwrap() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn two_points_are_the_reference() {
    for row in rows("one-number", 6) {
        let own = TwoPointMechanism::new(&budget(&row));
        assert_near(own.estimate_scale(), &row, "A");
        assert_near(own.plus_probability(1.0), &row, "plus_at_1");
        assert_near(own.plus_probability(0.25), &row, "plus_at_0.25");
        assert_near(own.variance(0.25), &row, "variance_at_0.25");
        let piecewise = piecewise_variance(0.25, number(&row, "epsilon")).unwrap();
        assert_near(piecewise, &row, "piecewise_variance_at_0.25");
    }
    for row in rows("grid", 7) {
        let epsilon = number(&row, "epsilon");
        let two = TwoPointMechanism::new(&Budget::new(epsilon, 0.0).unwrap());
        assert_near(two.variance(0.0), &row, "worst_of_two_points");
        let ends = piecewise_variance(1.0, epsilon).unwrap();
        assert_near(ends, &row, "worst_piecewise");
        let budget = Budget::new(epsilon, 0.0).unwrap();
        let ours = &compare_mechanisms(ComparedQuestion::Number, &budget, 1)
            .unwrap()
            .rows[0];
        let variance = ours.variance.unwrap();
        assert!(variance.worst < number(&row, "worst"), "{row}");
    }
}

#[test]
fn sampled_two_points_are_the_reference() {
    for row in rows("mechanism-2", 5) {
        let (d, epsilon, delta) = (
            whole(&row, "d"),
            number(&row, "epsilon"),
            number(&row, "delta"),
        );
        let printed = SampledTwoPointMechanism::new(d, epsilon, delta).unwrap();
        assert_eq!(printed.drawn_count(), whole(&row, "k_printed"), "{row}");
        assert_near(
            printed.single_report_variance(0.0),
            &row,
            "variance_printed_k",
        );
        let best = SampledTwoPointMechanism::with_least_variance(d, epsilon, delta).unwrap();
        assert_eq!(best.drawn_count(), whole(&row, "k_best"), "{row}");
        assert_near(best.single_report_variance(0.0), &row, "variance_best_k");
        if row.get("delta_of_printed_k").is_some() {
            let off = printed.delta_at(epsilon) - number(&row, "delta_of_printed_k");
            assert!(off.abs() < 1e-11, "{row}: {off}");
        }
    }
}

#[test]
fn choices_are_the_reference() {
    let expected = |row: &Value, field: &str| {
        let [p, q, others] = numbers(&row[field])[..] else {
            panic!("{row}")
        };
        [p, q, others]
    };
    for row in rows("category", 40) {
        let (k, budget) = (whole(&row, "k"), budget(&row));
        let olh = OptimalLocalHashing::new(k, &budget).unwrap();
        for (field, rates) in [
            (
                "grr",
                RandomizedResponse::new(k, &budget)
                    .unwrap()
                    .support_probabilities(),
            ),
            (
                "sprr",
                UnaryEncoding::symmetric_encoding(k, &budget)
                    .unwrap()
                    .support_probabilities(),
            ),
            (
                "oue",
                UnaryEncoding::optimized_encoding(k, &budget)
                    .unwrap()
                    .support_probabilities(),
            ),
            ("olh", olh.support_probabilities()),
        ] {
            let [p, q, others] = expected(&row, field);
            // The reference finds OUE's q by a search. The minimum is flat, so this q is less
            // accurate.
            let tolerance = if field == "oue" { 1e-6 } else { 1e-9 };
            assert!(
                (rates.own_answer_probability / p - 1.0).abs() < tolerance,
                "{row}: {field}"
            );
            assert!(
                (rates.other_answer_probability / q - 1.0).abs() < tolerance,
                "{row}: {field}"
            );
            let variance = rates.single_report_variance(false);
            assert!((variance / others - 1.0).abs() < 1e-9, "{row}: {field}");
        }
        let OptimalLocalHashing::LocalHashing(olh) = olh else {
            panic!("{row}")
        };
        assert_eq!(olh.bucket_count(), whole(&row, "olh_g"), "{row}");
        assert_near(best_bucket_count(&budget).unwrap(), &row, "olh_root");
    }
}

#[test]
fn favoured_buckets_under_delta_are_the_reference() {
    for row in rows("subset-delta", 16) {
        let (c, t) = (whole(&row, "c"), whole(&row, "t"));
        assert_near(
            favoured_probability_with_delta(c, t, &budget(&row)).unwrap(),
            &row,
            "inside",
        );
    }
}

#[test]
fn normal_noise_is_the_reference() {
    for row in rows("gaussian", 16) {
        let (d, budget) = (whole(&row, "d"), budget(&row));
        let own = GaussianMechanism::for_numbers(d, &budget).unwrap();
        assert_near(own.sensitivity(), &row, "sensitivity");
        assert_near(own.sigma(), &row, "sigma");
        let printed = as_printed::undercalibrated_gaussian(d, &budget).unwrap();
        assert_near(printed.sigma, &row, "sigma_with_sensitivity_2");
        assert_near(printed.actual_delta, &row, "delta_of_that");
        assert_eq!(printed.corrected_sigma, own.sigma());
    }
}

#[test]
fn gradients_and_features_are_the_reference() {
    for row in rows("gradient", 6) {
        let loss = match row["loss"].as_str().unwrap() {
            "linear" => LossFunction::Squared,
            "logistic" => LossFunction::Logistic,
            _ => LossFunction::Hinge,
        };
        let [w, x] = ["w", "x"].map(|field| numbers(&row[field]));
        let mut gradient = loss.gradient(&w, &x, number(&row, "y"), number(&row, "lambda"));
        for field in ["gradient", "clipped"] {
            let theirs = numbers(&row[field]);
            assert_eq!(gradient.len(), theirs.len());
            for (ours, theirs) in gradient.iter().zip(theirs) {
                assert!((ours / theirs - 1.0).abs() < 1e-9, "{row}: {field}");
            }
            clip_gradient_coordinates(&mut gradient);
        }
    }
    for row in rows("encoding", 4) {
        let features =
            encode_category_as_signs(whole(&row, "value"), whole(&row, "values")).unwrap();
        assert_eq!(features, numbers(&row["bits"]), "{row}");
    }
    // From a margin of 1 on, the gradient of the loss is 0, and only the regularisation remains.
    assert_eq!(
        LossFunction::Hinge.gradient(&[2.0], &[1.0], 1.0, 0.0),
        [0.0]
    );
    assert_eq!(
        LossFunction::Hinge.gradient(&[2.0], &[1.0], 1.0, 0.25),
        [1.0]
    );
}

/// Checks that the models, on which other tests rely, agree with the reference.
#[test]
fn models_are_distributions() {
    for d in 1..=6 {
        for threshold in 1..=d {
            let law = majority_of_signs(d, threshold, 0.7, 0);
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
