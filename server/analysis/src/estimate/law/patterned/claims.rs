//! Claims about which side of an edge a quantile lies on.
//!
//! A claim is a one-sided test that the share of people below the edge is τ. Intervals invert
//! these tests as those of Clopper and Pearson do (Biometrika 26, 1934), with a normal law in
//! the place of the binomial one. Quantile τ is the least x with P(X ≤ x) ≥ τ. So claims hold
//! for every crowd, even if many people have the same number.

use std::sync::OnceLock;

use hushbin::mechanism::pattern::{Rates, triangle};

/// Weights of outputs in the estimate for one edge.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) worth: Vec<f64>,
    /// Least variances of a report's weight, over people below the edge and people above.
    pub(super) least: [f64; 2],
}

/// Rates of a number's bins, and weights of outputs for all of its edges. They depend on the
/// pattern, the bins and ε, but not on reports.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    pub(crate) rates: Rates,
    /// Computed when they are first needed, which planning does not.
    rows: OnceLock<[Vec<Row>; 3]>,
}

impl Edges {
    pub(crate) const fn new(rates: Rates) -> Self {
        let rows = OnceLock::new();
        Self { rates, rows }
    }

    /// Returns the rows of the share below each edge inside the range, then those of its
    /// averages over an eighth of the bins. The first averages start at each edge, so they are
    /// the share below it or more. The second end there, and are at most that share.
    pub(super) fn rows(&self) -> &[Vec<Row>; 3] {
        self.rows.get_or_init(|| rows(&self.rates))
    }
}

fn rows(rates: &Rates) -> [Vec<Row>; 3] {
    let bins = rates.cells();
    // Half of an eighth.
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

/// Returns the least of variances, or 0 if there are none.
pub(super) fn least<'a>(variances: impl IntoIterator<Item = &'a f64>) -> f64 {
    let least = variances.into_iter().copied().reduce(f64::min);
    least.unwrap_or(0.0).max(0.0)
}

/// Estimate for one edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) share: f64,
    /// Variance of one report's weight, as reports show it.
    pub(super) variance: f64,
    /// Least variances, as in [`Row`].
    pub(super) least: [f64; 2],
}

/// Claims about a quantile and one edge: it is at the edge or above, and at the edge or below.
pub(crate) type Claim = [bool; 2];

/// Makes claims for each edge, from estimates of the share below it or more, and of that share
/// or less. `reach` is the width of a test in standard deviations of one report. `least` makes
/// the least variance of a report's weight out of the noise's and that of people drawn.
pub(super) fn claims(
    [more, less]: [&[Estimate]; 2],
    quantile: f64,
    reach: f64,
    least: fn(f64, f64) -> f64,
) -> impl Iterator<Item = Claim> {
    let drawn = quantile * (1.0 - quantile);
    let reach = move |own: &Estimate| {
        // If the share is τ, no crowd has a smaller variance. Few reports may show a smaller one.
        let [below, above] = own.least;
        let noise = quantile * below + (1.0 - quantile) * above;
        reach * own.variance.max(least(noise, drawn)).sqrt()
    };
    more.iter().zip(less).map(move |(more, less)| {
        let above = more.share + reach(more) < quantile;
        [above, less.share - reach(less) >= quantile]
    })
}

/// Combines claims of two scales. If they contradict each other, neither counts.
pub(super) fn either((one, other): (Claim, Claim)) -> Claim {
    let [above, below] = [one[0] || other[0], one[1] || other[1]];
    [above && !below, below && !above]
}

/// Returns the edges at the ends of an interval, from a claim for each edge inside the range.
/// An end moves inwards as long as every edge on its way is claimed.
pub(crate) fn ends(claims: impl Iterator<Item = Claim>) -> [usize; 2] {
    let claims: Vec<Claim> = claims.collect();
    let lower = claims.iter().take_while(|claim| claim[0]).count();
    let upper = claims.iter().rev().take_while(|claim| claim[1]).count();
    [lower, claims.len() + 1 - upper]
}
