//! The planner on random questions. Its predicted error is that of the reports, and no other choice
//! with the same privacy is better.

use std::fs;
use std::ops::Range;

use crate::support::alternatives::Asked;
use crate::support::simulation::Simulation;
use hushbin::Task;
use hushbin_analysis::estimate::Estimand;
use hushbin_tests::process::answer;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;

/// Seeds of questions. They exercise nearly every part of the planner's search: without that part,
/// a random alternative would be better for one of them. The best sparsity of the last seed lies
/// between the first candidates.
const QUESTIONS: (Range<u64>, u64) = (427..446, 466);
/// Random alternatives per question.
const ALTERNATIVES: u32 = 50;
/// Greatest relative error of a prediction.
const MARGIN: f64 = 0.05;

/// Number of runs that gives at least 6400 estimates. Their mean squared error has a relative
/// standard deviation of √(2/6400) or 1.8%, the root 0.9%. So a correct prediction exceeds the
/// margin with a probability below 10⁻⁷. There are at least 12 runs, so that the bias of an item
/// meets different noise.
fn runs(items: u32) -> u32 {
    6400_u32.div_ceil(items).max(12)
}

/// Questions with their seeds.
fn questions() -> impl Iterator<Item = (u64, Asked)> {
    let (seeds, last) = QUESTIONS;
    seeds
        .chain([last])
        .map(|seed| (seed, Asked::random(seed, runs)))
}

/// Runs the command. Returns its answer and the task that it writes.
fn planned(asked: &Asked, simulation: &Simulation) -> (Value, Task) {
    let out = format!("--out={}", simulation.task().display());
    let mut arguments = vec!["plan", "--json", &out];
    let asked = asked.arguments();
    arguments.extend(asked.iter().map(String::as_str));
    let answer = answer(&arguments);
    let task = fs::read_to_string(simulation.task()).unwrap();
    let task: Task = serde_json::from_str(&task).unwrap();
    assert_eq!(answer["task"], serde_json::to_value(&task).unwrap());
    (answer, task)
}

#[test]
fn questions_are_of_every_kind() {
    let kinds = |kind: &dyn Fn(&Asked) -> bool| {
        let of_kind = questions().filter(|(_, asked)| kind(asked)).count();
        assert!((4..=16).contains(&of_kind), "{of_kind}");
    };
    kinds(&|asked| asked.event);
    kinds(&|asked| asked.frequency);
    kinds(&|asked| asked.entries.is_ok());
    kinds(&|asked| asked.privacy.central.is_some());
}

/// Root of the mean squared error over all estimates, and the share of its square that is due to
/// the bias for these people.
fn measured(asked: &Asked, task: &Task, simulation: &Simulation) -> (f64, f64) {
    // Frequencies are those of both signs.
    let estimands: &[Estimand] = if asked.frequency {
        &[Estimand::Plus, Estimand::Minus]
    } else {
        &[Estimand::Mean]
    };
    let (mut mse, mut bias) = (0.0, 0.0);
    for (seed, &estimand) in (1..).zip(estimands) {
        let found = simulation.run(task, estimand, runs(asked.items).into(), seed);
        mse += found.mse / estimands.len() as f64;
        bias += found.predicted_squared_bias / estimands.len() as f64;
    }
    (mse.sqrt(), bias)
}

/// People with random items, and the worst case for bias: people who all have the same items.
#[test]
fn errors_are_as_predicted() {
    let ones = [1.0; 64];
    for (seed, asked) in questions() {
        let mut simulation = Simulation::new();
        let (answer, task) = planned(&asked, &simulation);
        let stated = |name: &str| answer["questions"][0][name].as_f64().unwrap();
        let assert_near = |measured: f64, name: &str| {
            let ratio = measured / stated(name);
            println!("{seed}: {name} {measured:.3e}, {ratio:.3} of what is stated");
            assert!((ratio - 1.0).abs() < MARGIN, "{name}: {asked:?}: {task:?}");
        };
        let entries = asked.by_person();
        let people = entries.iter().map(|&entries| &ones[..entries as usize]);
        simulation.scatter(asked.items, people, seed);
        let (error, bias) = measured(&asked, &task, &simulation);
        assert_near((error * error - bias).sqrt(), "standard_error");
        if stated("bias") > 0.0 {
            simulation.agree(asked.items, entries.iter().copied());
            let (error, _) = measured(&asked, &task, &simulation);
            assert_near(error, "error");
        } else {
            assert_eq!(bias, 0.0);
        }
    }
}

/// Random tasks with as much protection, and with their own local ε for a central target. None has
/// an error smaller by more than a hundredth.
#[test]
fn no_random_alternative_is_better() {
    for (seed, asked) in questions() {
        let simulation = Simulation::new();
        let (answer, ours) = planned(&asked, &simulation);
        assert!(asked.keeps(&ours), "{asked:?}: {ours:?}");
        let stated = answer["questions"][0]["error"].as_f64().unwrap();
        // The plan states the worst case, but is chosen by the expected error.
        let worst = asked.error(&ours).unwrap().worst_case_total_error().sqrt();
        assert!((stated / worst - 1.0).abs() < 1e-9, "{asked:?}");
        let error = |task: &Task| asked.error(task).unwrap().likely_total_error().sqrt();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut best = f64::INFINITY;
        for _ in 0..ALTERNATIVES {
            let other = asked.alternative(&ours, &mut rng);
            let ratio = error(&other) / error(&ours);
            assert!(
                ratio > 0.99,
                "{ratio} of the error of {ours:?} has {other:?}: {asked:?}"
            );
            best = ratio.min(best);
        }
        println!("{seed}: the best has {best:.4} of the error");
    }
}
