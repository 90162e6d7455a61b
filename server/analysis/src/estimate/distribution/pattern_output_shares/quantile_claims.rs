//! Claims that a quantile lies on one side of an edge between two bins.
//!
//! Quantile τ is the smallest x with P(X ≤ x) ≥ τ, where X is the number of a random person. A
//! claim is made if a one-sided test rejects that the share of people below the edge is τ.
//! Confidence intervals invert these tests, as Clopper and Pearson do (Biometrika 26, 1934), but
//! with a normal instead of a binomial distribution. Claims are valid for every crowd, even if many
//! people have equal numbers.

use std::sync::OnceLock;

use hushbin::mechanism::pattern::{PatternEstimator, triangular_cdf};

/// Weights of a pattern's outputs in the estimate of the share of people below one edge.
#[derive(Debug, Clone)]
pub(super) struct EdgeWeights {
    pub(super) output_weights: Vec<f64>,
    /// Minimum variance of the weight of one report's output. The first is over people below the
    /// edge, the second over people above the edge.
    pub(super) min_variances_by_edge_side: [f64; 2],
}

/// Rates of a pattern, and the weights of its outputs for all edges between bins. They depend on
/// the pattern, the bins and ε, but not on the reports.
#[derive(Debug, Clone)]
pub(crate) struct PatternEdgeWeights {
    pub(crate) pattern_probabilities: PatternEstimator,
    /// Weights for all edges. They are computed on first use, because planning does not need them.
    cached_edge_weights: OnceLock<[Vec<EdgeWeights>; 3]>,
}

impl PatternEdgeWeights {
    pub(crate) const fn new(rates: PatternEstimator) -> Self {
        let rows = OnceLock::new();
        Self {
            pattern_probabilities: rates,
            cached_edge_weights: rows,
        }
    }

    /// Returns three sets of weights, each with the weights for every inner edge. The first set
    /// estimates the share of people below the edge. The second and third set estimate averages of
    /// the distribution function over an eighth of the bins.
    ///
    /// The average of the second set starts at the edge, so it is at least the share below the
    /// edge. The average of the third set ends at the edge, so it is at most that share.
    pub(super) fn fine_and_coarse_weights(&self) -> &[Vec<EdgeWeights>; 3] {
        self.cached_edge_weights
            .get_or_init(|| compute_edge_weights(&self.pattern_probabilities))
    }
}

fn compute_edge_weights(rates: &PatternEstimator) -> [Vec<EdgeWeights>; 3] {
    let bins = rates.cell_count();
    // Half the width over which an average extends: half of an eighth of the bins.
    let half = bins as f64 / 16.0;
    let rows = |weight: &dyn Fn(f64) -> f64| {
        let of_edge = |edge: usize| {
            let of_bin = |bin| weight(edge as f64 - bin as f64 - 0.5);
            let weights: Vec<f64> = (0..bins).map(of_bin).collect();
            let worth = rates.output_weights_of_sum(&weights);
            let own = rates.variances_by_cell(&worth, &weights);
            let least = [minimum_or_zero(&own[..edge]), minimum_or_zero(&own[edge..])];
            EdgeWeights {
                output_weights: worth,
                min_variances_by_edge_side: least,
            }
        };
        (1..bins).map(of_edge).collect()
    };
    let fine = rows(&|distance| f64::from(u8::from(distance > 0.0)));
    let coarse = |shift: f64| rows(&|distance| triangular_cdf((distance + shift) / half));
    [fine, coarse(half), coarse(-half)]
}

/// Returns the minimum of these variances, or 0 if there are none.
pub(super) fn minimum_or_zero<'a>(variances: impl IntoIterator<Item = &'a f64>) -> f64 {
    let least = variances.into_iter().copied().reduce(f64::min);
    least.unwrap_or(0.0).max(0.0)
}

/// Estimate of the share of people below one edge, or of an average around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeEstimate {
    pub(super) share: f64,
    /// Observed variance of the weight of one report's output.
    pub(super) output_weight_variance: f64,
    /// Minimum variances over people below and over people above the edge, as in [`EdgeWeights`].
    pub(super) min_variances_by_edge_side: [f64; 2],
}

/// Two claims about a quantile and one edge: the quantile is [at or above, at or below] the edge.
/// An entry is true if that claim is made.
pub(crate) type QuantileSideClaims = [bool; 2];

/// Returns the claims about the quantile for each edge.
///
/// `more` estimates quantities that are at least the share of people below the edge, and `less`
/// quantities that are at most this share. `reach` is the half-width of a test, divided by the
/// standard deviation of one report's weight. `least` combines the minimum variance of the noise
/// with the variance from drawing people at random.
pub(super) fn quantile_claims(
    [more, less]: [&[EdgeEstimate]; 2],
    quantile: f64,
    reach: f64,
    least: fn(f64, f64) -> f64,
) -> impl Iterator<Item = QuantileSideClaims> {
    let drawn = quantile * (1.0 - quantile);
    let reach = move |own: &EdgeEstimate| {
        // If the share below the edge is τ, the true variance is at least this minimum. The
        // observed variance of few reports may be smaller.
        let [below, above] = own.min_variances_by_edge_side;
        let noise = quantile * below + (1.0 - quantile) * above;
        reach * own.output_weight_variance.max(least(noise, drawn)).sqrt()
    };
    more.iter().zip(less).map(move |(more, less)| {
        let above = more.share + reach(more) < quantile;
        [above, less.share - reach(less) >= quantile]
    })
}

/// Combines claims about one edge that come from two sets of estimates. Contradicting claims
/// cancel.
pub(super) fn combine_claims(
    (one, other): (QuantileSideClaims, QuantileSideClaims),
) -> QuantileSideClaims {
    let [above, below] = [one[0] || other[0], one[1] || other[1]];
    [above && !below, below && !above]
}

/// Returns the edges at the ends of an interval, from the claims for each inner edge. The lower end
/// moves up as long as the quantile is claimed to be at or above each edge that it passes. The
/// upper end moves down correspondingly.
pub(crate) fn interval_edges(claims: impl Iterator<Item = QuantileSideClaims>) -> [usize; 2] {
    let claims: Vec<QuantileSideClaims> = claims.collect();
    let lower = claims.iter().take_while(|claim| claim[0]).count();
    let upper = claims.iter().rev().take_while(|claim| claim[1]).count();
    [lower, claims.len() + 1 - upper]
}
