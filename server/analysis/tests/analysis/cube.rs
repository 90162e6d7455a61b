//! Numbers, the whole way: estimates and their intervals, likelihoods,
//! and how far the cube is from the best.

use hushbin::choose::Objective;
use hushbin::domain::Signed;
use hushbin::hash::for_each_drawn;
use hushbin::mechanism::cube::{self, Cube};
use hushbin::task::{Kind, Limits};
use hushbin::{Entry, Mechanism, Question, Randomizer, Report, Task, TaskDraft};
use hushbin_analysis::bound::distance;
use hushbin_analysis::estimate::{
    Estimand, EstimateError, Estimator, Expectation, Label, Options, PostProcessing, Predictor,
    Query, Totals,
};
use hushbin_analysis::likelihood::{Hypothesis, core_probabilities, neighbour_pairs, observe};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Ranges of all kinds, with where people are in them: at an end, around, or all over.
const ATTRIBUTES: [(f64, f64, [f64; 4]); 5] = [
    (-1.0, 1.0, [1.0, 1.0, 1.0, 1.0]),
    (0.0, 4000.0, [1200.0, 800.0, 1920.0, 4000.0]),
    (-20.0, -10.0, [-20.0, -19.0, -20.0, -18.5]),
    (0.25, 4.0, [1.0, 1.5, 1.0, 2.0]),
    (1e-9, 2e-9, [0.0, 1e-9, 1.5e-9, 3e-9]),
];

fn numbers(attributes: usize, mechanism: Option<[u32; 2]>) -> Value {
    let of: Vec<Value> = ATTRIBUTES[..attributes]
        .iter()
        .enumerate()
        .map(
            |(index, (min, max, _))| json!({ "name": format!("n{index}"), "min": min, "max": max }),
        )
        .collect();
    let mut question = json!({ "name": "all", "kind": "numbers", "of": of });
    if let Some([drawn, agreements]) = mechanism {
        question["mechanism"] = json!({ "name": "cube", "drawn": drawn, "agreements": agreements });
    }
    question
}

fn task(epsilon: f64, questions: &[Value]) -> Task {
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve().unwrap()
}

fn cube_of(question: &Question) -> &Cube {
    match question.mechanism() {
        Mechanism::Cube(cube) => cube,
        other => panic!("{other:?}"),
    }
}

fn limits(question: &Question) -> &[Limits] {
    match question.kind() {
        Kind::Numbers(limits) => limits,
        other => panic!("{other:?}"),
    }
}

/// The numbers of a person.
fn answer(attributes: usize, person: usize) -> Vec<Entry> {
    let of = ATTRIBUTES[..attributes].iter();
    let entry = |(item, (_, _, numbers)): (u64, &(f64, f64, [f64; 4]))| Entry {
        item,
        value: numbers[person % 4],
    };
    (0..).zip(of).map(entry).collect()
}

/// Means of what numbers are within their ranges.
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

/// As many answers as there are questions, which are numbers or a flag.
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
            task.questions()[0].items().count().unwrap() as usize,
            person,
        );
        let answers = [&numbers[..], &flag];
        let made = randomizer.randomize_answers(&answers[..task.questions().len()], &mut rng);
        totals.fold(&made.unwrap().report);
    }
    totals
}

const CONFIDENCES: [f64; 3] = [0.9, 0.95, 0.99];
const BATCHES: u64 = 400;
/// Of a right implementation each comparison fails with this probability at most; there
/// are some 140.
const SIGNIFICANCE: f64 = 1e-7;

/// Whether so many of so many intervals that should cover this often are too few.
fn too_few(covered: u64, of: u64, confidence: f64) -> bool {
    let law = Binomial::new(confidence, of).unwrap();
    law.cdf(covered) < SIGNIFICANCE
}

/// Intervals cover, and estimates are unbiased: 5.3 standard errors of their average
/// happen by chance with 10⁻⁷. Standard errors are those of people drawn anew, as large
/// as the errors, which 400 batches tell to 7 per cent, or larger.
fn assert_covered(task: &Task, people: usize, what: &str) {
    let estimator = Estimator::for_task(task.clone());
    let question = &task.questions()[0];
    let truth = truth(question, people);
    let queries = CONFIDENCES.map(|confidence| {
        let options = Options {
            question: Some("all".to_owned()),
            confidence,
            ..Options::default()
        };
        Query::new(task, &options).unwrap()
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
                assert_eq!(item.item, Label::Name(format!("n{index}")));
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
        assert!((0.65..1.4).contains(&ratio), "{what}, n{index}: {ratio}");
    }
}

#[test]
fn means_are_unbiased_and_covered() {
    for (attributes, mechanism, epsilon, people) in [
        (1, None, 1.0, 300),
        (5, None, 1.0, 40),
        (5, None, 2.0, 400),
        (5, Some([3, 2]), 1.5, 400),
        (5, Some([5, 3]), 4.0, 200),
        (3, Some([3, 1]), 2.0, 200),
    ] {
        let task = task(epsilon, &[numbers(attributes, mechanism)]);
        let what = format!("{attributes}, {mechanism:?}, ε = {epsilon}, n = {people}");
        assert_covered(&task, people, &what);
    }
}

/// Of several questions some people answer each.
#[test]
fn numbers_among_questions_are_covered() {
    let flag = json!({ "name": "beta", "kind": "flag" });
    assert_covered(&task(2.0, &[numbers(5, None), flag]), 500, "with a flag");
}

/// Of all numbers whatever is asked for: means, and no frequencies.
#[test]
fn frequencies_of_numbers_are_refused() {
    let task = task(1.0, &[numbers(3, None)]);
    let ask = |post| {
        let options = Options {
            items: Some(vec!["n2".to_owned(), "n0".to_owned()]),
            post,
            ..Options::default()
        };
        Query::new(&task, &options)
    };
    assert_eq!(ask(Vec::new()).unwrap().items(), [2, 0]);
    for post in PostProcessing::ALL {
        let error = ask(vec![post]).unwrap_err();
        let named = match post {
            PostProcessing::Shrinkage => matches!(error, EstimateError::NoZero { .. }),
            _ => matches!(error, EstimateError::NotEstimated { .. }),
        };
        assert!(named, "{error}");
    }
    let predictor = Predictor::for_question(&task.questions()[0]);
    for estimand in Estimand::ALL {
        let mean = estimand == Estimand::Mean;
        assert_eq!(predictor.standard_error(estimand, 10.0).is_some(), mean);
        assert_eq!(
            Expectation::new(&task.questions()[0], estimand, 3).is_some(),
            mean
        );
    }
}

/// By hand: of n reports so many pluses and minuses of an attribute, however often it
/// was drawn.
#[test]
fn estimates_are_scaled_sums_of_signs() {
    let task = task(2.0, &[numbers(5, Some([2, 2]))]);
    let question = &task.questions()[0];
    let rates = cube_of(question).rates(&question.domain(), 2.0);
    let mut totals = Totals::new(&task);
    let mut sums = [0.0; 5];
    for seed in 0..60 {
        let signs = [0b00, 0b01, 0b11, 0b11][seed as usize % 4];
        totals.fold(&Report::Cube(cube::Report {
            seed,
            drawn: 2,
            signs,
        }));
        let mut bit = 0;
        for_each_drawn(seed, 5, 2, |attribute| {
            sums[attribute as usize] += if signs >> bit & 1 == 1 { 1.0 } else { -1.0 };
            bit += 1;
        });
    }
    let points = Estimator::for_task(task.clone()).points(&totals, 0, &[0, 1, 2, 3, 4]);
    for (point, sum) in points.iter().zip(sums) {
        let mean = point.mean.unwrap();
        let expected: f64 = 2.5 / rates.gap * sum / 60.0;
        assert!((mean.estimate - expected).abs() < 1e-12);
        let variance = 2.5 / rates.gap.powi(2) - expected.powi(2).min(1.0);
        assert!((mean.standard_error - (variance / 60.0).sqrt()).abs() < 1e-12);
    }
}

/// Every corner with its probability, of values from −1 to 1.
fn corners(values: &[f64]) -> Vec<(f64, Vec<Signed>)> {
    let corner = |corner: usize| {
        let sign = |index: usize| if corner >> index & 1 == 1 { 1.0 } else { -1.0 };
        let chance = |(index, value): (usize, &f64)| 0.5 * (1.0 + sign(index) * value);
        let signed = |index: usize| Signed {
            item: index as u64,
            negative: sign(index) < 0.0,
        };
        (
            values.iter().enumerate().map(chance).product(),
            (0..values.len()).map(signed).collect(),
        )
    };
    (0..1 << values.len()).map(corner).collect()
}

/// Likelihoods, written from the definition and at the ε asked for, against the core's
/// probabilities of all corners that inputs are rounded to.
#[test]
fn ratios_of_numbers_are_those_of_the_core() {
    let mut compared = 0;
    for (attributes, drawn, agreements, epsilon) in [
        (1, 1, 1, 1.0),
        (5, 1, 1, 2.0),
        (5, 2, 2, 1.0),
        (4, 3, 2, 3.0),
        (5, 5, 3, 0.5),
        (3, 3, 1, 2.0),
    ] {
        let task = task(epsilon, &[numbers(attributes, Some([drawn, agreements]))]);
        let question = &task.questions()[0];
        let limits = limits(question);
        let mut core = core_probabilities(question).unwrap();
        let mut pairs: Vec<[Vec<Entry>; 2]> = neighbour_pairs(question)
            .into_iter()
            .map(|pair| pair.inputs)
            .collect();
        assert_eq!(pairs.len(), 4);
        pairs.push([0, 1].map(|person| answer(attributes, person)));
        for inputs in pairs {
            let hypotheses = inputs
                .each_ref()
                .map(|input| Hypothesis::new(question, input));
            for seed in [0, 7, u64::MAX] {
                let [first, second] = inputs.each_ref().map(|input| {
                    let coded: Vec<f64> = input
                        .iter()
                        .map(|entry| limits[entry.item as usize].code(entry.value))
                        .collect();
                    let mut mixture = vec![0.0; 1 << drawn];
                    for (chance, corner) in corners(&coded) {
                        let row = core(seed, &corner, 0);
                        mixture
                            .iter_mut()
                            .zip(row)
                            .for_each(|(sum, p)| *sum += chance * p);
                    }
                    mixture
                });
                for signs in 0..1_u64 << drawn {
                    let report = Report::Cube(cube::Report { seed, drawn, signs });
                    let ours = observe(question, hypotheses.each_ref(), &report).log_ratio;
                    let exact = (first[signs as usize] / second[signs as usize]).ln();
                    assert!(
                        (ours - exact).abs() < 1e-11,
                        "{ours}, not {exact}: {task:?}"
                    );
                    assert!(ours.abs() <= epsilon * (1.0 + 1e-12));
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 840);
}

/// Of the worst pairs one loses all of ε under some seed.
#[test]
fn neighbours_are_as_far_apart_as_can_be() {
    for (drawn, agreements) in [(1, 1), (2, 2), (3, 2), (4, 3), (5, 2)] {
        let task = task(1.5, &[numbers(5, Some([drawn, agreements]))]);
        let question = &task.questions()[0];
        let mut most = 0.0_f64;
        for pair in neighbour_pairs(question) {
            let hypotheses = pair
                .inputs
                .each_ref()
                .map(|input| Hypothesis::new(question, input));
            for signs in 0..1_u64 << drawn {
                let report = Report::Cube(cube::Report {
                    seed: 3,
                    drawn,
                    signs,
                });
                most = most.max(observe(question, hypotheses.each_ref(), &report).log_ratio);
            }
        }
        assert!((most - 1.5).abs() < 1e-12, "{drawn}, {agreements}: {most}");
    }
}

/// The cube has the least variance that any mechanism is known to have for corners: the
/// sets that the bound is made of are its own. Of few attributes no mechanism has less.
#[test]
fn no_mechanism_is_known_to_be_better() {
    for (attributes, epsilon) in [
        (1, 1.0),
        (2, 1.0),
        (2, 3.0),
        (3, 2.0),
        (4, 4.0),
        (5, 0.5),
        (5, 3.0),
        (5, 6.0),
    ] {
        let task = task(epsilon, &[numbers(attributes, None)]);
        let question = &task.questions()[0];
        let of = |objective| {
            distance(
                &question.domain(),
                question.mechanism(),
                epsilon,
                &objective,
            )
        };
        let found = of(Objective::MEAN).unwrap();
        assert!(
            (found.times_bound - 1.0).abs() < 1e-9,
            "{attributes}, {epsilon}: {found:?}"
        );
        assert!(found.text.contains("no more people than"), "{found:?}");
        assert!(of(Objective::FREQUENCY).is_none());
    }
    // Another cube is as much farther as it has variance.
    let near = |drawn| {
        let task = task(1.0, &[numbers(5, Some([drawn, drawn]))]);
        let question = &task.questions()[0];
        let found = distance(
            &question.domain(),
            question.mechanism(),
            1.0,
            &Objective::MEAN,
        );
        let rates = cube_of(question).rates(&question.domain(), 1.0);
        (found.unwrap().times_bound, rates.mean_square() - 1.0)
    };
    let [(best, least), (times, variance)] = [1, 2].map(near);
    assert!((times / best / (variance / least) - 1.0).abs() < 1e-12);
}
