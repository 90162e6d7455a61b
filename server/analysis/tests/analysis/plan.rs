//! Plans for ratings asked alone, whose mechanism is open. Two of people, privacy and accuracy give
//! the third.

use hushbin::Mechanism;
use hushbin::choose::Objective;
use hushbin::mechanism::NeighbouringInputs;
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_analysis::mechanism_optimality::distance_from_best;
use hushbin_analysis::plan::{
    Plan, PlanError, PlanVerdictKind, SolvedQuantity, Survey, plan_survey,
};
use proptest::prelude::*;
use proptest::{collection, option};
use serde_json::{Value, json};

/// Returns the survey of ratings with these fields, each where it belongs; `null` leaves a field
/// out.
fn survey(fields: &Value) -> serde_json::Result<Survey> {
    let mut question = json!({ "name": "", "kind": "ratings", "value": "sign" });
    let (mut auto, mut wanted) = (json!({ "name": "auto" }), json!({}));
    let mut whole = json!({});
    for (name, value) in fields.as_object().unwrap() {
        let part = match name.as_str() {
            "items" | "sparsity" | "entries" | "value" => &mut question,
            "objective" | "level" => &mut auto,
            "standard_error" | "smallest_frequency" => &mut wanted,
            _ => &mut whole,
        };
        part[name] = value.clone();
    }
    question["mechanism"] = auto;
    whole["questions"] = json!([question]);
    whole["wanted"] = json!({ "": wanted });
    serde_json::from_value(whole)
}

fn ask(of: &Value) -> Result<Plan, PlanError> {
    plan_survey(&survey(of).unwrap())
}

/// Returns the objective of a base.
fn objective(base: &Value) -> Objective {
    match base["objective"].as_str() {
        Some("frequency") => Objective::FREQUENCY_ONLY,
        _ => Objective::MEAN_ONLY,
    }
}

/// Returns `base` with these fields.
fn with(base: &Value, fields: Value) -> Value {
    let mut merged = base.clone();
    let Value::Object(fields) = fields else {
        panic!("fields are an object");
    };
    merged.as_object_mut().unwrap().extend(fields);
    merged
}

fn bases() -> Vec<Value> {
    vec![
        json!({ "items": 4, "sparsity": 4 }),
        json!({ "items": 40, "sparsity": 3, "objective": "frequency" }),
        json!({ "items": 1378, "sparsity": 6, "value": "real" }),
        json!({ "items": 300, "entries": [5, 60, 20, 10, 5] }),
        json!({ "items": 200, "sparsity": 16, "level": "event" }),
        json!({ "items": "open", "sparsity": 2 }),
    ]
}

#[test]
fn people_found_are_enough_and_hardly_too_many() {
    for base in bases() {
        for privacy in [json!({ "epsilon": 1.0 }), json!({ "central_epsilon": 0.2 })] {
            let base = with(&base, privacy);
            let answer = ask(&with(&base, json!({ "standard_error": 0.02 }))).unwrap();
            assert_eq!(answer.solved_for, SolvedQuantity::People);
            assert!(answer.questions[0].error <= 0.02, "{base}");
            let fewer = answer.people * 98 / 100;
            let fewer = ask(&with(&base, json!({ "people": fewer }))).unwrap();
            assert!(fewer.questions[0].error > 0.02, "{base}: {answer:?}");
        }
    }
}

#[test]
fn distances_are_of_the_task_and_the_objective() {
    for base in bases() {
        let answer = ask(&with(&base, json!({ "people": 1000, "epsilon": 1.0 }))).unwrap();
        let objective = objective(&base);
        let task = &answer.task;
        let expected = distance_from_best(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            1.0,
            &objective,
        );
        assert_eq!(answer.questions[0].distance, expected, "{base}");
        // There is no distance over an open domain, nor for protection of single entries.
        let whole =
            task.questions()[0].mechanism().neighbours() == NeighbouringInputs::AnyTwoInputs;
        let known = base["items"] != "open" && whole;
        // Clipping mechanisms have none either. They are not chosen if the sparsity is given.
        if base.get("sparsity").is_some() {
            assert_eq!(expected.is_some(), known, "{base}");
        }
    }
}

#[test]
fn a_local_epsilon_found_is_enough_and_hardly_too_much() {
    for base in bases() {
        let base = with(&base, json!({ "people": 100_000 }));
        let answer = ask(&with(&base, json!({ "smallest_frequency": 0.05 }))).unwrap();
        assert_eq!(answer.solved_for, SolvedQuantity::Epsilon);
        assert!(
            answer.questions[0].smallest_frequency.unwrap() <= 0.05,
            "{base}"
        );
        let less = answer.epsilon * 0.985;
        let less = ask(&with(&base, json!({ "epsilon": less }))).unwrap();
        assert!(
            less.questions[0].error > answer.questions[0].wanted_error.unwrap(),
            "{base}"
        );
    }
}

#[test]
fn a_central_epsilon_is_kept_to_by_all_that_is_offered() {
    for base in bases() {
        for central in [0.01, 0.2, 1.0] {
            for local in [0.3, 2.0, 8.0] {
                let asked = json!({
                    "people": 20_000, "central_epsilon": central, "epsilon": local,
                    "honest_fraction": 0.8,
                });
                let answer = ask(&with(&base, asked)).unwrap();
                let others = answer.others.iter();
                let others = others.map(|other| (other.epsilon, other.central));
                for (epsilon, batch) in others.chain([(answer.epsilon, answer.central)]) {
                    assert!(epsilon <= local);
                    let batch = batch.unwrap();
                    assert_eq!(batch.honest_reports, 16_000);
                    assert!(
                        batch.central_epsilon <= central,
                        "{base}, {central}, {local}: {answer:?}"
                    );
                }
                let again = ReportMixture::for_task(&answer.task).unwrap();
                let again = compute_batch_privacy(&again, 20_000, 0.8, 1e-8).unwrap();
                assert_eq!(Some(again), answer.central);
            }
        }
    }
}

/// If hiding is wanted, more buckets with a larger local ε are better than the best parameters for
/// the local ε alone.
#[test]
fn hiding_is_planned_for_and_not_only_checked() {
    let base = json!({ "items": 1378, "sparsity": 6, "people": 50_000 });
    let planned = ask(&with(
        &base,
        json!({ "central_epsilon": 0.1, "epsilon": 4.0 }),
    ))
    .unwrap();
    // Largest local ε whose own best parameters hide equally well.
    let (mut low, mut high) = (0.1, 4.0);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        let answer = ask(&with(&base, json!({ "epsilon": middle }))).unwrap();
        if answer.central.unwrap().central_epsilon <= 0.1 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let checked = ask(&with(&base, json!({ "epsilon": low }))).unwrap();
    let ratio = planned.questions[0].error / checked.questions[0].error;
    assert!(ratio < 0.85, "{ratio}");
}

#[test]
fn others_say_what_they_would_have_cost() {
    let base = json!({ "items": 1378, "sparsity": 6, "epsilon": 1.0 });
    let answer = ask(&with(
        &base,
        json!({ "people": 50_000, "people_per_day": 4000 }),
    ))
    .unwrap();
    assert_eq!(answer.days, Some(12.5));
    assert_eq!(answer.people, 50_000);
    let error = answer.questions[0].error;
    let names: Vec<&str> = answer.others.iter().map(|o| o.mechanism.name()).collect();
    assert_eq!(names, ["collision", "hash-bin"]);
    for other in &answer.others {
        let people = other.people.unwrap();
        assert!(people > 50_000.0);
        // The alternative's error at this number of people.
        let at = ask(&with(&base, json!({ "people": people as u64 }))).unwrap();
        let name = other.mechanism.name();
        let same = at
            .others
            .iter()
            .find(|o| o.mechanism.name() == name)
            .unwrap();
        if matches!(same.mechanism, Mechanism::Collision(_)) {
            assert!((same.error.unwrap() / error - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn noise_is_called_noise() {
    let kind = |of: Value| ask(&of).unwrap().verdict;
    let few = json!({ "items": 1000, "sparsity": 5, "epsilon": 0.5, "people": 100 });
    let verdict = kind(few.clone());
    assert_eq!(verdict.kind, PlanVerdictKind::Noise);
    assert!(verdict.text.contains("noise"), "{}", verdict.text);
    let more = with(&few, json!({ "people": 1_000_000 }));
    assert_eq!(kind(more.clone()).kind, PlanVerdictKind::FrequentOnly);
    let many = with(&few, json!({ "people": 1_000_000_000_u64 }));
    assert_eq!(kind(many).kind, PlanVerdictKind::Useful);
    let verdict = kind(with(&more, json!({ "standard_error": 0.001 })));
    assert_eq!(verdict.kind, PlanVerdictKind::Missed);
    // The stated number of people suffices.
    let people: String = verdict
        .text
        .split("you need ")
        .nth(1)
        .unwrap()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    let people: u64 = people.parse().unwrap();
    let reached = with(&more, json!({ "standard_error": 0.001, "people": people }));
    assert_ne!(kind(reached).kind, PlanVerdictKind::Missed);
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let base = json!({ "items": 40, "sparsity": 3, "people": 1000, "epsilon": 1.0 });
    let cases = [
        (
            json!({ "epsilon": 20 }),
            "epsilon is 20, expected 0.001 to 12",
            Some("epsilon"),
        ),
        (
            json!({ "people": 0 }),
            "people is 0, expected 1 to 1000000000000",
            Some("people"),
        ),
        (
            json!({ "sparsity": 41 }),
            "sparsity is 41, expected 1 to 40",
            Some("sparsity"),
        ),
        (json!({ "delta": 0.5 }), "delta is 0.5", Some("delta")),
        (
            json!({ "honest_fraction": 0 }),
            "honest_fraction is 0",
            Some("honest_fraction"),
        ),
        (
            json!({ "people_per_day": -1 }),
            "people_per_day is -1",
            Some("people_per_day"),
        ),
        (
            json!({ "standard_error": 0 }),
            "standard_error is 0",
            Some("standard_error"),
        ),
        (
            json!({ "smallest_frequency": 2 }),
            "smallest_frequency is 2",
            Some("smallest_frequency"),
        ),
        (
            json!({ "central_epsilon": 13 }),
            "central_epsilon is 13",
            Some("central_epsilon"),
        ),
        (
            json!({ "sparsity": null }),
            "a task needs a \"sparsity\"",
            None,
        ),
        (json!({ "epsilon": null }), "expected two of three", None),
        (
            json!({ "objective": { "mean": -1, "frequency": 1 } }),
            "the weights",
            None,
        ),
        (
            json!({ "epsilon": null, "standard_error": 1e-6 }),
            "not even a local ε of 12 brings every error of 1,000 people to what is wanted:",
            None,
        ),
    ];
    for (fields, text, field) in cases {
        let error = ask(&with(&base, fields.clone())).unwrap_err();
        assert!(error.to_string().contains(text), "{fields}: {error}");
        assert_eq!(error.out_of_range_field_name(), field, "{fields}");
    }
    // Bias that no number of people reduces.
    let biased = json!({
        "items": 10, "entries": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "sparsity": 1, "epsilon": 1.0,
        "objective": "frequency",
        "standard_error": 0.001,
    });
    let error = ask(&biased).unwrap_err();
    assert_eq!(error.code(), "out-of-reach");
    assert!(error.to_string().contains("no number of people"), "{error}");
    for unknown in [
        json!({ "epsilom": 1 }),
        json!({ "items": -1 }),
        json!({ "level": "none" }),
    ] {
        assert!(survey(&with(&base, unknown)).is_err());
    }
}

/// Strategy for `None`, or a number between these powers of ten.
fn maybe(low: f64, high: f64) -> impl Strategy<Value = Option<f64>> {
    option::of((low..high).prop_map(|exponent| 10_f64.powf(exponent)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Every question has an answer that keeps its promises, or a reason.
    #[test]
    fn any_question_is_answered_or_refused(
        items in option::of(1_u32..400),
        sparsity in option::of(1_u32..12),
        entries in option::of(collection::vec(0_u64..100, 1..8)),
        people in maybe(0.0, 12.0),
        epsilon in maybe(-3.1, 1.1),
        central in maybe(-3.1, 1.1),
        delta in -15.5..-0.9_f64,
        honest in maybe(-6.0, 0.0),
        wanted in maybe(-6.0, 0.1),
        smallest in maybe(-6.0, 0.1),
        frequency in any::<bool>(),
        event in any::<bool>(),
    ) {
        let asked = survey(&json!({
            "items": items.map_or(json!("open"), |items| json!(items)),
            "sparsity": sparsity, "entries": entries,
            "people": people.map(|people| people as u64),
            "epsilon": epsilon, "central_epsilon": central, "delta": 10_f64.powf(delta),
            "honest_fraction": honest.unwrap_or(1.0), "standard_error": wanted,
            "smallest_frequency": smallest, "level": if event { "event" } else { "user" },
            "objective": if frequency { "frequency" } else { "mean" },
        })).unwrap();
        match plan_survey(&asked) {
            Ok(answer) => {
                let picked = &answer.questions[0];
                prop_assert!(picked.error > 0.0);
                prop_assert!(epsilon.is_none_or(|most| answer.epsilon <= most));
                prop_assert!(answer.effective_epsilon <= answer.epsilon);
                if let Some(most) = central {
                    prop_assert!(answer.central.unwrap().central_epsilon <= most, "{asked:?}");
                }
                if answer.solved_for != SolvedQuantity::Error {
                    let wanted = picked.wanted_error.unwrap();
                    // Equal up to floating-point roundings.
                    prop_assert!(picked.error <= wanted * (1.0 + 1e-9), "{asked:?}: {answer:?}");
                }
            }
            Err(error) => prop_assert!(error.to_string().len() > 10),
        }
    }
}
