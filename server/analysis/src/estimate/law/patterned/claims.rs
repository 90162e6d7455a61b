//! Claims about the side of an edge on which a quantile lies.
//!
//! A claim is a one-sided test that the share of people below the edge is τ. Intervals invert these
//! tests like those of Clopper and Pearson (Biometrika 26, 1934), with a normal instead of a
//! binomial distribution. Quantile τ is the smallest x with P(X ≤ x) ≥ τ. So claims are valid for
//! every crowd, even if many people have equal numbers.

use std::sync::OnceLock;

use hushbin::mechanism::pattern::{Rates, triangle};

/// Weights of outputs in the estimate for one edge.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) worth: Vec<f64>,
    /// Minimum variances of a report's weight: over people below the edge, and over people above.
    pub(super) least: [f64; 2],
}

/// Rates of a number's bins, and weights of outputs for all edges. They depend on the pattern, the
/// bins and ε, but not on the reports.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    pub(crate) rates: Rates,
    /// Computed on first use. Planning does not need them.
    rows: OnceLock<[Vec<Row>; 3]>,
}

impl Edges {
    pub(crate) const fn new(rates: Rates) -> Self {
        let rows = OnceLock::new();
        Self { rates, rows }
    }

    /// Returns the rows of the share below each inner edge, then those of two averages over an
    /// eighth of the bins.
    ///
    /// The first average starts at the edge, so it is at least the share below it. The second ends
    /// at the edge, so it is at most that share.
    pub(super) fn rows(&self) -> &[Vec<Row>; 3] {
        self.rows.get_or_init(|| rows(&self.rates))
    }
}

fn rows(rates: &Rates) -> [Vec<Row>; 3] {
    let bins = rates.cells();
    // Half-width of the triangle: half of an eighth of the bins.
    let half = bins as f64 / 16.0;
    let rows = |weight: &dyn Fn(f64) -> f64| {
        let of_edge = |edge: usize| {
            let of_bin = |bin| weight(edge as f64 - bin as f64 - 0.5);
            let weights: Vec<f64> = (0..bins).map(of_bin).collect();
            let worth = rates.sum(&weights);
            let own = rates.variances(&worth, &weights);
            let least = [least(&own[..edge]), least(&own[edge..])];
            Row { worth, least }
        };
        (1..bins).map(of_edge).collect()
    };
    let fine = rows(&|distance| f64::from(u8::from(distance > 0.0)));
    let coarse = |shift: f64| rows(&|distance| triangle((distance + shift) / half));
    [fine, coarse(half), coarse(-half)]
}

/// Returns the minimum of variances, or 0 if there are none.
pub(super) fn least<'a>(variances: impl IntoIterator<Item = &'a f64>) -> f64 {
    let least = variances.into_iter().copied().reduce(f64::min);
    least.unwrap_or(0.0).max(0.0)
}

/// Estimate for one edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) share: f64,
    /// Observed variance of one report's weight.
    pub(super) variance: f64,
    /// Minimum variances, as in [`Row`].
    pub(super) least: [f64; 2],
}

/// Claims about a quantile and one edge: the quantile is [at or above, at or below] the edge.
pub(crate) type Claim = [bool; 2];

/// Returns the claims for each edge.
///
/// `more` and `less` are estimates of at least and at most the share below the edge. `reach` is the
/// width of a test in standard deviations of one report. `least` combines the minimum variance of
/// the noise with that of drawn people.
pub(super) fn claims(
    [more, less]: [&[Estimate]; 2],
    quantile: f64,
    reach: f64,
    least: fn(f64, f64) -> f64,
) -> impl Iterator<Item = Claim> {
    let drawn = quantile * (1.0 - quantile);
    let reach = move |own: &Estimate| {
        // If the share is τ, no crowd has a smaller variance, but few reports may show a smaller
        // one.
        let [below, above] = own.least;
        let noise = quantile * below + (1.0 - quantile) * above;
        reach * own.variance.max(least(noise, drawn)).sqrt()
    };
    more.iter().zip(less).map(move |(more, less)| {
        let above = more.share + reach(more) < quantile;
        [above, less.share - reach(less) >= quantile]
    })
}

/// Combines the claims of two scales. Contradicting claims cancel.
pub(super) fn combine((one, other): (Claim, Claim)) -> Claim {
    let [above, below] = [one[0] || other[0], one[1] || other[1]];
    [above && !below, below && !above]
}

/// Returns the edges at the ends of an interval, from the claims for each inner edge. An end moves
/// inwards while every edge on its way is claimed.
pub(crate) fn interval_edges(claims: impl Iterator<Item = Claim>) -> [usize; 2] {
    let claims: Vec<Claim> = claims.collect();
    let lower = claims.iter().take_while(|claim| claim[0]).count();
    let upper = claims.iter().rev().take_while(|claim| claim[1]).count();
    [lower, claims.len() + 1 - upper]
}
