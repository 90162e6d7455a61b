//! Patterns: what they reveal about a number's bin, and leaks that are caught.

use hushbin::{Entry, Report, Task, TaskDraft};
use hushbin_analysis::audit::{
    AuditVerdict, DEFAULT_MAX_ENUMERATION_STEPS, audit_report_task, enumerate_max_loss,
};
use hushbin_analysis::likelihood::core_bucket_probability_fn;
use serde_json::json;

use super::{CONFIDENCE, TrialPlan, assert_leaks, honest, measured, rng};

fn task(epsilon: f64, bins: u32) -> Task {
    let file = json!({ "id": "waits", "epsilon": epsilon, "questions": [{ "name": "wait",
        "kind": "number", "min": 0, "max": bins, "bins": bins, "want": "quantiles" }] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// The enumerated loss over all bins is the effective ε. The measured loss is at most the requested
/// ε, and close to it.
#[test]
fn patterns_keep_within_their_budget() {
    for (epsilon, bins) in [(0.5, 8), (1.0, 64), (3.0, 16), (1.0, 5)] {
        let task = task(epsilon, bins);
        let question = &task.questions()[0];
        assert_eq!(question.mechanism().name(), "pattern");
        let core = core_bucket_probability_fn(question).unwrap();
        let found =
            enumerate_max_loss(question, DEFAULT_MAX_ENUMERATION_STEPS, &mut rng(1), core).unwrap();
        let effective = task.achieved_report_epsilon();
        assert!(
            (found.privacy_loss - effective).abs() <= found.loss_rounding_error,
            "{found:?}"
        );
        let plan = TrialPlan::new(&task, Some(4000), CONFIDENCE).unwrap();
        let found = audit_report_task(&task, &plan, &mut rng(2), |_, _| {});
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
        assert_eq!(found.exact_epsilon, Some(effective));
        let found = measured(&task, 50_000, honest(&task, rng(3)));
        assert!(found.lower_bound > 0.5 * epsilon, "{found:?}");
        assert!(found.lower_bound <= epsilon, "{found:?}");
    }
}

#[test]
fn leaks_of_patterns_are_caught() {
    let [asked, larger] = [1.0, 2.5].map(|epsilon| {
        // The same pattern, sampled for another budget.
        let mut file = serde_json::to_value(task(1.0, 8)).unwrap();
        file["epsilon"] = json!(epsilon);
        serde_json::from_value::<Task>(file).unwrap()
    });
    assert_leaks(&asked, &measured(&asked, 20_000, honest(&larger, rng(4))));
    // Some reports contain the bin in clear.
    let (mut plain, mut turn) = (honest(&asked, rng(7)), 0);
    let clear = move |input: &[Entry]| {
        let mut report = plain(input);
        turn += 1;
        if let (Report::Pattern(report), true) = (&mut report, turn % 3 == 0) {
            report.bucket = input[0].value as u32;
        }
        report
    };
    assert_leaks(&asked, &measured(&asked, 40_000, clear));
}
