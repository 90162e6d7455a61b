//! Tests that compare the likelihoods of this module with the probabilities of the core's
//! randomizer.

use hushbin::domain::SignedItem;
use hushbin::hash::HashFamily;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::{Entry, Items, Mechanism, RatingsTaskFields, Report, Task, ValueKind};

use super::{Hypothesis, core_bucket_probability_fn, neighbour_pairs, observe_report};

fn task(items: u32, sparsity: u32, epsilon: f64, mechanism: Mechanism) -> Task {
    Task::new(RatingsTaskFields {
        id: "likelihood".to_owned(),
        items: Items::Count(items),
        sparsity,
        epsilon,
        value: ValueKind::Real,
        mechanism,
    })
    .unwrap()
}

/// Returns tasks with every rule and every kind of hash, with few and many buckets, favoured
/// buckets and hash functions.
fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for hashing in [HashFamily::Balanced, HashFamily::Independent] {
        for (items, sparsity) in [(1, 1), (4, 2), (9, 3), (12, 6)] {
            for buckets in [2, 4, 8, 14, 40] {
                let hashes = [1, 1, 1, 3, 17];
                let favoured = [1, sparsity, buckets / 2, 2 * sparsity, 5 * buckets];
                for (favoured, hashes) in favoured.into_iter().zip(hashes) {
                    let rule = collision::FavouredBucketRule::Heaviest { favoured };
                    let collision = Collision::new_with_hash_count(rule, hashing, buckets, hashes);
                    if let Ok(collision) = collision {
                        tasks.push((items, sparsity, Mechanism::Collision(collision)));
                    }
                    let rule = coco::FavouredSideRule::Strongest { favoured };
                    if let Ok(coco) = Coco::new_with_hash_count(rule, hashing, buckets, hashes) {
                        tasks.push((items, sparsity, Mechanism::Coco(coco)));
                    }
                }
                if buckets > sparsity {
                    let rule = collision::FavouredBucketRule::Occupied;
                    let collision = Collision::new(rule, hashing, buckets).unwrap();
                    tasks.push((items, sparsity, Mechanism::Collision(collision)));
                }
                if buckets >= 2 * sparsity + 2 {
                    let coco =
                        Coco::new(coco::FavouredSideRule::RandomEntryDecides, hashing, buckets)
                            .unwrap();
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

/// Enumerates the outcomes of ternarisation and sampling down, with the probabilities. Returns
/// `None` for more than 6 entries.
fn left(task: &Task, input: &[Entry]) -> Option<Vec<(f64, Vec<Entry>)>> {
    let keep = task.questions()[0].max_entries_per_report();
    let sizes = 0..=input.len() as u32;
    let choices: Vec<f64> = sizes.map(|n| choose(n, keep.min(n))).collect();
    let mut left = Vec::new();
    if input.len() > 6 {
        return None;
    }
    for drawn in 0_u32..1 << input.len() {
        let probability: f64 = (0..)
            .zip(input)
            .map(|(bit, entry)| match drawn >> bit & 1 {
                1 => entry.value.abs(),
                _ => 1.0 - entry.value.abs(),
            })
            .product();
        for kept in 0_u32..1 << input.len() {
            let drawn_number = drawn.count_ones();
            if kept & !drawn == 0 && kept.count_ones() == keep.min(drawn_number) {
                let signed = (0..).zip(input).filter(|(bit, _)| kept >> bit & 1 == 1);
                let signed = signed.map(|(_, entry)| Entry {
                    item: entry.item,
                    value: entry.value.signum(),
                });
                let share = probability / choices[drawn_number as usize];
                if share > 0.0 {
                    left.push((share, signed.collect()));
                }
            }
        }
    }
    Some(left)
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |ways, i| ways * f64::from(n - i) / f64::from(i + 1))
}

/// Returns the core's bucket probabilities for the mixture of inputs that [`left`] returned.
fn core_of_mixture(task: &Task, seed: u64, left: &[(f64, Vec<Entry>)]) -> Vec<f64> {
    let rows = left.iter().map(|(share, input)| {
        let row = core(task, seed, input);
        row.into_iter().map(|p| p * share).collect::<Vec<f64>>()
    });
    rows.reduce(|sum, row| sum.iter().zip(row).map(|(a, b)| a + b).collect())
        .unwrap()
}

/// Returns the core's bucket probabilities for an input, averaged over the signs of padding
/// elements.
fn core(task: &Task, seed: u64, input: &[Entry]) -> Vec<f64> {
    let signed: Vec<SignedItem> = input
        .iter()
        .map(|entry| SignedItem {
            item: entry.item,
            is_negative: entry.value < 0.0,
        })
        .collect();
    let mut probabilities = core_bucket_probability_fn(&task.questions()[0]).unwrap();
    let signs = 1 << (task.questions()[0].max_entries_per_report() as usize - input.len());
    let mut mean = probabilities(seed, &signed, 0);
    for signs in 1..signs {
        let other = probabilities(seed, &signed, signs);
        mean.iter_mut().zip(other).for_each(|(sum, p)| *sum += p);
    }
    mean.iter().map(|p| p / signs as f64).collect()
}

#[test]
fn ratios_are_those_of_the_core() {
    let (mut compared, mut of_mixtures) = (0, 0);
    let tasks = tasks();
    for task in &tasks {
        let approximate = |left: &[(f64, Vec<Entry>)]| match task.questions()[0].mechanism() {
            Mechanism::Coco(coco) => {
                let full = |(_, part): &(f64, Vec<Entry>)| {
                    part.len() as u32 == task.questions()[0].max_entries_per_report()
                };
                !left.iter().all(full) && coco.rule_name() == coco::FavouredSideRuleName::Strongest
            }
            _ => false,
        };
        for pair in neighbour_pairs(&task.questions()[0]) {
            let [Some(first), Some(second)] = pair.inputs.each_ref().map(|i| left(task, i)) else {
                continue;
            };
            // If the mixture has more parts than this, a hypothesis is approximate.
            let s = task.questions()[0].max_entries_per_report();
            let is_exact = |input: &[Entry]| {
                let present = input.iter().filter(|entry| entry.value != 0.0);
                let fractions = present.clone().filter(|entry| entry.value.abs() < 1.0);
                let (present, fractions) = (present.count() as u32, fractions.count());
                let parts = choose(present, s.min(present)) * 2_f64.powi(fractions as i32);
                parts <= f64::from(64 / s)
            };
            let exact = pair.inputs.iter().all(|input| is_exact(input));
            if !exact || approximate(&first) || approximate(&second) {
                continue;
            }
            let mixture = first.len() > 1 || second.len() > 1;
            let hypotheses = pair
                .inputs
                .each_ref()
                .map(|i| Hypothesis::new(&task.questions()[0], i));
            for seed in [0, 7, 0x0123_4567_89ab_cdef, u64::MAX] {
                let core = [&first, &second].map(|left| core_of_mixture(task, seed, left));
                for (bucket, (p, q)) in (0..).zip(core[0].iter().zip(&core[1])) {
                    let report = BucketReport { seed, bucket };
                    let report = match task.questions()[0].mechanism() {
                        Mechanism::Collision(_) => Report::Collision(report),
                        Mechanism::Coco(_) => Report::Coco(report),
                        _ => unreachable!(),
                    };
                    let ours = observe_report(&task.questions()[0], hypotheses.each_ref(), &report)
                        .log_likelihood_ratio;
                    let exact = (p / q).ln();
                    assert!(
                        (ours - exact).abs() < 1e-11,
                        "{ours}, not {exact}: {task:?}, {pair:?}, {report:?}"
                    );
                    compared += 1;
                    of_mixtures += usize::from(mixture);
                }
            }
        }
    }
    assert!(
        tasks.len() > 150 && compared > 40_000 && of_mixtures > 10_000,
        "{} {compared} {of_mixtures}",
        tasks.len()
    );
}

/// Inputs without entries have nothing to hash if padding elements are left out. This must not
/// fail.
#[test]
fn no_report_tells_inputs_without_entries_apart() {
    for task in tasks() {
        let inputs = [
            &[][..],
            &[Entry {
                item: 0,
                value: 0.0,
            }],
        ];
        let hypotheses = inputs.map(|input| Hypothesis::new(&task.questions()[0], input));
        let report = BucketReport { seed: 7, bucket: 1 };
        let report = match task.questions()[0].mechanism() {
            Mechanism::Collision(_) => Report::Collision(report),
            Mechanism::Coco(_) => Report::Coco(report),
            _ => unreachable!(),
        };
        let seen = observe_report(&task.questions()[0], hypotheses.each_ref(), &report);
        assert_eq!(seen.log_likelihood_ratio, 0.0, "{task:?}");
    }
}

/// Parts have at most s entries. The expected number of entries is exact if all parts are
/// enumerated, and otherwise approximately right.
#[test]
fn parts_leave_entries_as_often_as_ternarisation_does() {
    let collision = Collision::new(
        collision::FavouredBucketRule::Occupied,
        HashFamily::Balanced,
        80,
    )
    .unwrap();
    for (sparsity, tolerance) in [(1, 1e-12), (2, 0.05), (3, 0.05), (12, 0.05), (64, 0.2)] {
        let task = task(300, sparsity, 1.0, Mechanism::Collision(collision));
        for pair in neighbour_pairs(&task.questions()[0]) {
            for input in pair.inputs {
                let hypothesis = Hypothesis::new(&task.questions()[0], &input);
                let parts = hypothesis.mixture_parts();
                let total: f64 = parts.iter().map(|part| part.probability).sum();
                assert!((total - 1.0).abs() < 1e-12, "{input:?}");
                let mut kept = 0.0;
                for part in parts {
                    assert!(part.kept_entry_indices.len() <= sparsity as usize);
                    kept += part.probability * part.kept_entry_indices.len() as f64;
                }
                let exact = match left(&task, &input) {
                    Some(left) => left.iter().map(|(p, part)| p * part.len() as f64).sum(),
                    None => {
                        let drawn: f64 = input.iter().map(|entry| entry.value.abs()).sum();
                        drawn.min(f64::from(sparsity))
                    }
                };
                let off = (kept - exact).abs() / f64::from(sparsity);
                assert!(off < tolerance, "{kept} of {exact}: {input:?}");
            }
        }
    }
}
