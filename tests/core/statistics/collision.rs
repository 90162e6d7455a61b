//! Frequencies of what is drawn, from fixed seeds: each comparison would fail
//! by chance with probability 10⁻⁶ at most, shared among its cells.

use std::collections::BTreeMap;

use hushbin::domain::Signed;
use hushbin::hash::{Balanced, Hashing, Keys, independent_bucket};
use hushbin::mechanism::collision::{self, Rule};
use hushbin::sample::{Threshold, below, choose_front, with_probability};
use hushbin::{Entry, Mechanism, Randomizer, Report, ValueKind};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::support::collision::Model;
use crate::support::generators::{FixedFirst, Scripted, seeded};
use crate::support::significance::{assert_distributed, assert_rates, assert_uniform};

#[test]
fn integers_are_uniform() {
    let mut rng = seeded(10);
    for range in [1, 2, 3, 6, 7, 10, 100, 1000] {
        let mut counts = vec![0; range as usize];
        (0..100_000).for_each(|_| counts[below(&mut rng, range) as usize] += 1);
        assert_uniform(&counts, &format!("below {range}"));
    }
    // Here a product without rejection returns every third integer twice as
    // often as the others.
    let mut counts = [0; 3];
    (0..100_000).for_each(|_| counts[below(&mut rng, 3 << 30) as usize % 3] += 1);
    assert_uniform(&counts, "below 3·2³⁰, by remainder");
}

/// The same without chance: exactly ⌊2³²/range⌋ words are accepted for each
/// integer. Those of one integer follow each other, and all but the first are
/// accepted.
#[test]
fn integers_have_equally_many_words() {
    for range in [
        1u64,
        2,
        3,
        5,
        7,
        10,
        641,
        1378,
        65_537,
        1 << 20,
        3 << 30,
        u64::from(u32::MAX),
    ] {
        for value in [
            0,
            1,
            2,
            range / 3,
            range / 2,
            range.saturating_sub(2),
            range - 1,
        ] {
            let value = value.min(range - 1);
            let first = (value << 32).div_ceil(range);
            let end = ((value + 1) << 32).div_ceil(range);
            // A rejected word is followed by the last one, which is always
            // accepted.
            let accepted = |word: u64| {
                let words = [word, u64::from(u32::MAX)];
                let mut rng = Scripted::new(&words);
                let result = u64::from(below(&mut rng, range as u32));
                assert!(rng.taken > 1 || result == value);
                rng.taken == 1
            };
            let rejected = u64::from(first < end && !accepted(first));
            assert_eq!(
                end - first - rejected,
                (1 << 32) / range,
                "{value} below {range}"
            );
            assert!((first + 1..end.min(first + 3)).all(accepted));
        }
    }
}

#[test]
fn probabilities_are_exact() {
    let draws = |p: f64, word: u64| with_probability(&mut Scripted::new(&[word]), p);
    for value in [
        0.5f64,
        0.1,
        1e-3,
        0.999,
        1.0f64.next_down(),
        2f64.powi(-63),
        3e-19,
    ] {
        let words = (value * 2f64.powi(64)) as u64;
        for value in [value, -value] {
            assert!(draws(value, 0) && draws(value, words - 1));
            assert!(!draws(value, words) && !draws(value, u64::MAX));
        }
    }
    assert!(draws(1.0, u64::MAX) && draws(-1.0, u64::MAX));
    assert!(!draws(0.0, 0) && !draws(-0.0, 0) && !draws(5e-324, 0));
    let threshold = Threshold(1 << 62);
    assert_eq!(
        (threshold.probability(), threshold.complement()),
        (0.25, 0.75)
    );

    let mut rng = seeded(11);
    let n = 200_000;
    let rates = [0.5, 0.001, 0.37, 0.999].map(|p| {
        let count = (0..n).filter(|_| with_probability(&mut rng, p)).count() as u64;
        (format!("probability {p}"), count, p)
    });
    assert_rates(n, &rates);
}

#[test]
fn subsets_are_uniform() {
    let mut rng = seeded(12);
    for (len, keep) in [(5, 2), (6, 3), (4, 3), (4, 4), (3, 1)] {
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for _ in 0..60_000 {
            let mut items: Vec<u8> = (0..len).collect();
            choose_front(&mut rng, &mut items, keep);
            items.truncate(keep);
            *counts.entry(items).or_default() += 1;
        }
        // Ordered draws are uniform, hence subsets are.
        let orders: usize = (0..keep).map(|i| len as usize - i).product();
        assert_eq!(counts.len(), orders);
        let counts: Vec<u64> = counts.into_values().collect();
        assert_uniform(&counts, &format!("{keep} of {len}"));
    }
}

fn model(
    items: u32,
    sparsity: u32,
    epsilon: f64,
    rule: Rule,
    hashing: Hashing,
    buckets: u32,
) -> Model {
    Model {
        items,
        sparsity,
        epsilon,
        rule,
        hashing,
        buckets,
    }
}

const BALANCED: Hashing = Hashing::Balanced;
const INDEPENDENT: Hashing = Hashing::Independent;

fn heaviest(favoured: u32) -> Rule {
    Rule::Heaviest { favoured }
}

/// Few buckets, so that ties of every kind come up.
fn small_models() -> Vec<Model> {
    vec![
        model(6, 3, 1.0, heaviest(1), BALANCED, 5),
        model(6, 4, 2.0, heaviest(2), INDEPENDENT, 6),
        model(6, 4, 0.2, heaviest(3), INDEPENDENT, 4),
        model(3, 2, 3.0, heaviest(5), BALANCED, 7),
        model(3, 3, 1.0, heaviest(2), BALANCED, 9),
        model(6, 4, 1.0, Rule::Occupied, INDEPENDENT, 6),
        model(6, 4, 2.5, Rule::Occupied, BALANCED, 9),
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
        let mut said = collision::Randomizer::new(&collision, &task.domain(), model.epsilon);
        for seed in [1, 2, 3] {
            for size in [0, 1, model.sparsity] {
                let signed: Vec<Signed> = (0..size)
                    .map(|i| Signed {
                        item: u64::from(i),
                        negative: i % 2 == 1,
                    })
                    .collect();
                let entries: Vec<Entry> = signed.iter().map(entry).collect();
                let mut counts = vec![0; model.buckets as usize];
                for _ in 0..n {
                    let mut fixed = FixedFirst {
                        first: Some(seed),
                        rest: &mut rng,
                    };
                    let made = randomizer.randomize(&entries, &mut fixed).unwrap();
                    let Report::Collision(report) = made.report else {
                        unreachable!()
                    };
                    assert_eq!(report.seed, seed);
                    counts[report.bucket as usize] += 1;
                }
                let probabilities = said.probabilities(seed, &signed);
                assert_distributed(&counts, &probabilities, &format!("{model:?}, seed {seed}"));
            }
        }
    }
}

fn entry(signed: &Signed) -> Entry {
    Entry {
        item: signed.item,
        value: if signed.negative { -1.0 } else { 1.0 },
    }
}

/// Members, non-members and pairs of elements are hit at the predicted rates,
/// with seeds drawn as in use; by the hits that a decoder lists.
#[test]
fn hits_come_as_often_as_predicted() {
    let models = [
        model(20, 3, 1.0, heaviest(1), BALANCED, 9),
        model(20, 3, 1.0, heaviest(2), INDEPENDENT, 9),
        model(30, 6, 2.0, heaviest(4), BALANCED, 30),
        model(20, 8, 0.5, heaviest(2), BALANCED, 7),
        model(20, 3, 2.0, Rule::Occupied, BALANCED, 20),
        model(20, 3, 2.0, Rule::Occupied, INDEPENDENT, 20),
        // One slot in each bucket.
        model(5, 3, 2.0, heaviest(2), BALANCED, 13),
    ];
    let mut rng = seeded(14);
    let n = 200_000;
    for model in models {
        let task = model.task();
        let mut randomizer = Randomizer::new(&task);
        let support = model.collision().support(&task.domain());
        // Fewer entries than s: two signed items, then paddings.
        let input = [(2, false), (4, true)];
        let input = input.map(|(item, negative)| entry(&Signed { item, negative }));
        let rates = model.collision().rates(&task.domain(), model.epsilon);
        // Members 4 and 9; the other signs of their items; others.
        let members = [4, 9];
        let others = [5, 8, 0, 3, 2 * model.items as usize - 3];
        let watched = [members.as_slice(), &others].concat();
        let mut single = vec![0; watched.len()];
        let mut pairs = vec![vec![0; watched.len()]; watched.len()];
        let mut hit = vec![false; support.slots()];
        for _ in 0..n {
            let Report::Collision(report) = randomizer.randomize(&input, &mut rng).unwrap().report
            else {
                unreachable!()
            };
            hit.fill(false);
            support.for_each_hit(&report, |slot| hit[slot as usize] = true);
            for (i, &a) in watched.iter().enumerate() {
                assert_eq!(hit[a], support.hits(&report, a as u64));
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
                    (false, true) => rates.both_member,
                    (false, false) => rates.both_none,
                };
                let what = format!("{} with {} of {model:?}", watched[i], watched[j]);
                events.push((what, pairs[i][j], p.max(0.0)));
            }
        }
        assert_rates(n, &events);
    }
}

/// Seeds as a generator and as an adversarial counter would give them.
fn seeds(rng: &mut ChaCha8Rng, n: u64) -> impl Iterator<Item = u64> {
    let random: Vec<u64> = (0..n).map(|_| rng.next_u64()).collect();
    random.into_iter().chain(0..n)
}

#[test]
fn the_balanced_hash_is_uniform() {
    let mut rng = seeded(15);
    let n = 50_000;
    for (elements, buckets) in [(12, 4), (30, 10), (100, 7), (64, 8), (2762, 23), (500, 499)] {
        let hash = Balanced::new(elements, buckets);
        let last = elements - 1;
        let slots = [0, 1, buckets - 1, buckets.min(last - 1), last];
        let mut alone = vec![vec![0; buckets as usize]; slots.len()];
        let mut together = vec![vec![0; slots.len()]; slots.len()];
        for seed in seeds(&mut rng, n) {
            let keys = Keys::new(seed);
            let placed = slots.map(|slot| hash.bucket(&keys, slot));
            for (i, &bucket) in placed.iter().enumerate() {
                alone[i][bucket as usize] += 1;
                for j in 0..i {
                    together[i][j] += u64::from(placed[j] == bucket);
                }
            }
        }
        for (counts, slot) in alone.iter().zip(slots) {
            assert_uniform(counts, &format!("slot {slot} of {hash:?}"));
        }
        let mut events = Vec::new();
        for i in 0..slots.len() {
            for j in 0..i {
                if slots[i] != slots[j] {
                    let meet = f64::from(hash.per_bucket() - 1) / (hash.slots() - 1) as f64;
                    let what = format!("{} meets {} in {hash:?}", slots[i], slots[j]);
                    events.push((what, together[i][j], meet));
                }
            }
        }
        assert_rates(2 * n, &events);
    }
}

/// Five rounds leave a bias of pairs, and it is this one. Each round turns the
/// chance that one coordinate of two slots agrees into that of the other and
/// shrinks its distance from the ideal by the range of what is added: 1/N² after
/// the first round, which only looks at the other coordinate. More rounds, where
/// m is small, leave none to be seen.
#[test]
fn the_balanced_hash_is_as_uniform_as_documented() {
    let mut rng = seeded(18);
    let n = 1_000_000;
    for (elements, buckets, rounds) in
        [(16, 2, 5), (24, 3, 5), (8, 4, 21), (12, 4, 21), (14, 6, 21)]
    {
        let hash = Balanced::new(elements, buckets);
        assert_eq!(hash.rounds(), rounds);
        let (t, m) = (f64::from(buckets), f64::from(hash.per_bucket()));
        let slots = t * m;
        let ideal = (m - 1.0) / (slots - 1.0);
        let left = if rounds == 5 {
            1.0 / (slots * slots)
        } else {
            0.0
        };
        // Slots 0 and 1 share w, slots 0 and t share z.
        let same_w = ideal * (1.0 - left);
        let same_z = ideal + (1.0 / t - ideal) * left;
        let mut met = [0, 0];
        for _ in 0..n {
            let keys = Keys::new(rng.next_u64());
            let bucket = hash.bucket(&keys, 0);
            met[0] += u64::from(hash.bucket(&keys, 1) == bucket);
            met[1] += u64::from(hash.bucket(&keys, buckets) == bucket);
        }
        let what = |which: &str| format!("same {which} in {hash:?}");
        assert_rates(
            n,
            &[(what("w"), met[0], same_w), (what("z"), met[1], same_z)],
        );
    }
}

/// With two slots in a bucket, and all the way to whole inputs: over seeds, the
/// exact probability of hitting a member averages to p_true. After five rounds
/// this was off by 80 standard errors.
#[test]
fn full_inputs_hit_as_often_as_stated_where_buckets_have_two_slots() {
    let (items, sparsity, epsilon) = (256, 64, 1.0);
    let model = model(items, sparsity, epsilon, heaviest(61), BALANCED, 288);
    let task = model.task();
    let domain = task.domain();
    let Mechanism::Collision(collision) = task.mechanism() else {
        unreachable!()
    };
    let rates = collision.rates(&domain, epsilon);
    let support = collision.support(&domain);
    let mut randomizer = collision::Randomizer::new(collision, &domain, epsilon);
    let signed: Vec<Signed> = (0..u64::from(sparsity))
        .map(|item| Signed {
            item,
            negative: false,
        })
        .collect();
    let mut rng = seeded(19);
    let n = 8_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n {
        let seed = rng.next_u64();
        let probabilities = randomizer.probabilities(seed, &signed);
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
    // A right hash exceeds this with a probability of 10⁻⁶.
    assert!(z.abs() < 4.9, "{z} standard errors");
    // The comparison is sharp: 1.46% of the gap would be seen.
    assert!(0.0146 * rates.gap() > 10.0 * error);
}

#[test]
fn the_independent_hash_is_uniform() {
    let mut rng = seeded(16);
    let n = 50_000;
    for buckets in [2, 7, 100] {
        let mut alone = vec![0; buckets as usize];
        let mut met = 0;
        for seed in seeds(&mut rng, n) {
            let keys = Keys::new(seed);
            let (a, b) = (
                independent_bucket(&keys, 6, buckets),
                independent_bucket(&keys, 7, buckets),
            );
            alone[a as usize] += 1;
            met += u64::from(a == b);
        }
        assert_uniform(&alone, &format!("independent to {buckets}"));
        let meet = 1.0 / f64::from(buckets);
        assert_rates(2 * n, &[(format!("6 meets 7 in {buckets}"), met, meet)]);
    }
}

#[test]
fn entries_become_elements_without_bias() {
    let model = model(9, 3, 1.0, heaviest(1), BALANCED, 5);
    let domain = model.task().domain();
    let mut rng = seeded(17);
    let mut signed = Vec::new();
    let n = 100_000;

    // Up to s values: each becomes its sign with its magnitude's probability.
    let values = [0.25, -0.7, 0.001];
    let entries = [5, 0, 8].into_iter().zip(values);
    let entries: Vec<Entry> = entries.map(|(item, value)| Entry { item, value }).collect();
    let mut counts = [0; 3];
    for _ in 0..n {
        let sampled_down = domain.sparsify(&entries, ValueKind::Real, &mut rng, &mut signed);
        assert_eq!(sampled_down, Ok(false));
        for kept in &signed {
            let index = entries
                .iter()
                .position(|entry| entry.item == kept.item)
                .unwrap();
            assert_eq!(kept.negative, values[index] < 0.0);
            counts[index] += 1;
        }
    }
    let rates = [0, 1, 2].map(|i| (format!("value {}", values[i]), counts[i], values[i].abs()));
    assert_rates(n, &rates);

    // More than s: any three of the five are as likely as any other.
    let entries: Vec<Entry> = (0..5).map(|item| Entry { item, value: -1.0 }).collect();
    let mut subsets: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for _ in 0..n {
        let sampled_down = domain.sparsify(&entries, ValueKind::Sign, &mut rng, &mut signed);
        assert_eq!(sampled_down, Ok(true));
        let mut kept: Vec<u64> = signed.iter().map(|kept| kept.item).collect();
        kept.sort_unstable();
        *subsets.entry(kept).or_default() += 1;
    }
    assert_eq!(subsets.len(), 10);
    assert_uniform(&subsets.into_values().collect::<Vec<_>>(), "three of five");
}

/// A refused input draws nothing, so nothing can be learnt from its refusal.
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
        let error = randomizer.randomize(&entries, &mut rng).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(rng.taken, 0);
    }
}
