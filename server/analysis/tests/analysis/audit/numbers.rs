//! Numbers: what the window reveals about them, and leaks that are caught.

use hushbin::hash::for_each_drawn_item;
use hushbin::{Entry, Report, Task, TaskDraft};
use hushbin_analysis::audit::{
    AuditVerdict, DEFAULT_MAX_ENUMERATION_STEPS, audit_report_task, enumerate_max_loss,
    measure_privacy_loss, upload_appender,
};
use hushbin_analysis::likelihood::core_bucket_probability_fn;
use serde_json::{Value, json};

use super::seeds::suited;
use super::{CONFIDENCE, TrialPlan, assert_leaks, honest, measured, rng};

/// Numbers with several ranges, under a window of m, t and k.
fn numbers(attributes: u32, [drawn, atoms, favoured]: [u32; 3]) -> Value {
    let values: Vec<u32> = (1..=atoms / 2).map(|at| 2 * at + at * at).collect();
    let of: Vec<Value> = (0..attributes)
        .map(|index| json!({ "name": format!("n{index}"), "min": -2, "max": 10 * (index + 1) }))
        .collect();
    let mut question = match &of[..] {
        [one] => json!({ "kind": "number", "min": one["min"], "max": one["max"] }),
        _ => json!({ "kind": "numbers", "of": of }),
    };
    question["name"] = json!("all");
    question["mechanism"] = json!({ "name": "window", "drawn": drawn, "atoms": atoms,
        "favoured": favoured, "values": values });
    question
}

fn task(epsilon: f64, questions: &[Value]) -> Task {
    let file = json!({ "id": "numbers", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// The enumerated loss over all inputs at ends is the effective ε. The measured loss is at most the
/// requested ε, for a question alone and among several.
#[test]
fn numbers_keep_within_their_budget() {
    for (attributes, window, epsilon) in [
        (1, [1, 2, 1], 1.0),
        (1, [1, 13, 6], 1.0),
        (4, [1, 5, 1], 0.5),
        (4, [2, 4, 2], 2.0),
        (5, [5, 3, 1], 1.0),
        (6, [4, 2, 1], 3.0),
    ] {
        let task = task(epsilon, &[numbers(attributes, window)]);
        let question = &task.questions()[0];
        let core = core_bucket_probability_fn(question).unwrap();
        let found =
            enumerate_max_loss(question, DEFAULT_MAX_ENUMERATION_STEPS, &mut rng(1), core).unwrap();
        assert_eq!(found.input_count, 1 << attributes);
        let effective = task.achieved_report_epsilon();
        assert!(
            (found.privacy_loss - effective).abs() <= found.loss_rounding_error,
            "{found:?}"
        );
        assert_eq!(found.loss_upper_bound(effective), effective);

        let plan = TrialPlan::new(&task, Some(4000), CONFIDENCE).unwrap();
        let found = audit_report_task(&task, &plan, &mut rng(2), |_, _| {});
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
        assert_eq!(found.exact_epsilon, Some(effective));
    }
    // There are too many inputs to enumerate, and a question of another kind.
    for questions in [
        vec![numbers(30, [12, 2, 1])],
        vec![
            numbers(3, [2, 6, 2]),
            json!({ "name": "beta", "kind": "flag" }),
        ],
    ] {
        let task = task(1.0, &questions);
        let plan = TrialPlan::new(&task, Some(4000), CONFIDENCE).unwrap();
        let found = measure_privacy_loss(&task, &plan, upload_appender(&task, rng(3)), |_, _| {});
        assert!(found.lower_bound <= 1.0, "{found:?}");
    }
}

/// The measured bound comes close to the true loss.
#[test]
fn bounds_of_numbers_come_close() {
    for window in [[1, 2, 1], [1, 6, 3], [3, 4, 1], [4, 4, 2]] {
        let task = task(1.0, &[numbers(4, window)]);
        let found = measured(&task, 50_000, honest(&task, rng(1)));
        assert!(found.lower_bound > 0.7, "{found:?}");
        assert!(found.lower_bound <= 1.0, "{found:?}");
    }
}

#[test]
fn leaks_of_numbers_are_caught() {
    for window in [[1, 2, 1], [1, 6, 3], [3, 4, 1], [4, 4, 2]] {
        let [drawn, atoms, _] = window;
        let numbers = numbers(5, window);
        let [asked, larger] =
            [1.0, 2.5].map(|epsilon| task(epsilon, std::slice::from_ref(&numbers)));
        // Sampled for a larger budget.
        assert_leaks(&asked, &measured(&asked, 20_000, honest(&larger, rng(4))));
        // The first number is drawn only if it is large.
        let drawn_where_large = |seed: u64, input: &[Entry]| {
            let mut first = false;
            for_each_drawn_item(seed, 5, drawn, |attribute| first |= attribute == 0);
            first == (input[0].value > 4.0)
        };
        let found = measured(&asked, 20_000, suited(&asked, 1, &drawn_where_large));
        assert_leaks(&asked, &found);
        // Some reports contain the cell in clear.
        let (mut plain, mut turn) = (honest(&asked, rng(7)), 0);
        let clear = move |input: &[Entry]| {
            let mut report = plain(input);
            turn += 1;
            if let (Report::Window(report), true) = (&mut report, turn % 3 == 0) {
                let mut cell = 0;
                for_each_drawn_item(report.seed, 5, drawn, |attribute| {
                    let middle = 5.0 * f64::from(attribute + 1) - 1.0;
                    let last = input[attribute as usize].value > middle;
                    cell = cell * atoms + if last { atoms - 1 } else { 0 };
                });
                report.bucket = cell;
            }
            report
        };
        assert_leaks(&asked, &measured(&asked, 20_000, clear));
    }
}

/// A number inside its range gets less noise. A number that is drawn alone reveals that; among
/// several, the rounding of the rest hides it.
#[test]
fn larger_epsilon_inside_ranges_is_caught() {
    let numbers = numbers(5, [1, 2, 1]);
    let [asked, larger] = [1.0, 2.5].map(|epsilon| task(epsilon, std::slice::from_ref(&numbers)));
    let (mut plain, mut leaky) = (honest(&asked, rng(5)), honest(&larger, rng(6)));
    let either = move |input: &[Entry]| {
        let most = |own: &Entry| 10.0 * (own.item + 1) as f64;
        let inside = input
            .iter()
            .any(|own| own.value > -2.0 && own.value < most(own));
        if inside { leaky(input) } else { plain(input) }
    };
    assert_leaks(&asked, &measured(&asked, 40_000, either));
}
