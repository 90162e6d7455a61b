//! The choice for hash-bin, and among mechanisms, has the least predicted error of all
//! alternatives. The prediction is correct.

use hushbin::choose::hash_bin::ParametersDraft as HashBinDraft;
use hushbin::choose::{Candidate, Objective, Population, PredictedErrors, PredictedSquaredError};
use hushbin::hash::{HashFamily, HashKeys};
use hushbin::mechanism::hash_bin::{
    HashBin, PrivacyLevel, PrivacyLevelName, RandomisedResponse, SumNoiseKind,
};
use hushbin::{Entry, Mechanism, Randomizer, RatingsTaskFields, Report, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::generators::seeded;
use crate::support::significance::{Moments, assert_moments};
use crate::support::task_files::{draft, with};

/// A draft with real values; `people` counts people by their number of entries.
fn file(items: &Value, epsilon: f64, mechanism: &Value) -> Value {
    json!({
        "id": "choice", "items": items, "epsilon": epsilon, "value": "real",
        "mechanism": mechanism,
    })
}

fn resolve(file: Value) -> Task {
    draft(file).resolve_task().unwrap()
}

fn even(items: u32, sparsity: u32, epsilon: f64, mechanism: &Value) -> Task {
    let file = file(&json!(items), epsilon, mechanism);
    resolve(with(file, "sparsity", json!(sparsity)))
}

fn hash_bin(task: &Task) -> HashBin {
    match task.questions()[0].mechanism() {
        Mechanism::HashBin(hash_bin) => *hash_bin,
        _ => panic!("{task:?}"),
    }
}

fn predicted_mean(mechanism: HashBin, task: &Task, crowd: &Population) -> PredictedSquaredError {
    let mechanism = Mechanism::HashBin(mechanism);
    let predicted = mechanism.predict_errors(&task.questions()[0].domain(), task.epsilon(), crowd);
    predicted.mean_error.unwrap()
}

const COUNTS: [&[u64]; 4] = [
    &[0, 0, 0, 100],
    &[500, 3000, 900, 300, 200, 50, 20, 10],
    &[0, 100_000, 50_000, 20_000, 0, 0, 0, 0, 0, 0, 0, 3000],
    &[
        900, 50, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20,
    ],
];

/// No clip of a fine grid is better, except by the sum's own variance, which the choice ignores.
#[test]
fn no_other_clip_is_better() {
    let mut inner = 0;
    for noise in [SumNoiseKind::TwoPoint, SumNoiseKind::Laplace] {
        for epsilon in [0.1, 1.0, 4.0, 12.0] {
            for (counts, people) in COUNTS.into_iter().flat_map(|c| [(c, 1e3), (c, 1e11)]) {
                let most = counts.len() as u32 - 1;
                let crowd = Population::from_people_by_entry_count(counts)
                    .unwrap()
                    .with_people_count(people);
                // If all people have equally many entries, the choice is for a domain of just those
                // items.
                let items = if crowd.has_equal_entries() { most } else { 40 };
                let task = even(items, most, epsilon, &json!("hash-bin"));
                let domain = task.questions()[0].domain();
                let draft = HashBinDraft {
                    noise: Some(noise),
                    ..HashBinDraft::default()
                };
                let chosen = HashBin::choose_parameters(&domain, epsilon, &draft, &crowd).unwrap();
                let error = |clip: f64| {
                    let level = PrivacyLevel::User { clip, noise };
                    let other = HashBin::new(level, chosen.hash_family(), 1, 1024).unwrap();
                    predicted_mean(other, &task, &crowd).likely_total_error()
                };
                let ours = error(chosen.privacy_level().clipping_bound().unwrap());
                // The clips start at 1, as a single entry is never clipped.
                let clips = (64..=64 * most).map(|step| f64::from(step) / 64.0);
                let best = clips.map(error).fold(f64::INFINITY, f64::min);
                // The sum's own variance is at most 1 for each entry of a person.
                let entries = crowd.average_over_people(f64::from) / f64::from(items);
                let slack = entries / crowd.people_count();
                assert!(ours <= best + slack, "{ours} {best}: {chosen:?} {counts:?}");
                assert!(
                    ours <= 1.1 * best,
                    "{ours} {best}: {chosen:?} {counts:?}, {epsilon}"
                );
                inner += u32::from(chosen.share_surviving_clipping(most) < 0.9);
            }
        }
    }
    // Some crowds are worth clipping, some are not.
    assert!((10..40).contains(&inner), "{inner}");
}

/// The better of the two kinds of noise is chosen, each with its best clip.
#[test]
fn no_other_noise_is_better() {
    let mut taken = std::collections::BTreeSet::new();
    for step in 1..=48 {
        let epsilon = f64::from(step) / 4.0;
        for counts in COUNTS {
            for people in [1e3, 1e6, 1e11] {
                let most = counts.len() as u32 - 1;
                let crowd = Population::from_people_by_entry_count(counts)
                    .unwrap()
                    .with_people_count(people);
                let items = if crowd.has_equal_entries() { most } else { 40 };
                let task = even(items, most, epsilon, &json!("hash-bin"));
                let choose = |noise: Option<SumNoiseKind>| {
                    let draft = HashBinDraft {
                        noise,
                        ..HashBinDraft::default()
                    };
                    HashBin::choose_parameters(
                        &task.questions()[0].domain(),
                        epsilon,
                        &draft,
                        &crowd,
                    )
                    .unwrap()
                };
                let chosen = choose(None);
                let ours = predicted_mean(chosen, &task, &crowd).likely_total_error();
                for noise in [SumNoiseKind::TwoPoint, SumNoiseKind::Laplace] {
                    let other =
                        predicted_mean(choose(Some(noise)), &task, &crowd).likely_total_error();
                    assert!(
                        ours <= other * (1.0 + 1e-6),
                        "{ours} {other}: {chosen:?}, {epsilon}"
                    );
                }
                taken.insert(format!("{:?}", chosen.privacy_level().sum_noise_kind()));
            }
        }
    }
    assert_eq!(taken.len(), 2);
}

/// The chosen number of bins adds at most an eighth to the cost of noise. With δ no other number is
/// better.
#[test]
fn no_other_bins_are_much_better() {
    let levels = [
        json!({ "name": "hash-bin", "level": "event" }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 0.5 }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 40.0 }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 200.0, "delta": 1e-3 }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 2000.0, "delta": 1e-6 }),
    ];
    for mechanism in levels {
        for (items, sparsity) in [(30, 3), (300, 40), (2000, 500)] {
            for epsilon in [0.1, 1.0, 3.0] {
                let task = even(items, sparsity, epsilon, &mechanism);
                let crowd = Population::with_equal_entries(1000.0, sparsity);
                let chosen = hash_bin(&task);
                let error = |bins: u32| {
                    let other =
                        HashBin::new(chosen.privacy_level(), chosen.hash_family(), bins, 1024);
                    predicted_mean(other.unwrap(), &task, &crowd).worst_case_total_error()
                };
                let ours = error(chosen.bin_count());
                let best = (1..=items).map(error).fold(f64::INFINITY, f64::min);
                // An eighth more, and half a bin of rounding. With δ the choice is the least.
                let ratio = if chosen.realised_delta() > 0.0 {
                    1.001
                } else if chosen.bin_count() < 8 {
                    1.25
                } else {
                    1.13
                };
                assert!(
                    ours <= ratio * best,
                    "{}: {chosen:?}, {epsilon}, d = {items}, s = {sparsity}",
                    ours / best
                );
            }
        }
    }
}

/// Item j loses the average loss of the people with more than j entries. In the worst case all
/// people have the same first items.
#[test]
fn squared_bias_is_that_of_the_worst_case() {
    let items = 40;
    for counts in COUNTS {
        let crowd = Population::from_people_by_entry_count(counts).unwrap();
        let people: u64 = counts.iter().sum();
        assert_eq!(crowd.people_count(), people as f64);
        let worst = |lost: &dyn Fn(usize) -> f64| -> f64 {
            (0..counts.len())
                .map(|item| {
                    let having = (item + 1..counts.len()).map(|k| counts[k] as f64 * lost(k));
                    (having.sum::<f64>() / people as f64).powi(2)
                })
                .sum()
        };
        for s in 1..5 {
            let domain = even(items, s, 1.0, &json!("coco")).questions()[0].domain();
            let left_out = worst(&|k| (1.0 - f64::from(s) / k as f64).max(0.0));
            for mechanism in [json!("coco"), json!("collision")] {
                let task = even(items, s, 1.0, &mechanism);
                let predicted = task.questions()[0]
                    .mechanism()
                    .predict_errors(&domain, 1.0, &crowd);
                let ours = predicted.mean_error.unwrap().worst_case_squared_bias;
                let expected = left_out / f64::from(items);
                assert!((ours - expected).abs() <= 1e-12, "{ours} {expected}");
                if let Some(frequency) = predicted.frequency_error {
                    assert!((frequency.worst_case_squared_bias - expected / 2.0).abs() <= 1e-12);
                }
            }
            for clip in [0.5, 1.75, 6.0] {
                let level = PrivacyLevel::User {
                    clip,
                    noise: SumNoiseKind::TwoPoint,
                };
                let clipped = HashBin::new(level, HashFamily::Balanced, 1, 1024).unwrap();
                let predicted = Mechanism::HashBin(clipped).predict_errors(&domain, 1.0, &crowd);
                let ours = predicted.mean_error.unwrap().worst_case_squared_bias;
                let expected =
                    worst(&|k| 1.0 - clipped.share_surviving_clipping(k as u32)) / f64::from(items);
                assert!((ours - expected).abs() <= 1e-12, "{ours} {expected}");
            }
        }
    }
}

/// Average error of a task's predictions, weighted by the objective.
fn weighed(objective: Objective, predicted: &PredictedErrors) -> f64 {
    let part = |weight: f64, error: Option<PredictedSquaredError>| match error {
        _ if weight == 0.0 => 0.0,
        Some(error) => weight * error.likely_total_error(),
        None => f64::INFINITY,
    };
    let sum = part(objective.mean_weight, predicted.mean_error)
        + part(objective.frequency_weight, predicted.frequency_error)
        + part(objective.nonmissing_weight, predicted.nonmissing_error);
    sum / (objective.mean_weight + objective.frequency_weight + objective.nonmissing_weight)
}

fn error_of(task: &Task, objective: Objective, crowd: &Population) -> f64 {
    let predicted = task.questions()[0].mechanism().predict_errors(
        &task.questions()[0].domain(),
        task.epsilon(),
        crowd,
    );
    weighed(objective, &predicted)
}

/// Every sparsity of each mechanism alone, and of the automatic choice.
#[test]
fn no_other_sparsity_is_better() {
    let objectives = [
        (json!("mean"), Objective::MEAN_ONLY),
        (json!("frequency"), Objective::FREQUENCY_ONLY),
        (json!("nonmissing"), Objective::NONMISSING_ONLY),
        (
            json!({ "mean": 1.0, "frequency": 2.0 }),
            Objective {
                mean_weight: 1.0,
                frequency_weight: 2.0,
                nonmissing_weight: 0.0,
            },
        ),
    ];
    let mut distinct = std::collections::BTreeSet::new();
    for counts in &COUNTS[..3] {
        let crowd = Population::from_people_by_entry_count(counts).unwrap();
        let most = counts.len() - 1;
        for epsilon in [0.5, 2.0, 6.0] {
            for (name, objective) in &objectives {
                let auto = json!({ "name": "auto", "objective": name });
                let open = with(file(&json!(40), epsilon, &auto), "entries", json!(counts));
                let plan = draft(open.clone())
                    .choices_per_question()
                    .unwrap()
                    .remove(0);
                let picked = plan.chosen;
                let task = resolve(open);
                let ours = error_of(&task, *objective, &crowd);
                assert!((ours / picked.objective_error - 1.0).abs() < 1e-12);
                distinct.insert((picked.mechanism.name(), picked.sparsity));
                for mechanism in ["collision", "coco"] {
                    for s in 1..=most {
                        let file = file(&json!(40), epsilon, &json!(mechanism));
                        let other = resolve(with(file, "sparsity", json!(s)));
                        let error = error_of(&other, *objective, &crowd);
                        assert!(ours <= error, "{picked:?}, {mechanism}, s = {s}: {error}");
                    }
                }
                let file = with(
                    file(&json!(40), epsilon, &json!("hash-bin")),
                    "entries",
                    json!(counts),
                );
                let other = resolve(file);
                assert!(ours <= error_of(&other, *objective, &crowd));
            }
        }
    }
    assert!(distinct.len() >= 5, "{distinct:?}");
}

/// Some sparsities are skipped for many entries. None of the skipped ones is noticeably
/// better.
#[test]
fn no_sparsity_left_out_is_much_better() {
    let counts: Vec<u64> = (0..=60).map(|k| 40_000 / (1 + k * k)).collect();
    let crowd = Population::from_people_by_entry_count(&counts).unwrap();
    for epsilon in [1.0, 6.0] {
        let coco = file(&json!(200), epsilon, &json!("coco"));
        let chosen = resolve(with(coco.clone(), "entries", json!(counts)));
        let ours = error_of(&chosen, Objective::MEAN_ONLY, &crowd);
        for s in (1..=60).step_by(2) {
            let other = resolve(with(coco.clone(), "sparsity", json!(s)));
            let error = error_of(&other, Objective::MEAN_ONLY, &crowd);
            assert!(
                ours <= 1.02 * error,
                "{}: s = {s}",
                chosen.questions()[0].max_entries_per_report()
            );
        }
    }
}

fn level(candidate: &Candidate) -> Option<PrivacyLevelName> {
    match &candidate.mechanism {
        Mechanism::HashBin(hash_bin) => Some(hash_bin.privacy_level().name()),
        _ => None,
    }
}

/// A draft with sparsity s gets estimates that are unbiased for people with s entries.
#[test]
fn a_given_sparsity_is_never_clipped() {
    let mut picked = std::collections::BTreeSet::new();
    for (items, sparsity) in [(3, 1), (30, 3), (30, 30), (1000, 20)] {
        for epsilon in [0.1, 1.0, 4.0, 12.0] {
            for people in [1u64, 1000, 1_000_000_000] {
                for level in ["user", "event"] {
                    let auto = json!({ "name": "auto", "level": level });
                    let file = with(file(&json!(items), epsilon, &auto), "people", json!(people));
                    let plan = draft(with(file, "sparsity", json!(sparsity)));
                    let plan = plan.choices_per_question().unwrap().remove(0);
                    let left = match &plan.chosen.mechanism {
                        Mechanism::HashBin(hash_bin) => hash_bin.share_surviving_clipping(sparsity),
                        _ => 1.0,
                    };
                    assert_eq!(left, 1.0, "{:?}", plan.chosen);
                    let error = plan.chosen.predicted_errors.mean_error.unwrap();
                    assert_eq!(error.worst_case_squared_bias, 0.0);
                    picked.insert(plan.chosen.mechanism.name());
                    // Biased mechanisms come last.
                    for other in &plan.alternatives {
                        let biased = other
                            .predicted_errors
                            .mean_error
                            .unwrap()
                            .worst_case_squared_bias
                            > 0.0;
                        assert_eq!(other.objective_error == f64::INFINITY, biased, "{other:?}");
                    }
                }
            }
        }
    }
    assert!(
        picked.contains("coco") && picked.contains("hash-bin"),
        "{picked:?}"
    );
}

#[test]
fn frequencies_are_for_collision() {
    for level in ["user", "event"] {
        for (items, sparsity) in [(3, 1), (300, 20)] {
            for epsilon in [0.1, 3.0] {
                let auto = json!({ "name": "auto", "objective": "frequency", "level": level });
                let task = even(items, sparsity, epsilon, &auto);
                assert_eq!(task.questions()[0].mechanism().name(), "collision");
                let alone = even(items, sparsity, epsilon, &json!("collision"));
                assert_eq!(
                    task.questions()[0].mechanism(),
                    alone.questions()[0].mechanism()
                );
            }
        }
    }
}

/// Every mechanism is considered at event level, because protecting whole inputs protects single
/// entries at least as much.
#[test]
fn weaker_levels_are_more_to_choose_from() {
    let plan = |level: &str| {
        let auto = json!({ "name": "auto", "level": level });
        let file = with(file(&json!(300), 1.0, &auto), "sparsity", json!(20));
        draft(file).choices_per_question().unwrap().remove(0)
    };
    let (user, event) = (plan("user"), plan("event"));
    assert_eq!(user.alternatives.len() + 1, 3);
    assert_eq!(event.alternatives.len() + 1, 4);
    assert_eq!(level(&event.chosen), Some(PrivacyLevelName::Event));
    assert!(event.chosen.objective_error < user.chosen.objective_error);
    assert!(event.alternatives.contains(&user.chosen));
    assert!(
        user.alternatives
            .iter()
            .all(|other| level(other) != Some(PrivacyLevelName::Event))
    );
}

/// Estimates of all means from these people's reports.
fn estimates(task: &Task, people: &[Vec<Entry>], seed: u64) -> Vec<f64> {
    let domain = task.questions()[0].domain();
    let mut randomizer = Randomizer::new(task);
    let mut rng = seeded(seed);
    let mut sums = vec![0.0; domain.item_count().unwrap() as usize];
    for input in people {
        let report = randomizer.randomize(input, &mut rng).unwrap().report;
        match (task.questions()[0].mechanism(), report) {
            (Mechanism::Coco(coco), Report::Coco(report)) => {
                let gap = coco
                    .hit_probabilities(&domain, task.epsilon())
                    .side_hit_probability_gap;
                coco.hit_decoder(&domain)
                    .for_each_hit_slot(&report, |slot, plus| {
                        if let Some(sum) = sums.get_mut(slot as usize) {
                            *sum += if plus { 1.0 / gap } else { -1.0 / gap };
                        }
                    });
            }
            (Mechanism::Collision(collision), Report::Collision(report)) => {
                let gap = collision
                    .hit_probabilities(&domain, task.epsilon())
                    .hit_probability_gap();
                collision
                    .hit_decoder(&domain)
                    .for_each_hit(&report, |slot| {
                        if let Some(sum) = sums.get_mut(slot as usize / 2) {
                            *sum += if slot % 2 == 0 { 1.0 / gap } else { -1.0 / gap };
                        }
                    });
            }
            (Mechanism::HashBin(hash_bin), Report::HashBin(report)) => {
                let scale = hash_bin
                    .estimate_scale_and_variance(&domain, task.epsilon())
                    .estimate_scale;
                let support = hash_bin.item_bin_lookup(&domain);
                let keys = HashKeys::new(report.seed);
                support.for_each_item_and_bin(&keys, |item, bin| {
                    let sign = support.bin_and_sign(&keys, u64::from(item)).1;
                    let response = match &report.response {
                        RandomisedResponse::Sign(plus) => {
                            if *plus {
                                1.0
                            } else {
                                -1.0
                            }
                        }
                        RandomisedResponse::Bins(bins) => bins[bin as usize] as f64,
                    };
                    sums[item as usize] += f64::from(sign) * response * scale;
                });
            }
            (_, report) => panic!("{report:?}"),
        }
    }
    sums.iter().map(|sum| sum / people.len() as f64).collect()
}

/// Predicted errors equal those of simulated people in the worst case, where all have the same
/// first items.
#[test]
fn predictions_are_what_happens() {
    let counts = [20u64, 200, 100, 0, 60, 20];
    let items = 30;
    let truth_sign = |item: usize| if item.is_multiple_of(2) { 1.0 } else { -1.0 };
    let people: Vec<Vec<Entry>> = counts
        .iter()
        .enumerate()
        .flat_map(|(k, &count)| {
            let input: Vec<Entry> = (0..k)
                .map(|item| Entry {
                    item: item as u64,
                    value: truth_sign(item),
                })
                .collect();
            vec![input; count as usize]
        })
        .collect();
    let total = people.len() as f64;
    let truth = |item: usize| {
        let having: u64 = counts.iter().skip(item + 1).sum();
        truth_sign(item) * having as f64 / total
    };
    let crowd = Population::from_people_by_entry_count(&counts).unwrap();
    let mechanisms = [
        (json!("coco"), 2, 2.0),
        (json!("coco"), 5, 1.0),
        (json!("collision"), 1, 2.0),
        (json!("hash-bin"), 3, 8.0),
        (json!({ "name": "hash-bin", "clip": 0.5 }), 3, 8.0),
        (
            json!({ "name": "hash-bin", "clip": 2.5, "noise": "laplace" }),
            3,
            6.0,
        ),
        (json!({ "name": "hash-bin", "level": "event" }), 2, 2.0),
        (
            json!({ "name": "hash-bin", "level": "event", "bins": 1 }),
            2,
            6.0,
        ),
    ];
    for (index, (mechanism, sparsity, epsilon)) in mechanisms.into_iter().enumerate() {
        let task = Task::new(RatingsTaskFields {
            id: "simulated".to_owned(),
            ..even(items, sparsity, epsilon, &mechanism)
                .try_into()
                .unwrap()
        })
        .unwrap();
        let predicted = task.questions()[0].mechanism().predict_errors(
            &task.questions()[0].domain(),
            epsilon,
            &crowd,
        );
        let predicted = predicted.mean_error.unwrap().worst_case_total_error();
        let mut errors = Moments::default();
        for round in 0..100 {
            let estimates = estimates(&task, &people, 1000 * index as u64 + round);
            let squares = estimates.iter().enumerate();
            let squares = squares.map(|(item, estimate)| (estimate - truth(item)).powi(2));
            errors.add(squares.sum::<f64>() / f64::from(items));
        }
        assert_moments(&[(format!("{task:?}"), errors, predicted, None)]);
    }
}

/// Predictions in `open` domains are for a rare item.
#[test]
fn open_tasks_are_chosen_for() {
    for level in ["user", "event"] {
        let auto = json!({ "name": "auto", "level": level });
        let open = file(&json!("open"), 1.0, &auto);
        let plan: TaskDraft = draft(with(open, "entries", json!([10, 500, 200, 100])));
        let plan = plan.choices_per_question().unwrap().remove(0);
        assert!(plan.chosen.objective_error.is_finite());
        let errors = plan.alternatives.iter().map(|other| other.objective_error);
        assert!(
            errors
                .into_iter()
                .all(|error| error >= plan.chosen.objective_error)
        );
    }
}

/// The papers' rules and the independent hash, which the choice does not try, are no better:
/// neither for means nor for frequencies.
#[test]
fn the_papers_rules_are_no_better() {
    let others = [
        json!({ "name": "collision", "rule": "occupied", "hashing": "balanced" }),
        json!({ "name": "collision", "rule": "occupied", "hashing": "independent" }),
        json!({ "name": "collision", "rule": "heaviest", "hashing": "independent", "hashes": 1 }),
        json!({ "name": "coco", "rule": "overwrite", "hashing": "balanced" }),
        json!({ "name": "coco", "rule": "overwrite", "hashing": "independent" }),
        json!({ "name": "coco", "rule": "strongest", "hashing": "independent", "hashes": 1 }),
    ];
    for (items, sparsity) in [
        (1, 1),
        (3, 3),
        (8, 2),
        (8, 8),
        (40, 5),
        (256, 16),
        (1378, 6),
    ] {
        for epsilon in [0.05, 0.5, 1.0, 2.0, 4.0] {
            let crowd = Population::with_equal_entries(1.0, sparsity);
            let predicted = |mechanism: &Value| -> PredictedErrors {
                let task = even(items, sparsity, epsilon, mechanism);
                let domain = task.questions()[0].domain();
                task.questions()[0]
                    .mechanism()
                    .predict_errors(&domain, epsilon, &crowd)
            };
            let mean = predicted(&json!("auto"))
                .mean_error
                .unwrap()
                .worst_case_total_error();
            let frequency = json!({ "name": "auto", "objective": "frequency" });
            let frequency = predicted(&frequency)
                .frequency_error
                .unwrap()
                .worst_case_total_error();
            // A gain of a hundredth does not justify twice as many hash functions.
            let worth = 1.01 + 1e-4;
            for other in &others {
                let theirs = predicted(other);
                let case = || format!("d = {items}, s = {sparsity}, {epsilon}, {other}");
                assert!(
                    mean <= worth * theirs.mean_error.unwrap().worst_case_total_error(),
                    "{}",
                    case()
                );
                if let Some(error) = theirs.frequency_error {
                    assert!(
                        frequency <= worth * error.worst_case_total_error(),
                        "{}",
                        case()
                    );
                }
            }
        }
    }
}
