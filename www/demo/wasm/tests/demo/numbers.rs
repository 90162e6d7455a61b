//! Tests of explained reports of numbers.

use hushbin::hash::for_each_drawn_item;
use hushbin::mechanism::window;
use hushbin::{Mechanism, Report, Task, TaskDraft};
use hushbin_demo::explain::{AnswerPlacement, Explainer, Reported};
use serde_json::{Value, json};

/// Returns a task for five numbers from −1 to 1 at ε = 2.
fn task(mechanism: &Value) -> Task {
    let of: Vec<Value> = (0..5)
        .map(|index| json!({ "name": format!("n{index}"), "min": -1, "max": 1 }))
        .collect();
    let question = json!({ "name": "all", "kind": "numbers", "of": of, "mechanism": mechanism });
    let file = json!({ "id": "t", "epsilon": 2.0, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Probabilities of the atoms of each attribute, and likelihoods of whole reports, must sum to 1. A
/// number without an answer is in the middle.
#[test]
fn reports_of_the_window_are_explained() {
    let task = task(
        &json!({ "name": "window", "drawn": 3, "atoms": 5, "favoured": 2,
        "values": [3, 6] }),
    );
    let question = &task.questions()[0];
    let Mechanism::Window(own) = question.mechanism() else {
        panic!("the window was asked for")
    };
    let rates = own.estimate_scale_and_variance(&question.domain(), 2.0);
    let explainer = Explainer::new(&task).unwrap();
    let answers = explainer.signed_answers([("n0", 1), ("n3", -1)]).unwrap();
    for seed in 0..20 {
        let report = |bucket| Report::Window(window::Report { seed, bucket });
        let chance = |bucket| {
            let likelihood = explainer.log_likelihood(&answers, &report(bucket));
            likelihood.unwrap().exp()
        };
        let chances: Vec<f64> = (0..125).map(chance).collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let AnswerPlacement::Atoms { drawn } = explainer.place(&answers, &report(0)).unwrap()
        else {
            panic!("atoms are drawn")
        };
        let mut order = Vec::new();
        for_each_drawn_item(seed, 5, 3, |attribute| order.push(attribute));
        assert_eq!(order, drawn.iter().map(|own| own.item).collect::<Vec<_>>());
        for (index, own) in (0..).zip(&drawn) {
            // Favoured share of each atom. In the middle, each level contributes one half.
            let favoured = match own.item {
                0 => [0.0, 0.0, 0.0, 1.0, 1.0],
                3 => [1.0, 1.0, 0.0, 0.0, 0.0],
                _ => [0.0, 0.5, 1.0, 0.5, 0.0],
            };
            for (atom, outcome) in own.atoms.iter().enumerate() {
                let expected = rates.unfavoured_atom_probability
                    + rates.favoured_probability_gap * favoured[atom];
                assert!((outcome.chance - expected).abs() < 1e-12, "{own:?}");
                let answered = favoured[atom] == 1.0 && [0, 3].contains(&own.item);
                assert_eq!(outcome.answers.len(), usize::from(answered));
                let cells = (0..125_usize).filter(|cell| cell / 5_usize.pow(2 - index) % 5 == atom);
                let sum: f64 = cells.map(|cell| chances[cell]).sum();
                assert!((sum - expected).abs() < 1e-12);
            }
        }
        assert_eq!(
            explainer.reported(&report(25 * 4 + 5 + 2)).unwrap(),
            Reported::Atoms {
                values: vec![1.0, -0.5, 0.0]
            }
        );
    }
}
