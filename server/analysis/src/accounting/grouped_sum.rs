//! Upper bound on the privacy blanket's sum, for sums with many terms. The sum is over T, the
//! number of informative reports, and z, the number of uninformative reports in the blanket. Values
//! of z are grouped, which makes the bound faster to compute than the sum.
//!
//! δ(ε_c) is the expectation of a convex function of z. So replacing the distribution of z by one
//! that is larger in convex order gives an upper bound. Two such replacements are made in turn:
//!
//! 1. A single distribution is used for all T ≥ T₀. Given T, z plus an independent Binomial(T − T₀,
//!    q) variable is Z₀ ~ Binomial(n − T₀, q). So Z₀ − (T − T₀)q is z plus noise of mean 0, which
//!    is larger in convex order.
//! 2. The distribution is moved to a few values. Mass between two of these values is divided
//!    between them, so that the mean does not change.
//!
//! For each of these values, the threshold a* is linear in T. It is at least T/2, because v·q is at
//! most 1. So the sum over T is a [hockey-stick divergence](super::hockey_stick), as in the
//! reduction.
//!
//! If the variance of z increases by some fraction, the difference between the blanket's δ and the
//! reduction's δ increases by about the same fraction. In large batches this difference is small.
//! In tests, ε_c exceeded the ε_c of the ungrouped sum by at most a fraction 9.4·10⁻⁵. The tests
//! covered ε from 0.1 to 8, c/t from 5/7 to 1/10000, δ of 10⁻⁴ and 10⁻¹⁰, and n from 3,000 to
//! 300,000.

use super::hockey_stick;
use super::informative_reports::InformativeCountDistribution;
use super::mixture::ReportMixture;
use super::privacy_blanket::{
    BatchAtEpsilon, PrivacyBlanket, SUM_RELATIVE_ERROR_BOUND, UninformativeWeight,
    omitted_delta_bound,
};
use crate::numeric::binomial::binomial_probability;

/// Number of recurrence steps after which a binomial probability is computed anew.
const RECOMPUTATION_INTERVAL_STEPS: f64 = 1024.0;
/// Parameter that determines the density of the groups of z. Groups are cosh(`GROUP_DENSITY_PARAMETER`) times as
/// dense at the mean of z as at the ends of its range.
const GROUP_DENSITY_PARAMETER: f64 = 3.0;
/// Factor by which the number of groups is reduced for improbable values of T, the number of
/// informative reports.
const RARE_GROUP_COUNT_DIVISOR: f64 = 4.0;
/// Distance of the second T₀ below the mean of T, in standard deviations of T (the number of
/// informative reports). Most values of T are above the second T₀. For these values, the second T₀
/// adds less noise than the first.
const SPLIT_DEVIATIONS_BELOW_MEAN: f64 = 2.0;

/// Number of values of z (numbers of uninformative reports) whose sums are computed in parallel.
const PARALLEL_LANE_COUNT: usize = 4;

/// Values that replace z, the number of uninformative reports in the blanket. The first list is for
/// small values of T, the number of informative reports. The second list is for all larger values
/// of T.
#[derive(Debug, Clone)]
pub(super) struct GroupedBlanketSum([InformativeCountSubrange; 2]);

/// Part of the range of T, the number of informative reports. `values` contains the values that
/// replace z, each with its probability. They are stored as weights y = v·z, which depend on T.
#[derive(Debug, Clone)]
struct InformativeCountSubrange {
    count_distribution: InformativeCountDistribution,
    uninformative_weight_groups: Vec<(UninformativeWeight, f64)>,
}

impl GroupedBlanketSum {
    /// Creates about `groups` groups of values of z, and fewer for improbable values of T. Values
    /// of z outside all groups have a probability of at most exp(−`far`) at either end.
    pub(super) fn new(
        blanket: &PrivacyBlanket,
        telling: &InformativeCountDistribution,
        far: f64,
        groups: f64,
    ) -> Self {
        let below = SPLIT_DEVIATIONS_BELOW_MEAN
            * (telling.approximate_mean() * telling.informative_probability_pair[1]).sqrt();
        let middle = (telling.approximate_mean() - below).floor();
        let middle = middle.clamp(telling.min_informative_count, telling.max_informative_count);
        let rarely = InformativeCountDistribution {
            max_informative_count: middle - 1.0,
            ..*telling
        };
        let mostly = InformativeCountDistribution {
            min_informative_count: middle,
            ..*telling
        };
        Self([
            InformativeCountSubrange::new(blanket, rarely, far, groups / RARE_GROUP_COUNT_DIVISOR),
            InformativeCountSubrange::new(blanket, mostly, far, groups),
        ])
    }

    /// Returns an upper bound on δ(ε_c). The bound is a sum over the range of T, the number of
    /// informative reports.
    pub(super) fn delta_upper_bound(
        &self,
        mixture: &ReportMixture,
        batch: &BatchAtEpsilon,
        far: f64,
    ) -> f64 {
        let sum: f64 = self
            .0
            .iter()
            .map(|part| part.delta_bound_contribution(mixture, batch))
            .sum();
        sum * (1.0 + SUM_RELATIVE_ERROR_BOUND) + omitted_delta_bound(batch, far)
    }
}

impl InformativeCountSubrange {
    fn new(
        blanket: &PrivacyBlanket,
        telling: InformativeCountDistribution,
        far: f64,
        groups: f64,
    ) -> Self {
        let (first, q) = (
            telling.min_informative_count,
            blanket.blanket_probability_pair,
        );
        let trials = telling.report_count - first;
        let ends = group_boundary_counts(
            trials * q[0],
            blanket.uninformative_range(trials, far),
            groups,
        );
        let mut probabilities = vec![0.0; ends.len()];
        for (group, end) in ends.windows(2).enumerate() {
            let [stays, moves] = probability_at_group_ends([end[0], end[1]], trials, q);
            probabilities[group] += stays;
            probabilities[group + 1] += moves;
        }
        let rest = |z: f64| UninformativeWeight {
            intercept: blanket.uninformative_report_weight * (z + first * q[0]),
            decrease_per_report: blanket.uninformative_report_weight * q[0],
        };
        Self {
            count_distribution: telling,
            uninformative_weight_groups: ends.into_iter().map(rest).zip(probabilities).collect(),
        }
    }

    fn delta_bound_contribution(&self, mixture: &ReportMixture, batch: &BatchAtEpsilon) -> f64 {
        let several = self
            .uninformative_weight_groups
            .chunks(PARALLEL_LANE_COUNT)
            .map(|values| {
                // Lanes without a value repeat the last one. Their results are not used.
                let at = |lane| values[values.len().min(lane + 1) - 1].0;
                let rests: [UninformativeWeight; PARALLEL_LANE_COUNT] = std::array::from_fn(at);
                let found = hockey_stick::divergences_by_weight(
                    mixture,
                    &self.count_distribution,
                    batch,
                    &rests,
                );
                let bounds = found.iter().zip(values).map(|(found, (_, probability))| {
                    probability * (found.delta + found.delta_error_bound).max(0.0)
                });
                bounds.sum::<f64>()
            });
        several.sum()
    }
}

/// Returns the ends of the groups of z, as ascending integers. The first is one less than the
/// smallest z, and the last is the largest z.
///
/// The ends are densest at `mean`. Their distances from `mean` follow a hyperbolic sine.
fn group_boundary_counts(mean: f64, [low, high]: [f64; 2], groups: f64) -> Vec<f64> {
    let half = (0.5 * groups).ceil();
    let sides = [(mean - low).max(0.0), (high - mean).max(0.0)];
    let at = |step: f64| {
        let part = (GROUP_DENSITY_PARAMETER * step / half).sinh() / GROUP_DENSITY_PARAMETER.sinh();
        let away = part * sides[usize::from(step > 0.0)];
        (mean + away).round().clamp(low, high)
    };
    let mut ends: Vec<f64> = (0..=2 * half as i64).map(|i| at(i as f64 - half)).collect();
    // A group does not include its lower end, so the first one starts at `low` − 1.
    ends.insert(0, low - 1.0);
    ends.dedup();
    ends
}

/// Divides the probability of low < z ≤ high between the two ends `low` and `high`, where z ~
/// Binomial(`trials`, q). For each value of z, the nearer end gets the larger part, so that the
/// mean stays the same.
fn probability_at_group_ends([low, high]: [f64; 2], trials: f64, q: [f64; 2]) -> [f64; 2] {
    let odds = q[0] / q[1].max(1e-300);
    let (mut stays, mut moves, mut z) = (0.0, 0.0, low + 1.0);
    while z <= high {
        // Recompute the probability for each block, so that rounding errors cannot accumulate.
        let mut weight = binomial_probability(z, trials, q);
        let end = high.min(z + RECOMPUTATION_INTERVAL_STEPS - 1.0);
        while z <= end {
            let part = (z - low) / (high - low);
            stays += weight * (1.0 - part);
            moves += weight * part;
            weight *= (trials - z) / (z + 1.0) * odds;
            z += 1.0;
        }
    }
    [stays, moves]
}
