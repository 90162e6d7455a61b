//! Numbers on a grid, the whole way: estimates and their intervals, likelihoods,
//! shuffled batches and the choice for a central ε.

use hushbin::domain::{Domain, Signed};
use hushbin::hash::for_each_drawn;
use hushbin::mechanism::grid::{Grid, Randomizer, Report};
use hushbin::{Entry, Mechanism, Question, Task, TaskDraft};
use hushbin_analysis::accounting::{Mixture, account};
use hushbin_analysis::estimate::{
    Aim, Estimand, Estimates, Estimator, Options, Predictor, Query, Totals,
};
use hushbin_analysis::likelihood::{Hypothesis, core_probabilities, neighbour_pairs, observe};
use hushbin_analysis::plan::{Plan, Survey, plan};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Where people are in ranges from −1 to 1: at an end, around, between levels, or all over.
const PEOPLE: [[f64; 4]; 5] = [
    [1.0, 1.0, 1.0, 1.0],
    [0.1, -0.1, 0.3, 0.0],
    [-0.8, -0.9, -1.0, -0.7],
    [-1.0, 1.0, 0.5, -0.5],
    [0.6, 0.6, 0.6, 0.6],
];

fn numbers(attributes: usize, mechanism: &Value) -> Value {
    let of: Vec<Value> = (0..attributes)
        .map(|index| json!({ "name": format!("n{index}"), "min": -1, "max": 1 }))
        .collect();
    json!({ "name": "all", "kind": "numbers", "of": of, "mechanism": mechanism })
}

fn task(attributes: usize, drawn: u32, steps: u32, epsilon: f64) -> Task {
    let mechanism = json!({ "name": "grid", "drawn": drawn, "steps": steps });
    let questions = [numbers(attributes, &mechanism)];
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve().unwrap()
}

fn grid_of(question: &Question) -> &Grid {
    match question.mechanism() {
        Mechanism::Grid(grid) => grid,
        other => panic!("{other:?}"),
    }
}

fn answer(attributes: usize, person: usize) -> Vec<Entry> {
    let entry = |(item, numbers): (u64, &[f64; 4])| Entry {
        item,
        value: numbers[person % 4],
    };
    (0..).zip(&PEOPLE[..attributes]).map(entry).collect()
}

fn batch(task: &Task, people: usize, seed: u64) -> Totals {
    let attributes = task.questions()[0].items().count().unwrap() as usize;
    let (mut rng, mut totals) = (ChaCha20Rng::seed_from_u64(seed), Totals::new(task));
    let mut randomizer = hushbin::Randomizer::new(task);
    for person in 0..people {
        let made = randomizer.randomize(&answer(attributes, person), &mut rng);
        totals.fold(&made.unwrap().report);
    }
    totals
}

fn estimates(task: &Task, totals: &Totals, confidence: f64) -> Estimates {
    let options = Options {
        confidence,
        ..Options::default()
    };
    let query = Query::new(task, &options).unwrap();
    Estimator::for_task(task.clone()).estimates(totals, &query)
}

const BATCHES: u64 = 400;

/// Intervals cover, by the significance of 10⁻⁷, and estimates are unbiased: 5.3 standard
/// errors of their average happen by chance with as much. Standard errors are those of
/// people drawn anew from people at levels, as large as the errors or larger.
#[test]
fn means_are_unbiased_and_covered() {
    for (attributes, drawn, steps, epsilon, people) in [
        (1, 1, 2, 2.0, 100),
        (5, 5, 2, 5.0, 200),
        (5, 2, 4, 4.0, 400),
        (5, 1, 16, 6.0, 40),
        (5, 3, 3, 8.0, 300),
        (5, 2, 1, 1.0, 300),
    ] {
        let what = format!("{drawn} of {attributes}, {steps} steps, ε = {epsilon}, n = {people}");
        let task = task(attributes, drawn, steps, epsilon);
        let confidences = [0.9, 0.95, 0.99];
        let mut covered = vec![[0; 3]; attributes];
        let mut together = [0; 3];
        let mut sums = vec![[0.0_f64; 3]; attributes];
        for seed in 0..BATCHES {
            let totals = batch(&task, people, seed);
            for (level, confidence) in confidences.into_iter().enumerate() {
                let mut all = true;
                let found = estimates(&task, &totals, confidence).estimates;
                for (index, item) in found.iter().enumerate() {
                    let (estimand, mean) = item.estimates().next().unwrap();
                    assert_eq!(estimand, Estimand::Mean);
                    let truth = PEOPLE[index].iter().sum::<f64>() / 4.0;
                    let holds = |[low, high]: [f64; 2]| (low..=high).contains(&truth);
                    covered[index][level] += u64::from(holds(mean.interval));
                    all &= holds(mean.simultaneous_interval);
                    if level == 0 {
                        let error = mean.estimate - truth;
                        sums[index][0] += error;
                        sums[index][1] += error * error;
                        sums[index][2] += mean.standard_error.powi(2);
                    }
                }
                together[level] += u64::from(all);
            }
        }
        for (level, confidence) in confidences.into_iter().enumerate() {
            let law = Binomial::new(confidence, BATCHES).unwrap();
            let counts = covered.iter().map(|own| own[level]);
            for count in counts.chain([together[level]]) {
                assert!(law.cdf(count) >= 1e-7, "{what}: {covered:?}, {together:?}");
            }
        }
        for (index, [sum, squares, stated]) in sums.into_iter().enumerate() {
            let z = sum / squares.sqrt();
            assert!(z.abs() < 5.3, "{what}, n{index}: {z}");
            // People's own spread is stated too.
            assert!(
                squares / stated < 1.4,
                "{what}, n{index}: {squares}, {stated}"
            );
        }
    }
}

/// In the middle of a range, where inner levels are, a standard error is a fraction of the
/// one at the worst.
#[test]
fn standard_errors_are_those_of_where_people_are() {
    let task = task(5, 5, 2, 9.0);
    let question = &task.questions()[0];
    let rates = grid_of(question).rates(&question.domain(), 9.0);
    let found = estimates(&task, &batch(&task, 20_000, 3), 0.95).estimates;
    let error = |index: usize| found[index].estimates().next().unwrap().1.standard_error;
    for (index, people) in PEOPLE.iter().enumerate() {
        let square = people
            .iter()
            .map(|x| rates.mean_square(rates.rounded_square(*x)));
        let mean = people.iter().sum::<f64>() / 4.0;
        let variance = square.sum::<f64>() / 4.0 - mean * mean;
        let ratio = error(index) / (variance / 20_000.0).sqrt();
        assert!((ratio - 1.0).abs() < 0.05, "n{index}: {ratio}");
    }
    assert!(error(1) < 0.5 * error(3));
}

/// By hand: sums of levels, however often an attribute was drawn.
#[test]
fn estimates_are_scaled_sums_of_levels() {
    let task = task(5, 2, 2, 2.0);
    let question = &task.questions()[0];
    let rates = grid_of(question).rates(&question.domain(), 2.0);
    let mut totals = Totals::new(&task);
    let mut sums = [0.0; 5];
    for seed in 0..60 {
        let bucket = [0, 4, 8, 5][seed as usize % 4];
        totals.fold(&hushbin::Report::Grid(Report { seed, bucket }));
        let mut levels = [bucket % 3, bucket / 3].into_iter();
        for_each_drawn(seed, 5, 2, |attribute| {
            sums[attribute as usize] += f64::from(levels.next().unwrap()) - 1.0;
        });
    }
    let points = Estimator::for_task(task.clone()).points(&totals, 0, &[0, 1, 2, 3, 4]);
    for (point, sum) in points.iter().zip(sums) {
        let expected: f64 = 2.5 / rates.kept * sum / 60.0;
        assert!((point.mean.unwrap().estimate - expected).abs() < 1e-12);
    }
    let predictor = Predictor::for_question(question);
    let worst = predictor.standard_error(Estimand::Mean, 10.0).unwrap();
    assert!((worst - (rates.worst_variance() / 10.0).sqrt()).abs() < 1e-12);
    assert!(predictor.standard_error(Estimand::Share, 10.0).is_none());
}

/// What is planned for is the worst of all crowds: of given numbers that of the number that is
/// told worst, inside the range; where who is asked varies, too, halves at either end.
#[test]
fn the_worst_crowd_is_planned_for() {
    for (numbers, drawn, steps, epsilon) in [
        (1, 1, 2, 2.0),
        (1, 1, 4, 4.0),
        (2, 2, 2, 4.0),
        (3, 1, 5, 6.0),
        (5, 2, 3, 2.0),
    ] {
        let task = task(numbers, drawn, steps, epsilon);
        let question = &task.questions()[0];
        let rates = grid_of(question).rates(&question.domain(), epsilon);
        let values: Vec<[f64; 2]> = (-500..=500)
            .map(|step| f64::from(step) / 500.0)
            .map(|value| [value, rates.variance(value)])
            .collect();
        let given = values.iter().map(|own| own[1]).fold(0.0, f64::max);
        let pairs = values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)));
        let varying = pairs.map(|(a, b)| 0.5 * (a[1] + b[1]) + 0.25 * (a[0] - b[0]).powi(2));
        let varying = varying.fold(0.0, f64::max);
        let predictor = Predictor::for_question(question);
        for (several, worst) in [(false, given), (true, varying)] {
            let planned = predictor.worst_variance(Aim::Mean, several).unwrap();
            let ratio = planned / worst;
            let what = format!("{drawn} of {numbers}, {steps}, {epsilon}, {several}: {ratio}");
            assert!((1.0 - 1e-9..1.0 + 1e-4).contains(&ratio), "{what}");
        }
    }
}

/// Likelihoods, written from the definition and at the ε asked for, against the core's
/// probabilities; of the worst pairs one loses all of ε.
#[test]
fn ratios_are_those_of_the_core() {
    let mut compared = 0;
    for (attributes, drawn, steps, epsilon) in [
        (1, 1, 1, 1.0),
        (5, 1, 4, 2.0),
        (5, 2, 2, 1.0),
        (4, 3, 3, 3.0),
    ] {
        let task = task(attributes, drawn, steps, epsilon);
        let question = &task.questions()[0];
        let own = *grid_of(question);
        let core = Randomizer::new(&own, &question.domain(), epsilon);
        let mut pairs: Vec<[Vec<Entry>; 2]> = neighbour_pairs(question)
            .into_iter()
            .map(|pair| pair.inputs)
            .collect();
        pairs.push([0, 1].map(|person| answer(attributes, person)));
        let mut most = 0.0_f64;
        for inputs in pairs {
            let hypotheses = inputs
                .each_ref()
                .map(|input| Hypothesis::new(question, input));
            for seed in [0, 7, u64::MAX] {
                let [first, second] = inputs
                    .each_ref()
                    // Beyond the ends they count as these.
                    .map(|input| {
                        let coded = input.iter().map(|entry| Entry {
                            value: entry.value.clamp(-1.0, 1.0),
                            ..*entry
                        });
                        core.probabilities(seed, &coded.collect::<Vec<_>>())
                    });
                for bucket in 0..own.cells() {
                    let report = hushbin::Report::Grid(Report { seed, bucket });
                    let ours = observe(question, hypotheses.each_ref(), &report).log_ratio;
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
        // At the ends, as audits list inputs.
        let mut listed = core_probabilities(question).unwrap();
        let signed: Vec<Signed> = (0..attributes as u64)
            .map(|item| Signed {
                item,
                negative: item % 2 == 1,
            })
            .collect();
        let ends: Vec<Entry> = (0..attributes as u64)
            .map(|item| Entry {
                item,
                value: if item % 2 == 1 { -1.0 } else { 1.0 },
            })
            .collect();
        assert_eq!(listed(3, &signed, 0), core.probabilities(3, &ends));
    }
    assert_eq!(compared, 15 * (2 + 5 + 9 + 64));
}

/// Closed forms of the paper: γ of a message, for n people, M cells and ε_c = 1.
fn closed_form(cells: f64, n: f64) -> f64 {
    let delta: f64 = 1e-6;
    (14.0 * cells * (2.0 / delta).ln() / (n - 1.0)).max(27.0 * cells / (n - 1.0))
}

/// With r + 1 for the number of cells, as Algorithm 5 is printed, batches give away more
/// than is said: of four numbers on four levels by far.
#[test]
fn the_printed_gamma_is_too_small() {
    let (own, n) = (Grid::new(4, 3).unwrap(), 100_000);
    let central = |gamma: f64| {
        let epsilon = (1.0 + f64::from(own.cells()) * (1.0 - gamma) / gamma).ln();
        let mechanism = Mechanism::Grid(own);
        let mixture = Mixture::for_mechanism(&mechanism, &Domain::dense(4), epsilon).unwrap();
        let found = account(&mixture, n, 1.0, 1e-6).unwrap();
        // The numbers of reports of two cells give away as much.
        assert!(found.reduction_attained);
        [found.reduction_lower_epsilon, found.central_epsilon]
    };
    assert!(central(closed_form(4.0, n as f64))[0] > 2.0);
    assert!(central(closed_form(256.0, n as f64))[1] < 1.0);
}

fn planned(mechanism: &Value, fields: &Value) -> Plan {
    let mut asked = json!({ "questions": [numbers(2, mechanism)], "people": 100_000 });
    for (field, value) in fields.as_object().unwrap() {
        asked[field] = value.clone();
    }
    let asked: Survey = serde_json::from_value(asked).unwrap();
    plan(&asked).unwrap()
}

/// A survey that asks for the grid by name has the one chosen for its central ε; one that
/// names none has the cube, whose errors count how people differ among themselves.
#[test]
fn surveys_plan_grids() {
    let goals = json!({ "central_epsilon": 1.0, "delta": 1e-6, "honest_fraction": 1.0 });
    let mut free = goals.clone();
    free["epsilon"] = json!(12.0);
    for (fields, steps, epsilon) in [(&goals, 2, 4.0), (&free, 6, 7.784)] {
        let found = planned(&json!("grid"), fields);
        let own = grid_of(&found.task.questions()[0]);
        assert_eq!((own.drawn(), own.steps()), (2, steps));
        assert_eq!(found.epsilon, epsilon);
        assert!(found.central.unwrap().central_epsilon <= 1.0 + 1e-9);
    }
    let said = json!({ "name": "grid", "drawn": 1 });
    let found = planned(&said, &free);
    assert_eq!(grid_of(&found.task.questions()[0]).drawn(), 1);
    let open = planned(&json!("auto"), &free);
    assert_eq!(open.task.questions()[0].mechanism().name(), "cube");
    // Without a central ε, the best at the local one.
    let found = planned(&json!("grid"), &json!({ "epsilon": 4.0 }));
    assert_eq!(grid_of(&found.task.questions()[0]).steps(), 2);
}
