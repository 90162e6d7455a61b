//! The sampler, walked over its decisions, and its distribution.

use hushbin::domain::Domain;
use hushbin::hash::for_each_drawn;
use hushbin::mechanism::grid::{Grid, Randomizer, Report};
use hushbin::task::{Kind, Limits, QuestionParts};
use hushbin::{Entry, Items, Question, Task};

use super::{cell, entries, grids};
use crate::support::generators::{FixedFirst, Scripted, seeded};
use crate::support::significance::assert_distributed;

pub(super) fn task(attributes: u32, grid: Grid, epsilon: f64) -> Task {
    let limits = Limits::new(-1.0, 1.0, None).unwrap();
    let names = (0..attributes).map(|index| format!("n{index}")).collect();
    let question = Question::new(QuestionParts {
        name: "all".to_owned(),
        kind: Kind::Numbers(vec![limits; attributes as usize].into()),
        items: Items::Named(names),
        sparsity: attributes,
        weight: 1,
        epsilon,
        mechanism: grid.into(),
    });
    Task::of_questions("t".to_owned(), vec![question.unwrap()]).unwrap()
}

fn report(made: hushbin::Report) -> Report {
    match made {
        hushbin::Report::Grid(report) => report,
        other => panic!("{other:?}"),
    }
}

/// The report of these values and words, and how many of them were taken.
fn made(task: &Task, values: &[f64], words: &[u64]) -> (Report, usize) {
    let mut rng = Scripted::new(words);
    let mut randomizer = hushbin::Randomizer::new(task);
    let made = randomizer.randomize(&entries(values), &mut rng).unwrap();
    assert!(!made.sampled_down);
    (report(made.report), rng.taken)
}

/// Each attribute rounded either way, its cell told or not: then any other, by a word more.
#[test]
fn every_decision_is_taken() {
    for grid in grids(27) {
        let (k, r) = (grid.drawn(), grid.steps());
        let task = task(k, grid, 1.3);
        let inside = grid.thresholds(1.3).inside().0;
        // Half way between the first two levels.
        let values = vec![1.0 / f64::from(r) - 1.0; k as usize];
        let half = 1_u64 << 63;
        for corner in 0..1_u64 << k {
            let up = |index: u32| (corner >> index & 1) as u32;
            let own = cell(&grid, &(0..k).map(up).collect::<Vec<_>>());
            let roundings = (0..k).map(|index| {
                // Less than half of all words are below half of them by rounding of thirds.
                let slack = 1 << 14;
                if up(index) == 1 {
                    half - slack
                } else {
                    half + slack
                }
            });
            let words: Vec<u64> = [9].into_iter().chain(roundings).collect();
            for told in [0, inside - 1] {
                let words = [&words[..], &[told]].concat();
                let expected = (
                    Report {
                        seed: 9,
                        bucket: own,
                    },
                    words.len(),
                );
                assert_eq!(made(&task, &values, &words), expected, "{grid:?}");
            }
            let mut others: Vec<u32> = Vec::new();
            for other in 0..grid.cells() - 1 {
                // The middle of its part of all 32-bit words.
                let part = (u64::from(other) * 2 + 1) << 31;
                let word = part / u64::from(grid.cells() - 1);
                let words = [&words[..], &[inside, word | word << 32]].concat();
                let (report, taken) = made(&task, &values, &words);
                assert_eq!(taken, words.len());
                assert_eq!(report.bucket, (own + 1 + other) % grid.cells());
                others.push(report.bucket);
            }
            others.sort_unstable();
            others.dedup();
            assert_eq!(others.len() as u32, grid.cells() - 1);
            assert!(!others.contains(&own));
        }
    }
}

/// A value becomes the level above by ⌊2⁶⁴·f⌋ of 2⁶⁴ words; at levels that are doubles it is
/// that one for certain, as at the ends.
#[test]
fn values_are_rounded_by_words() {
    for steps in [1, 2, 3, 4, 7, 64, 1023] {
        let grid = Grid::new(1, steps).unwrap();
        let task = task(1, grid, 1.0);
        let level = |value: f64, word: u64| {
            let (report, taken) = made(&task, &[value], &[3, word, 0]);
            assert_eq!(taken, 3);
            report.bucket
        };
        for word in [0, 1, u64::MAX] {
            assert_eq!(level(-1.0, word), 0);
            assert_eq!(level(1.0, word), steps);
        }
        if steps.is_power_of_two() {
            for own in 0..=steps {
                for word in [0, u64::MAX] {
                    assert_eq!(level(grid.value(own), word), own);
                }
            }
        }
        for value in [
            -1.0 + f64::EPSILON,
            -0.3,
            -1e-9,
            -1e-30,
            0.0,
            2_f64.powi(-52),
            1.0 / 3.0,
            0.999,
            1.0 - f64::EPSILON,
        ] {
            let coded = Limits::new(-1.0, 1.0, None).unwrap().code(value);
            // What is in a range is a multiple of 2⁻⁵³.
            let place = ((coded * 2_f64.powi(53)) as i128 + (1 << 53)) as u128;
            assert_eq!((coded * 2_f64.powi(53)).fract(), 0.0);
            let steps_up = place * u128::from(steps);
            let (below, part) = ((steps_up >> 54) as u32, steps_up & ((1 << 54) - 1));
            let up = (part << 10) as u64;
            if up > 0 {
                assert_eq!([0, up - 1].map(|word| level(value, word)), [below + 1; 2]);
            }
            assert_eq!([up, u64::MAX].map(|word| level(value, word)), [below; 2]);
        }
    }
}

/// Which word rounds which attribute, and which digit stands for it: the last for the first
/// that the seed draws.
#[test]
fn attributes_keep_to_their_order() {
    let grid = Grid::new(3, 4).unwrap();
    let task = task(9, grid, 2.0);
    for seed in 0..200 {
        let mut drawn = Vec::new();
        for_each_drawn(seed, 9, 3, |attribute| drawn.push(attribute));
        for alone in 0..9 {
            let mut values = vec![-1.0; 9];
            values[alone as usize] = 0.5;
            let (report, _) = made(&task, &values, &[seed, 0, 0, 0, 0]);
            let place = drawn.iter().position(|attribute| *attribute == alone);
            assert_eq!(
                report.bucket,
                place.map_or(0, |place| 3 * [1, 5, 25][place])
            );
        }
    }
}

/// Reports of k of d attributes, of values inside, under a seed each: as the core says.
#[test]
fn reports_have_the_probabilities_of_the_core() {
    for (attributes, drawn, steps, epsilon) in [
        (1, 1, 1, 1.0),
        (5, 2, 2, 1.0),
        (3, 3, 2, 3.0),
        (6, 1, 9, 2.0),
    ] {
        let grid = Grid::new(drawn, steps).unwrap();
        let task = task(attributes, grid, epsilon);
        let core = Randomizer::new(&grid, &Domain::dense(attributes), epsilon);
        let mut randomizer = hushbin::Randomizer::new(&task);
        let values = [0.35, -1.0, 0.0, 0.77, -0.61, 1.0];
        let input = entries(&values[..attributes as usize]);
        for seed in [0, 1, 77] {
            let expected = core.probabilities(seed, &input);
            let (mut rest, mut counts) = (seeded(seed), vec![0; grid.cells() as usize]);
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
            assert_distributed(&counts, &expected, &format!("{grid:?}"));
        }
    }
}

/// Over seeds and reports, estimates are unbiased with the variance stated: 5 standard
/// errors of either happen by chance with 10⁻⁶.
#[test]
fn estimates_have_the_mean_and_the_variance_stated() {
    for (attributes, drawn, steps, epsilon) in [
        (1, 1, 4, 4.0),
        (4, 2, 3, 3.0),
        (6, 3, 2, 5.0),
        (5, 5, 1, 2.0),
    ] {
        let grid = Grid::new(drawn, steps).unwrap();
        let task = task(attributes, grid, epsilon);
        let domain = Domain::dense(attributes);
        let (rates, support) = (grid.rates(&domain, epsilon), grid.support(&domain));
        let values = [0.35, -1.0, 0.0, 0.77, -0.61, 1.0];
        let values = &values[..attributes as usize];
        let (mut rng, mut randomizer) = (seeded(5), hushbin::Randomizer::new(&task));
        let people = 200_000;
        let mut sums = vec![[0.0_f64; 3]; attributes as usize];
        for _ in 0..people {
            let made = randomizer.randomize(&entries(values), &mut rng).unwrap();
            support.for_each_level(&report(made.report), |attribute, level| {
                let square = (rates.scale() * grid.value(level)).powi(2);
                let [sum, squares, fourth] = &mut sums[attribute as usize];
                *sum += rates.scale() * grid.value(level);
                *squares += square;
                *fourth += square * square;
            });
        }
        let n = f64::from(people);
        for ([sum, squares, fourth], value) in sums.into_iter().zip(values) {
            let z = (sum / n - value) / (rates.variance(*value) / n).sqrt();
            assert!(z.abs() < 5.0, "{grid:?} at {value}: {z}");
            let expected = rates.variance(*value) + value * value;
            let spread = (fourth / n - (squares / n).powi(2)) / n;
            let z = (squares / n - expected) / spread.sqrt();
            assert!(z.abs() < 5.0, "{grid:?} at {value}: {z}");
        }
    }
}

/// Entries are of their items, in whatever order they come.
#[test]
fn entries_may_come_in_any_order() {
    let task = task(6, Grid::new(4, 3).unwrap(), 2.0);
    let sorted = entries(&[0.1, -0.2, 0.3, -0.4, 0.5, -1.0]);
    let reversed: Vec<Entry> = sorted.iter().rev().copied().collect();
    let reports = |input: &[Entry]| -> Vec<hushbin::Report> {
        let (mut rng, mut randomizer) = (seeded(12), hushbin::Randomizer::new(&task));
        let mut report = || randomizer.randomize(input, &mut rng).unwrap().report;
        (0..50).map(|_| report()).collect()
    };
    assert_eq!(reports(&sorted), reports(&reversed));
}
