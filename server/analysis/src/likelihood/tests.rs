//! Likelihoods by definition against the core's probabilities.

use hushbin::domain::Signed;
use hushbin::hash::Hashing;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::{Entry, Items, Mechanism, Report, Task, TaskParts, ValueKind};

use super::{core_probabilities, neighbour_pairs, observe};

fn task(items: u32, sparsity: u32, epsilon: f64, mechanism: Mechanism) -> Task {
    Task::new(TaskParts {
        id: "likelihood".to_owned(),
        items: Items::Count(items),
        sparsity,
        epsilon,
        value: ValueKind::Sign,
        mechanism,
    })
    .unwrap()
}

/// Every rule and hashing, with few and many buckets and favoured.
fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for hashing in [Hashing::Balanced, Hashing::Independent] {
        for (items, sparsity) in [(1, 1), (4, 2), (9, 3), (12, 6)] {
            for buckets in [2, 4, 8, 14, 40] {
                for favoured in [1, sparsity, buckets / 2] {
                    let rule = collision::Rule::Heaviest { favoured };
                    if let Ok(collision) = Collision::new(rule, hashing, buckets) {
                        tasks.push((items, sparsity, Mechanism::Collision(collision)));
                    }
                    let rule = coco::Rule::Strongest { favoured };
                    if let Ok(coco) = Coco::new(rule, hashing, buckets) {
                        tasks.push((items, sparsity, Mechanism::Coco(coco)));
                    }
                }
                if buckets > sparsity {
                    let rule = collision::Rule::Occupied;
                    let collision = Collision::new(rule, hashing, buckets).unwrap();
                    tasks.push((items, sparsity, Mechanism::Collision(collision)));
                }
                if buckets >= 2 * sparsity + 2 {
                    let coco = Coco::new(coco::Rule::Overwrite, hashing, buckets).unwrap();
                    tasks.push((items, sparsity, Mechanism::Coco(coco)));
                }
            }
        }
    }
    let epsilons = [0.1, 1.0, 5.0].into_iter().cycle();
    let tasks = tasks.into_iter().zip(epsilons);
    tasks
        .map(|((items, sparsity, mechanism), epsilon)| task(items, sparsity, epsilon, mechanism))
        .collect()
}

/// The core's probabilities of buckets, averaged over signs of paddings.
fn core(task: &Task, seed: u64, input: &[Entry]) -> Vec<f64> {
    let signed: Vec<Signed> = input
        .iter()
        .map(|entry| Signed {
            item: entry.item,
            negative: entry.value < 0.0,
        })
        .collect();
    let mut probabilities = core_probabilities(task).unwrap();
    let signs = 1 << (task.sparsity() as usize - input.len());
    let mut mean = probabilities(seed, &signed, 0);
    for signs in 1..signs {
        let other = probabilities(seed, &signed, signs);
        mean.iter_mut().zip(other).for_each(|(sum, p)| *sum += p);
    }
    mean.iter().map(|p| p / signs as f64).collect()
}

#[test]
fn ratios_are_those_of_the_core() {
    let mut compared = 0;
    let tasks = tasks();
    for task in &tasks {
        let approximate = |input: &[Entry]| match task.mechanism() {
            Mechanism::Coco(coco) => {
                let full = input.len() as u32 == task.sparsity();
                !full && coco.rule_name() == coco::RuleName::Strongest
            }
            Mechanism::Collision(_) | Mechanism::HashBin(_) => false,
        };
        for pair in neighbour_pairs(task) {
            let inputs = [&pair.inputs[0][..], &pair.inputs[1][..]];
            if inputs.iter().any(|input| approximate(input)) {
                continue;
            }
            for seed in [0, 7, 0x0123_4567_89ab_cdef, u64::MAX] {
                let [first, second] = inputs.map(|input| core(task, seed, input));
                for (bucket, (p, q)) in (0..).zip(first.iter().zip(&second)) {
                    let report = BucketReport { seed, bucket };
                    let report = match task.mechanism() {
                        Mechanism::Collision(_) => Report::Collision(report),
                        Mechanism::Coco(_) => Report::Coco(report),
                        Mechanism::HashBin(_) => unreachable!(),
                    };
                    let ours = observe(task, inputs, &report).log_ratio;
                    let exact = (p / q).ln();
                    assert!(
                        (ours - exact).abs() < 1e-11,
                        "{ours}, not {exact}: {task:?}, {pair:?}, {report:?}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(
        tasks.len() > 150 && compared > 15_000,
        "{} {compared}",
        tasks.len()
    );
}
