//! The sampler, walked over its decisions, and its distribution.

use hushbin::domain::Domain;
use hushbin::hash::for_each_drawn;
use hushbin::mechanism::cube::Randomizer;
use hushbin::mechanism::cube::{self, Cube};
use hushbin::task::{Kind, Limits, QuestionParts};
use hushbin::{Entry, Items, Question, Report, Task};
use rand_chacha::rand_core::Rng;

use super::{number, rows_without_delta, signed, whole};
use crate::support::generators::{FixedFirst, Scripted, seeded};
use crate::support::significance::{assert_distributed, assert_uniform};

fn task(attributes: u32, cube: Cube, epsilon: f64) -> Task {
    let limits = Limits::new(-1.0, 1.0, None).unwrap();
    let names = (0..attributes).map(|index| format!("n{index}")).collect();
    let question = Question::new(QuestionParts {
        name: "all".to_owned(),
        kind: Kind::Numbers(vec![limits; attributes as usize].into()),
        items: Items::Named(names),
        sparsity: attributes,
        weight: 1,
        epsilon,
        mechanism: cube.into(),
    });
    Task::of_questions("t".to_owned(), vec![question.unwrap()]).unwrap()
}

fn entries(values: &[f64]) -> Vec<Entry> {
    let entry = |(item, &value)| Entry { item, value };
    (0..).zip(values).map(entry).collect()
}

/// The report of these values and words, and how many of them were taken.
fn made(task: &Task, values: &[f64], words: &[u64]) -> (cube::Report, usize) {
    let mut rng = Scripted::new(words);
    let mut randomizer = hushbin::Randomizer::new(task);
    let made = randomizer.randomize(&entries(values), &mut rng).unwrap();
    assert!(!made.sampled_down);
    let Report::Cube(report) = made.report else {
        panic!("{:?}", made.report)
    };
    (report, rng.taken)
}

/// Words of all kinds of decisions: each attribute rounded either way, either side, and
/// turned coordinates on the other side first. What is reported is the rounded corner
/// with these turned, whatever it is, after as many words.
#[test]
fn every_decision_is_taken() {
    for cube in super::cubes(4) {
        let (k, task) = (cube.drawn(), task(cube.drawn(), cube, 1.3));
        let inside = cube.thresholds(1.3).inside().0;
        let mut order = Vec::new();
        for_each_drawn(9, k, k, |attribute| order.push(attribute));
        let favoured = |turned: u64| k - turned.count_ones() >= cube.agreements();
        for corner in 0..1_u64 << k {
            for (word, is_inside) in [
                (0, true),
                (inside - 1, true),
                (inside, false),
                (u64::MAX, false),
            ] {
                for turned in 0..1_u64 << k {
                    // A fair sign is that of the lowest bit.
                    let rounded = order.iter().map(|_| 1);
                    let mut words: Vec<u64> = [9].into_iter().chain(rounded).collect();
                    for (index, word) in words[1..].iter_mut().enumerate() {
                        *word = u64::MAX - 1 + (corner >> index & 1);
                    }
                    words.push(word);
                    // The bits above are not looked at.
                    let other = (0..1_u64 << k).find(|other| favoured(*other) != is_inside);
                    let above = u64::MAX << (k - 1) << 1;
                    words.extend([other.unwrap() | above, other.unwrap(), turned | above]);
                    if favoured(turned) != is_inside {
                        continue;
                    }
                    let (report, taken) = made(&task, &vec![0.0; k as usize], &words);
                    let expected = cube::Report {
                        seed: 9,
                        drawn: k,
                        signs: corner ^ turned,
                    };
                    assert_eq!((report, taken), (expected, words.len()), "{cube:?}");
                }
            }
        }
    }
}

/// A value is its sign by ⌊2⁶³·|v|⌋ of 2⁶³ words, and else what a fair bit says: towards
/// 1/2, and for certain at the ends. What is in a range is a multiple of 2⁻⁵³, and exact.
#[test]
fn values_are_rounded_by_words() {
    let task = task(1, Cube::new(1, 1).unwrap(), 1.0);
    // Of a favoured corner, which is the input's.
    let plus = |value: f64, word: u64| {
        let (report, taken) = made(&task, &[value], &[3, word, 0, 0]);
        assert_eq!(taken, 4);
        report.signs == 1
    };
    for magnitude in [
        1.0,
        1.0 - f64::EPSILON / 2.0,
        0.5,
        1.0 / 3.0,
        1e-9,
        2_f64.powi(-52),
        1e-30,
        0.0,
    ] {
        for value in [magnitude, -magnitude] {
            let coded = Limits::new(-1.0, 1.0, None).unwrap().code(value);
            assert!((coded - value).abs() < 2_f64.powi(-52));
            let own = (coded.abs() * 2_f64.powi(63)) as u64;
            if own > 0 {
                for word in [0, 1, 2 * (own - 1), 2 * (own - 1) + 1] {
                    assert_eq!(plus(value, word), value > 0.0, "{value}, {word}");
                }
            }
            if own < 1 << 63 {
                for word in [2 * own, u64::MAX - 1] {
                    assert!(!plus(value, word), "{value}, {word}");
                    assert!(plus(value, word + 1), "{value}, {word}");
                }
            }
        }
    }
}

/// Which word rounds which attribute, and which bit stands for it: the first for the
/// first that the seed draws.
#[test]
fn attributes_keep_to_their_order() {
    let task = task(9, Cube::new(3, 3).unwrap(), 2.0);
    for seed in 0..200 {
        let mut drawn = Vec::new();
        for_each_drawn(seed, 9, 3, |attribute| drawn.push(attribute));
        for alone in 0..9 {
            let mut values = vec![-1.0; 9];
            values[alone as usize] = 1.0;
            let (report, _) = made(&task, &values, &[seed, 0, 0, 0, 0, 0]);
            let bit = drawn.iter().position(|attribute| *attribute == alone);
            assert_eq!(report.signs, bit.map_or(0, |bit| 1 << bit));
        }
    }
}

/// Given the attributes, each sign is its value divided by B on average, at corners and
/// inner points, over all roundings and reports; its square is 1. So with (d/k)·B, and
/// attributes drawn as often as k of d, estimates are unbiased with the variance stated.
#[test]
fn signs_are_unbiased() {
    for cube in super::cubes(5) {
        let k = cube.drawn();
        let domain = Domain::dense(k);
        for epsilon in [0.2, 1.0, 3.0, 7.0] {
            let randomizer = Randomizer::new(&cube, &domain, epsilon);
            let rates = cube.rates(&domain, epsilon);
            assert_eq!(rates.share, 1.0);
            let mut order = Vec::new();
            for_each_drawn(4, k, k, |attribute| order.push(attribute as usize));
            for values in [
                [1.0, -1.0, 1.0, 1.0, -1.0],
                [0.0; 5],
                [0.5, -0.25, 1.0, 0.0, -0.9],
                [-0.125, 0.75, -0.3, 0.01, 1.0],
            ] {
                let mut means = vec![0.0; k as usize];
                let mut total = 0.0;
                for corner in 0..1_u64 << k {
                    let chance: f64 = (0..k as usize)
                        .map(|j| {
                            let sign = if corner >> j & 1 == 1 { 1.0 } else { -1.0 };
                            0.5 * (1.0 + sign * values[j])
                        })
                        .product();
                    let row = randomizer.probabilities(4, &signed(corner, k));
                    for (signs, p) in (0_u64..).zip(row) {
                        total += chance * p;
                        for (index, &attribute) in order.iter().enumerate() {
                            let sign = if signs >> index & 1 == 1 { 1.0 } else { -1.0 };
                            means[attribute] += chance * p * sign;
                        }
                    }
                }
                assert!((total - 1.0).abs() < 1e-12);
                for (mean, value) in means.iter().zip(values) {
                    let estimate = mean / rates.gap;
                    assert!(
                        (estimate - value).abs() < 1e-11,
                        "{cube:?}, {epsilon}: {estimate}, not {value}"
                    );
                }
            }
        }
    }
}

/// The distribution of the reference, by the core's probabilities and by its reports.
#[test]
fn reports_have_the_distribution_of_mechanism_1() {
    for row in rows_without_delta("mechanism-1-distribution") {
        let (d, epsilon) = (whole(&row, "d"), number(&row, "epsilon"));
        let cube = Cube::new(d, whole(&row, "kappa")).unwrap();
        let values: Vec<f64> = serde_json::from_value(row["x"].clone()).unwrap();
        let reference: Vec<(Vec<f64>, f64)> =
            serde_json::from_value(row["probabilities"].clone()).unwrap();
        // By the attributes' own order.
        let mut expected = vec![0.0; 1 << d];
        for (corner, p) in reference {
            let signs = (0..d as usize).map(|j| usize::from(corner[j] > 0.0) << j);
            expected[signs.sum::<usize>()] = p;
        }
        let task = task(d, cube, epsilon);
        let mut randomizer = hushbin::Randomizer::new(&task);
        let support = cube.support(&Domain::dense(d));
        let (mut rng, mut counts) = (seeded(31), vec![0; 1 << d]);
        for _ in 0..200_000 {
            let made = randomizer.randomize(&entries(&values), &mut rng).unwrap();
            let Report::Cube(report) = made.report else {
                unreachable!()
            };
            let mut corner = 0;
            support.for_each_sign(&report, |attribute, plus| {
                corner |= usize::from(plus) << attribute;
            });
            counts[corner] += 1;
        }
        assert_distributed(&counts, &expected, "mechanism 1");

        let core = Randomizer::new(&cube, &Domain::dense(d), epsilon);
        let mut order = Vec::new();
        for_each_drawn(8, d, d, |attribute| order.push(attribute));
        let mut ours = vec![0.0; 1 << d];
        for corner in 0..1_u64 << d {
            let chance: f64 = (0..d as usize)
                .map(|j| 0.5 * (1.0 + values[j] * (2.0 * (corner >> j & 1) as f64 - 1.0)))
                .product();
            for (signs, p) in core.probabilities(8, &signed(corner, d)).iter().enumerate() {
                let own = order.iter().enumerate();
                let own: usize = own
                    .map(|(i, attribute)| (signs >> i & 1) << attribute)
                    .sum();
                ours[own] += chance * p;
            }
        }
        for (ours, expected) in ours.iter().zip(&expected) {
            assert!((ours / expected - 1.0).abs() < 1e-9, "{row}: {ours:?}");
        }
    }
}

/// Reports of k of d attributes, of values inside, under a seed each: as the core says.
#[test]
fn reports_have_the_probabilities_of_the_core() {
    for (attributes, drawn, agreements, epsilon) in [
        (5, 2, 2, 1.0),
        (3, 3, 2, 2.0),
        (6, 4, 1, 0.5),
        (4, 4, 3, 3.0),
    ] {
        let cube = Cube::new(drawn, agreements).unwrap();
        let task = task(attributes, cube, epsilon);
        let domain = Domain::dense(attributes);
        let core = Randomizer::new(&cube, &domain, epsilon);
        let mut randomizer = hushbin::Randomizer::new(&task);
        let corner = 0b10_1101;
        let values: Vec<f64> = signed(corner, attributes)
            .iter()
            .map(|signed| if signed.negative { -1.0 } else { 1.0 })
            .collect();
        for seed in [0, 1, 77] {
            let expected = core.probabilities(seed, &signed(corner, attributes));
            let (mut rest, mut counts) = (seeded(seed), vec![0; 1 << drawn]);
            for _ in 0..40_000 {
                let mut rng = FixedFirst {
                    first: Some(seed),
                    rest: &mut rest,
                };
                let made = randomizer.randomize(&entries(&values), &mut rng).unwrap();
                let Report::Cube(report) = made.report else {
                    unreachable!()
                };
                assert_eq!((report.seed, report.drawn), (seed, drawn));
                counts[report.signs as usize] += 1;
            }
            assert_distributed(&counts, &expected, &format!("{cube:?}"));
        }
    }
}

/// Entries are of their items, in whatever order they come.
#[test]
fn entries_may_come_in_any_order() {
    let task = task(6, Cube::new(4, 3).unwrap(), 2.0);
    let sorted = entries(&[0.1, -0.2, 0.3, -0.4, 0.5, -1.0]);
    let reversed: Vec<Entry> = sorted.iter().rev().copied().collect();
    let reports = |input: &[Entry]| -> Vec<Report> {
        let (mut rng, mut randomizer) = (seeded(12), hushbin::Randomizer::new(&task));
        let mut report = || randomizer.randomize(input, &mut rng).unwrap().report;
        (0..50).map(|_| report()).collect()
    };
    assert_eq!(reports(&sorted), reports(&reversed));
}

/// Every set of attributes is drawn as often, none twice, and all where all are.
#[test]
fn sets_of_attributes_are_drawn_uniformly() {
    let mut rng = seeded(17);
    for (items, count) in [(1, 1), (7, 1), (6, 2), (7, 3), (6, 5), (5, 5), (8, 4)] {
        let sets: Vec<u32> = (0..1_u32 << items)
            .filter(|set| set.count_ones() == count)
            .collect();
        let mut counts = vec![0; sets.len()];
        for _ in 0..100_000 {
            let mut set = 0_u32;
            for_each_drawn(rng.next_u64(), items, count, |item| {
                assert!(item < items && set >> item & 1 == 0);
                set |= 1 << item;
            });
            counts[sets.binary_search(&set).unwrap()] += 1;
        }
        assert_uniform(&counts, &format!("{count} of {items}"));
    }
    // The first of many, and the last.
    let (mut drawn, mut seeds) = (vec![0; 1024], 0);
    while seeds < 100_000 {
        seeds += 1;
        let mut last = 0;
        for_each_drawn(rng.next_u64(), 1024, 64, |item| last = item);
        drawn[last as usize] += 1;
    }
    // The last draw is one of the first 1023, or the last item: twice as likely as others
    // by what was drawn before, 63 of 1023.
    let before = 63.0 / 1024.0;
    let mut expected = vec![(1.0 - before - 1.0 / 1024.0) / 1023.0; 1024];
    expected[1023] = before + 1.0 / 1024.0;
    assert_distributed(&drawn, &expected, "the last of 64");
}
