//! Reports of numbers explained: by the cube and on the grid.

use hushbin::domain::Signed;
use hushbin::hash::for_each_drawn;
use hushbin::mechanism::{cube, grid};
use hushbin::{Mechanism, Report, Task, TaskDraft};
use hushbin_analysis::estimate::Estimand;
use hushbin_demo::explain::{Explainer, Placement, Reported};
use serde_json::{Value, json};

/// A task for five numbers from −1 to 1 at ε = 2.
fn task(mechanism: &Value) -> Task {
    let of: Vec<Value> = (0..5)
        .map(|index| json!({ "name": format!("n{index}"), "min": -1, "max": 1 }))
        .collect();
    let question = json!({ "name": "all", "kind": "numbers", "of": of, "mechanism": mechanism });
    let file = json!({ "id": "t", "epsilon": 2.0, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve().unwrap()
}

/// Chances of the sides of each attribute, and likelihoods of whole reports, add up; what
/// is not answered is as likely either way.
#[test]
fn reports_of_the_cube_are_explained() {
    let task = task(&json!({ "name": "cube", "drawn": 3, "agreements": 2 }));
    let question = &task.questions()[0];
    let Mechanism::Cube(own) = question.mechanism() else {
        panic!("the cube was asked for")
    };
    let rates = own.rates(&question.domain(), 2.0);
    let explainer = Explainer::new(&task).unwrap();
    assert_eq!(explainer.estimands(), [Estimand::Mean]);
    let answers = explainer
        .answers([("n0", 1), ("n3", -1), ("n4", 1)])
        .unwrap();
    let signed = |(item, negative)| Signed { item, negative };
    assert_eq!(answers, [(0, false), (3, true), (4, false)].map(signed));
    for seed in 0..20 {
        let report = |signs: u64| {
            Report::Cube(cube::Report {
                seed,
                drawn: 3,
                signs,
            })
        };
        let chance = |signs| {
            explainer
                .log_likelihood(&answers, &report(signs))
                .unwrap()
                .exp()
        };
        let chances: Vec<f64> = (0..8).map(chance).collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let Placement::Attributes { drawn } = explainer.place(&answers, &report(0)).unwrap() else {
            panic!("attributes are drawn")
        };
        let mut order = Vec::new();
        for_each_drawn(seed, 5, 3, |attribute| order.push(attribute));
        assert_eq!(order, drawn.iter().map(|own| own.item).collect::<Vec<_>>());
        for (index, own) in drawn.iter().enumerate() {
            let value = match own.item {
                0 | 4 => 1.0,
                3 => -1.0,
                _ => 0.0,
            };
            // A sign is plus with probability (1 + v/B)/2.
            let plus = 0.5 * (1.0 + value * rates.gap);
            assert!((own.plus.chance - plus).abs() < 1e-12, "{own:?}");
            assert!((own.minus.chance - (1.0 - plus)).abs() < 1e-12);
            let [pluses, minuses] = [own.plus.answers.len(), own.minus.answers.len()];
            assert_eq!(pluses as f64 - minuses as f64, value);
            let pushed: f64 = (0..8_usize)
                .filter(|signs| signs >> index & 1 == 1)
                .map(|signs| chances[signs])
                .sum();
            assert!((pushed - plus).abs() < 1e-12);
        }
        assert_eq!(
            explainer.reported(&report(0b101)).unwrap(),
            Reported::Corner {
                pluses: vec![true, false, true]
            }
        );
    }
}

/// Chances of the levels of each attribute, and likelihoods of whole reports, add up; what
/// is not answered is in the middle.
#[test]
fn reports_of_the_grid_are_explained() {
    let task = task(&json!({ "name": "grid", "drawn": 3, "steps": 2 }));
    let question = &task.questions()[0];
    let Mechanism::Grid(own) = question.mechanism() else {
        panic!("the grid was asked for")
    };
    let rates = own.rates(&question.domain(), 2.0);
    let explainer = Explainer::new(&task).unwrap();
    let answers = explainer.answers([("n0", 1), ("n3", -1)]).unwrap();
    for seed in 0..20 {
        let report = |bucket| Report::Grid(grid::Report { seed, bucket });
        let chance = |bucket| {
            let likelihood = explainer.log_likelihood(&answers, &report(bucket));
            likelihood.unwrap().exp()
        };
        let chances: Vec<f64> = (0..27).map(chance).collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let Placement::Levels { drawn } = explainer.place(&answers, &report(0)).unwrap() else {
            panic!("levels are drawn")
        };
        let mut order = Vec::new();
        for_each_drawn(seed, 5, 3, |attribute| order.push(attribute));
        assert_eq!(order, drawn.iter().map(|own| own.item).collect::<Vec<_>>());
        for (index, own) in (0..).zip(&drawn) {
            let at = match own.item {
                0 => 2,
                3 => 0,
                _ => 1,
            };
            for (level, outcome) in own.levels.iter().enumerate() {
                let uniform = (1.0 - rates.kept) / 3.0;
                let expected = uniform + if level == at { rates.kept } else { 0.0 };
                assert!((outcome.chance - expected).abs() < 1e-12, "{own:?}");
                let answered = level == at && at != 1;
                assert_eq!(outcome.answers.len(), usize::from(answered));
                let cells = (0..27_usize).filter(|cell| cell / 3_usize.pow(index) % 3 == level);
                let sum: f64 = cells.map(|cell| chances[cell]).sum();
                assert!((sum - expected).abs() < 1e-12);
            }
        }
        assert_eq!(
            explainer.reported(&report(2 + 9)).unwrap(),
            Reported::Levels {
                values: vec![1.0, -1.0, 0.0]
            }
        );
    }
}
