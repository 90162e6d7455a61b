//! Tests of the smallest variance of shares, for choices and sets.

use hushbin::TaskDraft;
use hushbin::choose::Objective;
use hushbin::domain::Domain;
use serde_json::{Value, json};

use super::super::{BoundKind, DistanceFromBest, distance_from_best, least_variance};

/// Returns the variance of subset selection with the best m. A report is a set of m of k answers,
/// and sets that contain the person's answer are e times as probable.
///
/// In the code, p is the probability that a report contains the person's answer, and q that it
/// contains any other given answer.
fn best_subsets(answers: u32, epsilon: f64) -> f64 {
    let (k, e) = (f64::from(answers), epsilon.exp());
    let variance = |m: u32| {
        let m = f64::from(m);
        let p = e * m / (e * m + k - m);
        let q = (m - p) / (k - 1.0);
        (p * (1.0 - p) + (k - 1.0) * q * (1.0 - q)) / (p - q).powi(2) / k
    };
    (1..answers).map(variance).fold(f64::INFINITY, f64::min)
}

/// For a choice, the smallest variance is that of the best subset selection (Ye and Barg 2018), and
/// the search is exact.
#[test]
fn choices_are_bounded_by_subset_selection() {
    for answers in [2, 3, 5, 7, 10, 40, 257] {
        for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0, 6.0] {
            let found = least_variance(
                &Domain::with_exact_entry_count(answers, 1),
                epsilon,
                &Objective::FREQUENCY_ONLY,
            )
            .unwrap();
            let expected = best_subsets(answers, epsilon);
            let what = format!("{answers}, {epsilon}: {found:?}, {expected}");
            assert!((found.variance / expected - 1.0).abs() < 1e-9, "{what}");
            assert_eq!(found.kind, BoundKind::Exact);
            assert!(
                found.proven_lower_bound <= found.variance * (1.0 + 1e-9),
                "{what}"
            );
            // A choice has only shares, so the objective does not matter.
            let means = least_variance(
                &Domain::with_exact_entry_count(answers, 1),
                epsilon,
                &Objective::MEAN_ONLY,
            );
            assert_eq!(means, Some(found));
        }
    }
}

fn asked(epsilon: f64, mut question: Value) -> DistanceFromBest {
    question["name"] = json!("q");
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    let task = draft.resolve_task().unwrap();
    let question = &task.questions()[0];
    let domain = question.domain();
    distance_from_best(
        &domain,
        question.mechanism(),
        epsilon,
        &Objective::FREQUENCY_ONLY,
    )
    .unwrap()
}

/// The variance of the mechanism chosen for a choice is at most 0.2 per cent above the smallest.
#[test]
fn choices_are_near_the_bound() {
    let mut far = Vec::new();
    for epsilon in [0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0] {
        let flag = asked(epsilon, json!({ "kind": "flag" }));
        assert!((flag.times_bound - 1.0).abs() < 1e-9, "{flag:?}");
        for options in (2..=40).chain([64, 100, 256, 257, 300, 1000]) {
            let found = asked(epsilon, json!({ "kind": "choice", "options": options }));
            assert!(
                found.times_bound > 1.0 - 1e-9,
                "{options}, {epsilon}: {found:?}"
            );
            if found.times_bound > 1.002 {
                far.push((options, epsilon, found.times_bound));
            }
        }
    }
    assert!(far.is_empty(), "{far:?}");
}

#[test]
fn sets_are_near_the_bound() {
    for epsilon in [0.5, 1.0, 2.0, 4.0] {
        for (options, sparsity) in [(5, 2), (16, 4), (40, 3), (200, 5)] {
            let set = json!({ "kind": "set", "options": options, "sparsity": sparsity });
            let found = asked(epsilon, set);
            let what = format!("{options}, {sparsity}, {epsilon}: {found:?}");
            assert!(found.times_bound > 1.0 - 1e-9, "{what}");
            assert!(found.times_bound <= found.at_most, "{what}");
        }
    }
}
