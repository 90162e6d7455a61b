//! Statistics of CoCo's reports, from fixed seeds. Each comparison fails by chance with probability
//! at most 10⁻⁶, shared among its cells.

use hushbin::domain::SignedItem;
use hushbin::hash::{HashFamily, HashKeys, hashed_closed_element_sign, hashed_open_key_sign};
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::coco::{self, Coco, FavouredSideRule};
use hushbin::{Entry, Items, Randomizer, RatingsTaskFields, Report, Task, ValueKind};
use rand_chacha::rand_core::Rng;

use crate::support::coco::Model;
use crate::support::generators::{FixedFirst, randomize, seeded};
use crate::support::significance::{assert_distributed, assert_means, assert_rates};

const BALANCED: HashFamily = HashFamily::Balanced;
const INDEPENDENT: HashFamily = HashFamily::Independent;
const ITEMS: HashFamily = HashFamily::BalancedItems;

fn model(
    items: u32,
    sparsity: u32,
    epsilon: f64,
    rule: FavouredSideRule,
    hashing: HashFamily,
    pairs: u32,
) -> Model {
    Model {
        items,
        sparsity,
        epsilon,
        rule,
        hashing,
        pairs,
        hashes: 1,
    }
}

fn with_hashes(hashes: u32, model: Model) -> Model {
    Model { hashes, ..model }
}

fn strongest(favoured: u32) -> FavouredSideRule {
    FavouredSideRule::Strongest { favoured }
}

fn bucket_report(report: &Report) -> coco::Report {
    let Report::Coco(report) = report else {
        unreachable!("the task is one of CoCo")
    };
    *report
}

#[test]
fn reports_come_as_often_as_said() {
    // Few pairs give ties of every kind. There are more pairs than the walk of the sampler's
    // branches covers.
    let models = [
        model(6, 3, 1.0, strongest(1), BALANCED, 4),
        model(6, 5, 2.0, strongest(2), INDEPENDENT, 4),
        model(6, 5, 0.2, strongest(4), INDEPENDENT, 4),
        model(6, 6, 1.0, strongest(1), BALANCED, 1),
        model(9, 4, 3.0, strongest(3), BALANCED, 6),
        model(
            6,
            4,
            1.0,
            FavouredSideRule::RandomEntryDecides,
            INDEPENDENT,
            5,
        ),
        model(6, 4, 2.5, FavouredSideRule::RandomEntryDecides, BALANCED, 7),
        with_hashes(3, model(6, 3, 1.0, strongest(4), BALANCED, 3)),
        with_hashes(8, model(6, 4, 2.0, strongest(3), INDEPENDENT, 1)),
        model(6, 4, 1.0, strongest(2), ITEMS, 3),
        with_hashes(4, model(7, 5, 2.0, strongest(6), ITEMS, 4)),
    ];
    let mut rng = seeded(33);
    let n = 20_000;
    for model in models {
        let task = model.task();
        let mut randomizer = Randomizer::new(&task);
        let mut said =
            coco::Randomizer::new(&model.coco(), &task.questions()[0].domain(), model.epsilon);
        for seed in [1, 2, 3] {
            for size in [0, 1, model.sparsity] {
                let signed: Vec<SignedItem> = (0..size)
                    .map(|i| SignedItem {
                        item: u64::from(i),
                        is_negative: i % 2 == 1,
                    })
                    .collect();
                let entries: Vec<Entry> = signed
                    .iter()
                    .map(|signed| Entry {
                        item: signed.item,
                        value: if signed.is_negative { -1.0 } else { 1.0 },
                    })
                    .collect();
                let mut counts = vec![0; model.buckets() as usize];
                for _ in 0..n {
                    let mut fixed = FixedFirst {
                        first: Some(seed),
                        rest: &mut rng,
                    };
                    let made = randomize(&mut randomizer, &entries, &mut fixed).unwrap();
                    let report = bucket_report(&made.report);
                    assert_eq!(report.seed, seed);
                    counts[report.bucket as usize] += 1;
                }
                let words = model.completions(&signed);
                let share = 1.0 / words.end as f64;
                let mut averaged = vec![0.0; counts.len()];
                for word in words {
                    let row = said.exact_bucket_probabilities(seed, &signed, word);
                    averaged
                        .iter_mut()
                        .zip(row)
                        .for_each(|(a, p)| *a += p * share);
                }
                assert_distributed(&counts, &averaged, &format!("{model:?}, seed {seed}"));
            }
        }
    }
}

/// Hits of one item's plus side and minus side.
#[derive(Debug, Clone, Copy, Default)]
struct Hits {
    plus: u64,
    minus: u64,
}

impl Hits {
    fn pair(self) -> u64 {
        self.plus + self.minus
    }

    /// Returns the sum and the sum of squares of single reports' estimates, with their
    /// expectations. Such an estimate is ±1/gap or 0.
    fn estimates(self, gap: f64, mean: f64, what: String) -> (String, f64, f64, f64) {
        let sum = (self.plus as f64 - self.minus as f64) / gap;
        (what, sum, self.pair() as f64 / (gap * gap), mean)
    }
}

/// Means are unbiased for items of both signs, for fractions, for absent items and for padding
/// slots. Pairs are hit at the predicted rates. Seeds are random, and a decoder lists the hits.
#[test]
fn means_are_unbiased() {
    let models = [
        model(20, 3, 1.0, strongest(1), BALANCED, 1),
        model(20, 3, 1.0, strongest(1), BALANCED, 5),
        model(20, 3, 1.0, strongest(2), INDEPENDENT, 5),
        model(40, 6, 2.0, strongest(4), BALANCED, 12),
        model(40, 8, 0.5, strongest(3), BALANCED, 3),
        model(
            20,
            3,
            2.0,
            FavouredSideRule::RandomEntryDecides,
            BALANCED,
            9,
        ),
        model(
            20,
            3,
            2.0,
            FavouredSideRule::RandomEntryDecides,
            INDEPENDENT,
            9,
        ),
        model(
            40,
            6,
            0.7,
            FavouredSideRule::RandomEntryDecides,
            BALANCED,
            7,
        ),
        // One slot per pair.
        model(5, 3, 2.0, strongest(2), BALANCED, 8),
        model(5, 3, 2.0, FavouredSideRule::RandomEntryDecides, BALANCED, 8),
        with_hashes(64, model(20, 3, 1.0, strongest(40), BALANCED, 1)),
        with_hashes(8, model(40, 6, 2.0, strongest(30), BALANCED, 9)),
        with_hashes(16, model(20, 3, 0.5, strongest(25), INDEPENDENT, 3)),
        model(12, 8, 2.0, strongest(6), ITEMS, 12),
        with_hashes(8, model(10, 5, 1.0, strongest(12), ITEMS, 4)),
        // Every person has all items.
        model(6, 6, 1.0, strongest(2), ITEMS, 3),
    ];
    let mut rng = seeded(34);
    let n = 200_000;
    for model in models {
        let task = Task::new(RatingsTaskFields {
            value: ValueKind::Real,
            ..task_parts(&model.task())
        })
        .unwrap();
        let mut randomizer = Randomizer::new(&task);
        let domain = task.questions()[0].domain();
        let support = model.coco().hit_decoder(&domain);
        let rates = model.coco().hit_probabilities(&domain, model.epsilon);
        let entry = |item, value| Entry { item, value };
        // With s = 3, fractions sometimes leave room for paddings.
        let input = [entry(1, 1.0), entry(2, -1.0), entry(4, -0.4)];
        let mut hits = vec![Hits::default(); support.visitable_slot_count()];
        let mut listed = 0;
        for _ in 0..n {
            let report =
                bucket_report(&randomize(&mut randomizer, &input, &mut rng).unwrap().report);
            assert!(report.bucket < model.buckets());
            support.for_each_hit_slot(&report, |slot, plus| {
                listed += 1;
                let hits = &mut hits[slot as usize];
                *(if plus {
                    &mut hits.plus
                } else {
                    &mut hits.minus
                }) += 1;
            });
        }
        let truth = |item: usize| {
            let found = input.iter().find(|entry| entry.item == item as u64);
            found.map_or(0.0, |entry| entry.value)
        };
        let items = model.items as usize;
        let sums: Vec<_> = (0..items)
            .map(|item| {
                let what = format!("item {item} of {model:?}");
                hits[item].estimates(rates.side_hit_probability_gap, truth(item), what)
            })
            .collect();
        assert_means(n, &sums);
        if model.hashing.is_balanced() {
            // Every report hits 1/T of all slots.
            assert_eq!(
                listed * u64::from(model.pairs),
                n * support.visitable_slot_count() as u64
            );
        }
        let mut events = Vec::new();
        for (item, hits) in hits.iter().enumerate().take(items) {
            let present = truth(item).abs();
            let p = match rates.exact_pair_probabilities {
                Some(rates) => {
                    present * rates.pair_hit_if_present + (1.0 - present) * rates.pair_hit_if_absent
                }
                // Under the independent hash, another item's pair is hit with probability exactly
                // 1/T.
                None if model.hashing == INDEPENDENT && present == 0.0 => {
                    rates.mean_pair_hit_probability
                }
                None => continue,
            };
            events.push((format!("pair of {item} of {model:?}"), hits.pair(), p));
        }
        if !events.is_empty() {
            assert_rates(n, &events);
        }
    }
}

fn task_parts(task: &Task) -> RatingsTaskFields {
    RatingsTaskFields {
        id: task.id().to_owned(),
        items: task.questions()[0].items().clone(),
        sparsity: task.questions()[0].max_entries_per_report(),
        epsilon: task.epsilon(),
        value: task.questions()[0].coded_value_kind(),
        mechanism: task.questions()[0].mechanism().clone(),
    }
}

/// Means in open tasks, whose items are estimated one by one.
#[test]
fn means_of_open_tasks_are_unbiased() {
    let mut rng = seeded(35);
    let n = 200_000;
    for (rule, pairs) in [
        (strongest(1), 1),
        (strongest(2), 6),
        (FavouredSideRule::RandomEntryDecides, 10),
    ] {
        let coco = Coco::new(rule, INDEPENDENT, 2 * pairs).unwrap();
        let items: Items = serde_json::from_str("\"open\"").unwrap();
        let task = Task::new(RatingsTaskFields {
            id: "open".to_owned(),
            items: items.clone(),
            sparsity: 4,
            epsilon: 1.5,
            value: ValueKind::Sign,
            mechanism: Mechanism::Coco(coco),
        })
        .unwrap();
        let names = ["https://a.example", "https://b.example", "c", "d", ""];
        let keys = names.map(|name| items.find_item(name).unwrap_or(0));
        let means = [1.0, -1.0, 1.0, 0.0, 0.0];
        let input: Vec<Entry> = keys
            .into_iter()
            .zip(means)
            .filter(|(_, value)| *value != 0.0)
            .map(|(item, value)| Entry { item, value })
            .collect();
        let support = coco.hit_decoder(&task.questions()[0].domain());
        assert_eq!(support.visitable_slot_count(), 0);
        let rates = coco.hit_probabilities(&task.questions()[0].domain(), task.epsilon());
        let mut randomizer = Randomizer::new(&task);
        let mut hits = [Hits::default(); 5];
        for _ in 0..n {
            let report =
                bucket_report(&randomize(&mut randomizer, &input, &mut rng).unwrap().report);
            support.for_each_hit_slot(&report, |_, _| panic!("an open task lists nothing"));
            for (hits, &key) in hits.iter_mut().zip(&keys) {
                match support.hit_side_is_plus(&report, key) {
                    Some(true) => hits.plus += 1,
                    Some(false) => hits.minus += 1,
                    None => {}
                }
            }
        }
        let sums: Vec<_> = (0..5)
            .map(|i| {
                hits[i].estimates(
                    rates.side_hit_probability_gap,
                    means[i],
                    format!("{:?} of {coco:?}", names[i]),
                )
            })
            .collect();
        assert_means(n, &sums);
        let events: Vec<_> = (0..5)
            .filter_map(|i| {
                let p = match rates.exact_pair_probabilities {
                    Some(presence) if means[i] != 0.0 => presence.pair_hit_if_present,
                    Some(presence) => presence.pair_hit_if_absent,
                    None if means[i] == 0.0 => rates.mean_pair_hit_probability,
                    None => return None,
                };
                Some((
                    format!("pair of {:?} of {coco:?}", names[i]),
                    hits[i].pair(),
                    p,
                ))
            })
            .filter(|(_, _, p)| *p < 1.0)
            .collect();
        if !events.is_empty() {
            assert_rates(n, &events);
        }
    }
}

/// Listed hits equal those queried one by one.
#[test]
fn listed_hits_are_those_asked_for() {
    let mut rng = seeded(36);
    for (hashing, pairs) in [
        (BALANCED, 1),
        (BALANCED, 7),
        (BALANCED, 300),
        (INDEPENDENT, 1),
        (INDEPENDENT, 7),
    ] {
        let model = model(150, 4, 1.0, strongest(1), hashing, pairs);
        let support = model
            .coco()
            .hit_decoder(&model.task().questions()[0].domain());
        for _ in 0..200 {
            let report = coco::Report {
                seed: rng.next_u64(),
                bucket: rng.next_u32() % model.buckets(),
            };
            let mut listed = vec![None; support.visitable_slot_count()];
            support.for_each_hit_slot(&report, |slot, plus| {
                assert_eq!(listed[slot as usize].replace(plus), None);
            });
            for item in 0..u64::from(model.items) {
                assert_eq!(
                    listed[item as usize],
                    support.hit_side_is_plus(&report, item)
                );
            }
            // The plus side of an item is the pair's plus side if the item's sign is +1.
            let keys = HashKeys::new(report.seed);
            for (slot, listed) in (0..).zip(&listed) {
                let plus = (hashed_closed_element_sign(&keys, slot) == 1)
                    == report.bucket.is_multiple_of(2);
                assert!(listed.is_none_or(|listed| listed == plus));
            }
        }
    }
}

/// The sign hash is fair, and signs of items are independent.
#[test]
fn signs_are_fair() {
    let mut rng = seeded(37);
    let n = 100_000;
    let elements = [0u32, 1, 63, 64, 65, 4095, 1 << 20];
    let key = |element: u32| u64::from(element).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut plus = [[0; 7]; 2];
    let mut alike = [[[0; 7]; 7]; 2];
    for round in 0..n {
        // Random seeds and consecutive seeds.
        let seed = if round % 2 == 0 {
            round
        } else {
            rng.next_u64()
        };
        let keys = HashKeys::new(seed);
        let signs = [
            elements.map(|element| hashed_closed_element_sign(&keys, element)),
            elements.map(|element| hashed_open_key_sign(&keys, key(element))),
        ];
        for (kind, signs) in signs.iter().enumerate() {
            for i in 0..7 {
                plus[kind][i] += u64::from(signs[i] == 1);
                for j in 0..i {
                    alike[kind][i][j] += u64::from(signs[i] == signs[j]);
                }
            }
        }
    }
    let mut events = Vec::new();
    for kind in 0..2 {
        for i in 0..7 {
            events.push((format!("sign of {i}, {kind}"), plus[kind][i], 0.5));
            for (j, &alike) in alike[kind][i].iter().enumerate().take(i) {
                events.push((format!("signs of {i}, {j}, {kind}"), alike, 0.5));
            }
        }
    }
    assert_rates(n, &events);
}
