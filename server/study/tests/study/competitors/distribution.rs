//! Tests of mechanisms for the distribution of one number: probabilities by enumeration, unbiased
//! estimates, and variances.

use hushbin_study::competitors::distribution::{
    BinSelection, HierarchicalHistogram, SquareWaveMechanism, expectation_maximization_shares,
    histogram_quantile, shares_of_isotonic_cdf,
};
use hushbin_study::competitors::{SubsetSelection, SupportProbabilities};
use hushbin_tests::generators::seeded;
use hushbin_tests::significance::assert_distributed;

use super::models::{budget, subset};

const EPSILONS: [f64; 4] = [0.3, 1.0, 2.5, 4.0];
const DRAWS: u32 = 100_000;

/// Returns the greatest ratio of a report's probabilities under two inputs.
fn loss(laws: &[Vec<f64>]) -> f64 {
    let ratio = |report: usize| {
        let of = laws.iter().map(|law| law[report]);
        of.clone().fold(0.0, f64::max) / of.fold(1.0, f64::min)
    };
    (0..laws[0].len()).map(ratio).fold(0.0, f64::max)
}

#[track_caller]
fn assert_law(laws: &[Vec<f64>], epsilon: f64) {
    for law in laws {
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let ratio = loss(laws) / epsilon.exp();
    assert!((ratio - 1.0).abs() < 1e-11, "ε = {epsilon}: {ratio}");
}

#[test]
fn subsets_lose_epsilon_and_are_drawn_by_their_law() {
    for epsilon in EPSILONS {
        for options in [2, 3, 7] {
            let own = SubsetSelection::new(options, &budget(epsilon, 0.0)).unwrap();
            let laws: Vec<Vec<f64>> = (0..options).map(|answer| subset(&own, answer)).collect();
            assert_law(&laws, epsilon);
            let (mut drawn, rng) = (vec![0; 1 << options], &mut seeded(3));
            for _ in 0..DRAWS {
                let mut counts = vec![0; options as usize];
                own.draw_report_into_counts(1, rng, &mut counts);
                let bits = counts.iter().rev();
                drawn[bits.fold(0, |set, bit| 2 * set + *bit as usize)] += 1;
            }
            assert_distributed(&drawn, &laws[1], "subset");
        }
    }
}

/// Returns the estimate of an option's share from one report, which is a set of options.
fn single(rates: &SupportProbabilities, set: usize, option: usize) -> f64 {
    rates.estimate_share((set >> option & 1) as u64, 1)
}

#[test]
fn bins_have_no_bias_and_the_variance_stated() {
    let weights = [1.0, 1.0, 0.25, 0.0, -0.5];
    for epsilon in EPSILONS {
        let bins = BinSelection::new(5, &budget(epsilon, 0.0)).unwrap();
        let choice = SubsetSelection::new(5, &budget(epsilon, 0.0)).unwrap();
        let rates = choice.support_probabilities();
        let (mut mean, mut square) = (0.0, 0.0);
        for answer in 0..5 {
            let mut expected = vec![0.0; 5];
            for (set, probability) in subset(&choice, answer).into_iter().enumerate() {
                let shares = [0, 1, 2, 3, 4].map(|option| single(&rates, set, option));
                let held = [0, 1, 2, 3, 4].map(|option| (set >> option & 1) as u64);
                if probability > 0.0 {
                    assert_eq!(bins.estimated_shares(&held, 1), shares);
                }
                let sum: f64 = shares.iter().zip(weights).map(|(own, by)| own * by).sum();
                mean += 0.2 * probability * sum;
                square += 0.2 * probability * sum * sum;
                for (expected, own) in expected.iter_mut().zip(shares) {
                    *expected += probability * own;
                }
            }
            for (option, own) in (0..).zip(expected) {
                assert!((own - f64::from(u8::from(option == answer))).abs() < 1e-10);
            }
        }
        let variance = square - mean * mean;
        assert!((bins.weighted_sum_variance(&weights) / variance - 1.0).abs() < 1e-9);
    }
}

/// Lists the probability of every report, for a number in a cell. Reports are ordered by level,
/// then by set of nodes.
fn law(own: &HierarchicalHistogram, cell: u32) -> Vec<f64> {
    let height = own.level_mechanisms().len();
    let level = |(depth, (choice, share)): (usize, (&SubsetSelection, &f64))| {
        let (law, share) = (subset(choice, cell >> (height - 1 - depth)), *share);
        law.into_iter().map(move |probability| share * probability)
    };
    let levels = own.level_mechanisms().iter().zip(own.level_shares());
    levels.enumerate().flat_map(level).collect()
}

#[test]
fn hierarchies_lose_epsilon_and_have_no_bias() {
    for epsilon in EPSILONS {
        let own = HierarchicalHistogram::new(3, &budget(epsilon, 0.0)).unwrap();
        let laws: Vec<Vec<f64>> = (0..8).map(|cell| law(&own, cell)).collect();
        assert_law(&laws, epsilon);
        for cell in 0..8 {
            let expected = |(depth, choice): (usize, &SubsetSelection)| {
                let (rates, law) = (
                    choice.support_probabilities(),
                    subset(choice, cell >> (2 - depth)),
                );
                let mean = |option: u32| {
                    let sets = law.iter().enumerate();
                    sets.map(|(set, own)| own * single(&rates, set, option as usize))
                        .sum::<f64>()
                };
                (0..choice.option_count()).map(mean).collect::<Vec<f64>>()
            };
            let shares: Vec<Vec<f64>> = own
                .level_mechanisms()
                .iter()
                .enumerate()
                .map(expected)
                .collect();
            for reports in [[1.0, 1.0, 1.0], [0.0, 0.0, 2.0], [5.0, 0.0, 1.0]] {
                let found = own.combine_levels(shares.clone(), &reports);
                for (at, share) in (0..).zip(found) {
                    let truth = f64::from(u8::from(at == cell));
                    assert!((share - truth).abs() < 1e-9, "{cell} {at}: {share}");
                }
            }
        }
    }
}

/// Compares the stated variance with a sum over levels. Each level contributes the variance of its
/// part of the estimate, divided by the level's share of reports.
#[test]
fn hierarchies_have_the_variance_stated() {
    let weights = [1.0, 1.0, 1.0, 0.0, 0.5, 0.0, 0.0, -0.25];
    for epsilon in EPSILONS {
        let own = HierarchicalHistogram::new(3, &budget(epsilon, 0.0)).unwrap();
        let nothing: Vec<Vec<f64>> = (0..3).map(|depth| vec![0.0; 2 << depth]).collect();
        let value = |shares: Vec<Vec<f64>>| {
            let found = own.combine_levels(shares, own.level_shares());
            let pairs = found.iter().zip(weights);
            pairs.map(|(share, weight)| share * weight).sum::<f64>()
        };
        let start = value(nothing.clone());
        let mut variance = 0.0;
        for (depth, choice) in own.level_mechanisms().iter().enumerate() {
            let (rates, nodes) = (
                choice.support_probabilities(),
                choice.option_count() as usize,
            );
            let (mut mean, mut square) = (0.0, 0.0);
            for node in 0..choice.option_count() {
                for (set, probability) in subset(choice, node).into_iter().enumerate() {
                    let mut shares = nothing.clone();
                    shares[depth] = (0..nodes)
                        .map(|option| single(&rates, set, option))
                        .collect();
                    let part = value(shares) - start;
                    mean += probability * part / nodes as f64;
                    square += probability * part * part / nodes as f64;
                }
            }
            variance += (square - mean * mean) / own.level_shares()[depth];
        }
        let ratio = own.weighted_sum_variance(&weights) / variance;
        assert!((ratio - 1.0).abs() < 1e-9, "ε = {epsilon}: {ratio}");
    }
}

/// Compares the variances with those of an independent program, for the best shares and for equal
/// shares. Moving away from the best shares increases the variance.
#[test]
fn levels_have_their_best_shares() {
    let budget = budget(1.0, 0.0);
    for (height, least, stated) in [
        (5, 9.125_495, 11.114_400),
        (6, 12.638_304, 15.145_235),
        (7, 16.787_658, 19.795_037),
    ] {
        let best = HierarchicalHistogram::new(height, &budget).unwrap();
        let even =
            HierarchicalHistogram::with_level_shares(vec![1.0 / height as f64; height], &budget)
                .unwrap();
        assert!((best.mean_edge_variance() / least - 1.0).abs() < 1e-6);
        assert!((even.mean_edge_variance() / stated - 1.0).abs() < 1e-6);
    }
    let best = HierarchicalHistogram::new(6, &budget).unwrap();
    for level in 1..6 {
        for change in [-0.01, 0.01] {
            let mut shares = best.level_shares().to_vec();
            (shares[0], shares[level]) = (shares[0] - change, shares[level] + change);
            let other = HierarchicalHistogram::with_level_shares(shares, &budget).unwrap();
            assert!(other.mean_edge_variance() > best.mean_edge_variance());
        }
    }
}

#[test]
fn square_waves_lose_epsilon_and_have_mass_1() {
    for epsilon in EPSILONS {
        let wave = SquareWaveMechanism::new(&budget(epsilon, 0.0)).unwrap();
        let b = wave.half_width();
        let [inside, outside] = [
            wave.report_density(0.5, 0.5),
            wave.report_density(0.0, 1.0 + b),
        ];
        assert!((inside / outside / epsilon.exp() - 1.0).abs() < 1e-12);
        assert!((2.0 * b * inside + outside - 1.0).abs() < 1e-12);
        let transition = wave.transition_matrix(50);
        for input in 0..50 {
            let column = (0..50).map(|output| transition.transition_probability(output, input));
            assert!((column.sum::<f64>() - 1.0).abs() < 1e-10);
        }
    }
}

/// The transition probabilities agree with drawn reports of numbers spread over one input cell.
#[test]
fn square_waves_are_drawn_by_their_density() {
    const CELLS: usize = 12;
    for epsilon in EPSILONS {
        let wave = SquareWaveMechanism::new(&budget(epsilon, 0.0)).unwrap();
        let transition = wave.transition_matrix(CELLS);
        let input = 7;
        let (mut counts, rng) = (vec![0; CELLS], &mut seeded(5));
        for draw in 0..DRAWS {
            let place = (f64::from(draw) + 0.5) / f64::from(DRAWS);
            let number = (input as f64 + place) / CELLS as f64;
            let report = wave.randomize(number, rng);
            let b = wave.half_width();
            assert!((-b..=1.0 + b).contains(&report));
            counts[wave.output_cell(report, CELLS)] += 1;
        }
        let law: Vec<f64> = (0..CELLS)
            .map(|output| transition.transition_probability(output, input))
            .collect();
        assert_distributed(&counts, &law, "Square Wave");
        let mut shares = vec![0.0; CELLS];
        shares[input] = 1.0;
        for (own, probability) in transition.output_probabilities(&shares).iter().zip(&law) {
            assert!((own - probability).abs() < 1e-12);
        }
        let weights: Vec<f64> = (0..CELLS).map(|output| output as f64).collect();
        let mean: f64 = weights.iter().zip(&law).map(|(own, by)| own * by).sum();
        assert!((transition.expected_weight_by_input(&weights)[input] - mean).abs() < 1e-10);
    }
}

/// From the expected counts of a smooth distribution, EMS finds the quantiles of this distribution.
#[test]
fn smoothing_finds_smooth_crowds() {
    const CELLS: usize = 256;
    let wave = SquareWaveMechanism::new(&budget(2.0, 0.0)).unwrap();
    let transition = wave.transition_matrix(CELLS);
    let weight = |cell: usize| {
        let place = (cell as f64 + 0.5) / CELLS as f64;
        place * (1.0 - place).powi(4)
    };
    let total: f64 = (0..CELLS).map(weight).sum();
    let shares: Vec<f64> = (0..CELLS).map(|cell| weight(cell) / total).collect();
    let expected = transition.output_probabilities(&shares);
    let counts: Vec<u64> = expected
        .iter()
        .map(|own| (1e6 * own).round() as u64)
        .collect();
    let found = expectation_maximization_shares(&transition, &counts);
    for part in [0.25, 0.5, 0.75, 0.95] {
        let distance = histogram_quantile(&found, part) - histogram_quantile(&shares, part);
        assert!(distance.abs() < 0.01, "{part}: {distance}");
    }
}

#[test]
fn functions_that_rise_stay_as_they_are() {
    let shares = [0.125, 0.25, 0.0, 0.5, 0.125];
    assert_eq!(
        shares_of_isotonic_cdf(&[0.125, 0.375, 0.375, 0.875]),
        shares
    );
    for (part, place) in [(0.0625, 0.1), (0.375, 0.4), (0.625, 0.7), (1.0, 1.0)] {
        assert!((histogram_quantile(&shares, part) - place).abs() < 1e-12);
    }
}
