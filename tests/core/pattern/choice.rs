//! The choice of patterns, tasks with patterns, and refusals.

use hushbin::choose::pattern::ParametersDraft;
use hushbin::domain::Domain;
use hushbin::mechanism::pattern::Pattern;
use hushbin::{ErrorCode, Mechanism, Task, TaskDraft};
use serde_json::{Value, json};

use super::{number, rows, variances, whole};

fn draft(question: &Value, epsilon: f64) -> TaskDraft {
    let mut question = question.clone();
    question["name"] = json!("load");
    question["kind"] = json!("number");
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

fn of_task(task: &Task) -> &Pattern {
    let Mechanism::Pattern(own) = task.questions()[0].mechanism() else {
        panic!("{task:?}");
    };
    own
}

/// Score of the reference by which patterns are chosen: V has the weight 1/4, V8 has 3/4.
fn score(row: &Value) -> f64 {
    0.25 * number(row, "V").ln() + 0.75 * number(row, "V8").ln()
}

/// No pattern of the reference is more than 3 per cent better than the chosen one.
#[test]
fn the_chosen_are_as_good_as_the_best_known() {
    for row in rows() {
        let (cells, epsilon) = (whole(&row, "K"), number(&row, "epsilon"));
        let chosen = Pattern::choose_parameters(
            &Domain::with_exact_entry_count(cells, 1),
            epsilon,
            &ParametersDraft::default(),
        )
        .unwrap();
        let best = rows()
            .into_iter()
            .filter(|own| whole(own, "K") == cells && number(own, "epsilon") == epsilon);
        let best = best.min_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
        let [sharp, smooth] = variances(&chosen.share_estimator(cells, epsilon));
        let ratio = (0.25 * sharp.ln() + 0.75 * smooth.ln() - score(&best)).exp();
        assert!(ratio < 1.03, "{}: {ratio}", row["name"]);
    }
}

/// Sizes and budgets between the known ones lose little: V is at most a fifth above that of the
/// neighbouring sizes and budgets.
#[test]
fn patterns_serve_other_sizes_and_budgets() {
    for (cells, epsilon, most) in [
        (50, 1.0, 17.0),
        (64, 0.7, 30.0),
        (100, 1.0, 22.5),
        (3, 1.0, 3.0),
    ] {
        let chosen = Pattern::choose_parameters(
            &Domain::with_exact_entry_count(cells, 1),
            epsilon,
            &ParametersDraft::default(),
        )
        .unwrap();
        let rates = chosen.share_estimator(cells, epsilon);
        let [sharp, _] = variances(&rates);
        assert!(sharp < most, "{cells}, {epsilon}: {sharp}");
    }
}

#[test]
fn quantiles_are_asked_by_patterns() {
    let asked = json!({ "min": 0, "max": 30, "want": "quantiles" });
    let draft = draft(&asked, 1.0);
    let task = draft.resolve_task().unwrap();
    assert_eq!(task.questions()[0].items().item_count(), Some(64));
    assert_eq!(of_task(&task).output_count(), 80);
    draft.check_agrees_with(&task).unwrap();
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(serde_json::from_value::<Task>(file).unwrap(), task);
    assert_eq!(
        Task::from_canonical_bytes(&task.canonical_bytes()).unwrap(),
        task
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bins = json!({ "edges": [0, 1, 2, 3, 4] });
    let with = |mechanism: Value| {
        let mut question = bins.clone();
        question["mechanism"] = mechanism;
        draft(&question, 1.0)
            .resolve_task()
            .map(|_| ())
            .unwrap_err()
            .code()
    };
    let own = |outputs: u32, favoured: &[u32]| {
        with(json!({ "name": "pattern", "outputs": outputs, "favoured": favoured }))
    };
    for code in [
        own(3, &[0]),
        own(6, &[]),
        own(6, &[0, 1, 2, 3, 4, 5]),
        own(6, &[1, 0]),
        own(6, &[0, 6]),
        // Opposite outputs cannot distinguish opposite bins.
        own(4, &[0, 2]),
        with(json!({ "name": "pattern", "outputs": 6 })),
    ] {
        assert_eq!(code, ErrorCode::InvalidCombination);
    }
    assert_eq!(own(1, &[0]), ErrorCode::OutOfRange);
    assert_eq!(own(257, &[0]), ErrorCode::OutOfRange);
    let many = json!({ "min": 0, "max": 1, "bins": 129, "want": "quantiles" });
    assert_eq!(
        draft(&many, 1.0).resolve_task().unwrap_err().code(),
        ErrorCode::InvalidCombination
    );
    let choice = json!({ "id": "t", "epsilon": 1.0, "questions": [{ "name": "q", "kind": "choice",
        "options": 4, "mechanism": { "name": "pattern", "outputs": 6, "favoured": [0, 1] } }] });
    let choice: TaskDraft = serde_json::from_value(choice).unwrap();
    assert_eq!(
        choice.resolve_task().unwrap_err().code(),
        ErrorCode::InvalidCombination
    );
}
