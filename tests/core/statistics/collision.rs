//! Statistics of Collision's reports and hits.

use hushbin::domain::SignedItem;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{self, FavouredBucketRule};
use hushbin::{Entry, Mechanism, Randomizer, Report};
use rand_chacha::rand_core::Rng;

use crate::support::collision::Model;
use crate::support::generators::{FixedFirst, Scripted, randomize, seeded};
use crate::support::significance::{assert_distributed, assert_rates};

fn model(
    items: u32,
    sparsity: u32,
    epsilon: f64,
    rule: FavouredBucketRule,
    hashing: HashFamily,
    buckets: u32,
) -> Model {
    Model {
        items,
        sparsity,
        epsilon,
        rule,
        hashing,
        buckets,
        hashes: 1,
    }
}

const BALANCED: HashFamily = HashFamily::Balanced;
const INDEPENDENT: HashFamily = HashFamily::Independent;

fn with_hashes(hashes: u32, model: Model) -> Model {
    Model { hashes, ..model }
}

fn heaviest(favoured: u32) -> FavouredBucketRule {
    FavouredBucketRule::Heaviest { favoured }
}

/// Few buckets, which give ties of every kind.
fn small_models() -> Vec<Model> {
    vec![
        model(6, 3, 1.0, heaviest(1), BALANCED, 5),
        model(6, 4, 2.0, heaviest(2), INDEPENDENT, 6),
        model(6, 4, 0.2, heaviest(3), INDEPENDENT, 4),
        model(3, 2, 3.0, heaviest(5), BALANCED, 7),
        model(3, 3, 1.0, heaviest(2), BALANCED, 9),
        model(6, 4, 1.0, FavouredBucketRule::Occupied, INDEPENDENT, 6),
        model(6, 4, 2.5, FavouredBucketRule::Occupied, BALANCED, 9),
        with_hashes(3, model(6, 3, 1.0, heaviest(4), BALANCED, 3)),
        with_hashes(8, model(6, 4, 2.0, heaviest(5), INDEPENDENT, 2)),
    ]
}

#[test]
fn reports_come_as_often_as_said() {
    let mut rng = seeded(13);
    let n = 20_000;
    for model in small_models() {
        let task = model.task();
        let mut randomizer = Randomizer::new(&task);
        let collision = model.collision();
        let mut said =
            collision::Randomizer::new(&collision, &task.questions()[0].domain(), model.epsilon);
        for seed in [1, 2, 3] {
            for size in [0, 1, model.sparsity] {
                let signed: Vec<SignedItem> = (0..size)
                    .map(|i| SignedItem {
                        item: u64::from(i),
                        is_negative: i % 2 == 1,
                    })
                    .collect();
                let entries: Vec<Entry> = signed.iter().map(entry).collect();
                let mut counts = vec![0; model.outcomes() as usize];
                for _ in 0..n {
                    let mut fixed = FixedFirst {
                        first: Some(seed),
                        rest: &mut rng,
                    };
                    let made = randomize(&mut randomizer, &entries, &mut fixed).unwrap();
                    let Report::Collision(report) = made.report else {
                        unreachable!()
                    };
                    assert_eq!(report.seed, seed);
                    counts[report.bucket as usize] += 1;
                }
                let probabilities = said.exact_bucket_probabilities(seed, &signed);
                assert_distributed(&counts, &probabilities, &format!("{model:?}, seed {seed}"));
            }
        }
    }
}

fn entry(signed: &SignedItem) -> Entry {
    Entry {
        item: signed.item,
        value: if signed.is_negative { -1.0 } else { 1.0 },
    }
}

/// Members, non-members and pairs of elements are hit at the predicted rates. Seeds are random, and
/// a decoder lists the hits.
#[test]
fn hits_come_as_often_as_predicted() {
    let models = [
        model(20, 3, 1.0, heaviest(1), BALANCED, 9),
        model(20, 3, 1.0, heaviest(2), INDEPENDENT, 9),
        model(30, 6, 2.0, heaviest(4), BALANCED, 30),
        model(20, 8, 0.5, heaviest(2), BALANCED, 7),
        model(20, 3, 2.0, FavouredBucketRule::Occupied, BALANCED, 20),
        model(20, 3, 2.0, FavouredBucketRule::Occupied, INDEPENDENT, 20),
        // One slot per bucket.
        model(5, 3, 2.0, heaviest(2), BALANCED, 13),
        with_hashes(8, model(20, 3, 1.0, heaviest(14), BALANCED, 5)),
        with_hashes(64, model(30, 2, 0.5, heaviest(70), INDEPENDENT, 3)),
    ];
    let mut rng = seeded(14);
    let n = 200_000;
    for model in models {
        let task = model.task();
        let mut randomizer = Randomizer::new(&task);
        let support = model.collision().hit_decoder(&task.questions()[0].domain());
        // Fewer entries than s: two signed items, then paddings.
        let input = [(2, false), (4, true)];
        let input = input.map(|(item, negative)| {
            entry(&SignedItem {
                item,
                is_negative: negative,
            })
        });
        let rates = model
            .collision()
            .hit_probabilities(&task.questions()[0].domain(), model.epsilon);
        // The members are 4 and 9. The rest are the other signs of their items, and further
        // elements.
        let members = [4, 9];
        let others = [5, 8, 0, 3, 2 * model.items as usize - 3];
        let watched = [members.as_slice(), &others].concat();
        let mut single = vec![0; watched.len()];
        let mut pairs = vec![vec![0; watched.len()]; watched.len()];
        let mut hit = vec![false; support.visitable_slot_count()];
        for _ in 0..n {
            let Report::Collision(report) =
                randomize(&mut randomizer, &input, &mut rng).unwrap().report
            else {
                unreachable!()
            };
            hit.fill(false);
            support.for_each_hit(&report, |slot| hit[slot as usize] = true);
            for (i, &a) in watched.iter().enumerate() {
                assert_eq!(hit[a], support.is_hit(&report, a as u64));
                single[i] += u64::from(hit[a]);
                for (j, &b) in watched[..i].iter().enumerate() {
                    pairs[i][j] += u64::from(hit[a] && hit[b]);
                }
            }
        }
        let mut events = Vec::new();
        for i in 0..watched.len() {
            let p = if i < 2 { rates.p_true } else { rates.p_false };
            events.push((format!("{} of {model:?}", watched[i]), single[i], p));
            for j in 0..i {
                let p = match (i < 2, j < 2) {
                    (true, _) => continue,
                    (false, true) => rates.member_and_nonmember_hit,
                    (false, false) => rates.two_nonmembers_hit,
                };
                let what = format!("{} with {} of {model:?}", watched[i], watched[j]);
                events.push((what, pairs[i][j], p.max(0.0)));
            }
        }
        assert_rates(n, &events);
    }
}

/// Buckets of two slots, up to whole inputs. Over seeds the exact probability of hitting a member
/// averages to p_true. After five rounds it was off by 80 standard errors.
#[test]
fn full_inputs_hit_as_often_as_stated_where_buckets_have_two_slots() {
    let (items, sparsity, epsilon) = (256, 64, 1.0);
    let model = model(items, sparsity, epsilon, heaviest(61), BALANCED, 288);
    let task = model.task();
    let domain = task.questions()[0].domain();
    let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
        unreachable!()
    };
    let rates = collision.hit_probabilities(&domain, epsilon);
    let support = collision.hit_decoder(&domain);
    let mut randomizer = collision::Randomizer::new(collision, &domain, epsilon);
    let signed: Vec<SignedItem> = (0..u64::from(sparsity))
        .map(|item| SignedItem {
            item,
            is_negative: false,
        })
        .collect();
    let mut rng = seeded(19);
    let n = 8_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n {
        let seed = rng.next_u64();
        let probabilities = randomizer.exact_bucket_probabilities(seed, &signed);
        let hit: f64 = (0..)
            .zip(&probabilities)
            .map(|(bucket, p)| {
                let mut members = 0;
                support.for_each_hit(&collision::Report { seed, bucket }, |slot| {
                    members += u32::from(slot < 2 * sparsity && slot % 2 == 0);
                });
                p * f64::from(members) / f64::from(sparsity)
            })
            .sum();
        sum += hit;
        squares += hit * hit;
    }
    let n = f64::from(n);
    let mean = sum / n;
    let error = ((squares / n - mean * mean) / n).sqrt();
    let z = (mean - rates.p_true) / error;
    // A correct hash exceeds this with a probability of 10⁻⁶.
    assert!(z.abs() < 4.9, "{z} standard errors");
    // The comparison is sharp: a deviation of 1.46% of the gap would be detected.
    assert!(0.0146 * rates.hit_probability_gap() > 10.0 * error);
}

/// A refused input draws no randomness, so its refusal reveals nothing.
#[test]
fn refused_inputs_draw_nothing() {
    let mut randomizer = Randomizer::new(&model(9, 3, 1.0, heaviest(1), BALANCED, 5).task());
    let entry = |item, value| Entry { item, value };
    let refused = [
        (vec![entry(0, 1.0), entry(9, 1.0)], "item 9 is unknown"),
        (
            vec![entry(3, 1.0), entry(0, 1.0), entry(3, -1.0)],
            "occurs twice",
        ),
        (vec![entry(0, 1.0), entry(0, 1.0)], "occurs twice"),
        (vec![entry(0, 0.5)], "expected -1, 0 or 1"),
        (vec![entry(0, f64::NAN)], "expected -1, 0 or 1"),
        (vec![entry(0, f64::INFINITY)], "expected -1, 0 or 1"),
    ];
    for (entries, words) in refused {
        let mut rng = Scripted::new(&[]);
        let error = randomize(&mut randomizer, &entries, &mut rng).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(rng.taken, 0);
    }
}
