//! Worst-case variances over all possible answers, for guarantees made before any report exists.

use hushbin::mechanism::{collision::CollisionHitProbabilities, pattern};

use crate::estimate::point::{SamplingModel, share_variance_per_report};

/// Returns the maximum variance of one report's contribution to a share, over all true shares f.
///
/// `with` and `without` are the variances for people with and without the answer.
pub(crate) fn max_share_report_variance(whose: SamplingModel, with: f64, without: f64) -> f64 {
    // The variance is without + f·(with − without), plus f(1 − f) unless the population is fixed.
    // Its maximum is at f = 0, at f = 1, or at f = (1 + with − without)/2, where the slope is 0.
    let level = 0.5 * (1.0 + with - without);
    [0.0, 1.0, level.clamp(0.0, 1.0)]
        .map(|share| share_variance_per_report(whose, share, with, without))
        .into_iter()
        .fold(0.0, f64::max)
}

/// Returns the maximum variance of one report's contribution to a distribution function, over all
/// edges between `bins` bins. `part` is the value of the function at the edge.
pub(crate) fn max_cdf_report_variance(
    whose: SamplingModel,
    rates: &CollisionHitProbabilities,
    bins: u32,
    part: f64,
) -> f64 {
    let at = |below: u32| {
        let [with, without] = [true, false].map(|among| rates.answer_set_variance(below, among));
        share_variance_per_report(whose, part, with, without)
    };
    (1..bins).map(at).fold(0.0, f64::max)
}

/// Returns the maximum variance of one report's contribution to a distribution function, over all
/// edges between bins of a pattern. `part` is the value of the function at the edge.
///
/// People are assumed to be in the bins of greatest variance. They are treated as a random sample,
/// as in the confidence intervals of quantiles.
pub(crate) fn pattern_cdf_report_variance(rates: &pattern::PatternEstimator, part: f64) -> f64 {
    let at = |below: usize| {
        let weights = rates.range_indicator_weights(0..below);
        let own = rates.variances_by_cell(&rates.output_weights_of_sum(&weights), &weights);
        let most = |own: &[f64]| own.iter().copied().fold(0.0, f64::max);
        let (with, without) = own.split_at(below);
        share_variance_per_report(SamplingModel::RandomSample, part, most(with), most(without))
    };
    (1..rates.cell_count()).map(at).fold(0.0, f64::max)
}
