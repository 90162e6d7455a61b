//! Decisions and distribution of the sampler.

use hushbin::domain::Domain;
use hushbin::hash::for_each_drawn_item;
use hushbin::mechanism::window::{Randomizer, Report, Window};
use hushbin::task::NumberLimits;
use hushbin::{Entry, Task};
use rand_chacha::rand_core::Rng;

use super::{atoms, cell, entries, number, rows, stands, task, whole, window, windows, word};
use crate::support::generators::{FixedFirst, Scripted, seeded};
use crate::support::significance::{assert_distributed, assert_uniform};

fn report(made: hushbin::Report) -> Report {
    match made {
        hushbin::Report::Window(report) => report,
        other => panic!("{other:?}"),
    }
}

/// Report from these values and words, and the number of used words.
fn made(task: &Task, values: &[f64], words: &[u64]) -> (Report, usize) {
    let mut rng = Scripted::new(words);
    let mut randomizer = hushbin::Randomizer::new(task);
    let made = randomizer.randomize(&entries(values), &mut rng).unwrap();
    assert!(!made.was_sampled_down);
    (report(made.report), rng.taken)
}

/// Word from which an integer below `range` is drawn: the middle of its interval.
fn drawing(value: u32, range: u32) -> u64 {
    let word = ((u64::from(value) * 2 + 1) << 31) / u64::from(range);
    word | word << 32
}

#[test]
fn walks_are_those_of_the_reference() {
    let mut seen = 0;
    for row in rows("samples") {
        let own = window(&row);
        let [k, t] = [own.favoured_atom_count(), own.atoms_per_attribute()];
        let (epsilon, start) = (number(&row, "epsilon"), whole(&row, "level"));
        let inside = (start..start + k).contains(&whole(&row, "atom"));
        // The reference rounds e less, so a word next to its threshold is mapped to one next to
        // the implementation's.
        let ours = own.thresholds(epsilon).favoured_threshold(1).0;
        // The implementation draws among all atoms, and repeats until the level does not favour the
        // atom.
        let rank = whole(&row, "below_rest");
        let other = if rank < start { rank } else { rank + k };
        let side = match word(&row, "word_inside") {
            beside if beside.abs_diff(ours) <= 1 << 8 => ours - u64::from(inside),
            other => other,
        };
        let task = task(1, own, epsilon);
        let place: i64 = row["x_times_2_53"].as_str().unwrap().parse().unwrap();
        let words = [
            9,
            word(&row, "word_round"),
            side,
            drawing(whole(&row, "below_k"), k),
            drawing(other, t),
        ];
        let (report, taken) = made(&task, &[place as f64 / 2_f64.powi(53)], &words);
        assert_eq!((report.seed, taken), (9, words.len()), "{row}");
        assert_eq!(report.bucket, whole(&row, "atom"), "{row}");
        seen += 1;
    }
    assert_eq!(seen, 144);
}

/// Inputs at all levels. Each favoured cell has one rank. Every other atom is reported as drawn,
/// after redrawing favoured ones.
#[test]
fn every_decision_is_taken() {
    for own in windows(64) {
        let (m, k) = (own.drawn_attribute_count(), own.favoured_atom_count());
        let task = task(m, own.clone(), 1.3);
        let threshold = own.thresholds(1.3).favoured_threshold(1).0;
        let inside = own.favoured_cell_count();
        for start in 0..own.level_count() {
            // Levels of the attributes in order of drawing. Each is at a double or next to one,
            // which a word in the middle rounds to the level.
            let levels: Vec<u32> = (0..m)
                .map(|at| (start + 3 * at) % own.level_count())
                .collect();
            let mut values = vec![0.0; m as usize];
            let mut at = 0;
            for_each_drawn_item(9, m, m, |attribute| {
                values[attribute as usize] = stands(&own, levels[at]);
                at += 1;
            });
            let rounds = values.iter().map(|_| 1 << 63);
            let words: Vec<u64> = [9].into_iter().chain(rounds).collect();
            let told = |side: u64, favoured: u32, others: &[u32]| {
                let others = others
                    .iter()
                    .map(|cell| drawing(*cell, own.atom_combination_count()));
                let draws = [side, drawing(favoured, inside)].into_iter().chain(others);
                let words: Vec<u64> = words.iter().copied().chain(draws).collect();
                let (report, taken) = made(&task, &values, &words);
                assert_eq!(taken, words.len());
                report.bucket
            };
            let is_inside = |cell: &u32| {
                let mut atoms = atoms(&own, *cell).into_iter().zip(&levels);
                atoms.all(|(atom, level)| (*level..level + k).contains(&atom))
            };
            let (mut within, others): (Vec<u32>, Vec<u32>) =
                (0..own.atom_combination_count()).partition(is_inside);
            let mut favoured: Vec<u32> = (0..inside)
                .map(|rank| told(0, rank, &others[..1]))
                .collect();
            let last = told(
                threshold - 1,
                inside - 1,
                &[within[0], within[0], others[0]],
            );
            assert_eq!(last, favoured[inside as usize - 1]);
            favoured.sort_unstable();
            assert_eq!(favoured, within, "{own:?}");
            for cell in others {
                within.push(cell);
                assert_eq!(told(threshold, 0, &within), cell, "{own:?}");
                within.pop();
            }
        }
    }
}

/// A number is rounded up to the next level by ⌊2⁶⁴·f⌋ of 2⁶⁴ words, with f in whole numbers. The
/// ends are levels for certain.
#[test]
fn numbers_are_rounded_by_words() {
    for own in windows(40).filter(|own| own.drawn_attribute_count() == 1) {
        let task = task(1, own.clone(), 1.0);
        // First atom of the level.
        let [k, t] = [own.favoured_atom_count(), own.atoms_per_attribute()];
        let level = |value: f64, word: u64| {
            let others = [drawing(0, t), drawing(t - 1, t)];
            let words = [3, word, 0, drawing(0, k), others[0], others[1]];
            made(&task, &[value], &words).0.bucket
        };
        for word in [0, 1, u64::MAX] {
            assert_eq!(level(-1.0, word), 0);
            assert_eq!(level(1.0, word), own.level_count() - 1);
        }
        for value in [
            -1.0 + f64::EPSILON,
            -0.3,
            -1e-9,
            0.0,
            2_f64.powi(-52),
            1.0 / 3.0,
            0.999,
            1.0 - f64::EPSILON,
        ] {
            let coded = NumberLimits::new(-1.0, 1.0, None)
                .unwrap()
                .normalise_to_signed_unit(value);
            let place = (coded * 2_f64.powi(53)) as i128
                * i128::from(own.favoured_atom_value_sum(own.level_count() - 1));
            let at = |level: u32| i128::from(own.favoured_atom_value_sum(level)) << 53;
            let below = (0..own.level_count())
                .rev()
                .find(|level| at(*level) <= place)
                .unwrap();
            let up = num_bigint::BigInt::from(place - at(below)) << 64;
            let step = num_bigint::BigInt::from(at(below + 1) - at(below));
            let up = u64::try_from(up / step).unwrap();
            if up > 0 {
                assert_eq!([0, up - 1].map(|word| level(value, word)), [below + 1; 2]);
            }
            assert_eq!([up, u64::MAX].map(|word| level(value, word)), [below; 2]);
        }
    }
}

/// Order of words and digits: the first of each belongs to the first attribute that the seed draws.
#[test]
fn attributes_keep_to_their_order() {
    let own = Window::new(3, 5, 2, [1, 2]).unwrap();
    let task = task(9, own.clone(), 2.0);
    for seed in 0..200 {
        let mut drawn = Vec::new();
        for_each_drawn_item(seed, 9, 3, |attribute| drawn.push(attribute));
        for alone in 0..9 {
            let mut values = vec![-1.0; 9];
            values[alone as usize] = 1.0;
            let others = [drawing(0, 125), drawing(124, 125)];
            let words = [seed, 0, 0, 0, 0, drawing(0, 8), others[0], others[1]];
            let (report, _) = made(&task, &values, &words);
            let level = |attribute: &u32| if *attribute == alone { 3 } else { 0 };
            let levels: Vec<u32> = drawn.iter().map(level).collect();
            assert_eq!(report.bucket, cell(&own, &levels));
        }
    }
}

/// Reports of m of d attributes with numbers inside the range, one seed each, have the core's
/// probabilities.
#[test]
fn reports_have_the_probabilities_of_the_core() {
    for (attributes, drawn, atoms, favoured, epsilon) in [
        (1, 1, 2, 1, 1.0),
        (1, 1, 13, 6, 1.0),
        (5, 2, 4, 2, 1.0),
        (3, 3, 3, 1, 3.0),
        (6, 2, 9, 4, 2.0),
    ] {
        let values: Vec<u32> = (1..=atoms / 2).map(|at| 7 * at + at * at).collect();
        let own = Window::new(drawn, atoms, favoured, &values[..]).unwrap();
        let task = task(attributes, own.clone(), epsilon);
        let core = Randomizer::new(&own, &Domain::of_dense_inputs(attributes), epsilon);
        let mut randomizer = hushbin::Randomizer::new(&task);
        let values = [0.35, -1.0, 0.0, 0.77, -0.61, 1.0];
        let input = entries(&values[..attributes as usize]);
        for seed in [0, 1, 77] {
            let expected = core.cell_probabilities(seed, &input);
            let (mut rest, mut counts) =
                (seeded(seed), vec![0; own.atom_combination_count() as usize]);
            for _ in 0..40_000 {
                let mut rng = FixedFirst {
                    first: Some(seed),
                    rest: &mut rest,
                };
                let made = randomizer.randomize(&input, &mut rng).unwrap();
                let report = report(made.report);
                assert_eq!(report.seed, seed);
                counts[report.bucket as usize] += 1;
            }
            assert_distributed(&counts, &expected, &format!("{own:?}"));
        }
    }
}

/// Over seeds and reports, estimates are unbiased with the stated variance. A deviation of 5
/// standard errors happens by chance with 10⁻⁶.
#[test]
fn estimates_have_the_mean_and_the_variance_stated() {
    for (attributes, drawn, atoms, favoured, epsilon) in [
        (1, 1, 9, 3, 4.0),
        (4, 2, 4, 1, 3.0),
        (6, 3, 5, 2, 5.0),
        (5, 5, 2, 1, 2.0),
    ] {
        let values: Vec<u32> = (1..=atoms / 2).map(|at| 5 * at + at * at).collect();
        let own = Window::new(drawn, atoms, favoured, &values[..]).unwrap();
        let task = task(attributes, own.clone(), epsilon);
        let domain = Domain::of_dense_inputs(attributes);
        let (rates, support) = (
            own.estimate_scale_and_variance(&domain, epsilon),
            own.atom_decoder(&domain),
        );
        let values = [0.35, -1.0, 0.0, 0.77, -0.61, 1.0];
        let values = &values[..attributes as usize];
        let (mut rng, mut randomizer) = (seeded(5), hushbin::Randomizer::new(&task));
        let people = 200_000;
        let mut sums = vec![[0.0_f64; 3]; attributes as usize];
        for _ in 0..people {
            let made = randomizer.randomize(&entries(values), &mut rng).unwrap();
            support.for_each_atom(&report(made.report), |attribute, atom| {
                let estimate = rates.estimate_factor() * rates.atom_top_level_ratios[atom as usize];
                let [sum, squares, fourth] = &mut sums[attribute as usize];
                *sum += estimate;
                *squares += estimate.powi(2);
                *fourth += estimate.powi(4);
            });
        }
        let n = f64::from(people);
        for ([sum, squares, fourth], value) in sums.into_iter().zip(values) {
            let z = (sum / n - value) / (rates.estimate_variance(*value) / n).sqrt();
            assert!(z.abs() < 5.0, "{own:?} at {value}: {z}");
            let expected = rates.estimate_variance(*value) + value * value;
            let spread = (fourth / n - (squares / n).powi(2)) / n;
            let z = (squares / n - expected) / spread.sqrt();
            assert!(z.abs() < 5.0, "{own:?} at {value}: {z}");
        }
    }
}

/// Entries belong to their items, in any order.
#[test]
fn entries_may_come_in_any_order() {
    let task = task(6, Window::new(4, 5, 2, [3, 5]).unwrap(), 2.0);
    let sorted = entries(&[0.1, -0.2, 0.3, -0.4, 0.5, -1.0]);
    let reversed: Vec<Entry> = sorted.iter().rev().copied().collect();
    let reports = |input: &[Entry]| -> Vec<hushbin::Report> {
        let (mut rng, mut randomizer) = (seeded(12), hushbin::Randomizer::new(&task));
        let mut report = || randomizer.randomize(input, &mut rng).unwrap().report;
        (0..50).map(|_| report()).collect()
    };
    assert_eq!(reports(&sorted), reports(&reversed));
}

/// Every set of attributes is equally likely, without repetition, and complete if all are drawn.
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
            for_each_drawn_item(rng.next_u64(), items, count, |item| {
                assert!(item < items && set >> item & 1 == 0);
                set |= 1 << item;
            });
            counts[sets.binary_search(&set).unwrap()] += 1;
        }
        assert_uniform(&counts, &format!("{count} of {items}"));
    }
    // First and last draw of many.
    let (mut drawn, mut seeds) = (vec![0; 1024], 0);
    while seeds < 100_000 {
        seeds += 1;
        let mut last = 0;
        for_each_drawn_item(rng.next_u64(), 1024, 12, |item| last = item);
        drawn[last as usize] += 1;
    }
    // The last draw is one of the first 1023, or the last item. That item is twice as likely if it
    // was drawn before, which has probability 11/1024.
    let before = 11.0 / 1024.0;
    let mut expected = vec![(1.0 - before - 1.0 / 1024.0) / 1023.0; 1024];
    expected[1023] = before + 1.0 / 1024.0;
    assert_distributed(&drawn, &expected, "the last of 12");
}
