//! Tests of numbers, end to end: estimates and intervals, likelihoods, shuffled batches, and the
//! window's distance from the best.

use hushbin::choose::Objective;
use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::for_each_drawn_item;
use hushbin::mechanism::window::{self, Window};
use hushbin::task::{NumberLimits, QuestionKind};
use hushbin::{Entry, Mechanism, Question, Randomizer, Report, Task, TaskDraft};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_analysis::estimate::{
    ErrorPredictor, Estimand, EstimateError, EstimateOptions, EstimateQuery, Estimator, ItemLabel,
    PostProcessingMethod, PredictedQuantity, Totals,
};
use hushbin_analysis::likelihood::{
    Hypothesis, core_bucket_probability_fn, neighbour_pairs, observe_report,
};
use hushbin_analysis::mechanism_optimality::{
    BoundKind, DistanceFromBest, distance_from_best, question_distance_from_best,
};
use hushbin_analysis::plan::{Survey, plan_survey};
use hushbin_tests::expectation::Expectation;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Ranges of all kinds, with people at an end, around it, or spread out.
const ATTRIBUTES: [(f64, f64, [f64; 4]); 5] = [
    (-1.0, 1.0, [1.0, 1.0, 1.0, 1.0]),
    (0.0, 4000.0, [1200.0, 800.0, 1920.0, 4000.0]),
    (-20.0, -10.0, [-20.0, -19.0, -20.0, -18.5]),
    (0.25, 4.0, [1.0, 1.5, 1.0, 2.0]),
    (1e-9, 2e-9, [0.0, 1e-9, 1.5e-9, 3e-9]),
];

/// Returns the question, with m, t and k if given.
fn numbers(attributes: usize, mechanism: Option<[u32; 3]>) -> Value {
    let of: Vec<Value> = ATTRIBUTES[..attributes]
        .iter()
        .enumerate()
        .map(
            |(index, (min, max, _))| json!({ "name": format!("n{index}"), "min": min, "max": max }),
        )
        .collect();
    let mut question = match &of[..] {
        [one] => json!({ "kind": "number", "min": one["min"], "max": one["max"] }),
        _ => json!({ "kind": "numbers", "of": of }),
    };
    question["name"] = json!("all");
    if let Some([drawn, atoms, favoured]) = mechanism {
        question["mechanism"] = json!({ "name": "window", "drawn": drawn, "atoms": atoms,
            "favoured": favoured });
    }
    question
}

fn task(epsilon: f64, questions: &[Value]) -> Task {
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn window_of(question: &Question) -> &Window {
    match question.mechanism() {
        Mechanism::Window(window) => window,
        other => panic!("{other:?}"),
    }
}

fn limits(question: &Question) -> &[NumberLimits] {
    match question.kind() {
        QuestionKind::Numbers(limits) => limits,
        other => panic!("{other:?}"),
    }
}

/// Returns the numbers of a person.
fn answer(attributes: usize, person: usize) -> Vec<Entry> {
    let of = ATTRIBUTES[..attributes].iter();
    let entry = |(item, (_, _, numbers)): (u64, &(f64, f64, [f64; 4]))| Entry {
        item,
        value: numbers[person % 4],
    };
    (0..).zip(of).map(entry).collect()
}

/// Returns the means of the numbers, clamped to the ranges.
fn truth(question: &Question, people: usize) -> Vec<f64> {
    let limits = limits(question);
    let within = |index: usize, person| {
        let entry = answer(limits.len(), person)[index];
        let [min, max] = limits[index].range();
        entry.value.clamp(min, max)
    };
    (0..limits.len())
        .map(|index| {
            let sum: f64 = (0..people).map(|person| within(index, person)).sum();
            sum / people as f64
        })
        .collect()
}

/// Returns totals of people who answer every question, each with numbers or a flag.
fn batch(task: &Task, people: usize, seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let flag = [Entry {
        item: 1,
        value: 1.0,
    }];
    for person in 0..people {
        let numbers = answer(
            task.questions()[0].items().item_count().unwrap() as usize,
            person,
        );
        let answers = [&numbers[..], &flag];
        let made = randomizer.randomize_answers(&answers[..task.questions().len()], &mut rng);
        totals.add_report(&made.unwrap().report);
    }
    totals
}

const CONFIDENCES: [f64; 3] = [0.9, 0.95, 0.99];
const BATCHES: u64 = 400;
/// Maximum probability that a comparison fails for a right implementation. There are some 140
/// comparisons.
const SIGNIFICANCE: f64 = 1e-7;

/// Returns whether too few intervals cover, for this confidence.
fn too_few(covered: u64, of: u64, confidence: f64) -> bool {
    let law = Binomial::new(confidence, of).unwrap();
    law.cdf(covered) < SIGNIFICANCE
}

/// Checks that intervals cover and estimates are unbiased. A bias of 5.3 standard errors of the
/// average happens by chance with 10⁻⁷.
///
/// Standard errors are as large as the errors, or up to a fifth larger. 400 batches determine that
/// to 7 per cent.
fn assert_covered(task: &Task, people: usize, least: f64, what: &str) {
    let estimator = Estimator::for_task(task.clone());
    let question = &task.questions()[0];
    let truth = truth(question, people);
    let queries = CONFIDENCES.map(|confidence| {
        let options = EstimateOptions {
            question_name: Some("all".to_owned()),
            confidence,
            ..EstimateOptions::default()
        };
        EstimateQuery::new(task, &options).unwrap()
    });
    let mut sums = vec![[0.0_f64; 3]; truth.len()];
    let mut covered = [[0; ATTRIBUTES.len()]; CONFIDENCES.len()];
    let mut together = [0; CONFIDENCES.len()];
    for seed in 0..BATCHES {
        let totals = batch(task, people, seed);
        for (confidence, query) in queries.iter().enumerate() {
            let found = estimator.estimates(&totals, query).estimates;
            let mut all = true;
            for (index, (item, truth)) in found.iter().zip(&truth).enumerate() {
                let alone = found.len() == 1;
                let name = if alone {
                    "all".to_owned()
                } else {
                    format!("n{index}")
                };
                assert_eq!(item.item, ItemLabel::Name(name));
                let mut estimates = item.estimates();
                let (estimand, mean) = estimates.next().unwrap();
                assert!(estimand == Estimand::Mean && estimates.next().is_none());
                let holds = |[low, high]: [f64; 2]| (low..=high).contains(truth);
                covered[confidence][index] += u64::from(holds(mean.interval));
                all &= holds(mean.simultaneous_interval);
                if confidence == 0 {
                    let error = mean.estimate - truth;
                    sums[index][0] += error;
                    sums[index][1] += error * error;
                    sums[index][2] += mean.standard_error.powi(2);
                }
            }
            together[confidence] += u64::from(all);
        }
    }
    for (confidence, level) in CONFIDENCES.into_iter().enumerate() {
        for (index, &covered) in covered[confidence][..truth.len()].iter().enumerate() {
            assert!(
                !too_few(covered, BATCHES, level),
                "{what}, n{index} at {level}: {covered}"
            );
        }
        assert!(
            !too_few(together[confidence], BATCHES, level),
            "{what} at {level}: {together:?}"
        );
    }
    for (index, [sum, squares, stated]) in sums.into_iter().enumerate() {
        let z = sum / squares.sqrt();
        assert!(z.abs() < 5.3, "{what}, n{index}: {z}");
        let ratio = squares / stated;
        assert!((least..1.4).contains(&ratio), "{what}, n{index}: {ratio}");
    }
}

#[test]
fn means_are_unbiased_and_covered() {
    for (attributes, mechanism, epsilon, people) in [
        (1, None, 1.0, 300),
        (5, None, 1.0, 40),
        (5, None, 2.0, 400),
        (1, None, 4.0, 30),
        (1, None, 6.0, 400),
        (5, Some([3, 4, 2]), 1.5, 400),
        (5, Some([5, 3, 1]), 4.0, 200),
        (3, Some([3, 2, 1]), 2.0, 200),
    ] {
        let task = task(epsilon, &[numbers(attributes, mechanism)]);
        let what = format!("{attributes}, {mechanism:?}, ε = {epsilon}, n = {people}");
        // The stated variance is the worst case over numbers, and may be twice that at an end.
        assert_covered(&task, people, 0.4, &what);
    }
}

/// Several questions, each answered by some of the people.
#[test]
fn numbers_among_questions_are_covered() {
    let flag = json!({ "name": "beta", "kind": "flag" });
    let task = task(2.0, &[numbers(5, None), flag]);
    assert_covered(&task, 500, 0.65, "with a flag");
}

/// Numbers have means, and no frequencies.
#[test]
fn frequencies_of_numbers_are_refused() {
    let task = task(1.0, &[numbers(3, None)]);
    let ask = |post| {
        let options = EstimateOptions {
            item_names: Some(vec!["n2".to_owned(), "n0".to_owned()]),
            post_processing_methods: post,
            ..EstimateOptions::default()
        };
        EstimateQuery::new(&task, &options)
    };
    assert_eq!(ask(Vec::new()).unwrap().items(), [2, 0]);
    for post in PostProcessingMethod::ALL {
        let error = ask(vec![post]).unwrap_err();
        let named = match post {
            PostProcessingMethod::ShrinkageTowardsZero => {
                matches!(error, EstimateError::ZeroMeaninglessForNumbers { .. })
            }
            _ => matches!(error, EstimateError::MissingEstimand { .. }),
        };
        assert!(named, "{error}");
    }
    let predictor = ErrorPredictor::for_question(&task.questions()[0]);
    for estimand in Estimand::ALL {
        let mean = estimand == Estimand::Mean;
        assert_eq!(
            predictor.rare_item_standard_error(estimand, 10.0).is_some(),
            mean
        );
        assert_eq!(
            Expectation::new(&task.questions()[0], estimand, 3).is_some(),
            mean
        );
    }
}

/// Manual computation: sums of the atoms' values, for the attributes drawn.
#[test]
fn estimates_are_scaled_sums_of_values() {
    let task = task(2.0, &[numbers(5, Some([2, 4, 2]))]);
    let question = &task.questions()[0];
    let own = window_of(question);
    let rates = own.estimate_scale_and_variance(&question.domain(), 2.0);
    let mut totals = Totals::new(&task);
    let mut sums = [0.0; 5];
    for seed in 0..60 {
        let bucket = [0, 5, 15, 9][seed as usize % 4];
        totals.add_report(&Report::Window(window::Report { seed, bucket }));
        let mut atoms = [bucket / 4, bucket % 4].into_iter();
        for_each_drawn_item(seed, 5, 2, |attribute| {
            let atom = atoms.next().unwrap();
            sums[attribute as usize] += f64::from(own.atom_value(atom));
        });
    }
    let points = Estimator::for_task(task.clone()).point_estimates(&totals, 0, &[0, 1, 2, 3, 4]);
    for (point, sum) in points.iter().zip(sums) {
        let mean = point.mean.unwrap();
        let top = f64::from(own.favoured_atom_value_sum(own.level_count() - 1));
        let expected: f64 = 2.5 / (rates.favoured_probability_gap * top) * sum / 60.0;
        assert!((mean.estimate - expected).abs() < 1e-12);
        let error = (rates.max_variance() / 60.0).sqrt();
        assert!((mean.standard_error - error).abs() < 1e-12);
    }
    let predictor = ErrorPredictor::for_question(question);
    let worst = predictor
        .rare_item_standard_error(Estimand::Mean, 10.0)
        .unwrap();
    assert!((worst - (rates.max_variance() / 10.0).sqrt()).abs() < 1e-12);
}

/// Plans use the worst crowd. For given numbers, all people have the number of greatest variance.
/// If the people asked vary too, half of them are at either end.
#[test]
fn the_worst_crowd_is_planned_for() {
    for (attributes, epsilon) in [(1, 1.0), (1, 4.0), (2, 4.0), (3, 6.0), (5, 2.0)] {
        let task = task(epsilon, &[numbers(attributes, None)]);
        let question = &task.questions()[0];
        let rates = window_of(question).estimate_scale_and_variance(&question.domain(), epsilon);
        let values: Vec<[f64; 2]> = (-500..=500)
            .map(|step| f64::from(step) / 500.0)
            .map(|value| [value, rates.estimate_variance(value)])
            .collect();
        let given = values.iter().map(|own| own[1]).fold(0.0, f64::max);
        let pairs = values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)));
        let varying = pairs.map(|(a, b)| 0.5 * (a[1] + b[1]) + 0.25 * (a[0] - b[0]).powi(2));
        let varying = varying.fold(0.0, f64::max);
        let predictor = ErrorPredictor::for_question(question);
        for (several, worst, most) in [(false, given, 1.001), (true, varying, 1.2)] {
            let planned = predictor
                .max_contribution_variance(PredictedQuantity::Mean, several)
                .unwrap();
            let ratio = planned / worst;
            let what = format!("{attributes}, {epsilon}, {several}: {ratio}");
            assert!((1.0 - 1e-9..most).contains(&ratio), "{what}");
        }
    }
}

/// Likelihoods written from the definition at the requested ε, compared with the core's
/// probabilities. One of the worst pairs loses all of ε.
#[test]
fn ratios_of_numbers_are_those_of_the_core() {
    let mut compared = 0;
    for (attributes, window, epsilon) in [
        (1, [1, 2, 1], 1.0),
        (1, [1, 13, 6], 1.0),
        (5, [1, 5, 1], 2.0),
        (5, [2, 4, 2], 1.0),
        (4, [3, 4, 1], 3.0),
    ] {
        let task = task(epsilon, &[numbers(attributes, Some(window))]);
        let question = &task.questions()[0];
        let limits = limits(question);
        let own = window_of(question);
        let core = window::Randomizer::new(own, &question.domain(), epsilon);
        let mut pairs: Vec<[Vec<Entry>; 2]> = neighbour_pairs(question)
            .into_iter()
            .map(|pair| pair.inputs)
            .collect();
        assert_eq!(pairs.len(), if attributes == 1 { 2 } else { 4 });
        pairs.push([0, 1].map(|person| answer(attributes, person)));
        let mut most = 0.0_f64;
        for inputs in pairs {
            let hypotheses = inputs
                .each_ref()
                .map(|input| Hypothesis::new(question, input));
            for seed in [0, 7, u64::MAX] {
                let [first, second] = inputs.each_ref().map(|input| {
                    let coded = input.iter().map(|entry| Entry {
                        value: limits[entry.item as usize].normalise_to_signed_unit(entry.value),
                        ..*entry
                    });
                    core.cell_probabilities(seed, &coded.collect::<Vec<_>>())
                });
                for bucket in 0..own.atom_combination_count() {
                    let report = Report::Window(window::Report { seed, bucket });
                    let ours = observe_report(question, hypotheses.each_ref(), &report)
                        .log_likelihood_ratio;
                    let exact = (first[bucket as usize] / second[bucket as usize]).ln();
                    assert!(
                        (ours - exact).abs() < 1e-11,
                        "{ours}, not {exact}: {task:?}"
                    );
                    most = most.max(ours);
                    compared += 1;
                }
            }
        }
        assert!((most - epsilon).abs() < 1e-12, "{own:?}: {most}");
        // Numbers at the ends, as audits list inputs.
        let mut listed = core_bucket_probability_fn(question).unwrap();
        let signed: Vec<SignedItem> = (0..attributes as u64)
            .map(|item| SignedItem {
                item,
                is_negative: item % 2 == 1,
            })
            .collect();
        let ends: Vec<Entry> = (0..attributes as u64)
            .map(|item| Entry {
                item,
                value: if item % 2 == 1 { -1.0 } else { 1.0 },
            })
            .collect();
        assert_eq!(listed(3, &signed, 0), core.cell_probabilities(3, &ends));
    }
    assert_eq!(compared, 9 * (2 + 13) + 15 * (5 + 16 + 64));
}

/// Distance from the bound for people at the ends, which no mechanism can beat. At a small ε the
/// window is near it.
#[test]
fn the_distance_to_the_best_is_stated() {
    for (attributes, epsilon, most) in [
        (1, 0.25, 1.01),
        (1, 1.0, 1.1),
        (2, 1.0, 1.1),
        (4, 4.0, 1.7),
        (5, 0.5, 1.01),
    ] {
        let task = task(epsilon, &[numbers(attributes, None)]);
        let question = &task.questions()[0];
        let of = |objective| {
            distance_from_best(
                &question.domain(),
                question.mechanism(),
                epsilon,
                &objective,
            )
        };
        let found = of(Objective::MEAN_ONLY).unwrap();
        assert!(
            (1.0..most).contains(&found.times_bound),
            "{attributes}, {epsilon}: {found:?}"
        );
        assert!(of(Objective::FREQUENCY_ONLY).is_none());
    }
}

const REFERENCE: &str = include_str!("../../../../tests/reference/shuffle-sums.json");

/// One favoured cell of M, summed by an independent program.
#[test]
fn shuffled_cells_are_those_of_the_reference() {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    let mut seen = 0;
    for row in all["shuffled_grid"].as_array().unwrap() {
        let number = |field: &str| row[field].as_f64();
        let Some(epsilon) = number("epsilon") else {
            continue;
        };
        seen += 1;
        let cells = number("cells").unwrap() as u32;
        let values: Vec<u32> = (1..=cells / 2).collect();
        let own = Window::new(1, cells, 1, values.clone()).unwrap();
        let mixture = ReportMixture::for_window(&own, epsilon).unwrap();
        assert!((mixture.alpha() * (epsilon.exp() + f64::from(cells) - 1.0) - 1.0).abs() < 1e-12);
        let n = number("n").unwrap() as u64;
        let found = compute_batch_privacy(&mixture, n, 1.0, number("delta").unwrap()).unwrap();
        let ratio = found.central_epsilon / number("central").unwrap();
        assert!((ratio - 1.0).abs() < 1e-7, "{row}: {found:?}");
    }
    assert_eq!(seen, 4);
}

/// The reference states γ and α of its windows.
#[test]
fn mixtures_are_those_of_the_reference() {
    let all: Value =
        serde_json::from_str(include_str!("../../../../tests/reference/number.json")).unwrap();
    for row in all["mechanisms"].as_array().unwrap() {
        let number = |value: &Value| value.as_f64().unwrap();
        let values: Vec<i64> = serde_json::from_value(row["values"].clone()).unwrap();
        let upper = values[values.len().div_ceil(2)..].iter();
        let upper: Vec<u32> = upper.map(|value| *value as u32).collect();
        let sizes = ["atoms", "favoured"].map(|field| row[field].as_u64().unwrap() as u32);
        let own = Window::new(1, sizes[0], sizes[1], upper).unwrap();
        let mixture = ReportMixture::for_window(&own, number(&row["epsilon"])).unwrap();
        let alpha = number(&row["blanket"]["alpha"]);
        assert!((mixture.alpha() / alpha - 1.0).abs() < 1e-9, "{row}");
    }
}

/// A survey with a central ε has the largest local ε that keeps to it.
#[test]
fn surveys_plan_windows() {
    for (attributes, people) in [(1, 10_000), (2, 100_000)] {
        let asked = json!({ "questions": [numbers(attributes, None)], "people": people,
            "central_epsilon": 1.0, "delta": 1e-6, "honest_fraction": 1.0, "epsilon": 12.0 });
        let asked: Survey = serde_json::from_value(asked).unwrap();
        let found = plan_survey(&asked).unwrap();
        let own = window_of(&found.task.questions()[0]);
        assert!(found.central.unwrap().central_epsilon <= 1.0 + 1e-9);
        let mixture = ReportMixture::for_window(own, found.epsilon * 1.01).unwrap();
        let more = compute_batch_privacy(&mixture, people, 1.0, 1e-6)
            .unwrap()
            .central_epsilon;
        assert!(more > 1.0, "{own:?}, {}: {more}", found.epsilon);
        let domain = Domain::of_dense_inputs(attributes as u32);
        assert!(
            own.estimate_scale_and_variance(&domain, found.epsilon)
                .max_variance()
                < 1.0
        );
    }
}

/// The distance of one number's mean, compared with the reference at values of ε with a proven
/// optimum. Between these it changes little.
#[test]
fn one_number_is_near_the_bound() {
    let asked = |epsilon: f64| -> (f64, Option<DistanceFromBest>) {
        let file = json!({ "id": "t", "epsilon": epsilon,
            "questions": [{ "name": "n", "kind": "number", "min": 0, "max": 30 }] });
        let task = serde_json::from_value::<TaskDraft>(file).unwrap();
        let task = task.resolve_task().unwrap();
        let question = &task.questions()[0];
        let rates = window_of(question).estimate_scale_and_variance(&question.domain(), epsilon);
        let distance = question_distance_from_best(question, &Objective::MEAN_ONLY);
        (rates.max_variance(), distance)
    };
    let all: Value =
        serde_json::from_str(include_str!("../../../../tests/reference/number.json")).unwrap();
    let number = |row: &Value, field: &str| row[field].as_f64().unwrap();
    for row in all["certificates"].as_array().unwrap() {
        let epsilon = number(row, "epsilon");
        let (variance, found) = asked(epsilon);
        let least = variance / found.unwrap().times_bound;
        let off = least / number(row, "lower_bound") - 1.0;
        // If the optimum is known exactly, it is just above the certificate.
        assert!((-1e-6..1e-4).contains(&off), "{epsilon}: {off}");
    }
    for step in 1..=600 {
        let epsilon = 0.01 * f64::from(step);
        let found = asked(epsilon).1.unwrap();
        let most = if epsilon <= 5.0 { 1.01 } else { 1.015 };
        assert!(found.times_bound < most, "{epsilon}: {}", found.times_bound);
        assert_eq!(found.bound == BoundKind::Exact, epsilon < 0.7123);
        assert!(found.text.ends_with("the best possible mechanism would"));
    }
    assert_eq!(asked(6.5).1, None);
}
