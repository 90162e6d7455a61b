//! Tests of choices and flags that are asked together, from answers to intervals.

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    ErrorPredictor, EstimateOptions, EstimateQuery, Estimates, Estimator, PostProcessingMethod,
    Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

/// Returns a task of parts with these numbers of options, with or without further questions.
fn task(options: &[u32], epsilon: f64, others: &[Value]) -> Task {
    let part = |(at, &count): (usize, &u32)| match count {
        2 => json!({ "name": format!("q{at}"), "kind": "flag" }),
        _ => json!({ "name": format!("q{at}"), "kind": "choice", "options": count }),
    };
    let parts: Vec<Value> = options.iter().enumerate().map(part).collect();
    let mut questions = vec![json!({ "name": "all", "kind": "together", "of": parts })];
    questions.extend_from_slice(others);
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns a person's option of a part. Some options are rare and some frequent, and all parts
/// depend on each other.
fn option(person: u64, part: usize, options: u32) -> u32 {
    let skewed = [0, 0, 1, 0, 2, 0, 0, 1, 3, 0][(person % 10) as usize];
    (skewed * (1 + part as u32 % 2)) % options
}

fn answer(options: &[u32], person: u64) -> Vec<Entry> {
    let parts = options.iter().enumerate();
    let entry = |(part, &count): (usize, &u32)| Entry {
        item: part as u64,
        value: option(person, part, count).into(),
    };
    parts.map(entry).collect()
}

fn truth(options: &[u32], people: u64) -> Vec<f64> {
    let mut shares = Vec::new();
    for (part, &count) in options.iter().enumerate() {
        let mut own = vec![0.0; count as usize];
        for person in 0..people {
            own[option(person, part, count) as usize] += 1.0 / people as f64;
        }
        shares.append(&mut own);
    }
    shares
}

fn totals(task: &Task, options: &[u32], people: u64, seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let flag = [Entry {
        item: 1,
        value: 1.0,
    }];
    for person in 0..people {
        let own = answer(options, person);
        let answers = [&own[..], &flag];
        let answers = &answers[..task.questions().len()];
        totals.add_report(
            &randomizer
                .randomize_answers(answers, &mut rng)
                .unwrap()
                .report,
        );
    }
    totals
}

fn asked(confidence: f64) -> EstimateOptions {
    EstimateOptions {
        question_name: Some("all".to_owned()),
        confidence,
        ..EstimateOptions::default()
    }
}

const BATCHES: u64 = 300;
const LEVELS: [f64; 3] = [0.9, 0.95, 0.99];

/// Each option is estimated without bias and with the stated error. Intervals of 90, 95 and 99 per
/// cent miss at most at the stated rate.
///
/// With some 250 options at three levels, each test fails by chance with probability 10⁻⁶, by the
/// normal distribution. A bias of 5 standard errors has probability 6·10⁻⁷.
#[test]
fn shares_are_unbiased_and_covered() {
    let flag = json!({ "name": "beta", "kind": "flag" });
    for (options, epsilon, people, others) in [
        (&[2, 2][..], 1.0, 300, &[][..]),
        (&[2, 2], 4.0, 200, &[]),
        (&[2; 4], 1.0, 300, &[]),
        (&[2; 4], 4.0, 200, &[]),
        (&[2; 8], 1.0, 400, &[]),
        (&[2; 8], 4.0, 30, &[]),
        (&[2; 8], 4.0, 300, &[]),
        (&[5, 2], 1.0, 400, &[]),
        (&[5, 2], 4.0, 60, &[]),
        (&[5, 2, 3], 4.0, 300, &[]),
        (&[40, 2, 7], 4.0, 300, &[]),
        (&[5, 2, 3], 4.0, 400, std::slice::from_ref(&flag)),
    ] {
        let task = task(options, epsilon, others);
        let what = format!("{options:?} at ε = {epsilon}, {people} people");
        let truth = truth(options, people);
        let estimator = Estimator::for_task(task.clone());
        let queries = LEVELS.map(|level| EstimateQuery::new(&task, &asked(level)).unwrap());
        let mut missed = vec![[0_u64; 3]; truth.len()];
        let mut errors = vec![[0.0; 2]; truth.len()];
        let mut stated = 0.0;
        for seed in 0..BATCHES {
            let totals = totals(&task, options, people, seed);
            for (level, query) in queries.iter().enumerate() {
                let found = estimator.estimates(&totals, query);
                for (at, (item, truth)) in found.estimates.iter().zip(&truth).enumerate() {
                    let (_, estimate) = item.estimates().next().unwrap();
                    let [low, high] = estimate.interval;
                    missed[at][level] += u64::from(*truth < low || *truth > high);
                    if level == 0 {
                        let error = estimate.estimate - truth;
                        errors[at][0] += error;
                        errors[at][1] += error * error;
                        stated += estimate.standard_error.powi(2);
                    }
                }
            }
        }
        let runs = BATCHES as f64;
        for (at, missed) in missed.iter().enumerate() {
            for (missed, level) in missed.iter().zip(LEVELS) {
                let miss = 1.0 - level;
                let most = runs * miss + 4.75 * (runs * miss * level).sqrt() + 1.0;
                assert!(
                    (*missed as f64) < most,
                    "{what}: {missed} of option {at} at {level}"
                );
            }
            let [sum, squares] = errors[at];
            assert!(
                sum.abs() < 5.0 * squares.sqrt(),
                "{what}: bias of option {at}"
            );
        }
        let squares: f64 = errors.iter().map(|own| own[1]).sum();
        // 300 batches of dependent options determine the ratio to about 0.2.
        let ratio = squares / stated;
        assert!((0.7..1.3).contains(&ratio), "{what}: {ratio}");
    }
}

/// The squared error is the one that choosing and planning predict. For flags it is half of that
/// from hits alone.
#[test]
fn errors_are_as_predicted() {
    let options = [2; 8];
    let task = task(&options, 4.0, &[]);
    let estimator = Estimator::for_task(task.clone());
    let query = EstimateQuery::new(&task, &asked(0.95)).unwrap();
    let people = 1000;
    let truth = truth(&options, people);
    let mut squares = 0.0;
    for seed in 0..100 {
        let found = estimator.estimates(&totals(&task, &options, people, seed), &query);
        for (item, truth) in found.estimates.iter().zip(&truth) {
            let (_, estimate) = item.estimates().next().unwrap();
            squares += (estimate.estimate - truth).powi(2) / 100.0 / 16.0;
        }
    }
    let question = &task.questions()[0];
    let predictor = ErrorPredictor::for_question(question);
    // Both answers of a flag have the same variance, for any share.
    let predicted = predictor.share_variance_per_report(0.3, false).unwrap() / people as f64;
    assert!(
        (squares / predicted - 1.0).abs() < 0.15,
        "{squares}, {predicted}"
    );
    let hushbin::Mechanism::Collision(own) = question.mechanism() else {
        unreachable!()
    };
    let rates = own.hit_probabilities(&question.domain(), 4.0);
    let alone = 0.5 * (rates.frequency_variance(true) + rates.frequency_variance(false));
    assert!(squares < 0.6 * alone / people as f64, "{squares}, {alone}");
}

fn found(options: &EstimateOptions) -> Estimates {
    let parts = [2, 3, 40];
    let task = task(&parts, 4.0, &[]);
    let query = EstimateQuery::new(&task, options).unwrap();
    Estimator::for_task(task.clone()).estimates(&totals(&task, &parts, 500, 1), &query)
}

/// Options are named by part, in JSON, in CSV and in queries.
#[test]
fn options_go_by_their_parts() {
    let all = found(&asked(0.95));
    let json = serde_json::to_value(&all).unwrap();
    assert_eq!(json["estimates"][0]["item"], json!({ "q0": "no" }));
    assert_eq!(json["estimates"][1]["item"], json!({ "q0": "yes" }));
    assert_eq!(json["estimates"][4]["item"], json!({ "q1": 2 }));
    assert!(
        json["estimates"][4]["share"]["interval"].is_array(),
        "{json}"
    );
    let mut csv = Vec::new();
    all.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("\nq0: yes,share,"), "{csv}");
    let share = |found: &Estimates, item: usize| {
        let (_, estimate) = found.estimates[item].estimates().next().unwrap();
        estimate.estimate
    };
    // The options of a part with few options sum to a known value.
    assert!((share(&all, 0) + share(&all, 1) - 1.0).abs() < 1e-12);
    assert!(((2..5).map(|item| share(&all, item)).sum::<f64>() - 1.0).abs() < 1e-12);
    let some = found(&EstimateOptions {
        item_names: Some(vec!["q1: 2".to_owned(), "q0: yes".to_owned()]),
        ..asked(0.95)
    });
    assert_eq!(
        [0, 1].map(|item| share(&some, item)),
        [share(&all, 4), share(&all, 1)]
    );
    for unknown in ["q1: 3", "yes", "q9: no", "4"] {
        let options = EstimateOptions {
            item_names: Some(vec![unknown.to_owned()]),
            ..asked(0.95)
        };
        let error = EstimateQuery::new(&task(&[2, 3], 4.0, &[]), &options).unwrap_err();
        assert!(error.to_string().contains(unknown), "{error}");
    }
}

/// Projected shares sum to 1 in each part.
#[test]
fn projections_are_of_each_part() {
    let projected = found(&EstimateOptions {
        post_processing_methods: vec![
            PostProcessingMethod::MaxSparsityProjection,
            PostProcessingMethod::ExactSparsityProjection,
        ],
        ..asked(0.95)
    });
    let json = serde_json::to_value(&projected).unwrap();
    for member in ["projected", "fully_projected"] {
        let share = |item: usize| {
            let item = &json["estimates"][item]["post_processed"][member];
            item["share"].as_f64().unwrap()
        };
        for part in [0..2, 2..5, 5..45] {
            assert!(part.clone().all(|item| share(item) >= 0.0));
            assert!((part.map(share).sum::<f64>() - 1.0).abs() < 1e-9, "{json}");
        }
    }
}
