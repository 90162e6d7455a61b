//! Point estimates, and how variances average over people.

mod people;

pub(crate) use people::People;

use serde::Serialize;

/// What is estimated of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Estimand {
    /// Average value, a missing entry counting as 0; in [-1, 1].
    Mean,
    /// Frequency of the item with a positive value; in [0, 1].
    Plus,
    /// Frequency of the item with a negative value; in [0, 1].
    Minus,
    /// Non-missing frequency: of the item with any value, each weighing its magnitude; in [0, 1].
    Nonmissing,
    /// Share of people who gave the answer; in [0, 1].
    Share,
}

impl Estimand {
    /// All of them, in the order of output.
    pub const ALL: [Self; 5] = [
        Self::Mean,
        Self::Plus,
        Self::Minus,
        Self::Nonmissing,
        Self::Share,
    ];

    /// Those of items that are rated.
    pub const RATINGS: [Self; 4] = [Self::Mean, Self::Plus, Self::Minus, Self::Nonmissing];

    /// The word used in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Nonmissing => "nonmissing",
            Self::Share => "share",
        }
    }
}

/// An unbiased estimate and the standard deviation of its noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Point {
    /// From the variance of one report's contribution.
    pub(crate) fn new(estimate: f64, variance: f64, reports: f64) -> Self {
        Self {
            estimate,
            standard_error: (variance / reports).sqrt(),
        }
    }
}

/// Variance of one report's contribution, averaged over people of whom a
/// `share`, clamped to [0, 1], has what is counted: `with` is the variance for
/// those, `without` for the others, of contributions that are 1 and 0 on average.
///
/// That is all where people are given; where they are drawn, who counts varies too.
pub(crate) fn variance_over_people(whose: People, share: f64, with: f64, without: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    let mixed = share * with + (1.0 - share) * without;
    match whose {
        People::Given => mixed,
        People::Rounded | People::Drawn => mixed + share * (1.0 - share),
    }
}

/// The same of the frequency of one sign: `own` is the share of people who have the item
/// with it, `other` of those with the other one, and `variances` are of those, of these
/// and of everybody else.
pub(crate) fn frequency_variance_over_people(
    whose: People,
    [own, other]: [f64; 2],
    variances: [f64; 3],
) -> f64 {
    let [own, other] = [own, other].map(|share| share.clamp(0.0, 1.0));
    let none = (1.0 - own - other).max(0.0);
    let mixed = own * variances[0] + other * variances[1] + none * variances[2];
    match whose {
        People::Given => mixed,
        People::Rounded | People::Drawn => mixed + own * (1.0 - own),
    }
}

/// Covariance of one report's contributions to mean and non-missing frequency, averaged over
/// people, from the expected `product` for those who have a positive value.
///
/// As with [`variance_over_people`]: where people are given the product of their means
/// is to subtract.
pub(crate) fn covariance_over_people(
    whose: People,
    mean: f64,
    nonmissing: f64,
    product: f64,
) -> f64 {
    let share = nonmissing.clamp(0.0, 1.0);
    let mean = mean.clamp(-share, share);
    match whose {
        People::Given => mean * (product - 1.0),
        People::Rounded | People::Drawn => mean * (product - share),
    }
}

/// Point estimates of one item; `None` what the mechanism does not estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ItemPoints {
    /// [`Estimand::Mean`].
    pub mean: Option<Point>,
    /// [`Estimand::Plus`].
    pub plus: Option<Point>,
    /// [`Estimand::Minus`].
    pub(crate) minus: Option<Point>,
    /// [`Estimand::Nonmissing`].
    pub(crate) nonmissing: Option<Point>,
    /// Covariance of the noise of mean and non-missing frequency, where both are estimated.
    pub(crate) covariance: Option<f64>,
    /// [`Estimand::Share`].
    pub share: Option<Point>,
}

impl ItemPoints {
    /// The point estimate of one estimand, where there is one.
    #[must_use]
    pub const fn get(&self, estimand: Estimand) -> Option<Point> {
        match estimand {
            Estimand::Mean => self.mean,
            Estimand::Plus => self.plus,
            Estimand::Minus => self.minus,
            Estimand::Nonmissing => self.nonmissing,
            Estimand::Share => self.share,
        }
    }

    /// The first estimand that there is, which is what the question asks for: a mean where
    /// items are rated, else a share.
    pub(crate) fn first(&self) -> Option<(Estimand, Point)> {
        let estimands = Estimand::ALL.into_iter();
        estimands
            .filter_map(|estimand| Some((estimand, self.get(estimand)?)))
            .next()
    }
}
