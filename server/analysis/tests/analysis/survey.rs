//! Plans for surveys of one question or several: promised errors are those of reports, and two of
//! people, privacy and accuracy give the third.

use hushbin::choose::compare_separate_with_together;
use hushbin::mechanism::pattern::Pattern;
use hushbin::task::QuestionKind;
use hushbin::{Entry, Question, Randomizer, TaskDraft};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_analysis::estimate::{
    ErrorPredictor, EstimateOptions, EstimateQuery, Estimator, ItemEstimates, PredictedQuantity,
    Totals,
};
use hushbin_analysis::heavy_hitters::DetectableShare;
use hushbin_analysis::plan::{
    DETECTION_POWER, Plan, PlanError, PlanVerdictKind, PlannedEstimateKind, QuestionPlan,
    SolvedQuantity, Survey, plan_survey,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

/// Half-width of an interval at 95%, in standard errors.
const REACH: f64 = 1.959_963_984_540_054;

fn ask(of: &Value) -> Result<Plan, PlanError> {
    let asked: Survey = serde_json::from_value(of.clone()).unwrap();
    plan_survey(&asked)
}

/// Returns the survey with these fields.
fn with(base: &Value, fields: Value) -> Value {
    let mut merged = base.clone();
    let Value::Object(fields) = fields else {
        panic!("fields are an object");
    };
    merged.as_object_mut().unwrap().extend(fields);
    merged
}

fn question(epsilon: f64, of: Value) -> Question {
    let named = with(&json!({ "name": "q" }), of);
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [named] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap().questions()[0].clone()
}

/// Returns one question of each kind, alone, with its wanted accuracy.
fn alone() -> Vec<Value> {
    let one = |question: Value, wanted: Value| {
        let question = with(&json!({ "name": "q" }), question);
        json!({ "questions": [question], "wanted": { "q": wanted } })
    };
    let seconds = json!({ "kind": "number", "min": 0, "max": 30, "unit": "s" });
    let quantiles = with(&seconds, json!({ "want": "quantiles" }));
    vec![
        one(json!({ "kind": "flag" }), json!({ "within": 0.01 })),
        one(
            json!({ "kind": "choice", "options": 40 }),
            json!({ "within": 0.01 }),
        ),
        one(
            json!({ "kind": "set", "options": 16, "sparsity": 4 }),
            json!({ "within": 0.02 }),
        ),
        one(seconds.clone(), json!({ "within": 0.3 })),
        one(
            with(&seconds, json!({ "want": "histogram", "bins": 8 })),
            json!({ "within": 0.02 }),
        ),
        one(quantiles.clone(), json!({ "within": 0.05 })),
        one(
            quantiles,
            json!({ "within": 1.0, "quantile": 0.9, "spread": 5 }),
        ),
        one(
            json!({ "kind": "numbers", "of": [
                { "name": "width", "min": 0, "max": 4000, "unit": "px" },
                { "name": "depth", "min": 0, "max": 1 },
            ] }),
            json!({ "within": 40 }),
        ),
        one(
            json!({ "kind": "cross", "of": [{ "name": "beta", "kind": "flag" },
                { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" }] }),
            json!({ "within": 0.6 }),
        ),
        one(
            json!({ "kind": "ratings", "items": 20, "value": "sign", "sparsity": 2 }),
            json!({ "within": 0.05 }),
        ),
    ]
}

/// Returns a survey of several questions.
fn several() -> Value {
    json!({
        "questions": [
            { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
            { "name": "beta", "kind": "flag" },
            { "name": "features", "kind": "set", "options": 12, "sparsity": 3 },
            { "name": "load", "kind": "number", "min": 0, "max": 30, "unit": "s" },
            { "name": "wait", "kind": "number", "min": 1, "max": 100, "want": "quantiles",
              "spacing": "logarithmic", "bins": 12 },
            { "name": "screen", "kind": "numbers", "of": [
                { "name": "width", "min": 0, "max": 4000, "unit": "px" },
                { "name": "depth", "min": 0, "max": 1 } ] },
        ],
        "wanted": {
            "theme": { "within": 0.01 }, "beta": { "within": 0.02 },
            "features": { "within": 0.03 }, "load": { "within": 0.4 },
            "wait": { "within": 0.03, "quantile": 0.9 },
            "screen": { "within": 0.02, "number_name": "depth" },
        },
    })
}

/// The worst case over all ways in which 6 bins go to 3 buckets of two slots, and over all reports.
#[test]
fn the_worst_distribution_is_the_worst_of_all_edges() {
    let (bins, buckets, epsilon) = (6_u32, 3_u32, 1.0_f64);
    let asked = json!({ "kind": "number", "edges": [0, 1, 2, 3, 4, 5, 6], "want": "quantiles",
        "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "balanced", "buckets": buckets } });
    let predictor = ErrorPredictor::for_question(&question(epsilon, asked));
    let e = epsilon.exp();
    let (p, t) = (e / (e + 2.0), 3.0);
    let q = (2.0 - p) / 5.0;
    // Buckets of the bins, all equally likely: each bucket occurs twice.
    let hashes: Vec<Vec<u32>> = (0..729_u32)
        .map(|code| (0..bins).map(|bin| code / 3_u32.pow(bin) % 3).collect())
        .filter(|hash: &Vec<u32>| (0..3).all(|b| hash.iter().filter(|h| **h == b).count() == 2))
        .collect();
    assert_eq!(hashes.len(), 90);
    let variance = |below: u32, own: u32| {
        let (mut mean, mut square) = (0.0, 0.0);
        for hash in &hashes {
            for bucket in 0..buckets {
                let weight = if hash[own as usize] == bucket { e } else { 1.0 };
                let chance = weight / (e + t - 1.0) / hashes.len() as f64;
                let hits = (0..below)
                    .filter(|bin| hash[*bin as usize] == bucket)
                    .count();
                let estimate = (hits as f64 - f64::from(below) * q) / (p - q);
                mean += chance * estimate;
                square += chance * estimate * estimate;
            }
        }
        square - mean * mean
    };
    for part in [0.5, 0.9] {
        let at = |below| part * variance(below, 0) + (1.0 - part) * variance(below, bins - 1);
        let worst = (1..bins).map(at).fold(0.0, f64::max);
        let predicted = |several| {
            let aim = PredictedQuantity::DistributionFunction(part);
            predictor.max_contribution_variance(aim, several).unwrap()
        };
        assert!((predicted(false) / worst - 1.0).abs() < 1e-9, "{part}");
        let drawn = worst + part * (1.0 - part);
        assert!((predicted(true) / drawn - 1.0).abs() < 1e-9, "{part}");
    }
    // Published for 32 bins: 28.4 at the median.
    let asked = json!({ "kind": "number", "min": 0, "max": 32, "want": "quantiles",
        "bins": 32, "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 1,
            "hashing": "balanced", "buckets": 4 } });
    let predictor = ErrorPredictor::for_question(&question(1.0, asked));
    let median = predictor
        .max_contribution_variance(PredictedQuantity::DistributionFunction(0.5), false)
        .unwrap();
    assert!((median - 28.4).abs() < 0.05, "{median}");
}

/// Worst case of a pattern over the bins below an edge and those above.
#[test]
fn the_worst_distribution_of_a_pattern_is_the_worst_of_all_edges() {
    let asked = json!({ "kind": "number", "edges": [0, 1, 2, 3, 4, 5, 6], "want": "quantiles",
        "mechanism": { "name": "pattern", "outputs": 7, "favoured": [0, 1, 3] } });
    let predictor = ErrorPredictor::for_question(&question(1.0, asked));
    let rates = Pattern::new(7, [0, 1, 3]).unwrap().share_estimator(6, 1.0);
    for part in [0.5, 0.9] {
        let mut worst: f64 = 0.0;
        for below in 1..6_usize {
            let weights: Vec<f64> = (0..6).map(|bin| f64::from(u8::from(bin < below))).collect();
            let worth = rates.output_weights_of_sum(&weights);
            for (inside, outside) in (0..below).flat_map(|a| (below..6).map(move |b| (a, b))) {
                let crowd = [(inside, part), (outside, 1.0 - part)];
                let moment = |power: i32| -> f64 {
                    let of = |bin: usize| -> f64 {
                        let chances = rates.output_probabilities(bin).iter().zip(&worth);
                        chances.map(|(p, own)| p * own.powi(power)).sum()
                    };
                    crowd.iter().map(|(bin, share)| share * of(*bin)).sum()
                };
                worst = worst.max(moment(2) - moment(1).powi(2));
            }
        }
        let predicted = predictor
            .max_contribution_variance(PredictedQuantity::DistributionFunction(part), true)
            .unwrap();
        assert!(
            (predicted / worst - 1.0).abs() < 1e-9,
            "{part}: {predicted}, {worst}"
        );
    }
}

#[test]
fn the_worst_share_is_the_worst_of_all() {
    for (epsilon, k) in [(1.0_f64, 2_u32), (0.3, 2), (2.0, 5), (4.0, 5)] {
        // One bucket for each answer.
        let asked = json!({ "kind": "choice", "options": k, "mechanism": {
            "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced",
            "buckets": k } });
        let predictor = ErrorPredictor::for_question(&question(epsilon, asked));
        let all = epsilon.exp() + f64::from(k) - 1.0;
        let (p, q) = (epsilon.exp() / all, 1.0 / all);
        let of = |hit: f64| hit * (1.0 - hit) / (p - q).powi(2);
        for several in [false, true] {
            let who = f64::from(u8::from(several));
            let at = |step: u32| {
                let f = f64::from(step) / 1000.0;
                f * of(p) + (1.0 - f) * of(q) + who * f * (1.0 - f)
            };
            let worst = (0..=1000).map(at).fold(0.0, f64::max);
            let predicted = predictor
                .max_contribution_variance(PredictedQuantity::Share, several)
                .unwrap();
            assert!(
                (predicted / worst - 1.0).abs() < 1e-6,
                "{epsilon}, {k}, {several}"
            );
        }
    }
}

/// Promised errors are close to those stated with the estimates, if people's answers are the worst
/// case.
#[test]
fn estimates_state_the_errors_that_were_promised() {
    // Half of all people at either end, where means and shares of two vary most.
    let base = with(
        &json!({ "epsilon": 2.0, "people": 40_000 }),
        json!({ "questions": [
            { "name": "load", "kind": "number", "min": 0, "max": 30 },
            { "name": "beta", "kind": "flag", "weight": 2 },
            { "name": "pair", "kind": "numbers", "of": [
                { "name": "x", "min": -5, "max": 5 }, { "name": "y", "min": 0, "max": 1 } ] },
        ] }),
    );
    let answer = ask(&base).unwrap();
    let task = &answer.task;
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let entry = |item, value| Entry { item, value };
    for person in 0..answer.people {
        let high = person % 2 == 1;
        let end = f64::from(u8::from(high));
        let load = [entry(0, 30.0 * end)];
        let beta = [entry(u64::from(high), 1.0)];
        let pair = [entry(0, 10.0 * end - 5.0), entry(1, end)];
        let answers: [&[Entry]; 3] = [&load, &beta, &pair];
        totals.add_report(
            &randomizer
                .randomize_answers(&answers, &mut rng)
                .unwrap()
                .report,
        );
    }
    let first = |item: &ItemEstimates| item.estimates().next().unwrap().1.standard_error;
    let stated = |name: &str| {
        let options = EstimateOptions {
            question_name: Some(name.to_owned()),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(task, &options).unwrap();
        let estimates = Estimator::for_task(task.clone()).estimates(&totals, &query);
        match name {
            "load" => estimates.number.unwrap().mean.unwrap().standard_error,
            "beta" => first(&estimates.estimates[1]),
            _ => first(&estimates.estimates[0]),
        }
    };
    for own in &answer.questions {
        let ratio = stated(&own.name) / own.standard_error;
        // The number of reports of a question varies by one per cent.
        assert!((ratio - 1.0).abs() < 0.03, "{}: {ratio}", own.name);
    }
}

#[test]
fn people_found_are_enough_and_hardly_too_many() {
    for base in alone().iter().chain([&several()]) {
        for privacy in [json!({ "epsilon": 1.0 }), json!({ "central_epsilon": 0.3 })] {
            let base = with(base, privacy);
            let answer = ask(&base).unwrap();
            assert_eq!(answer.solved_for, SolvedQuantity::People);
            let met = |own: &QuestionPlan| {
                own.half_width <= own.wanted_half_width.unwrap() * (1.0 + 1e-9)
            };
            assert!(answer.questions.iter().all(met), "{base}: {answer:?}");
            assert_ne!(answer.verdict.kind, PlanVerdictKind::Missed);
            let fewer = answer.people * 97 / 100;
            let fewer = ask(&with(&base, json!({ "people": fewer }))).unwrap();
            assert!(!fewer.questions.iter().all(met), "{base}");
            if let Some(central) = base.get("central_epsilon") {
                let reached = answer.central.unwrap().central_epsilon;
                assert!(reached <= central.as_f64().unwrap(), "{base}");
                let again = ReportMixture::for_task(&answer.task).unwrap();
                let again = compute_batch_privacy(&again, answer.people, 1.0, 1e-8).unwrap();
                assert_eq!(Some(again), answer.central);
            }
        }
    }
}

#[test]
fn a_local_epsilon_found_is_enough_and_hardly_too_much() {
    for base in alone().iter().chain([&several()]) {
        let people = ask(&with(base, json!({ "epsilon": 1.5 }))).unwrap().people;
        let base = with(base, json!({ "people": people }));
        let answer = ask(&base).unwrap();
        assert_eq!(answer.solved_for, SolvedQuantity::Epsilon);
        assert!(
            (1.3..=1.62).contains(&answer.epsilon),
            "{base}: {}",
            answer.epsilon
        );
        for own in &answer.questions {
            assert!(
                own.half_width <= own.wanted_half_width.unwrap() * (1.0 + 1e-9),
                "{base}"
            );
        }
    }
}

/// Each question gets the number of reports that it needs and no more. Drawing all questions
/// equally needs more people.
#[test]
fn questions_are_drawn_as_often_as_they_need() {
    let base = with(&several(), json!({ "epsilon": 1.0 }));
    let answer = ask(&base).unwrap();
    for own in &answer.questions {
        let spare = own.wanted_half_width.unwrap() / own.half_width;
        assert!(
            (1.0..1.05).contains(&(spare * (1.0 + 1e-9))),
            "{}: {spare}",
            own.name
        );
        let share = own.share * answer.people as f64;
        assert!((own.reports / share - 1.0).abs() < 1e-12);
    }
    let mut alike = base.clone();
    for question in alike["questions"].as_array_mut().unwrap() {
        question["weight"] = json!(1);
    }
    let alike = ask(&alike).unwrap();
    assert!(alike.people as f64 > 1.5 * answer.people as f64);
    let shares: f64 = answer.questions.iter().map(|own| own.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
}

/// Best number of buckets: no other promises a smaller error of a share, in the worst case over
/// answers. Keeping a promise takes fewer people if ε is larger.
#[test]
fn shares_are_promised_by_the_best_number_of_buckets() {
    for answers in [
        json!({ "kind": "choice", "options": 40 }),
        json!({ "kind": "number",
        "min": 0, "max": 1, "want": "histogram", "bins": 8 }),
    ] {
        let mut before = u64::MAX;
        for epsilon in [0.5, 1.0, 1.5, 1.7, 2.0, 2.5, 3.0, 4.0] {
            let at = |mechanism: Option<Value>| {
                let mut question = with(&json!({ "name": "q" }), answers.clone());
                if let Some(mechanism) = mechanism {
                    question["mechanism"] = mechanism;
                }
                let asked = json!({ "questions": [question], "epsilon": epsilon,
                    "wanted": { "q": { "within": 0.01 } } });
                ask(&asked).unwrap().people
            };
            let best = at(None);
            assert!(best < before, "{answers}, {epsilon}");
            before = best;
            for buckets in 2..=8 {
                let said = json!({ "name": "collision", "rule": "heaviest", "favoured": 1,
                    "hashing": "balanced", "buckets": buckets });
                assert!(at(Some(said)) >= best, "{answers}, {epsilon}, {buckets}");
            }
        }
    }
}

#[test]
fn a_yes_or_no_takes_what_its_formula_says() {
    for (epsilon, within) in [(0.5_f64, 0.03), (1.0, 0.01), (3.0, 0.002)] {
        let base = json!({ "questions": [{ "name": "beta", "kind": "flag" }],
            "wanted": { "beta": { "within": within } }, "epsilon": epsilon });
        let answer = ask(&base).unwrap();
        let variance = epsilon.exp() / epsilon.exp_m1().powi(2);
        let people = variance * (REACH / within).powi(2);
        let ratio = answer.people as f64 / people;
        assert!((1.0..1.01).contains(&ratio), "{ratio}");
        let own = &answer.questions[0];
        assert_eq!(
            (own.errors_of, own.distance.as_ref().unwrap().times_bound),
            (PlannedEstimateKind::Share, 1.0)
        );
    }
}

/// Errors are in the unit of the answers.
#[test]
fn units_scale_what_is_answered() {
    let of = |min: f64, max: f64| {
        let base = json!({ "questions": [{ "name": "q", "kind": "number", "min": min, "max": max,
            "unit": "ms" }], "people": 10_000, "epsilon": 2.0 });
        ask(&base).unwrap().questions.remove(0)
    };
    let (narrow, wide) = (of(0.0, 1.0), of(-100.0, 200.0));
    assert!((wide.half_width / narrow.half_width - 300.0).abs() < 1e-9);
    assert_eq!(
        (wide.unit.as_deref(), wide.range, wide.cells),
        (Some("ms"), 300.0, None)
    );
    let quantile = |wanted: Value| {
        let base = json!({ "questions": [{ "name": "q", "kind": "number", "min": 0, "max": 30,
            "want": "quantiles", "unit": "s" }], "people": 10_000, "epsilon": 1.0,
            "wanted": { "q": wanted } });
        ask(&base).unwrap().questions.remove(0)
    };
    let (share, median) = (quantile(json!({})), quantile(json!({ "spread": 4.0 })));
    assert_eq!(
        (share.errors_of, median.errors_of),
        (
            PlannedEstimateKind::QuantileShare,
            PlannedEstimateKind::Quantile
        )
    );
    // The normal density at the median is 1/(σ·√(2π)).
    let slope = 4.0 * (2.0 * std::f64::consts::PI).sqrt();
    assert!((median.standard_error / share.standard_error / slope - 1.0).abs() < 1e-9);
    assert_eq!((share.unit, median.unit), (None, Some("s".to_owned())));
    // Both numbers, each in its own unit. The accuracy wanted of one is in that unit.
    let pair = json!({ "questions": [{ "name": "screen", "kind": "numbers", "of": [
        { "name": "width", "min": 0, "max": 4000, "unit": "px" },
        { "name": "depth", "min": 0, "max": 1 } ] }], "people": 10_000, "epsilon": 1.0 });
    let pair = ask(&pair).unwrap().questions.remove(0);
    assert_eq!(pair.number_name.as_deref(), Some("width"));
    assert_eq!(pair.half_width, pair.numbers[0].half_width);
    assert!((pair.numbers[0].half_width / pair.numbers[1].half_width - 4000.0).abs() < 1e-9);
}

/// Errors of a text are those of reports that reveal its maximum length. The smallest share is one
/// that a search finds four times out of five. For a cross the shares of cells count.
#[test]
fn texts_and_crosses_are_planned_for() {
    let asked = |of: Value| {
        let base = json!({ "questions": [with(&json!({ "name": "q" }), of)],
            "epsilon": 3.0, "people": 100_000 });
        ask(&base).unwrap().questions.remove(0)
    };
    let [one, all] = [json!([4]), json!([2, 4, 4])]
        .map(|prefixes| asked(json!({ "kind": "text", "prefixes": prefixes })));
    assert!((all.standard_error / one.standard_error - 1.5_f64.sqrt()).abs() < 1e-9);
    let text = question(3.0, json!({ "kind": "text", "prefixes": [2, 4, 4] }));
    let found = |power| {
        DetectableShare::new(&text, 100_000, 38, 0.95, power)
            .unwrap()
            .share
    };
    assert_eq!(all.smallest_frequency, Some(found(DETECTION_POWER)));
    assert!(found(DETECTION_POWER) < found(0.99));
    assert_eq!(
        (all.errors_of, all.as_ratings),
        (PlannedEstimateKind::Share, None)
    );

    let of = |cells: u32| json!({ "name": format!("{cells}"), "kind": "choice", "options": cells });
    let cross = asked(json!({ "kind": "cross", "of": [of(3), of(4)] }));
    let choice = asked(json!({ "kind": "choice", "options": 12 }));
    assert_eq!(
        (cross.answers, cross.errors_of),
        (Some(12), PlannedEstimateKind::Share)
    );
    // A choice is planned with the number of buckets that is best in the worst case.
    let worse = cross.standard_error / choice.standard_error;
    assert!((1.0..2.0).contains(&worse), "{worse}");

    // A cross with a number whose mean is wanted: the means within rows of equal size.
    let number = json!({ "name": "n", "kind": "number", "min": -5, "max": 15, "unit": "s" });
    let by_number = json!({ "kind": "cross", "of": [of(3), number] });
    let cross = asked(by_number.clone());
    let predictor = ErrorPredictor::for_question(&question(3.0, by_number));
    let aim = PredictedQuantity::MeanWithinRow(1.0 / 3.0);
    let variance = predictor.max_contribution_variance(aim, false).unwrap();
    let expected = 20.0 * (variance / 100_000.0).sqrt();
    assert!((cross.standard_error / expected - 1.0).abs() < 1e-12);
    assert_eq!(cross.errors_of, PlannedEstimateKind::ConditionalMean);
    assert_eq!(
        (cross.number_name.as_deref(), cross.unit.as_deref()),
        (Some("n"), Some("s"))
    );
    assert_eq!(
        (cross.range, cross.smallest_frequency, cross.distance),
        (20.0, None, None)
    );
    assert!(cross.simultaneous_half_width > 1.2 * cross.half_width);
    // Bins have shares.
    let number = json!({ "name": "n", "kind": "number", "min": 0, "max": 1, "bins": 4 });
    let cross = asked(json!({ "kind": "cross", "of": [of(3), number] }));
    assert_eq!(
        (cross.errors_of, cross.cells),
        (PlannedEstimateKind::Share, Some(4))
    );
}

#[test]
fn the_other_ways_to_ask_say_what_they_cost() {
    let ratio = |epsilon: f64, of: Value| {
        let base = json!({ "questions": [with(&json!({ "name": "q" }), of)],
            "epsilon": epsilon, "people": 1000 });
        ask(&base).unwrap().questions[0].as_ratings
    };
    // A flag as ratings has five elements instead of two. In the worst case all people answer yes.
    let flag = ratio(1.0, json!({ "kind": "flag" })).unwrap();
    assert!((flag - 4.0).abs() < 1e-9, "{flag}");
    // Choices for the worst case are compared in the worst case.
    for (options, epsilon) in [(5, 1.0), (10, 1.0), (10, 4.0), (40, 2.0)] {
        let choice = ratio(epsilon, json!({ "kind": "choice", "options": options })).unwrap();
        assert!(choice > 1.0, "{options}, {epsilon}: {choice}");
    }
    let number = json!({ "kind": "number", "min": 0, "max": 1 });
    let [low, high] = [0.5, 4.0].map(|epsilon| ratio(epsilon, number.clone()).unwrap());
    assert!(
        (1.03..1.05).contains(&low) && (8.4..8.5).contains(&high),
        "{low}, {high}"
    );
    let pair = json!({ "kind": "numbers", "of": [
        { "name": "x", "min": 0, "max": 1 }, { "name": "y", "min": 0, "max": 1 } ] });
    let pair = ratio(4.0, pair).unwrap();
    // 1.155 of the cube, which the ratings of two are, for 0.318.
    assert!((3.5..3.8).contains(&pair), "{pair}");
    let rated = json!({ "kind": "ratings", "items": 5, "value": "sign", "sparsity": 2 });
    assert_eq!(ratio(1.0, rated), None);
    for binned in ["quantiles", "histogram"] {
        let bins = json!({ "kind": "number", "min": 0, "max": 1, "want": binned });
        let bins = ratio(1.0, bins).unwrap();
        assert!(bins > 1.0, "{binned}: {bins}");
    }
    // As `task check` computes it.
    let base = json!({ "questions": [
        { "name": "theme", "kind": "choice", "options": 5 }, { "name": "beta", "kind": "flag" },
    ], "epsilon": 1.0, "people": 1000 });
    let answer = ask(&base).unwrap();
    let draft = json!({ "id": "t", "epsilon": 1.0, "questions": base["questions"] });
    let draft: TaskDraft = serde_json::from_value(draft).unwrap();
    let both = compare_separate_with_together(&draft.resolve_task().unwrap()).unwrap();
    assert_eq!(
        answer.together_over_drawn,
        Some(both.together_variance / both.separate_variance)
    );
    // Asked as one question, they take the stated multiple of people.
    let flags = |count: u32| -> Value {
        (0..count)
            .map(|index| json!({ "name": format!("f{index}"), "kind": "flag" }))
            .collect()
    };
    let apart = json!({ "questions": flags(4), "epsilon": 3.0, "people": 1000 });
    let at_once = json!({ "questions": [{ "name": "all", "kind": "together", "of": flags(4) }],
        "epsilon": 3.0, "people": 1000 });
    let [apart, at_once] = [apart, at_once].map(|survey| ask(&survey).unwrap());
    let ratio = apart.together_over_drawn.unwrap();
    assert!((0.5..0.7).contains(&ratio), "{ratio}");
    let draft = json!({ "id": "t", "epsilon": 3.0, "questions": flags(4) });
    let draft: TaskDraft = serde_json::from_value(draft).unwrap();
    let both = compare_separate_with_together(&draft.resolve_task().unwrap()).unwrap();
    // Sum over eight answers, each with one error.
    let in_sum = 8.0 * 1000.0 * at_once.questions[0].standard_error.powi(2);
    assert!(
        (in_sum / both.together_variance - 1.0).abs() < 1e-9,
        "{in_sum}, {both:?}"
    );
    assert_eq!(at_once.together_over_drawn, None);
    // The weights of questions by wanted accuracy do not matter for this ratio.
    let wanted = json!({ "theme": { "within": 0.3 }, "beta": { "within": 0.01 } });
    let wanted = ask(&with(&base, json!({ "wanted": wanted }))).unwrap();
    assert_eq!(wanted.together_over_drawn, answer.together_over_drawn);
    assert!(wanted.questions[0].share < 0.5 * answer.questions[0].share);
}

#[test]
fn what_a_plan_is_worth_is_said() {
    let flag = json!({ "questions": [{ "name": "beta", "kind": "flag" }],
        "wanted": { "beta": { "within": 0.01 } }, "epsilon": 1.0 });
    let verdict = |fields: Value| ask(&with(&flag, fields)).unwrap().verdict;
    let missed = verdict(json!({ "people": 10_000 }));
    assert_eq!(missed.kind, PlanVerdictKind::Missed);
    assert!(
        missed
            .text
            .contains("±0.01 of beta, you need 35,400 people, or a local ε of 1.7"),
        "{}",
        missed.text
    );
    assert_eq!(verdict(json!({ "people": 5 })).kind, PlanVerdictKind::Noise);
    assert_eq!(
        verdict(json!({ "people": 36_000 })).kind,
        PlanVerdictKind::Useful
    );
    let many = json!({ "questions": [{ "name": "page", "kind": "choice", "options": 5000 }],
        "epsilon": 1.0, "people": 20_000 });
    let many = ask(&many).unwrap();
    assert_eq!(many.verdict.kind, PlanVerdictKind::FrequentOnly);
    assert!(many.questions[0].smallest_frequency.unwrap() > 1.0 / 5000.0);
}

/// A complete task is one more draft: it is planned unchanged.
#[test]
fn complete_tasks_stay_as_they_are() {
    let base = with(&several(), json!({ "epsilon": 1.0 }));
    let planned = ask(&base).unwrap();
    let task = serde_json::to_value(&planned.task).unwrap();
    let mut again = with(&base, json!({ "questions": task["questions"] }));
    again["id"] = task["id"].clone();
    let again = ask(&again).unwrap();
    assert_eq!(again.task, planned.task);
    assert_eq!(again.people, planned.people);
    let kinds: Vec<&str> = planned
        .task
        .questions()
        .iter()
        .map(|q| q.kind().name())
        .collect();
    let answered: Vec<&str> = planned.questions.iter().map(|q| q.kind.as_str()).collect();
    assert_eq!(kinds, answered);
    assert!(matches!(
        planned.task.questions()[3].kind(),
        QuestionKind::Numbers(of) if of.is_single()
    ));
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let base = json!({ "questions": [{ "name": "beta", "kind": "flag" }], "epsilon": 1.0,
        "people": 100 });
    let of = |question: Value, wanted: Value| {
        let question = with(&json!({ "name": "q" }), question);
        json!({ "questions": [question], "wanted": { "q": wanted } })
    };
    let seconds = json!({ "kind": "number", "min": 0, "max": 30 });
    let bins = with(&seconds, json!({ "want": "quantiles" }));
    let pair = json!({ "kind": "numbers", "of": [
        { "name": "x", "min": 0, "max": 1 }, { "name": "y", "min": 0, "max": 1 }] });
    let cases = [
        (json!({ "people": null }), "expected two of three", None),
        (json!({ "epsilon": null }), "expected two of three", None),
        (json!({ "epsilon": 13 }), "epsilon is 13", Some("epsilon")),
        (
            json!({ "wanted": { "who": {} } }),
            "question \"who\" is not asked",
            None,
        ),
        (
            of(json!({ "kind": "flag" }), json!({ "within": 2 })),
            "within is 2, expected 0.000001 to 1",
            Some("within"),
        ),
        (
            of(seconds.clone(), json!({ "within": 31 })),
            "within is 31",
            Some("within"),
        ),
        (
            of(seconds, json!({ "spread": 3 })),
            "\"q\" has no quantiles",
            None,
        ),
        (
            of(
                with(&bins, json!({ "optional": true })),
                json!({ "quantile": 0.5, "within": 0.1 }),
            ),
            "\"q\" may be missing",
            None,
        ),
        (
            of(bins.clone(), json!({ "quantile": 1 })),
            "quantile is 1",
            Some("quantile"),
        ),
        (
            of(bins, json!({ "spread": 99 })),
            "spread is 99",
            Some("spread"),
        ),
        (
            of(pair, json!({ "number_name": "z" })),
            "has no number with that name",
            None,
        ),
        (
            of(json!({ "kind": "flag" }), json!({ "number_name": "yes" })),
            "has several numbers",
            None,
        ),
        (
            of(
                json!({ "kind": "set", "options": 5, "sparsity": 6 }),
                json!({}),
            ),
            "sparsity is 6, expected 1 to 5",
            Some("sparsity"),
        ),
        (
            of(
                json!({ "kind": "set", "options": 5, "entries": [1, 2] }),
                json!({}),
            ),
            "\"q\" is planned for a \"sparsity\"",
            None,
        ),
        (
            of(
                json!({ "kind": "flag" }),
                json!({ "smallest_frequency": 0.1 }),
            ),
            "\"q\" is planned for \"within\"",
            None,
        ),
        (
            of(json!({ "kind": "choice", "options": 1 }), json!({})),
            "options is 1",
            Some("options"),
        ),
        (
            json!({ "people": 10, "epsilon": null, "wanted": { "beta": { "within": 0.0001 } } }),
            "not even a local ε of 12",
            None,
        ),
        (
            json!({ "questions": [] }),
            "number of questions is 0",
            Some("number of questions"),
        ),
    ];
    for (fields, text, field) in cases {
        let error = ask(&with(&base, fields.clone())).unwrap_err();
        assert!(error.to_string().contains(text), "{fields}: {error}");
        assert_eq!(error.out_of_range_field_name(), field, "{fields}");
    }
    for unknown in [
        json!({ "epsilom": 1 }),
        json!({ "wanted": { "beta": { "width": 1 } } }),
        json!({ "questions": [{ "name": "beta", "kind": "flag", "options": 3 }] }),
    ] {
        assert!(serde_json::from_value::<Survey>(with(&base, unknown)).is_err());
    }
}

#[test]
fn what_is_wrong_with_one_of_several_questions_is_said_with_its_name() {
    let number = |name| json!({ "name": name, "kind": "number", "min": 0, "max": 30 });
    let bins = with(&number("b"), json!({ "want": "quantiles" }));
    let base = json!({ "questions": [number("a"), bins], "epsilon": 1.0, "people": 100 });
    for (fields, text, field, question) in [
        (
            json!({ "wanted": { "a": { "within": 1 }, "b": { "within": 2 } } }),
            "question \"b\": within is 2, expected 0.000001 to 1",
            Some("within"),
            Some("b"),
        ),
        (
            json!({ "wanted": { "b": { "spread": 40 } } }),
            "question \"b\": spread is 40",
            Some("spread"),
            Some("b"),
        ),
        (
            json!({ "wanted": { "a": { "spread": 4 } } }),
            "question \"a\" has no quantiles",
            None,
            Some("a"),
        ),
        (
            json!({ "epsilon": 13 }),
            "epsilon is 13",
            Some("epsilon"),
            None,
        ),
    ] {
        let error = ask(&with(&base, fields.clone())).unwrap_err();
        assert!(error.to_string().contains(text), "{fields}: {error}");
        assert_eq!(
            (error.out_of_range_field_name(), error.question_name()),
            (field, question)
        );
    }
}
