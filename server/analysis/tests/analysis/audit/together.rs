//! Questions asked together: what reports reveal about all answers at once, and leaks that are
//! caught.

use hushbin::{Entry, Report, Task, TaskDraft};
use hushbin_analysis::audit::{
    AuditVerdict, DEFAULT_MAX_ENUMERATION_STEPS, audit_report_task, enumerate_max_loss,
    measure_privacy_loss, upload_appender,
};
use hushbin_analysis::likelihood::{core_bucket_probability_fn, neighbour_pairs};
use serde_json::{Value, json};

use super::{CONFIDENCE, TrialPlan, assert_leaks, honest, measured, rng};

/// Parts with these numbers of options; parts with two options are flags.
fn parts(options: &[u32]) -> Value {
    let part = |(at, &count): (usize, &u32)| match count {
        2 => json!({ "name": format!("f{at}"), "kind": "flag" }),
        _ => json!({ "name": format!("c{at}"), "kind": "choice", "options": count }),
    };
    let of: Vec<Value> = options.iter().enumerate().map(part).collect();
    json!({ "name": "all", "kind": "together", "of": of })
}

fn task(epsilon: f64, questions: &[Value]) -> Task {
    let file = json!({ "id": "together", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// The enumeration covers exactly the complete answers, and the loss between them is at most the
/// effective ε. The measured loss is at most the requested ε, for a question alone and among
/// several.
#[test]
fn answers_together_keep_within_their_budget() {
    for (options, epsilon) in [
        (&[2, 2][..], 1.0),
        (&[2, 2, 2, 2], 3.0),
        (&[3, 2, 4], 2.0),
        (&[5, 2], 4.0),
    ] {
        let task = task(epsilon, &[parts(options)]);
        let question = &task.questions()[0];
        let core = core_bucket_probability_fn(question).unwrap();
        let found =
            enumerate_max_loss(question, DEFAULT_MAX_ENUMERATION_STEPS, &mut rng(1), core).unwrap();
        assert_eq!(
            found.input_count,
            options.iter().map(|own| u64::from(*own)).product::<u64>()
        );
        let effective = task.achieved_report_epsilon();
        assert!(
            found.privacy_loss - found.loss_rounding_error <= effective,
            "{found:?}"
        );
        assert!(found.privacy_loss > 0.9 * effective, "{found:?}");

        let plan = TrialPlan::new(&task, Some(4000), CONFIDENCE).unwrap();
        let found = audit_report_task(&task, &plan, &mut rng(2), |_, _| {});
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
    }
    let beside = [parts(&[2, 3]), json!({ "name": "beta", "kind": "flag" })];
    let task = task(1.0, &beside);
    let plan = TrialPlan::new(&task, Some(4000), CONFIDENCE).unwrap();
    let found = measure_privacy_loss(&task, &plan, upload_appender(&task, rng(3)), |_, _| {});
    assert!(found.lower_bound <= 1.0, "{found:?}");
}

/// The enumeration detects a core with the thresholds of a larger budget.
#[test]
fn larger_thresholds_are_enumerated() {
    let [asked, larger] = [2.0, 2.2].map(|epsilon| {
        let mut all = parts(&[2, 3]);
        all["mechanism"] = json!({ "name": "collision", "rule": "heaviest", "favoured": 2,
            "hashing": "balanced", "buckets": 5 });
        task(epsilon, &[all])
    });
    let core = core_bucket_probability_fn(&larger.questions()[0]).unwrap();
    let found = enumerate_max_loss(
        &asked.questions()[0],
        DEFAULT_MAX_ENUMERATION_STEPS,
        &mut rng(1),
        core,
    )
    .unwrap();
    assert!(found.certainly_exceeds_epsilon(2.0), "{found:?}");
}

#[test]
fn pairs_differ_in_one_part_and_in_all() {
    let task = task(1.0, &[parts(&[2, 3, 2])]);
    let differ = |[a, b]: &[Vec<Entry>; 2]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    let pairs = neighbour_pairs(&task.questions()[0]);
    let found: Vec<usize> = pairs.iter().map(|pair| differ(&pair.inputs)).collect();
    assert_eq!(found, [3, 1, 1]);
}

/// The measured bound comes close to the true loss. The audit catches a larger budget for all or
/// for some answers, and an occasional answer in clear.
#[test]
fn leaks_of_answers_together_are_caught() {
    let all = parts(&[2, 2, 3]);
    let [asked, larger] = [1.0, 2.5].map(|epsilon| {
        let mut all = all.clone();
        all["mechanism"] = json!({ "name": "collision", "rule": "heaviest", "favoured": 3,
            "hashing": "balanced", "buckets": 7 });
        task(epsilon, &[all])
    });
    let found = measured(&asked, 50_000, honest(&asked, rng(1)));
    assert!((0.8..=1.0).contains(&found.lower_bound), "{found:?}");
    assert_leaks(&asked, &measured(&asked, 20_000, honest(&larger, rng(4))));
    let (mut plain, mut leaky) = (honest(&asked, rng(5)), honest(&larger, rng(6)));
    let for_some = move |input: &[Entry]| {
        if input[2].value > 0.0 {
            leaky(input)
        } else {
            plain(input)
        }
    };
    assert_leaks(&asked, &measured(&asked, 40_000, for_some));
    let (mut plain, mut turn) = (honest(&asked, rng(7)), 0);
    let clear = move |input: &[Entry]| {
        let mut report = plain(input);
        turn += 1;
        if let (Report::Collision(report), true) = (&mut report, turn % 3 == 0) {
            report.bucket = input[0].value as u32;
        }
        report
    };
    assert_leaks(&asked, &measured(&asked, 40_000, clear));
}
