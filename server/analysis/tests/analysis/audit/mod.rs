//! Audits: honest randomizers pass, leaky ones do not, under hundreds of tasks.
//!
//! Seeds are fixed. A lower bound at confidence 0.999 is wrong with probability 0.001 at most.
//!
//! `HUSHBIN_AUDIT_TRIALS` sets the least number of trials of each task.

mod crosses;
mod inputs;
mod leaks;
mod numbers;
mod patterns;
mod seeds;
mod texts;
mod together;
mod uploads;

use std::env;

use hushbin::domain::SignedItem;
use hushbin::hash::HashFamily;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, SumNoiseKind};
use hushbin::task::OpenKeyword;
use hushbin::upload::upload_header;
use hushbin::{
    Entry, Items, Mechanism, Randomizer, RatingsTaskFields, Report, Task, TaskDraft, UploadId,
    ValueKind,
};
use hushbin_analysis::audit::{
    AuditError, AuditVerdict, EmpiricalLossBound, ReportAuditResult, TrialPlan,
    enumerate_hash_bin_loss, enumerate_max_loss, measure_privacy_loss, upload_appender,
};
use hushbin_analysis::likelihood::core_bucket_probability_fn;
use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde_json::json;

const CONFIDENCE: f64 = 0.999;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// d = 40, s = 3, ε = 1, a single hash function; the remaining parameters are chosen.
fn typical(mechanism: &str) -> Task {
    match mechanism {
        "collision" | "coco" => with_hashes(mechanism, 1),
        _ => chosen(&json!(mechanism)),
    }
}

/// The typical task with `hashes` hash functions.
fn with_hashes(mechanism: &str, hashes: u32) -> Task {
    chosen(&json!({ "name": mechanism, "hashes": hashes }))
}

fn chosen(mechanism: &serde_json::Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "typical", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
        "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

/// Parts of a task with one question, for ratings.
fn parts_of(task: Task) -> RatingsTaskFields {
    task.try_into().unwrap()
}

fn with_epsilon(task: &Task, epsilon: f64) -> Task {
    let parts = parts_of(task.clone());
    Task::new(RatingsTaskFields { epsilon, ..parts }).unwrap()
}

fn honest(task: &Task, mut rng: impl rand_core::CryptoRng) -> impl FnMut(&[Entry]) -> Report {
    let mut randomizer = Randomizer::new(task);
    move |input| randomizer.randomize(input, &mut rng).unwrap().report
}

/// Sends each report in its own upload.
fn posted(
    task: &Task,
    mut randomize: impl FnMut(&[Entry]) -> Report,
) -> impl FnMut(&[Entry], &mut Vec<u8>) {
    let fingerprint = task.fingerprint();
    let mut ids = rng(99);
    move |input, bytes| {
        let mut id = [0; 16];
        ids.fill_bytes(&mut id);
        bytes.extend(upload_header(UploadId(id), &fingerprint, 1));
        randomize(input).encode(bytes);
    }
}

fn measured(
    task: &Task,
    trials: u64,
    randomize: impl FnMut(&[Entry]) -> Report,
) -> EmpiricalLossBound {
    measured_sent(task, trials, posted(task, randomize))
}

fn measured_sent(
    task: &Task,
    trials: u64,
    mut send: impl FnMut(&[Entry], &mut Vec<u8>),
) -> EmpiricalLossBound {
    let plan = TrialPlan::new(task, Some(trials), CONFIDENCE).unwrap();
    let of_answers = |answers: &[&[Entry]], bytes: &mut Vec<u8>| send(answers[0], bytes);
    measure_privacy_loss(task, &plan, of_answers, |_, _| {})
}

/// 12 buckets, of which 3 are favoured.
fn small() -> Task {
    let rule = collision::FavouredBucketRule::Heaviest { favoured: 3 };
    let collision = Collision::new(rule, HashFamily::Balanced, 12).unwrap();
    let parts = parts_of(typical("collision"));
    let mechanism = Mechanism::Collision(collision);
    Task::new(RatingsTaskFields { mechanism, ..parts }).unwrap()
}

/// Draws the bucket of a report from a seed, signed items and a random word.
fn pick_along(task: &Task) -> impl FnMut(u64, &[SignedItem], u64) -> Report + use<> {
    let mut probabilities = core_bucket_probability_fn(&task.questions()[0]).unwrap();
    let report = match task.questions()[0].mechanism() {
        Mechanism::Coco(_) => Report::Coco,
        Mechanism::Collision(_) => Report::Collision,
        Mechanism::Pattern(_) => Report::Pattern,
        Mechanism::HashBin(_) | Mechanism::Window(_) => {
            unreachable!("no task here is of them")
        }
    };
    move |seed, signed, word| {
        let bucket = pick(&probabilities(seed, signed, 0), word);
        report(BucketReport { seed, bucket })
    }
}

/// Bucket of a random word. The lowest words belong to the most probable bucket.
fn pick(row: &[f64], word: u64) -> u32 {
    let mut buckets: Vec<usize> = (0..row.len()).collect();
    buckets.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    let mut left = word as f64 / 2_f64.powi(64);
    let drawn = buckets.iter().copied().find(|&bucket| {
        left -= row[bucket];
        left < 0.0
    });
    // Probability lost by rounding goes to the last bucket.
    drawn.unwrap_or(buckets[row.len() - 1]) as u32
}

#[track_caller]
fn assert_leaks(task: &Task, found: &EmpiricalLossBound) {
    println!("{found:?}");
    assert!(found.lower_bound > task.epsilon(), "{found:?}");
    let plan = TrialPlan::new(task, None, CONFIDENCE).unwrap();
    let audit = ReportAuditResult::new(task, &plan, None, found.clone());
    assert_eq!(audit.verdict, AuditVerdict::ExceedsBudget);
}

fn any_of(rng: &mut impl Rng, from: &[u32]) -> u32 {
    from[rng.next_u32() as usize % from.len()]
}

/// Random parameters of Collision for sparsity s.
fn collision(
    rng: &mut impl Rng,
    rule: collision::FavouredBucketRuleName,
    hashing: HashFamily,
    s: u32,
) -> Mechanism {
    let (rule, buckets, hashes) = match rule {
        collision::FavouredBucketRuleName::Occupied => {
            let buckets = any_of(rng, &[s + 1, 2 * s, 4 * s + 3, 30 * s]);
            (
                collision::FavouredBucketRule::Occupied,
                buckets.max(s + 1),
                1,
            )
        }
        collision::FavouredBucketRuleName::Heaviest => {
            let buckets = any_of(rng, &[2, 3, s + 1, 2 * s, 4 * s + 3, 30 * s]);
            let hashes = any_of(rng, &[1, 1, 2, 5]);
            let all = hashes * buckets;
            let favoured = any_of(rng, &[1, 2, s.div_ceil(2), hashes * s, all - 1]);
            let favoured = favoured.min(all - 1);
            (
                collision::FavouredBucketRule::Heaviest { favoured },
                buckets,
                hashes,
            )
        }
    };
    Mechanism::Collision(Collision::new_with_hash_count(rule, hashing, buckets, hashes).unwrap())
}

/// Random parameters of CoCo for sparsity s.
fn coco(
    rng: &mut impl Rng,
    rule: coco::FavouredSideRuleName,
    hashing: HashFamily,
    s: u32,
) -> Mechanism {
    let (rule, pairs, hashes) = match rule {
        coco::FavouredSideRuleName::Overwrite => {
            let pairs = any_of(rng, &[s + 1, 2 * s, 4 * s + 3, 15 * s]);
            (
                coco::FavouredSideRule::RandomEntryDecides,
                pairs.max(s + 1),
                1,
            )
        }
        coco::FavouredSideRuleName::Strongest => {
            let pairs = any_of(rng, &[1, 2, s.div_ceil(2), s, 4 * s + 3, 15 * s]);
            let hashes = any_of(rng, &[1, 1, 2, 5]);
            let all = hashes * pairs;
            let favoured = any_of(rng, &[1, 2, s.div_ceil(2), hashes * s, all]).min(all);
            (
                coco::FavouredSideRule::Strongest { favoured },
                pairs,
                hashes,
            )
        }
    };
    Mechanism::Coco(Coco::new_with_hash_count(rule, hashing, 2 * pairs, hashes).unwrap())
}

/// Random parameters of hash-bin: every level with and without δ, every noise.
fn hash_bin(rng: &mut impl Rng, kind: u32, hashing: HashFamily, items: &Items) -> Mechanism {
    let clip = f64::from(any_of(rng, &[1, 2, 5, 30])) / 2.0;
    let distance = f64::from(any_of(rng, &[1, 2, 4, 9, 60, 400])) / 2.0;
    let level = match kind {
        0 => PrivacyLevel::Event,
        1 => PrivacyLevel::Neighbouring {
            distance,
            delta: None,
        },
        2 => PrivacyLevel::Neighbouring {
            distance,
            delta: Some(0.001),
        },
        3 => PrivacyLevel::User {
            clip,
            noise: SumNoiseKind::TwoPoint,
        },
        _ => PrivacyLevel::User {
            clip,
            noise: SumNoiseKind::Laplace,
        },
    };
    let bins = match level {
        PrivacyLevel::User { .. } => 1,
        _ => any_of(rng, &[1, 1, 2, 5, 20]).min(items.item_count().unwrap_or(20)),
    };
    let grid = any_of(rng, &[2, 64, 1024]);
    Mechanism::HashBin(HashBin::new(level, hashing, bins, grid).unwrap())
}

/// `each` tasks for every rule or level with every hashing and kind of domain.
fn tasks(each: u32) -> Vec<Task> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut tasks = Vec::new();
    for kind in 0..27 {
        let (rule, domain) = (kind / 3, kind % 3);
        let hashing = match domain {
            0 => HashFamily::Balanced,
            _ => HashFamily::Independent,
        };
        for index in 0..each {
            let s = any_of(&mut rng, &[1, 1, 2, 2, 3, 3, 4, 6, 8, 16, 32, 64]);
            let epsilon = [0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 8.0][index as usize % 10];
            let items = match domain {
                2 => Items::Open(OpenKeyword::Open),
                _ => Items::Count(any_of(&mut rng, &[s, s + 1, 2 * s, 2 * s + 3, 300])),
            };
            let mechanism = match rule {
                0 => collision(
                    &mut rng,
                    collision::FavouredBucketRuleName::Occupied,
                    hashing,
                    s,
                ),
                1 => collision(
                    &mut rng,
                    collision::FavouredBucketRuleName::Heaviest,
                    hashing,
                    s,
                ),
                2 => coco(&mut rng, coco::FavouredSideRuleName::Overwrite, hashing, s),
                3 => {
                    let items = domain == 0 && index % 2 == 1;
                    let hashing = if items {
                        HashFamily::BalancedItems
                    } else {
                        hashing
                    };
                    coco(&mut rng, coco::FavouredSideRuleName::Strongest, hashing, s)
                }
                _ => hash_bin(&mut rng, rule - 4, hashing, &items),
            };
            let parts = RatingsTaskFields {
                id: format!("task-{kind}-{index}"),
                items,
                sparsity: s,
                epsilon,
                value: [ValueKind::Sign, ValueKind::Real][index as usize % 2],
                mechanism,
            };
            tasks.push(Task::new(parts).unwrap());
        }
    }
    tasks
}

#[test]
fn no_task_exceeds_its_budget() {
    let least: u64 = env::var("HUSHBIN_AUDIT_TRIALS").map_or(1500, |text| text.parse().unwrap());
    let tasks = tasks(16);
    let of_task = |(seed, task): (usize, &Task)| {
        let seed = seed as u64;
        let epsilon = task.epsilon();
        let effective = task.achieved_report_epsilon();
        assert!(effective <= epsilon, "{task:?}");
        let steps = least << 8;
        let enumerated_task = core_bucket_probability_fn(&task.questions()[0])
            .and_then(|probabilities| {
                enumerate_max_loss(&task.questions()[0], steps, &mut rng(seed), probabilities)
            })
            .or_else(|| enumerate_hash_bin_loss(&task.questions()[0], steps, &mut rng(seed)));
        let attained = enumerated_task.map(|found| {
            assert!(
                !found.certainly_exceeds_epsilon(effective),
                "{task:?}: {found:?}"
            );
            let exact = found.loss_upper_bound(effective);
            assert!(
                exact <= effective && exact >= found.privacy_loss - found.loss_rounding_error,
                "{task:?}: {found:?}"
            );
            exact == effective
        });
        let plan = match TrialPlan::new(task, Some(least), CONFIDENCE) {
            Err(AuditError::TrialCountOutOfRange { least, .. }) => {
                TrialPlan::new(task, Some(least), CONFIDENCE)
            }
            plan => plan,
        };
        let found = measure_privacy_loss(
            task,
            &plan.unwrap(),
            upload_appender(task, rng(seed)),
            |_, _| {},
        );
        assert!(found.lower_bound <= epsilon, "{task:?}: {found:?}");
        (attained, found.lower_bound / epsilon)
    };
    let found: Vec<(Option<bool>, f64)> = tasks.par_iter().enumerate().map(of_task).collect();
    let enumerated = found.iter().filter_map(|(attained, _)| *attained);
    let attained = enumerated.clone().filter(|attained| *attained).count();
    let enumerated = enumerated.count();
    let closest = found.iter().map(|(_, bound)| *bound).fold(0.0, f64::max);
    let sum: f64 = found.iter().map(|(_, bound)| bound).sum();
    println!(
        "{} tasks; {enumerated} enumerated, {attained} of them lose all of the effective epsilon; \
         bounds are {:.3} of epsilon on average, {closest:.3} at most",
        tasks.len(),
        sum / tasks.len() as f64
    );
    assert!(tasks.len() >= 400 && enumerated >= 50, "{enumerated}");
    assert!(attained >= enumerated / 2, "{attained} of {enumerated}");
}

/// The measured bound comes close to the true loss.
#[test]
fn bounds_come_close_where_an_attacker_can() {
    let mut tasks = vec![typical("collision"), typical("coco")];
    tasks.extend(["collision", "coco"].map(|mechanism| with_hashes(mechanism, 8)));
    for (level, items) in [
        (PrivacyLevel::Event, 40),
        (user(SumNoiseKind::TwoPoint), 40),
        (user(SumNoiseKind::Laplace), 40),
        (within(6.0), 3),
    ] {
        tasks.push(of_level(level, items));
    }
    for task in tasks {
        let found = measured(&task, 50_000, honest(&task, rng(1)));
        println!("{:?}: {found:?}", task.questions()[0].mechanism());
        // With a distance of 6, all bins rarely point the same way.
        assert!(found.lower_bound > 0.8, "{task:?}: {found:?}");
        assert!(found.lower_bound <= 1.0, "{task:?}: {found:?}");
    }
}

fn user(noise: SumNoiseKind) -> PrivacyLevel {
    PrivacyLevel::User { clip: 1.5, noise }
}

fn within(distance: f64) -> PrivacyLevel {
    PrivacyLevel::Neighbouring {
        distance,
        delta: None,
    }
}

/// Hash-bin with s = 3, ε = 1 and the most bins possible.
fn of_level(level: PrivacyLevel, items: u32) -> Task {
    let bins = match level {
        PrivacyLevel::User { .. } => 1,
        _ => items,
    };
    let hash_bin = HashBin::new(level, HashFamily::Balanced, bins, 1024).unwrap();
    let parts = parts_of(typical("collision"));
    let parts = RatingsTaskFields {
        items: Items::Count(items),
        mechanism: Mechanism::HashBin(hash_bin),
        ..parts
    };
    Task::new(parts).unwrap()
}

/// An error of one part in 10¹² exceeds rounding.
#[test]
fn enumeration_sees_beyond_twelve_digits() {
    for mechanism in ["collision", "coco"] {
        let parts = parts_of(typical(mechanism));
        let task = Task::new(RatingsTaskFields {
            items: Items::Count(6),
            ..parts
        })
        .unwrap();
        let effective = task.achieved_report_epsilon();
        let found = enumerate_max_loss(
            &task.questions()[0],
            1 << 24,
            &mut rng(10),
            core_bucket_probability_fn(&task.questions()[0]).unwrap(),
        )
        .unwrap();
        assert_eq!(found.input_count, 1 + 12 + 60 + 160);
        assert!(found.loss_rounding_error < 1e-13, "{found:?}");
        assert!(
            (found.privacy_loss - effective).abs() <= found.loss_rounding_error,
            "{found:?}"
        );
        assert_eq!(found.loss_upper_bound(effective), effective);
        let mut core = core_bucket_probability_fn(&task.questions()[0]).unwrap();
        let leaky = enumerate_max_loss(
            &task.questions()[0],
            1 << 24,
            &mut rng(10),
            |seed, signed, completion| {
                let mut row = core(seed, signed, completion);
                if signed.iter().any(|signed| signed.item == 5) {
                    row.iter_mut().for_each(|p| *p *= 1.0 + 1e-12);
                }
                row
            },
        );
        let leaky = leaky.unwrap();
        assert!(leaky.certainly_exceeds_epsilon(effective), "{leaky:?}");
        assert!(leaky.loss_upper_bound(effective) > effective, "{leaky:?}");

        let larger = core_bucket_probability_fn(&with_epsilon(&task, 1.25).questions()[0]).unwrap();
        let leaky =
            enumerate_max_loss(&task.questions()[0], 1 << 24, &mut rng(10), larger).unwrap();
        assert!(
            leaky.certainly_exceeds_epsilon(1.249) && !leaky.certainly_exceeds_epsilon(1.25),
            "{leaky:?}"
        );
    }
}

/// Neighbours at every level, and values off the grid, lose exactly what is stated. Sampling for a
/// larger budget is detected.
#[test]
fn neighbours_under_hash_bin_are_enumerated() {
    for (parameters, attained) in [
        (
            r#"{ "name": "hash-bin", "level": "event", "bins": 2 }"#,
            true,
        ),
        (
            r#"{ "name": "hash-bin", "level": "neighbouring", "distance": 2, "bins": 1 }"#,
            false,
        ),
        (
            r#"{ "name": "hash-bin", "level": "neighbouring", "distance": 0.3, "bins": 2 }"#,
            false,
        ),
        (
            r#"{ "name": "hash-bin", "noise": "two-point", "clip": 1.5 }"#,
            true,
        ),
        (
            r#"{ "name": "hash-bin", "noise": "laplace", "clip": 1.5 }"#,
            true,
        ),
        // This clip is beyond every sum.
        (
            r#"{ "name": "hash-bin", "noise": "two-point", "clip": 5 }"#,
            false,
        ),
    ] {
        let task = |epsilon: f64| -> Task {
            let draft = format!(
                r#"{{ "id": "bins", "items": 4, "sparsity": 2, "epsilon": {epsilon},
                     "value": "real", "mechanism": {parameters} }}"#
            );
            let draft: TaskDraft = serde_json::from_str(&draft).unwrap();
            draft.resolve_task().unwrap()
        };
        let found = |epsilon| {
            enumerate_hash_bin_loss(&task(epsilon).questions()[0], 1 << 22, &mut rng(11)).unwrap()
        };
        let effective = task(1.0).achieved_report_epsilon();
        let honest = found(1.0);
        assert!(
            !honest.certainly_exceeds_epsilon(effective),
            "{parameters}: {honest:?}"
        );
        assert!(
            honest.loss_upper_bound(effective) <= effective && honest.loss_rounding_error < 1e-10
        );
        let close = (honest.privacy_loss - effective).abs() <= honest.loss_rounding_error;
        assert_eq!(close, attained, "{parameters}: {honest:?}");
        assert!(
            honest.privacy_loss > 0.7 * effective,
            "{parameters}: {honest:?}"
        );
        if attained {
            assert!(
                found(1.01).certainly_exceeds_epsilon(effective),
                "{parameters}"
            );
        }
    }
    let with_delta = r#"{ "id": "bins", "items": 4, "sparsity": 2, "epsilon": 1, "value": "real",
        "mechanism": { "name": "hash-bin", "level": "neighbouring", "distance": 2000,
                       "delta": 0.01, "bins": 1 } }"#;
    let draft: TaskDraft = serde_json::from_str(with_delta).unwrap();
    assert!(
        enumerate_hash_bin_loss(
            &draft.resolve_task().unwrap().questions()[0],
            u64::MAX,
            &mut rng(0)
        )
        .is_none()
    );
}

#[test]
fn large_and_open_tasks_are_not_enumerated() {
    let parts = parts_of(typical("collision"));
    let parts = RatingsTaskFields {
        items: Items::Count(1 << 20),
        sparsity: 64,
        ..parts
    };
    let hashing = HashFamily::Independent;
    let rule = collision::FavouredBucketRule::Heaviest { favoured: 2 };
    let collision = Collision::new(rule, hashing, 1000).unwrap();
    let mechanism = Mechanism::Collision(collision);
    let large = RatingsTaskFields { mechanism, ..parts };
    let open = RatingsTaskFields {
        items: Items::Open(OpenKeyword::Open),
        ..large.clone()
    };
    for parts in [large, open] {
        let task = Task::new(parts).unwrap();
        let found = enumerate_max_loss(
            &task.questions()[0],
            u64::MAX,
            &mut rng(0),
            |_, _, _| unreachable!(),
        );
        assert_eq!(found, None);
    }
}

#[test]
fn plans_that_cannot_tell_are_refused() {
    let task = typical("collision");
    for confidence in [0.0, 0.49, 1.0, f64::NAN, -1.0, 99.9] {
        let error = TrialPlan::new(&task, None, confidence).unwrap_err();
        assert!(
            matches!(error, AuditError::ConfidenceOutOfRange { .. }),
            "{error}"
        );
    }
    for epsilon in [0.01, 1.0, 3.0, 8.0] {
        let task = with_epsilon(&task, epsilon);
        for trials in [0, 99, u64::MAX] {
            let error = TrialPlan::new(&task, Some(trials), CONFIDENCE).unwrap_err();
            assert!(
                matches!(error, AuditError::TrialCountOutOfRange { .. }),
                "{error}"
            );
        }
        let error = TrialPlan::new(&task, Some(0), CONFIDENCE).unwrap_err();
        let AuditError::TrialCountOutOfRange { least, .. } = error else {
            unreachable!()
        };
        assert!(TrialPlan::new(&task, Some(least - 1), CONFIDENCE).is_err());
        // A randomizer without privacy, and the fewest trials allowed.
        let found = measured(&task, least, |input| {
            let first = input.first().copied();
            let item = first.map_or(u64::MAX, |entry| entry.item);
            let negative = first.is_some_and(|entry| entry.value < 0.0);
            let seed = 2 * item.min(1 << 20) + u64::from(negative);
            Report::Collision(BucketReport { seed, bucket: 0 })
        });
        assert!(found.lower_bound > epsilon, "{epsilon}: {found:?}");
    }
}
