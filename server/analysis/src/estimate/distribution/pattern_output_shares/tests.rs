//! Tests that compare estimates with reference numbers, and measure the coverage of intervals for
//! many crowds.

use std::sync::Arc;

use hushbin::mechanism::pattern::{Pattern, PatternEstimator, triangular_cdf};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rand_distr::{Binomial, Distribution};
use serde::Deserialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::smooth_curve::fit_smooth_bin_shares;
use super::*;
use crate::numeric::clopper_pearson::upper_confidence_bound;

const REFERENCE: &str = include_str!("../../../../../../tests/reference/histograms.json");

#[derive(Deserialize)]
struct Reference {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    #[serde(rename = "K")]
    bins: u32,
    #[serde(rename = "L")]
    outputs: u32,
    #[serde(rename = "S")]
    favoured: Vec<u32>,
    epsilon: f64,
    edge_variance_uniform: Vec<f64>,
    #[serde(rename = "V")]
    variance: f64,
    #[serde(rename = "V8")]
    smoothed_variance: f64,
    coefficients_middle_edge: Vec<f64>,
    own_variance_middle_edge: Vec<f64>,
    cell_variance_uniform: Vec<f64>,
    counts: Vec<u64>,
    cdf: Vec<f64>,
    cdf_variance_of_one: Vec<f64>,
    taus: Vec<f64>,
    intervals: Vec<[usize; 2]>,
    intervals_together: Vec<[usize; 2]>,
    intervals_coarse: Vec<[usize; 2]>,
    lambda_: f64,
    fit: Vec<f64>,
    points: Vec<f64>,
    points_in_interval: Vec<f64>,
}

impl Set {
    fn rates(&self) -> PatternEstimator {
        let pattern = Pattern::new(self.outputs, self.favoured.as_slice()).unwrap();
        pattern.share_estimator(self.bins, self.epsilon)
    }

    fn patterned(&self) -> PatternOutputShares {
        let edges = PatternEdgeWeights::new(self.rates());
        PatternOutputShares::new(Arc::new(edges), SamplingModel::RandomSample, &self.counts)
            .unwrap()
    }
}

fn sets() -> Vec<Set> {
    serde_json::from_str::<Reference>(REFERENCE).unwrap().sets
}

#[track_caller]
fn near(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len());
    // Reference numbers have twelve digits.
    let scale = theirs
        .iter()
        .fold(0.0, |most: f64, own| most.max(own.abs()));
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(
            (ours - theirs).abs() < 1e-8 * theirs.abs().max(1e-3 * scale),
            "{what}: {ours} {theirs}"
        );
    }
}

fn below(bins: usize, edge: usize) -> Vec<f64> {
    (0..bins)
        .map(|bin| f64::from(u8::from(bin < edge)))
        .collect()
}

#[test]
fn weights_and_variances_are_those_of_the_reference() {
    for set in sets() {
        let rates = set.rates();
        let bins = rates.cell_count();
        let variances: Vec<f64> = (1..bins)
            .map(|edge| rates.variance_for_even_cells(&below(bins, edge)))
            .collect();
        near(&variances, &set.edge_variance_uniform, &set.name);
        let mean = variances.iter().sum::<f64>() / variances.len() as f64;
        near(&[mean], &[set.variance], &set.name);
        let smoothed = |edge| {
            let smooth =
                |bin| triangular_cdf((edge as f64 - bin as f64 - 0.5) / (bins as f64 / 8.0));
            rates.variance_for_even_cells(&(0..bins).map(smooth).collect::<Vec<f64>>())
        };
        let mean = (1..bins).map(smoothed).sum::<f64>() / (bins - 1) as f64;
        near(&[mean], &[set.smoothed_variance], &set.name);
        let middle = below(bins, bins / 2);
        let worth = rates.output_weights_of_sum(&middle);
        near(&worth, &set.coefficients_middle_edge, &set.name);
        near(
            &rates.variances_by_cell(&worth, &middle),
            &set.own_variance_middle_edge,
            &set.name,
        );
        let cell = |bin| {
            let mut weights = vec![0.0; bins];
            weights[bin] = 1.0;
            rates.variance_for_even_cells(&weights)
        };
        let cells: Vec<f64> = (0..bins).map(cell).collect();
        near(&cells, &set.cell_variance_uniform, &set.name);
    }
}

#[test]
fn estimates_and_intervals_are_those_of_the_reference() {
    for set in sets() {
        let patterned = set.patterned();
        let estimates =
            patterned.edge_estimates(&patterned.edge_weights.fine_and_coarse_weights()[0]);
        let (shares, variances): (Vec<f64>, Vec<f64>) = estimates
            .iter()
            .map(|own| (own.share, own.output_weight_variance))
            .unzip();
        near(&shares, &set.cdf, &set.name);
        near(&variances, &set.cdf_variance_of_one, &set.name);
        let failure = 0.025;
        for (intervals, failure) in [
            (&set.intervals, failure),
            (&set.intervals_together, failure / set.taus.len() as f64),
        ] {
            let reach = TailThresholds::new(failure).normal_quantile() / patterned.reports.sqrt();
            for (tau, theirs) in set.taus.iter().zip(intervals) {
                let ours = interval_edges(quantile_claims(
                    [&estimates, &estimates],
                    *tau,
                    reach,
                    Add::add,
                ));
                assert_eq!(ours, *theirs, "{} {tau} {failure}", set.name);
            }
        }
        assert_eq!(
            patterned.edges_of_quantile_intervals(&set.taus, failure),
            set.intervals_coarse,
            "{}",
            set.name
        );
    }
}

#[test]
fn shares_of_ranges_are_those_below_edges() {
    for set in sets() {
        let patterned = set.patterned();
        let bins = patterned.bin_count();
        let reports = set.counts.iter().sum::<u64>() as f64;
        for (edge, share) in set.cdf.iter().enumerate() {
            let point = patterned.share_and_score_distribution(0..edge + 1).0;
            let others = patterned.share_and_score_distribution(edge + 1..bins).0;
            assert!((point.estimate - share).abs() < 1e-9, "{}", set.name);
            assert!(
                (others.estimate - (1.0 - share)).abs() < 1e-9,
                "{}",
                set.name
            );
            let variance = point.standard_error.powi(2) * reports;
            let shown = set.cdf_variance_of_one[edge];
            assert!(
                variance > shown * (1.0 - 1e-8),
                "{}: {variance} {shown}",
                set.name
            );
        }
        let all = patterned.share_and_score_distribution(0..bins).0;
        assert!(
            (all.estimate - 1.0).abs() < 1e-9 && all.standard_error < 1e-5,
            "{all:?}"
        );
    }
}

#[test]
fn curves_and_points_are_those_of_the_reference() {
    for set in sets() {
        let patterned = set.patterned();
        let (lambda, shares) = fit_smooth_bin_shares(
            &patterned.edge_weights.pattern_probabilities,
            &patterned.shares,
            patterned.reports,
        );
        assert!(
            (lambda / set.lambda_ - 1.0).abs() < 1e-9,
            "{}: {lambda}",
            set.name
        );
        for (ours, theirs) in shares.iter().zip(&set.fit) {
            assert!(
                (ours - theirs).abs() < 1e-5,
                "{}: {ours} {theirs}",
                set.name
            );
        }
        let intervals = patterned.edges_of_quantile_intervals(&set.taus, 0.025);
        for (at, tau) in set.taus.iter().enumerate() {
            let point = quantile_position(&shares, *tau);
            let [lower, upper] = intervals[at].map(|edge| edge as f64);
            let inside = point.clamp(lower, upper);
            let off = [point - set.points[at], inside - set.points_in_interval[at]];
            assert!(
                off.iter().all(|own| own.abs() < 1e-3),
                "{} {tau}: {off:?}",
                set.name
            );
        }
    }
}

#[test]
fn quantiles_are_reached_within_bins_that_have_people() {
    let shares = [0.0, 0.5, 0.0, 0.25, 0.25, 0.0];
    for (quantile, at) in [
        (0.0, 1.0),
        (0.1, 1.2),
        (0.5, 2.0),
        (0.75, 4.0),
        (0.875, 4.5),
        (1.0, 5.0),
    ] {
        assert!(
            (quantile_position(&shares, quantile) - at).abs() < 1e-12,
            "{quantile}"
        );
    }
    // Rounding may leave the sum below the quantile.
    assert_eq!(quantile_position(&[0.5, 0.4999], 1.0), 2.0);
}

fn edges(bins: u32, outputs: u32, favoured: &[u32], epsilon: f64) -> Arc<PatternEdgeWeights> {
    let pattern = Pattern::new(outputs, favoured).unwrap();
    Arc::new(PatternEdgeWeights::new(
        pattern.share_estimator(bins, epsilon),
    ))
}

/// Returns the pattern of the reference set with this name.
fn named(name: &str) -> Arc<PatternEdgeWeights> {
    let set = sets().into_iter().find(|set| set.name == name).unwrap();
    edges(set.bins, set.outputs, &set.favoured, set.epsilon)
}

/// Draws the output counts of `reports` random people from a population with these shares of bins.
fn draw(
    edges: &PatternEdgeWeights,
    shares: &[f64],
    reports: u64,
    rng: &mut ChaCha20Rng,
) -> Vec<u64> {
    let (mut left, mut rest) = (reports, 1.0);
    let mut counts = Vec::new();
    for probability in probability_matrix::expected_outputs(&edges.pattern_probabilities, shares) {
        let part = (probability / rest).clamp(0.0, 1.0);
        let count = Binomial::new(left, part).unwrap().sample(rng);
        counts.push(count);
        (left, rest) = (left - count, rest - probability);
    }
    counts[0] += left;
    counts
}

fn normalised(weight: impl Fn(f64) -> f64, bins: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..bins)
        .map(|bin| weight((bin as f64 + 0.5) / bins as f64))
        .collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|own| own / total).collect()
}

/// Returns test crowds, the difficult ones first: all people in one bin, two values around a
/// quantile, most people at one value, a long tail, and equal shares.
fn crowds(bins: usize) -> [Vec<f64>; 5] {
    let at = |bin: usize, share: f64, others: f64| {
        let mut shares = vec![others / bins as f64; bins];
        shares[bin] += share;
        shares
    };
    let mut two = at(bins / 5, 0.5, 0.0);
    two[bins - 2] += 0.5;
    [
        at(bins / 3, 1.0, 0.0),
        two,
        at(2 * bins / 5, 0.8, 0.2),
        normalised(|x| (-20.0 * x).exp(), bins),
        normalised(|_| 1.0, bins),
    ]
}

/// Returns the bin of a quantile: the first whose cumulative share reaches it.
fn bin_of(shares: &[f64], quantile: f64) -> usize {
    let ends = shares.iter().scan(0.0, |sum, own| {
        *sum += own;
        Some(*sum)
    });
    // Sums of equal shares are rounded.
    ends.take_while(|sum| *sum < quantile - 1e-9).count()
}

/// Coverage is at least 94 per cent in each case, and 95 per cent over all cases together. The
/// joint false-alarm probability of the single cases is at most 10⁻⁶.
#[test]
fn intervals_cover_quantiles_of_every_crowd() {
    const RUNS: u64 = 300;
    let quantiles = [0.05, 0.5, 0.95];
    let layouts = [
        (named("balanced 16,4.0"), [1, 100]),
        (named("balanced 16,1.0"), [10, 100]),
        (named("balanced 32,1.0"), [100, 1000]),
        (named("balanced 64,2.0"), [300, 10_000]),
        (named("interval 64,1.0"), [1000, 100_000]),
        (edges(8, 8, &[0], 2.0), [3, 30]),
    ];
    let cells = (layouts.len() * 2 * 5 * quantiles.len()) as f64;
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut all = [0, 0];
    for (edges, sizes) in &layouts {
        for (crowd, shares) in crowds(edges.pattern_probabilities.cell_count())
            .iter()
            .enumerate()
        {
            for reports in sizes {
                let mut covered = [0; 3];
                for _ in 0..RUNS {
                    let counts = draw(edges, shares, *reports, &mut rng);
                    let patterned = PatternOutputShares::new(
                        Arc::clone(edges),
                        SamplingModel::RandomSample,
                        &counts,
                    )
                    .unwrap();
                    let intervals = patterned.edges_of_quantile_intervals(&quantiles, 0.025);
                    for (at, [lower, upper]) in intervals.into_iter().enumerate() {
                        let bin = bin_of(shares, quantiles[at]);
                        covered[at] += u64::from(lower <= bin && bin < upper);
                    }
                }
                for (covered, quantile) in covered.into_iter().zip(quantiles) {
                    let most = upper_confidence_bound(covered, RUNS, 1e-6 / cells);
                    let what = format!("crowd {crowd}, {reports} reports, quantile {quantile}");
                    assert!(most > 0.94, "{what}: {covered} of {RUNS}");
                    all = [all[0] + covered, all[1] + RUNS];
                }
            }
        }
    }
    assert!(
        upper_confidence_bound(all[0], all[1], 1e-6) > 0.95,
        "{all:?}"
    );
}

/// At a large ε, no report may come from the few people below an edge. Then no claim is made about
/// that edge.
#[test]
fn rare_people_are_covered() {
    const RUNS: u64 = 2000;
    let mut rng = ChaCha20Rng::seed_from_u64(14);
    for (epsilon, reports, quantile, below) in [
        (10.0, 100, 0.01, 0.012),
        (8.0, 50, 0.03, 0.035),
        (6.0, 30, 0.05, 0.06),
        (10.0, 100, 0.99, 0.988),
    ] {
        let edges = edges(16, 16, &[0], epsilon);
        let mut shares = vec![0.0; 16];
        (shares[0], shares[15]) = (below, 1.0 - below);
        let bin = bin_of(&shares, quantile);
        let mut covered = 0;
        for _ in 0..RUNS {
            let counts = draw(&edges, &shares, reports, &mut rng);
            let patterned =
                PatternOutputShares::new(Arc::clone(&edges), SamplingModel::RandomSample, &counts)
                    .unwrap();
            let [lower, upper] = patterned.edges_of_quantile_intervals(&[quantile], 0.025)[0];
            covered += u64::from(lower <= bin && bin < upper);
        }
        let most = upper_confidence_bound(covered, RUNS, 1e-6);
        assert!(most > 0.95, "{epsilon}, {reports}: {covered} of {RUNS}");
    }
}

#[test]
fn few_reports_claim_nothing() {
    let edges = named("balanced 64,1.0");
    let mut counts = vec![0; 80];
    assert!(
        PatternOutputShares::new(Arc::clone(&edges), SamplingModel::RandomSample, &counts)
            .is_none()
    );
    counts[7] = 1;
    let patterned = PatternOutputShares::new(edges, SamplingModel::RandomSample, &counts).unwrap();
    assert_eq!(
        patterned.edges_of_quantile_intervals(&[0.05, 0.5, 0.95], 0.025),
        [[0, 64]; 3]
    );
    assert!(
        patterned
            .share_and_score_distribution(3..4)
            .0
            .standard_error
            > 1.0
    );
    assert!(patterned.chi_squared_misfit().is_none());
    assert!((patterned.smoothed_bin_shares().iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

const REPORTS: u64 = 20_000;
/// Names of the patterns whose fit is tested, with honest and with forged reports.
const FITTED_PATTERNS: [&str; 4] = [
    "balanced 64,1.0",
    "interval 64,2.0",
    "balanced 32,0.5",
    "interval 16,1.0",
];

#[test]
fn honest_crowds_fit() {
    const RUNS: u32 = 200;
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    for name in FITTED_PATTERNS {
        let edges = named(name);
        for (crowd, shares) in crowds(edges.pattern_probabilities.cell_count())
            .iter()
            .enumerate()
        {
            let mut sum = 0.0;
            let mut freedom = 0;
            for _ in 0..RUNS {
                let counts = draw(&edges, shares, REPORTS, &mut rng);
                let patterned = PatternOutputShares::new(
                    Arc::clone(&edges),
                    SamplingModel::RandomSample,
                    &counts,
                )
                .unwrap();
                let (statistic, own) = patterned.chi_squared_misfit().unwrap();
                (sum, freedom) = (sum + statistic, own);
            }
            let freedom = freedom as f64;
            let mean = sum / f64::from(RUNS) / freedom;
            // Five standard errors, plus a margin for the estimated variances.
            let reach = 5.0 * (2.0 / freedom / f64::from(RUNS)).sqrt() + 0.03;
            assert!((mean - 1.0).abs() < reach, "{name}, crowd {crowd}: {mean}");
        }
    }
    assert!(
        PatternOutputShares::new(
            edges(8, 8, &[0], 1.0),
            SamplingModel::FixedPopulation,
            &[3; 8]
        )
        .unwrap()
        .chi_squared_misfit()
        .is_none()
    );
}

/// For every output, the misfit is significant if 5 per cent of the reports are forged and have
/// this output.
#[test]
fn forged_reports_do_not_fit() {
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    for name in FITTED_PATTERNS {
        let edges = named(name);
        for shares in crowds(edges.pattern_probabilities.cell_count()) {
            let honest = draw(&edges, &shares, REPORTS * 19 / 20, &mut rng);
            for output in 0..honest.len() {
                let mut counts = honest.clone();
                counts[output] += REPORTS / 20;
                let patterned = PatternOutputShares::new(
                    Arc::clone(&edges),
                    SamplingModel::RandomSample,
                    &counts,
                )
                .unwrap();
                let (statistic, freedom) = patterned.chi_squared_misfit().unwrap();
                let chance = ChiSquared::new(freedom as f64).unwrap().sf(statistic);
                assert!(chance < 1e-9, "{name}, output {output}: {statistic}");
            }
        }
    }
}
