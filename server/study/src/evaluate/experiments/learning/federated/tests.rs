//! Tests that compare small cells with expected results.

use rand_core::SeedableRng;

use super::*;

const SMALL: FederatedCell = FederatedCell {
    people_count: 3000,
    word_count: 32,
    sparsity: 4,
    round_count: 3,
    epsilon: 4.0,
};

fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn learn(cell: FederatedCell, seeds: u64) -> MeasurementTable {
    MeasurementTable::new(
        (0..seeds).flat_map(|seed| cell.train_all_variants(&generator(seed)).unwrap()),
    )
}

/// Returns the mean of a metric over repeats, and its standard error.
fn mean(table: &MeasurementTable, metric: &str, variant: TrainingVariant) -> [f64; 2] {
    let mut rows = table.rows_of(WORD_MODEL_ESTIMAND, metric);
    let row = rows.find(|row| row.first_measurement.mechanism == variant.label());
    let row = row.unwrap();
    [row.mean_value, row.standard_error]
}

fn changes(values: &[f64]) -> Vec<Entry> {
    let entry = |(item, &value)| Entry { item, value };
    (10..).zip(values).map(entry).collect()
}

/// Returns the changes that a person reports, in ascending order of items.
fn reported(pick: CoordinateChoice, values: &[f64], rng: &mut ChaCha8Rng) -> Vec<(u64, f64)> {
    let mut changes = changes(values);
    SMALL.keep_and_clip_coordinates(pick, &mut changes, rng);
    let mut pairs: Vec<_> = changes.iter().map(|own| (own.item, own.value)).collect();
    pairs.sort_by_key(|own| own.0);
    pairs
}

#[test]
fn the_greatest_changes_are_kept_as_parts_of_what_they_are_clipped_to() {
    let rng = &mut generator(1);
    let all = [0.05, -0.25, 0.125, -0.75, 0.0625, 0.5, 0.03];
    let kept = [(11, -0.5), (12, 0.25), (13, -1.0), (15, 1.0)];
    assert_eq!(reported(CoordinateChoice::LargestChanges, &all, rng), kept);
    // If there are at most s changes, neither way to pick coordinates drops or scales a change.
    let few = [(10, 0.125), (11, -1.0), (12, 1.0), (13, -0.25)];
    for pick in CoordinateChoice::ALL {
        let found = reported(pick, &[0.0625, -0.5, 4.0, -0.125], rng);
        assert_eq!(found, few, "{pick:?}");
        assert_eq!(reported(pick, &[], rng), []);
    }
}

/// Each of seven coordinates is kept with probability 4/7 and then multiplied by 7/4. So a draw of
/// a coordinate v has mean v and variance v²·(7/4 − 1). Means of 20,000 draws are approximately
/// normal. In 4 of a million runs, one of the seven means deviates by 5 standard errors.
#[test]
fn random_changes_are_unbiased_until_they_are_clipped() {
    let rng = &mut generator(2);
    // Scaled by 7/4 and divided by the clipping bound 0.5, these values stay at or below 1.
    let all = [0.28, -0.28, 0.2, -0.1, 0.05, -0.02, 0.01];
    let draws = 20_000;
    let mut sums = [0.0; 7];
    for _ in 0..draws {
        let found = reported(CoordinateChoice::Random, &all, rng);
        assert_eq!(found.len(), 4);
        for (item, part) in found {
            assert!(part.abs() <= 1.0);
            sums[item as usize - 10] += part;
        }
    }
    for (sum, change) in sums.into_iter().zip(all) {
        let (mean, part) = (sum / f64::from(draws), change / CLIPPING_BOUND);
        let error = part.abs() * (0.75 / f64::from(draws)).sqrt();
        assert!((mean - part).abs() < 5.0 * error, "{mean} {part}");
    }
    let clipped = reported(CoordinateChoice::Random, &[3.0; 7], rng);
    assert!(clipped.iter().all(|&(_, part)| part == 1.0));
}

/// Repeats one round with the same people. The greatest coordinates need no random numbers, so only
/// the noise of reports differs from the mean without privacy.
#[test]
fn the_mean_that_is_reported_is_that_without_privacy() {
    let words = MessageDistribution::new(SMALL.word_count);
    let rng = &mut generator(3);
    let people: Vec<_> = (0..300).map(|_| words.draw_person_messages(rng)).collect();
    let weights: Vec<f64> = (0..SMALL.word_count)
        .map(|word| f64::from(word % 3) - 1.0)
        .collect();
    let mut change = |variant| {
        let channel = SMALL.build_change_aggregation(variant).unwrap();
        SMALL
            .mean_change(
                CoordinateChoice::LargestChanges,
                &channel,
                &people,
                &weights,
                rng,
            )
            .unwrap()
    };
    let [plain, once, _] = TrainingVariant::variants_of_choice(CoordinateChoice::LargestChanges);
    let plain = change(plain);
    let repeats = 200;
    let rounds: Vec<Vec<f64>> = (0..repeats).map(|_| change(once)).collect();
    let norm: f64 = plain.iter().map(|own| own * own).sum();
    let slope = |round: &Vec<f64>| -> f64 {
        let both = round.iter().zip(&plain);
        both.map(|(a, b)| a * b).sum::<f64>() / norm
    };
    let mean = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|own| (own - mean).powi(2)).sum();
        [mean, (squares / (n - 1.0) / n).sqrt()]
    };
    // The regression over all coordinates at once would detect a scale that is wrong by a tenth.
    let slopes: Vec<f64> = rounds.iter().map(slope).collect();
    let [slope, error] = mean(&slopes);
    assert!((slope - 1.0).abs() < 5.0 * error, "{slope} {error}");
    assert!(error < 0.02, "{error}");
    // Checks each coordinate separately. With 199 degrees of freedom, one of 32 deviates by 5
    // standard errors in 4 of 100,000 runs.
    for (word, plain) in plain.iter().enumerate() {
        let values: Vec<f64> = rounds.iter().map(|round| round[word]).collect();
        let [mean, error] = mean(&values);
        assert!(
            (mean - plain).abs() < 5.0 * error,
            "{word}: {mean} {plain} {error}"
        );
    }
}

/// A person makes one report in each round in which the person takes part.
#[test]
fn nobody_spends_more_than_epsilon() {
    let cell = FederatedCell {
        people_count: 32,
        round_count: 5,
        ..SMALL
    };
    let crowd: Vec<usize> = (0..cell.people_count).collect();
    for pick in CoordinateChoice::ALL {
        let [plain, private @ ..] = TrainingVariant::variants_of_choice(pick);
        assert!(matches!(
            cell.build_change_aggregation(plain).unwrap(),
            ChangeAggregation::Plain
        ));
        for variant in private {
            let ChangeAggregation::Private(task) = cell.build_change_aggregation(variant).unwrap()
            else {
                panic!("{variant:?} is private");
            };
            assert_eq!(task.questions().len(), 1);
            let mut spent = vec![0.0; cell.people_count];
            for round in 0..cell.round_count {
                for &person in cell.participants(variant.participation, &crowd, round) {
                    spent[person] += task.questions()[0].epsilon();
                }
            }
            // People left over from equal rounds take no part.
            let expected = |person| match variant.participation {
                Participation::OneRound if person >= 30 => 0.0,
                _ => cell.epsilon,
            };
            for (person, spent) in spent.into_iter().enumerate() {
                // ε/R is rounded.
                let off: f64 = spent - expected(person);
                assert!(off.abs() < 1e-12, "{variant:?} {person}: {spent}");
            }
        }
    }
}

/// The gap to the run without privacy shrinks to below 0.04 as ε grows. The decrease is at least
/// 0.04, and at least 3 standard errors of the difference.
#[test]
fn the_gap_to_the_run_without_privacy_shrinks() {
    let [hidden, told] = [0.5, 8.0].map(|epsilon| learn(FederatedCell { epsilon, ..SMALL }, 16));
    for pick in CoordinateChoice::ALL {
        let [plain, private @ ..] = TrainingVariant::variants_of_choice(pick);
        for table in [&hidden, &told] {
            assert_eq!(mean(table, PRIVACY_EXCESS_ERROR_METRIC, plain), [0.0; 2]);
        }
        // The run without privacy does not depend on ε.
        let [of_hidden, of_told] =
            [&hidden, &told].map(|table| mean(table, MISCLASSIFIED_METRIC, plain));
        assert_eq!(of_hidden, of_told);
        for variant in private {
            let [hidden, told] =
                [&hidden, &told].map(|table| mean(table, PRIVACY_EXCESS_ERROR_METRIC, variant));
            let shrunk = hidden[0] - told[0];
            let error = hidden[1].hypot(told[1]);
            assert!(
                shrunk > 0.04_f64.max(3.0 * error),
                "{variant:?}: {hidden:?} {told:?}"
            );
            assert!(told[0].abs() < 0.04, "{variant:?}: {told:?}");
        }
    }
}

/// A coin errs in half of all messages. The better of the two guesses that ignore words errs in a
/// fraction of 0.45. A fraction over 1000 people has a standard error below 0.016, even if the
/// messages of each person are alike. Predictions with the true weights err in one of seven
/// messages, so predictions with learned weights should not be much better. No round takes steps so
/// long that the next rounds undo them.
#[test]
fn without_privacy_it_predicts_better_than_a_coin() {
    for (pick, rounds) in [
        (CoordinateChoice::LargestChanges, 4),
        (CoordinateChoice::LargestChanges, 5),
        (CoordinateChoice::Random, 5),
    ] {
        let cell = FederatedCell {
            people_count: 2000 * rounds,
            word_count: 64,
            sparsity: 8,
            round_count: rounds,
            ..SMALL
        };
        let words = MessageDistribution::new(cell.word_count);
        let rng = &mut generator(4);
        let crowd: Vec<_> = (0..cell.people_count)
            .map(|_| words.draw_person_messages(rng))
            .collect();
        let held_out: Vec<_> = (0..1000).map(|_| words.draw_person_messages(rng)).collect();
        let liked = misclassified_share(&[0.0; 64], &held_out);
        let guessed = liked.min(1.0 - liked);
        let [plain, ..] = TrainingVariant::variants_of_choice(pick);
        let weights = cell.trained_weights(plain, &crowd, generator(5)).unwrap();
        let error = misclassified_share(&weights, &held_out);
        let what = format!("{pick:?}, {rounds}: {error} beside {guessed}");
        assert!((0.12..guessed - 0.05).contains(&error), "{what}");
    }
}

#[test]
fn runs_repeat_and_units_are_named_once() {
    let small = FederatedCell {
        people_count: 200,
        ..SMALL
    };
    let table = learn(small, 2);
    assert_eq!(table, learn(small, 2));
    let federated = FederatedLearningExperiment::new(StudySize::Full);
    let mut names: Vec<String> = federated
        .work_units()
        .into_iter()
        .map(|own| own.name)
        .collect();
    let count = names.len();
    assert_eq!(count, 6 * 10);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    let figures = federated.figures(&table);
    assert_eq!([figures.len(), figures[0].panels.len()], [1, 1]);
    let curves = figures[0].panels[0].curves.iter();
    let labels: Vec<&str> = curves.map(|own| own.label.as_str()).collect();
    let ways = CoordinateChoice::ALL
        .into_iter()
        .flat_map(TrainingVariant::variants_of_choice)
        .map(TrainingVariant::label);
    let all = std::iter::once(MAJORITY_BASELINE.to_owned()).chain(ways);
    assert_eq!(labels, all.collect::<Vec<_>>());
    let title = "Federated logistic regression of 100000 people in 10 rounds over ε";
    assert_eq!(figures[0].title, title);
}
