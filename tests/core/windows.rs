//! Collision with windows: one answer of a list, in several adjacent buckets.

use hushbin::bounds;
use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::{HashFamily, HashFunctions};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule, Randomizer, Report};
use hushbin::{Task, TaskDraft};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use rand_chacha::rand_core::Rng;
use serde_json::{Value, json};

use crate::support::exact::{Exact, Exp};
use crate::support::generators::seeded;
use crate::support::significance::assert_distributed;

const REFERENCE: &str = include_str!("../reference/subset.json");

fn reference(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    all[name].as_array().unwrap().clone()
}

fn whole(row: &Value, field: &str) -> u32 {
    u32::try_from(row[field].as_u64().unwrap()).unwrap()
}

fn windows(buckets: u32, favoured: u32) -> Collision {
    Collision::new(
        FavouredBucketRule::Heaviest { favoured },
        HashFamily::BalancedWindows,
        buckets,
    )
    .unwrap()
}

fn given(answer: u64) -> [SignedItem; 1] {
    [SignedItem {
        item: answer,
        is_negative: false,
    }]
}

/// P(inside), as sampled.
fn inside(collision: &Collision, epsilon: f64) -> Exact {
    let threshold = collision.thresholds(1, epsilon).favoured_threshold(1);
    Exact::new(BigUint::from(threshold.0), BigUint::one() << 64)
}

fn assert_near(actual: f64, expected: f64, what: &str) {
    assert!(
        (actual / expected - 1.0).abs() < 1e-9,
        "{what}: {actual}, expected {expected}"
    );
}

fn all_variances(collision: &Collision, answers: u32, epsilon: f64) -> f64 {
    let rates = collision.hit_probabilities(&Domain::with_exact_entry_count(answers, 1), epsilon);
    let others = f64::from(answers - 1) * rates.frequency_variance(false);
    rates.frequency_variance(true) + others
}

#[test]
fn rates_are_those_of_the_reference() {
    for row in reference("c_windows") {
        let (answers, epsilon) = (whole(&row, "answers"), row["epsilon"].as_f64().unwrap());
        let collision = windows(whole(&row, "buckets"), whole(&row, "favoured"));
        let domain = Domain::with_exact_entry_count(answers, 1);
        let support = collision.hit_decoder(&domain);
        let slots = whole(&row, "slots_a_bucket");
        assert_eq!(
            support.visitable_slot_count() as u32,
            slots * collision.buckets_per_hash()
        );
        assert_eq!(
            support.slots_hit_per_report(),
            Some(slots * collision.buckets_per_element())
        );
        let rates = collision.hit_probabilities(&domain, epsilon);
        let near = |actual: f64, field: &str| {
            assert_near(
                actual,
                row[field].as_f64().unwrap(),
                &format!("{field} of {row}"),
            );
        };
        near(rates.p_true, "p");
        near(rates.p_false, "q");
        near(all_variances(&collision, answers, epsilon), "objective");
        near(rates.answer_set_variance(answers / 2, true), "half_inside");
        near(
            rates.answer_set_variance(answers / 2, false),
            "half_outside",
        );
    }
}

#[test]
fn shuffles_are_those_of_the_reference() {
    let rows = reference("c_places");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let (answers, favoured) = (whole(&row, "k"), whole(&row, "c"));
        let domain = Domain::with_exact_entry_count(answers, 1);
        let support = windows(answers, favoured).hit_decoder(&domain);
        let seed = row["seed"].as_str().unwrap().parse().unwrap();
        for (bucket, expected) in row["supported_by"].as_object().unwrap() {
            let report = Report {
                seed,
                bucket: bucket.parse().unwrap(),
            };
            let mut hit = Vec::new();
            support.for_each_hit(&report, |answer| hit.push(json!(answer)));
            hit.sort_by_key(|answer| answer.as_u64());
            assert_eq!(&Value::from(hit), expected, "{row}");
        }
        for (answer, place) in row["places"].as_array().unwrap().iter().enumerate() {
            let first = place.as_u64().unwrap() as u32;
            for behind in 0..answers {
                let report = Report {
                    seed,
                    bucket: (first + behind) % answers,
                };
                assert_eq!(support.is_hit(&report, answer as u64), behind < favoured);
            }
        }
    }
}

/// Listed slots equal the hits, and reports hit the contents of a person's window.
#[test]
fn reports_hit_the_answers_whose_window_they_are_in() {
    let mut rng = seeded(71);
    for (answers, buckets, favoured) in [
        (5, 5, 2),
        (4, 7, 3),
        (50, 25, 9),
        (23, 8, 3),
        (200, 8, 3),
        (255, 255, 254),
        (300, 19, 2),
    ] {
        let collision = windows(buckets, favoured);
        let domain = Domain::with_exact_entry_count(answers, 1);
        let support = collision.hit_decoder(&domain);
        let mut randomizer = Randomizer::new(&collision, &domain, 1.0);
        for _ in 0..20 {
            let seed = rng.next_u64();
            let mut listed = vec![vec![false; buckets as usize]; support.visitable_slot_count()];
            for bucket in 0..buckets {
                let mut count = 0;
                support.for_each_hit(&Report { seed, bucket }, |slot| {
                    listed[slot as usize][bucket as usize] = true;
                    count += 1;
                });
                assert_eq!(Some(count), support.slots_hit_per_report());
            }
            for answer in 0..answers {
                let chances = randomizer.exact_bucket_probabilities(seed, &given(answer.into()));
                let most = chances.iter().copied().fold(0.0, f64::max);
                for (bucket, chance) in (0..).zip(chances) {
                    let hit = support.is_hit(&Report { seed, bucket }, answer.into());
                    assert_eq!(hit, listed[answer as usize][bucket as usize]);
                    assert_eq!(hit, chance == most, "{answers}, {buckets}, {favoured}");
                }
            }
        }
    }
}

/// Every answer favours exactly c of t buckets under every seed. So the likelihood ratio between
/// two answers is at most exp(ε), in exact fractions.
#[test]
fn answers_hide_in_each_other() {
    let mut sets = 0;
    for buckets in 3..=24 {
        for favoured in 2..buckets {
            let collision = windows(buckets, favoured);
            for epsilon in [0.001, 0.5, std::f64::consts::LN_2, 4.2, 12.0] {
                sets += 1;
                let inside = inside(&collision, epsilon);
                let outside = (Exact::one() - inside.clone())
                    / Exact::from_integer((buckets - favoured).into());
                let own = inside / Exact::from_integer(favoured.into());
                let ratio = own.clone() / outside.clone();
                assert!(
                    ratio <= Exp::of(epsilon).low_ratio(),
                    "{collision:?}, {epsilon}"
                );
                let effective = collision.thresholds(1, epsilon).effective_epsilon();
                assert!(effective <= epsilon && effective > epsilon - 1e-9);
                let domain = Domain::with_exact_entry_count(2 * buckets + 1, 1);
                let mut randomizer = Randomizer::new(&collision, &domain, epsilon);
                for answer in [0, 1, u64::from(2 * buckets)] {
                    let chances = randomizer.exact_bucket_probabilities(9, &given(answer));
                    let near = |chance: f64, exact: &Exact| {
                        (chance / exact.to_f64().unwrap() - 1.0).abs() < 1e-12
                    };
                    let favoured_ones =
                        chances.iter().filter(|own_chance| near(**own_chance, &own));
                    assert_eq!(favoured_ones.count() as u32, favoured);
                    let others = chances.iter().filter(|chance| near(**chance, &outside));
                    assert_eq!(others.count() as u32, buckets - favoured);
                }
            }
        }
    }
    assert!(sets > 1000, "{sets}");
}

/// All placements of up to seven slots: hits of the answer, of another one, and of two.
#[test]
fn rates_are_those_of_all_placings() {
    let mut sets = 0;
    for (buckets, slots) in [(3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (3, 2)] {
        let all = placings(buckets * slots);
        for favoured in 2..buckets {
            let collision = windows(buckets, favoured);
            let domain = Domain::with_exact_entry_count(buckets * slots, 1);
            let near = |slot: &u32, bucket: u32| (bucket + buckets - slot / slots) % buckets;
            // Placements that hit [1], [0 and 1], [1 and 2], by a favoured bucket and by another.
            let mut hits = [[0_u64; 3]; 2];
            let mut own = [0_u64; 2];
            for placing in &all {
                for bucket in 0..buckets {
                    let hit = |answer: usize| near(&placing[answer], bucket) < favoured;
                    let side = usize::from(!hit(0));
                    own[side] += u64::from(hit(0));
                    let seen = [hit(1), hit(0) && hit(1), hit(1) && hit(2)];
                    hits[side]
                        .iter_mut()
                        .zip(seen)
                        .for_each(|(sum, hit)| *sum += u64::from(hit));
                }
            }
            for step in 1..=64 {
                let epsilon = 0.1 * f64::from(step);
                sets += 1;
                let p = inside(&collision, epsilon).to_f64().unwrap();
                let each = [
                    p / f64::from(favoured),
                    (1.0 - p) / f64::from(buckets - favoured),
                ];
                let mean = |counts: [u64; 2]| -> f64 {
                    let sum = each[0] * counts[0] as f64 + each[1] * counts[1] as f64;
                    sum / all.len() as f64
                };
                let rates = collision.hit_probabilities(&domain, epsilon);
                let of = |index: usize| mean([hits[0][index], hits[1][index]]);
                let what = format!("{collision:?}, {epsilon}");
                assert_near(rates.p_true, mean(own), &what);
                assert_near(rates.p_false, of(0), &what);
                assert_near(rates.member_and_nonmember_hit, of(1), &what);
                assert_near(rates.two_nonmembers_hit, of(2), &what);
            }
        }
    }
    assert!(sets > 1000, "{sets}");
}

fn placings(slots: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..slots {
        let longer = |placing: Vec<u32>| {
            let free = (0..slots)
                .filter(|slot| !placing.contains(slot))
                .collect::<Vec<_>>();
            free.into_iter()
                .map(move |slot| [placing.clone(), vec![slot]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Distances of three answers are as in a random order, in every chosen layout.
#[test]
fn three_answers_are_apart_as_in_a_random_order() {
    let mut rng = seeded(72);
    let layouts = [
        ((5, 5, 2), 1_000_000),
        ((13, 13, 4), 300_000),
        ((50, 25, 3), 1_000_000),
        ((33, 11, 3), 1_000_000),
        ((20, 5, 2), 1_000_000),
        ((64, 8, 3), 1_000_000),
        ((48, 3, 2), 1_000_000),
        ((200, 8, 3), 1_000_000),
        ((300, 15, 4), 300_000),
    ];
    for ((answers, buckets, favoured), n) in layouts {
        let windows = windows(buckets, favoured);
        let support = windows.hit_decoder(&Domain::with_exact_entry_count(answers, 1));
        let slots = support.visitable_slot_count() as f64;
        let of_bucket = slots / f64::from(buckets);
        let mut counts = vec![0; (buckets * buckets) as usize];
        for _ in 0..n {
            let seed = rng.next_u64();
            let functions =
                HashFunctions::from_seed(windows.hash_family(), Some(answers), buckets, 1, seed);
            let mut first = [0; 3];
            functions.fill_buckets(
                &[0, 1, 2].map(|answer| functions.prepare_element(answer)),
                &mut first,
            );
            let [a, b, c] = first;
            let [near, far] = [b, c].map(|own| (own + buckets - a) % buckets);
            counts[(near * buckets + far) as usize] += 1;
        }
        let law = (0..buckets * buckets).map(|cell| {
            let (near, far) = (cell / buckets, cell % buckets);
            let taken = f64::from(u8::from(far == 0)) + f64::from(u8::from(far == near));
            let second = (of_bucket - f64::from(u8::from(near == 0))) / (slots - 1.0);
            second * (of_bucket - taken).max(0.0) / (slots - 2.0)
        });
        assert_distributed(
            &counts,
            &law.collect::<Vec<_>>(),
            &format!("{answers} in {buckets}"),
        );
    }
}

/// Chosen parameters are as good as any subset selection, within 2 in 1,000.
#[test]
fn choices_are_as_good_as_the_bound() {
    for row in reference("c_best") {
        let (answers, epsilon) = (whole(&row, "answers"), row["epsilon"].as_f64().unwrap());
        let best = windows(whole(&row, "t"), whole(&row, "c"));
        let objective = row["objective"].as_f64().unwrap();
        assert_near(
            all_variances(&best, answers, epsilon),
            objective,
            &row.to_string(),
        );
    }
    let few = (2..=66).chain([100, 128, 200, 256, 257, 300, 500, 999, 1000]);
    for answers in few {
        for epsilon in [0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0] {
            let domain = Domain::with_exact_entry_count(answers, 1);
            let chosen =
                Collision::choose_parameters(&domain, epsilon, &Default::default()).unwrap();
            let least = least_variance(answers, epsilon);
            let ratio = all_variances(&chosen, answers, epsilon) / least;
            let what = format!("{answers} answers, ε = {epsilon}, {chosen:?}: {ratio}");
            assert!(ratio < 1.002 && ratio > 1.0 - 1e-9, "{what}");
        }
    }
}

/// Variance of subset selection at the best size (Ye and Barg 2018).
fn least_variance(answers: u32, epsilon: f64) -> f64 {
    let (k, e) = (f64::from(answers), epsilon.exp());
    let of = |size: u32| {
        let m = f64::from(size);
        let p = m * e / (m * e + k - m);
        let q = (m - p) / (k - 1.0);
        (p * (1.0 - p) + (k - 1.0) * q * (1.0 - q)) / (p - q).powi(2)
    };
    (1..answers).map(of).fold(f64::INFINITY, f64::min)
}

fn choice(options: u32, mechanism: &Value) -> Value {
    let question =
        json!({ "name": "own", "kind": "choice", "options": options, "mechanism": mechanism });
    json!({ "id": "t", "epsilon": 0.5, "questions": [question] })
}

fn resolved(file: Value) -> Result<Task, String> {
    let draft: TaskDraft = serde_json::from_value(file).map_err(|error| error.to_string())?;
    draft.resolve_task().map_err(|error| error.to_string())
}

fn collision_of(task: &Task) -> &Collision {
    match task.questions()[0].mechanism() {
        hushbin::Mechanism::Collision(own) => own,
        other => panic!("{other:?}"),
    }
}

/// Given fields of a draft are kept, and the rest is the best choice.
#[test]
fn drafts_of_windows_leave_open_what_they_like() {
    let name = json!({ "name": "collision" });
    assert_eq!(
        *collision_of(&resolved(choice(10, &name)).unwrap()),
        windows(10, 4)
    );
    let with = |fields: Value| {
        let mut mechanism = json!({ "name": "collision", "hashing": "balanced-windows" });
        for (field, value) in fields.as_object().unwrap() {
            mechanism[field] = value.clone();
        }
        resolved(choice(50, &mechanism))
    };
    let all = with(json!({ "rule": "heaviest", "favoured": 7, "buckets": 20 })).unwrap();
    assert_eq!(*collision_of(&all), windows(20, 7));
    assert_eq!(
        with(json!({ "buckets": 13 })).unwrap(),
        with(json!({ "buckets": 13, "favoured": 5 })).unwrap()
    );
    let chosen = with(json!({ "favoured": 6 })).unwrap();
    assert_eq!(collision_of(&chosen).favoured_count(), Some(6));
    let chosen_variance = all_variances(collision_of(&chosen), 50, 0.5);
    for buckets in 7..=50 {
        assert!(chosen_variance <= 1.001 * all_variances(&windows(buckets, 6), 50, 0.5));
    }
    let text = serde_json::to_value(&all).unwrap();
    assert_eq!(
        text["questions"][0]["mechanism"]["hashing"],
        json!("balanced-windows")
    );
    assert_eq!(serde_json::from_value::<Task>(text).unwrap(), all);
}

#[test]
fn windows_are_refused_where_there_are_none() {
    let complete = |favoured: Option<u32>, buckets: u32, hashes: u32| {
        let mut mechanism = json!({ "name": "collision", "rule": "heaviest",
            "hashing": "balanced-windows", "buckets": buckets, "hashes": hashes });
        if let Some(favoured) = favoured {
            mechanism["favoured"] = json!(favoured);
        }
        let parsed = serde_json::from_value::<Task>(choice(300, &mechanism));
        parsed.map_err(|error| error.to_string())
    };
    assert!(complete(Some(2), 255, 1).is_ok());
    for (favoured, buckets, hashes, expected) in [
        (Some(1), 8, 1, "needs \"favoured\" of at least 2"),
        (Some(8), 8, 1, "favoured"),
        (Some(2), 256, 1, "buckets is 256"),
        (Some(2), 8, 2, "hashes is 2"),
        (None, 8, 1, "needs \"favoured\""),
    ] {
        let error = complete(favoured, buckets, hashes).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    assert!(bounds::BUCKET_COUNT_RANGE.contains(256.0));
    for said in [
        json!({ "favoured": 1 }),
        json!({ "hashes": 2 }),
        json!({ "buckets": 20 }),
    ] {
        let mut mechanism = said.clone();
        mechanism["name"] = json!("collision");
        mechanism["hashing"] = json!("balanced-windows");
        let error = resolved(choice(9, &mechanism)).unwrap_err();
        assert!(error.contains("windows"), "{said}: {error}");
    }
    let named = json!({ "name": "collision", "hashing": "balanced-windows" });
    for question in [
        json!({ "kind": "set", "options": 9, "sparsity": 1, "mechanism": named }),
        json!({ "kind": "ratings", "items": 9, "sparsity": 1, "value": "sign", "mechanism": named }),
        json!({ "kind": "text", "prefixes": [1], "mechanism": named }),
        json!({ "kind": "choice", "options": 2, "mechanism": named }),
        json!({ "kind": "choice", "options": 9,
            "mechanism": { "name": "collision", "rule": "occupied", "hashing": "balanced-windows", "buckets": 4 } }),
    ] {
        let mut question = question;
        question["name"] = json!("own");
        let file = json!({ "id": "t", "epsilon": 1.0, "questions": [question] });
        let error = resolved(file.clone()).unwrap_err();
        assert!(
            error.contains("windows") || error.contains("independent"),
            "{file}: {error}"
        );
    }
    for name in ["coco", "hash-bin"] {
        let mechanism = json!({ "name": name, "hashing": "balanced-windows" });
        let file = json!({ "id": "t", "items": 9, "sparsity": 2, "epsilon": 1.0, "value": "sign",
            "mechanism": mechanism });
        let error = resolved(file).unwrap_err();
        assert!(error.contains("balanced-windows"), "{error}");
    }
}
