//! Texts: what a prefix reveals about them, and leaks that are caught.

use hushbin::hash::{HashKeys, independent_bucket};
use hushbin::task::{PrefixLengths, QuestionKind};
use hushbin::{Entry, Report, Task, TaskDraft};
use hushbin_analysis::audit::{
    AuditVerdict, audit_report_task, measure_privacy_loss, upload_appender,
};
use serde_json::{Value, json};

use super::seeds::suited;
use super::{CONFIDENCE, TrialPlan, assert_leaks, honest, measured, rng};

const T: u32 = 4;

fn text(prefixes: &[u32]) -> Value {
    json!({
        "name": "query", "kind": "text", "prefixes": prefixes,
        "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "independent", "buckets": T },
    })
}

fn task(epsilon: f64, questions: &[Value]) -> Task {
    let file = json!({ "id": "texts", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// A text question alone, and with a question of another kind. The measured bound is close if all
/// prefixes differ.
#[test]
fn texts_keep_within_their_budget() {
    for (epsilon, prefixes) in [(0.5, &[2][..]), (1.0, &[1, 2, 4]), (3.0, &[2, 4, 4])] {
        let task = task(epsilon, &[text(prefixes)]);
        let plan = TrialPlan::new(&task, Some(20_000), CONFIDENCE).unwrap();
        let found = audit_report_task(&task, &plan, &mut rng(2), |_, _| {});
        assert_eq!(found.verdict, AuditVerdict::WithinBudget, "{found:?}");
        assert!(found.measured.lower_bound > 0.7 * epsilon, "{found:?}");
    }
    let both = [text(&[1, 3]), json!({ "name": "beta", "kind": "flag" })];
    let task = task(1.0, &both);
    let plan = TrialPlan::new(&task, Some(20_000), CONFIDENCE).unwrap();
    let found = measure_privacy_loss(&task, &plan, upload_appender(&task, rng(3)), |_, _| {});
    assert!(found.lower_bound <= 1.0, "{found:?}");
}

#[test]
fn leaks_of_texts_are_caught() {
    let asked = task(1.0, &[text(&[1, 2, 4])]);
    let QuestionKind::Text(prefixes) = asked.questions()[0].kind().clone() else {
        unreachable!()
    };
    // Sampled for a larger budget.
    let larger = task(2.0, &[text(&[1, 2, 4])]);
    assert_leaks(&asked, &measured(&asked, 20_000, honest(&larger, rng(4))));
    // The shortest prefix is reported only if the text continues with the secret.
    let secret = PrefixLengths::prefix_hash("aaa", 2);
    let shortest_where_secret = |seed: u64, input: &[Entry]| {
        (prefixes.drawn_prefix_index(seed) == 0) == (input[1].item == secret)
    };
    let found = measured(&asked, 20_000, suited(&asked, 1, &shortest_where_secret));
    assert_leaks(&asked, &found);
    // Some reports contain the prefix's bucket in clear.
    let (mut plain, mut turn) = (honest(&asked, rng(7)), 0);
    let clear = |input: &[Entry]| {
        let mut report = plain(input);
        turn += 1;
        if let (Report::Collision(report), true) = (&mut report, turn % 3 == 0) {
            let told = input[prefixes.drawn_prefix_index(report.seed)].item;
            report.bucket = independent_bucket(&HashKeys::new(report.seed), told, T);
        }
        report
    };
    assert_leaks(&asked, &measured(&asked, 20_000, clear));
}
